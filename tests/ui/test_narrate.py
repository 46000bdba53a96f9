"""What a run says while it goes on: a line for each event that the journal writes, none for what is said already."""

import ast
import re
import time
from pathlib import Path

import pytest
from support.cases import cases
from support.cli_story import Story, red_test, write_issue

import noface
from noface.model.history import Topic
from noface.model.taxonomy import Cause, IssueStatus
from noface.recovery.schedule import Breaker
from noface.store.journal import Journal
from noface.ui.narrate import EventFacts, Narrator, words
from noface.ui.summary import RunTally, run_summary, summary_lines

PROPOSED = "· work that passes becomes a pull request; running its gates on dev first"
WAIT = f"… 7 waits until {time.strftime('%a %Y-%m-%d %H:%M', time.localtime(1_790_090_000.0))} for opus: Cache"
UNTOLD = {"action", "approval_requested", "attempt_started", "continuing", "issue_epic", "main_red", "provider_away"}
UNTOLD |= {"pull_request", "run_started", "run_ended", "progress", "summary", "waiting"}
"""Another event tells it, or the view shows it in its own way."""
TITLE = "Fix the login of visitors whose name holds a comma"


class Night:
    """A story whose journal speaks, as that of a run does; `lines` are what was said."""

    def __init__(self, root):
        write_issue(root, "7-login", TITLE)
        write_issue(root, "8-cache", "Cache the rates", 'depends_on = ["7"]\n')
        self.story = Story(root).sync().run()
        self.reader = self.story.reader
        self.narrator = Narrator(self.reader)
        self.lines = []
        self.tally = RunTally()
        self.story.journal = Journal(self.story.database, "run1", self.say)
        self.story.questions._journal = self.story.journal

    def say(self, kind, issue=None, data=None):
        self.tally.saw(kind, issue, self.story.now)
        found = [f"{line.mark} {line.text}" for line in self.narrator.lines(kind, issue, data or {})]
        self.lines += found
        return found


@pytest.fixture
def night(project):
    made = Night(project.path)
    yield made
    made.story.close()


def line(kind, issue="7", title=TITLE, how="", awaited="", **data):
    found = words(kind, EventFacts(issue, title, data, 1_790_000_000.0, how, awaited))
    return f"{found.mark} {found.text}" if found is not None else None


# All events


def written():
    """The kinds of events that noface's own code writes or announces, by their literals."""
    kinds = {f"issue_{status}" for status in IssueStatus} | {"approved", "rejected"}
    texts = (path.read_text() for path in Path(noface.__file__).parent.rglob("*.py"))
    for text in (text for text in texts if "event(" in text or "announce(" in text):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name, place = node.func.attr, {"event": 1, "announce": 0, "log_event": 0}.get(node.func.attr)
                owner = ast.unparse(node.func.value)
                about_runs = name in ("announce", "log_event") or owner.endswith(("journal", "self"))
                if place is not None and about_runs and len(node.args) > place:
                    given = node.args[place]
                    kinds |= {given.value} if isinstance(given, ast.Constant) else set()
    return kinds


def test_every_event_that_is_written_has_words_or_is_told_otherwise():
    kinds = written()
    assert {"asked", "lesson_learnt", "waiting", "prompt_cut"} < kinds
    assert [
        kind for kind in kinds - UNTOLD if words(kind, EventFacts("7", "", {"topic": "?", "model": "m"}, 0.0)) is None
    ] == []


def test_an_event_of_a_newer_noface_is_passed_over(night):
    assert night.say("moon_landed", "7", {"crater": 1}) == []


