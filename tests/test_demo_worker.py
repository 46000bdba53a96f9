"""The repair worker on small projects: what it aims at, where it looks, what it does when it finds nothing."""

import ast
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from noface.demo import forkserver
from noface.demo.aim import aims
from noface.demo.command import PytestCommand, find_node, parse_pytest
from noface.demo.edits import Source
from noface.demo.localise import Suspicion, ochiai, repairable, with_imported
from noface.demo.oracle import PytestOracle
from noface.demo.order import Earlier, Order, read_order
from noface.demo.outcome import Outcome, Verdict
from noface.demo.repair import Repair
from noface.demo.scratch import Scratch

PYTEST = f"{sys.executable} -B -m pytest -q"
CONFIG = '[tool.pytest.ini_options]\npythonpath = [".", "src"]\n'


@pytest.fixture
def project(tmp_path):
    def make(**files):
        root = tmp_path / "work"
        for name, text in {"pyproject.toml": CONFIG, **files.pop("files", {}), **files}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    return make


def contents(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def order_of(accept, gates=(), paths=(), earlier=(), model="tier1", main=""):
    accept = (accept,) if isinstance(accept, str) else accept
    return Order("7", len(earlier) + 1, model, tuple(paths), accept, tuple(gates), tuple(earlier), main)


def repair(root, order, tier=1):
    lines = []
    summary = Repair(order, tier, root, lines.append).run()
    return summary, lines


BROKEN = "def double(n):\n    return n + n + 1\n\n\ndef half(n):\n    return n // 2\n"
DOUBLE_TEST = "from lib import double\n\n\ndef test_double():\n    assert double(2) == 4\n    assert double(0) == 0\n"


# Aiming


def test_a_pytest_command_is_understood_with_its_environment_flags_and_options(project):
    root = project(files={"tests/test_x.py": ""})
    command = "A=1 B='x y' python3 -B -W error -m pytest -q -x --maxfail=2 -k 'a and b' -p no:cacheprovider tests/test_x.py::test_y"
    assert parse_pytest(command, root) == PytestCommand(
        env=(("A", "1"), ("B", "x y")),
        launcher=(),
        python="python3",
        flags=("-B", "-W", "error"),
        as_module=True,
        options=("-k", "a and b", "-p", "no:cacheprovider"),
        tests=("tests/test_x.py::test_y",),
    )


def test_a_launcher_and_a_path_to_the_interpreter_are_kept(project):
    root = project(files={"tests/test_x.py": "", "env/bin/python": ""})
    launched = parse_pytest("uv run pytest tests", root)
    assert (launched.launcher, launched.python, launched.as_module) == (("uv", "run"), "python", False)
    assert parse_pytest("env/bin/python -m pytest", root).python == str(root / "env/bin/python")


@pytest.mark.parametrize(
    "command",
    [
        "make test",
        "cd sub && python -m pytest",
        "python -m unittest",
        "python -m pytest | tee x",
        "$PY -m pytest",
        "pytest 'open",
    ],
)
def test_what_is_not_plainly_pytest_is_not_guessed_at(command, tmp_path):
    assert parse_pytest(command, tmp_path) is None


def test_failing_tests_are_found_by_node_id_and_by_their_junit_name(project):
    root = project(files={"tests/test_x.py": ""})
    assert find_node("tests/test_x.py::test_y[a-1]", root) == "tests/test_x.py::test_y[a-1]"
    assert find_node("tests.test_x::test_y", root) == "tests/test_x.py::test_y"
    assert find_node("tests.test_x.TestIt::test_y", root) == "tests/test_x.py::TestIt::test_y"
    assert find_node("gone.py::test_y", root) is None


def test_tests_that_earlier_attempts_broke_join_the_accept_tests_in_one_run(project):
    root = project(files={"tests/test_x.py": "", "acceptance/test_7.py": ""})
    order = order_of(
        f"{PYTEST} acceptance/test_7.py",
        gates=[f"{PYTEST} tests"],
        earlier=[Earlier(1, "tier1", "TEST_FAILURE", ("tests/test_x.py::test_y",))],
    )
    (joined,) = aims(order, root)
    assert joined.tests == ("acceptance/test_7.py", "tests/test_x.py::test_y")


def test_a_failure_that_names_no_test_brings_the_whole_gate_in(project):
    root = project(files={"tests/test_x.py": "", "acceptance/test_7.py": ""})
    earlier = [Earlier(1, "tier1", "TEST_FAILURE", ())]
    order = order_of(f"{PYTEST} acceptance/test_7.py", gates=[f"{PYTEST} tests"], earlier=earlier)
    (joined,) = aims(order, root)
    assert joined.tests == ("acceptance/test_7.py", "tests")


def test_an_order_is_read_as_noface_writes_it(tmp_path):
    raw = {
        "schema": 1,
        "run_id": "r",
        "attempt": 2,
        "issue": {
            "id": "12",
            "title": "t",
            "body": "b",
            "priority": 2,
            "labels": [],
            "depends_on": [],
            "paths": ["a.py"],
            "accept": ["x"],
        },
        "model": {"name": "tier1", "agent": "command", "model": "", "tier": 1},
        "gates": [
            {"name": "soft", "command": "s", "kind": "test", "hard": False, "timeout_s": 1},
            {"name": "lint", "command": "l", "kind": "lint", "hard": True, "timeout_s": 1},
            {"name": "tests", "command": "t", "kind": "test", "hard": True, "timeout_s": 1},
        ],
        "accept": ["x"],
        "earlier": [
            {
                "number": 1,
                "model": "tier1",
                "kind": "NO_DIFF",
                "message": "",
                "location": None,
                "excerpt": "",
                "failing_tests": [],
                "rule": "",
            }
        ],
        "main": "abc",
        "start": "abc",
    }
    path = tmp_path / "order.json"
    path.write_text(json.dumps(raw))
    order = read_order(path)
    assert (order.issue_id, order.test_gates, order.blind_retries) == ("12", ("t", "s"), 1)
    path.write_text(json.dumps({**raw, "schema": 2}))
    with pytest.raises(ValueError, match="schema 1, not 2"):
        read_order(path)
    del raw["gates"]
    path.write_text(json.dumps(raw))
    with pytest.raises(ValueError, match="gates"):
        read_order(path)


# Localisation


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


# Running tests


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
        "import subprocess, time\n\ndef test_sleep():\n    child = subprocess.Popen(['sleep', '300'])\n"
        "    open('child', 'w').write(str(child.pid))\n    time.sleep(300)\n\n"
        "def test_memory():\n    b'x' * (3 * 2**30)\n"
    )
    root = project(files={"tests/test_h.py": test})
    oracle = PytestOracle(parse_pytest(f"{PYTEST} tests", root), root)
    hungry = oracle.run_tests(("tests/test_h.py::test_memory",), 2.0, trace=False)
    asleep = oracle.run_tests(("tests/test_h.py::test_sleep",), 0.1, trace=False)
    oracle.close()
    assert hungry.tests["tests/test_h.py::test_memory"].message.startswith("MemoryError")
    assert asleep.ended == "wall"
    pid = int((root / "child").read_text())
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
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


