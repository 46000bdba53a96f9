"""Proves a tree: the gates, then main's judges (laws 1, 11). For an attempt, a landing, or several of them in a row.

An attempt takes the steps one by one; `prove` takes all. A cancel raises CutShort.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from noface.attempt.disk import as_disk_full
from noface.attempt.environment import Scope
from noface.attempt.gate_session import CutShort, GateTask
from noface.attempt.gating import Gating, Ran, Run, carried_out, gates_failure, named_tests
from noface.attempt.judges import JudgedChange, fewer, judged
from noface.attempt.parts import Parts
from noface.attempt.protected_files import reached
from noface.diagnosis.known_causes import HERE, access_refused, final_error_of
from noface.diagnosis.missing_library import missing_library
from noface.gates.run import OTHERS_SERVER, log_names
from noface.git.landings import own_messages
from noface.integrity.accepting import added, of_its_work, whole_scripts, without_place
from noface.integrity.inventory import files_of
from noface.integrity.tampering import CONTRADICTED
from noface.model.commit_message import fitting, form_advice, subject
from noface.model.failure import ACCESS, CHANGED_FILES, MESSAGE_REFUSED, Failure, is_of_project
from noface.model.gate import GateResult, GateSpec, Proof, all_hard_passed, worst
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.process.files import read_bounded

_FILES_MAX = 200
_SOURCE_BYTES_MAX = 1_000_000
_LOG_BYTES_MAX = 200_000
_NAMED_CHARS, _WORDS_MAX, _LAST_MAX = 40, 10, 3
_ADDRESS = re.compile(r"https?://")
_BELIEVED_S = 300.0
_BELIEVED_RUNS = 10
"""How long a pass on main counts, in seconds and in the gate's own runs: the longer of the two."""


@dataclass(frozen=True, slots=True)
class Unproven:
    """The evidence that a tree has no proof. `of_work`: its gates or judges say so, and not its slot or main itself."""

    failure: Failure
    of_work: bool = False


