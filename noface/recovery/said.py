"""What noface says of an issue where its tracker is, and when it says it again. Pure.

There is one comment an issue, derived from what noface's rows say now: what could not be said while the tracker was
away is said by whoever looks next. What agents, logs and issues wrote stands in it as data. Times are epoch seconds.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from noface.model.markdown import block, bounded, code, plain, quote
from noface.model.publication import ACCOUNT, APPROVED, Notice
from noface.model.quoting import in_dollars
from noface.model.request import NOTHING_ASKED, PersonRequest
from noface.model.taxonomy import INTERRUPTED, IssueStatus
from noface.recovery.pull_rounds import Followed

GONE = "gone"
"""The state of an issue that noface works on no more: closed by somebody, or its label taken off."""
CALM_S = 120.0
"""How long after the last time an issue is said again whose change calls for nobody."""
ASKING = (IssueStatus.BLOCKED, IssueStatus.APPROVAL)
"""In these states an issue waits for what people write about it."""
AT_WORK = (IssueStatus.RUNNING, IssueStatus.LANDING)
"""In these a run is at work on an issue; after it, nobody is."""
_QUIET = (IssueStatus.READY, IssueStatus.WAITING, IssueStatus.RUNNING, IssueStatus.LANDING, IssueStatus.EPIC)
_ATTEMPTS_SHOWN = 20
_PARTS_SHOWN = 50

Clean = Callable[[str], str]
"""Takes out of a text what must not leave this machine: secrets, and where its folders lie."""


@dataclass(frozen=True, slots=True)
class Worked:
    """An attempt, as a comment tells it; `outcome` is None while it is under way."""

    number: int
    model: str
    began_at: float
    outcome: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What noface's rows say of an issue, as far as its tracker is told. Money in dollars, None for unknown.

    The tracker does not know `parts`, so what they ask is asked and answered at the whole. `not_heard` says why what
    `not_heard_of` wrote in comment `heard` was not acted on.
    """

    issue_id: str
    status: str
    title: str = ""
    reason: str = ""
    present: bool = True
    until: float | None = None
    satisfied: bool = False
    epoch: int = 0
    attempts: tuple[Worked, ...] = ()
    cost_usd: float | None = None
    request: PersonRequest = NOTHING_ASKED
    parts: "tuple[Standing, ...]" = ()
    pull: Followed | None = None
    merged_commit: str = ""
    pushed: bool = False
    not_heard: str = ""
    not_heard_of: str = ""
    heard: int = 0

    @property
    def asks(self) -> bool:
        return self.status in ASKING

    @property
    def state(self) -> str:
        """The status, or GONE; what has landed stays so, and so does what its open pull request may land."""
        if not (self.present or self.done):
            pending = self.status == IssueStatus.REVIEW or (self.pull is not None and self.pull.open)
            return IssueStatus.REVIEW if pending else GONE
        asking = next((part.status for part in self.parts if part.asks), self.status)
        return asking if self.status == IssueStatus.EPIC else self.status

    @property
    def question(self) -> str:
        if self.state not in ASKING:
            return ""
        parts = "".join(f":{part.issue_id}:{part.epoch}" for part in self.parts if part.asks)
        return f"{self.status}:{self.epoch}:{len(self.attempts)}{parts}"

    @property
    def done(self) -> bool:
        return self.status == IssueStatus.MERGED or (self.status == IssueStatus.SKIPPED and self.satisfied)


def notice_of(standing: Standing, clean: Clean) -> Notice:
    refusal = f"**Not done:** {plain(clean(standing.not_heard))}" if standing.not_heard else ""
    text = bounded((refusal, *_body(standing, standing.state, clean), _footer(standing)))
    asks = f"{standing.question}:{standing.heard}" if refusal else standing.question
    to = (standing.not_heard_of,) if refusal else ()
    return Notice(standing.issue_id, standing.state, text, closes=standing.done, asks=asks, to=to)


def digest(notice: Notice) -> str:
    text = f"{notice.issue_id}\n{notice.state}\n{notice.closes}\n{notice.text}"
    return f"{notice.state}:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:32]}"


def due_at(notice: Notice, last: str, last_at: float) -> float | None:
    """Return from when it is to be said, None if nothing has changed: what calls for a person, or ends it, at once."""
    if digest(notice) == last:
        return None
    if notice.asks:
        return 0.0
    both_quiet = notice.state in _QUIET and last.partition(":")[0] in _QUIET
    return last_at + CALM_S if both_quiet else 0.0


def _body(standing: Standing, state: str, clean: Clean) -> Iterator[str]:
    reason = plain(clean(standing.reason))
    match state:
        case IssueStatus.RUNNING:
            yield "**noface is working on this.**"
            last = standing.attempts[-1] if standing.attempts and standing.attempts[-1].outcome is None else None
            begun = last and f"Attempt {last.number} with {code(last.model)}, begun {at(last.began_at)}."
            yield begun or f"{reason}."
        case IssueStatus.BLOCKED | IssueStatus.APPROVAL:
            yield from _needs_person(standing, state, clean)
        case IssueStatus.LANDING:
            yield f"**noface is done with this, and lands it:** {reason}"
        case IssueStatus.REVIEW:
            yield from _in_review(standing, reason)
        case IssueStatus.MERGED:
            yield from _landed(standing)
        case IssueStatus.SKIPPED if standing.satisfied:
            yield f"**There is nothing left to do here:** {reason}"
        case IssueStatus.SKIPPED:
            left = standing.pull is not None and standing.pull.open
            stays = f" Pull request #{standing.pull.number} stays as it is." if standing.pull and left else ""
            yield f"**noface leaves this undone:** {reason}.{stays}"
            yield "To have it worked on after all, write `/noface retry` here."
        case IssueStatus.EPIC:
            yield "**noface has divided this issue; its parts do the work.**"
            yield "\n".join(f"- {plain(clean(part.title))}: {part.status}" for part in standing.parts[:_PARTS_SHOWN])
        case _ if state == GONE:
            yield "**noface works on this no more:** it was closed, or is no longer among the issues for noface."
            if standing.attempts:
                yield "What was done is kept, and work goes on from there if it comes back."
        case _:
            until = f" It goes on after {at(standing.until)}." if standing.until is not None else ""
            yield f"**noface goes on with this later:** {reason}.{until}"
    yield _history(standing)


