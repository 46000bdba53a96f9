"""What came of a run: what landed, what is blocked or waits and until when, and the one command that comes next."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from noface.model.attempt import PastAttempt
from noface.model.issue_fault import IssueFault
from noface.model.quoting import quoted as in_quotes
from noface.model.quoting import some
from noface.model.taxonomy import INTERRUPTED, PASSED, Cause, FailureKind, happened
from noface.model.unsteady import UnsteadyTest
from noface.recovery.schedule import Breaker
from noface.store.overview import LandedAt
from noface.store.reader import Costs, Reader
from noface.store.records import IssueRow
from noface.ui.landed import LandedIssue, landed_issue, look_first
from noface.ui.narrate import Line, printable, short_title, what_failed, when
from noface.ui.status import counted, effective_status, reviewed, standings
from noface.ui.text import count, duration, money

_SHOWN_MAX = 20
_LOOKS_MAX = 5
_WORKED_MIN = 5
"""Of so many issues that were worked on a run names the page that tells all of them."""
_NAMES_MAX = 12
_QUESTION_CHARS_MAX = 200
_NOTHING_THERE = 'The backlog is empty: noface issues add "What should be done".'


class RunTally:
    """What a run's events add up to: attempts begun, issues worked on, what landed, in its order, and what stopped."""

    def __init__(self) -> None:
        self.attempts = 0
        self.worked_on: set[str] = set()
        self.landed: dict[str, str] = {}
        self.stopped: set[str] = set()
        self.began: float | None = None
        self._ended_badly: dict[str, str] = {}

    def saw(self, kind: str, issue_id: str | None, data: Mapping[str, object], now: float) -> None:
        """Count an event; `now` is epoch seconds."""
        self.began = now if self.began is None else self.began
        issue = issue_id or ""
        match kind:
            case "attempt_started":
                self.attempts += 1
                self.worked_on.add(issue)
            case "attempt_finished":
                self.worked_on.add(issue)
                self._ended_badly[issue] = str(data.get("worker") or "")
            case "issue_blocked" | "issue_approval":
                self.stopped.add(issue)
            case "issue_merged":
                self.landed[issue] = self._ended_badly.get(issue, "")
            case _:
                pass


