"""One attempt, start to end: `run_attempt` turns an order into a report. Synchronous; holds no database.

First the work: workspace, worker, snapshot. Its result is written to `work.json`, so that a noface killed while
judging judges again instead of paying for the work again. Then the judging: boundaries, gates, proof.

All that is written, sent and returned is masked (I12). The judging reads the change as it is: it stays in memory, and
is read from git again where work is judged again.
"""

import hmac
import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from noface.attempt.environment import AttemptEnvironment, Scope, attempt_message, put
from noface.attempt.examine import PATCH_BYTES_MAX, Change, masked_patch, own_values
from noface.attempt.held_secrets import clean, history_failure, without_added_secrets
from noface.attempt.judge import judge
from noface.attempt.prepare import prepare, setup_differs
from noface.attempt.sessions import run_worker, settle, write_order
from noface.git.guarded import with_files_of
from noface.git.plumbing import make_and_hold
from noface.git.refs import RefUpdate, hold_ref
from noface.git.removal import remove
from noface.git.snapshot import SlotLimits, SlotSnapshot, forget_index, take
from noface.git.workspace import Slot, give_git, protect_submodules
from noface.integrity.not_taken import told_of
from noface.model.attempt import (
    AttemptOrder,
    AttemptReport,
    Finished,
    Interrupted,
    Judged,
    Judgement,
    NotStarted,
    Snapshot,
    Work,
)
from noface.model.codec import decode, encode
from noface.model.failure import Failure
from noface.model.patterns import matches_any
from noface.model.protection import asked_paths
from noface.model.scratch import ASIDE
from noface.model.taxonomy import PASSED
from noface.model.worker_run import AgentRun, EndedBy, UnreadableReport, Usage, WorkerReport
from noface.process.failpoints import hit
from noface.process.files import Standing, read_regular, real_folder
from noface.prompts.answers.report import find_report, unreadable
from noface.secrets.masked_records import masked_failure, masked_report, masked_snapshot

_NOT_JUDGED: dict[str, object] = {"failure": None, "proof": None, "doubts": []}
"""Of an interrupted attempt, report.json has these keys as well."""
_WORK_FILE = "work.json"
_PATCH_FILE = "diff.patch"
_UNDONE_FILE = "undone.patch"
_WORK_BYTES_MAX = 256 * 1024 * 1024


def run_attempt(order: AttemptOrder, scope: Scope) -> AttemptReport:
    """Carry out an order. Raises only where noface, git or the disk fails; all else is in the report."""
    env = scope.env
    before = _done_before(order, env) if order.resumed else None
    done = before or (_finished_before(order, env, order.finished) if order.finished else _do_work(order, scope))
    if isinstance(done, Failure) and scope.cancel.cancelled:
        return Interrupted(order.token, order.issue.id, order.number)
    if isinstance(done, Failure):
        return NotStarted(order.token, order.issue.id, order.number, masked_failure(done, env.masker))
    work, change = done
    if work.agent.ended_by in (EndedBy.CANCELLED, EndedBy.ALLOWANCE):
        judged = Judgement(work.snapshot, interrupted=True)
    else:
        judged = judge(order, scope, work, change)
        hit("attempt_judged")
    return _finished(order, env, work, judged)


def only_judged(order: AttemptOrder) -> bool:
    """Tell whether an order that was cut off needs no worker any more."""
    return order.finished is not None or read_work(order) is not None


def read_work(order: AttemptOrder) -> Work | None:
    """Return the recorded work of an attempt, or None where it was cut off before, or the record is not noface's.

    The file lies where a worker outside a sandbox can write, so it counts only with the mark that the order's seal
    makes of it.
    """
    record = read_regular(Path(order.directory) / _WORK_FILE, _WORK_BYTES_MAX) or b""
    mark, _, text = record.partition(b"\n")
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
    patch = diff.patch[:PATCH_BYTES_MAX]
    # The file marks the secrets that were known then: the variable that holds one may not be set in this run.
    masked = read_regular(Path(order.directory) / _PATCH_FILE, PATCH_BYTES_MAX)
    masked = patch if masked is None else masked
    own = own_values(env, order.main, work.snapshot, masked)
    masked = masked_patch(env, order.main, masked, own)
    return work, Change(diff.changes, patch, masked, by_worker=work.changed, cut=len(patch) < len(diff.patch))


def _as_held(order: AttemptOrder, env: AttemptEnvironment, snapshot: Snapshot) -> Snapshot:
    """Return a recorded snapshot with the commit that its ref holds now.

    A noface that was killed late had already given the work its last commits; the first may be pruned since.
    """
    commit = env.plumbing.resolve(hold_ref(order.issue.id, str(order.number)))
    if commit is None or env.plumbing.tree(commit) != snapshot.candidate_tree:
        return snapshot
    return replace(snapshot, candidate=commit)


