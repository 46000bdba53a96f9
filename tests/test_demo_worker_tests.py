"""How the repair worker runs tests and where it looks for the fault."""

import ast
import contextlib
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest
from support.repair_ground import BROKEN, DOUBLE_TEST, PYTEST, contents, order_of, repair, small_project

from noface.demo import forkserver
from noface.demo.command import parse_pytest
from noface.demo.edits import Source
from noface.demo.localise import Suspicion, ochiai, repairable, with_imported
from noface.demo.oracle import PytestOracle
from noface.demo.outcome import Outcome, Verdict
from noface.demo.scratch import Scratch


@pytest.fixture
def project(tmp_path):
    return partial(small_project, tmp_path)


def test_ochiai_ranks_what_only_failing_tests_run_above_what_all_run():
    lines = {"bad": {"m.py": (1, 2, 3)}, "good": {"m.py": (1, 2)}, "other": {"m.py": (1,)}}
    ranked = ochiai(lines, frozenset({"bad"}))
    assert ranked[("m.py", 3)] == 1.0
    assert ranked[("m.py", 3)] > ranked[("m.py", 2)] > ranked[("m.py", 1)]
    assert ranked[("m.py", 2)] == pytest.approx(1 / 2**0.5)


def test_the_faulty_line_of_a_traced_run_is_on_top(project):
    text = "def grade(n):\n    if n > 90:\n        return 'A'\n    if n > 50:\n        return 'C'\n    return 'F'\n"
    tests = "from m import grade\n\n" + "\n".join(
        f"def test_{n}():\n    assert grade({n}) == {g!r}\n" for n, g in [(95, "A"), (70, "B"), (10, "F")]
    )
    root = project(files={"m.py": text, "tests/test_m.py": tests})
    oracle = PytestOracle(parse_pytest(f"{PYTEST} tests", root), root)
    outcome = oracle.run(trace=True)
    oracle.close()
    assert outcome.failed == {"tests/test_m.py::test_70"}
    ranked = {line: value for (path, line), value in ochiai(outcome.lines, outcome.failed).items() if path == "m.py"}
    assert max(ranked, key=ranked.get) == 5


def test_a_constant_is_nearly_as_suspicious_as_the_line_that_uses_it():
    source = Source("m.py", b"LIMIT = 3\nOTHER = 4\n\n\ndef f(n):\n    return n > LIMIT\n")
    suspicion = with_imported(Suspicion({("m.py", 6): 1.0}), source)
    assert suspicion.of(source, 6) > suspicion.of(source, 1) > suspicion.of(source, 2) > 0
    assert suspicion.of(source, 5) == 0


def test_tests_and_files_outside_the_issues_paths_are_not_repaired():
    assert repairable("lib/a.py", (), set())
    assert repairable("lib/a.py", ("lib",), set())
    assert repairable("lib/a.py", ("lib/*.py",), set())
    assert not repairable("lib/a.py", ("other",), set())
    for path in (
        "tests/helper.py",
        "acceptance/x.py",
        "lib/test_a.py",
        "lib/a_test.py",
        "lib/conftest.py",
        "lib/a.txt",
    ):
        assert not repairable(path, (), set())
    assert not repairable("check.py", (), {"check.py"})


def test_a_mutant_that_loops_for_ever_is_ended_and_tells_where_it_was(project):
    looping = "def spin():\n    n = 0\n    while True:\n        n += 1\n"
    test = "from loops import spin\n\ndef test_fine():\n    pass\n\ndef test_spin():\n    spin()\n"
    root = project(files={"loops.py": looping, "tests/test_l.py": test})
    oracle = PytestOracle(parse_pytest(f"{PYTEST} tests", root), root)
    outcome = oracle.run_tests(("tests",), 0.5, trace=True)
    again = oracle.run_tests(("tests/test_l.py::test_fine",), 0.5, trace=False)
    oracle.close()
    assert outcome.ended == "cpu"
    assert not outcome.green
    assert outcome.tests["tests/test_l.py::test_spin"].outcome == "unfinished"
    assert set(outcome.lines["tests/test_l.py::test_spin"]["loops.py"]) >= {3, 4}
    assert again.green


def test_a_candidate_that_sleeps_starts_processes_or_eats_memory_is_ended(project):
    test = (
        "import os, subprocess, time\n\ndef test_sleep():\n    child = subprocess.Popen(['sleep', '300'])\n"
        "    open('new', 'w').write(str(child.pid))\n    os.replace('new', 'child')\n    time.sleep(300)\n\n"
        "def test_memory():\n    b'x' * (3 * 2**30)\n"
    )
    root = project(files={"tests/test_h.py": test})
    oracle = PytestOracle(parse_pytest(f"{PYTEST} tests", root), root)
    hungry = oracle.run_tests(("tests/test_h.py::test_memory",), 2.0, trace=False)
    wall_s = 0.1
    while not (root / "child").exists():  # a busy machine may not come to starting it in time
        asleep = oracle.run_tests(("tests/test_h.py::test_sleep",), wall_s, trace=False)
        assert asleep.ended == "wall"
        wall_s *= 2
    oracle.close()
    assert hungry.tests["tests/test_h.py::test_memory"].message.startswith("MemoryError")
    pid = int((root / "child").read_text())
    deadline = time.monotonic() + 10
    with contextlib.suppress(psutil.NoSuchProcess):
        while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_a_candidate_that_leaves_pytest_by_force_has_not_passed(project):
    root = project(files={"tests/test_e.py": "import os\n\ndef test_e():\n    os._exit(0)\n"})
    oracle = PytestOracle(parse_pytest(f"{PYTEST} tests", root), root)
    outcome = oracle.run()
    oracle.close()
    assert not outcome.green
    assert outcome.passed == frozenset()


def test_each_run_sees_the_text_of_its_own_candidate_even_within_a_second(project):
    root = project(
        files={
            "lib.py": "def f():\n    return 1\n",
            "tests/test_l.py": "from lib import f\n\ndef test_f():\n    assert f() == 3\n",
        }
    )
    with Scratch(root) as scratch:
        oracle = PytestOracle(parse_pytest(f"{PYTEST} tests", root), scratch.root)
        seen = [oracle.run().green]
        for value in (3, 2, 3, 1):
            scratch.write({"lib.py": f"def f():\n    return {value}\n".encode()})
            seen.append(oracle.run().green)
        oracle.close()
    assert seen == [False, True, False, True, False]
    assert contents(root).keys() == {"pyproject.toml", "lib.py", "tests/test_l.py"}


def test_a_conftest_that_imports_the_code_does_not_hide_the_candidates(project):
    files = {
        "lib.py": BROKEN,
        "tests/conftest.py": "import lib\n",
        "tests/test_l.py": DOUBLE_TEST,
    }
    summary, _ = repair(project(files=files), order_of(f"{PYTEST} tests/test_l.py"))
    assert summary.startswith("patch found")


def test_the_server_needs_no_noface():
    """It runs under the project's interpreter, where noface isn't installed."""
    tree = ast.parse(Path(forkserver.__file__).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names} == {"pytest"}


def test_an_outcome_knows_its_passed_and_failed_tests():
    tests = {"a": Verdict("passed"), "b": Verdict("failed"), "c": Verdict("skipped"), "d": Verdict("unfinished")}
    outcome = Outcome(tests, green=False)
    assert outcome.passed == {"a"}
    assert outcome.failed == {"b", "d"}
