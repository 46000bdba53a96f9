"""Runs the gates of a task that is judged on other trees, which are made for a question, and knows what they ran."""

from dataclasses import dataclass, field, replace

from noface.attempt.environment import GateFacts
from noface.attempt.gating import Gated, Gating
from noface.attempt.parts import Parts
from noface.git.plumbing import Plumbing
from noface.integrity.inventory import Inventory
from noface.model.gate import GateKind, GateSpec
from noface.model.issue import Issue


@dataclass(slots=True)
class Trial(Gating):
    """A task whose tree is judged. What runs a gate raises CutShort if a cancel ends it.

    Of several issues whose work the tree holds, `issue` is what they are together (`joined`). `parts` are main's.
    """

    issue: Issue
    parts: Parts = field(init=False)

    @property
    def plumbing(self) -> Plumbing:
        """The repository."""
        return self.scope.env.plumbing

    @property
    def facts(self) -> GateFacts:
        """What is known of the gates."""
        return self.scope.env.gate_facts

    @property
    def main_tree(self) -> str:
        """The tree of main."""
        return self.plumbing.tree(self.task.main)

    @property
    def test_gates(self) -> tuple[GateSpec, ...]:
        """The hard gates that run the project's tests."""
        return tuple(gate for gate in self.gates if gate.of_tests)

    @property
    def by_id(self) -> tuple[GateSpec, ...]:
        """Those of them that can name their tests."""
        return tuple(gate for gate in self.test_gates if gate.command not in self.facts.plain)

    def known(self, tree: str, gate: GateSpec) -> Inventory | None:
        """Return which tests a gate ran on a tree, None if that is not known."""
        return self.facts.inventories.get((tree, gate.command))

    def inventory(self, tree: str, gate: GateSpec) -> Inventory | None:
        """Return the same; the gate runs if that is not known, as after a restart."""
        key = (tree, gate.command)
        if key not in self.facts.inventories and key not in self.facts.asked:
            self.run_on(tree, (gate,), on_main=tree == self.main_tree)
        self.facts.asked.add(key)
        return self.facts.inventories.get(key)

    def run_on(
        self, tree: str, gates: tuple[GateSpec, ...], *, on_main: bool = False, anew: bool = False, steady: bool = True
    ) -> Gated:
        """Run gates, and the builds before them, on a tree that is not the task's own.

        If it is not `steady`, no red test runs again. `anew`: nothing that is known counts.
        """
        scope, task = self.scope, self.task
        builds = tuple(g for g in self.gates if g.kind is GateKind.BUILD and g.hard and g not in gates)
        scope.progress(task.issue_id, task.number, "gate", "once more, as main's own tests see it")
        folder, commit = ("main", task.main) if on_main else ("judges", task.commit)
        other = replace(task, tree=tree, commit=commit, logs=task.logs / folder, steady=steady)
        unknown = any(self.known(tree, gate) is None for gate in gates if gate.kind is GateKind.TEST)
        return Gating(scope, other, (*builds, *gates)).run(anew=anew or unknown)
