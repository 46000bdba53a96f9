"""What main's judges ask for and say of a change, with gates that a table plays: no program runs."""

import pytest
from support.cases import cases
from support.git_ground import git, write

from noface.attempt.gating import Ran, carried_out
from noface.attempt.judges import JudgedChange, fewer, judged
from noface.attempt.parts import Parts
from noface.attempt.protected_files import Reached
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.integrity.inventory import Outcome, inventory
from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind

UNIT = GateSpec("unit", "unit")
TESTS = "def test_half: assert half == 3\ndef test_twice: assert twice == 4\n"
MAIN = {"calc.py": "half == 3\ntwice == 4\n", "tests/test_calc.py": TESTS, "pytest.ini": "", "seen.txt": ""}
EACH = "a test for each line"
LESS = "half == 2\ntwice == 4\n"
ASKS_LESS = TESTS.replace("half == 3", "half == 2")


class Gates:
    """Plays the gate: a test passes if the product says what it asserts. Its runs are counted."""

    def __init__(self, plumbing):
        self.plumbing, self.trees, self.known = plumbing, [], {}

    def __call__(self, run):
        if run.tree in self.known and not run.anew:
            return self.known[run.tree]
        self.trees.append(run.tree)
        files = self.plumbing.texts(run.tree, tuple(self.plumbing.paths(run.tree)), 1 << 20)
        self.known[run.tree] = ran = self.ran(run.tree, files)
        return ran

    def ran(self, tree, files):
        tests = [line for name, text in files.items() if name.startswith("tests/") for line in text.splitlines()]
        each = files["pytest.ini"] == EACH
        chosen = [line for line in tests if each or files["pytest.ini"] in line]
        outcomes = [(f"tests/test_calc.py::{line.split()[-5][:-1]}", self.outcome(line, files)) for line in chosen]
        failing = tuple(name for name, outcome in outcomes if outcome is Outcome.FAILED)
        red = failing or (each and len(outcomes) < len(files["calc.py"].splitlines()))
        failure = Failure(FailureKind.TEST_FAILURE, "red", rule="r", failing_tests=failing) if red else None
        result = GateResult(UNIT, tree, int(bool(red)), 1.0, failing_tests=failing, failure=failure)
        return Ran(tree, (result,), tests={UNIT.command: inventory(outcomes, "pytest")})

    def outcome(self, line, files):
        if line.startswith("skip"):
            return Outcome.SKIPPED
        return Outcome.PASSED if line.partition("assert ")[2] in files["calc.py"].splitlines() else Outcome.FAILED


@pytest.fixture
def ground(tmp_path):
    """Judge a change of main, and return the rule of what speaks against it and how many runs that took."""
    git(tmp_path, "init", "-q", "-b", "main")
    made = []

    def commit(files):
        write(tmp_path, files)
        git(tmp_path, "add", "-A")
        git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")

    def change(files, main=(), **front):
        commit(MAIN | dict(main))
        plumbing = Plumbing(discover(tmp_path, "main"))
        made.append(plumbing)
        gates, base = Gates(plumbing), plumbing.main()
        commit(files)
        tree, on_main = git(tmp_path, "rev-parse", "HEAD^{tree}"), gates.ran(plumbing.tree(base), MAIN | dict(main))
        gates.known[plumbing.tree(base)] = on_main
        parts = Parts(plumbing, base, Reached(frozenset()), {"tests/test_calc.py"}, tree)
        gates.known[tree] = gates.ran(tree, plumbing.texts(tree, tuple(plumbing.paths(tree)), 1 << 20))
        return JudgedChange(plumbing, parts, tree, Issue("1", "x", **front), (UNIT,), on_main), gates

    yield change
    for plumbing in made:
        plumbing.close()


@cases(
    ("files", "rule", "runs"),
    [
        ({"calc.py": MAIN["calc.py"] + "thrice == 6\n"}, "", 0),  # no judge is touched
        ({"tests/test_calc.py": TESTS + "def test_new: assert half == 3\n"}, "", 0),  # with main's tests it is main
        ({"calc.py": LESS, "tests/test_calc.py": ASKS_LESS}, "tests-contradicted", 2),  # red counts only twice
        ({"calc.py": LESS, "pytest.ini": "twice"}, "judge-altered", 2),
        ({"tests/test_calc.py": TESTS.splitlines()[1]}, "", 0),  # the diff's rules tell that
        ({"tests/test_calc.py": f"{TESTS}skip def test_new: assert half == 9\n"}, "tests-missing", 0),
        ({"tests/test_calc.py": TESTS.replace("def test_half", "skip def test_half")}, "tests-missing", 0),
    ],
)
def test_what_main_s_judges_say_of_a_change(ground, files, rule, runs):
    change, gates = ground(files)
    failure = carried_out(judged(change), gates)
    assert (failure.rule if failure is not None else "") == rule
    assert len(gates.trees) == runs


def test_a_threshold_that_only_the_change_s_own_tests_meet_is_no_judge_of_main_s(ground):
    more = {"calc.py": MAIN["calc.py"] + "thrice == 6\n", "tests/test_more.py": "def test_thrice: assert thrice == 6\n"}
    change, gates = ground(more, {"pytest.ini": EACH})
    assert carried_out(judged(change), gates) is None
    assert carried_out(fewer(change), gates) == ()


def test_an_issue_that_is_about_the_tests_may_take_one_away(ground):
    change, gates = ground({"tests/test_calc.py": TESTS.splitlines()[1]}, may_change=("tests/**",))
    assert carried_out(judged(change), gates) is None
    assert carried_out(fewer(change), gates) == ("tests/test_calc.py::test_half",)