@dataclass(frozen=True, slots=True)
class IssueResult:
    """How an issue stands at the end of a run: `why` says what is in the way, `detail` what its newest attempts did."""

    id: str
    title: str
    why: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What came of a run. `counts` are those of the whole backlog; `next_command` is "" where nothing is to be done.

    `stopped` are the blocked issues and those that wait for approval which came to that in this run, `workers` says of
    issues that landed how their last worker ended if that was badly.
    """

    why: str
    attempts: int = 0
    worked_on: int = 0
    seconds: float = 0.0
    landed: tuple[LandedIssue, ...] = ()
    workers: Mapping[str, str] = field(default_factory=dict)
    blocked: tuple[IssueResult, ...] = ()
    approval: tuple[IssueResult, ...] = ()
    stopped: frozenset[str] = frozenset()
    held: tuple[IssueResult, ...] = ()
    withdrawn: tuple[IssueResult, ...] = ()
    review: tuple[IssueResult, ...] = ()
    waiting: tuple[IssueResult, ...] = ()
    ready: tuple[IssueResult, ...] = ()
    faults: tuple[IssueFault, ...] = ()
    left_out: tuple[IssueFault, ...] = ()
    flaky: Mapping[str, int] = field(default_factory=dict)
    met: Mapping[str, int] = field(default_factory=dict)
    unsteady: tuple[UnsteadyTest, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    costs: Costs = field(default_factory=Costs)

    @property
    def next_command(self) -> str:
        """The one command that goes on from here."""
        if self.blocked or self.approval or self.held:
            return "noface blocked"
        if self.ready or any(issue.why for issue in self.waiting):
            return "noface run"
        return "noface issues" if self.faults else ""


def effective_counts(rows: Iterable[IssueRow]) -> Counter[str]:
    """Count the issues by where they stand, as `noface status` does: what has landed counts, whatever became of it."""
    listed = list(rows)
    statuses = standings(listed)
    return Counter(effective_status(row, statuses)[0] for row in listed if row.present or row.status == "merged")


def run_summary(reader: Reader, why: str, tally: RunTally, now: float) -> RunSummary:
    """Return what came of the run that `tally` has counted; `why` says how it ended, `now` is epoch seconds."""
    everything = reader.issues()
    statuses, waits, pulls = standings(everything), reader.waits(), reader.pull_urls()
    known = {row.id for row in everything}
    left: dict[str, list[IssueResult]] = {}
    for row in everything:
        status, reason = effective_status(row, statuses)
        if not row.present or status not in _LEFT:
            continue
        match status:
            case "landing" if row.cause != Cause.HELD:
                status, why_left = "ready", reason  # cut off before it landed: nothing of a person's is in the way
            case "waiting":
                why_left = _waits_for(row, waits, reason, now)
            case "ready":
                why_left = f"after {count(row.attempts, 'failed attempt')}" if row.attempts else ""
            case "review":
                why_left = reviewed(reason, pulls.get(row.id, ""))
            case _:
                why_left = reason
        of_this_run = status == "blocked" and row.id in tally.stopped
        detail = _newest(reader.past(row.id)) if of_this_run else ""
        left.setdefault(status, []).append(IssueResult(row.id, row.title, printable(why_left), detail))
    costs = [row.cost_usd for row in everything if row.present and row.cost_usd is not None]
    faulty = {fault.source for fault in reader.faults()}
    gone = (row for row in everything if row.id in tally.worked_on and not row.present and row.status != "merged")
    withdrawn = tuple(IssueResult(row.id, row.title, _withdrawn(row)) for row in gone if row.source not in faulty)
    return RunSummary(
        why=why,
        attempts=tally.attempts,
        worked_on=len(tally.worked_on),
        seconds=now - (tally.began if tally.began is not None else now),
        stopped=frozenset(tally.stopped),
        landed=tuple(landed_issue(reader, LandedAt(name, 0, now)) for name in tally.landed if name in known),
        workers=tally.landed,
        faults=reader.faults(),
        left_out=reader.left_out(),
        flaky=reader.gates_counted("flaky"),
        met=reader.gates_counted("met"),
        unsteady=tuple(reader.unsteady()),
        withdrawn=withdrawn,
        counts=effective_counts(everything) + Counter(withdrawn=len(withdrawn)),
        cost_usd=sum(costs) if costs else None,
        costs=reader.costs(),
        **{name: tuple(left.get(status, ())) for status, name in _LEFT.items()},
    )


_LEFT = {
    "blocked": "blocked",
    "approval": "approval",
    "landing": "held",
    "review": "review",
    "waiting": "waiting",
    "ready": "ready",
}
"""The statuses of issues that are not done, with the fields that hold them."""


def _withdrawn(row: IssueRow) -> str:
    """Say that people took an issue from the backlog, and where its work is."""
    kept = f"its work is kept on {row.branch}" if row.branch else "it left no work"
    return f"it is not in the backlog any more; {kept}"


def _waits_for(row: IssueRow, waits: Mapping[str, Breaker], reason: str, now: float) -> str:
    if row.until is None:
        return reason
    breaker = waits.get(row.model or "")
    if breaker is None:
        return f"until {when(row.until, now)}: {reason}"
    return f"until {when(max(row.until, breaker.until), now)} for {row.model}"


def _newest(past: Sequence[PastAttempt]) -> str:
    """Return what an issue's newest attempts did: those that failed the same way in a row together."""
    judged = [attempt for attempt in past if attempt.outcome not in (INTERRUPTED, PASSED)]
    if not judged:
        return ""
    last = judged[-1]
    same = [last]
    for attempt in reversed(judged[:-1]):
        if not last.signature or (attempt.outcome, attempt.signature) != (last.outcome, last.signature):
            break
        same.append(attempt)
    failure = last.failure
    message = _asked(last) or what_failed(
        {
            "outcome": last.outcome,
            "message": failure.message if failure else "",
            "gate": failure.gate if failure else None,
            "location": failure.location if failure else None,
            "tests": failure.failing_tests if failure else (),
        }
    )
    first = same[-1].number
    numbers = f"attempts {first} {'and' if last.number - first == 1 else 'to'} {last.number}"
    did = f"attempt {last.number} {happened(last.outcome)}" if first == last.number else _each(numbers, last.outcome)
    return f"{did}: {message}" if message else did


def _asked(attempt: PastAttempt) -> str:
    """Return the first question of a worker that could not go on without an answer, "" if it has none."""
    of_failure = attempt.failure.questions if attempt.failure is not None else ()
    of_report = attempt.report.questions if attempt.report is not None else ()
    questions = of_failure or of_report
    if not questions or attempt.outcome != FailureKind.AGENT_CONFUSION:
        return ""
    more = f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""
    return f"it asks {in_quotes(printable(questions[0]), _QUESTION_CHARS_MAX)}{more}"


def _each(numbers: str, outcome: str) -> str:
    return f"{numbers} failed the same way" if outcome != "NO_DIFF" else f"{numbers} {happened(outcome)}"


