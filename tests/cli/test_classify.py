"""`noface tools classify`: a verdict as JSON for one recorded run, or for many in one process."""

import json
import subprocess
import sys

import pytest
from support.agent_recordings import CLIS, run, runs

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
        command = [sys.executable, "-m", "noface", *map(str, args)]
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


def gate_case(folder, **more):
    files = written(folder, stdout=PYTEST, stderr="")
    return {"id": "a", **files, "exit_code": 1, "command": "python -m pytest", "seconds": 0.4, **more}


def batch(folder, *cases):
    path = folder / "batch.jsonl"
    path.write_bytes(b"".join(case if isinstance(case, bytes) else json.dumps(case).encode() + b"\n" for case in cases))
    return path


def answers(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_gate_s_failure_is_named_from_its_files(noface, tmp_path):
    files = written(tmp_path, stdout=PYTEST, stderr="", files="tests/test_calc.py\ncalc.py\n", report=REPORT)
    arguments = ["--stdout", files["stdout"], "--stderr", files["stderr"], "--exit-code", 1, "--seconds", 0.4]
    arguments += ["--command", "python -m pytest", "--limit-s", 60, "--repo-files", files["files"]]
    done = noface("tools", "classify", "gate", *arguments, "--report", files["report"])
    (answer,) = answers(done)
    assert answer["class"] == "TEST_FAILURE"
    assert answer["location"] == "tests/test_calc.py:5"
    assert "3 == 2" in answer["key_line"]
    assert answer["failing_tests"]
    assert {"rule", "message", "excerpt", "signature", "evidence", "also_matched", "schema"} <= set(answer)


def test_a_report_that_is_none_is_said(noface, tmp_path):
    files = written(tmp_path, stdout=PYTEST, report="nonsense")
    arguments = ["--stdout", files["stdout"], "--exit-code", 1, "--report", files["report"]]
    (answer,) = answers(noface("tools", "classify", "gate", *arguments))
    assert answer["class"] == "TEST_FAILURE"
    assert "neither JUnit XML nor TAP" in answer["notes"][0]


def test_a_worker_s_failure_comes_with_its_reset_time_cost_and_session(noface, tmp_path):
    each = run("claude", "usage_limit_oauth_weekly")
    files = written(tmp_path, stdout=each.stdout, stderr=each.stderr)
    arguments = ["--stdout", files["stdout"], "--stderr", files["stderr"], "--exit-code", each.exit_code]
    (answer,) = answers(noface("tools", "classify", "agent", "--agent", "claude", *arguments))
    assert (answer["class"], answer["retry_at"]) == ("RATE_LIMITED", 1_795_490_120)
    assert answer["cost_usd"] == 0
    assert answer["tokens"] == {"in": 0, "out": 0}
    assert len(answer["session_id"]) == 36
    assert answer["rule"] == "claude-rate-limit"


def test_a_worker_that_edited_succeeds_and_one_that_did_not_does_not(noface, tmp_path):
    each = run("codex", "success")
    files = written(tmp_path, stdout=each.stdout)
    arguments = ["--agent", "codex", "--stdout", files["stdout"], "--exit-code", 0]
    (edited,) = answers(noface("tools", "classify", "agent", *arguments, "--edited"))
    (idle,) = answers(noface("tools", "classify", "agent", *arguments))
    assert (edited["class"], idle["class"]) == ("SUCCESS", "NO_DIFF")


def test_local_times_are_read_in_the_zone_that_is_given(noface, tmp_path):
    each = run("codex", "usage_limit")
    files = written(tmp_path, stdout=each.stdout)
    arguments = ["--agent", "codex", "--stdout", files["stdout"], "--exit-code", 1, "--now", 1_795_188_600]
    (utc,) = answers(noface("tools", "classify", "agent", *arguments, "--zone", "UTC"))
    (chicago,) = answers(noface("tools", "classify", "agent", *arguments, "--zone", "America/Chicago"))
    assert chicago["retry_at"] - utc["retry_at"] == 6 * 3600


def test_an_interrupted_worker_is_judged_by_the_interruption(noface):
    arguments = ["--agent", "gemini", "--exit-code", 0, "--ended-by"]
    (answer,) = answers(noface("tools", "classify", "agent", *arguments, "idle"))
    assert answer["class"] == "TIMEOUT"
    assert "sleep" in noface("tools", "classify", "agent", *arguments, "sleep", code=2).stderr


def test_many_cases_are_answered_in_order_in_one_process(noface, tmp_path):
    cases, expected = [], []
    for cli in CLIS:
        for each in runs(cli):
            if each.expected:
                files = written(
                    tmp_path, **{f"{cli}-{each.name}.out": each.stdout, f"{cli}-{each.name}.err": each.stderr}
                )
                stdout, stderr = files.values()
                case = {"id": f"{cli}/{each.name}", "agent": cli, "stdout": stdout, "stderr": stderr}
                cases.append({**case, "exit_code": each.exit_code, "edited": each.edited})
                expected.append(each.expected)
    got = answers(noface("tools", "classify", "agent", "--batch", batch(tmp_path, *cases)))
    assert [answer["id"] for answer in got] == [case["id"] for case in cases]
    assert all(answer["class"] in kinds for answer, kinds in zip(got, expected, strict=True))


def test_gates_and_workers_may_stand_in_one_batch_that_names_their_kind(noface, tmp_path):
    worker = {"id": 7, "kind": "agent", "agent": "claude", "exit_code": 1}
    path = batch(tmp_path, {**gate_case(tmp_path), "kind": "gate"}, worker)
    got = answers(noface("tools", "classify", "--batch", path))
    assert [(answer["id"], answer["class"]) for answer in got] == [("a", "TEST_FAILURE"), (7, "AGENT_CRASH")]


def test_the_batch_takes_what_the_command_line_takes(noface, tmp_path):
    files = written(tmp_path, files="calc.py\n", report=REPORT)
    case = gate_case(tmp_path, limit_s=60, repo_files=files["files"], report=files["report"])
    listed = {**case, "id": "b", "repo_files": ["calc.py"], "report": None}
    got = answers(noface("tools", "classify", "gate", "--batch", batch(tmp_path, case, listed)))
    assert [answer["class"] for answer in got] == ["TEST_FAILURE"] * 2


BAD = [
    (b"not json\n", "no JSON"), (b"[1]\n", "no JSON object"), (b"{" * 9000 + b"\n", "no JSON"),
    (b"\xff\xfe\n", "no JSON"),
    ({"id": "x", "exit_code": 1, "stdout": "/no/such/file"}, "/no/such/file"),
    ({"id": "x", "exit_code": 1, "stdout": "a\0b"}, "cannot read"),
    ({"id": "x", "exit_code": "1"}, "expected a whole number"), ({"id": "x"}, "exit_code is missing"),
    ({"id": "x", "exit_code": 1, "seconds": "long"}, "expected a number"),
    ({"id": "x", "exit_code": 1, "comand": "make"}, "unknown key 'comand'"),
    ({"id": "x", "exit_code": 1, "stdout": 5}, "expected text"),
    ({"id": "x", "exit_code": 1, "stderr": "/"}, "cannot read"),
    ({"id": "x", "exit_code": 1, "repo_files": 5}, "expected a list"),
    ({"id": "x", "exit_code": 1, "repo_files": {"a": 1}}, "expected a list"),
    ({"id": "x", "exit_code": 1, "seconds": float("nan")}, "expected a number"),
    ({"id": "x", "exit_code": 1, "limit_s": 10**400}, "expected a number"),
]  # fmt: skip
BAD_WORKERS = [
    ({"agent": "claud", "exit_code": 1}, "Did you mean claude?"), ({"exit_code": 1}, "agent is missing"),
    ({"agent": "command", "exit_code": 1}, "Only its exit code counts"),
    ({"agent": "codex", "exit_code": 1, "edited": "yes"}, "true or false"),
    ({"agent": "codex", "exit_code": 1, "zone": "Mars/Base"}, "Mars/Base"),
    ({"agent": "codex", "exit_code": 1, "now": float("inf")}, "expected a number"),
    ({"agent": "codex", "exit_code": 1, "now": -float("inf")}, "expected a number"),
    ({"agent": "codex", "exit_code": 1, "now": 1e15}, "expected a number"),
    ({"agent": "codex", "exit_code": 1, "stdout": "/proc/self/mem"}, "cannot read"),
    ({"agent": "codex", "exit_code": 1, "stdout": "/tmp"}, "no file"),
]  # fmt: skip


def told_of(answers, cases):
    return [said for answer, (_, said) in zip(answers, cases, strict=True) if said in answer["error"]]


def test_faulty_lines_are_answered_with_their_errors_and_the_rest_goes_on(noface, tmp_path):
    path = batch(tmp_path, *(bad for bad, _ in BAD), gate_case(tmp_path, id="good"))
    *wrong, right = answers(noface("tools", "classify", "gate", "--batch", path, code=2))
    assert told_of(wrong, BAD) == [said for _, said in BAD]
    assert [answer["id"] for answer in wrong] == [bad["id"] if isinstance(bad, dict) else None for bad, _ in BAD]
    assert (right["id"], right["class"]) == ("good", "TEST_FAILURE")


def test_a_faulty_worker_s_case_says_what_is_wrong(noface, tmp_path):
    path = batch(tmp_path, *(case for case, _ in BAD_WORKERS))
    wrong = answers(noface("tools", "classify", "agent", "--batch", path, code=2))
    assert told_of(wrong, BAD_WORKERS) == [said for _, said in BAD_WORKERS]


def test_what_is_missing_on_the_command_line_is_said(noface, tmp_path):
    assert "--exit-code is missing" in noface("tools", "classify", "gate", "--command", "make", code=2).stderr
    assert "No such file" in noface("tools", "classify", "gate", "--batch", "/no/such", code=2).stderr
    assert "Is a directory" in noface("tools", "classify", "--batch", tmp_path, code=2).stderr
    wrong = noface("tools", "classify", "gate", "--exit-code", 0, "--stdout", "/no/such", code=2)
    assert (wrong.stdout, "/no/such" in wrong.stderr) == ("", True)


def test_it_imports_nothing_heavy(tmp_path):
    code = (
        "import sys; sys.argv = ['noface', 'tools', 'classify', 'agent', '--agent', 'claude', '--exit-code', '1']\n"
        "from noface.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'pydantic', 'git', 'rich', 'jsonschema', 'jinja2', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
