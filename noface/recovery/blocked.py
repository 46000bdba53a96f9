"""What a person reads of an issue that waits for them (N13, L10).

What was tried, what went wrong, what is unclear, what can be done with which command, and the one question: what
exactly must be answered before it can go on. Where the worker itself asked, its words are the question; else the kind
of failure says what nobody but a person can know. What others wrote is bounded, and quoted as theirs.
"""

import shlex
from collections.abc import Collection, Iterator
from dataclasses import replace

from noface.data import table
from noface.integrity.diff.names import UnfitRule
from noface.integrity.judges import Part, part_of
from noface.integrity.not_taken import named_in
from noface.integrity.tampering import BY_BODY, BY_MAIN
from noface.model.actions import ApprovalKind, Block, RequestApproval, approval_kind
from noface.model.attempt import MET, PastAttempt, failure_of, noted
from noface.model.failure import ELSEWHERE, MESSAGE_REFUSED, Failure
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue
from noface.model.patterns import paths_in, resolved
from noface.model.protection import starts_by_itself
from noface.model.quoting import distinct, quoted, short, some, to_the_point
from noface.model.request import Failing, PersonRequest, RequestKind
from noface.model.taxonomy import INTERRUPTED, PASSED, Category, FailureKind
from noface.recovery.decided import OUTSIDE, is_for_a_person, leave_of
from noface.recovery.options import Configured, asks, gate_at_fault, options_of_blocked, with_options
from noface.recovery.reported import abort_report

_QUOTED_CHARS_MAX, _RULE_CHARS_MAX = 300, 600
_PATHS_SHOWN = 5
_PATHS_MAX = 10
_TESTS_SHOWN = 2
_NOT_ABOUT_TESTS = frozenset({"embedded-repository", *UnfitRule})
"""Rules about what must not land, of which no test and no path of the issue says anything."""


def blocked_question(issue: Issue, kind: FailureKind, history: History) -> str:
    """Return the question of a blocked issue."""
    last = _last(history)
    failure = last.failure if last is not None else None
    decided = last is not None and history.verdict(last.number) is not None  # that is not asked again
    if kind.category is Category.BOUNDARY and last is not None and failure is not None and not decided:
        return _about_boundary(issue, history, last, failure)
    diagnosis = _newest(history, Topic.DIAGNOSIS)
    if diagnosis is not None and diagnosis.strategy == "skip_and_continue":
        return f"Can issue {issue.id} be left undone? The diagnosis says: {_words_of(diagnosis)}"
    knows_better = kind.category.external or kind.category is Category.BOUNDARY
    asked = () if knows_better else _questions_of(last)
    if last is not None and asked:
        more = f" (and {len(asked) - 1} more)" if len(asked) > 1 else ""
        return f"The worker of attempt {last.number} ({last.model}) asks: {quoted(asked[0], _QUOTED_CHARS_MAX)}{more}"
    if diagnosis is not None and diagnosis.strategy == "escalate":
        return f"The diagnosis asks for you: {_words_of(diagnosis)} What should the workers know or do?"
    if kind is FailureKind.NO_DIFF and (gated := _gated(history)) is not None and gated.failure is not None:
        failure, kind = gated.failure, gated.failure.kind  # nothing was changed, and that is what is wrong still
    if failure is not None and failure.rule == MESSAGE_REFUSED:
        return f"What form do commits have in this project? {quoted(failure.message, _RULE_CHARS_MAX)}"
    if failure is not None and failure.rule == ELSEWHERE:
        return f"Is that the work, and what keeps the workers from it? {quoted(failure.message, _QUOTED_CHARS_MAX)}"
    if failure is not None and (left := named_in(failure.message)):
        named = quoted(left, _QUOTED_CHARS_MAX)
        return f"How can what issue {issue.id} needs be part of the project? noface found: {named}"
    tests = failure.failing_tests if failure is not None else ()
    if tests and kind.info.names_tests:
        named = some(tests, _TESTS_SHOWN)
        return f"What do the workers not know that would make {named} pass, or is that test wrong?"
    if failure is not None and (failure.gate or "").startswith("accept") and kind.info.names_tests:
        return f"What do the workers not know that would make the `accept` command of issue {issue.id} pass?"
    message = quoted(failure.message, _QUOTED_CHARS_MAX) if failure is not None else ""
    model = last.model if last is not None else "the model"
    return kind.info.question.format(id=issue.id, model=model, message=message).strip()


