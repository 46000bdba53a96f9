"""The page of `noface show ID`: the story of an issue, attempt by attempt, with what decided each."""

from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

from noface.data import table
from noface.model.attempt import BESIDE, brings_back, noted
from noface.model.description import Inline
from noface.model.failure import Failure
from noface.model.failure_document import last_output
from noface.model.history import NO_ANSWER, Decided
from noface.model.taxonomy import PASSED
from noface.store.overview import Gap
from noface.store.reader import Reader
from noface.store.records import AttemptRow, GateRun, IssueRow, PullRow, QuestionRow
from noface.ui.blocked import BlockedIssue, waiting_of
from noface.ui.blocked_page import block_lines
from noface.ui.page import evidence_lines, message_lines, paint, painted, quoted
from noface.ui.status import as_they_stand, progress, tried
from noface.ui.text import cells, clean, count, duration, fit, hanging, moment, money

_FOR_A_PERSON = ("blocked", "approval")


class Story(NamedTuple):
    """An issue with all that was tried."""

    issue: Annotated[IssueRow, Inline]
    parts: Annotated[tuple[IssueRow, ...], "Its parts, where it was divided."]
    block: Annotated[BlockedIssue | None, "What a person is asked; null where nothing is."]
    attempts: Annotated[tuple[AttemptRow, ...], "Its attempts, oldest first."]
    asked: Annotated[tuple[QuestionRow, ...], "What was asked about it, oldest first."]
    decisions: Annotated[tuple[Decided, ...], "What people decided on it, oldest first."]
    gaps: Annotated[tuple[Gap, ...], "What workers reported as missing, each thing once."]
    pull_request: Annotated[PullRow | None, "Its newest pull request; null before there is one."]

    @property
    def charged_attempts(self) -> Annotated[int, "The attempts that count, since it was last given back."]:
        return self.issue.attempts

    @property
    def progress(self) -> Annotated[str, "How many of its parts are merged; empty without any."]:
        return progress([(part.status, part.satisfied) for part in self.parts])


def show_document(reader: Reader, row: IssueRow) -> Story:
    """Return the issue, and all that is recorded of it."""
    issues = [*as_they_stand(reader.around(row))]
    attempts = tuple(reader.attempts(row.id))
    gaps: dict[str, Gap] = {}
    for attempt in attempts:
        for gap in attempt.report.gaps if attempt.report is not None else ():
            gaps.setdefault(gap, Gap(attempt.issue_id, attempt.number, gap))
    return Story(
        issue=issues[0]._replace(all_attempts=len(attempts)),
        parts=tuple(each for each in issues if each.parent == row.id),
        block=waiting_of(row) if row.block is not None and row.status in _FOR_A_PERSON else None,
        attempts=attempts,
        asked=tuple(reader.questions(row.id)),
        decisions=reader.decisions(row.id),
        gaps=tuple(gaps.values()),
        pull_request=reader.pull(row.id),
    )


_EVIDENCE_LINES_MAX = 12
_TESTS_MAX = 10
_SAID_ROWS_MAX = 4
_ITEMS_MAX = 10


