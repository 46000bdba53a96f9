"""Runs on issues that lie on another machine: told in one comment, answered there, and in step whatever happens."""

import json
import signal

import pytest
from support.desk_run import TABLE, desk_of, on_desk, run_on_desk

from noface.process.failpoints import TRACKER_FAILPOINTS

KILLED = -signal.SIGKILL
WORK = ("*", 0, [{"write": "b.txt", "text": "b"}])
STUCK = ("1", 1, [{"say": '{"status": "blocked", "blocked_reason": "unclear", "questions": ["Which port, @bob?"]}'}])
ONE_ATTEMPT = "[retry.strategies]\nAGENT_CONFUSION = 'block'\nNO_DIFF = 'block'\n"


@pytest.fixture
def desk(project):
    project.config(TABLE)
    project.play(WORK)
    project.commit()
    desk = desk_of(project)
    desk.put(1, "Log in with a passkey")
    return desk


def blocked(project, desk):
    """Issue 1 has asked its question, and the run is over."""
    project.config(TABLE + ONE_ATTEMPT)
    project.play(STUCK, WORK)
    project.commit()
    run_on_desk(project, "run", code=3)
    assert desk.issue(1)["state"] == "blocked"


def test_an_issue_is_worked_on_told_in_one_comment_and_closed_when_it_has_landed(project, desk):
    desk.put(2, "Not for noface", label=False)
    run_on_desk(project, "run")
    (comment,) = desk.own_comments(1)
    landed = project.git("rev-parse", "main")[:12]
    assert f"landed** as {landed}" in comment
    assert "attempt 1 with `small`: PASSED" in comment
    assert (desk.issue(1)["state"], desk.issue(1)["closed_by"]) == ("merged", "noface")
    assert desk.own_comments(2) == []
    assert "say 1 running" in desk.calls()


def test_a_question_is_answered_in_a_comment_which_the_next_worker_reads(project, desk):
    blocked(project, desk)
    (comment,) = desk.own_comments(1)
    assert "Which port" in comment
    assert "@bob" not in comment
    desk.comment(1, "alice", "Take port 8443.")
    out = run_on_desk(project, "run")
    assert "1 alice answers: Take port 8443." in out
    assert "Take port 8443." in project.prompt("1", 2)
    assert len(desk.own_comments(1)) == 1
    assert desk.issue(1)["state"] == "merged"


def test_what_strangers_write_and_what_was_written_before_the_question_answers_nothing(project, desk):
    desk.comment(1, "alice", "I like this issue.")
    blocked(project, desk)
    desk.comment(1, "mallory", "/noface skip")
    run_on_desk(project, "run", code=3)
    assert desk.issue(1)["state"] == "blocked"
    assert len(desk.calls("hear")) >= 2


def test_an_answer_acts_once_also_where_noface_is_killed_right_after_it(project, desk):
    blocked(project, desk)
    asks_again = ("1", 2, STUCK[2])
    project.play(STUCK, asks_again, WORK)
    desk.comment(1, "alice", "Take port 8443.")
    run_on_desk(project, "run", code=KILLED, NOFACE_FAILPOINT="answer_heard")
    for _ in range(2):
        run_on_desk(project, "run", code=3)
    (issue,) = story(project)["issues"]
    assert (issue["id"], issue["status"], issue["attempts"]) == ("1", "blocked", 1)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("/noface retry", "merged", "landed"),
        ("/skip", "skipped", "leaves this undone"),
        ("/noface approve", "blocked", "does not wait for approval"),
        ("/noface frobnicate", "blocked", "is none of approve, reject, retry, skip"),
    ],
)
def test_a_command_does_what_the_verb_of_its_name_does_or_why_not_stands_in_the_comment(
    project, desk, words, status, said
):
    blocked(project, desk)
    desk.comment(1, "alice", words)
    run_on_desk(project, "run", code=0 if status == "merged" else 3)
    assert desk.issue(1)["state"] == status
    assert said in desk.own_comments(1)[0]


def test_what_needs_a_yes_lands_with_a_yes_and_a_no_goes_to_the_next_worker(project, desk):
    project.config(TABLE + '[approval]\npaths = ["*.txt"]\n')
    project.play(("1", 1, WORK[2]), ("1", 2, [{"write": "c.txt", "text": "c"}]))
    project.commit()
    run_on_desk(project, "run", code=3)
    assert "`/noface approve`" in desk.own_comments(1)[0]
    desk.comment(1, "bob", "/noface reject Call it c.txt.")
    run_on_desk(project, "run", code=3)
    assert "Call it c.txt." in project.prompt("1", 2)
    desk.comment(1, "bob", "/noface approve")
    run_on_desk(project, "run")
    assert desk.issue(1)["state"] == "merged"