def _of_keys(history: History) -> str:
    """Return what a person should know of a key that an attempt has left: who ran the agent may have seen it."""
    for attempt in reversed(history.attempts):
        if note := noted(attempt.notes, MET):
            named = quoted(note.partition(": ")[2].rpartition("; ")[0], _QUOTED_CHARS_MAX)
            return f" Attempt {attempt.number} met a key: {named}. Renew it if it opens anything."
    return ""


def _of_approval(last: PastAttempt | None) -> dict[str, object]:
    failure, files = (last.failure, len(last.changed)) if last is not None else (None, 0)
    return {
        "number": last.number if last is not None else 0,
        "changes": f" and changes {files} file{'s' if files != 1 else ''}" if files else "",
        "words": quoted(failure.excerpt, _QUOTED_CHARS_MAX) if failure is not None else "",
        "message": f": {quoted(failure.message, _QUOTED_CHARS_MAX)}" if failure is not None else "",
    }


def _yes(kind: FailureKind, history: History) -> tuple[ApprovalKind | None, tuple[str, ...]]:
    """Return what a yes to the question of a blocked issue means, with the paths that it lets change; None: no yes."""
    last = _last(history)
    failure = last.failure if last is not None else None
    decided = last is not None and history.verdict(last.number) is not None
    if kind.category is Category.BOUNDARY and last is not None and failure is not None and not decided:
        if failure.rule in (OUTSIDE, "report-boundary-violation"):
            return (ApprovalKind.PATHS, failure.evidence) if failure.rule == OUTSIDE else (None, ())
        if failure.rule in _NOT_ABOUT_TESTS and is_for_a_person(last):
            return ApprovalKind.LANDING, leave_of(last)
        tests = next((each.failing_tests for each in _failures(history) if each.failing_tests), ())
        paths = leave_of(last) or paths_in("\n".join(tests))
        return (ApprovalKind.CONTRACT if paths and failure.rule != "secret-added" else None), paths
    diagnosis = _newest(history, Topic.DIAGNOSIS)
    if diagnosis is not None and diagnosis.strategy == "skip_and_continue":
        return ApprovalKind.UNDONE, ()
    open_one = (diagnosis is not None and diagnosis.strategy == "escalate") or bool(_questions_of(last))
    return (ApprovalKind.GOING_ON if kind.info.yes and (kind.category.external or not open_one) else None), ()


def _failures(history: History) -> tuple[Failure, ...]:
    return tuple(each.failure for each in reversed(history.current) if each.failure is not None)


def _about_boundary(issue: Issue, history: History, last: PastAttempt, failure: Failure) -> str:
    advice, found = _newest(history, Topic.BOUNDARY), quoted(failure.message, _QUOTED_CHARS_MAX)
    match failure.rule:
        case "secret-added":
            where = quoted(failure.location or "a file", 120)
            return (
                f"Is what was added to {where} really a secret, and if so, how should the work get at it? A file whose"
                " keys open nothing can stand in [limits] test_keys."
            )
        case rule if rule == OUTSIDE:
            return _may_change(issue, failure.evidence, advice)
        case rule if rule in _NOT_ABOUT_TESTS:
            return f"May issue {issue.id} do this? noface found: {found}"
        case "report-boundary-violation":
            limits = f" ({some(issue.paths, _PATHS_SHOWN)})" if issue.paths else ""
            said = f"The resolver says: {_words_of(advice)}" if advice else f"The worker says: {found}"
            return f"May issue {issue.id} go beyond its paths{limits}? {said}"
        case _:
            return _about_tests(issue, history, last, failure)


