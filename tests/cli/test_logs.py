"""`noface logs`: the right file, in bounded memory, harmless to a terminal, and followed to its end."""

import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from support.cli_story import Story, red_test, write_issue

from noface.model.actions import Ask
from noface.model.attempt import Judged, Snapshot
from noface.model.history import Topic
from noface.model.worker_run import AgentRun, EndedBy
from noface.ui.follow import Tail, sources

SLOT = "/home/ada/.cache/noface/shop-ab12/agent-0"
RUN = AgentRun(0, None, EndedBy.ITSELF, 1.0)


def spoken(*parts):
    return {"type": "assistant", "message": {"content": list(parts)}}


def used(number, name, **given):
    return spoken({"type": "tool_use", "id": f"t{number}", "name": name, "input": given})


def answered(number):
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "is_error": False, "content": "x" * 300}
    return {"type": "user", "message": {"content": [result]}}


STREAM = "".join(
    json.dumps(entry) + "\n"
    for entry in (
        {"type": "system", "subtype": "init", "cwd": SLOT},
        spoken({"type": "text", "text": "I look first.\nThen I \x1b[31mwrite\x1b[0m."}),
        used(1, "Read", file_path=f"{SLOT}/src/login.py"),
        answered(1),
        {"type": "system", "subtype": "api_retry", "error": "overloaded_error"},
        used(3, "Bash", command=f"cd  {SLOT}/src\n  grep 'a  b'  x"),
        answered(3),
        used(2, "Edit", file_path=f"{SLOT}/src/login.py"),
        answered(2),
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done"},
    )
)
STREAM += "Error: a line that is no JSON\n"
READABLE = """\
I look first.
Then I write.
  · Read src/login.py
  … retrying after overloaded_error
  · Bash cd  src
      grep 'a  b'  x
  · Edit src/login.py
  = success
Error: a line that is no JSON
"""


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


def test_prompt_change_and_gates_can_be_asked_for(project, story):
    folder = story.directory("1", 2)
    (folder / "gates").mkdir()
    (folder / "prompt.md").write_text("Do it.\n")
    (folder / "diff.patch").write_text("+new\n")
    (folder / "gates" / "unit.out").write_text("1 failed\n")
    assert project.noface("logs", "1", "--prompt").stdout == "Do it.\n"
    assert project.noface("logs", "1", "--diff").stdout == "+new\n"
    assert project.noface("logs", "1", "--gate", "unit").stdout == "1 failed\n"
    assert "Gates with logs: unit." in refused(project, "1", "--gate", "lint")


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
    assert "noface tools clean" in refused(project, "1")
    assert "there is no issue 9" in refused(project, "9")
    for together in (("--prompt", "--diff"), ("-f", "--json")):
        assert "--follow only with --gate or --raw" in refused(project, "1", *together)


def test_a_log_that_is_no_file_does_not_hang(project, story):
    (story.directory("1", 2) / "agent.log").mkdir()
    assert "no output of the worker" in refused(project, "1")


def test_an_agent_s_stream_is_shown_as_people_read_it(project, story):
    (story.directory("1", 2) / "agent.log").write_text(STREAM)
    assert project.noface("logs", "1").stdout == READABLE
    assert project.noface("logs", "1", "--raw").stdout == STREAM
    assert project.shown("logs", "1")["logs"][0]["text"] == STREAM


def test_the_order_tells_the_agent_where_the_configuration_no_longer_does(project, story):
    folder = story.directory("1", 2)
    (folder / "agent.log").write_text(STREAM)
    project.config('[models.claude-sonnet]\nagent = "command"\ncommand = "true"\n')
    assert project.noface("logs", "1").stdout == STREAM
    (folder / "order.json").write_text('{"model": {"agent": "claude"}}')
    assert project.noface("logs", "1").stdout == READABLE


# Following


@pytest.fixture
def night(project):
    write_issue(project.path, "1-x", "One")
    sleeper = subprocess.Popen(["sleep", "120"])
    made = Story(project.path).sync().run(pid=sleeper.pid)
    yield made
    sleeper.kill()
    sleeper.wait()
    made.close()


