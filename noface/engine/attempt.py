"""One attempt, start to end: `run_attempt(order) -> AttemptReport`. Synchronous; holds no database.

First the work: workspace, worker, snapshot. Its result is written to `work.json`, so that a noface killed while
judging judges again instead of paying for the work again. Then the judging: boundaries, gates, proof.

What is written, told and returned is masked (I12). What is judged is the change as it is: it is held in memory, and
read from git again where the judging is done again.
"""

import hmac
import json
from dataclasses import replace
from pathlib import Path

from noface.engine.agent_run import run_agent
from noface.engine.attempt_environment import AttemptEnvironment, Progress, Tell, attempt_message, order_document, put
from noface.engine.examine import Change, own_values
from noface.engine.isolation import fresh_place
from noface.engine.judge import judge
from noface.engine.prepare import prepare, setup_differs
from noface.gates.secrets import MARK
from noface.git.plumbing import make_and_hold, with_files_of
from noface.git.refs import RefUpdate, hold_ref
from noface.git.removal import remove
from noface.git.snapshot import Taken, forget_index, take
from noface.git.workspace import Slot, give_git
from noface.model.attempt import AttemptOrder, AttemptReport, Judgement, Snapshot, Work
from noface.model.codec import decode, encode
from noface.model.failure import Failure
from noface.model.worker_run import EndedBy
from noface.process.failpoints import hit
from noface.process.files import read_regular, real_folder
from noface.process.supervise import Canceller
from noface.prompts.answers.report import find_report
from noface.secrets.masked_records import masked_failure, masked_report, masked_snapshot

_WORK_FILE = "work.json"
_PATCH_FILE = "diff.patch"
_UNDONE_FILE = "undone.patch"
_PATCH_BYTES_MAX = 20 * 1024 * 1024
_WORK_BYTES_MAX = 256 * 1024 * 1024


def run_attempt(order: AttemptOrder, env: AttemptEnvironment, cancel: Canceller, tell: Tell) -> AttemptReport:
    """Carry out an order. Raises only where noface, git or the disk fails; all else is in the report."""
    before = _done_before(order, env) if order.resumed else None
    done = before or _do_work(order, env, cancel, tell)
    if isinstance(done, Failure):
        told = masked_failure(done, env.masker)
        return AttemptReport(order.token, order.issue.id, order.number, agent=None, snapshot=None, failure=told)
    work, change = done
    if work.agent.ended_by is EndedBy.CANCELLED:
        judged = Judgement(work.snapshot, interrupted=True)
    else:
        judged = judge(order, env, work, change, cancel, tell)
        hit("attempt_judged")
    return _finished(order, env, work, judged)


def read_work(order: AttemptOrder) -> Work | None:
    """Return the recorded work of an attempt, or None where it was cut off before, or the record is not noface's.

    The file lies where a worker outside a sandbox can write, so it counts only with the mark that the order's seal
    makes of it.
    """
    told = read_regular(Path(order.directory) / _WORK_FILE, _WORK_BYTES_MAX) or b""
    mark, _, text = told.partition(b"\n")
    if not order.seal or not hmac.compare_digest(mark, _mark(order, text)):
        return None
    try:
        return decode(Work, json.loads(text))
    except (ValueError, TypeError, KeyError):
        return None


def _mark(order: AttemptOrder, text: bytes) -> bytes:
    return hmac.new(order.seal.encode(), text, "sha256").hexdigest().encode()


def _done_before(order: AttemptOrder, env: AttemptEnvironment) -> tuple[Work, Change] | None:
    """Return the recorded work with the change that its commits hold, None where it was cut off before."""
    work = read_work(order)
    if work is None:
        return None
    work = replace(work, snapshot=_as_protected(order, env, _as_held(order, env, work.snapshot)))
    diff = env.plumbing.diff(order.main, work.snapshot.candidate_tree)
    patch = diff.patch[:_PATCH_BYTES_MAX]
    # It tells of the secrets that were known then: the variable that holds one may not be set in this run.
    masked = read_regular(Path(order.directory) / _PATCH_FILE, _PATCH_BYTES_MAX)
    masked = patch if masked is None else masked
    own = own_values(env, order.main, work.snapshot, masked)
    masked = env.masker.patch(masked, MARK, own)
    return work, Change(diff.changes, patch, masked, by_worker=work.changed, cut=len(patch) < len(diff.patch))


def _as_held(order: AttemptOrder, env: AttemptEnvironment, snapshot: Snapshot) -> Snapshot:
    """Return a recorded snapshot with the commit that its ref holds now.

    A noface that was killed late had given the work its last commits already; the first may have been pruned since.
    """
    commit = env.plumbing.resolve(hold_ref(order.issue.id, str(order.number)))
    if commit is None or env.plumbing.tree(commit) != snapshot.candidate_tree:
        return snapshot
    return replace(snapshot, candidate=commit)


def _as_protected(order: AttemptOrder, env: AttemptEnvironment, snapshot: Snapshot) -> Snapshot:
    """Return a recorded snapshot with what is protected now as it is on main: less may have been when it was taken."""
    commit = with_files_of(env.plumbing, order.main, snapshot.candidate, order.protection)
    if commit == snapshot.candidate:
        return snapshot
    env.plumbing.refs.apply(RefUpdate(hold_ref(order.issue.id, str(order.number)), commit))
    tree = env.plumbing.tree(commit)
    changes = env.plumbing.diff(order.main, tree).changes
    undone = {change.path for change in snapshot.changes} - {change.path for change in changes}
    edits = tuple(sorted({*snapshot.protected_edits, *undone}))
    return replace(snapshot, candidate=commit, candidate_tree=tree, changes=changes, protected_edits=edits)


