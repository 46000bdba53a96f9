"""Which test files of main no gate ran.

Told at the start of a run, beside how many tests ran; nothing waits for it and nobody is charged.
"""

from noface.integrity.unrun import unrun


def test_files_named_like_those_that_ran_are_told_and_nothing_else():
    ran = {"unit": ["tests/test_a.py::T::test_x", "tests/test_a.py::test_y"], "js": ["src/x.test.ts::adds"]}
    main = ["tests/test_a.py", "tests/integration/test_b.py", "tests/conftest.py", "tests/data/b.py", "src/x.test.ts"]
    main += ["src/y.test.ts", "src/y.spec.ts", "src/test_util.js"]
    assert unrun(ran, main) == {"unit": ("tests/integration/test_b.py",), "js": ("src/y.test.ts",)}


def test_what_another_gate_ran_is_not_missing_and_is_told_once():
    ran = {"unit": ["tests/test_a.py::x"], "slow": ["slow/test_b.py::x"]}
    main = ["tests/test_a.py", "slow/test_b.py", "more/test_c.py"]
    assert unrun(ran, main) == {"unit": ("more/test_c.py",), "slow": ()}


def test_a_runner_that_names_no_files_tells_nothing():
    assert unrun({"go": ["pkg/TestA"], "none": []}, ["a_test.go", "test_b.py"]) == {"go": (), "none": ()}
