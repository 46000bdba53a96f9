"""`noface logs`: the right file, in bounded memory, harmless to a terminal, and followed to its end."""

import resource
import subprocess
import sys
import time

import pytest
from cli_story import Story, red_test, write_issue

from noface.core.model import AttemptReport


@pytest.fixture
def story(project):
    write_issue(project.path, "1-x", "One")
    write_issue(project.path, "2-x", "Never tried")
    made = Story(project.path).sync().run()
    made.attempt("1", 1, red_test()).attempt("1", 2, red_test())
    yield made
    made.close()


def refused(project, *args):
    done = project.noface("logs", *args)
    assert done.returncode == 2, done.stdout
    return done.stderr


def test_the_newest_attempt_is_shown_unless_another_is_named(project, story):
    (story.directory("1", 1) / "agent.log").write_text("first\n")
    (story.directory("1", 2) / "agent.log").write_text("second\n")
    assert project.noface("logs", "1").stdout == "second\n"
    assert project.noface("logs", "1", "1").stdout == "first\n"


def test_what_the_worker_complained_of_follows_its_log(project, story):
    folder = story.directory("1", 2)
    (folder / "agent.log").write_text("out\n")
    (folder / "agent.err").write_text("err\n")
    assert project.noface("logs", "1").stdout == "── agent.log\nout\n── agent.err\nerr\n"


def test_prompt_change_and_gates_can_be_asked_for(project, story):
    folder = story.directory("1", 2)
    (folder / "gates").mkdir()
    (folder / "prompt.md").write_text("Do it.\n")
    (folder / "diff.patch").write_text("+new\n")
    (folder / "gates" / "unit.out").write_text("1 failed\n")
    assert project.noface("logs", "1", "--prompt").stdout == "Do it.\n"
    assert project.noface("logs", "1", "--diff").stdout == "+new\n"
    assert project.noface("logs", "1", "--gate", "unit").stdout == "1 failed\n"
    assert "Its gates with logs: unit." in refused(project, "1", "--gate", "lint")


def test_a_gates_name_cannot_lead_out_of_the_attempts_folder(project, story):
    (story.directory("1", 2) / "gates").mkdir()
    (story.state / "attempts" / "secret.out").write_text("secret")
    assert "there is no log of a gate" in refused(project, "1", "--gate", "../../../secret")


def test_escape_sequences_are_taken_out_unless_raw(project, story):
    text = b"\x1b[31mred\x1b[0m \x1b]52;c;ZXZpbA==\x07done\rover\xff\n"
    (story.directory("1", 2) / "agent.log").write_bytes(text)
    assert project.noface("logs", "1").stdout == "red done\nover�\n"
    raw = subprocess.run(
        [sys.executable, "-m", "noface", "logs", "1", "--raw"],
        cwd=project.path,
        env=project.environment(),
        capture_output=True,
        check=True,
    )
    assert raw.stdout == text


def test_a_huge_log_is_shown_with_a_mark_and_never_held_in_memory(project, story):
    path = story.directory("1", 2) / "agent.log"
    with path.open("wb") as file:
        file.write(b"beginning\n")
        file.truncate(3_000_000_000)
        file.seek(0, 2)
        file.write(b"\nthe end\n")
    done = subprocess.run(
        [sys.executable, "-m", "noface", "logs", "1"],
        cwd=project.path,
        env=project.environment(),
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (700_000_000, 700_000_000)),
    )
    assert done.stdout.startswith("beginning\n")
    assert done.stdout.endswith("\nthe end\n")
    assert "bytes left out" in done.stdout
    entry = project.shown("logs", "1")["logs"][0]
    assert entry["bytes"] == 3_000_000_009
    assert entry["left_out"] > 2_999_000_000


def test_the_json_names_files_and_what_was_left_out(project, story):
    (story.directory("1", 2) / "agent.log").write_text("hello\n")
    assert project.shown("logs", "1") == {
        "schema": 1,
        "id": "1",
        "attempt": 2,
        "model": "claude-sonnet",
        "logs": [{"file": "agent.log", "text": "hello\n", "bytes": 6, "left_out": 0}],
    }


def test_what_is_not_there_is_said_with_what_is(project, story):
    assert "has no attempt yet" in refused(project, "2")
    assert "Its attempts: 1, 2." in refused(project, "1", "7")
    assert "no output of the worker" in refused(project, "1")
    (story.directory("1", 2) / "report.json").write_text("{}")
    assert "noface clean" in refused(project, "1")
    assert "there is no issue 9" in refused(project, "9")
    assert refused(project, "1", "--prompt", "--diff")


def test_a_log_that_is_no_file_does_not_hang(project, story):
    (story.directory("1", 2) / "agent.log").mkdir()
    assert "no output of the worker" in refused(project, "1")


def follow(project, story):
    return subprocess.Popen(
        [sys.executable, "-m", "noface", "logs", "1", "--follow"],
        cwd=project.path,
        env=project.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )


def test_following_shows_what_is_added_until_the_attempt_ends(project):
    write_issue(project.path, "1-x", "One")
    sleeper = subprocess.Popen(["sleep", "60"])
    story = Story(project.path).sync().run(pid=sleeper.pid)
    order = story.start("1", 1)
    log = story.directory("1", 1) / "agent.log"
    child = follow(project, story)
    try:
        with log.open("w") as file:
            file.write("early\n")
            file.flush()
            assert child.stdout.readline() == "early\n"
            file.write("half of \x1b[3")
            file.flush()
            time.sleep(0.5)
            file.write("1ma line\nlast words")
        report = AttemptReport(order.token, "1", 1, agent=None, snapshot=None, failure=red_test())
        story.journal.attempt_finished(story.tick(), report, charged=True, notes=())
        rest = child.stdout.read()
        assert rest == "half of a line\nlast words\n── attempt 1 ended: TEST_FAILURE\n"
        assert child.wait() == 0
    finally:
        child.kill()
        child.stdout.close()
        sleeper.kill()
        sleeper.wait()
        story.close()


def test_following_ends_where_the_noface_that_ran_it_is_gone(project):
    write_issue(project.path, "1-x", "One")
    story = Story(project.path).sync().run(pid=2**22 + 1)
    story.start("1", 1)
    (story.directory("1", 1) / "agent.log").write_text("cut off he")
    child = follow(project, story)
    out, _ = child.communicate(timeout=60)
    assert out.startswith("cut off he\n── attempt 1 was cut off")
    story.close()