class Following:
    """`noface logs 1 --follow` under way."""

    def __init__(self, project, *args):
        self.child = subprocess.Popen(
            [sys.executable, "-m", "noface", "logs", "1", "--follow", *args],
            cwd=project.path,
            env=project.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()

    def line(self):
        return self.child.stdout.readline().rstrip("\n")

    def rest(self):
        return self.child.stdout.read().splitlines()

    @contextmanager
    def asleep(self):
        """Between two of its looks: on a busy machine it would look in the middle of what is written in this block."""
        self.child.send_signal(signal.SIGSTOP)
        yield
        self.child.send_signal(signal.SIGCONT)


def log(story, number, text, name="agent.log"):
    path = story.directory("1", number) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def finish(story, order, failure=None):
    report = Judged(order.token, "1", order.number, RUN, Snapshot("c", "t", "c", "t"), failure=failure)
    story.journal.attempt_finished(story.tick(), report, charged=True, notes=())


def test_following_one_attempt_shows_what_is_added_until_it_ends(project, night):
    order = night.start("1", 1)
    with Following(project, "1") as shown:
        assert shown.line() == "── attempt 1 with claude-sonnet"
        log(night, 1, "early\n")  # a log that was not there yet
        assert shown.line() == "early"
        log(night, 1, "half of \x1b[3")
        log(night, 1, "next\n", "other.log")
        log(night, 1, "1ma line\nlast words")
        finish(night, order, red_test())
        assert shown.rest() == [
            "half of a line",
            "last words",
            "── ✗ 1 attempt 1 failed a test: tests/test_login.py:41: assert 401 == 200",
            "── attempt 1 failed a test",
        ]
        assert shown.child.wait() == 0


def test_following_an_issue_goes_on_with_gates_and_attempts_until_it_is_merged(project, night):
    with Following(project) as shown:
        assert shown.line() == "── issue 1 has no attempt yet; waiting for one"
        with shown.asleep():
            order = night.start("1", 1)
            log(night, 1, "I try.\n")
            log(night, 1, "1 failed\n", "gates/unit.out")
            finish(night, order, red_test())
            night.journal.action(night.tick(), "1", 1, Ask(Topic.DIAGNOSIS, "claude-opus", "the same failure again"))
            night.ask("1", Topic.DIAGNOSIS, strategy="fix_approach", text="Rename it.")
            night.status("1", "ready", "diagnosis: fix_approach")
            order = night.start("1", 2, model="claude-opus", think=True)
            log(night, 2, "I rename it.\n")
            finish(night, order)
            log(night, 2, "1 passed\n", "landing/unit.out")
            night.journal.merged(night.tick(), "1", night.commit)
        assert shown.rest() == [
            "── attempt 1 with claude-sonnet",
            "I try.",
            "── gate unit",
            "1 failed",
            "── ✗ 1 attempt 1 failed a test: tests/test_login.py:41: assert 401 == 200",
            "── ? 1 asks claude-opus: diagnosis",
            "── » 1 claude-opus, diagnosis → fix approach: Rename it.",
            "── attempt 2 with claude-opus, thinking longer",
            "I rename it.",
            "── gate unit on the merge with main",
            "1 passed",
            "── ✓ 1 attempt 2 passed every gate",
            "── ✔ 1 merged as cccccccccccc: One",
            "── 1 is merged",
        ]
        assert shown.child.wait() == 0


def test_following_raw_passes_the_bytes_on_and_nothing_else(project, night):
    order = night.start("1", 1)
    log(night, 1, STREAM + "\x1b[31mred\x1b[0m")
    with Following(project, "--raw", "1") as shown:
        finish(night, order)
        assert shown.child.stdout.read() == STREAM + "\x1b[31mred\x1b[0m"


def test_following_ends_where_the_noface_that_ran_it_is_gone(project):
    write_issue(project.path, "1-x", "One")
    story = Story(project.path).sync().run(pid=2**22 + 1)
    story.start("1", 1)
    log(story, 1, "cut off he")
    with Following(project) as shown:
        assert shown.rest() == [
            "── attempt 1 with claude-sonnet",
            "cut off he",
            "── attempt 1 was cut off, its noface is gone; `noface run` goes on where it was",
        ]
    finish(story, type("Order", (), {"token": "1-1", "number": 1}), red_test())
    with Following(project) as shown:
        assert shown.rest()[-1] == "── no noface is at work any more, and 1 is running; `noface run` goes on"
    story.close()


def test_an_issue_without_attempts_is_waited_for_only_while_a_noface_is_at_work(project, story):
    assert "has no attempt yet" in refused(project, "2", "--follow")


# The growing file


def test_a_file_that_goes_while_the_logs_are_listed_ends_nothing(tmp_path):
    (tmp_path / "gates").mkdir()
    (tmp_path / "gates" / "check.out").symlink_to("gone")
    assert [source.path.name for source in sources(tmp_path, "check")] == ["check.out"]


def test_a_tail_begins_near_the_end_where_it_is_told_to(tmp_path):
    (tmp_path / "log").write_bytes(b"0123456789")
    tail = Tail(tmp_path / "log", 4)
    assert (tail.read(), tail.cut) == (b"6789", True)


def test_a_tail_begins_anew_with_a_shorter_file(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"old, and longer than the new one\n")
    tail = Tail(path)
    tail.read()
    path.write_bytes(b"new\n")
    assert tail.read() == b"new\n"


@pytest.mark.timeout(20)
def test_a_tail_never_opens_what_is_no_plain_file(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert Tail(tmp_path / "fifo").read() == b""
    assert Tail(tmp_path / "link").read() == b""
    assert Tail(tmp_path).read() == b""
