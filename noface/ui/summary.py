"""What came of a run: what landed, what is blocked or waits and until when, and the one command that comes next."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from noface.model.quoting import some
from noface.model.taxonomy import Cause
from noface.store.overview import LandedAt, ModelWait
from noface.store.reader import Reader
from noface.store.records import IssueRow
from noface.ui.blocked import waiting_of
from noface.ui.landed import LandedIssue, landed_issue, look_first
from noface.ui.narrate import Line, printable, short_title, when
from noface.ui.status import Status, counted, reviewed, status_now
from noface.ui.text import count, duration, money

_SHOWN_MAX = 20
_LOOKS_MAX = 5
_WORKED_MIN = 5
"""Of so many issues that were worked on a run names the page that tells all of them."""
_NAMES_MAX = 12
_WITHDRAWN = "it is not in the backlog any more"
_NOTHING_THERE = 'The backlog is empty: noface issues add "What should be done".'


class RunTally:
    """What a run's events add up to: attempts begun, issues worked on, what landed, in its order, and what stopped."""

    def __init__(self) -> None:
        self.attempts = 0
        self.worked_on: set[str] = set()
        self.landed: list[str] = []
        self.stopped: set[str] = set()
        self.began: float | None = None

    def saw(self, kind: str, issue_id: str | None, now: float) -> None:
        """Count an event; `now` is epoch seconds."""
        self.began = now if self.began is None else self.began
        issue = issue_id or ""
        match kind:
            case "attempt_started" | "attempt_finished":
                self.attempts += kind == "attempt_started"
                self.worked_on.add(issue)
            case "issue_blocked" | "issue_approval":
                self.stopped.add(issue)
            case "issue_merged":
                self.landed.append(issue)
            case _:
                pass


class RunSummary(NamedTuple):
    """What came of a run. The reason of an issue says what is in its way."""

    why: str
    tally: RunTally
    status: Status
    landed: tuple[LandedIssue, ...]
    withdrawn: tuple[IssueRow, ...]
    costs: tuple[float | None, int, int]
    seconds: float

    def issues(self, status: str) -> list[IssueRow]:
        return [issue for issue in self.status.issues if issue.present and issue.status == status]

    @property
    def next_command(self) -> str:
        """The one command that goes on from here, "" if nothing is to be done."""
        if self.issues("blocked") or self.issues("approval") or self.issues("landing"):
            return "noface blocked"
        if self.issues("ready") or any(issue.reason for issue in self.issues("waiting")):
            return "noface run"
        return "noface issues" if self.status.faults else ""


def run_summary(reader: Reader, why: str, tally: RunTally, now: float) -> RunSummary:
    """Return what came of the run that `tally` has counted; `why` says how it ended, `now` is epoch seconds."""
    status = status_now(reader, now)
    status = status._replace(issues=tuple(_left(issue, status.waits, now) for issue in status.issues))
    known, faulty = {issue.id for issue in status.issues}, {fault.source for fault in status.faults}
    gone = (row for name in sorted(tally.worked_on - known) if (row := reader.issue(name)) is not None)
    return RunSummary(
        why=why,
        tally=tally,
        status=status,
        landed=tuple(landed_issue(reader, LandedAt(name, 0, now)) for name in tally.landed if name in known),
        withdrawn=tuple(row for row in gone if row.source not in faulty),
        costs=reader.costs(),
        seconds=now - (tally.began if tally.began is not None else now),
    )


def _left(issue: IssueRow, waits: Sequence[ModelWait], now: float) -> IssueRow:
    status, reason = issue.status, issue.reason
    if status == "landing" and issue.cause != Cause.HELD:
        status = "ready"  # cut off before it landed: nothing of a person's is in the way
    elif status == "waiting" and issue.until is not None:
        until = f"until {when(issue.until, now)}"
        reason = (
            f"{until} for {issue.model}" if any(issue.model == each.model for each in waits) else f"{until}: {reason}"
        )
    elif status == "ready":
        reason = f"after {count(issue.attempts, 'failed attempt')}" if issue.attempts else ""
    elif status == "review":
        reason = reviewed(reason, issue.pull_url or "")
    return issue._replace(status=status, reason=printable(reason))


