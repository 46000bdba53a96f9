"""A tree is proven by its gates and by main's judges, for one issue or for several whose work it holds."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.project import PYTEST
from support.run_parts import run_parts

from noface.attempt.gate_memory import GateMemory
from noface.attempt.gate_session import GateTask
from noface.attempt.prove import Proving, Unproven, prove
from noface.engine.preflight import preflight
from noface.model.gate import Proof
from noface.model.issue import Issue, joined
from noface.model.taxonomy import FailureKind
from noface.process.supervise import Canceller

GOOD = "def half(number):\n    return number // 2\n"
TEST = "from calc import half\n\n\ndef test_half():\n    assert half(7) == 3\n"
ASKED = Issue("1", "half is exact", "half(7) is 3.5.", may_change=("tests/test_calc.py",))
OTHER = Issue("2", "There is twice")
EXACT = {"calc.py": GOOD.replace("//", "/"), "tests/test_calc.py": TEST.replace("7) == 3", "7) == 3.5")}
TWICE = {"more.py": "def twice(number):\n    return number * 2\n"}


@pytest.fixture
def proven(project):
    """Prove a tree with these files, as the work of these issues."""
    project.write("calc.py", GOOD)
    project.write("tests/test_calc.py", TEST)
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    project.config(gate=PYTEST)
    project.commit()
    with run_parts(project.path) as context:
        for result in preflight(context, Canceller()):
            context.env.memory.remember(context.env.key(result.tree, result.gate), result)

        def made(files, *issues, forget=False):
            if forget:
                context.env = replace(context.env, memory=GateMemory())
            main = context.env.plumbing.main()
            for path, text in files.items():
                project.write(path, text)
            project.git("add", "-A")
            tree = project.git("write-tree")
            project.git("reset", "-q", "--hard")
            commit = project.git("commit-tree", tree, "-p", main, "-m", "work")
            logs = Path(context.settings.attempts_dir) / "together"
            task = GateTask("1", 1, "together", "land", tree, commit, main, logs)
            gates = context.gates_for(issues[0])
            return tree, prove(Proving(context.scope(Canceller()), task, gates, joined(issues)))

        yield made


@pytest.mark.thorough
def test_a_tree_is_proven_for_all_issues_whose_work_it_holds_or_for_none(proven):
    tree, proof = proven(EXACT | TWICE, ASKED, OTHER)
    assert isinstance(proof, Proof)
    assert proof.tree == tree

    _, alone = proven(EXACT | TWICE, OTHER)
    assert isinstance(alone, Unproven)
    assert alone.of_work
    assert "tests/test_calc.py" in alone.failure.message


@pytest.mark.thorough
def test_what_is_charged_to_nobody_stays_so_once_it_is_merged(proven):
    """The work has passed alone: what is missing beside main, which nobody may have run, is not the worker's."""
    _, red = proven({"calc.py": f"import surely_not_installed\n{GOOD}"}, OTHER, forget=True)
    assert (red.failure.kind, red.failure.charged) == (FailureKind.ENVIRONMENT, False)
