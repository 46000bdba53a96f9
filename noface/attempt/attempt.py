"""An attempt as an object: its order, what it is carried out with, and on its way to a verdict what was found."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from noface.attempt.changes import Change, change_of, history_failure, own_values, without_added_secrets
from noface.attempt.environment import AttemptEnvironment, Scope, put
from noface.attempt.gate_session import GateTask
from noface.attempt.prove import Proving
from noface.errors import GitError
from noface.gates.secrets import shown_path
from noface.git.left_in_git import NO_BRANCH, STASH
from noface.git.plumbing import Plumbing, make_and_hold
from noface.git.refs import RefUpdate, branch_name, hold_ref
from noface.git.set_aside import ASIDE_MESSAGE
from noface.git.snapshot import SlotLimits, SlotSnapshot, forget_index, take
from noface.git.workspace import Slot
from noface.integrity.leftovers import LEFT_IN
from noface.integrity.not_taken import earlier_notes
from noface.integrity.unasked.finding import Unasked
from noface.model.attempt import MET, AttemptOrder, FileChange, Snapshot, Work
from noface.model.failure import Failure, PriorFailure
from noface.model.gate import GateResult, GateSpec, Proof
from noface.model.issue import Issue
from noface.model.quoting import some
from noface.model.scratch import ASIDE, IN_GIT
from noface.model.taxonomy import PASSED
from noface.process.failpoints import hit
from noface.secrets.masked_records import named_anew

PATCH_FILE = "diff.patch"
_NAMED_MAX = 3


def named(in_git: tuple[tuple[str, str], ...]) -> str:
    """Name what a worker's own git held, each with the command that brings it into a workspace."""
    ways = ((what, "stash apply" if what == STASH else "merge --squash", commit[:12]) for what, commit in in_git)
    return some(tuple(f"{what} (`git {way} {commit}`)" for what, way, commit in ways), _NAMED_MAX)