def _needs_person(standing: Standing, state: str, clean: Clean) -> Iterator[str]:
    asking = [part for part in standing.parts if part.asks] if standing.status == IssueStatus.EPIC else []
    requests = [part.request for part in asking] or [standing.request]
    needs = "needs an answer" if state == IssueStatus.BLOCKED else "needs a yes"
    parts = f"{len(asking)} of its parts cannot go on." if asking else ""
    yield f"**noface {needs} to go on.** {parts or plain(clean(standing.request.summary or standing.reason))}"
    for number, request in enumerate(requests):
        if asking:
            yield f"Part {code(asking[number].issue_id)}, {plain(clean(asking[number].title))}:"
        if request.question:
            yield quote(clean(request.question))
    yield _answers_here(state, yes=any(request.wants for request in requests))
    for request in requests:
        yield from _evidence(request, clean)
        yield _options(request, clean)


def _answers_here(state: str, *, yes: bool) -> str:
    answer = (
        f"`/noface` and your answer, a comment that mentions {ACCOUNT}, or a reply that quotes the question: it"
        " goes to the next attempt. Other comments are left alone"
    )
    ways = [answer, "`/noface retry`: try it again, after you changed something else"]
    if yes or state == IssueStatus.APPROVAL:
        decisions = (
            f"`/noface approve`, or the label `{APPROVED}`: yes",
            "`/noface reject` and why: no; the next is told",
        )
        ways = [*decisions, *(ways if state != IssueStatus.APPROVAL else ())]
    listed = "\n".join(f"- {line}" for line in (*ways, "`/noface skip`: leave it undone"))
    return f"**To answer,** write a comment below, if you may write to this repository:\n\n{listed}"


def _evidence(request: PersonRequest, clean: Clean) -> Iterator[str]:
    if (failing := request.failing) is not None:
        where = f" ({code(clean(failing.location))})" if failing.location else ""
        yield f"Gate {code(clean(failing.gate))} fails{where}: {plain(clean(failing.message))}"
        yield block(map(clean, failing.lines))
    if files := request.changed_files:
        changed = ", ".join(code(clean(path)) for path in request.changed[:_PARTS_SHOWN])
        yield f"It changes {files} files, {request.changed_lines} lines: {changed}"
    if tried := [plain(clean(line)) for line in request.tried]:
        yield "What was tried:\n\n" + "\n".join(f"- {line}" for line in tried[-_ATTEMPTS_SHOWN:])


def _options(request: PersonRequest, clean: Clean) -> str:
    pairs = zip(request.options, request.commands, strict=False)
    lines = [f"- {plain(clean(text))}: {code(clean(command))}" for text, command in pairs]
    if not lines:
        return ""
    listed = "\n".join(lines)
    return f"<details><summary>Where noface runs</summary>\n\n{listed}\n\n</details>"


def _in_review(standing: Standing, reason: str) -> Iterator[str]:
    pull = standing.pull
    if pull is None:
        yield f"**noface is done with this, and shows it for review:** {reason}"
        return
    if not standing.present:
        yield f"**The issue was closed or taken from noface.** What was done for it lands if #{pull.number} is merged."
        return
    yield f"**noface is done with this:** it waits for review as #{pull.number}."
    if pull.checks and pull.checks != "none":
        yield f"Its checks: {plain(pull.checks)}."


def _landed(standing: Standing) -> Iterator[str]:
    commit = f" as {standing.merged_commit[:12]}" if standing.merged_commit else ""
    if standing.pull is not None:
        yield f"**This has landed**{commit}, by #{standing.pull.number}."
    elif standing.pushed:
        yield f"**This has landed**{commit}, and main was pushed."
    else:
        yield f"**This has landed**{commit} on main where noface runs. noface has not pushed it."


def _history(standing: Standing) -> str:
    """Return what came of the attempts; an issue that waits for a person has told it already."""
    ended = [worked for worked in standing.attempts if worked.outcome not in (None, INTERRUPTED)]
    if standing.state in ASKING or not ended:
        return ""
    lines = [f"- attempt {each.number} with {code(each.model)}: {plain(str(each.outcome))}" for each in ended]
    return "Attempts so far:\n\n" + "\n".join(lines[-_ATTEMPTS_SHOWN:])


def _footer(standing: Standing) -> str:
    many, cost = len(standing.attempts), standing.cost_usd
    spent = f", {in_dollars(cost)}" if cost is not None else ""
    facts = f"{many} attempt{'s' if many != 1 else ''}{spent} · " if many else ""
    return f"<sub>{facts}noface keeps this comment up to date</sub>"


def at(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d %H:%M UTC")
