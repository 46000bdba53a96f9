"""The words for what happens in a run: a line for each event, and what the event before it has already said.

What issues, agents and models wrote comes last in a line, on that one line, without anything a terminal acts on.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from noface.data import table
from noface.model.actions import action_text
from noface.model.failure import BY_YOU
from noface.model.taxonomy import INTERRUPTED, PASSED, FailureKind, happened
from noface.recovery.schedule import Breaker
from noface.store.reader import Reader
from noface.ui.text import clean, count, duration, fit, moment

_TITLE_MAX = 48
_TEXT_MAX = 300
_COMMAND_MAX = 100
_LISTED_MAX = 8
_NEAR_S = 120.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line to show: a mark, what happened, and what is told of it; `style` is that of mark and head in colours."""

    mark: str
    head: str
    rest: str = ""
    style: str = ""

    @property
    def text(self) -> str:
        return f"{self.head}: {self.rest}" if self.rest else self.head


@dataclass(frozen=True, slots=True)
class EventFacts:
    """An event: the issue ("" for none) with its title, the event's data, and the time in epoch seconds.

    `how` is how an attempt begins that follows others; `model` is the one whose provider the issue waits for.
    """

    issue: str
    title: str
    data: Mapping[str, object]
    now: float
    how: str = ""
    model: str = ""

    def __getitem__(self, name: str) -> str:
        """Return a field as one printable line, "" if it is not there; of a long list the first members."""
        if name in ("issue", "title"):
            return self.issue if name == "issue" else self.title
        members = self.members(name)
        more = f" and {len(members) - _LISTED_MAX} more" if len(members) > _LISTED_MAX else ""
        return ", ".join(members[:_LISTED_MAX]) + more

    def members(self, name: str) -> list[str]:
        value = self.data.get(name)
        values = value if isinstance(value, (list, tuple)) else () if value is None else (value,)
        return [printable(each) for each in values]

    def number(self, name: str) -> float:
        value = self.data.get(name)
        return float(value) if isinstance(value, int | float) else 0.0


def printable(text: object, chars_max: int = _TEXT_MAX) -> str:
    """Return text on one line without control characters, so that an agent's words cannot steer the terminal."""
    return fit(clean(str(text)), chars_max)


def short_title(title: object) -> str:
    return printable(title, _TITLE_MAX)


def when(until: float, now: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(until)) if abs(until - now) < _NEAR_S else moment(until, now)


Words = Callable[[EventFacts], Line | None]


def words(kind: str, event: EventFacts) -> Line | None:
    """Return the line for an event, None if there is nothing to tell or the event is not known."""
    if kind in _WORDS:
        return _WORDS[kind](event)
    line = table("events").get(kind, {}).get("line")
    if line is None:
        return None
    head, rest = (line.get(part, "").format_map(event) for part in ("head", "rest"))
    return Line(line["mark"], head, rest, line.get("style", ""))


def _sandbox(event: EventFacts) -> Line:
    match event["kind"]:
        case "bubblewrap":
            text = f"sandbox: bubblewrap {event['version']}".rstrip()
            return Line("·", text, "workers and gates write to their workspace only", "dim")
        case "wrap":
            return Line("·", "sandbox: what [sandbox] wrap says", style="dim")
        case _:
            why = f"{event['why']}; agents and gates run with all your rights"
            return Line("!", "no sandbox", why, "bold yellow")


def _networks(event: EventFacts) -> Line:
    ways = []
    if led := event["led"]:
        ways.append(f"{led} by {event['connector'].rpartition('/')[2]}")
    if shared := event["shared"]:
        none = "" if event["connector"] else "; with pasta or slirp4netns installed it need not be shared"
        ways.append(f"{shared} by sharing this machine's network, with what listens there{none}")
    return Line("·", "gates reach the outside", "; ".join(ways), "dim")


def _preflight(event: EventFacts) -> Line:
    goes = "becomes a pull request" if event["landing"] == "pull-request" else f"lands on {event['main']}"
    pushed = ", which is pushed" if event["landing"] == "push" else ""
    return Line("·", f"work that passes {goes}{pushed}; running its gates on {event['main']} first", style="dim")


def _setup(event: EventFacts) -> Line:
    took = duration(event.number("seconds"))
    match event["state"]:
        case "begins":
            return Line("·", "setting up a workspace", fit(event["text"], _COMMAND_MAX), "dim")
        case "done":
            return Line("·", f"set up in {took}", style="dim")
        case _:
            return Line("·", f"setup goes on after {took}", event["text"], "dim")


def _main_gate(event: EventFacts) -> Line:
    took = duration(event.number("seconds"))
    return Line("·", f"gate {event['gate']} of main goes on after {took}", event["text"], "dim")


def _notes(about: str) -> Words:
    return lambda event: Line("!", about, "; ".join(event.members("what")), "yellow")


def _heard(event: EventFacts) -> Line:
    command, who = event["command"], f"{event.issue} {event['author']}"
    heading = f"{who} writes /noface {command}" if command else f"{who} answers"
    return Line("»", heading, event["text"])


