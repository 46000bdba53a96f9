"""The repair worker on small projects: what it changes, and what it says where it changes nothing."""

import sys
from functools import partial

import pytest
from support.repair_ground import BROKEN, DOUBLE_TEST, PYTEST, contents, order_of, repair, small_project


@pytest.fixture
def project(tmp_path):
    return partial(small_project, tmp_path)


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