# Repairing


def test_a_patch_changes_one_place_of_one_file(project):
    root = project(files={"lib.py": BROKEN, "acceptance/test_7.py": DOUBLE_TEST})
    before = contents(root)
    summary, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py"))
    after = contents(root)
    assert summary.startswith("patch found after ")
    assert {name for name in after if after[name] != before.get(name)} == {"lib.py"}
    assert after["lib.py"] == BROKEN.replace("n + n + 1", "n + n").encode()


def test_where_nothing_is_found_the_tree_stays_untouched_and_the_summary_says_so(project):
    test = "from lib import double\n\n\ndef test_double():\n    assert double(2) == 'four'\n"
    root = project(files={"lib.py": BROKEN, "acceptance/test_7.py": test})
    before = contents(root)
    for tier in (1, 2):
        summary, lines = repair(root, order_of(f"{PYTEST} acceptance/test_7.py"), tier)
        assert summary.startswith("no patch found, no change made: ")
        assert "best 0/1 tests pass" in summary
        assert any(" candidates, best 0/1 tests pass" in line for line in lines)
    assert contents(root) == before


def test_an_edit_that_brings_some_tests_to_pass_is_left_as_a_partial_patch(project):
    test = "from lib import double, half\n\n\ndef test_double():\n    assert double(2) == 4\n\n\ndef test_half():\n    assert half(1) == 'a'\n"
    root = project(files={"lib.py": BROKEN, "acceptance/test_7.py": test})
    summary, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py"))
    assert summary.startswith("partial patch, 1/2 tests pass")
    assert (root / "lib.py").read_text() != BROKEN