def _refused(event: EventFacts) -> Line:
    about = f" for {event.issue}" if event.issue else ""
    return Line("!", f"the tracker refuses{about}", f"{event['why']} {event['hint']}".strip(), "yellow")


def _swept(event: EventFacts) -> Line:
    many = count(int(event.number("count")), "process", "processes")
    return Line("·", f"ended {many} that a killed run had left", style="yellow")


def _running(event: EventFacts) -> Line | None:
    reason = event["reason"]
    if reason.startswith("asks "):
        return None  # the event "asked" has told it
    how = f", {event.how}" if event.how else ""
    return Line("▶", f"{event.issue} {reason}{how}", event.title, "cyan")


def _finished(event: EventFacts) -> Line:
    number, outcome, worker = event["number"], event["outcome"], event["worker"]
    if outcome == PASSED:
        though = f", though its worker {happened(worker)}" if worker else ""
        return Line("✓", f"{event.issue} attempt {number} passed every gate{though}", style="green")
    if outcome == INTERRUPTED:
        why = event["message"]
        head = f"is kept: {why}" if why else "was interrupted; its work is kept"
        return Line("·", f"{event.issue} attempt {number} {head}", style="dim" if why else "yellow")
    excused = "" if event.data.get("charged", True) else " (costs no attempt)"
    return Line("✗", f"{event.issue} attempt {number} {happened(outcome)}{excused}", what_failed(event.data), "yellow")


def _overruled(event: EventFacts) -> Line | None:
    if event["message"].startswith(BY_YOU):
        return None  # the event "blocked" tells it
    head = f"{event.issue} attempt {event['number']} {happened(event['outcome'])}"
    return Line("✗", head, what_failed(event.data), "yellow")


def what_failed(data: Mapping[str, object]) -> str:
    """Return what went wrong, without what its kind says; `data` has the keys of an event `attempt_finished`."""
    kind = FailureKind.__members__.get(str(data.get("outcome")))
    message = str(data.get("message") or "")
    prefix = next(
        (prefix for prefix in (kind.info.redundant_prefixes if kind else ()) if message.startswith(prefix)), ""
    )
    message = message.removeprefix(prefix)
    gate, location = data.get("gate"), str(data.get("location") or "")
    if location or data.get("tests"):  # the place says more than the gate's name
        message = message.removeprefix(f"gate {gate}: ")
    if location and location.partition(":")[0] not in message:
        message = f"{location}: {message}" if message else location
    return printable(message)


def _waiting(event: EventFacts) -> Line:
    until = event.number("until")
    end = f" until {when(until, event.now)}" if until else ""
    if event.model:
        return Line("…", f"{event.issue} waits{end} for {event.model}", event.title, "yellow")
    return Line("…", f"{event.issue} waits{end}", event["reason"], "yellow")


def _landing(event: EventFacts) -> Line | None:
    reason = event["reason"]
    return None if reason.startswith("passed") else Line("!", f"{event.issue} cannot land", reason, "bold yellow")


def _flaky(event: EventFacts) -> Line:
    where = f"{event.issue} " if event.issue else "main: "
    if tests := event["tests"]:
        return Line("~", f"{where}gate {event['gate']} passed but for {tests}", "unsteady on main", "yellow")
    text = f"{where}gate {event['gate']} is flaky: it failed, and passed when run again"
    return Line("~", text, event["message"], "yellow")


def _met(event: EventFacts) -> Line:
    gate, beside = event["gate"], event["beside"]
    where = f"{event.issue} " if event.issue else "main: "
    text = f"{where}gate {gate} failed beside {beside}, and passed alone"
    if gate.partition("-")[0] not in ("accept", "recheck"):
        text += f'; below name = "{gate}" in [[gates]] of noface.toml, alone = true has it always run so'
    return Line("~", text, event["message"], "yellow")


def _unsteady(event: EventFacts) -> Line | None:
    tests = event["tests"] or f"the whole of gate {event['gate']}"
    return Line("~", f"{tests} fails now and then on main", "it counts for nobody", "yellow")


def _asked(event: EventFacts) -> Line | None:
    model = event["model"]
    return Line("?", f"{event.issue} asks {model}", _topic(event), "magenta") if model else None


def _answered(event: EventFacts) -> Line | None:
    topic, outcome, who, decided = _topic(event), event["outcome"], event["model"], event["strategy"]
    if outcome == "ADVISED" and (topic == "breakdown" or decided == "request_changes"):
        return None  # the events "broken_down" and "attempt_overruled" tell it
    head = f"{event.issue} {f'{who}, ' if who else ''}{topic}"
    match outcome:
        case "ADVISED":
            return Line("»", f"{head} → {decided.replace('_', ' ')}" if decided else head, _gist(event), "magenta")
        case "UNAVAILABLE":
            return Line("»", head, "could not be asked; the issue goes on without", "yellow")
        case _:
            return Line("»", head, "no usable answer; the issue goes on without", "yellow")


