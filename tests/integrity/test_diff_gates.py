"""What gates call: changed scripts, targets and test sections are found; what only adds to a check is not."""

import json

import pytest

from noface.integrity.diff.gates import Manifest, changed_gates, may_steer

PACKAGE = {
    "scripts": {"test": "npm run lint && jest", "lint": "eslint .", "build": "tsc", "pretest": "node check.js"},
    "jest": {"testEnvironment": "node"},
}
PYPROJECT = """\
[project]
name = "x"
dependencies = ["a"]

[tool.pytest.ini_options]
addopts = "-ra --strict-markers -m 'not slow' --cov=x"
testpaths = ["tests"]
filterwarnings = ["error"]

[tool.coverage.run]
branch = true
omit = ["x/a.py"]
"""


def found(path, old, new, *commands):
    return changed_gates(
        [Manifest(path, old, new or "", gone=new is None)], commands or ("npm test", "make test", "tox")
    )


def package(command="npm test", sections=None, **scripts):
    new = {**PACKAGE, **(sections or {}), "scripts": {**PACKAGE["scripts"], **scripts}}
    new["scripts"] = {name: text for name, text in new["scripts"].items() if text is not None}
    return found("package.json", json.dumps(PACKAGE), json.dumps(new), command)


@pytest.mark.parametrize(
    ("scripts", "said"),
    [
        ({"test": "true"}, "the script test, which a gate calls, was changed to `true`"),
        ({"test": "npm run lint && jest || true"}, "the script test"),
        ({"test": "npm run lint && jest; exit 0"}, "the script test"),
        ({"test": None}, "the script test, which a gate calls, was removed"),
        ({"lint": "echo fine"}, "the script lint"),
        ({"pretest": "true"}, "the script pretest"),
    ],
)
def test_a_script_that_a_gate_calls_must_stay(scripts, said):
    (one,) = package(**scripts)
    assert one.startswith(f"package.json: {said}")


@pytest.mark.parametrize(
    "command",
    ["npm test", "npm t", "npm run test", "npm -s test", "yarn test", "pnpm run test --silent", "cd a && bun test"],
)
def test_every_way_to_call_a_script_is_known(command):
    assert package(command, test="true")


def test_scripts_that_no_gate_calls_and_stricter_ones_are_no_finding():
    assert package(build="tsc -b", format="prettier -w .") == ()
    assert package(test="npm run lint && jest && tsc --noEmit") == ()
    assert package(lint="eslint  .") == ()
    assert package("npm run build", test="true") == ()


def test_the_test_sections_of_package_json_count():
    assert package(sections={"jest": {"testEnvironment": "node", "testPathIgnorePatterns": ["a"]}}) == (
        "package.json: the section jest was changed",
    )
    assert package(sections={"version": "2.0.0", "devDependencies": {"jest": "30"}}) == ()


def test_a_package_json_that_does_not_parse_is_no_tampering():
    assert found("package.json", json.dumps(PACKAGE), "{") == ()
    assert found("package.json", "{", json.dumps(PACKAGE)) == ()
    assert found("package.json", "[]", "{}") == ()
    assert found("package.json", json.dumps(PACKAGE), None)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("-m 'not slow'", "-m 'unit'", "pytest.addopts (-m unit) was changed"),
        ("--cov=x", "--cov=x --ignore tests/a", "(--ignore tests/a)"),
        ("--strict-markers ", "", "(without --strict-markers)"),
        ('testpaths = ["tests"]', 'testpaths = ["tests/unit"]', "pytest.testpaths was changed"),
        ('["error"]', '["ignore"]', "pytest.filterwarnings was changed"),
        ('testpaths = ["tests"]', 'testpaths = ["tests"]\nnorecursedirs = ["a"]', "norecursedirs"),
        ("branch = true", "branch = false", "coverage.run.branch was changed"),
        ('["x/a.py"]', '["x/a.py", "x/b.py"]', "coverage.run.omit was changed"),
        (PYPROJECT[PYPROJECT.index("[tool.cov") :], "", "coverage.run.branch was changed"),
    ],
)
def test_a_test_section_that_checks_less_is_found(old, new, said):
    assert old in PYPROJECT
    (one,) = found("pyproject.toml", PYPROJECT, PYPROJECT.replace(old, new))
    assert one.startswith("pyproject.toml: ")
    assert said in one


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["a"]', '["a", "b"]'),
        ("-ra ", "-q --tb=short "),
        ("--cov=x", "--cov=x -n auto"),
        (" -m 'not slow'", ""),
        ('testpaths = ["tests"]', 'testpaths = ["tests"]\nmarkers = ["slow: slow"]'),
        ('omit = ["x/a.py"]', "omit = []"),
        ('["error"]', '["error", "ignore:x"]'),
    ],
)
def test_a_test_section_that_checks_as_much_is_no_finding(old, new):
    assert old in PYPROJECT
    assert found("pyproject.toml", PYPROJECT, PYPROJECT.replace(old, new)) == ()


def test_a_new_section_may_come_but_not_one_that_leaves_tests_out():
    assert found("pyproject.toml", "", '[tool.pytest.ini_options]\naddopts = "-q"\ntestpaths = ["tests"]\n') == ()
    (one,) = found("pyproject.toml", "[project]\n", '[tool.pytest.ini_options]\naddopts = "-k fast"\n')
    assert "(-k fast)" in one


def test_a_section_that_moves_to_another_file_is_no_finding():
    old = "[tool:pytest]\naddopts = --strict-config\n[coverage:run]\nbranch = true\n"
    new = '[tool.pytest.ini_options]\naddopts = "--strict-config"\n[tool.coverage.run]\nbranch = true\n'
    assert changed_gates([Manifest("setup.cfg", old, ""), Manifest("pyproject.toml", "", new)], ()) == ()
    assert len(changed_gates([Manifest("setup.cfg", old, "")], ())) == 2


def test_only_files_that_the_gates_go_by_are_read():
    assert may_steer("web/package.json")
    assert may_steer("pyproject.toml")
    assert not may_steer("src/a.py")
