"""What the loop works with: the settings of a run, and the parts that wiring put together."""

import json
import queue
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from noface.attempt.environment import AttemptEnvironment, MainSeen, Scope
from noface.attempt.gate_session import Known
from noface.attempt.run import LocalExecutor
from noface.config.sections import Config
from noface.errors import ForgeAwayError, LockLostError
from noface.forge.github import Forge
from noface.git.remote import Remote
from noface.knowledge.hints import HintRule, Search
from noface.model.access import Network
from noface.model.codec import encode
from noface.model.gate import GateSpec
from noface.model.issue import Issue
from noface.model.listed import HostState
from noface.model.quota import Reserve
from noface.model.taxonomy import Cause, IssueStatus
from noface.model.worker_run import ModelSpec
from noface.process.clock import Clock
from noface.process.command import Canceller
from noface.process.lock import RepositoryLock, boot_id
from noface.process.search import search
from noface.prompts.data import EarlierForm
from noface.recovery.policy import Policy
from noface.recovery.schedule import Breaker, tripped
from noface.recovery.sudden_ends import SuddenEnd
from noface.store.journal import Announce, Journal
from noface.store.lessons import LessonStore
from noface.store.overview import HOSTS
from noface.store.publications import Publications
from noface.store.pull_requests import PullRequests
from noface.store.questions import Questions
from noface.store.reader import Reader
from noface.trackers.base import IssueTracker

ACCEPT_TIMEOUT_S = 600.0
"""The time limit of an `accept` command of an issue without an `accept_timeout`: that of a gate."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What one run does and where it stops. Money in dollars, durations in seconds; None means no limit.

    `until` is the time of the clock that `seconds_max` stands for, or "". `idle` are sentences about settings that do
    nothing. `workers` attempts are carried out here at once, and `slots` in all, with those on hosts.
    """

    config: Config
    models: Mapping[str, ModelSpec]
    gates: tuple[GateSpec, ...]
    policy: Policy
    protected: tuple[str, ...] = ()
    hints: tuple[HintRule, ...] = ()
    workers: int = 1
    slots: int = 1
    cost_usd_max: float | None = None
    tokens_max: int | None = None
    seconds_max: float | None = None
    until: str = ""
    attempts_max: int | None = None
    only_new: bool = False
    only_issues: tuple[str, ...] = ()
    once: bool = False
    watch: bool = False
    templates: Mapping[str, str] = field(default_factory=dict)
    attempts_dir: str = ""
    reserve: Reserve = field(default_factory=Reserve)
    idle: tuple[str, ...] = ()

    @property
    def earlier_form(self) -> EarlierForm:
        return EarlierForm(self.config.recovery.accumulation_format)


