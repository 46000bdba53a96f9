"""The page of `noface doctor`: whether machine, project and models are ready, and what to do where they are not.

Nothing here is ever the value of a key: only the names of variables and files are known.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_USAGE
from noface.model.access import Permissions, Settings
from noface.model.finding import Finding
from noface.model.worker_run import ModelSpec
from noface.ui.page import paint, painted
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
class RoleGrant:
    """What a model may use in a role; `own`: noface.toml says so, and it is not what every role may."""

    role: str
    tools: tuple[str, ...]
    permissions: str
    own: bool = False

    @property
    def text(self) -> str:
        """The same in one text."""
        return f"as {self.role}: tools {', '.join(self.tools) or 'none'}, permissions {self.permissions}"


@dataclass(frozen=True, slots=True)
class ModelFinding:
    """A model: how it stands, what of it was found. `used_by` are rungs of the ladder and roles, empty where unused.

    `login` are the names of the variables and files that a login was seen in, `same_login` the other models in use that
    have it, `stand_ins` those of its tier that work while its provider is away. `problems` are what is wrong or worth
    knowing, each with what to do about it. `tested` is the newest version of the program that noface was tested with.
    """

    spec: ModelSpec
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
    roles: tuple[RoleGrant, ...] = ()

    @property
    def name(self) -> str:
        """The entry of [models]."""
        return self.spec.name

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


def doctor_document(health: Health) -> dict[str, object]:
    """Return what `noface doctor --json` prints; what is not known is null."""
    return {
        "ok": not health.needs_a_person and not health.error,
        "machine": checks_document(health.machine),
        "project": checks_document(health.project),
        "models": [_model_document(model) for model in health.models],
    }


def checks_document(checks: Sequence[Point]) -> list[dict[str, object]]:
    """Return checks for scripts; `fix` is null where nothing is to be done."""
    return [
        {"name": each.name, "state": each.state, "text": clean(each.text), "fix": each.fix or None} for each in checks
    ]


def _model_document(model: ModelFinding) -> dict[str, object]:
    spec = model.spec
    return {
        "name": model.name,
        "state": model.state,
        "agent": spec.agent,
        "model": spec.model,
        "tier": spec.tier,
        "used_by": model.used_by,
        "program": model.program or None,
        "path": model.path or None,
        "version": model.version or None,
        "tested": model.tested or None,
        "login": model.login,
        "login_needed": model.login_needed,
        "same_login": model.same_login,
        "stand_ins": model.stand_ins,
        "settings": spec.settings,
        "tools": spec.tools,
        "permissions": spec.permissions,
        "roles": [{"role": each.role, "tools": each.tools, "permissions": each.permissions} for each in model.roles],
        "price": model.price,
        "problems": checks_document(model.problems),
        "probe": None if model.probe is None else _probe_document(model.probe),
    }


def _probe_document(probe: Probe) -> dict[str, object]:
    return {
        "usable": probe.usable,
        "kind": probe.kind or None,
        "message": clean(probe.message),
        "seconds": round(probe.seconds, 1),
        "cost_usd": probe.cost_usd,
        "answer": clean(probe.answer)[:_ANSWER_CHARS_MAX],
    }


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
            yield from painted(hanging(model.path, width, indent), "quiet")
        for problem in model.problems:
            yield from hanging(problem.text[:_TEXT_MAX], width, indent)
            yield from _fix(problem, room, width)


def _model_facts(model: ModelFinding) -> str:
    """Return what is known of a model in one line: what it is used for, its program, its login, its answer."""
    facts = [f"{', '.join(model.used_by)}: {model.program} {model.version}".rstrip(": ")]
    facts += [f"login {', '.join(model.login)}"] if model.login else []
    facts += [f"same login as {', '.join(model.same_login)}"] if model.same_login else []
    facts += [f"while it is away: {', '.join(model.stand_ins)}"] if model.stand_ins else []
    facts += access_limits(model.spec)
    facts += [each.text for each in model.roles if each.own]
    if model.price is not None and model.price.estimates:
        prices = " and ".join(money(usd) for usd in (model.price.usd_per_mtok_in, model.price.usd_per_mtok_out))
        listed = f" (list of {model.price.as_of})" if model.price.as_of else ""
        facts.append(f"priced at {prices} a million tokens{listed}")
    if model.probe is not None and model.probe.usable:
        cost = f" for {money(model.probe.cost_usd)}" if model.probe.cost_usd else ""
        facts.append(f"answered in {duration(model.probe.seconds)}{cost}")
    return "; ".join(facts)


def access_limits(spec: ModelSpec) -> Iterator[str]:
    """Yield what a model's runs may use, as far as it differs from a model of which nothing is said."""
    if spec.settings is not Settings.PROJECT:
        yield f"settings {spec.settings}"
    if spec.tools is not None:
        yield f"tools {', '.join(spec.tools) or 'none'}"
    if spec.permissions is not Permissions.FULL:
        yield f"permissions {spec.permissions}"


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
    verdict = (
        "Everything is ready; the gates were not run."
        if probed
        else "Everything seems ready; the gates were not run, and `noface doctor --probe` sends each model a prompt."
    )
    return hanging(verdict, width)
