"""One attempt, start to end: `run_attempt` turns an order into a report. Synchronous; holds no database.

The work is written to `work.json`: a noface killed while judging judges again and does not pay again. All that is
written, sent and returned is masked (I12); the judging reads the change as it is, in memory or from git.
"""

import hmac
import json
from dataclasses import dataclass, replace
from pathlib import Path

from noface.attempt.attempt import PATCH_FILE, Attempt, Judging
from noface.attempt.changes import PATCH_BYTES_MAX, change_of
from noface.attempt.environment import put
from noface.attempt.judge import judge
from noface.attempt.left_out import keep_left_out
from noface.attempt.prepare import Preparation, setup_differs
from noface.attempt.worker.agent_run import run_worker, settle, write_order
from noface.git.guarded import with_files_of
from noface.git.refs import RefUpdate, hold_ref
from noface.git.snapshot import SlotSnapshot
from noface.git.workspace import give_git
from noface.model.attempt import (
    AttemptOrder,
    AttemptReport,
    Finished,
    Interrupted,
    Judged,
    NotStarted,
    Snapshot,
    Unreadable,
    Work,
)
from noface.model.codec import decode, encode
from noface.model.failure import Failure
from noface.model.worker_run import AgentRun, EndedBy, Usage, WorkerReport
from noface.process.failpoints import hit
from noface.process.files import HeldFolder, read_regular, real_folder
from noface.prompts.answers.report import find_report, unreadable
from noface.secrets.masked_records import masked_record, masked_snapshot

_NOT_JUDGED: dict[str, object] = {"failure": None, "proof": None, "doubts": []}
"""Of an interrupted attempt, report.json has these keys as well."""
_WORK_FILE = "work.json"
_WORK_BYTES_MAX = 256 * 1024 * 1024


def run_attempt(attempt: Attempt) -> AttemptReport:
    """Carry out an attempt's order. Raises only if noface, git or the disk fails; all else is in the report."""
    order, scope = attempt.order, attempt.scope
    before = _done_before(attempt) if order.resumed else None
    done = before or (_finished_before(attempt, order.finished) if order.finished else do_work(attempt))
    if isinstance(done, Failure) and scope.cancel.cancelled:
        return Interrupted(order.token, order.issue.id, order.number)
    if isinstance(done, Failure):
        return NotStarted(order.token, order.issue.id, order.number, masked_record(done, scope.env.masker))
    if done.work.agent.ended_by in (EndedBy.CANCELLED, EndedBy.ALLOWANCE):
        done.interrupted = True
    else:
        done = judge(done)
        hit("attempt_judged")
    return _reported(done)


def only_judged(order: AttemptOrder) -> bool:
    return order.finished is not None or read_work(order) is not None


def read_work(order: AttemptOrder) -> Work | None:
    """Return the recorded work of an attempt, or None if there is none with the mark that the order's seal makes of it.

    The file lies where a worker outside a sandbox can write.
    """
    record = read_regular(Path(order.directory) / _WORK_FILE, _WORK_BYTES_MAX) or b""
    mark, _, text = record.partition(b"\n")
    if not order.seal or not hmac.compare_digest(mark, _mark(order, text)):
        return None
    try:
        return decode(Work, json.loads(text))
    except (ValueError, TypeError, KeyError):
        return None


def write_work(attempt: Attempt, work: Work) -> None:
    text = json.dumps(encode(work)).encode()
    put(attempt.folder / _WORK_FILE, _mark(attempt.order, text) + b"\n" + text)


def _mark(order: AttemptOrder, text: bytes) -> bytes:
    return hmac.new(order.seal.encode(), text, "sha256").hexdigest().encode()


def _done_before(attempt: Attempt) -> Judging | None:
    """Return the attempt with its recorded work and the change that its commits hold, None if it was cut off before."""
    order = attempt.order
    work = read_work(order)
    if work is None:
        return None
    held = attempt.plumbing.resolve(attempt.ref)  # its first commit may be pruned since it was recorded
    if held is not None and attempt.plumbing.tree(held) == work.snapshot.candidate_tree:
        work = replace(work, snapshot=replace(work.snapshot, candidate=held))
    work = replace(work, snapshot=_as_protected(attempt, work.snapshot))
    diff = attempt.plumbing.diff(order.main, work.snapshot.candidate_tree)
    # The file marks the secrets that were known then: the variable that holds one may not be set in this run.
    masked, env = read_regular(attempt.folder / PATCH_FILE, PATCH_BYTES_MAX), attempt.env
    change = change_of(env, order.main, diff.changes, diff.patch, masked=masked, by_worker=work.changed)
    return Judging(order, attempt.scope, work, change)


def _as_protected(attempt: Attempt, snapshot: Snapshot) -> Snapshot:
    """Return a recorded snapshot with main's versions of all that is protected now: that may be more than then."""
    plumbing, main = attempt.plumbing, attempt.order.main
    commit = with_files_of(plumbing, main, snapshot.candidate, attempt.order.protection)
    if commit == snapshot.candidate:
        return snapshot
    plumbing.refs.apply(RefUpdate(attempt.ref, commit))
    tree = plumbing.tree(commit)
    changes = plumbing.diff(main, tree).changes
    undone = {change.path for change in snapshot.changes} - {change.path for change in changes}
    edits = tuple(sorted({*snapshot.protected_edits, *undone}))
    return replace(snapshot, candidate=commit, candidate_tree=tree, changes=changes, protected_edits=edits)