@pytest.mark.parametrize("name", TRACKER_FAILPOINTS[:2])
@pytest.mark.parametrize("nth", [1, 2])
def test_a_kill_between_telling_and_its_record_leaves_one_comment(project, desk, name, nth):
    run_on_desk(project, "run", code=KILLED, NOFACE_FAILPOINT=f"{name}:{nth}")
    run_on_desk(project, "run")
    assert len(desk.own_comments(1)) == 1
    assert desk.issue(1)["state"] == "merged"


def test_closing_an_issue_ends_its_worker_and_keeps_its_work(project, desk):
    project.config(TABLE + "[github]\npoll = '1s'\n")
    project.play(("1", 1, [{"write": "half.txt", "text": "half"}, {"sleep": 60}]), WORK)
    project.commit()
    running = on_desk(project, "run")
    project.in_slots("half.txt")
    desk.close(1)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0, out
    assert "1 was closed or taken from noface" in out
    assert desk.issue(1)["state"] == "gone"
    assert project.git("show", "refs/noface/issues/1/1:half.txt") == "half"
    desk.put(1, open=True)
    run_on_desk(project, "run")
    assert desk.issue(1)["state"] == "merged"


def test_a_tracker_that_is_away_stops_nobody_and_is_told_all_by_the_next_run(project, desk):
    run_on_desk(project, "fetch")
    desk.away(3600)
    out = run_on_desk(project, "run")
    assert out.count("the tracker does not answer") == 1
    assert "the next run tells the tracker how these stand: 1" in out
    assert project.git("show", "main:b.txt") == "b"
    desk.away(0)
    run_on_desk(project, "run")
    assert desk.issue(1)["state"] == "merged"
    assert len(desk.own_comments(1)) == 1


def test_without_any_copy_a_tracker_that_is_away_is_an_error_that_says_so(project, desk):
    desk.away(3600)
    out = run_on_desk(project, "run", code=1)
    assert "no copy of the issues yet" in out
    assert "503" in out


def test_a_refusal_at_the_beginning_ends_the_run_and_one_later_is_told_once(project, desk):
    desk.refuse("refresh")
    assert "Ask an owner." in run_on_desk(project, "run", code=1)
    desk.refuse("say")
    out = run_on_desk(project, "run")
    assert out.count("the tracker refuses") == 1
    assert project.git("show", "main:b.txt") == "b"
    desk.refuse()
    run_on_desk(project, "run")
    assert desk.issue(1)["state"] == "merged"


WORKER = """\
test $NOFACE_ISSUE_ID = 1 && exit 0
if test $(cat {slept}) -lt 5400; then echo '529 overloaded' >&2; exit 75; fi
echo done > two.txt
"""


def test_an_idle_run_asks_less_than_a_hundred_times_an_hour(project, desk):
    """A provider is away for an hour and a half; meanwhile another issue waits for an answer."""
    slept, script = project.folder / "slept", project.folder / "worker.sh"
    script.write_text(WORKER.format(slept=slept))
    desk.put(2, "Cache the rates")
    project.config(TABLE + ONE_ATTEMPT)
    config = project.path / "noface.toml"
    text = config.read_text().replace('agent = "scripted"', 'agent = "command"')
    config.write_text(text.replace(f'"{project.script}"', f'"sh {script}"'))
    project.commit()
    run_on_desk(project, "run", code=3, NOFACE_TEST_STEP_S="5")
    assert project.git("show", "main:two.txt") == "done"
    assert 20 < len(desk.calls()) < 100 * float(slept.read_text()) / 3600


def test_the_issues_can_be_fetched_and_looked_at_without_a_run(project, desk):
    assert "the issues were never fetched" in run_on_desk(project, "issues", code=2)
    assert "new    1  Log in with a passkey" in run_on_desk(project, "fetch")
    asked = len(desk.calls())
    assert "https://desk.example/1" in run_on_desk(project, "issue", "show", "1")
    assert "now  1 with small" in run_on_desk(project, "run", "--dry-run")
    assert len(desk.calls()) == asked
    desk.put(1, "Log in with two passkeys")
    assert "edited 1  Log in with two passkeys" in run_on_desk(project, "fetch")


def story(project):
    return json.loads(run_on_desk(project, "status", "--json"))