class Proving:
    """A tree on its way to a proof: what its gates say, and then main's judges. `ran` is there once the gates ran."""

    ran: Ran

    def __init__(self, scope: Scope, task: GateTask, gates: tuple[GateSpec, ...], issue: Issue) -> None:
        self.scope, self.task, self.gates, self.issue = scope, task, gates, issue
        self._gating = Gating(scope, task, gates)

    def run_gates(self) -> Ran:
        self.ran = self._gating.run()
        return self.ran

    @property
    def by_gates(self) -> Unproven | None:
        """What the gates have against the tree."""
        ran = self.ran
        if ran.failure is not None:
            return Unproven(ran.failure)
        if ran.fixed:
            name = ran.results[-1].gate.name
            message = f"gate {name} changes files of the work once it is merged with the present main"
            kind = FailureKind.MERGE_CONFLICT
            return Unproven(Failure(kind, message, rule=CHANGED_FILES, gate=name, charged=False))
        if (red := gates_failure(ran.results, self.gates)) is not None:
            return Unproven(red, of_work=True)
        if not all_hard_passed(self.gates, ran.results):
            message = "not every hard gate was run"
            return Unproven(Failure(FailureKind.ENVIRONMENT, message, rule="gates-missing", charged=False))
        return None

    def beside_main(self, failure: Failure, *, merged: bool = False) -> Unproven:
        """Return main's own failure at the gate that failed, if it has one; what only the tree lacks is charged to it.

        A person may have moved main to a commit that no gate has run on. Of work that is `merged` with main, what is
        charged to nobody stays so: it has passed alone.
        """
        task, memory, failed = self.task, self.scope.env.memory, worst(self.ran.results)
        if failed is not None and (refused := self._of_message(failed)) is not None:
            return Unproven(refused)
        on_main = None
        if failed is not None and task.known is None:
            lacking = failure.kind is FailureKind.ENVIRONMENT and failure.rule != OTHERS_SERVER
            if merged or failure.charged or lacking:
                on_main = self._main_is_red(failed)
            key = self.scope.env.key(self.scope.env.plumbing.tree(task.main), failed.gate)
            green = memory.green(key)
            first = green.first_failure if green is not None else None  # green now and then, which blames nobody
            by_name = green is not None and bool(green.unsteady) and first and first.kind != FailureKind.ENVIRONMENT
            if lacking and not merged and key in memory.main_passed and (first is None or by_name):
                note = f"the same gate passes on main ({task.main[:12]}), so the change is to blame"
                if not is_of_project(failure.rule):  # its rule is a person's, who knows what its line means
                    failure = replace(failure, charged=True, evidence=(*failure.evidence, note))
        if failed is not None and failed.gate.accept and (refused := self._refused_access(failed)) is not None:
            return Unproven(refused)
        of_accept = failed is not None and failed.gate.accept and not (merged or failure.charged)
        if failed is not None and of_accept and (why := self._of_accept(failed)):
            kind = failure.kind if missing_library(failure) is not None else FailureKind.RUNTIME_ERROR
            failure = replace(failure, kind=kind, charged=True, evidence=(*failure.evidence, why))
        if self.scope.cancel.cancelled:
            raise CutShort  # whether main fails as well was not seen
        return Unproven(on_main) if on_main is not None else Unproven(failure, of_work=True)

    def _refused_access(self, failed: GateResult) -> Failure | None:
        """Return that an `accept` ended with a 401 or 403 of the other machine that it, or its script, names."""
        cause = access_refused(_last_lines(failed), anybody=True) if failed.failure is not None else None
        command, plumbing = failed.gate.command, self.scope.env.plumbing
        scripts = plumbing.texts(self.task.tree, whole_scripts((command,), words_max=_WORDS_MAX), _SOURCE_BYTES_MAX)
        asked = "\n".join((command, *scripts.values()))
        if cause is None or failed.failure is None or HERE.search(asked) or not _ADDRESS.search(asked):
            return None
        message = f"gate {failed.gate.name}: {cause.cause} It ended with: {cause.line}"
        return replace(failed.failure, kind=FailureKind.ENVIRONMENT, message=message, rule=ACCESS, charged=False)

    def _of_message(self, failed: GateResult) -> Failure | None:
        """Return that a gate refuses how noface's own commit is worded; None if it is the work that it refuses.

        It names the message, and passes on the same files below the newest message of main's that a person wrote.
        """
        env, task, folder = self.scope.env, self.task, Path(failed.stdout_log).parent
        ours = env.messages.landing(self.issue, task.number).partition("\n")[0]
        said = "".join(read_bounded(folder / log, 0, _LOG_BYTES_MAX) for log in log_names(failed.gate))
        written = own_messages(env.plumbing, task.main) if ours[:_NAMED_CHARS] in said else ()
        if not written or failed.gate.accept:
            return None
        commit = env.plumbing.commit_tree(task.tree, (task.main,), written[0])
        other = replace(failed.gate, command=f"{failed.gate.command}\n# below another message")  # it proves nothing
        gating = Gating(self.scope, replace(task, shown=commit, logs=task.logs / "message"), self.gates)
        ran = gating.carry_out(Run(task.tree, (other,), anew=True, steady=False))
        if ran.failure is not None or worst(ran.results) is not None:
            return None
        theirs, form = subject(written[0].partition("\n")[0]), fitting(written)
        message = (
            f'gate {failed.gate.name} refuses the message of noface\'s commits ("{ours}"); below "{theirs}" it passes'
            f" on the same files: {form_advice(form) if form else 'set [landing] message'}"
        )
        return Failure(FailureKind.ENVIRONMENT, message, rule=MESSAGE_REFUSED, gate=failed.gate.name, charged=False)

    def _main_is_red(self, failed: GateResult) -> Failure | None:
        """Return the failure of main itself at the gate that `failed` on the tree; None if main passes it (law 8).

        The machine may have changed since it was green (a tool gone, a service down), so it runs once in a run, and
        again if that is long ago by the time it takes. An issue's own `accept` is red on main by right.
        """
        env, main = self.scope.env, self.task.main
        tree = env.plumbing.tree(main)
        key, now = env.key(tree, failed.gate), env.clock.now()
        green_at = env.memory.main_passed.get(key)
        believed_s = max(_BELIEVED_S, _BELIEVED_RUNS * failed.seconds)
        if failed.gate.accept or (green_at is not None and now < green_at + believed_s):
            return None
        ran = self._gating.carry_out(Run(tree, (failed.gate,), anew=True))
        red = worst(ran.results)
        if ran.failure is not None or red is None or red.failure is None:
            if ran.failure is None:
                env.memory.main_passed[key] = now
            return None
        cause = final_error_of(red.failure)
        if cause is not None and cause.disk_full:
            return as_disk_full(red.failure, cause)
        red_main = f"{env.plumbing.repository.main_name} itself is red at gate {red.gate.name} ({main[:12]})"
        failure = replace(
            red.failure,
            kind=FailureKind.BASELINE_RED,
            message=f"{red_main}: {named_tests(red)}{red.failure.message}",
            rule="main-is-red",
            charged=False,
        )
        env.memory.note_main(tree, failure)
        return failure

    def _of_accept(self, failed: GateResult) -> str:
        """Say why the work is to blame for what its own `accept` misses, with main's own run beside it; "" if not."""
        env, task = self.scope.env, self.task
        main, plumbing = env.plumbing.tree(task.main), env.plumbing
        red = worst(self._gating.carry_out(Run(main, (failed.gate,), steady=False)).results)
        changed = tuple(change.path for change in plumbing.changes(task.main, task.tree))[:_FILES_MAX]
        before, now = (plumbing.texts(tree, changed, _SOURCE_BYTES_MAX) for tree in (main, task.tree))
        new = {path: added(before.get(path, ""), text) for path, text in now.items()}
        slot, paths = str(env.gate_slot(task.name).path), frozenset(plumbing.paths(task.tree))
        missed = without_place(failed.failure, (env.seen(slot), slot)) if failed.failure is not None else None
        on_main = red.failure if red is not None else None
        return of_its_work(missed, on_main, failed.gate.command, new, paths) if missed is not None else ""

    def judged(self, taken: tuple[str, ...] = ()) -> Failure | None:
        return carried_out(judged(self._change(taken)), self._gating.carry_out)

    def fewer(self) -> tuple[str, ...] | None:
        return carried_out(fewer(self._change()), self._gating.carry_out)

    def _change(self, taken: tuple[str, ...] = ()) -> JudgedChange:
        env, main, tree = self.scope.env, self.task.main, self.task.tree
        plumbing, now = env.plumbing, env.clock.now()
        by_id = tuple(gate for gate in self.gates if gate.of_tests and gate.command not in env.memory.plain)
        on_main = self._gating.carry_out(Run(plumbing.tree(main), by_id, named=True)) if by_id else Ran("", ())
        parts = Parts(plumbing, main, reached(plumbing, main, self.gates), files_of(on_main.tests.values()), tree)
        unsteady = {gate.command: frozenset(env.memory.unsteady(gate.command, now)) for gate in by_id}
        only_new = self.task.known is not None
        return JudgedChange(plumbing, parts, tree, self.issue, self.gates, on_main, unsteady, only_new, taken)

    @property
    def proof(self) -> Proof:
        ran, task = self.ran, self.task
        keys = tuple(self.scope.env.key(ran.tree, result.gate) for result in ran.results)
        return Proof(ran.tree, task.main, task.commit, ran.results, keys)


def _last_lines(failed: GateResult) -> list[str]:
    folder = Path(failed.stdout_log).parent
    texts = (read_bounded(folder / log, 0, _LOG_BYTES_MAX) for log in log_names(failed.gate))
    return [line for text in texts for line in [each for each in text.splitlines() if each.strip()][-_LAST_MAX:]]


def prove(proving: Proving, *, judged: bool = True, let: frozenset[str] | None = None) -> Proof | Unproven:
    """Return the proof of a tree, or the evidence that it has none.

    Main's judges are not asked unless it is to be `judged`; they may be contradicted in the tests that it was `let` to.
    """
    proving.run_gates()
    unproven = proving.by_gates
    if unproven is not None:
        asks_main = unproven.of_work and proving.task.steady
        return proving.beside_main(unproven.failure, merged=True) if asks_main else unproven
    failure = proving.judged(tuple(let or ())) if judged else None
    is_let = failure is not None and failure.rule == CONTRADICTED and let is not None
    if failure is not None and not (is_let and let is not None and let >= {*failure.failing_tests}):
        return Unproven(failure, of_work=True)
    return proving.proof