def _gist(event: EventFacts) -> str:
    decided = str(event.data.get("strategy") or "")
    lines = [line.removeprefix("Summary: ") for line in str(event.data.get("text") or "").splitlines()]
    return printable(" ".join(line for line in lines if not decided or not line.endswith(f": {decided}")))


def _topic(event: EventFacts) -> str:
    return event["topic"].replace("_", " ")


def _broken_down(event: EventFacts) -> Line:
    many = count(len(event.members("children")), "part")
    return Line("÷", f"{event.issue} divided into {many}", event["children"], "magenta")


_WORDS: dict[str, Words] = {
    "preflight": _preflight,
    "setup": _setup,
    "main_gate": _main_gate,
    "idle_settings": _notes("worth knowing"),
    "quota": _notes("quota"),
    "checkout_lacks": _notes("workspaces"),
    "sandbox": _sandbox,
    "networks": _networks,
    "processes_swept": _swept,
    "heard": _heard,
    "tracker_refused": _refused,
    "issue_running": _running,
    "issue_waiting": _waiting,
    "issue_landing": _landing,
    "attempt_finished": _finished,
    "attempt_overruled": _overruled,
    "gate_flaky": _flaky,
    "gate_met": _met,
    "unsteady": _unsteady,
    "asked": _asked,
    "answered": _answered,
    "broken_down": _broken_down,
}

_TELL_WHY_READY = frozenset({"action", "answered", "attempt_finished", "attempt_overruled", "parts_failed"})
"""What has told why an issue is ready again."""


class Narrator:
    """Finds the words for events; titles and models' waits come from the rows."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._before: dict[str, str] = {}
        self._away: dict[str, Breaker] = {}
        self._waits_until = -1.0
        self._waits: dict[str, object] = {}

    def lines(self, kind: str, issue_id: str | None, data: Mapping[str, object]) -> list[Line]:
        """Return the lines for an event: none if there is nothing to tell, and none for events nobody knows."""
        if kind == "progress":
            return self._breakers() if self._away else []
        lines = self._breakers() if kind in ("action", "answered") or kind.startswith("issue_") else []
        line = self._line(kind, issue_id or "", data)
        if kind == "issue_waiting" and lines and self._awaited(issue_id or "", data):
            line = None  # the line about its model says so
        if kind.startswith("issue_"):
            # Each look at a main that stays red sets a new time for the next one, for the same reason.
            reason = data.get("reason") if kind == "issue_waiting" else None
            line = line if reason is None or self._waits.get(issue_id or "") != reason else None
            self._waits[issue_id or ""] = reason
        if issue_id is not None:
            self._before[issue_id] = kind
        return [*lines, line] if line is not None else lines

    def _line(self, kind: str, issue_id: str, data: Mapping[str, object]) -> Line | None:
        if kind == "waiting":
            return self._wait(data)
        if kind == "issue_ready" and self._before.get(issue_id) in _TELL_WHY_READY:
            return None
        past = self._reader.past(issue_id) if kind == "issue_running" else ()
        how = action_text(past[-1].answer, "started") if past else ""
        model = self._awaited(issue_id, data) if kind == "issue_waiting" else ""
        row = self._reader.issue(issue_id) if issue_id else None
        title = short_title(row.title) if row is not None else ""
        return words(kind, EventFacts(issue_id, title, data, time.time(), how, model))

    def _awaited(self, issue_id: str, data: Mapping[str, object]) -> str:
        """Return the model whose provider an issue waits for; "" if it waits for something else."""
        row = self._reader.issue(issue_id) if data.get("until") is not None else None
        return printable(row.model) if row is not None and row.model in self._away else ""

    def _wait(self, data: Mapping[str, object]) -> Line | None:
        until, model = float(str(data.get("until", 0.0))), str(data.get("model") or "")
        if until == self._waits_until:
            return None
        self._waits_until = until
        if model in self._away and self._away[model].until == until:
            return None  # the last lines tell of nothing else
        if not model and data.get("reason") and data.get("reason") in self._waits.values():
            return None
        end = f" until {when(until, time.time())}" if until else ""
        heading = f"everything waits{end}{f' for {printable(model)}' if model else ''}"
        return Line("…", heading, "" if model else printable(data.get("reason") or ""), "dim")

    def _breakers(self) -> list[Line]:
        """Tell which models' providers went away or came back since the last look: no event of its own says so."""
        waits, before = self._reader.waits(), self._away
        self._away = waits
        now = time.time()
        lines = [Line("·", f"{printable(name)} answers again", style="green") for name in before if name not in waits]
        for name, breaker in waits.items():
            if (name not in before or before[name].until != breaker.until) and breaker.open(now):
                often = f"{breaker.failures} failures in a row" if breaker.failures > 1 else ""
                lines.append(Line("…", away(name, breaker, now), often, "yellow"))
        return lines


def away(name: str, breaker: Breaker, now: float) -> str:
    what = printable(breaker.kind.replace("_", " ").lower() or "away")
    return f"{printable(name)}: {what} until {when(breaker.until, now)}"