def attempt_lines(attempt: AttemptRow, now: float, width: int) -> Iterator[str]:
    """Return the lines of an attempt, up to the action that followed."""
    outcome = "NOT TAKEN" if noted(attempt.notes, BESIDE) else attempt.outcome or "under way"
    role = {PASSED: "good", "under way": "active", "INTERRUPTED": "careful", "NOT TAKEN": "quiet"}.get(outcome, "bad")
    facts = [
        clean(attempt.model),
        "thinking" if attempt.think else "",
        moment(attempt.started_at, now),
        "" if attempt.seconds is None else duration(attempt.seconds),
        money(attempt.cost_usd) + (" (estimated)" if attempt.cost_estimated else ""),
        "" if attempt.charged or attempt.outcome is None else "not charged",
    ]
    title, rest = f"Attempt {attempt.number}", " · ".join(fact for fact in facts if fact)
    room = max(width - cells(title) - cells(outcome) - 4, 10)
    yield f"{paint(title, 'title')}  {paint(outcome, role)}  {fit(rest, room)}"
    if attempt.failure is not None:
        yield from _failure(attempt.failure, width)
    if attempt.gates:
        gates = ", ".join(_gate(gate) for gate in attempt.gates)
        yield from hanging(gates, width, "  gates: ", "    ")
    tried = attempt.resumed
    if tried is not None:
        text = f"went on with its session of attempt {tried.attempt}"
        if tried.refused:
            text = f"began afresh: it could not go on with its session of attempt {tried.attempt}: {tried.refused}"
        yield from hanging(text, width, "  ", "    ")
    for what, command in map(brings_back, attempt.notes):
        yield from hanging(what, width, "  note: ", "    ")
        yield from (f"    {command}" for _ in filter(None, (command,)))
    yield from _report(attempt, width)
    counts = [(attempt.tokens_in, "read"), (attempt.tokens_out, "written")]
    used = ", ".join(f"{number:,} {what}" for number, what in counts if number is not None)
    session = f"session {clean(attempt.session_id)}" if attempt.session_id else ""
    if used or session:
        words = " · ".join(part for part in (used and f"tokens: {used}", session) if part)
        yield paint(fit(f"  {words}", width), "quiet")
    if attempt.commit_id:
        yield f"  commit {attempt.commit_id[:12]}"


_ENDS = {"Block": "blocked", "Land": "lands", "Skip": "left undone"}


def action_words(name: str, reason: str, outcome: str | None) -> str:
    followed = str(table("actions").get(name, {}).get("followed") or _ENDS.get(name, name))
    why = reason.replace(f"{outcome}: ", "", 1) if outcome else reason
    return f"{followed}: {why}" if why != followed else why


def _report(attempt: AttemptRow, width: int) -> Iterator[str]:
    report = attempt.report
    asked = attempt.failure.questions if attempt.failure is not None else ()
    if report is not None:
        reason = f", {str(report.blocked_reason).replace('_', ' ')}" if report.blocked_reason else ""
        summary = f": {report.summary}" if report.summary else ""
        claim = f"{report.status}{reason}{summary}"
        yield from hanging(claim, width, "  the worker reports: ", "    ", rows_max=_SAID_ROWS_MAX)
        asked = tuple(dict.fromkeys([*asked, *report.asks]))
        evidence = (report.evidence,) if report.evidence else ()
        changed = tuple(f'{each.test}, since "{each.sentence}"' for each in report.changed_tests)
        said = ((report.made_up, "made up"), (report.left, "left"), (report.parts, "part"), (evidence, "evidence"))
        more = ((changed, "changed test"), (report.unverified, "not verified"), (report.risks, "risk"))
        for items, title in (*said, *more, (report.gaps, "gap")):
            yield from _items(items, title, width)
    yield from _items(asked, "it asks", width)


def _items(items: Sequence[str], title: str, width: int) -> Iterator[str]:
    for item in items[:_ITEMS_MAX]:
        lines = hanging(item, width, f"  {title}: ", "    ", rows_max=_SAID_ROWS_MAX)
        yield from (paint(line, "careful") for line in lines)
    if len(items) > _ITEMS_MAX:
        yield f"  … {len(items) - _ITEMS_MAX} more: --json has all"


def _failure(failure: Failure, width: int) -> Iterator[str]:
    yield from message_lines(failure.message or failure.kind, width)
    if failure.ran_out:
        yield f"  {failure.ran_out}"
    if failure.location:
        yield f"  at {clean(failure.location)}"
    tests = failure.failing_tests
    for test in tests[:_TESTS_MAX]:
        yield f"  failing: {clean(test)}"
    if len(tests) > _TESTS_MAX:
        yield f"  … and {len(tests) - _TESTS_MAX} more failing"
    where = f" in gate {failure.gate}" if failure.gate else ""
    decided = f"{failure.category.replace('_', ' ')}, by the rule {failure.rule}{where}"
    yield from painted(hanging(decided, width, "  ", "    "), "quiet")
    yield from evidence_lines(failure.evidence, failure.message, width, "  ", _EVIDENCE_LINES_MAX)


