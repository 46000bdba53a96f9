"""What an attempt works with besides its order, shared by threads; and what is written beside it, or as a commit."""

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any

from noface.agents.base import Agent, EventKind
from noface.attempt.allotment import Allotments
from noface.attempt.gate_memory import GateMemory
from noface.attempt.gate_turns import GateTurns
from noface.diagnosis.scan import ProjectRules
from noface.git.plumbing import Plumbing
from noface.git.removal import remove
from noface.git.snapshot import SlotLimits
from noface.git.workspace import Slot, open_slot
from noface.integrity.diff.rules import DiffLimits
from noface.integrity.inventory import Inventory
from noface.integrity.named_files import called_programs
from noface.model.access import Network
from noface.model.attempt import AttemptOrder
from noface.model.codec import shown
from noface.model.commit_message import CommitMessages
from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec, gate_key
from noface.model.issue import Issue
from noface.model.listed import Window
from noface.model.worker_run import Usage
from noface.process.clock import Clock
from noface.process.environment import passed_digest, programs_digest
from noface.process.failpoints import hit
from noface.process.files import write_atomic
from noface.process.supervise import Canceller, Launcher
from noface.secrets.masking import Masker


def put(path: Path, data: str | bytes) -> None:
    """Write a file of an attempt. After a power loss, which it may not survive, an attempt counts as interrupted."""
    if path.is_dir() and not path.is_symlink():
        remove(path)
    write_atomic(path, data, durable=False)


def order_document(order: AttemptOrder) -> dict[str, Any]:
    gates = tuple(gate for gate in order.gates if not gate.accept)
    return {"schema": 1, **shown(replace(order, gates=gates))}


LANDING_SLOT = "land"
_NAME_CHARS = 9


def slot_name(kind: str, name: str) -> str:
    return f"{kind}-{name:0>{_NAME_CHARS - len(kind) - 1}}"


@dataclass(frozen=True, slots=True)
class Setup:
    """`[project] setup`: command, inputs, what survives cleaning, limit, and what it is run with, as for a gate."""

    command: str = ""
    inputs: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    timeout_s: float = 600.0
    env_pass: tuple[str, ...] = ()
    boxed: bool = True
    network: Network = Network.ON


@dataclass(frozen=True, slots=True)
class SandboxRules:
    """`[sandbox]` on this machine: `bubblewrap` is the program that makes boxes, "" if none is made.

    `show`, `write` and `hide` are absolute paths; `wrap` is put before every command in place of a box. `problem` is
    why no box can be made, where one was wanted. `services` are servers of this machine that gates use, `connector` is
    the program that gives a loopback of its own the outside, "" if there is none.
    """

    bubblewrap: str = ""
    version: str = ""
    problem: str = ""
    show: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    wrap: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    connector: str = ""

    @property
    def kind(self) -> str:
        return "bubblewrap" if self.bubblewrap else "wrap" if self.wrap else "none"