def _may_change(issue: Issue, paths: tuple[str, ...], advice: Advice | None) -> str:
    limits = f" Its paths are {some(issue.paths, _PATHS_SHOWN)}." if issue.paths else ""
    resolver = f" The resolver says: {_words_of(advice)}" if advice is not None else ""
    return f"May issue {issue.id} also change {some(paths, _PATHS_SHOWN)}?{limits}{resolver}"


def _about_tests(issue: Issue, history: History, last: PastAttempt, failure: Failure) -> str:
    asked = _questions_of(last)
    if failure.rule in (*BY_MAIN, *BY_BODY) and not asked:
        named = some(failure.failing_tests, _TESTS_SHOWN) if failure.failing_tests else "what judges it on main"
        return (
            f"May attempt {last.number} of issue {issue.id} land, so that {named} gives way to it? noface found:"
            f" {quoted(failure.message, _QUOTED_CHARS_MAX)}"
        )
    words = quoted(asked[0] if asked else failure.message, _QUOTED_CHARS_MAX)
    failing = [each.failing_tests for each in _failures(history) if each.failing_tests]
    if failing:
        return f"Is the test {some(failing[0], _TESTS_SHOWN)} wrong? The worker says: {words}"
    return f"Is a test, a gate or a contract wrong that issue {issue.id} runs into? It is said of it: {words}"


def _words_of(advice: Advice) -> str:
    words = " ".join(part for part in (advice.cause, advice.text) if part)
    if advice.topic is Topic.BOUNDARY:  # what comes before its guidance is what the question says itself
        words = words.partition("Guidance: ")[2] or words
    return quoted(words, _QUOTED_CHARS_MAX)


def _newest(history: History, topic: Topic) -> Advice | None:
    last = _last(history)
    advice = history.answer(topic, last.number) if last is not None else None
    return advice if advice is not None and advice.outcome is AdviceOutcome.ADVISED else None


def _last(history: History) -> PastAttempt | None:
    return next((attempt for attempt in reversed(history.current) if attempt.outcome != INTERRUPTED), None)


def _questions_of(attempt: PastAttempt | None) -> tuple[str, ...]:
    if attempt is None:
        return ()
    failure = attempt.failure.questions if attempt.failure is not None else ()
    report = attempt.report.asks if attempt.report is not None else ()
    return tuple(dict.fromkeys(text for text in (short(q, 1000) for q in (*failure, *report)) if text))


_ERRORS_MAX = 5
_ERROR_CHARS_MAX = 600
_UNCLEAR_MAX = 20
_UNCLEAR_CHARS_MAX = 1_000
_TRIED_MAX = 60
_TRIED_CHARS_MAX, _ENDED_CHARS_MAX = 600, 500
_REASON_CHARS_MAX = 600
_PARTS_CHARS_MAX = 8_000
_CHANGED_MAX = 100
_FAILING_TESTS_MAX = 30
_FAILING_LINES_MAX = 12
_NOTHING_KNOWN = Configured()


def block_request(
    issue: Issue, action: Block, history: History, branch: str, configured: Configured = _NOTHING_KNOWN
) -> PersonRequest:
    """Return what a person is asked of a blocked issue; `branch` is where its best work stands."""
    request = replace(
        _account(history, configured),
        kind=action.kind.value,
        summary=_summary(action, history),
        question=blocked_question(issue, action.kind, history) + _of_keys(history),
        limit=action.limit,
        report=abort_report(issue, history.attempts, history.advice, action.kind, action.reason),
    )
    steps = _steps(issue, action.kind.info.first_step, branch, request.failing)
    request = replace(request, next_steps=steps)
    wants, paths = _yes(action.kind, history)
    ways = options_of_blocked(issue, action, history, branch, configured)
    if wants is not None and not action.limit:
        facts = {**_of_approval(_last(history)), "work": shlex.quote(branch) if branch else "", "kind": action.kind}
        asked = asks(request, wants, issue, facts | {"paths": some(paths, _PATHS_MAX)})
        answers = tuple(way for way in zip(asked.options, asked.commands, strict=True) if way[1].startswith("noface "))
        ways = (*ways, *answers) if wants is ApprovalKind.GOING_ON else (*answers, *ways)
        request = replace(
            request, wants=wants.value, paths=paths, attempt=last.number if (last := _last(history)) is not None else 0
        )
    request = with_options(request, ways)
    if action.limit:
        request = asks(request, RequestKind.LIMIT, issue, {"limit": action.limit})
    if gate := gate_at_fault(action.kind, history):
        request = asks(request, RequestKind.GATE, issue, {"gate": gate})
    return request