def _gate(gate: GateRun) -> str:
    verdict = "passed" if gate.passed else gate.kind or "failed"
    if not gate.passed and not gate.hard:
        verdict += " (soft)"
    if gate.unsteady:
        verdict += f" but for {count(len(gate.unsteady), 'unsteady test')}"
    elif gate.flaky:
        verdict += " when run again: flaky"
    took = "remembered" if gate.memo else duration(gate.seconds)
    return f"{gate.name} {verdict} ({took})"


_ANSWER_ROWS_MAX = 8
_OPEN = {None: "it is being asked", "INTERRUPTED": "it was cut short, and is asked again"}


def asked_lines(asked: QuestionRow, now: float, width: int) -> Iterator[str]:
    """Return a question with its answer."""
    words = table("topics")
    topic = words["asked_for"].get(asked.topic, clean(asked.topic))
    who = f"Asked {clean(asked.model)} for {topic}" if asked.model else f"Looked for {topic}"
    facts = " · ".join(fact for fact in (moment(asked.asked_at, now), money(asked.cost_usd)) if fact)
    yield f"  {paint(who, 'active')}  {paint(facts, 'quiet')}"
    outcome = _OPEN.get(asked.outcome) or words["no_answer"].get(asked.outcome, "")
    if outcome:
        yield f"    {outcome}"
    answer = asked.answer or NO_ANSWER
    decided = answer.strategy.replace("_", " ")
    if decided:
        may = f" (recoverable: {answer.recoverable})" if answer.recoverable else ""
        yield from hanging(f"{decided}{may}", width, "    → ")
    yield from quoted(f"{answer.cause}\n{answer.text}", width, "    ", _ANSWER_ROWS_MAX, _ANSWER_ROWS_MAX)
    if answer.failure is not None:
        yield "    it answered:"
        yield from quoted(answer.failure.excerpt, width, "    ", _ANSWER_ROWS_MAX)
    for title, items in (("paths", answer.paths), ("needs", answer.needs)):
        if items:
            yield from hanging(", ".join(items), width, f"    {title}: ", "      ")


_PUT_OUT_LINES = 6
_STATUS_CELLS = 8
_PARTS_MAX = 30
_WAITS = {"blocked": "Blocked", "approval": "Waits for your approval"}


def story_page(document: Story, last_lines: Sequence[str], now: float, width: int) -> list[str]:
    """Return the lines of the page; `last_lines` are the newest attempt's last words, `now` epoch seconds."""
    lines = [*_head(document, now, width)]
    for attempt in document.attempts:
        lines += ["", *attempt_lines(attempt, now, width)]
        if attempt is not document.attempts[-1] or not last_lines:
            output = last_output(attempt.partial) if attempt.outcome != PASSED else ""  # its work came to nothing (K3)
            lines += ["  the worker's last lines:"] if output else []
            lines += quoted("\n".join(output.splitlines()[-_PUT_OUT_LINES:]), width, "  ")
        for asked in document.asked:
            if asked.after == attempt.number:
                lines += asked_lines(asked, now, width)
        if (action := attempt.action) is not None:
            lines += hanging(action_words(action.kind, action.reason, attempt.outcome), width, "  → ")
        for decided in document.decisions:
            if decided.attempt == attempt.number:
                verdict = paint(f"You {decided.verdict} it", "good" if decided.verdict == "approved" else "bad")
                lines.append(f"  {verdict}  {paint(moment(decided.at, now), 'quiet')}")
                lines += quoted(decided.note, width, "    ", _ANSWER_ROWS_MAX, _ANSWER_ROWS_MAX)
    if not document.attempts:
        lines += ["", "No attempt yet."]
    block = document.block
    if block is not None:
        lines += ["", paint(_WAITS[block.status], block.status)]
        lines += block_lines(block, width, ("tried", "errors", "failing", f"noface show {document.issue.id}"))
    if last_lines:
        number = document.attempts[-1].number
        lines += [
            "",
            paint(f"Last lines of attempt {number}", "title") + paint(f"  noface logs {document.issue.id}", "quiet"),
        ]
        lines += quoted("\n".join(last_lines), width, "  ")
    return lines


