"""The page of `noface doctor`: whether machine, project and models are ready, and what to do where they are not.

Nothing here is ever the value of a key: only the names of variables and files are known.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_USAGE
from noface.model.codec import view
from noface.model.finding import Finding
from noface.ui.page import paint
from noface.ui.text import clean, count, duration, hanging, money, pad

_TEXT_MAX = 600
_ANSWER_CHARS_MAX = 200


class State(StrEnum):
    """How something stands: fine, worth knowing, or in need of a person before it works."""

    OK = "ok"
    NOTE = "note"
    BAD = "bad"


_SHOWN = {State.OK: ("ok", "good"), State.NOTE: ("note", "careful"), State.BAD: ("FIX", "bad")}
_ROOM = 6
_NAME_MAX = 20


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was looked at. `fix` says what to do, "" where nothing is to be done.

    `exit_code` is that of `noface doctor` where it is bad.
    """

    name: str
    state: State
    text: str
    fix: str = ""
    exit_code: int = EXIT_ATTENTION


def point_of(finding: Finding, name: str, text: str = "") -> Point:
    """Return a finding as a line of the page, behind `name`; `text` takes the place of where and what."""
    state = State.NOTE if finding.is_note else State.BAD
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
    def usable(self) -> bool:
        """True if the model answered."""
        return not self.kind


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens. `as_of` is the list's day, "" for a person's own price.

    `estimates`: the agent tells only tokens, so that all its costs are estimated by this.
    """

    usd_per_mtok_in: float
    usd_per_mtok_out: float
    as_of: str = ""
    estimates: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """What a model's runs may use, in the words of `[models.NAME]`; `tools` None: all that its agent has."""

    settings: str = "project"
    tools: tuple[str, ...] | None = None
    permissions: str = "full"

    @property
    def told(self) -> str:
        """What differs from a model of which nothing is said, in one text."""
        usual = Access()
        facts = [f"settings {self.settings}" if self.settings != usual.settings else ""]
        facts += [f"tools {', '.join(self.tools) or 'none'}" if self.tools is not None else ""]
        facts += [f"permissions {self.permissions}" if self.permissions != usual.permissions else ""]
        return "; ".join(fact for fact in facts if fact)


@dataclass(frozen=True, slots=True)
class RoleGrant:
    """What a model may use in a role; `own`: noface.toml says so, and it is not what every role may."""

    role: str
    tools: tuple[str, ...]
    permissions: str
    own: bool = False

    @property
    def told(self) -> str:
        """The same in one text."""
        return f"as {self.role}: tools {', '.join(self.tools) or 'none'}, permissions {self.permissions}"


@dataclass(frozen=True, slots=True)
class ModelFinding:
    """A model: how it stands, what of it was found. `used_by` are rungs of the ladder and roles, empty where unused.

    `login` are the names of the variables and files that a login was seen in, `same_login` the other models in use that
    have it, `stand_ins` those of its tier that work while its provider is away. `problems` are what is wrong or worth
    knowing, each with what to do about it. `tested` is the newest version of the program that noface was tested with.
    """

    name: str
    agent: str
    model: str
    tier: int
    used_by: tuple[str, ...] = ()
    program: str = ""
    path: str = ""
    version: str = ""
    login: tuple[str, ...] = ()
    login_needed: bool = True
    problems: tuple[Point, ...] = ()
    probe: Probe | None = None
    same_login: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()
    tested: str = ""
    price: Price | None = None
    access: Access = field(default_factory=Access)
    roles: tuple[RoleGrant, ...] = ()

    @property
    def state(self) -> State:
        """The worst of its problems."""
        states = [problem.state for problem in self.problems]
        return State.BAD if State.BAD in states else State.NOTE if states else State.OK


@dataclass(frozen=True, slots=True)
class Health:
    """All that was looked at. `error` is what keeps noface from even reading the project, "" where nothing does."""

    machine: tuple[Point, ...] = ()
    project: tuple[Point, ...] = ()
    models: tuple[ModelFinding, ...] = ()
    error: str = ""

    @property
    def needs_a_person(self) -> bool:
        """True if something that a run needs is not ready; models that nobody uses do not count."""
        return self.exit_code != EXIT_DONE

    @property
    def exit_code(self) -> int:
        """EXIT_USAGE if `noface run` would not start, EXIT_ATTENTION if something else needs a person."""
        used = [problem for model in self.models if model.used_by for problem in model.problems]
        bad = {each.exit_code for each in (*self.machine, *self.project, *used) if each.state is State.BAD}
        if self.error or EXIT_USAGE in bad:
            return EXIT_USAGE
        return EXIT_ATTENTION if bad else EXIT_DONE


@dataclass(frozen=True, slots=True)
class ListedFinding:
    """A finding as scripts read it; `fix` is null where nothing is to be done."""

    name: str
    state: State
    text: str
    fix: str | None


@dataclass(frozen=True, slots=True)
class ListedProbe:
    """An answered or failed prompt as scripts read it."""

    usable: bool
    kind: str | None
    message: str
    seconds: float
    cost_usd: float | None
    answer: str