def _as_protected(order: AttemptOrder, env: AttemptEnvironment, snapshot: Snapshot) -> Snapshot:
    """Return a recorded snapshot with main's versions of all that is protected now: that may be more than then."""
    commit = with_files_of(env.plumbing, order.main, snapshot.candidate, order.protection)
    if commit == snapshot.candidate:
        return snapshot
    env.plumbing.refs.apply(RefUpdate(hold_ref(order.issue.id, str(order.number)), commit))
    tree = env.plumbing.tree(commit)
    changes = env.plumbing.diff(order.main, tree).changes
    undone = {change.path for change in snapshot.changes} - {change.path for change in changes}
    edits = tuple(sorted({*snapshot.protected_edits, *undone}))
    return replace(snapshot, candidate=commit, candidate_tree=tree, changes=changes, protected_edits=edits)


def _do_work(order: AttemptOrder, scope: Scope) -> tuple[Work, Change] | Failure:
    env, issue, number = scope.env, order.issue, order.number
    scope.progress(issue.id, number, "workspace", "preparing the workspace")
    env.plumbing.refs.apply(RefUpdate(hold_ref(issue.id, "start"), order.start))
    hit("base_held")
    slot = env.agent_slot(order.slot)
    failure = prepare(scope, slot, order.start, order.token)
    # Where the work so far breaks the setup, the worker has to mend it: the failure before says so.
    if failure is not None and (scope.cancel.cancelled or not setup_differs(env, order.start, order.main)):
        return failure
    give_git(slot, issue.id, order.start)
    protect_submodules(slot, order.start, lambda path: matches_any(path, asked_paths(issue)))
    place = write_order(order, env, slot)
    hit("workspace_built")
    scope.progress(issue.id, number, "agent", f"{order.model.name} is working")
    hit("agent_started")
    folder = Standing(slot.path)
    agent = run_worker(order, scope, slot, place)
    _restore_folder(Path(order.directory))
    hit("agent_exited")
    scope.progress(issue.id, number, "snapshot", "taking a snapshot")
    taken = _held_snapshot(order, env, slot, replaced=not folder.stands())
    report, invalid = find_report(agent.answer)
    broken = unreadable(agent.answer, invalid) if invalid is not None else None
    return _recorded(order, env, agent, taken, report, broken)


def _finished_before(order: AttemptOrder, env: AttemptEnvironment, finished: Finished) -> tuple[Work, Change]:
    """Return the work of an earlier attempt that the order starts from; nothing is run, and nothing is paid."""
    commit, plumbing = order.start, env.plumbing
    plumbing.refs.apply(RefUpdate(hold_ref(order.issue.id, str(order.number)), commit))
    real_folder(Path(order.directory), plumbing.repository.state_dir)
    tree = plumbing.tree(commit)
    diff = plumbing.diff(order.main, tree)
    taken = SlotSnapshot(Snapshot(commit, tree, commit, tree, diff.changes), diff.patch, diff.hash, changed=True)
    agent = AgentRun(0, None, EndedBy.ITSELF, 0.0, Usage(0.0, 0, 0))
    return _recorded(order, env, agent, taken, finished.report, None)


def _recorded(
    order: AttemptOrder,
    env: AttemptEnvironment,
    agent: AgentRun,
    taken: SlotSnapshot,
    report: WorkerReport | None,
    broken: UnreadableReport | None,
) -> tuple[Work, Change]:
    """Write down what was done, so that a noface that is killed now judges it and pays for nothing again."""
    directory = Path(order.directory)
    notes = (f"the worker's report is malformed: {broken.violation}",) if broken is not None else ()
    own = own_values(env, order.main, taken.snapshot, taken.patch[:PATCH_BYTES_MAX])
    patch, masked = keep_patches(order, env, taken, own)
    changed = taken.changed or ((order.by_person or order.unjudged) and bool(taken.snapshot.changes))
    snapshot = masked_snapshot(taken.snapshot, env.masker, own)
    work = Work(agent, snapshot, taken.patch_hash, changed, report, notes, broken)
    text = json.dumps(encode(work)).encode()
    put(directory / _WORK_FILE, _mark(order, text) + b"\n" + text)
    hit("snapshot_recorded")
    cut = len(patch) < len(taken.patch)
    return work, Change(taken.snapshot.changes, patch, masked, by_worker=changed, cut=cut)


def keep_patches(
    order: AttemptOrder, env: AttemptEnvironment, taken: SlotSnapshot, own: Collection[str]
) -> tuple[bytes, bytes]:
    """Write what an attempt changed, and what of it was undone, for people and prompts; `own` are secrets in it.

    Return the patch and its masked form.
    """
    patch = taken.patch[:PATCH_BYTES_MAX]
    directory = Path(order.directory)
    masked = masked_patch(env, order.main, patch, own)
    put(directory / _PATCH_FILE, masked)
    if taken.undone:
        put(directory / _UNDONE_FILE, masked_patch(env, order.main, taken.undone[:PATCH_BYTES_MAX], own))
    return patch, masked