@dataclass(frozen=True, slots=True)
class AttemptEnvironment:
    """Everything a worker thread may use.

    `memory` is what is known of gates, `turns` says which run now. `without_schema` are the models whose agent refused
    a schema. `passed` are the patterns of all gates' `env_pass`. Who holds `setting_up` works in the slot of setup.
    `histories` remembers which commits' histories hold secrets, and `looked_through` which files do not, by main.
    `address` is where the sandbox shows each workspace, "" if that is where it lies.
    """

    plumbing: Plumbing
    launcher: Launcher
    clock: Clock
    agents: Mapping[str, Agent]
    slots_dir: Path
    setup: Setup
    limits: SlotLimits
    state_marker: str
    memory: GateMemory = field(default_factory=GateMemory)
    turns: GateTurns = field(default_factory=GateTurns)
    without_schema: set[str] = field(default_factory=set)
    diff_limits: DiffLimits = field(default_factory=DiffLimits)
    sandbox: SandboxRules = field(default_factory=SandboxRules)
    allotments: Allotments | None = None
    address: str = ""
    messages: CommitMessages = field(default_factory=CommitMessages)
    passed: tuple[str, ...] = ()
    gate_rules: ProjectRules | None = None
    setting_up: Lock = field(default_factory=Lock)
    histories: dict[tuple[str, frozenset[str]], Failure | None] = field(default_factory=dict)
    looked_through: set[tuple[str, str, frozenset[str]]] = field(default_factory=set)

    @property
    def masker(self) -> Masker:
        return self.launcher.masker

    def agent_slot(self, index: int) -> Slot:
        slot = self._slot(slot_name("agent", str(index)))
        hit("hub_made")
        return slot

    def gate_slot(self, name: str) -> Slot:
        """Return a workspace that no agent ever touches (law 11)."""
        return self._slot(slot_name("gate", name))

    def setup_slot(self) -> Slot:
        """Return the workspace in which `[project] setup` runs on main's tree, and nothing else (law 11)."""
        return self._slot(slot_name("setup", "0"))

    def _slot(self, name: str) -> Slot:
        return open_slot(self.plumbing.repository, self.slots_dir, name, self.setup.keep)

    def seen(self, workspace: str) -> str:
        return self.address or workspace

    def markers(self, token: str) -> tuple[tuple[str, str], ...]:
        return (("NOFACE_STATE", self.state_marker), ("NOFACE_TOKEN", token))

    def key(self, tree: str, gate: GateSpec) -> str:
        return gate_key(tree, gate, self.fingerprint(gate))

    def as_landed(self, issue: Issue, number: int, tree: str, main: str) -> str:
        """Make the commit that gates find: one on main, as a check of messages or of a range would see what lands."""
        return self.plumbing.commit_tree(tree, (main,), self.messages.landing(issue, number))

    def fingerprint(self, gate: GateSpec) -> str:
        return fingerprint(gate, self.sandbox, self.setup, self.passed)


def fingerprint(gate: GateSpec, sandbox: SandboxRules, setup: Setup, passed: tuple[str, ...]) -> str:
    """Name what a gate's result depends on besides tree and command: programs on PATH, platform, setup, sandbox."""
    parts = (os.environ.get("PATH", ""), sys.platform, setup.command, *setup.inputs, repr(sandbox))
    called = (*called_programs(gate.command), *called_programs(setup.command))
    parts += (passed_digest(passed), programs_digest(called))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


Send = Callable[[object], None]
"""Puts a message of a job's thread into the loop's inbox."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a job's thread works with: the environment, what ends it early, and the way to the loop's inbox."""

    env: AttemptEnvironment
    cancel: Canceller
    send: Send

    def progress(self, issue_id: str, number: int, phase: str, text: str) -> None:
        self.send(AttemptProgress(issue_id, number, phase, text))


@dataclass(frozen=True, slots=True)
class AttemptProgress:
    """A step of an attempt, for people to see: phase is workspace, setup, agent, snapshot or gate.

    `alive`: the provider answers. `kind` is what the agent did, None if the step is noface's own.
    `used` is what the run has used so far, priced, in so many `answers`. `quota` is that of its login.
    """

    issue_id: str
    number: int
    phase: str
    text: str
    alive: bool = False
    kind: EventKind | None = None
    used: Usage = field(default_factory=Usage)
    answers: int = 0
    quota: tuple[Window, ...] = ()


class SetupState(StrEnum):
    """How far `[project] setup` is."""

    BEGINS = "begins"
    GOES_ON = "goes on"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class MainSeen:
    """A look at a `gate` of main that takes long, or at `[project] setup` if that is "", with its last line."""

    gate: str
    text: str
    seconds: float = 0.0
    state: SetupState = SetupState.GOES_ON


@dataclass(frozen=True, slots=True)
class GateRan:
    """A gate's result, for an attempt or for main (number 0), that is flaky, or remembered by its memo `key`."""

    issue_id: str
    number: int
    result: GateResult
    key: str = ""
    tests: Inventory | None = None


@dataclass(frozen=True, slots=True)
class GateAgain:
    """A gate that was red by `line` and runs again, since that may pass; or failed `beside` others, not alone."""

    issue_id: str
    number: int
    gate: str
    line: str
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnsteadySeen:
    """What is known of a gate's unsteady tests has changed: `tests` are new, seen for an issue ("" for main)."""

    issue_id: str
    gate: str
    tests: tuple[str, ...]