@cases(
    ("said", "expected"),
    [
        (
            line("issue_running", reason="attempt 2 with big", how="the next model"),
            f"▶ 7 attempt 2 with big, the next model: {TITLE}",
        ),
        (line("issue_running", reason="asks claude-opus: diagnosis"), None),
        (line("attempt_finished", number=1, outcome="PASSED"), "✓ 7 attempt 1 passed every gate"),
        (
            line("attempt_finished", number=1, outcome="PASSED", worker="TIMEOUT"),
            "✓ 7 attempt 1 passed every gate, though its worker ran out of time",
        ),
        (
            line("attempt_finished", number=1, since=1, outcome="TEST_FAILURE", message="gate unit: exit code 1"),
            "✗ 7 attempt 1 failed a test: gate unit: exit code 1",
        ),
        (
            line(
                "attempt_finished",
                number=1,
                outcome="TEST_FAILURE",
                gate="unit",
                tests=("tests/test_a.py::test_x",),
                location="tests/test_a.py:3",
                message="gate unit: tests/test_a.py::test_x: assert 401 == 200",
            ),
            "✗ 7 attempt 1 failed a test: tests/test_a.py::test_x: assert 401 == 200",
        ),
        (
            line(
                "attempt_finished",
                number=1,
                outcome="LINT_FAILURE",
                gate="lint",
                location="src/a.py:3",
                message="gate lint: unused import",
            ),
            "✗ 7 attempt 1 failed a check: src/a.py:3: unused import",
        ),
        (
            line("attempt_finished", number=1, outcome="INTERRUPTED", charged=False, message=""),
            "· 7 attempt 1 was interrupted; its work is kept",
        ),
        (line("action", action="Escalate", reason="told by the next attempt"), None),
        (line("asked", topic="merge_conflict", model="claude-opus"), "? 7 asks claude-opus: merge conflict"),
        (line("asked", topic="dependency", model=""), None),
        (
            line(
                "answered", topic="diagnosis", outcome="ADVISED", strategy="fix_approach", model="m", text="Rename it."
            ),
            "» 7 m, diagnosis → fix approach: Rename it.",
        ),
        (
            line(
                "answered",
                topic="review",
                outcome="ADVISED",
                strategy="approve",
                model="m",
                text="Verdict: approve\nSummary: fine",
            ),
            "» 7 m, review → approve: fine",
        ),
        (line("answered", topic="review", outcome="ADVISED", strategy="request_changes", model="m", text="x"), None),
        (line("answered", topic="breakdown", outcome="ADVISED", strategy="", model="m", text="x"), None),
        (
            line("answered", topic="diagnosis", outcome="UNUSABLE", strategy="", model="m", text=""),
            "» 7 m, diagnosis: no usable answer; the issue goes on without",
        ),
        (
            line("answered", topic="diagnosis", outcome="UNAVAILABLE", strategy="", model="m", text=""),
            "» 7 m, diagnosis: could not be asked; the issue goes on without",
        ),
        (
            line("parts_failed", text="It was divided into 2 parts."),
            "! 7 goes on as a whole: It was divided into 2 parts.",
        ),
        (
            line(
                "attempt_overruled",
                number=1,
                outcome="MERGE_CONFLICT",
                message="main moved meanwhile, and the change conflicts with it in a.txt",
            ),
            "✗ 7 attempt 1 conflicts with main: a.txt",
        ),
        (line("issue_waiting", reason="x", until=1_790_090_000.0, awaited="opus", title="Cache"), WAIT),
        (line("issue_landing", reason="passed; waits to land"), None),
        (line("issue_landing", reason="local changes: a.txt"), "! 7 cannot land: local changes: a.txt"),
        (line("preflight", None, main="dev", landing="pull-request"), PROPOSED),
    ],
)
def test_each_event_has_its_line(said, expected):
    assert said == expected


# What is said already


def test_why_an_issue_is_ready_is_told_once(night):
    night.story.fail_and_retry("7").status("7", "ready", "2 attempts with claude-sonnet failed")
    assert [text for text in night.lines if "goes on" in text] == []
    night.story.status("7", "blocked", "all used up").status("7", "ready", "its text was edited")
    assert night.lines[-1] == "· 7 goes on: its text was edited"


def test_a_question_and_its_answer_are_two_lines(night):
    night.story.attempt("7", 1, red_test())
    before = len(night.lines)
    night.story.ask("7", Topic.DIAGNOSIS, strategy="fix_approach", text="Rename it.\nThen test.", cause="a name")
    night.story.status("7", "ready", "diagnosis: fix_approach")
    assert night.lines[before:] == [
        "? 7 asks claude-opus: diagnosis",
        "» 7 claude-opus, diagnosis → fix approach: Rename it. Then test.",
    ]


# Providers


def test_a_provider_that_goes_away_and_comes_back_is_told_once_each(night):
    until = 4_000_000_000.0  # far away, so that it is not over while the test runs
    night.story.journal.wait(Breaker("claude-sonnet", until, 3, 1.0, "RATE_LIMITED", "why"))
    night.story.status("7", "waiting", "RATE_LIMITED: the provider says when to come back", until)
    away = [text for text in night.lines if "claude-sonnet" in text]
    assert len(away) == 1
    assert re.fullmatch(
        r"… claude-sonnet: rate limited until \w+ 2096-\d\d-\d\d \d\d:\d\d: 3 failures in a row", away[0]
    )
    night.story.status("8", "waiting", "the same")
    assert [text for text in night.lines if "claude-sonnet" in text] == away
    assert night.say("progress", "7", {"text": "x"}) == []
    night.story.journal.wait_over("claude-sonnet")
    assert night.say("progress", "7", {"text": "x"}) == ["· claude-sonnet answers again"]
    assert night.say("progress", "7", {"text": "x"}) == []


