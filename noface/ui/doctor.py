"""The page of `noface doctor`: whether machine, project and models are ready, and what to do where they are not.

Nothing here is ever the value of a key: only the names of variables and files are known.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_USAGE
from noface.model.finding import Finding
from noface.ui.page import paint, painted
from noface.ui.text import count, duration, hanging, money, pad

_TEXT_MAX = 600
_ROOM = 6
_NAME_MAX = 20


class State(StrEnum):
    """How something stands: fine, worth knowing, or in need of a person before it works."""

    OK = "ok"
    NOTE = "note"
    BAD = "bad"


_SHOWN = {State.OK: ("ok", "good"), State.NOTE: ("note", "careful"), State.BAD: ("FIX", "bad")}


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was looked at; `fix` may be empty, `exit_code` is that of `noface doctor` if it is bad."""

    name: Annotated[str, "What was looked at."]
    state: Annotated[State, "How it stands."]
    text: Annotated[str, "What was found."]
    fix: Annotated[str, "What to do; may be empty."] = ""
    exit_code: int = EXIT_ATTENTION


def point_of(finding: Finding, name: str, text: str = "") -> Point:
    """Return a finding as a line of the page, behind `name`; `text` takes the place of where and what."""
    state = State.NOTE if finding.exit_code == EXIT_DONE else State.BAD
    return Point(name, state, text or finding.text, finding.fix, finding.exit_code)


@dataclass(frozen=True, slots=True)
class Probe:
    """What came of a prompt sent through a model. `kind` is the failure's, "" where it answered."""

    kind: str
    message: str
    seconds: float
    cost_usd: float | None = None
    answer: str = ""

    @property
    def fact(self) -> str:
        return f"answered in {duration(self.seconds)}{f' for {money(self.cost_usd)}' if self.cost_usd else ''}"


@dataclass(frozen=True, slots=True)
class ModelFinding:
    """A model."""

    name: Annotated[str, "The entry of [models]."]
    agent: Annotated[str, "Its agent."]
    model: Annotated[str, "What the agent calls it."]
    tier: Annotated[int, "Its tier."]
    used_by: Annotated[tuple[str, ...], "Rungs and roles."] = ()
    program: Annotated[str, "The agent's program."] = ""
    path: Annotated[str, "Where that is."] = ""
    version: Annotated[str, "Its version."] = ""
    login: Annotated[tuple[str, ...], "Variables and files in which a login was seen."] = ()
    facts: Annotated[tuple[str, ...], "What is worth knowing."] = ()
    problems: Annotated[tuple[Point, ...], "What is wrong."] = ()
    probe: Annotated[Probe | None, "What came of a prompt; null if it was not asked."] = None

    @property
    def state(self) -> Annotated[State, "How it stands."]:
        states = [problem.state for problem in self.problems]
        return State.BAD if State.BAD in states else State.NOTE if states else State.OK


@dataclass(frozen=True, slots=True)
class Health:
    """All that was looked at. `error` is what keeps noface from even reading the project, "" where nothing does."""

    machine: Annotated[tuple[Point, ...], "The machine."] = ()
    project: Annotated[tuple[Point, ...], "The project."] = ()
    models: Annotated[tuple[ModelFinding, ...], "The models."] = ()
    error: str = ""

    @property
    def ok(self) -> Annotated[bool, "All that a run needs is there."]:
        return self.exit_code == EXIT_DONE

    @property
    def used(self) -> tuple[ModelFinding, ...]:
        return tuple(model for model in self.models if model.used_by)

    @property
    def wrong(self) -> tuple[Point, ...]:
        """What a person has to do something about; models that nobody uses do not count."""
        used = (problem for model in self.used for problem in model.problems)
        return tuple(each for each in (*self.machine, *self.project, *used) if each.state is State.BAD)

    @property
    def exit_code(self) -> int:
        """EXIT_USAGE if `noface run` would not start, EXIT_ATTENTION if something else needs a person."""
        if self.error or any(each.exit_code == EXIT_USAGE for each in self.wrong):
            return EXIT_USAGE
        return EXIT_ATTENTION if self.wrong else EXIT_DONE


def doctor_page(health: Health, width: int) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from (paint("Machine", "title"), *check_rows(health.machine, width))
    yield from ("", paint("Project", "title"), *check_rows(health.project, width))
    if health.used:
        yield from ("", paint("Models", "title"))
        room = min(max(len(model.name) for model in health.used), _NAME_MAX)
        for model in health.used:
            yield from _model(model, room, width)
    for title, bad in (("Ready, too:", False), ("Not ready, and not needed:", True)):
        others = (model for model in health.models if not model.used_by and (model.state is State.BAD) is bad)
        if names := ", ".join(model.name for model in others):
            yield from ("", *hanging(names, width, f"{paint(title, 'title')} ", "  "))
    yield from ("", *hanging(_verdict(health), width))


def check_rows(findings: Sequence[Point], width: int) -> Iterator[str]:
    room = max((len(each.name) for each in findings), default=0)
    for each in findings:
        yield from _row(each.state, each.name, room, each.text, width)
        yield from _fix(each, room, width)


def _row(state: State, name: str, room: int, text: str, width: int) -> list[str]:
    word, role = _SHOWN[state]
    first = f"  {pad(word, _ROOM)}{pad(name, room)}  "
    rows = hanging(text[:_TEXT_MAX], width, first) or [first]
    return [rows[0].replace(word, paint(word, role), 1), *rows[1:]]


def _fix(each: Point, room: int, width: int) -> list[str]:
    return hanging(each.fix, width, f"{' ' * (_ROOM + room + 4)}→ ") if each.fix else []


def _model(model: ModelFinding, room: int, width: int) -> Iterator[str]:
    indent = " " * (_ROOM + room + 4)
    facts = [f"{', '.join(model.used_by)}: {model.program} {model.version}".rstrip(": ")]
    facts += [f"login {', '.join(model.login)}"] if model.login else []
    facts += [*model.facts, *([model.probe.fact] if model.probe and not model.probe.kind else [])]
    yield from _row(model.state, model.name, max(room, len(model.name)), "; ".join(facts), width)
    if model.path and model.path != model.program:
        yield from painted(hanging(model.path, width, indent), "quiet")
    for problem in model.problems:
        yield from (*hanging(problem.text[:_TEXT_MAX], width, indent), *_fix(problem, room, width))


def _verdict(health: Health) -> str:
    if health.error:
        return "Nothing can run before that is right: see FIX under Project."
    if health.wrong:
        return f"{count(len(health.wrong), 'thing')} to fix before noface can work: see FIX above."
    if health.used and all(model.probe is not None for model in health.used):
        return "Everything is ready; the gates were not run."
    return "Everything seems ready; the gates were not run, and `noface doctor --probe` sends each model a prompt."