def _head(document: Story, now: float, width: int) -> Iterator[str]:
    issue = document.issue
    yield from painted(hanging(issue.title, width, f"{issue.id}  "), "title")
    facts = [tried(len(document.attempts), issue.attempts), money(issue.cost_usd), f"priority {issue.priority}"]
    yield f"  {paint(issue.status, issue.status)} · " + " · ".join(fact for fact in facts if fact)
    reason = issue.reason
    if issue.until is not None and issue.status == "waiting":
        reason = f"{reason}; until {moment(issue.until, now)}"
    commit = (issue.merged_commit or "")[:12]
    more = reason.removeprefix(f"merged as {commit}") if commit else reason
    yield from hanging(more.lstrip(",; "), width, "  ")
    if commit:
        yield f"  landed: git show --first-parent {commit}"
    yield from _pull_request(document, width)
    yield from _relations(document, width)
    yield from _agreed(document, width)
    if issue.source:
        yield f"  {clean(issue.source)}"
    worked = any(attempt.changed for attempt in document.attempts)
    if worked and issue.branch and document.block is None and not issue.merged_commit:
        yield f"  best work so far: git diff ...{issue.branch}"


_RED_SHOWN = 5
_PULL_STATES = {"taken": "a person's by now", "closed": "closed without a merge"}


def _pull_request(document: Story, width: int) -> Iterator[str]:
    pull = document.pull_request
    if pull is None or pull.number is None:
        return
    rounds = f"answered {count(pull.rounds, 'time')}" if pull.rounds else ""
    checks = f"checks: {pull.checks}" if pull.checks else ""
    facts = [_PULL_STATES.get(pull.state, pull.state), checks, rounds, f"branch {pull.branch}"]
    text = ", ".join(fact for fact in facts if fact)
    yield from hanging(f"pull request #{pull.number}: {clean(text)}", width, "  ", "    ")
    yield f"  {clean(pull.url)}"
    for name, url in pull.red[:_RED_SHOWN]:
        yield from hanging(f"red: {clean(name)}  {clean(url)}".rstrip(), width, "  ", "    ")
    if len(pull.red) > _RED_SHOWN:
        yield f"  and {len(pull.red) - _RED_SHOWN} more checks that are red"


def _relations(document: Story, width: int) -> Iterator[str]:
    issue = document.issue
    if issue.parent is not None:
        yield f"  part of {clean(issue.parent)}: noface show {clean(issue.parent)}"
    if issue.depends_on:
        yield from hanging(f"depends on {', '.join(issue.depends_on)}", width, "  ")
    if issue.needs:
        yield from hanging(f"found to need {', '.join(issue.needs)}", width, "  ")
    if document.parts:
        yield f"  {document.progress}"
    id_cells = max((cells(part.id) for part in document.parts), default=0)
    for part in document.parts[:_PARTS_MAX]:
        status = paint(f"{part.status:<{_STATUS_CELLS}}", part.status)
        name = part.id + " " * (id_cells - cells(part.id))
        yield f"    {name}  {status}  {fit(clean(part.title), max(width - id_cells - _STATUS_CELLS - 8, 16))}"


def _agreed(document: Story, width: int) -> Iterator[str]:
    issue = document.issue
    if issue.note:
        yield from hanging(f"your note: {issue.note}", width, "  ", "    ")
    if issue.granted_paths:
        yield from hanging(f"you allowed it to change {', '.join(issue.granted_paths)}", width, "  ", "    ")
    model, attempts = issue.wanted_model, issue.wanted_attempts
    wanted = [f"to begin with {model}" if model else "", f"up to {count(attempts, 'attempt')}" if attempts else ""]
    if any(wanted):
        yield from hanging(f"you want it {', '.join(text for text in wanted if text)}", width, "  ", "    ")