def summary_lines(summary: RunSummary) -> list[Line]:
    """Return the lines that close a run; a line without a mark stands at the margin."""
    worked = f"{count(summary.worked_on, 'issue')}, {count(summary.attempts, 'attempt')}, "
    done = f" {worked}{duration(summary.seconds)}." if summary.attempts else ""
    numbers = ", ".join(f"{number} {counted(status)}" for status, number in summary.counts.items())
    lines = [Line("", ""), Line("", f"{summary.why[:1].upper()}{summary.why[1:]}.{done}", style="bold")]
    looks = [
        (_title(each), printable("; ".join(each.reasons)), each.bring_back or printable(each.note))
        for each in look_first(summary.landed)
    ]
    lines += _part("Look at these first", "!", "bold yellow", looks, _LOOKS_MAX)
    lines += _part("Landed", "✔", "green", [(_title(each), _how(summary, each), "") for each in summary.landed])
    new_ones = [
        [each for each in issues if each.id in summary.stopped] for issues in (summary.blocked, summary.approval)
    ]
    lines += _part("Blocked", "■", "bold red", _left(new_ones[0]))
    lines += _part("Needs your approval", "?", "bold yellow", _left(new_ones[1]))
    if older := len(summary.blocked) + len(summary.approval) - sum(map(len, new_ones)):
        lines.append(Line("", "Waited for you before this run", f"{count(older, 'issue')}: noface blocked"))
    lines += _part("Cannot land", "!", "bold yellow", _left(summary.held))
    lines += _part("Withdrawn", "·", "yellow", _left(summary.withdrawn))
    lines += _part("In review", "⇡", "green", _left(summary.review))
    lines += _part("Waits", "…", "yellow", _left(summary.waiting))
    if summary.ready:
        names = [f"{issue.id} ({issue.why})" if issue.why else issue.id for issue in summary.ready]
        more = f" and {len(names) - _NAMES_MAX} more" if len(names) > _NAMES_MAX else ""
        lines.append(Line("", "Left for the next run", f"{', '.join(names[:_NAMES_MAX])}{more}"))
    faults = [(fault.source, printable(fault.problem), "") for fault in summary.faults]
    lines += _part("Faulty, and not worked on", "!", "yellow", faults)
    left_out = [(fault.source, printable(fault.problem), "") for fault in summary.left_out]
    lines += _part("Left out", "!", "yellow", left_out)
    met = f"{count(len(summary.met), 'gate')} failed only beside others ([[gates]] alone = true)"
    for gates, head in ((summary.flaky, count(len(summary.flaky), "flaky gate")), (summary.met, met)):
        if gates:
            lines.append(Line("", head, ", ".join(f"{gate} ({count(times, 'time')})" for gate, times in gates.items())))
    if summary.unsteady:
        tests = tuple(printable(row.test) or f"gate {row.gate}" for row in summary.unsteady)
        what = (
            f"{count(len(tests), 'unsteady test')} on main, which {'counts' if len(tests) == 1 else 'count'} for nobody"
        )
        lines.append(Line("", what, some(tests, _NAMES_MAX)))
    lines.append(Line("", "The backlog", f"{numbers}.") if numbers else Line("", _NOTHING_THERE))
    if summary.cost_usd is not None or summary.costs.unknown:
        lines.append(Line("", "Cost so far", _cost(summary)))
    if summary.worked_on >= _WORKED_MIN:
        lines.append(Line("", "All of it on one page", "noface report"))
    if summary.next_command:
        lines.append(Line("", "Next", summary.next_command, "bold"))
    return lines


def _cost(summary: RunSummary) -> str:
    """Tell what all issues have cost, what of it this run, and what of it is estimated or not known."""
    costs, whole = summary.costs, money(summary.cost_usd)
    of_run = money(costs.of_run)
    facts = [whole, f"{of_run} of it in this run" if of_run not in ("", whole) else ""]
    facts += [f"{count(costs.estimated, 'attempt')} priced from tokens" if costs.estimated else ""]
    facts += [f"of {count(costs.unknown, 'attempt')} nobody knows the price" if costs.unknown else ""]
    return "; ".join(fact for fact in facts if fact)


def _title(issue: IssueResult | LandedIssue) -> str:
    return f"{issue.id} {short_title(issue.title)}"


def _how(summary: RunSummary, issue: LandedIssue) -> str:
    """Say what an issue took until it landed, and whether its last worker ended badly."""
    worker = summary.workers.get(issue.id, "")
    tried = count(issue.attempts, "attempt") if issue.attempts > 1 else ""
    return "; ".join(part for part in (tried, f"its worker {happened(worker)}" if worker else "") if part)


def _left(issues: Sequence[IssueResult]) -> list[tuple[str, str, str]]:
    return [(_title(issue), issue.why, issue.detail) for issue in issues]


def _part(
    title: str, mark: str, style: str, members: Sequence[tuple[str, str, str]], most: int = _SHOWN_MAX
) -> Iterator[Line]:
    if not members:
        return
    yield Line("", title)
    for head, rest, detail in members[:most]:
        yield Line(f"  {mark}", head, rest, style)
        if detail:
            yield Line("     ", detail)
    if len(members) > most:
        yield Line(f"  {mark}", f"… and {len(members) - most} more", style=style)