@dataclass(slots=True)
class Attempt:
    """An order with what it is carried out with. A question to a model is one as well: its order names its role."""

    order: AttemptOrder
    scope: Scope

    @property
    def env(self) -> AttemptEnvironment:
        return self.scope.env

    @property
    def plumbing(self) -> Plumbing:
        return self.scope.env.plumbing

    @property
    def issue(self) -> Issue:
        return self.order.issue

    @property
    def folder(self) -> Path:
        return Path(self.order.directory)

    @property
    def ref(self) -> str:
        """What holds the attempt's work (law 2)."""
        return hold_ref(self.issue.id, str(self.order.number))

    def limits(self, answer: str = "") -> SlotLimits:
        """Return what its workspace may hold: what workers were told is left out they may leave again, and ask for."""
        words = "\n".join((earlier_notes(self.order.earlier), self.asked(answer)))
        wanted = self.env.limits.wanted.by(self.issue, words, self.env.memory.made)
        return replace(self.env.limits, wanted=wanted)

    @property
    def reminded(self) -> PriorFailure | None:
        """The newest attempt that passed, and whose worker was told what it may have forgotten or what was left out."""
        return next((each for each in reversed(self.order.earlier) if each.rule == LEFT_IN), None)

    def asked(self, answer: str) -> str:
        return answer if self.reminded is not None else ""

    @property
    def began(self) -> float:
        """When its worker began, by the clock of the file system; 0.0 if that is not known."""
        try:
            return (self.folder / "order.json").stat().st_mtime
        except OSError:
            return 0.0

    def progress(self, phase: str, text: str) -> None:
        self.scope.progress(self.issue.id, self.order.number, phase, text)

    def message(self, outcome: str = "") -> str:
        trailers = [f"Noface-Issue: {self.issue.id}", f"Noface-Attempt: {self.order.number}"]
        if outcome:
            trailers.append(f"Noface-Outcome: {outcome}")
        return self.env.messages.of(self.issue, "", trailers)

    def commit(self, tree: str, parent: str) -> str:
        made = self.plumbing.commit_tree
        return make_and_hold(self.plumbing, self.ref, lambda: made(tree, (parent,), self.message()), str)

    def task(self, tree: str, commit: str, main: str) -> GateTask:
        """Return what to gate: `tree`, which is that of `commit` merged with `main`."""
        order, logs = self.order, self.folder / "gates"
        return GateTask(
            *(self.issue.id, order.number, order.token, str(order.slot), tree, commit, main, logs),
            order.known_failures,
            repeats=order.repeats,
            shown=self.env.as_landed(self.issue, order.number, tree, main) if commit != main else "",
        )

    def keep_patches(self, taken: SlotSnapshot) -> tuple[Change, frozenset[str]]:
        """Write what it changed; return the change, and which of the secrets in it stand on main already."""
        env, main = self.env, self.order.main
        change = change_of(env, main, taken.snapshot.changes, taken.patch, by_worker=taken.changed)
        put(self.folder / PATCH_FILE, change.masked)
        return change, own_values(env, main, named_anew(taken.snapshot))

    def take(self, slot: Slot, outcome: str = "", *, replaced: bool = False, answer: str = "") -> SlotSnapshot:
        """Take a snapshot of the slot; `replaced`: its folder is not the one that the worker was given."""
        order = self.order
        return take(
            self.plumbing,
            slot,
            start=order.start,
            main=order.main,
            message=self.message(outcome),
            protection=order.protection,
            limits=self.limits(answer),
            since=self.began,
            replaced=replaced,
        )

    def take_held(self, slot: Slot, *, replaced: bool, answer: str = "") -> SlotSnapshot:
        """Take a snapshot that is held, from the files anew if its objects were pruned before their ref held them."""
        again = False

        def snapshot() -> SlotSnapshot:
            nonlocal again
            if again:
                forget_index(slot)
            again = True
            taken = self.take(slot, replaced=replaced, answer=answer)
            hit("snapshot_taken")
            return self.with_rest_held(taken)

        return make_and_hold(self.plumbing, self.ref, snapshot, lambda taken: taken.snapshot.candidate)

    def with_rest_held(self, taken: SlotSnapshot) -> SlotSnapshot:
        """Keep what a worker left that is no part of its change (law 2), but for secrets; return where it is kept."""
        aside, number, held, notes = taken.snapshot.aside, self.order.number, list[tuple[str, str]](), list[str]()
        if aside is not None:
            aside = self._held(f"{ASIDE}{number}", aside)
        for place, (what, commit) in enumerate(taken.snapshot.in_git):
            try:
                held.append((what, self._held(f"{IN_GIT}{number}-{place}", commit)))
            except GitError as error:
                notes.append(f"{what} in the worker's own git could not be kept: {error.message}")
        usual = (NO_BRANCH, f"the branch {branch_name(self.issue.id)}")  # who works on may leave such behind
        telling = tuple(one for one in held if one[0] not in usual)
        notes += [f"kept of the worker's own git: {named(telling)}"] if telling else []
        notes = [*dict.fromkeys((*taken.snapshot.notes, *notes))]  # a host has told them already
        snapshot = replace(taken.snapshot, aside=aside, in_git=tuple(held), notes=tuple(notes))
        return replace(taken, snapshot=snapshot)

    def _held(self, name: str, commit: str) -> str:
        """Have a ref hold a commit; if it, or its history, has secrets, one of its files without them. Return it."""
        plumbing, order = self.plumbing, self.order
        if history_failure(self.env, commit) is not None:
            tree = without_added_secrets(self.env, order.main, plumbing.tree(commit))[0]
            commit = plumbing.commit_tree(tree, (order.start,), ASIDE_MESSAGE)
        plumbing.refs.apply(RefUpdate(hold_ref(self.issue.id, name), commit))
        return commit

    def hold_outcome(self, snapshot: Snapshot, outcome: str) -> Snapshot:
        """Commit a snapshot with the outcome, without secrets of its own or of its history; return it as held."""
        env, plumbing, order = self.env, self.plumbing, self.order
        kept = self._clean(snapshot, proven=outcome == PASSED)
        start = order.start if history_failure(env, order.start) is None else order.main

        def commits() -> tuple[str, str]:
            commit = plumbing.commit_tree(kept.tree, (start,), self.message(outcome))
            if kept.candidate_tree == kept.tree:
                return commit, commit
            return commit, plumbing.commit_tree(kept.candidate_tree, (commit,), self.message(outcome))

        commit, candidate = make_and_hold(plumbing, self.ref, commits, lambda made: made[1])
        history_failure(env, candidate)  # here, in a thread, so that the loop need not read it
        return replace(kept, commit=commit, candidate=candidate)

    def _clean(self, snapshot: Snapshot, *, proven: bool) -> Snapshot:
        """Return a snapshot whose trees add no secret; what is `proven` adds none, but for what was put back."""
        if proven and snapshot.candidate_tree == snapshot.tree:
            return snapshot
        tree, met = without_added_secrets(self.env, self.order.main, snapshot.tree)
        candidate = snapshot.candidate_tree if proven else tree
        if not proven and snapshot.candidate_tree != snapshot.tree:
            candidate, others = without_added_secrets(self.env, self.order.main, snapshot.candidate_tree)
            met = met or others
        named = dict.fromkeys(f"{secret.type} in {shown_path(secret.path, self.env.masker)}" for secret in met)
        note = f"{MET}: {some(tuple(named), 5)}; what is kept of the work is without it"
        notes = (*snapshot.notes, note) if met else snapshot.notes
        return replace(snapshot, tree=tree, candidate_tree=candidate, notes=notes)


@dataclass(slots=True)
class Judging(Attempt):
    """An attempt whose worker has ended, on its way to a verdict: the checks of `judge` fill it in.

    `snapshot` is that of the work, with what gates with `fixes` have added to it; `nothing` is the failure of a worker
    that changed nothing, and such work is `ungated` if no gate has judged it before. `suspicion` is what the gates have
    yet to confirm. `proving` has the results of the gates; if it is not `provable`, the landing makes the proof.
    Without a `failure` it has passed, unless it was `interrupted`. `laid_out` are changes that were taken out, since
    they say nothing new. `unasked` is what it does beyond its issue, and was not put right. `doubts`: see `Judged`.
    """

    work: Work
    change: Change
    laid_out: tuple[FileChange, ...] = ()
    unasked: tuple[Unasked, ...] = ()
    nothing: Failure | None = None
    ungated: bool = False
    suspicion: Failure | None = None
    provable: bool = True
    proving: Proving = field(init=False)
    snapshot: Snapshot = field(init=False)
    gates: tuple[GateResult, ...] = ()
    failure: Failure | None = None
    proof: Proof | None = None
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.snapshot = self.work.snapshot

    @property
    def idle(self) -> Failure | None:
        """The failure of a worker that changed nothing, unless no gate has judged what it was given."""
        return None if self.ungated else self.nothing

    def prove(self, tree: str, main: str, *, commit: str = "", gates: tuple[GateSpec, ...] | None = None) -> Proving:
        task = self.task(tree, commit or self.snapshot.candidate, main)
        return Proving(self.scope, task, self.order.gates if gates is None else gates, self.issue)
