"""What the loop works with: the settings of a run, and the parts that wiring put together."""

import queue
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from noface.core.hints import HintRule
from noface.core.model import GateResult, GateSpec, ModelSpec
from noface.core.policy import Policy
from noface.executors.local import LocalExecutor
from noface.loop.gating import Known
from noface.loop.workshop import Workshop
from noface.store.journal import Announce, Journal
from noface.store.reader import Reader
from noface.system.clock import Clock
from noface.trackers.base import Tracker


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
    seconds_max: float | None = None
    attempts_max: int | None = None
    only_new: bool = False
    squash: bool = False
    only_issues: tuple[str, ...] = ()
    once: bool = False
    prompt_chars_max: int = 200_000
    template: str = ""
    attempts_dir: str = ""


@dataclass(slots=True)
class RunContext:
    """The parts of a run. `known` are main's failing tests by gate, under the baseline "only-new"."""

    run_id: str
    settings: RunSettings
    tracker: Tracker
    journal: Journal
    reader: Reader
    shop: Workshop
    executor: LocalExecutor
    clock: Clock
    announce: Announce
    inbox: "queue.SimpleQueue[object]"
    memo: dict[str, GateResult]
    dice: random.Random = field(default_factory=random.Random)
    known: Known | None = None

    def gates_for(self, accept: tuple[str, ...]) -> tuple[GateSpec, ...]:
        """Return the project's gates and, after them, an issue's own."""
        return self.settings.gates + accept_gates(accept)


def accept_gates(commands: tuple[str, ...], timeout_s: float = 600.0) -> tuple[GateSpec, ...]:
    """Return an issue's `accept` commands as hard gates of its own."""
    many = len(commands) > 1
    return tuple(
        GateSpec(f"accept-{number}" if many else "accept", command, timeout_s=timeout_s, accept=True)
        for number, command in enumerate(commands, 1)
    )