@dataclass(slots=True, kw_only=True)
class Planning:
    """What a decision on issues needs.

    `unreachable`: models whose agent misses something, and the question. `refused`: models for whose login or entry an
    issue was blocked.
    """

    settings: RunSettings
    reader: Reader
    questions: Questions
    clock: Clock
    dice: random.Random = field(default_factory=random.Random)
    unreachable: dict[str, str] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class RunContext(Planning):
    """The parts of a run. `issues` is the backlog as last read, with the parts of divided issues.

    `known` are main's failing tests under the baseline "only-new". `given_back` were blocked for a provider and tried
    again. `green_already` needed no work, since main passes their `accept`. `suspects` may have killed an earlier
    noface. `away_since` says since when a model's provider is waited for (epoch seconds), `sudden_ends` which of its
    newest attempts in a row ended at once. `landing_refused` is why no work at all would land as it stands.
    """

    run_id: str
    lock: RepositoryLock | None = None
    tracker: IssueTracker
    journal: Journal
    env: AttemptEnvironment
    executor: LocalExecutor
    announce: Announce
    inbox: "queue.SimpleQueue[object]"
    lessons: LessonStore
    publications: Publications
    pulls: PullRequests
    remote: Remote | None = None
    issues_elsewhere: bool = False
    forge: Forge | None = None
    forge_away: ForgeAwayError | None = None
    linear_branches: bool = False
    signs: bool = False
    landing_refused: str = ""
    search: Search = search
    known: Known | None = None
    issues: tuple[Issue, ...] = ()
    backlog_stale: bool = False
    given_back: set[str] = field(default_factory=set)
    green_already: set[str] = field(default_factory=set)
    suspects: set[str] = field(default_factory=set)
    at_first: frozenset[str] | None = None
    boot: str = field(default_factory=boot_id)
    away_since: dict[str, float] = field(default_factory=dict)
    sudden_ends: dict[str, tuple[SuddenEnd, ...]] = field(default_factory=dict)
    hosts: dict[str, HostState] = field(default_factory=dict)

    def keep_hold(self) -> None:
        """Raise LockLostError if lock or database are not those of this run any more; nothing is done after that."""
        if self.lock is not None:
            self.lock.check()
        if not self.reader.in_place():
            raise LockLostError(
                "state.db was removed or replaced while noface was at work: what it records would be lost. It stopped",
                "Run again: what main holds has landed, and the work of every attempt is kept.",
            )

    def scope(self, cancel: Canceller) -> Scope:
        return Scope(self.env, cancel, self.inbox.put)

    def first_scope(self, cancel: Canceller) -> Scope:
        """Return the same for the loop's own thread before the loop: nobody else would tell what setup and gates do."""

        def send(seen: object) -> None:
            if not self.tell_progress(seen):
                self.inbox.put(seen)

        return Scope(self.env, cancel, send)

    def tell_progress(self, seen: object) -> bool:
        """Tell how far `[project] setup` or a gate of main is; False for any other message of a thread."""
        if not isinstance(seen, MainSeen):
            return False
        facts = {"text": seen.text, "seconds": round(seen.seconds, 1)}
        if seen.gate:
            self.announce("main_gate", None, {"gate": seen.gate, **facts})
        else:
            self.announce("setup", None, {"state": seen.state, **facts})
        return True

    def quiet_scope(self, cancel: Canceller) -> Scope:
        return Scope(self.env, cancel, lambda _: None)

    def see_host(self, seen: HostState) -> None:
        """Tell that a host is there, or why it is not, and keep that for whoever looks."""
        now = self.clock.now()
        before = self.hosts.get(seen.host)
        if before is not None and (before.up, before.why) == (seen.up, seen.why):
            return  # told already
        self.hosts[seen.host] = seen._replace(since=now)
        self.journal.fact(HOSTS, json.dumps(encode(tuple(self.hosts.values()))))
        if seen.up:
            self.log_event("host_up", None, host=seen.host, slots=seen.slots)
        else:
            self.log_event("host_away", None, host=seen.host, why=seen.why)

    def set_status(
        self, issue_id: str, status: IssueStatus, reason: str, until: float | None = None, *, cause: Cause = Cause.NONE
    ) -> None:
        self.journal.status(self.clock.now(), issue_id, status, reason, until, cause=cause)

    def log_event(self, kind: str, issue_id: str | None = None, **data: object) -> None:
        self.journal.event(self.clock.now(), kind, issue_id, **data)

    def open_breaker(self, model: str, *, started_at: float, until: float, kind: str, reason: str) -> Breaker:
        before, now, reason = self.reader.waits().get(model), self.clock.now(), f"{model}: {reason}"
        breaker = tripped(before, model, started_at=started_at, now=now, until=until, kind=kind, reason=reason)
        self.away_since.setdefault(model, now)
        self.journal.wait(breaker)
        return breaker

    def gates_for(self, issue: Issue) -> tuple[GateSpec, ...]:
        wide = self._widest(Network.OWN)
        again = tuple(GateSpec(f"recheck-{n}", command, network=wide) for n, command in enumerate(issue.recheck, 1))
        return self.settings.gates + self.accept_gates(issue) + again

    def accept_gates(self, issue: Issue) -> tuple[GateSpec, ...]:
        limit = issue.accept_timeout_s if issue.accept_timeout_s is not None else ACCEPT_TIMEOUT_S
        many, wide = len(issue.accept) > 1, self._widest()
        env_pass = tuple(dict.fromkeys(name for gate in self.settings.gates for name in gate.env_pass))
        own = partial(GateSpec, timeout_s=limit, accept=True, network=wide, env_pass=env_pass)
        return tuple(own(f"accept-{n}" if many else "accept", command) for n, command in enumerate(issue.accept, 1))

    def _widest(self, least: Network = Network.AUTO) -> Network:
        if (given := self.settings.config.sandbox.network) is not Network.AUTO:
            return given
        return max((least, *(gate.network for gate in self.settings.gates)), key=tuple(Network).index)
