"""What the repair worker reads from an order: commands, tests, earlier failures."""

import json
from functools import partial

import pytest
from support.repair_ground import PYTEST, order_of, small_project

from noface.demo.aim import aims
from noface.demo.command import PytestCommand, find_node, parse_pytest
from noface.demo.order import Earlier, read_order


@pytest.fixture
def project(tmp_path):
    return partial(small_project, tmp_path)


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
