"""The records every layer shares: frozen, slotted, free of behaviour that touches the world.

Times are epoch seconds (float), durations seconds, money US dollars, sizes bytes. Commits and trees are full
hexadecimal object ids. Paths inside a repository are relative, with forward slashes.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from noface.core.taxonomy import PASSED, Category, FailureKind, IssueStatus

DEFAULT_PRIORITY = 2


@dataclass(frozen=True, slots=True)
class Issue:
    """A piece of work. `source` names where a person edits it; `content_hash` changes when they do.

    `tier` is the lowest tier that works on it. `parent` and `depth` are those of an issue that a breakdown made.
    `recheck` are commands of other issues that must pass again, since its boundary was widened into their work (K5).
    """

    id: str
    title: str
    body: str = ""
    priority: int = DEFAULT_PRIORITY
    labels: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    model: str | None = None
    tier: int | None = None
    max_attempts: int | None = None
    no_escalate: bool = False
    source: str = ""
    content_hash: str = ""
    parent: str | None = None
    depth: int = 0
    recheck: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IssueFault:
    """An issue that cannot be run as written; `source` is its file, `problem` and `hint` are for a person."""

    source: str
    problem: str
    hint: str = ""
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Backlog:
    """What the tracker holds: sound issues in a stable order, and the faulty ones beside them."""

    issues: tuple[Issue, ...] = ()
    faults: tuple[IssueFault, ...] = ()
    warnings: tuple[IssueFault, ...] = ()


class GateKind(StrEnum):
    """What a gate checks; it steers how its output is read."""

    BUILD = "build"
    LINT = "lint"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class GateSpec:
    """A command that must pass, run by `bash -c` at the top of a checkout. `report` is a JUnit XML path in it.

    `retries` is how often it is run again where it fails.
    """

    name: str
    command: str
    kind: GateKind = GateKind.TEST
    hard: bool = True
    timeout_s: float = 600.0
    report: str | None = None
    accept: bool = False
    retries: int = 0


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A named model of the configuration: which agent runs it, how, and within which limits.

    `usd_per_mtok_in` and `usd_per_mtok_out` price a million tokens; None where nobody knows. `env` is set for its
    agent, `env_pass` are patterns of the variables of noface's own that go to it.
    """

    name: str
    agent: str
    model: str = ""
    tier: int = 1
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    timeout_s: float = 1800.0
    idle_timeout_s: float = 300.0
    max_cost_usd: float | None = None
    usd_per_mtok_in: float | None = None
    usd_per_mtok_out: float | None = None
    env_pass: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed, with the rule and the lines that decided (law 10: never an agent's prose).

    `signature` is stable across runs of the same failure. `excerpt` is what the next prompt quotes.
    `retry_at` is the provider's reset time where it gave one. `charged` is False where something other than
    the worker is to blame (law 8). `also_matched` are the rules that matched and lost: rule, line, why.
    """

    kind: FailureKind
    message: str
    rule: str
    location: str | None = None
    signature: str = ""
    evidence: tuple[str, ...] = ()
    excerpt: str = ""
    failing_tests: tuple[str, ...] = ()
    gate: str | None = None
    retry_at: float | None = None
    questions: tuple[str, ...] = ()
    charged: bool = True
    also_matched: tuple[tuple[str, str, str], ...] = ()

    @property
    def category(self) -> Category:
        """The category of the kind."""
        return self.kind.category


@dataclass(frozen=True, slots=True)
class GateResult:
    """One run of one gate on one tree. `exit_code` is None where it was ended by its limit or never started.

    `first_failure` is that of an earlier run on the same tree, where the gate was run again; see `flaky`.
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
    stderr_log: str = ""
    memo: bool = False
    only_known_failures: bool = False
    first_failure: Failure | None = None

    @property
    def passed(self) -> bool:
        """True where the gate is green, or red only where main was red already (baseline "only-new")."""
        return self.failure is None or self.only_known_failures

    @property
    def flaky(self) -> bool:
        """True where the gate failed and then passed on the very same tree: never hidden, never green for others."""
        return self.passed and self.first_failure is not None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a worker run consumed; None means that nobody said.

    `tokens_cached` is how many of `tokens_in` came from the provider's cache. `priced`: the cost is an estimate from
    the tokens, since the agent told none.
    """

    cost_usd: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    session_id: str | None = None
    tokens_cached: int | None = None
    priced: bool = False

    @property
    def tokens(self) -> int | None:
        """The tokens read and written."""
        counts = [count for count in (self.tokens_in, self.tokens_out) if count is not None]
        return sum(counts) if counts else None


class EndedBy(StrEnum):
    """Who ended a process."""

    ITSELF = "itself"
    TIMEOUT = "timeout"
    IDLE = "idle"
    CANCELLED = "cancelled"
    LOST = "lost"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class AgentRun:
    """How a worker run ended. An interrupted run is judged by `ended_by`, never by its exit code.

    `answer` is its last message in full (up to a limit), where a report or an answer is looked for.
    """

    exit_code: int | None
    signal: int | None
    ended_by: EndedBy
    seconds: float
    usage: Usage = field(default_factory=Usage)
    last_words: str = ""
    error: Failure | None = None
    started: bool = True
    survivors_killed: int = 0
    answer: str = ""


class ReportStatus(StrEnum):
    """How a worker sees its own work."""

    DONE = "done"
    PARTIAL = "partial"
    BLOCKED = "blocked"


class BlockedReason(StrEnum):
    """Why a worker says that it cannot go on (K5, DECISIONS)."""

    BOUNDARY_VIOLATION = "boundary_violation"
    CONTRACT_CHANGE = "contract_change"
    DEPENDENCY_ISSUE = "dependency_issue"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What a worker says of its work, in JSON of a published schema. Evidence outranks it (law 10).

    `confidence` is 0 to 1. `needs` are ids of issues it found it depends on.
    """

    status: ReportStatus
    summary: str = ""
    confidence: float | None = None
    risks: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    blocked_reason: BlockedReason | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path that differs between two trees. `status` is git's letter (A, M, D, T); lines are None for binary."""

    path: str
    status: str
    old_mode: str
    new_mode: str
    old_oid: str
    new_oid: str
    added: int | None = None
    deleted: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a worker left in its slot, as git objects in the repository.

    `commit` keeps the slot's tree as it was found, but for what `notes` tell; `candidate` is the same with the
    protected paths (law 11) put back to main's, and equals `commit` where none was touched. `left_out` counts the new
    files where they were too many to be taken.
    """

    commit: str
    tree: str
    candidate: str
    candidate_tree: str
    changes: tuple[FileChange, ...] = ()
    protected_edits: tuple[str, ...] = ()
    oversized: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class PriorFailure:
    """An earlier attempt as the next worker is told of it."""

    number: int
    model: str
    kind: str
    message: str
    location: str | None
    excerpt: str
    failing_tests: tuple[str, ...] = ()
    rule: str = ""


@dataclass(frozen=True, slots=True)
class AttemptOrder:
    """All that a worker run needs, picklable; `run_attempt(order)` needs no database.

    `main` is main's commit when the order was made; `start` the commit the workspace begins with (main, or the
    best attempt so far merged with main). `token` fences late results. `slot` names the workspace.
    `known_failures` maps a gate's key to the tests that fail on main already (baseline "only-new"), None under
    "require-green". `think` asks for extended thinking. `role` is "worker", or the topic of a question.
    """

    run_id: str
    token: str
    issue: Issue
    number: int
    model: ModelSpec
    prompt: str
    main: str
    start: str
    slot: int
    directory: str
    gates: tuple[GateSpec, ...]
    protected: tuple[str, ...] = ()
    earlier: tuple[PriorFailure, ...] = ()
    known_failures: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    resumed: bool = False
    think: bool = False
    role: str = "worker"


@dataclass(frozen=True, slots=True)
class Proof:
    """That every hard gate passed on exactly `tree`; only the gate runner makes one (law 1).

    `main` is the commit of main that `tree` was built on, `candidate` the attempt's commit it holds.
    """

    tree: str
    main: str
    candidate: str
    gates: tuple[GateResult, ...]
    gate_keys: tuple[str, ...]

    @property
    def flaky(self) -> tuple[str, ...]:
        """The names of the gates that passed only when they were run again."""
        return tuple(result.gate.name for result in self.gates if result.flaky)


@dataclass(frozen=True, slots=True)
class AttemptReport:
    """What came of an order. `failure` None and a proof mean PASSED; `interrupted` means nobody is to blame.

    `worker` is the worker's own report, where it gave one.
    """

    token: str
    issue_id: str
    number: int
    agent: AgentRun | None
    snapshot: Snapshot | None
    gates: tuple[GateResult, ...] = ()
    failure: Failure | None = None
    proof: Proof | None = None
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    patch_hash: str = ""
    worker: WorkerReport | None = None

    @property
    def outcome(self) -> str:
        """PASSED, INTERRUPTED, or the failure's kind."""
        if self.interrupted:
            return "INTERRUPTED"
        return PASSED if self.failure is None else self.failure.kind.value


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """A finished attempt as the policy sees it. `epoch` counts the issue's unblockings: only the newest counts.

    `changed` are the paths it changed against main and `lines` how many lines; `answer` names the action that
    followed it.
    """

    number: int
    model: str
    tier: int
    outcome: str
    charged: bool
    epoch: int = 0
    signature: str = ""
    patch_hash: str = ""
    prompt_hash: str = ""
    commit: str | None = None
    candidate: str | None = None
    gates_passed: int = 0
    failing_tests: int | None = None
    finished_at: float = 0.0
    failure: Failure | None = None
    cost_usd: float | None = None
    think: bool = False
    changed: tuple[str, ...] = ()
    lines: int = 0
    report: WorkerReport | None = None
    answer: str = ""
    started_at: float = 0.0
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class IssueState:
    """What noface remembers of an issue between ticks.

    `satisfied`: skipped because main holds already what it asks for. `wanted_model` and `wanted_attempts` are what a
    person said at unblocking; `granted_paths` what they allowed; `needs` the issues the work turned out to depend on.
    """

    id: str
    status: IssueStatus = IssueStatus.READY
    reason: str = ""
    until: float | None = None
    epoch: int = 0
    note: str = ""
    content_hash: str = ""
    satisfied: bool = False
    wanted_model: str | None = None
    wanted_attempts: int | None = None
    granted_paths: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        """True where what depends on the issue may start."""
        return self.status is IssueStatus.MERGED or (self.status is IssueStatus.SKIPPED and self.satisfied)