@dataclass(frozen=True, slots=True)
class ListedRole:
    """What a model may use in a role, as scripts read it."""

    role: str
    tools: tuple[str, ...]
    permissions: str


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as scripts read it; null is what is not known."""

    name: str
    state: State
    agent: str
    model: str
    tier: int
    used_by: tuple[str, ...]
    program: str | None
    path: str | None
    version: str | None
    tested: str | None
    login: tuple[str, ...]
    login_needed: bool
    same_login: tuple[str, ...]
    stand_ins: tuple[str, ...]
    settings: str
    tools: tuple[str, ...] | None
    permissions: str
    roles: tuple[ListedRole, ...]
    price: Price | None
    problems: tuple[ListedFinding, ...]
    probe: ListedProbe | None


@dataclass(frozen=True, slots=True)
class DoctorDocument:
    """What `noface doctor --json` prints."""

    ok: bool
    machine: tuple[ListedFinding, ...]
    project: tuple[ListedFinding, ...]
    models: tuple[ListedModel, ...]


def doctor_document(health: Health) -> DoctorDocument:
    """Return the document of `noface doctor --json`."""
    return DoctorDocument(
        ok=not health.needs_a_person and not health.error,
        machine=_listed(health.machine),
        project=_listed(health.project),
        models=tuple(_listed_model(model) for model in health.models),
    )


def _listed(findings: Sequence[Point]) -> tuple[ListedFinding, ...]:
    return tuple(ListedFinding(each.name, each.state, clean(each.text), each.fix or None) for each in findings)


def _listed_model(model: ModelFinding) -> ListedModel:
    probe = model.probe
    unknown = {name: None for name in ("program", "path", "version", "tested") if not getattr(model, name)}
    return view(
        ListedModel,
        model,
        settings=model.access.settings,
        tools=model.access.tools,
        permissions=model.access.permissions,
        roles=tuple(view(ListedRole, each) for each in model.roles),
        problems=_listed(model.problems),
        probe=None if probe is None else _listed_probe(probe),
        **unknown,
    )


def _listed_probe(probe: Probe) -> ListedProbe:
    message, answer = clean(probe.message), clean(probe.answer)[:_ANSWER_CHARS_MAX]
    seconds, kind = round(probe.seconds, 1), probe.kind or None
    return view(ListedProbe, probe, kind=kind, message=message, seconds=seconds, answer=answer)


def doctor_page(health: Health, width: int) -> list[str]:
    """Return the lines of the page."""
    used = [model for model in health.models if model.used_by]
    others = [model for model in health.models if not model.used_by]
    lines = [paint("Machine", "title"), *check_rows(health.machine, width)]
    lines += ["", paint("Project", "title"), *check_rows(health.project, width)]
    if used:
        lines += ["", paint("Models", "title"), *_models(used, width)]
    lines += _others(others, width)
    return [*lines, "", *_verdict(health, used, width)]


def check_rows(findings: Sequence[Point], width: int) -> Iterator[str]:
    """Yield the lines of a table of checks."""
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


def _models(models: Sequence[ModelFinding], width: int) -> Iterator[str]:
    room = min(max(len(model.name) for model in models), _NAME_MAX)
    indent = " " * (_ROOM + room + 4)
    for model in models:
        yield from _row(model.state, model.name, max(room, len(model.name)), _model_facts(model), width)
        if model.path and model.path != model.program:
            yield from (paint(line, "quiet") for line in hanging(model.path, width, indent))
        for problem in model.problems:
            yield from hanging(problem.text[:_TEXT_MAX], width, indent)
            yield from _fix(problem, room, width)


def _model_facts(model: ModelFinding) -> str:
    """Return what is known of a model in one line: what it is used for, its program, its login, its answer."""
    facts = [f"{', '.join(model.used_by)}: {model.program} {model.version}".rstrip(": ")]
    facts += [f"login {', '.join(model.login)}"] if model.login else []
    facts += [f"same login as {', '.join(model.same_login)}"] if model.same_login else []
    facts += [f"while it is away: {', '.join(model.stand_ins)}"] if model.stand_ins else []
    facts += [model.access.told] if model.access.told else []
    facts += [each.told for each in model.roles if each.own]
    if model.price is not None and model.price.estimates:
        told = " and ".join(money(usd) for usd in (model.price.usd_per_mtok_in, model.price.usd_per_mtok_out))
        listed = f" (list of {model.price.as_of})" if model.price.as_of else ""
        facts.append(f"priced at {told} a million tokens{listed}")
    if model.probe is not None and model.probe.usable:
        cost = f" for {money(model.probe.cost_usd)}" if model.probe.cost_usd else ""
        facts.append(f"answered in {duration(model.probe.seconds)}{cost}")
    return "; ".join(facts)


def _others(others: Sequence[ModelFinding], width: int) -> Iterator[str]:
    """Show the models that nobody uses: those that are ready by name, the rest by what they lack."""
    ready = [model for model in others if model.state is not State.BAD]
    if ready:
        yield ""
        yield from hanging(", ".join(model.name for model in ready), width, f"{paint('Ready, too:', 'title')} ", "  ")
    lacking: dict[tuple[str, str], list[str]] = {}
    for model in others:
        worst = next((problem for problem in model.problems if problem.state is State.BAD), None)
        if worst is not None:
            lacking.setdefault((worst.text, worst.fix), []).append(model.name)
    if lacking:
        yield ""
        yield paint("Not ready and not needed by this configuration", "title")
    for (text, fix), names in lacking.items():
        yield from hanging(f"{', '.join(names)}: {text}", width, "  ", "    ")
        yield from hanging(fix, width, "    → ")


def _verdict(health: Health, used: Sequence[ModelFinding], width: int) -> list[str]:
    if health.error:
        return hanging("Nothing can run before that is right: see FIX under Project.", width)
    if health.needs_a_person:
        states = [*(each.state for each in (*health.machine, *health.project)), *(each.state for each in used)]
        return hanging(
            f"{count(states.count(State.BAD), 'thing')} to fix before noface can work: see FIX above.", width
        )
    probed = bool(used) and all(model.probe is not None for model in used)
    said = (
        "Everything is ready; the gates were not run."
        if probed
        else "Everything seems ready; the gates were not run, and `noface doctor --probe` sends each model a prompt."
    )
    return hanging(said, width)
