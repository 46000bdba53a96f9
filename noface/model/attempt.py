"""An attempt: the order it is given, what it left in its slot, what came of it, and how it is remembered.

Times are epoch seconds, durations seconds, money US dollars. Commits and trees are full hexadecimal object ids.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from noface.model.budget import Allowance
from noface.model.description import OneOf
from noface.model.failure import Failure, PriorFailure
from noface.model.gate import GateResult, GateSpec, Proof
from noface.model.issue import Issue
from noface.model.protection import Protection
from noface.model.taxonomy import INTERRUPTED, PASSED, FailureKind
from noface.model.worker_run import AgentRun, ModelSpec, ReportStatus, Resumed, Session, WorkerReport

ABSENT = "000000"
"""Git's mode of a path on the side of a change where it is not there."""
REGULAR = frozenset({"100644", "100755"})
"""Git's modes of a file that is no link and no submodule."""


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
class NotTaken:
    """A file in a slot that is no part of the change, and why; `ignored`: by git, since a line of `source` says so.

    `known`: no worker is told of it, if its work passes without.
    """

    path: str
    why: str
    source: str = ""
    ignored: bool = False
    known: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a worker left in its slot, as git objects in the repository.

    `commit` keeps the slot's tree; `candidate` is the same with the protected paths (law 11) put back to main's.
    `left_out` counts new files that were too many, in the folders `crowded`. `elsewhere` are folders that are
    repositories of their own, `in_git` what lies there and in the agent's own git, each with its commit. `not_taken`
    are no part of it, `aside` is the commit that holds them; `suspects` are part of it. `lost`: the workspace went away
    under the worker.
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
    elsewhere: tuple[str, ...] = ()
    in_git: tuple[tuple[str, str], ...] = ()
    crowded: tuple[str, ...] = ()
    not_taken: tuple[NotTaken, ...] = ()
    aside: str | None = None
    suspects: tuple[NotTaken, ...] = ()
    lost: bool = False


Finished = tuple[int, WorkerReport | None]
Unreadable = tuple[Failure, ReportStatus | None]
"""Work that is judged again: the number of its attempt, and what its worker said of it."""


@dataclass(frozen=True, slots=True)
class AttemptOrder:
    """All that a worker run needs, picklable; `run_attempt(order)` needs no database.

    `start` is the commit the workspace begins with. `token` fences late results (I10). `known_failures` maps a gate's
    key to the tests that fail on main already (baseline "only-new"), None under "require-green". `by_person`: `start`
    is what a person made of the issue; `unjudged`: it is work of an attempt that was cut off; both count as work even
    if the worker adds nothing. `seal` is the key by which noface knows its own record of the work again; no worker
    knows it. `session` is the one that the run goes on with. `repeats` is how often a gate may run again for a cause
    that passes by itself. `files` are those that the work is about, `files_to_read` must not change; both are empty if
    the agent finds files by itself. `owner` is what the owner said beside the issue. `finished`: `start` holds this
    work, which is judged; no worker is called.
    """

    run_id: Annotated[str, "The run of noface."]
    token: str
    issue: Annotated[Issue, "The issue. Its words come from whoever writes issues."]
    number: int
    model: Annotated[ModelSpec, "The entry [models.NAME] of noface.toml that does the work."]
    prompt: str
    main: Annotated[str, "The commit of main when the order was made, whole; empty where a model is only tried."]
    start: Annotated[str, "The commit whose files the workspace holds: main, or the best work on it; or empty."]
    slot: int
    directory: str
    gates: Annotated[tuple[GateSpec, ...], "The project's gates, in the order they run; none for a question."]
    protected: Annotated[tuple[str, ...], "Paths and globs: changes of these are undone before the gates run."] = ()
    earlier: Annotated[
        tuple[PriorFailure, ...], "The attempts at this issue that failed, oldest first; none for a question."
    ] = ()
    known_failures: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    resumed: bool = False
    think: Annotated[bool, "Whether extended thinking is asked for."] = False
    role: Annotated[str, "What it is: the worker, or the role of [roles] in which it is asked."] = "worker"
    topic: Annotated[
        str, OneOf("noface.model.history.Topic", ("", "init")), "What an answer is wanted on; empty for work."
    ] = ""
    may_change: Annotated[tuple[str, ...], "Paths and globs: changes of these stay, though they are protected."] = ()
    any_case: bool = False
    by_person: bool = False
    seal: str = ""
    session: Session | None = None
    unjudged: bool = False
    repeats: int = 2
    notes: tuple[str, ...] = ()
    answer_schema: str = ""
    owner: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    files_to_read: tuple[str, ...] = ()
    allowance: Allowance | None = None
    finished: Finished | None = None

    @property
    def attempt(self) -> Annotated[int, "The number of this attempt, from 1; of a question, the attempt it is about."]:
        return self.number

    @property
    def accept(self) -> Annotated[tuple[str, ...], "Commands that must pass for this issue as well: its own."]:
        return self.issue.accept

    @property
    def cost_usd_max(self) -> float | None:
        return self.allowance.usd if self.allowance is not None else self.model.max_cost_usd

    @property
    def protection(self) -> Protection:
        return Protection(self.protected, self.may_change, self.any_case, self.issue.paths)


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker did: its run, the snapshot of its slot, whether it changed anything. It holds no secret."""

    agent: AgentRun
    snapshot: Snapshot
    patch_hash: str
    changed: bool
    report: WorkerReport | None = None
    notes: tuple[str, ...] = ()
    unreadable: Unreadable | None = None


@dataclass(frozen=True, slots=True)
class NotStarted:
    """Report of an attempt whose worker never ran; `failure` says why."""

    token: str
    issue_id: str
    number: int
    failure: Failure

    @property
    def outcome(self) -> str:
        return self.failure.kind.value


@dataclass(frozen=True, slots=True)
class Interrupted:
    """An attempt that was ended early, for which nobody is to blame; `worker` is the worker's own report."""

    token: str
    issue_id: str
    number: int
    agent: AgentRun | None = None
    snapshot: Snapshot | None = None
    gates: tuple[GateResult, ...] = ()
    notes: tuple[str, ...] = ()
    patch_hash: str = ""
    worker: WorkerReport | None = None

    @property
    def outcome(self) -> str:
        return INTERRUPTED


