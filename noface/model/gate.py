"""A gate, what one run of it came to, and the proof that a tree passed them all (law 1). Durations are seconds."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from noface.model.access import Network
from noface.model.description import OneOf
from noface.model.failure import Failure


class GateKind(StrEnum):
    """What a gate checks; it steers how its output is read, and what may stay of it for the gates after it."""

    BUILD = "build"
    LINT = "lint"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class GateSpec:
    """A command that must pass, run by `bash -c` at the top of a checkout. `report` is a JUnit XML path in it.

    `retries` is how often it is run again if it fails, any pass counts; `again` how often its failing tests are before
    anybody is charged. `boxed`: it runs in the sandbox, if any. `fixes`: what it changes becomes part of the work.
    `leaky`: the person's checkout is within its reach. `canary`: it must turn red if the product's sources are broken.
    """

    name: Annotated[str, "Its name."]
    command: Annotated[str, "The command."]
    kind: Annotated[GateKind, OneOf(GateKind), "What it checks."] = GateKind.TEST
    hard: Annotated[bool, "Whether it must pass; otherwise it is only reported."] = True
    timeout_s: Annotated[float, "After this many seconds it is ended."] = 600.0
    report: str | None = None
    accept: bool = False
    retries: int = 0
    env_pass: tuple[str, ...] = ()
    boxed: bool = True
    network: Network = Network.AUTO
    fixes: bool = False
    leaky: bool = False
    canary: bool = True
    again: int = 0
    alone: bool = False

    @property
    def of_tests(self) -> bool:
        return self.kind is GateKind.TEST and self.hard and not self.accept


@dataclass(frozen=True, slots=True)
class GateResult:
    """One run of one gate on one tree. `exit_code` is None if it was ended by its limit or never started.

    `first_failure` is that of an earlier run on the same tree. `unsteady` are tests that failed and count for nobody.
    """

    gate: GateSpec
    tree: str
    exit_code: int | None
    seconds: float
    timed_out: bool = False
    failing_tests: tuple[str, ...] = ()
    tests_run: int | None = None
    failure: Failure | None = None
    stdout_log: str = ""
    memo: bool = False
    only_known_failures: bool = False
    first_failure: Failure | None = None
    unsteady: tuple[str, ...] = ()
    cpu_s: float | None = None

    @property
    def passed(self) -> bool:
        """True if the gate is green, or red only if main was red already (baseline "only-new")."""
        return self.failure is None or self.only_known_failures

    @property
    def flaky(self) -> bool:
        return self.passed and self.first_failure is not None


@dataclass(frozen=True, slots=True)
class Proof:
    """That every hard gate passed on exactly `tree`; only the gate runner makes one (law 1)."""

    tree: str
    main: str
    candidate: str
    gates: tuple[GateResult, ...]
    gate_keys: tuple[str, ...]

    @property
    def flaky(self) -> tuple[str, ...]:
        return tuple(result.gate.name for result in self.gates if result.flaky)


def gate_key(tree: str, gate: GateSpec, environment: str) -> str:
    definition = [gate.name, gate.command, gate.kind, gate.timeout_s, gate.report, environment, gate.retries]
    definition += [gate.env_pass, gate.boxed, gate.network, gate.fixes, gate.leaky]
    return hashlib.sha256(json.dumps([tree, definition]).encode()).hexdigest()


def gates_at_once(results: Iterable[GateResult], cores: int) -> int | None:
    """Return how many gates may run at once, by what main's took of the cores, None if that is not known.

    Each has at least half of the cores that it keeps busy, so that none comes to its time limit for want of them.
    """
    known = [(result.cpu_s, result.seconds) for result in results if result.cpu_s is not None]
    if not known:
        return None
    busy = sum(cpu for cpu, _ in known) / max(sum(wall for _, wall in known), 0.001)
    return max(2, int(2 * cores / max(busy, 0.01)))


def all_hard_passed(gates: Iterable[GateSpec], results: Iterable[GateResult]) -> bool:
    known = tuple(results)
    passed = {result.gate for result in known if result.passed}
    return all(gate in passed for gate in gates if gate.hard) and worst(known) is None


def worst(results: Iterable[GateResult]) -> GateResult | None:
    return next((result for result in results if result.gate.hard and not result.passed), None)
