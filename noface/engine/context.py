"""What the loop works with: the settings of a run, and the parts that wiring put together."""

import queue
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from noface.engine.attempt_environment import AttemptEnvironment
from noface.engine.gating import Known
from noface.knowledge.hints import SEARCHED_CHARS_MAX, Found, HintRule, Search
from noface.model.gate import GateResult, GateSpec
from noface.model.issue import Issue
from noface.model.worker_run import ModelSpec
from noface.process.clock import Clock
from noface.process.lock import boot_id
from noface.prompts.data import EarlierForm
from noface.recovery.policy import Policy
from noface.recovery.schedule import BreakerRules
from noface.store.journal import Announce, Journal
from noface.store.lessons import LessonStore
from noface.store.questions import Questions
from noface.store.reader import Reader
from noface.store.spending import Spending
from noface.trackers.base import Tracker

_SECONDS_MAX = 0.5
_SLOW_MAX = 3


def search(expression: str, text: str) -> Found:
    """Tell whether `expression` occurs in the first part of `text`, or took too long to say."""
    import regex

    try:
        found = regex.search(expression, text[:SEARCHED_CHARS_MAX], timeout=_SECONDS_MAX)
    except TimeoutError:
        return Found.TOO_SLOW
    return Found.NO if found is None else Found.YES


def patient_search() -> Search:
    """Return a search for looking through many texts: an expression that took too long thrice is not tried again."""
    slow: Counter[str] = Counter()

    def look(expression: str, text: str) -> Found:
        if slow[expression] >= _SLOW_MAX:
            return Found.TOO_SLOW
        found = search(expression, text)
        slow[expression] += found is Found.TOO_SLOW
        return found

    return look


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What one run does and where it stops. Money in dollars, durations in seconds; None means no limit."""

    models: Mapping[str, ModelSpec]
    gates: tuple[GateSpec, ...]
    policy: Policy
    protected: tuple[str, ...] = ()
    hints: tuple[HintRule, ...] = ()
    workers: int = 1
    cost_usd_max: float | None = None
    tokens_max: int | None = None
    seconds_max: float | None = None
    attempts_max: int | None = None
    only_new: bool = False
    squash: bool = False
    only_issues: tuple[str, ...] = ()
    once: bool = False
    templates: Mapping[str, str] = field(default_factory=dict)
    prompt_tokens_max: int = 50_000
    partial_form: EarlierForm = EarlierForm.NOTES_ONLY
    attempts_dir: str = ""
    breaker: BreakerRules = field(default_factory=BreakerRules)
    earlier_form: EarlierForm = EarlierForm.NOTES_ONLY
    earlier_bytes_max: int = 20_000
    learn: bool = True
    any_accept: bool = False


@dataclass(slots=True, kw_only=True)
class Planning:
    """What deciding on issues needs; all that `--dry-run` has of a run."""

    settings: RunSettings
    reader: Reader
    questions: Questions
    spending: Spending
    clock: Clock
    dice: random.Random = field(default_factory=random.Random)


@dataclass(slots=True, kw_only=True)
class RunContext(Planning):
    """The parts of a run. `known` are main's failing tests by gate, under the baseline "only-new".

    `issues` is the backlog as last read, with the parts of what was broken down. `given_back` are those that were
    blocked for a provider and, in this run, tried again since it answered. `boot` names this start of the machine.
    """

    run_id: str
    tracker: Tracker
    journal: Journal
    env: AttemptEnvironment
    announce: Announce
    inbox: "queue.SimpleQueue[object]"
    memo: dict[str, GateResult]
    lessons: LessonStore
    search: Search = field(default_factory=patient_search)
    known: Known | None = None
    issues: tuple[Issue, ...] = ()
    backlog_stale: bool = False
    given_back: set[str] = field(default_factory=set)
    suspects: set[str] = field(default_factory=set)
    at_first: frozenset[str] | None = None
    boot: str = field(default_factory=boot_id)

    def backlog_changed(self) -> None:
        """Have the backlog looked at again, though no file of it has changed."""
        self.backlog_stale = True

    def gates_for(self, issue: Issue) -> tuple[GateSpec, ...]:
        """Return the project's gates and, after them, an issue's own, and those of issues it may have touched."""
        again = tuple(GateSpec(f"recheck-{number}", command) for number, command in enumerate(issue.recheck, 1))
        return self.settings.gates + accept_gates(issue.accept) + again


def accept_gates(commands: tuple[str, ...], timeout_s: float = 600.0) -> tuple[GateSpec, ...]:
    """Return an issue's `accept` commands as hard gates of its own."""
    many = len(commands) > 1
    return tuple(
        GateSpec(f"accept-{number}" if many else "accept", command, timeout_s=timeout_s, accept=True)
        for number, command in enumerate(commands, 1)
    )
