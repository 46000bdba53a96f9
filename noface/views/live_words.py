"""The words for what happens: one line an event, the most telling words first, since terminals are narrow. Pure.

What issues, agents and models wrote comes last in a line, on that one line, without anything a terminal acts on.
"""

from collections.abc import Callable

from noface.core.taxonomy import INTERRUPTED, PASSED
from noface.views.live_line import Line, Told, printable, when
from noface.views.text import count

Words = Callable[[Told], Line | None]


def words(kind: str, told: Told) -> Line | None:
    """Return the line for an event, None where there is nothing to tell or the event is not known."""
    found = _WORDS.get(kind)
    return found(told) if found is not None else None


def _preflight(told: Told) -> Line:
    return Line("·", f"what passes lands on {told.said('main')}; checking the gates there first", style="dim")


def _canary(told: Told) -> Line:
    names = told.listed("gates")
    return Line("·", f"checking once that {names} turns red on broken sources", style="dim")


def _sandbox(told: Told) -> Line:
    match told.said("kind"):
        case "bubblewrap":
            text = f"sandbox: bubblewrap {told.said('version')}".rstrip()
            return Line("·", text, "workers and gates write to their workspace only", "dim")
        case "wrap":
            return Line("·", "sandbox: what [sandbox] wrap says", style="dim")
        case _:
            why = f"{told.said('why')}; agents and gates run with all your rights"
            return Line("!", "no sandbox", why, "bold yellow")


def _rules(told: Told) -> Line:
    value = told.data.get("what")
    changes = [printable(change) for change in value] if isinstance(value, (list, tuple)) else []
    return Line("!", "new in this version", "; ".join(changes), "yellow")


def _swept(told: Told) -> Line:
    many = count(int(told.number("count") or 0), "process", "processes")
    return Line("·", f"ended {many} that a killed run had left", style="yellow")


def _masked(told: Told) -> Line:
    many = count(int(told.number("count") or 0), "log")
    return Line("·", f"took secrets out of {many} that a killed run had left", style="yellow")


def _running(told: Told) -> Line | None:
    reason = told.said("reason")
    if reason.startswith("asks "):
        return None  # the event "asked" has told it
    return Line("▶", f"{told.issue} {reason}", told.title, "cyan")


def _finished(told: Told) -> Line:
    number, outcome = told.said("number"), told.said("outcome")
    if outcome == PASSED:
        return Line("✓", f"{told.issue} attempt {number} passed every gate", style="green")
    if outcome == INTERRUPTED:
        return Line("·", f"{told.issue} attempt {number} was interrupted; what it did is kept", style="yellow")
    excused = "" if told.data.get("charged", True) else " (not charged)"
    return Line("✗", f"{told.issue} attempt {number} {outcome}{excused}", told.said("message"), "yellow")


def _overruled(told: Told) -> Line:
    return Line("✗", f"{told.issue} {told.said('outcome')}", told.said("message"), "yellow")


def _fenced(told: Told) -> Line:
    text = f"{told.issue} attempt {told.said('number')} came in late ({told.said('outcome')}) and is left aside"
    return Line("·", text, style="dim")


_TOLD_BY_STATUS = frozenset({"Land", "Block", "Skip", "WaitUntil", "AwaitIssues", "RequestApproval"})
"""Actions that are followed by a status which gives the same reason."""


def _action(told: Told) -> Line | None:
    action = told.said("action")
    return None if action in _TOLD_BY_STATUS else Line("→", f"{told.issue} {action}", told.said("reason"), "dim")


def _merged(told: Told) -> Line:
    return Line("✔", f"{told.issue} {told.said('reason')}", told.title, "bold green")


def _blocked(told: Told) -> Line:
    return Line("■", f"{told.issue} blocked", f"{told.said('reason')} ({told.title})", "bold red")


def _skipped(told: Told) -> Line:
    return Line("-", f"{told.issue} skipped", told.said("reason"), "dim")


def _waiting(told: Told) -> Line:
    until = told.number("until")
    shown = f" until {when(until, told.now)}" if until is not None else ""
    return Line("…", f"{told.issue} waits{shown}", told.said("reason"), "yellow")


def _landing(told: Told) -> Line | None:
    reason = told.said("reason")
    return None if reason.startswith("passed") else Line("!", f"{told.issue} cannot land", reason, "bold yellow")


def _ready(told: Told) -> Line:
    return Line("·", f"{told.issue} goes on", told.said("reason"), "dim")


def _flaky(told: Told) -> Line:
    where = f"{told.issue} " if told.issue else "main: "
    text = f"{where}gate {told.said('gate')} is flaky: it failed, and passed when run again"
    return Line("~", text, told.said("message"), "yellow")


def _asked(told: Told) -> Line | None:
    model = told.said("model")
    return Line("?", f"{told.issue} asks {model}", _topic(told), "magenta") if model else None