def summary_lines(summary: RunSummary) -> list[Line]:
    """Return the lines that close a run; a line without a mark stands at the margin."""
    status, tally = summary.status, summary.tally
    worked = f"{count(len(tally.worked_on), 'issue')}, {count(tally.attempts, 'attempt')}, "
    done = f" {worked}{duration(summary.seconds)}." if tally.attempts else ""
    lines = [Line("", ""), Line("", f"{summary.why[:1].upper()}{summary.why[1:]}.{done}", style="bold")]
    looks = [
        (_title(each), printable("; ".join(each.reasons)), each.bring_back or printable(each.note))
        for each in look_first(summary.landed)
    ]
    lines += _part("Look at these first", "!", "bold yellow", looks, _LOOKS_MAX)
    tried = {each.id: count(each.attempts, "attempt") for each in summary.landed if each.attempts > 1}
    lines += _part("Landed", "✔", "green", [(_title(each), tried.get(each.id, ""), "") for each in summary.landed])
    blocked, approval = summary.issues("blocked"), summary.issues("approval")
    new = [[issue for issue in issues if issue.id in tally.stopped] for issues in (blocked, approval)]
    lines += _part("Blocked", "■", "bold red", _told(new[0]))
    lines += _part("Needs your approval", "?", "bold yellow", _told(new[1]))
    if older := len(blocked) + len(approval) - sum(map(len, new)):
        lines.append(Line("", "Waited for you before this run", f"{count(older, 'issue')}: noface blocked"))
    lines += _part("Cannot land", "!", "bold yellow", _told(summary.issues("landing")))
    gone = [
        (_title(row), _WITHDRAWN + (f"; its work is kept on {row.branch}" if row.branch else ""), "")
        for row in summary.withdrawn
    ]
    lines += _part("Withdrawn", "·", "yellow", gone)
    lines += _part("In review", "⇡", "green", _told(summary.issues("review")))
    lines += _part("Waits", "…", "yellow", _told(summary.issues("waiting")))
    if ready := summary.issues("ready"):
        names = tuple(f"{issue.id} ({issue.reason})" if issue.reason else issue.id for issue in ready)
        lines.append(Line("", "Left for the next run", some(names, _NAMES_MAX)))
    for title, faults in (("Faulty, and not worked on", status.faults), ("Left out", status.left_out)):
        lines += _part(title, "!", "yellow", [(fault.source, printable(fault.problem), "") for fault in faults])
    if unsteady := status.unsteady:
        tests = tuple(printable(row.test) or f"gate {row.gate}" for row in unsteady)
        count_for = "counts" if len(tests) == 1 else "count"
        what = f"{count(len(tests), 'unsteady test')} on main, which {count_for} for nobody"
        lines.append(Line("", what, some(tests, _NAMES_MAX)))
    counts = Counter(status.counts) + Counter(withdrawn=len(summary.withdrawn))
    numbers = ", ".join(f"{number} {counted(name)}" for name, number in counts.items())
    lines.append(Line("", "The backlog", f"{numbers}.") if numbers else Line("", _NOTHING_THERE))
    if cost := _cost(summary):
        lines.append(Line("", "Cost so far", cost))
    if len(tally.worked_on) >= _WORKED_MIN:
        lines.append(Line("", "All of it on one page", "noface report"))
    if summary.next_command:
        lines.append(Line("", "Next", summary.next_command, "bold"))
    return lines


def _cost(summary: RunSummary) -> str:
    known = [issue.cost_usd for issue in summary.status.issues if issue.present and issue.cost_usd is not None]
    (cost, estimated, unknown), whole = summary.costs, money(sum(known)) if known else ""
    of_run = money(cost)
    facts = [whole, f"{of_run} of it in this run" if of_run not in ("", whole) else ""]
    facts += [f"{count(estimated, 'attempt')} priced from tokens" if estimated else ""]
    facts += [f"of {count(unknown, 'attempt')} nobody knows the price" if unknown else ""]
    return "; ".join(fact for fact in facts if fact)


def _title(issue: IssueRow | LandedIssue) -> str:
    return f"{issue.id} {short_title(issue.title)}"


def _told(issues: Iterable[IssueRow]) -> list[tuple[str, str, str]]:
    details = {issue.id: waiting_of(issue).detail for issue in issues if issue.block and issue.status == "blocked"}
    return [(_title(each), each.reason, printable(details.get(each.id, ""))) for each in issues]


def _part(
    title: str, mark: str, style: str, members: Sequence[tuple[str, str, str]], most: int = _SHOWN_MAX
) -> Iterator[Line]:
    if not members:
        return
    yield Line("", title)
    for head, rest, detail in members[:most]:
        yield Line(f"  {mark}", head, rest, style)
        if detail not in ("", rest):
            yield Line("     ", detail)
    if len(members) > most:
        yield Line(f"  {mark}", f"… and {len(members) - most} more", style=style)
