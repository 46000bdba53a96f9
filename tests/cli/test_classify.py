"""`noface tools classify`: a verdict as JSON for one recorded run of a gate."""

import json
import subprocess
import sys

import pytest

PYTEST = """\
F                                                                        [100%]
=================================== FAILURES ===================================
___________________________________ test_add ___________________________________

    def test_add():
>       assert add(1, 1) == 2
E       assert 3 == 2

tests/test_calc.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_calc.py::test_add - assert 3 == 2
1 failed in 0.02s
"""
REPORT = (
    '<testsuites><testsuite tests="1"><testcase classname="tests.test_calc" name="test_add">'
    '<failure message="assert 3 == 2">tests/test_calc.py:5</failure></testcase></testsuite></testsuites>'
)


@pytest.fixture
def noface(tmp_path):
    """Run noface in a folder that is no git repository."""

    def start(*args, code=0, **more):
        command = [sys.executable, "-m", "noface", "tools", "classify", "gate", *map(str, args)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False, **more)
        assert done.returncode == code, done.stderr
        return done

    return start


def written(folder, **texts):
    paths = {}
    for name, text in texts.items():
        path = folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        paths[name] = str(path)
    return paths


def answers(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_gate_s_failure_is_named_from_its_files(noface, tmp_path):
    files = written(tmp_path, stdout=PYTEST, stderr="", report=REPORT)
    arguments = ["--stdout", files["stdout"], "--stderr", files["stderr"], "--exit-code", 1]
    done = noface(*arguments, "--command", "python -m pytest", "--report", files["report"])
    (answer,) = answers(done)
    assert answer["class"] == "TEST_FAILURE"
    assert answer["location"] == "tests/test_calc.py:5"
    assert "3 == 2" in answer["key_line"]
    assert answer["failing_tests"]
    assert {"rule", "message", "excerpt", "signature", "evidence", "also_matched", "schema"} <= set(answer)


def test_a_report_that_is_none_is_said(noface, tmp_path):
    files = written(tmp_path, stdout=PYTEST, report="nonsense")
    (answer,) = answers(noface("--stdout", files["stdout"], "--exit-code", 1, "--report", files["report"]))
    assert answer["class"] == "TEST_FAILURE"
    assert "neither JUnit XML nor TAP" in answer["notes"][0]


def test_what_is_missing_on_the_command_line_is_said(noface):
    assert "--exit-code" in noface("--command", "make", code=2).stderr
    wrong = noface("--exit-code", 0, "--stdout", "/no/such", code=2)
    assert (wrong.stdout, "/no/such" in wrong.stderr) == ("", True)


def test_it_imports_nothing_heavy(tmp_path):
    code = (
        "import sys; sys.argv = ['noface', 'tools', 'classify', 'gate', '--exit-code', '1']\n"
        "from noface.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'pydantic', 'git', 'rich', 'jsonschema', 'jinja2', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
