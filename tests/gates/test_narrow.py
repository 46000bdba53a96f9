"""A gate's command that runs only some of its tests: what is made of it, and that its runner understands it."""

import shutil

import pytest
from support.project import PYTEST
from support.reported_gate import run_reported

from noface.gates.narrow import narrowed, runs_alone

TESTS = {
    "test_it.py": "import unittest\n\nclass A(unittest.TestCase):\n"
    "    def test_one(self): pass\n    def test_two(self): pass\n    def test_one_more(self): pass\n",
    "it_test.go": 'package it\nimport "testing"\nfunc TestOne(t *testing.T) {}\nfunc TestOneMore(t *testing.T) {}\n',
    "go.mod": "module it\n\ngo 1.19\n",
}


@pytest.mark.parametrize(
    ("command", "runner", "test", "made"),
    [
        ("npx jest --ci", "jest", "a.test.js::sums > adds (1)", r"npx jest --ci -t '^(sums adds \(1\))$'"),
        ("npx vitest run", "vitest", "a.test.ts::sums > adds", "npx vitest run -t '^(sums adds)$'"),
        ("mocha", "mocha", "a.js::sums > adds", "mocha --grep '^(sums adds)$'"),
        ("go test ./...", "go test", "it::TestA/sub", "go test ./... -count=1 -run '^(TestA)$'"),
        ("cargo test", "cargo test", "it src/lib.rs::tests::adds", "cargo test -- --exact tests::adds"),
        ("cargo test -- -q", "cargo test", "it src/lib.rs::tests::adds", "cargo test -- -q --exact tests::adds"),
        ("cd api && go test", "go test", "it::TestA", "cd api && go test -count=1 -run '^(TestA)$'"),
        ("go test ./... | tee log", "go test", "it::TestA", None),
        ("go test ./...; true", "go test", "it::TestA", None),
        ("make test", "go test", "it::TestA", None),
        ("go test && mypy", "go test", "it::TestA", None),
        ("go test ./a && go test ./b", "go test", "it::TestA", None),
        ("npm test", "tap", "adds", None),
    ],
)
def test_what_is_made_of_a_command(command, runner, test, made):
    assert narrowed(command, (runner,), (test,)) == made
    assert runs_alone(command, (runner,)) == (made is not None)


def test_two_runners_in_one_gate_are_not_told_apart():
    assert narrowed("pytest", ("pytest", "unittest"), ("a.py::test_a",)) is None


@pytest.mark.parametrize(
    ("command", "runner", "every"),
    [
        (PYTEST, "pytest", ["test_it.py::A::test_one", "test_it.py::A::test_one_more", "test_it.py::A::test_two"]),
        ("python -m unittest -q", "unittest", []),
        pytest.param(
            "go test ./...", "go test", [], marks=pytest.mark.skipif(shutil.which("go") is None, reason="no go here")
        ),
    ],
)
def test_a_runner_runs_these_tests_and_no_others(tmp_path, command, runner, every):
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name, text in TESTS.items():
        (checkout / name).write_text(text)
    whole = run_reported(checkout, command.replace("python -m unittest", f"{PYTEST.split()[0]} -m unittest"))
    ids = whole.ids("PASSED")
    assert ids == every or not every
    wanted = next(name for name in ids if name.endswith(("test_one", "TestOne")))
    narrow = narrowed(command, whole.inventory.runners, (wanted,))
    alone = run_reported(checkout, narrow.replace("python -m unittest", f"{PYTEST.split()[0]} -m unittest"))
    assert (whole.inventory.runners, alone.exit_code) == ((runner,), 0)
    assert alone.ids("PASSED") == [wanted]
    assert alone.inventory.complete