@dataclass(frozen=True, slots=True)
class Judged:
    """An attempt whose work was judged: without a `failure` it has PASSED, and `proof` lets it land.

    `doubts`: what a person looks at before it lands, as that it changed what judges it or did more than was asked.
    """

    token: str
    issue_id: str
    number: int
    agent: AgentRun
    snapshot: Snapshot
    gates: tuple[GateResult, ...] = ()
    notes: tuple[str, ...] = ()
    patch_hash: str = ""
    worker: WorkerReport | None = None
    failure: Failure | None = None
    proof: Proof | None = None
    doubts: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        return PASSED if self.failure is None else self.failure.kind.value


AttemptReport = NotStarted | Interrupted | Judged


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """A finished attempt as the policy sees it. `epoch` counts the issue's unblockings: only the newest counts.

    `answer` names the action that followed it. `last_output` decides nothing (law 10). `main` is where it began.
    """

    number: int
    model: str
    tier: int
    outcome: str
    charged: bool
    epoch: int = 0
    signature: str = ""
    patch_hash: str = ""
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
    doubts: tuple[str, ...] = ()
    session: str = ""
    slot: int = 0
    resumed: Resumed | None = None
    last_output: str = ""
    main: str = ""
    notes: tuple[str, ...] = ()

    @property
    def quote(self) -> str:
        """The issue's sentence by which its worker changed tests and was charged with nothing; "" without one."""
        if self.failure is None or self.failure.charged or self.report is None:
            return ""
        return next((e.sentence for e in self.report.changed_tests if e.sentence in self.failure.evidence), "")


def failure_of(attempt: PastAttempt) -> Failure:
    if attempt.failure is not None:
        return attempt.failure
    kind = FailureKind.__members__.get(attempt.outcome, FailureKind.UNKNOWN)
    return Failure(kind, "no failure was recorded", rule="missing", charged=attempt.charged)


UNFINISHED = "the worker did not finish"
CHANGED_TESTS = "tests of main are changed"
LEFT_OUT = "left out of the change"
LEFT_OUT_FILE = "left-out.patch"
PUT_RIGHT = "put right"
UNASKED = "not asked for"
OWN_JUDGE = "changed what its accept is judged by"
UNTESTED = "new without a test"
MET = "a key was met"
HOST_LOST = "the host was lost"
BESIDE = "a candidate beside attempt"
"""What notes of an attempt begin with: its worker did not finish, main's tests do not accept it, something is not in
the change, what nobody asked for was put right or is left to a person, nothing tries what is new, it left secrets, its
host was lost, or the work of another candidate was taken."""
HINTED = "told hints of [[failure_hints]]"
"""The note of an attempt whose prompt holds hints of a person's."""


BRING_BACK = "; to bring it back: "
"""Stands in a note of what is left out before the command that brings it back."""


def brings_back(note: str) -> tuple[str, str]:
    """Return what a note tells of what is left out, and the command that brings it back; "" for what it has not."""
    what, _, command = note.partition(BRING_BACK)
    return what, command


_BESIDE_MARK = "beside: "


def beside_mark(taken: int) -> str:
    return f"{_BESIDE_MARK}{taken}"


def as_decided(attempts: Iterable[PastAttempt]) -> tuple[PastAttempt, ...]:
    """Return attempts by number, but candidates before the one whose work was taken: the last is decided on."""

    def order(attempt: PastAttempt) -> tuple[int, bool, int]:
        number = attempt.signature.removeprefix(_BESIDE_MARK)
        beside = number != attempt.signature and number.isdecimal()
        return int(number) if beside else attempt.number, not beside, attempt.number

    return tuple(sorted(attempts, key=order))


def noted(notes: tuple[str, ...], begins: str) -> str:
    return next((note for note in notes if note.startswith(begins)), "")


def landing_note(notes: tuple[str, ...], *, here: bool = False) -> str:
    """Return what readers of a landing should know of its attempt; `here`: with the command for what is left out."""
    left_out = noted(notes, LEFT_OUT)
    told = (noted(notes, kind) for kind in (PUT_RIGHT, CHANGED_TESTS, UNFINISHED))
    return "; ".join(filter(None, (left_out if here else brings_back(left_out)[0], *told)))
