"""A proxy's page in place of a model, and programs that end at once in words of nobody's: waited out, nobody charged."""

import sys

import pytest
from support.clocked_run import clocked

CONFIG = """\
[[gates]]
name = "check"
command = "test -e a.txt"
canary = false
[models.small]
agent = "command"
command = "{python} {script}"
[retry]
default_model = "small"
[sandbox]
kind = "none"
[run]
slots_dir = "{folder}/slots"
"""
AWAY = """\
import os, pathlib, sys
slept = float(open({slept!r}).read())
issue = os.environ["NOFACE_ISSUE_ID"]
pathlib.Path({calls!r}).open("a").write(f"{{issue}}\\n")
if slept < {until}:
    {away}
pathlib.Path(f"{{issue}}.txt").write_text("done")
"""
PAGE = 'print("<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>"); print("</html>"); sys.exit({code})'


def worker(project, away, until=1800):
    script = project.folder / "worker.py"
    slept, calls = str(project.folder / "slept"), str(project.folder / "calls")
    script.write_text(AWAY.format(slept=slept, calls=calls, until=until, away=away))
    project.write("noface.toml", CONFIG.format(python=sys.executable, script=script, folder=project.folder))
    for number in (1, 2, 3):
        project.issue(number)
    project.commit()


@pytest.mark.thorough
def test_a_page_on_standard_output_is_an_outage_whatever_the_exit_code(project):
    worker(project, PAGE.format(code="0 if slept < 600 else 1"))
    done = clocked(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.statuses() == dict.fromkeys("123", "merged")
    charged = [attempt["charged"] for issue in "123" for attempt in project.attempts(issue)]
    assert charged.count(True) == 3, "only what passed"
    assert len((project.folder / "calls").read_text().split()) < 20, "one probe asks for all"


UNKNOWN = 'print("starting"); sys.exit("zarg 17 frobnicated")'


@pytest.mark.thorough
def test_ends_that_nobody_understands_are_waited_out_once_a_second_issue_has_them_and_nobody_is_charged(project):
    worker(
        project, f"if pathlib.Path({str(project.folder / 'calls')!r}).stat().st_size > 2: {UNKNOWN}"
    )  # it has worked
    done = clocked(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.statuses() == dict.fromkeys("123", "merged")
    failed = [a["charged"] for issue in "123" for a in project.attempts(issue) if a["outcome"] != "PASSED"]
    assert len(failed) >= 2
    assert True not in failed
    assert "ended alike, with nothing done" in done.stdout


def test_a_model_that_never_worked_here_and_ends_alike_at_several_issues_stops_the_run_for_nothing(project):
    worker(project, UNKNOWN)
    for number in range(4, 9):
        project.issue(number)
    project.commit()
    done = clocked(project)
    assert done.returncode == 3, done.stdout + done.stderr
    assert (project.folder / "calls").read_text().split() == ["1", "2"]
    assert [a["charged"] for issue in "12" for a in project.attempts(issue)] == [False] * 2
    assert {project.statuses()[issue] for issue in "45678"} == {"ready"}
    assert "this model has never worked here" in done.stdout.replace("\n", " ")
