"""What a scenario is: what its worker must come to know, what it does wrong until then, and what that looks like."""

from dataclasses import dataclass
from enum import StrEnum

TIERS = {"north": 1, "south": 1, "rate": 2, "busy": 3, "net": 4, "small": 5, "slow": 6, "big": 8, "expert": 9}
"""The models by their tier. `south` may stand in for `north`; `big` is what `small` escalates to."""


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
    """The same, but the worker looks into the file only where the prompt names it."""
    TRIED = "tried"
    """One of the words of `says`; the worker takes the first that the prompt doesn't tell of as tried."""
    PATIENCE = "patience"
    """Nothing is missing but time: the gate turns green some time after it was asked last."""


class Wrong(StrEnum):
    """What the worker does as long as it does not know."""

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

    `form` is how the gate complains of its absence (a module of `forms`); `shown`: the complaint has the secret.
    `words` is what the worker says when it goes wrong; `{label}` in it stands for a secret, which the program puts in
    after the mind has decided. `drafts`: before it goes wrong it leaves half of the work. `objection`: no gate looks
    for the secret, but a reviewer, who says this.
    """

    label: str
    by: By = By.TOLD
    wrong: Wrong = Wrong.GUESS
    form: str = "pytest"
    shown: bool = False
    says: str = ""
    words: str = ""
    drafts: bool = False
    objection: str = ""


@dataclass(frozen=True, slots=True)
class Hint:
    """A `[[failure_hints]]` of the project, bound to the scenario by its label; `text` may hold `{label}`."""

    text: str
    error_pattern: str = ""
    error_regex: str = ""
    language: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """What the specialist answers on a topic: JSON whose strings may hold `{label}`.

    It knows the answer only if the question it gets quotes the secret `needs` ("" for always). `prose_first`: without
    a reminder of the form it answers in prose.
    """

    topic: str
    answer: str
    needs: str = ""
    prose_first: bool = False


@dataclass(frozen=True, slots=True)
class Outage:
    """What the provider does before the model is even asked; `form` names an error of `provider_errors`.

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

    `colleague`: during so many attempts somebody else changes the same file on main. `hopeless`: nothing helps, and
    it must end blocked after at most `runs_max` worker runs. `support`: it is there for another one, and not counted.
    `shares`: its secrets are those of another scenario.
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
    hint: Hint | None = None
    advice: tuple[Advice, ...] = ()
    outage: Outage | None = None
    colleague: int = 0
    files: tuple[tuple[str, str], ...] = ()
    hopeless: bool = False
    runs_max: int = 5
    support: bool = False
    shares: str = ""

    @property
    def reviewed(self) -> bool:
        """True where a reviewer looks at the work."""
        return any(step.objection for step in self.steps)


def product_of(issue: str) -> str:
    """Return the file for the answer to an issue."""
    return f"work/{issue}.txt"


def secret_name(scenario: Scenario, step: Step) -> str:
    """Return what the secret of a step begins with: whose it is, and its label. Others' secrets don't mislead."""
    owner = scenario.shares or scenario.id
    if step.by is By.FILE:
        owner = whole_id(step.says.rpartition("/")[2].removesuffix(".txt"))
    return f"{owner}-{step.label}"


def shared_file(scenario: str) -> str:
    """Return the file that a colleague changes at the same time."""
    return f"shared/{scenario}.txt"


def whole_id(issue: str) -> str:
    """Return the id of the scenario that an issue belongs to: a part's id is its parent's with a number behind."""
    return issue.partition(".")[0]