def test_the_issues_paths_keep_other_files_as_they_are(project):
    files = {"lib.py": BROKEN, "other.py": "", "acceptance/test_7.py": DOUBLE_TEST}
    root = project(files=files)
    summary, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py", paths=["other.py"]))
    assert summary == "no patch found, no change made: the failing tests run no code that may be edited"
    assert (root / "lib.py").read_text() == BROKEN


def test_a_missing_function_ends_at_once(project):
    root = project(
        files={"lib.py": BROKEN, "acceptance/test_7.py": "from lib import gone\n\ndef test_gone():\n    gone()\n"}
    )
    summary, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py"))
    assert summary == "no patch found, no change made: the tests cannot be imported, which is beyond small edits"


def test_a_function_that_loops_for_ever_can_be_repaired(project):
    text = "def count(n):\n    steps = 0\n    while n > 0:\n        n += 1\n        steps += 1\n    return steps\n"
    test = "from m import count\n\ndef test_count():\n    assert count(3) == 3\n"
    root = project(files={"m.py": text, "tests/test_m.py": test})
    summary, _ = repair(root, order_of(f"{PYTEST} tests/test_m.py"))
    assert summary.startswith("patch found")
    assert (root / "m.py").read_text() == text.replace("n += 1", "n -= 1", 1)


def test_a_src_layout_with_tests_elsewhere_and_a_crlf_file(project):
    files = {
        "src/pkg/__init__.py": "",
        "src/pkg/lib.py": BROKEN.replace("\n", "\r\n"),
        "checks/unit/test_lib.py": DOUBLE_TEST.replace("from lib", "from pkg.lib"),
    }
    root = project(files={**files, "pyproject.toml": ""})
    (root / "src/pkg/lib.py").write_bytes(BROKEN.replace("\n", "\r\n").encode())
    summary, _ = repair(root, order_of(f"{PYTEST} checks/unit/test_lib.py::test_double -p no:cacheprovider"))
    assert summary.startswith("patch found")
    assert (root / "src/pkg/lib.py").read_bytes() == BROKEN.replace("n + n + 1", "n + n").replace("\n", "\r\n").encode()


def test_a_command_that_is_not_pytest_is_run_as_it_stands(project):
    check = "import lib\n\nlib_double = lib.double(2)\nassert lib_double == 4, 'double'\n"
    root = project(files={"lib.py": BROKEN, "check.py": check})
    summary, _ = repair(root, order_of(f"PYTHONPATH=. {sys.executable} check.py", paths=["lib.py"]))
    assert summary.startswith("patch found")
    assert contents(root).keys() == {"pyproject.toml", "lib.py", "check.py"}


def test_without_accept_commands_it_says_so(project):
    summary, _ = repair(project(files={"lib.py": BROKEN}), order_of(()))
    assert summary == "no change made: the issue has no accept command, so there is no test to repair against"


def test_tests_that_pass_already_are_left_alone(project):
    root = project(files={"lib.py": BROKEN.replace(" + 1", ""), "tests/test_l.py": DOUBLE_TEST})
    summary, _ = repair(root, order_of(f"{PYTEST} tests/test_l.py"))
    assert summary == "no change made: the tests named in the order pass already"


def test_a_retry_that_learnt_nothing_goes_on_where_the_last_one_stopped(project):
    test = "from lib import double\n\n\ndef test_double():\n    assert double(2) == 'four'\n"
    root = project(files={"lib.py": BROKEN, "acceptance/test_7.py": test})
    earlier = [Earlier(1, "tier1", "NO_DIFF", ())]
    summary, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py", earlier=earlier))
    assert "earlier attempts have tried all" in summary
    later, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py", earlier=earlier, model="tier2"), tier=2)
    assert "candidates, best 0/1 tests pass" in later