def approval_request(
    issue: Issue,
    action: RequestApproval,
    history: History,
    branch: str,
    configured: Configured = _NOTHING_KNOWN,
    on_main: Collection[str] = (),
) -> PersonRequest:
    """Return what a person is asked of an issue that waits for approval; `on_main` are the files of main."""
    wants = approval_kind(action)
    last = history.current[-1] if history.current else None
    changed = last.changed if last is not None else ()
    number = last.number if last is not None else 0
    first, who = "Look at the change and at the question, then approve or reject.", f"attempt {number} waits"
    if action.parts:  # what the whole's attempts left is in its parts
        branch, changed, who = "", (), "it waits"
        first = f"Look at its text and at its parts (noface show {issue.id}), then approve or reject."
    request = replace(
        _account(history, configured),
        kind=action.kind.value if action.kind is not None else PASSED,
        summary=f"{who} for your approval: {short(action.reason, _REASON_CHARS_MAX)}",
        wants=wants.value,
        attempt=number,
        paths=(paths := _asked_leave(action, last, on_main)),
        changed=changed[:_CHANGED_MAX],
        changed_files=len(changed),
        changed_lines=last.lines if last is not None else 0,
        next_steps=_steps(issue, first, branch),
    )
    tampers = last is not None and last.failure is not None and last.failure.kind is FailureKind.GATE_TAMPERING
    tests = tampers and any(part_of(path) is Part.TEST for path in changed) and wants is ApprovalKind.CONTRACT
    facts = {
        **_of_approval(_last(history)),
        "work": shlex.quote(branch) if branch else "",
        "kind": action.kind or "this",
        "paths": some(paths, _PATHS_MAX),
    }
    request = asks(request, RequestKind.CHANGED_TESTS if tests else wants, issue, facts)
    question = request.question
    if action.paths:
        question = question or _may_change(issue, action.paths, _newest(history, Topic.BOUNDARY))
    elif not question and last is not None and last.failure is not None:
        question = _about_tests(issue, history, last, last.failure)
    return replace(request, question=question + _of_keys(history))


def _asked_leave(action: RequestApproval, last: PastAttempt | None, on_main: Collection[str]) -> tuple[str, ...]:
    """Return what a yes lets the issue change: what judges it in its work, or files of main that its worker names."""
    failure = last.failure if last is not None else None
    if action.paths or last is None or failure is None or failure.category is not Category.BOUNDARY:
        return action.paths
    if failure.kind is FailureKind.GATE_TAMPERING:
        return tuple(path for path in last.changed if part_of(path) is not Part.PRODUCT)
    summary = (last.report.summary,) if last.report is not None else ()
    for words in (_questions_of(last), (*summary, failure.message), failure.failing_tests):
        named = resolved(paths_in("\n".join(words)), on_main)
        if named:
            return tuple(path for path in named if not starts_by_itself(path))
    return ()


def _account(history: History, configured: Configured) -> PersonRequest:
    last = _last(history)
    newest_first = [attempt for attempt in reversed(history.current) if attempt.failure is not None]
    errors = distinct((_error(a.failure) for a in newest_first if a.failure), _ERRORS_MAX, _ERROR_CHARS_MAX)
    parts = [a.text for a in history.asked if a.topic is Topic.BREAKDOWN and a.outcome is AdviceOutcome.PARTS_FAILED]
    return PersonRequest(
        tried=tuple(short(line, _TRIED_CHARS_MAX) for line in _tried(history))[-_TRIED_MAX:],
        failing=_failing(history, configured),
        model=last.model if last is not None else "",
        agent=configured.agents.get(last.model, "") if last is not None else "",
        errors=tuple(errors[::-1]),
        unclear=tuple(distinct(_unclear(history, gaps=True), _UNCLEAR_MAX, _UNCLEAR_CHARS_MAX)),
        questions=tuple(distinct(_unclear(history, gaps=False), _UNCLEAR_MAX, _UNCLEAR_CHARS_MAX)),
        parts_failed=parts[-1][:_PARTS_CHARS_MAX] if parts else "",
    )


