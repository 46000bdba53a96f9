"""What a scenario is: what its worker must come to know, what it does wrong until then, and what that looks like."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any


class By(StrEnum):
    """How the worker can come to know what it needs."""

    TOLD = "told"
    """The secret stands in the prompt, whoever put it there: a gate's output, a hint, a lesson, a planner."""
    DRAFT = "draft"
    """The worker wrote it itself in an earlier attempt: the diff in the prompt has it, or the checkout."""
    STRENGTH = "strength"
    """Only the stronger model has it."""
    THINKING = "thinking"
    """Extended thinking is on."""
    SAID = "said"
    """The prompt says what the pattern `says` finds."""
    PART = "part"
    """The issue is a part of a larger one, and its text has the secret."""
    FILE = "file"
    """The secret is in the file `says` of the checkout, which somebody else must have put there."""
    NAMED = "named"
    """The same, but the worker looks into the file only if the prompt names it."""
    TRIED = "tried"
    """One of the words in `says` is right; the worker takes the first that the prompt doesn't show as tried."""
    PATIENCE = "patience"
    """Nothing but time: the gate turns green some time after it was asked last."""


LABELS = {
    By.TOLD: "code",
    By.DRAFT: "draft",
    By.STRENGTH: "strength",
    By.THINKING: "thoughtful",
    By.SAID: "heeded",
    By.FILE: "code",
    By.TRIED: "approach",
    By.PATIENCE: "patient",
}
"""The label of a step that names none."""


class Wrong(StrEnum):
    """What the worker does as long as it does not know; `behaviour.toml` has what that leaves in its checkout."""

    GUESS = "guess"
    """It writes a wrong answer, and the gate says so."""
    BREAKS = "breaks"
    """The same, and a test of the project breaks as well."""
    BROKEN_PYTHON = "broken_python"
    BROKEN_JSON = "broken_json"
    NOTHING = "nothing"
    """It changes nothing, and ends with `words`: idle talk, a question, a refusal, a report."""
    PROTECTED = "protected"
    """It changes nothing but a file that noface puts back."""
    STALLS = "stalls"
    CHATTERS = "chatters"
    """It goes on talking until its time is up."""
    CRASHES = "crashes"
    KILLED = "killed"
    MALFORMED = "malformed"
    TURNS = "turns"
    CONTEXT = "context"
    TOO_MUCH = "too_much"
    OUTSIDE = "outside"
    WEAKENS = "weakens"
    SKIPS = "skips"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing the worker gets right only if it knows it; `label` names its secret.

    `form` is how the gate complains of its absence (in `forms.toml`); `visible`: the complaint has the secret. `words`
    is what the worker says when it goes wrong; `{label}` in it stands for a secret, which the program puts in after
    `behaviour` has decided. `drafts`: before it goes wrong it leaves half of the work. `objection`: no gate looks for
    the secret, but a reviewer, who says this.
    """

    label: str
    by: By = By.TOLD
    wrong: Wrong = Wrong.GUESS
    form: str = "pytest"
    visible: bool = False
    says: str = ""
    words: str = ""
    drafts: bool = False
    objection: str = ""


@dataclass(frozen=True, slots=True)
class SpecialistAnswer:
    """What the specialist answers on a topic: JSON whose strings may hold `{label}`.

    It knows the answer only if the question it gets quotes the secret `needs` ("" for always). `prose_first`: without
    a reminder of the form it answers in prose.
    """

    topic: str
    answer: str
    needs: str = ""
    prose_first: bool = False


@dataclass(frozen=True, slots=True)
class ScriptedOutage:
    """What the provider does before the model is even asked; `form` names an error of `behaviour.toml`.

    It lasts for the first `calls`, or until `window_s` seconds have passed without a call (so many times), or for
    ever. The models in `spared` have another provider.
    """

    form: str
    calls: int | None = None
    window_s: float | None = None
    times: int = 1
    spared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """An issue of the selftest. `carries` says in a few words what the next attempt must carry, for people.

    `tool` is its accept command, "" for none. `model` "own" stands for a model of its own, so that its outage does not
    hold up others. `hint` holds the keys of a `[[failure_hints]]`, whose text may hold `{label}`. `colleague`: during
    so many attempts somebody else changes the same file on main. `hopeless`: nothing helps, and it must end blocked
    after at most `runs_max` worker runs. `support`: it is there for another one, and not counted. `shares`: its
    secrets are those of another scenario.
    """

    carries: str
    steps: tuple[Step, ...] = ()
    tool: str = "pytest"
    id: str = ""
    kind: str = ""
    paths: tuple[str, ...] = ()
    model: str = ""
    depends_on: tuple[str, ...] = ()
    no_escalate: bool = False
    max_attempts: int | None = None
    priority: int = 2
    hint: Mapping[str, str] = field(default_factory=dict)
    advice: tuple[SpecialistAnswer, ...] = ()
    outage: ScriptedOutage | None = None
    colleague: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    hopeless: bool = False
    runs_max: int = 5
    support: bool = False
    shares: str = ""

    @property
    def reviewed(self) -> bool:
        """True if a reviewer looks at the work."""
        return any(step.objection for step in self.steps)

    @property
    def own_model(self) -> str:
        """The name of its model, "" for the usual one."""
        return self.id if self.model == "own" else self.model


@cache
def data(name: str) -> dict[str, Any]:
    """Return the content of a data file of this package."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def catalogue() -> dict[str, tuple[Scenario, ...]]:
    """Return all scenarios by kind of failure, in the order in which they are shown."""
    return {
        kind: tuple(_numbered(kind, number, table.get("all", {}) | own) for number, own in enumerate(table["of"], 1))
        for kind, table in data("catalogue").items()
    }


