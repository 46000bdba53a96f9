"""Proves a tree: the gates, then main's judges (laws 1, 11). For an attempt, a landing, or several of them in a row.

Whoever has the steps between the two (what gates wrote, work that is half done) takes them one by one; `prove` takes
both. A cancel raises CutShort.
"""

from dataclasses import dataclass, field

from noface.attempt.gate_session import CutShort, blamed
from noface.attempt.gating import Gated, gates_failure
from noface.attempt.judges import Judges
from noface.integrity.tampering import CONTRADICTED
from noface.model.failure import CHANGED_FILES, Failure
from noface.model.gate import GateResult, Proof, all_hard_passed, worst
from noface.model.taxonomy import FailureKind


@dataclass(frozen=True, slots=True)
class Unproven:
    """The evidence that a tree has no proof. `of_work`: its gates or judges say so, and not its slot or main itself."""

    failure: Failure
    of_work: bool = False


@dataclass(slots=True)
class Proving(Judges):
    """A tree on its way to a proof: what its gates say, and then main's judges. `gated` is there once the gates ran."""

    gated: Gated = field(init=False)

    def run_gates(self) -> Gated:
        """Run the gates, unless their results are known."""
        self.gated = self.run()
        return self.gated

    @property
    def by_gates(self) -> Unproven | None:
        """What the gates have against the tree."""
        gated = self.gated
        if gated.failure is not None:
            return Unproven(gated.failure)
        if gated.fixed:
            return Unproven(_to_be_fixed(gated.results[-1]))
        if (red := gates_failure(gated.results, self.gates)) is not None:
            return Unproven(red, of_work=True)
        if not all_hard_passed(self.gates, gated.results):
            missing = Failure(
                FailureKind.ENVIRONMENT, "not every hard gate was run", rule="gates-missing", charged=False
            )
            return Unproven(missing)
        return None

    def beside_main(self, failure: Failure, *, merged: bool = False) -> Unproven:
        """Return main's own failure at the gate that failed, if it has one; what only the tree lacks is charged to it.

        If that was not asked before: a person may have moved main to a commit that no gate has run on. Of work that is
        `merged` with main it is always asked, and what is charged to nobody stays so: it has passed alone.
        """
        scope, task, env = self.scope, self.task, self.scope.env
        failed, on_main = worst(self.gated.results), None
        if failed is not None and task.known is None:
            key = env.key(env.plumbing.tree(task.main), failed.gate)
            unknown = failure.kind is FailureKind.ENVIRONMENT and key not in env.memo
            on_main = self.main_is_red(failed) if merged or failure.charged or unknown else None
            if unknown and not merged and key in env.gate_facts.main_green:
                failure = blamed(failure, task.main)
        if scope.cancel.cancelled:
            raise CutShort  # whether main fails as well was not seen
        return Unproven(on_main) if on_main is not None else Unproven(failure, of_work=True)

    @property
    def proof(self) -> Proof:
        """The proof that the gates have passed on the tree; whoever takes it has asked both."""
        env, gated, task = self.scope.env, self.gated, self.task
        keys = tuple(env.key(gated.tree, result.gate) for result in gated.results)
        return Proof(gated.tree, task.main, task.commit, gated.results, keys)


def prove(proving: Proving, *, judged: bool = True, let: frozenset[str] | None = None) -> Proof | Unproven:
    """Return the proof of a tree, or the evidence that it has none.

    If it alters its judges it must be green with main's as well, unless it need not be `judged`, or it contradicts but
    those tests of main that it was `let` to. Main is asked if the task asks how steady a failure is.
    """
    proving.run_gates()
    unproven = proving.by_gates
    if unproven is not None:
        asks_main = unproven.of_work and proving.task.steady
        return proving.beside_main(unproven.failure, merged=True) if asks_main else unproven
    failure = proving.failure() if judged else None
    if failure is not None and not (
        failure.rule == CONTRADICTED and let is not None and let >= {*failure.failing_tests}
    ):
        return Unproven(failure, of_work=True)
    return proving.proof


def _to_be_fixed(result: GateResult) -> Failure:
    """Return the failure of work that a gate with `fixes` changes once more after main moved: it is done again."""
    message = f"gate {result.gate.name} changes files of the work once it is merged with the present main"
    return Failure(FailureKind.MERGE_CONFLICT, message, rule=CHANGED_FILES, gate=result.gate.name, charged=False)