def _gated(history: History) -> PastAttempt | None:
    """Return the newest attempt of this epoch that came to the gates. What a reviewer turned down had passed them."""
    for attempt in reversed(history.current):
        failure = failure_of(attempt)
        if attempt.outcome == PASSED or failure.gate is not None or failure.kind is FailureKind.REVIEW_REJECTED:
            return attempt
    return None


def _failing(history: History, configured: Configured) -> Failing | None:
    last = _gated(history)
    failure = last.failure if last is not None else None
    if last is None or failure is None or failure.gate is None:
        return None
    return Failing(
        attempt=last.number,
        kind=failure.kind.value,
        gate=failure.gate,
        command=configured.commands.get(failure.gate, ""),
        tests=failure.failing_tests[:_FAILING_TESTS_MAX],
        more_tests=max(len(failure.failing_tests) - _FAILING_TESTS_MAX, 0),
        message=short(failure.message_alone, _ERROR_CHARS_MAX),
        location=failure.location,
        lines=tuple(to_the_point(line.rstrip(), _ERROR_CHARS_MAX) for line in failure.evidence[:_FAILING_LINES_MAX]),
    )


def _steps(issue: Issue, first: str, branch: str, failing: Failing | None = None) -> tuple[str, ...]:
    look = [f"See the best work so far: git diff ...{branch}"] if branch else []
    if failing is not None:
        gate = shlex.quote(failing.gate)
        look.append(f"See what the gate wrote: noface logs {issue.id} {failing.attempt} --gate {gate}")
    asks = f"See what it asks for: noface issues show {issue.id}"
    return (first, f"See the evidence: noface show {issue.id}", asks, *look)


def _summary(action: Block, history: History) -> str:
    count, everything = len(history.current), len(history.attempts)
    more = f" ({everything} in all)" if everything > count else ""
    after = f" after {count} attempt{'s' if count != 1 else ''}{more}" if everything else ""
    line = f"{action.kind}{after}: {short(action.reason, _REASON_CHARS_MAX)}"
    last = next((attempt.failure for attempt in reversed(history.current) if attempt.failure is not None), None)
    return line + (f". Last: {short(last.message, _ERROR_CHARS_MAX)}" if last is not None and last.message else "")


def _error(failure: Failure) -> str:
    return f"{failure.kind}: {failure.message}"


def _tried(history: History) -> Iterator[str]:
    for attempt in history.attempts:
        before = " (before it was given back)" if attempt.epoch < history.epoch else ""
        model = f"{attempt.model}, thinking" if attempt.think else attempt.model
        ended = short(_error(attempt.failure), _ENDED_CHARS_MAX) if attempt.failure else attempt.outcome
        yield f"attempt {attempt.number} with {model}: {ended}{before}"
        yield from (_asked(advice) for advice in history.advice if advice.after == attempt.number)


def _asked(advice: Advice) -> str:
    topic = table("topics")["asked_for"][advice.topic.value]
    who = f"asked {advice.model} for {topic}" if advice.model else f"noface looked for {topic} itself"
    problem = table("topics")["no_answer"].get(advice.outcome.value)
    cause = advice.cause if advice.outcome is not AdviceOutcome.PARTS_FAILED else ""
    answer = [cause] if problem else [advice.cause, advice.text]
    strategy = advice.strategy.replace("_", " ") if advice.topic is Topic.DIAGNOSIS else ""
    return ": ".join(part for part in (who, problem, strategy, *answer) if part)


def _unclear(history: History, *, gaps: bool) -> Iterator[str]:
    for attempt in reversed(history.current):
        if attempt.failure is not None:
            yield from attempt.failure.questions
        if attempt.report is not None:
            yield from attempt.report.asks
            yield from attempt.report.gaps if gaps else ()
