"""The scripted worker: a real process that plays its steps."""

import os
import subprocess
import sys

import pytest

from noface.agents.base import RunPlace
from noface.agents.scripted import ScriptedAgent
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.worker_run import ModelSpec


@pytest.fixture
def play(tmp_path):
    """Play a script's text in an empty folder; the folder is `play.folder`."""
    folder = tmp_path / "slot"
    folder.mkdir()
    script = tmp_path / "script.toml"

    def run(text, issue="7", attempt=1):
        script.write_text(text, "utf-8")
        model = ModelSpec("m", "scripted", command=str(script))
        order = AttemptOrder("r", "t", Issue(issue, "One"), attempt, model, "p", "m", "s", 0, "/d", ())
        invocation = ScriptedAgent().invocation(order, RunPlace(str(folder), os.devnull, "o", "d"))
        env = {**os.environ, "NOFACE_ISSUE_ID": issue, "NOFACE_ATTEMPT": str(attempt), "LC_ALL": "C"}
        return subprocess.run(
            invocation.argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    run.folder = folder
    return run


def steps(*lines, issue="*", attempt=0):
    return f'[[play]]\nissue = "{issue}"\nattempt = {attempt}\nsteps = [\n{",".join(lines)}\n]\n'


def test_files_are_written_changed_and_deleted(play):
    (play.folder / "old.txt").write_text("x")
    done = play(
        steps(
            '{ write = "deep/a.py", text = "ä = 1\\n" }',
            '{ replace = "deep/a.py", old = "1", new = "2" }',
            '{ delete = "old.txt" }',
        )
    )
    assert done.returncode == 0, done.stderr
    assert (play.folder / "deep/a.py").read_text("utf-8") == "ä = 2\n"
    assert not (play.folder / "old.txt").exists()


def test_it_says_complains_runs_commands_and_exits_as_told(play):
    done = play(
        steps(
            '{ say = "hello" }',
            '{ complain = "oh" }',
            "{ sleep = 0.01 }",
            '{ shell = "echo made > made.txt" }',
            "{ exit = 3 }",
            '{ say = "never" }',
        )
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "hello\n", "oh\n")
    assert (play.folder / "made.txt").read_text() == "made\n"


def test_the_first_play_for_this_issue_and_attempt_is_the_one(play):
    script = (
        steps('{ say = "seven again" }', issue="7", attempt=2)
        + steps('{ say = "seven" }', issue="7")
        + steps('{ say = "first of any" }', attempt=1)
    )
    assert play(script, "7", 2).stdout == "seven again\n"
    assert play(script, "7", 1).stdout == "seven\n"
    assert play(script, "8", 1).stdout == "first of any\n"
    nothing = play(script, "8", 2)
    assert (nothing.returncode, nothing.stdout) == (0, "")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ('{ write = "a" }', "unknown step"),
        ("{ dance = true }", "unknown step"),
        ('{ replace = "there.txt", old = "absent", new = "b" }', "does not contain 'absent'"),
        ('{ delete = "absent.txt" }', "absent.txt"),
    ],
)
def test_a_step_that_cannot_be_played_ends_it_with_an_error(play, step, said):
    (play.folder / "there.txt").write_text("x")
    done = play(steps(step, '{ say = "never" }'))
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stdout == ""


def test_a_script_that_is_not_toml_is_an_error(play):
    assert play("[[play]\n").returncode == 1


def test_modules_of_the_workspace_do_not_pose_as_python_s_own(play):
    (play.folder / "tomllib.py").write_text("raise SystemExit('taken over')\n")
    (play.folder / "noface").mkdir()
    (play.folder / "noface/__init__.py").write_text("raise SystemExit('taken over')\n")
    assert play(steps('{ say = "fine" }')).stdout == "fine\n"


def test_it_needs_no_program_and_runs_with_noface_s_own_python():
    agent = ScriptedAgent()
    assert agent.program(ModelSpec("m", "scripted", command="x.toml")) == ""
    order = AttemptOrder(
        "r", "t", Issue("1", "1"), 1, ModelSpec("m", "scripted", command="x"), "p", "m", "s", 0, "d", ()
    )
    assert agent.invocation(order, RunPlace("w", "p", "o", "d")).argv[0] == sys.executable
    assert agent.reader().any_output_is_life