def git(root, *arguments):
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def test_an_earlier_patch_that_broke_the_suite_is_undone_and_another_one_found(project):
    """The workspace holds the earlier attempt's overfitted patch; main doesn't."""
    wrong = "def gap(one, other):\n    return max(0, one - other)\n"
    suite = "from lib import gap\n\n\ndef test_none():\n    assert gap(4, 4) == 0\n"
    accept = "from lib import gap\n\n\ndef test_gap():\n    assert gap(0, 3) == 3\n"
    root = project(files={"lib.py": wrong, "tests/test_l.py": suite, "acceptance/test_7.py": accept})
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=start")
    main = git(root, "rev-parse", "HEAD")
    command, gate = f"{PYTEST} acceptance/test_7.py", f"{PYTEST} tests"
    first, _ = repair(root, order_of(command, gates=[gate], main=main))
    assert first.startswith("patch found")
    assert (root / "lib.py").read_text() == wrong.replace("one - other", "one + other")
    earlier = [Earlier(1, "tier1", "TEST_FAILURE", ("tests/test_l.py::test_none",))]
    second, lines = repair(root, order_of(command, gates=[gate], main=main, earlier=earlier))
    assert second.startswith("patch found")
    assert any("starting again from main's version" in line for line in lines)
    assert (root / "lib.py").read_text() == wrong.replace("one - other", "other - one")


def test_an_earlier_patch_that_helped_is_kept_and_gone_on_from(project):
    wrong = "def double(n):\n    return n + n + 1\n\n\ndef triple(n):\n    return n * 3 + 1\n"
    accept = "from lib import double, triple\n\n\ndef test_double():\n    assert double(2) == 4\n\n\ndef test_triple():\n    assert triple(2) == 6\n"
    root = project(files={"lib.py": wrong, "acceptance/test_7.py": accept})
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=start")
    main = git(root, "rev-parse", "HEAD")
    first, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py", main=main))
    assert first.startswith("partial patch, 1/2")
    earlier = [Earlier(1, "tier1", "TEST_FAILURE", ("acceptance/test_7.py::test_triple",))]
    second, _ = repair(root, order_of(f"{PYTEST} acceptance/test_7.py", main=main, earlier=earlier))
    assert second.startswith("patch found")
    assert (root / "lib.py").read_text() == wrong.replace(" + 1", "")


def test_the_same_order_gives_the_same_patch(project):
    root = project(files={"lib.py": BROKEN, "acceptance/test_7.py": DOUBLE_TEST})
    summaries = []
    for _ in range(2):
        (root / "lib.py").write_text(BROKEN)
        summaries.append(repair(root, order_of(f"{PYTEST} acceptance/test_7.py"))[0])
    assert summaries[0] == summaries[1]


def test_the_worker_never_imports_the_catalogue_or_the_rest_of_noface():
    code = "import sys, noface.demo.worker; print('\\n'.join(m for m in sys.modules if m.startswith('noface')))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "noface.demo.repair" in loaded
    assert not any(
        name.startswith(("noface.demo.catalogue", "noface.demo.draw", "noface.demo.sample")) for name in loaded
    )
    assert all(name == "noface" or name.startswith("noface.demo") for name in loaded)


def test_a_worker_that_is_ended_removes_its_copy(project, tmp_path):
    test = "import time\n\ndef test_slow():\n    time.sleep(100)\n"
    root = project(files={"acceptance/test_7.py": test})
    order = {
        "schema": 1,
        "run_id": "r",
        "attempt": 1,
        "gates": [],
        "earlier": [],
        "main": "",
        "start": "",
        "issue": {"id": "7", "paths": []},
        "model": {"name": "tier1"},
        "accept": [f"{PYTEST} acceptance/test_7.py"],
    }
    (tmp_path / "order.json").write_text(json.dumps(order))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {**os.environ, "NOFACE_ORDER_FILE": str(tmp_path / "order.json"), "TMPDIR": str(scratch)}
    worker = subprocess.Popen(
        [sys.executable, "-I", "-m", "noface.demo.worker"], cwd=root, env=env, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not list(scratch.glob("*/work/acceptance/test_7.py")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    worker.terminate()
    assert worker.wait(timeout=60) == 143
    assert list(scratch.iterdir()) == []


def test_an_outcome_knows_its_passed_and_failed_tests():
    tests = {"a": Verdict("passed"), "b": Verdict("failed"), "c": Verdict("skipped"), "d": Verdict("unfinished")}
    outcome = Outcome(tests, green=False)
    assert outcome.passed == {"a"}
    assert outcome.failed == {"b", "d"}