def _answered(told: Told) -> Line | None:
    topic, outcome, who, decided = _topic(told), told.said("outcome"), told.said("model"), told.said("strategy")
    if outcome == "ADVISED" and (topic == "breakdown" or decided == "request_changes"):
        return None  # the events "broken_down" and "attempt_overruled" tell it
    head = f"{told.issue} {f'{who}, ' if who else ''}{topic}"
    match outcome:
        case "ADVISED":
            return Line("»", f"{head} → {decided.replace('_', ' ')}" if decided else head, _gist(told), "magenta")
        case "UNAVAILABLE":
            return Line("»", head, "could not be asked; the issue goes on without", "yellow")
        case _:
            return Line("»", head, "no usable answer; the issue goes on without", "yellow")


def _gist(told: Told) -> str:
    """Return what an answer says, without the lines that repeat what was decided."""
    decided = str(told.data.get("strategy") or "")
    lines = [line.removeprefix("Summary: ") for line in str(told.data.get("text") or "").splitlines()]
    return printable(" ".join(line for line in lines if not decided or not line.endswith(f": {decided}")))


def _topic(told: Told) -> str:
    return told.said("topic").replace("_", " ")


def _broken_down(told: Told) -> Line:
    children = told.data.get("children")
    many = count(len(children) if isinstance(children, (list, tuple)) else 0, "part")
    return Line("÷", f"{told.issue} divided into {many}", told.listed("children"), "magenta")


def _parts_failed(told: Told) -> Line:
    return Line("!", f"{told.issue} goes on as a whole", told.said("text"), "yellow")


def _planner_failed(told: Told) -> Line:
    return Line("!", f"{told.issue} divided by its files instead", told.said("message"), "yellow")


def _approval(told: Told) -> Line:
    return Line("?", f"{told.issue} needs your approval", f"{told.said('reason')} ({told.title})", "bold yellow")


def _approved(told: Told) -> Line:
    return Line("✓", f"{told.issue} approved by a person", told.said("note"), "green")


def _rejected(told: Told) -> Line:
    return Line("✗", f"{told.issue} rejected by a person", told.said("note"), "yellow")


def _allowed(told: Told) -> Line:
    return Line("·", f"{told.issue} may change as well", told.listed("paths"), "dim")


def _needs(told: Told) -> Line:
    return Line("·", f"{told.issue} turned out to need", told.listed("needs"), "yellow")


def _learnt(told: Told) -> Line:
    return Line("✎", f"{told.issue} taught a lesson", told.said("advice"), "magenta")


def _dropped(told: Told) -> Line:
    return Line("·", f"lesson {told.said('lesson')} did not help {told.issue} and is dropped", style="dim")


def _cut(told: Told) -> Line:
    return Line("·", f"{told.issue} prompt cut to its budget", told.said("what"), "dim")


def _slow_hint(told: Told) -> Line:
    return Line("!", f"{told.issue} a hint could not be tried", told.said("message"), "yellow")


def _stopping(_told: Told) -> Line:
    text = "stopping: workers are being ended, what they did is kept; Ctrl-C again stops at once"
    return Line("·", text, style="yellow")


def _died(told: Told) -> Line:
    return Line("!", f"{told.issue} noface died during attempt {told.said('number')}", style="yellow")


def _changed_outside(told: Told) -> Line:
    return Line("!", f"{told.issue} the repository was changed", told.listed("what"), "yellow")


def _adopted(told: Told) -> Line:
    commit = told.said("commit")[:12]
    return Line("·", f"{told.issue} goes on from the commit that a person made on its branch", commit, "cyan")


def _refs_kept(told: Told) -> Line:
    return Line("·", "refs that are no longer needed stay for now", told.said("reason"), "dim")


_WORDS: dict[str, Words] = {
    "refs_kept": _refs_kept,
    "branch_adopted": _adopted,
    "noface_died": _died,
    "repository_changed": _changed_outside,
    "preflight": _preflight,
    "canary": _canary,
    "rules_changed": _rules,
    "sandbox": _sandbox,
    "processes_swept": _swept,
    "logs_masked": _masked,
    "issue_running": _running,
    "issue_merged": _merged,
    "issue_blocked": _blocked,
    "issue_skipped": _skipped,
    "issue_waiting": _waiting,
    "issue_landing": _landing,
    "issue_ready": _ready,
    "attempt_finished": _finished,
    "attempt_overruled": _overruled,
    "attempt_fenced": _fenced,
    "action": _action,
    "gate_flaky": _flaky,
    "asked": _asked,
    "answered": _answered,
    "broken_down": _broken_down,
    "parts_failed": _parts_failed,
    "planner_failed": _planner_failed,
    "approval_requested": _approval,
    "approved": _approved,
    "rejected": _rejected,
    "paths_allowed": _allowed,
    "dependency_found": _needs,
    "lesson_learnt": _learnt,
    "lesson_dropped": _dropped,
    "prompt_cut": _cut,
    "hint_too_slow": _slow_hint,
    "stopping": _stopping,
}

UNTOLD = frozenset(
    {"attempt_started", "issue_approval", "issue_epic", "run_started", "run_ended", "progress", "waiting"}
)
"""Events without words of their own: another one tells it, or the view shows it in its own way."""