def do_work(attempt: Attempt) -> Judging | Failure:
    """Have the worker of an order work; return what it left, to be judged, or why it never began."""
    order, scope, env, issue = attempt.order, attempt.scope, attempt.env, attempt.issue
    attempt.progress("workspace", "preparing the workspace")
    env.plumbing.refs.apply(RefUpdate(hold_ref(issue.id, "start"), order.start))
    hit("base_held")
    slot = env.agent_slot(order.slot)
    failure = Preparation(scope, slot, order.token).prepare(order.start)
    # Where the work so far breaks the setup, the worker has to mend it: the failure before says so.
    if failure is not None and (scope.cancel.cancelled or not setup_differs(env, order.start, order.main)):
        return failure
    give_git(slot, issue.id, order.start)
    place = write_order(attempt, slot)
    hit("workspace_built")
    attempt.progress("agent", f"{order.model.name} is working")
    hit("agent_started")
    folder = HeldFolder(slot.path)
    agent = run_worker(attempt, slot, place)
    real_folder(attempt.folder, env.plumbing.repository.state_dir)  # the worker can reach it
    hit("agent_exited")
    attempt.progress("snapshot", "taking a snapshot")
    taken = attempt.take_held(slot, replaced=not folder.stands(), answer=agent.answer)
    report, invalid = find_report(agent.answer)
    broken = unreadable(agent.answer, invalid) if invalid is not None else None
    return _recorded(attempt, agent, taken, report, broken)


def _finished_before(attempt: Attempt, finished: Finished) -> Judging:
    """Return the attempt with the work of an earlier one that it starts from; nothing is run, nothing is paid."""
    plumbing, main, commit = attempt.plumbing, attempt.order.main, attempt.order.start
    plumbing.refs.apply(RefUpdate(attempt.ref, commit))
    real_folder(attempt.folder, plumbing.repository.state_dir)
    tree = plumbing.tree(commit)
    diff = plumbing.diff(main, tree)
    taken = SlotSnapshot(Snapshot(commit, tree, commit, tree, diff.changes), diff.patch, diff.hash, changed=True)
    agent = AgentRun(0, None, EndedBy.ITSELF, 0.0, Usage(0.0, 0, 0))
    return _recorded(attempt, agent, taken, finished[1], None)


def _recorded(
    attempt: Attempt, agent: AgentRun, taken: SlotSnapshot, report: WorkerReport | None, broken: Unreadable | None
) -> Judging:
    order = attempt.order
    notes = (f"the worker's report is malformed: {broken[0].evidence[0]}",) if broken is not None else ()
    change, own = attempt.keep_patches(taken)
    changed = taken.changed or ((order.by_person or order.unjudged) and bool(taken.snapshot.changes))
    snapshot = masked_snapshot(taken.snapshot, attempt.env.masker, own)
    work = Work(agent, snapshot, taken.patch_hash, changed, report, notes, broken)
    write_work(attempt, work)
    hit("snapshot_recorded")
    attempt.progress("snapshot", "the snapshot is taken")
    return Judging(order, attempt.scope, work, replace(change, by_worker=changed))


def _reported(judged: Judging) -> AttemptReport:
    order, work, snapshot = judged.order, judged.work, judged.snapshot
    notes = (*keep_left_out(judged), *work.snapshot.notes, *work.notes, *judged.notes)
    report: Interrupted | Judged
    if judged.interrupted:
        report = Interrupted(order.token, order.issue.id, order.number, work.agent, snapshot, judged.gates, notes)
    else:
        report = Judged(order.token, order.issue.id, order.number, work.agent, snapshot, judged.gates, notes)
        report = replace(report, failure=judged.failure, proof=judged.proof, doubts=judged.doubts)
    report = replace(report, patch_hash=work.patch_hash, worker=work.report)
    held = judged.hold_outcome(snapshot, report.outcome)
    notes = (*notes, *(note for note in held.notes if note not in notes))
    finished = replace(report, snapshot=held, notes=notes)
    if isinstance(finished, Judged) and finished.proof is not None:
        finished = replace(finished, proof=replace(finished.proof, candidate=held.candidate))
    finished = masked_record(finished, judged.env.masker)
    document = _NOT_JUDGED | encode(finished) | {"interrupted": judged.interrupted}
    put(judged.folder / "report.json", json.dumps(document, indent=1))
    settle(judged.env, order.directory)
    return finished


@dataclass(slots=True)
class LocalExecutor:
    """Carries attempts out in this machine's workspaces, `here` of them."""

    here: int

    @property
    def slots(self) -> int:
        """How many attempts there can be at once, also if no slot is closed. The first `here` are of this machine."""
        return self.here

    def is_open(self, slot: int) -> bool:
        return slot < self.here

    def place(self, slot: int) -> str:
        del slot
        return ""

    def carry_out(self, attempt: Attempt) -> AttemptReport:
        return run_attempt(attempt)