def _do_work(
    order: AttemptOrder, env: AttemptEnvironment, cancel: Canceller, tell: Tell
) -> tuple[Work, Change] | Failure:
    tell(Progress(order.issue.id, order.number, "workspace", "preparing the workspace"))
    env.plumbing.refs.apply(RefUpdate(hold_ref(order.issue.id, "start"), order.start))
    hit("base_held")
    slot = env.agent_slot(order.slot)
    failure = prepare(env, slot, order.start, order.token, cancel)
    # A setup that the work so far has broken is the worker's to mend: the failure before has told it of that.
    if failure is not None and (cancel.cancelled or not setup_differs(env, order.start, order.main)):
        return failure
    give_git(slot, order.issue.id, order.start)
    directory = real_folder(Path(order.directory), env.plumbing.repository.state_dir)
    place = fresh_place(slot.path, directory)
    put(directory / "prompt.md", order.prompt)
    put(directory / "order.json", json.dumps(order_document(order), indent=1))
    hit("workspace_built")
    tell(Progress(order.issue.id, order.number, "agent", f"{order.model.name} is working"))
    hit("agent_started")
    agent = run_agent(order, env, place, cancel, tell)
    _mend(directory)
    hit("agent_exited")
    tell(Progress(order.issue.id, order.number, "snapshot", "taking a snapshot"))
    taken = _held_snapshot(order, env, slot)
    said, invalid = find_report(agent.answer)
    notes = (f"the worker's report is malformed: {invalid.violation}",) if invalid is not None else ()
    patch = taken.patch[:_PATCH_BYTES_MAX]
    own = own_values(env, order.main, taken.snapshot, patch)
    changed = taken.changed or (order.by_person and bool(taken.snapshot.changes))
    work = Work(agent, masked_snapshot(taken.snapshot, env.masker, own), taken.patch_hash, changed, said, notes)
    masked = env.masker.patch(patch, MARK, own)
    put(directory / _PATCH_FILE, masked)
    if taken.undone:
        undone = env.masker.patch(taken.undone[:_PATCH_BYTES_MAX], MARK, own)
        put(directory / _UNDONE_FILE, undone)
    text = json.dumps(encode(work)).encode()
    put(directory / _WORK_FILE, _mark(order, text) + b"\n" + text)
    hit("snapshot_recorded")
    cut = len(patch) < len(taken.patch)
    return work, Change(taken.snapshot.changes, patch, masked, by_worker=changed, cut=cut)


def _held_snapshot(order: AttemptOrder, env: AttemptEnvironment, slot: Slot) -> Taken:
    """Take a snapshot of the slot, from the files anew where its objects were pruned before their ref held them."""
    before: list[int] = []

    def snapshot() -> Taken:
        if before:
            forget_index(slot)
        before.append(1)
        taken = take(
            env.plumbing,
            slot,
            start=order.start,
            main=order.main,
            message=attempt_message(order, ""),
            protection=order.protection,
            limits=env.limits,
        )
        hit("snapshot_taken")
        return taken

    ref = hold_ref(order.issue.id, str(order.number))
    return make_and_hold(env.plumbing, ref, order.start, snapshot, lambda taken: taken.snapshot.candidate)


def _mend(directory: Path) -> None:
    """Make the attempt's folder again where the worker, which can reach it, removed or replaced it."""
    if directory.is_symlink() or not directory.is_dir():
        remove(directory)
        directory.mkdir(parents=True)


def _finished(order: AttemptOrder, env: AttemptEnvironment, work: Work, judged: Judgement) -> AttemptReport:
    """Return the report. The attempt's commits get their outcome trailer, and are kept by the attempt's ref."""
    snapshot = judged.snapshot
    report = AttemptReport(
        token=order.token,
        issue_id=order.issue.id,
        number=order.number,
        agent=work.agent,
        snapshot=snapshot,
        gates=judged.gates,
        failure=judged.failure,
        proof=judged.proof,
        interrupted=judged.interrupted,
        notes=(*work.snapshot.notes, *work.notes, *judged.notes),
        patch_hash=work.patch_hash,
        worker=work.report,
        doubts=judged.doubts,
    )
    message = attempt_message(order, report.outcome)
    plumbing = env.plumbing

    def commits() -> tuple[str, str]:
        commit = plumbing.commit_tree(snapshot.tree, (order.start,), message)
        if snapshot.candidate_tree == snapshot.tree:
            return commit, commit
        return commit, plumbing.commit_tree(snapshot.candidate_tree, (commit,), message)

    ref = hold_ref(order.issue.id, str(order.number))
    commit, candidate = make_and_hold(plumbing, ref, order.start, commits, lambda made: made[1])
    proof = replace(report.proof, candidate=candidate) if report.proof is not None else None
    finished = replace(report, snapshot=replace(snapshot, commit=commit, candidate=candidate), proof=proof)
    finished = masked_report(finished, env.masker)
    put(Path(order.directory) / "report.json", json.dumps(encode(finished), indent=1))
    return finished