def _numbered(kind: str, number: int, entry: dict[str, Any]) -> Scenario:
    """Read an entry of the catalogue; `{id}` and `{name}` in its texts become its id."""
    own_id = entry.get("id", f"{kind.lower().replace('_', '-')}-{number}")
    text = json.dumps({**entry, "id": own_id, "kind": kind})
    return read_scenario(json.loads(text.replace("{id}", own_id).replace("{name}", own_id.replace("-", "_"))))


def read_scenario(entry: Mapping[str, Any]) -> Scenario:
    """Make the record of an entry of the catalogue, or of a scenario that was written as JSON."""
    outage = entry.get("outage")
    return Scenario(**{
        **_tuples(entry),
        "steps": tuple(_read_step(step) for step in entry["steps"]),
        "advice": tuple(SpecialistAnswer(**advice) for advice in entry.get("advice", ())),
        "outage": ScriptedOutage(**_tuples(outage)) if outage else None,
    })  # fmt: skip


def _read_step(entry: Mapping[str, Any]) -> Step:
    by, wrong = By(entry.get("by", By.TOLD)), Wrong(entry.get("wrong", Wrong.GUESS))
    return Step(**{"label": LABELS.get(by), **entry, "by": by, "wrong": wrong})


def _tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


def find(scenario: str) -> Scenario:
    """Return the scenario of this id; raises KeyError if there is none."""
    return {one.id: one for every in catalogue().values() for one in every}[scenario]


def chosen(kinds: tuple[str, ...] = ()) -> tuple[Scenario, ...]:
    """Return the scenarios of some kinds (all if none is named), with those that they depend on."""
    wanted = [one for kind, every in catalogue().items() if not kinds or kind in kinds for one in every]
    ids = {one.id for one in wanted}
    return (*(find(needed) for one in wanted for needed in one.depends_on if needed not in ids), *wanted)


def product_of(issue: str) -> str:
    """Return the file for the answer to an issue."""
    return f"work/{issue}.txt"


def draft_of(issue: str) -> str:
    """Return the file that holds half of the work."""
    return f"work/{issue}.draft.txt"


def shared_file(scenario: str) -> str:
    """Return the file that a colleague changes at the same time."""
    return f"shared/{scenario}.txt"


def whole_id(issue: str) -> str:
    """Return the id of the scenario that an issue belongs to: a part's id is its parent's with a number behind."""
    return issue.partition(".")[0]


def secret_owner(scenario: Scenario, step: Step) -> str:
    """Return the id of the scenario whose secret a step is about."""
    if step.by is By.FILE:
        return whole_id(step.says.rpartition("/")[2].removesuffix(".txt"))
    return scenario.shares or scenario.id