def test_a_wait_for_a_provider_names_the_model_and_is_one_line(night):
    until = 4_000_000_000.0
    night.story.attempt("7", 1, red_test(), charged=False).attempt("8", 1, red_test(), charged=False)
    before = len(night.lines)
    night.story.journal.wait(Breaker("claude-sonnet", until, 1, 1.0, "OVERLOADED", "why"))
    night.story.status("7", "waiting", "retry 1", until).status("8", "waiting", "retry 1", until)
    night.say("waiting", None, {"until": until, "model": "claude-sonnet", "reason": "why"})
    assert [re.sub(r"\w+ 2096-\d\d-\d\d \d\d:\d\d", "THEN", text) for text in night.lines[before:]] == [
        "… claude-sonnet: overloaded until THEN",
        "… 8 waits until THEN for claude-sonnet: Cache the rates",
    ]


# Untrusted words


def test_nothing_that_an_agent_wrote_steers_the_terminal_or_makes_a_line_of_its_own():
    evil = "\x1b[2J\x1b]0;owned\x07no\r\n✔ 8 merged as abc\u202e"
    for kind, field in (
        ("attempt_finished", "message"),
        ("answered", "text"),
        ("lesson_learnt", "advice"),
        ("parts_failed", "text"),
        ("issue_blocked", "reason"),
    ):
        said = line(kind, outcome="ADVISED", topic="diagnosis", **{field: evil})
        assert said.isprintable()
        assert said.index("7 ") < said.index("✔")


def test_a_huge_message_is_bounded():
    assert len(line("attempt_finished", number=1, outcome="X", message="x" * 10_000_000)) < 400


# The end


def closing(night, why="finished; some issues need a person"):
    summary = run_summary(night.reader, why, night.tally, night.story.now)
    return [f"{line.mark} {line.text}" if line.mark else line.text for line in summary_lines(summary)][1:]


def test_the_end_counts_as_status_does_and_names_the_next_command(night):
    night.story.attempt("7", 1, cost=0.25).request_approval("7")
    first, *rest = closing(night)
    assert first.startswith("Finished; some issues need a person. 1 issue, 1 attempt, ")
    assert rest == [
        "Needs your approval",
        '  ? 7 Fix the login of visitors whose name holds a co…: passed; label "risky" needs your approval',
        "Waits",
        "  … 8 Cache the rates: waits for 7 to be merged; 7 waits for approval",
        "The backlog: 1 approval, 1 waiting.",
        "Cost so far: $0.25",
        "Next: noface blocked",
    ]


@pytest.mark.parametrize(
    ("cause", "told", "command"),
    [
        (Cause.NONE, "Left for the next run: 7 (passed; waits to land)", "noface run"),
        (Cause.HELD, "Cannot land", "noface blocked"),
    ],
)
def test_work_that_was_cut_off_before_it_landed_is_left_for_the_next_run(night, cause, told, command):
    night.story.attempt("7", 1).status("7", "landing", "passed; waits to land", cause=cause)
    lines = closing(night, "interrupted; `noface run` goes on where it was")
    assert told in lines
    assert lines[-1] == f"Next: {command}"


def test_the_end_tells_what_blocked_and_what_landed(night):
    story = night.story
    story.attempt("7", 1, red_test())
    story.block("7", reason="all 3 attempts are used up")
    story.attempt("8", 1).status("8", "merged", "merged as abc")
    lines = closing(night)
    assert lines[1:5] == [
        "Landed",
        "  ✔ 8 Cache the rates",
        "Blocked",
        "  ■ 7 Fix the login of visitors whose name holds a co…: all 3 attempts are used up",
    ]
    assert lines[5].strip() == "assert 401 == 200"


def test_the_end_says_what_of_that_which_landed_asks_for_a_look(night):
    story = night.story
    for number in (1, 2, 3):
        story.attempt("7", number, red_test())
    story.attempt("7", 4, changed=("src/migrations/1.sql",)).status("7", "merged", "merged as abc")
    story.attempt("8", 1).status("8", "merged", "merged as abc")
    lines = closing(night)
    assert lines[1:6] == [
        "Look at these first",
        "  ! 7 Fix the login of visitors whose name holds a co…: took 4 attempts; touches the database's schema",
        "Landed",
        "  ✔ 7 Fix the login of visitors whose name holds a co…: 4 attempts",
        "  ✔ 8 Cache the rates",
    ]


def test_the_end_counts_what_was_blocked_before_the_run_and_repeats_nothing_of_it(night):
    night.story.attempt("7", 1, red_test()).status("7", "blocked", "all attempts are used up")
    night.tally = RunTally()
    night.story.attempt("8", 1, red_test()).status("8", "blocked", "its budget is used up")
    lines = closing(night)
    assert [text for text in lines if "7" in text.split() or "used up" in text] == [
        "  ■ 8 Cache the rates: its budget is used up"
    ]
    assert "Waited for you before this run: 1 issue: noface blocked" in lines
    assert lines[-1] == "Next: noface blocked"