def _held_snapshot(order: AttemptOrder, env: AttemptEnvironment, slot: Slot, *, replaced: bool) -> SlotSnapshot:
    """Take a snapshot of the slot, from the files anew where its objects were pruned before their ref held them."""
    before: list[int] = []

    def snapshot() -> SlotSnapshot:
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
            limits=limits_for(env, order),
            since=began(order),
            replaced=replaced,
        )
        hit("snapshot_taken")
        return hold_aside(env, order, taken)

    ref = hold_ref(order.issue.id, str(order.number))
    return make_and_hold(env.plumbing, ref, order.start, snapshot, lambda taken: taken.snapshot.candidate)


def limits_for(env: AttemptEnvironment, order: AttemptOrder) -> SlotLimits:
    """Return what a workspace may hold for an order: what its workers were told is left out they may leave again."""
    return replace(env.limits, wanted=env.limits.wanted.by(order.issue, told_of(order.earlier)))


def began(order: AttemptOrder) -> float:
    """Return when the worker of an order began, by the clock of the file system; 0.0 if that is not known."""
    try:
        return (Path(order.directory) / "order.json").stat().st_mtime
    except OSError:
        return 0.0


def hold_aside(env: AttemptEnvironment, order: AttemptOrder, taken: SlotSnapshot) -> SlotSnapshot:
    """Keep what a worker left that is no part of its change (law 2), but for secrets; return where it is kept."""
    aside, plumbing = taken.snapshot.aside, env.plumbing
    if aside is None:
        return taken
    tree = without_added_secrets(env, order.main, plumbing.tree(aside)).tree
    if tree != plumbing.tree(aside):
        aside = plumbing.commit_tree(tree, (order.start,), "What is no part of an attempt's change\n")
    plumbing.refs.apply(RefUpdate(hold_ref(order.issue.id, f"{ASIDE}{order.number}"), aside))
    return replace(taken, snapshot=replace(taken.snapshot, aside=aside))


def _restore_folder(directory: Path) -> None:
    """Make the attempt's folder again where the worker, which can reach it, removed or replaced it."""
    if directory.is_symlink() or not directory.is_dir():
        remove(directory)
        directory.mkdir(parents=True)


def _finished(order: AttemptOrder, env: AttemptEnvironment, work: Work, judged: Judgement) -> AttemptReport:
    """Return the report. The attempt's commits get their outcome trailer, and are kept by the attempt's ref."""
    snapshot, notes = judged.snapshot, (*work.snapshot.notes, *work.notes, *judged.notes)
    report: Interrupted | Judged
    if judged.interrupted:
        report = Interrupted(order.token, order.issue.id, order.number, work.agent, snapshot, judged.gates, notes)
    else:
        report = Judged(order.token, order.issue.id, order.number, work.agent, snapshot, judged.gates, notes)
        report = replace(report, failure=judged.failure, proof=judged.proof, doubts=judged.doubts)
    report = replace(report, patch_hash=work.patch_hash, worker=work.report)
    held = hold_outcome(order, env, snapshot, report.outcome)
    notes = (*notes, *(note for note in held.notes if note not in notes))
    finished = replace(report, snapshot=held, notes=notes)
    if isinstance(finished, Judged) and finished.proof is not None:
        finished = replace(finished, proof=replace(finished.proof, candidate=held.candidate))
    finished = masked_report(finished, env.masker)
    document = _NOT_JUDGED | encode(finished) | {"interrupted": judged.interrupted}
    put(Path(order.directory) / "report.json", json.dumps(document, indent=1))
    settle(env, order.directory)
    return finished


def hold_outcome(order: AttemptOrder, env: AttemptEnvironment, snapshot: Snapshot, outcome: str) -> Snapshot:
    """Commit a snapshot with the outcome of its attempt; return it as the attempt's ref holds it.

    It is held without secrets: those it has itself, and those in the history that it began on.
    """
    plumbing, message = env.plumbing, attempt_message(order, outcome)
    kept = clean(env, order.main, snapshot, proven=outcome == PASSED)
    start = order.start if history_failure(env, order.start) is None else order.main

    def commits() -> tuple[str, str]:
        commit = plumbing.commit_tree(kept.tree, (start,), message)
        if kept.candidate_tree == kept.tree:
            return commit, commit
        return commit, plumbing.commit_tree(kept.candidate_tree, (commit,), message)

    ref = hold_ref(order.issue.id, str(order.number))
    commit, candidate = make_and_hold(plumbing, ref, order.start, commits, lambda made: made[1])
    history_failure(env, candidate)  # here, in a thread, so that the loop need not read it
    return replace(kept, commit=commit, candidate=candidate)
