"""Standard streams that are closed, unread or of a narrow encoding, and names that are not UTF-8: with real processes."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from support.project import Project, Restored

LOOKS = (["status"], ["status", "--json"], ["logs", "1"])
"""The ways in which something is printed: a page, a document, the bytes of a log."""


def noface(project, line, **env):
    """Run a line of bash in which $NOFACE is the command; its exit code, output and errors."""
    done = subprocess.run(
        ["bash", "-c", line], cwd=project.path, capture_output=True, timeout=120, check=False,
        env=project.environment(NOFACE=f"{sys.executable} -m noface", **env),
    )  # fmt: skip
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def story(project):
    project.play(
        ("1", 0, [{"say": "working – gründlich"}, {"write": "b.txt", "text": "x"}]),
        ("2", 0, [{"write": "c.txt", "text": "x"}]),
    )
    project.issue(1, "Straße – grün")
    project.commit()
    project.run()


@pytest.fixture(scope="module")
def after_a_run(tmp_path_factory):
    return Restored(tmp_path_factory.mktemp("streams"))


@pytest.fixture
def worked(project, after_a_run):
    """A project with one landed issue, whose title is not ASCII."""
    after_a_run.give(project, story)
    return project


def test_a_closed_standard_output_is_no_error_of_any_command(worked):
    assert noface(worked, "$NOFACE status >&-")[::2] == (0, "")
    assert noface(worked, "$NOFACE show nothing <&- >&- 2>&-")[0] == 2


@pytest.mark.thorough
def test_no_file_of_noface_takes_the_number_of_a_closed_stream(worked):
    worked.issue(2, "Another")
    worked.commit()
    assert noface(worked, "$NOFACE run <&- >&- 2>&-")[0] == 0
    assert worked.statuses() == {"1": "merged", "2": "merged"}
    assert worked.noface("status").returncode == 0
    assert (worked.state / "state.db").read_bytes()[:15] == b"SQLite format 3"


def test_a_look_whose_reader_is_gone_ends_quietly_with_its_own_exit_code(worked):
    for words in (["logs", "1"], ["show", "nothing"]):
        line = f"{{ sleep 0.05; exec $NOFACE {' '.join(words)}; }} | true; echo ${{PIPESTATUS[0]}}"
        _, output, errors = noface(worked, line)
        assert (words, output, errors) == (words, "0\n", "") or (words[-1], output) == ("nothing", "2\n")


def test_a_run_whose_reader_is_gone_goes_on_to_its_end(worked):
    worked.issue(2, "Another")
    worked.commit()
    code, output, errors = noface(worked, "$NOFACE run --json | head -1; echo ${PIPESTATUS[0]}")
    assert (code, output.splitlines()[-1], errors) == (0, "0", "")
    assert worked.statuses()["2"] == "merged"


def test_following_a_log_ends_when_nobody_reads_it(project):
    project.play(("1", 0, [{"say": "x " * 40_000}, {"shell": "while ! test -e done; do echo y; sleep 0.1; done"}]))
    project.issue(1)
    project.commit()
    running = project.start("run")
    try:
        wait = "until test -s .git/noface/attempts/1/1/agent.log; do sleep 0.05; done; $NOFACE logs 1 -f | head -1"
        code, _, errors = noface(project, wait)
        assert (code, errors) == (0, "")
    finally:
        running.terminate()
        running.communicate(timeout=60)


@pytest.mark.thorough
def test_a_narrow_encoding_loses_characters_and_nothing_else(worked):
    for words in (["show", "1"], ["logs", "1"], ["run"], ["show", "nothing"]):
        code, output, errors = noface(worked, f"$NOFACE {' '.join(words)}", PYTHONIOENCODING="ascii:strict")
        assert code == (2 if words[-1] == "nothing" else 0), (words, errors)
        assert "Traceback" not in output + errors
        assert "itself failed" not in errors


@pytest.mark.thorough
def test_a_repository_at_a_path_that_is_not_utf_8_is_worked_like_any_other(project):
    there = os.fsdecode(os.fsencode(project.folder) + b"/r\xe9po")
    shutil.copytree(project.path, there)
    project.play(("1", 0, [{"say": "working"}, {"write": "b.txt", "text": "done\n"}]))
    moved = Project(project.folder.__class__(there), project.folder)
    moved.issue(1)
    moved.commit()
    moved.run()
    for words in (*LOOKS, ["issues"], ["blocked"], ["show", "1"], ["show", "1", "--why"], ["tools", "clean"]):
        shown = moved.noface(*words)
        assert (words, shown.returncode, shown.stderr) == (words, 0, "")


def test_a_value_of_the_environment_that_is_not_utf_8_is_no_crash(worked):
    odd = {"ODD": b"\xff\xfe", "ODD_TOKEN": b"\xff\xfesecret-value-1234", "TERM": b"\xff"}
    worked.issue(2, "Another")
    worked.commit()
    done = worked.noface("run", "--json", **{name: os.fsdecode(value) for name, value in odd.items()})
    assert done.returncode == 0, done.stderr
    assert all(json.loads(line)["schema"] == 1 for line in done.stdout.splitlines())
