"""The live view: its rows as pure functions draw them, and `noface run` in a terminal, as a person sees it."""

import io
import os
import re
import time
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console, Group
from support.cases import cases
from support.cli_story import Story, red_test, write_issue
from support.live_screen import Terminal

from noface.recovery.schedule import Breaker
from noface.ui.live_block import Role, RunState, Totals, WorkFacts, advance, block, look_up, wants_facts

NOON = 1_790_000_000.0
LOGIN = WorkFacts("Fix the login of visitors whose name holds a comma", "running", 2, "claude-sonnet", False, 0.42)


def told(state, *events, facts=LOGIN, now=100.0):
    for kind, issue, data in events:
        state = advance(state, kind, issue, data, facts, now)
    return state


def running(issue="7", reason="attempt 2 with claude-sonnet"):
    return ("issue_running", issue, {"reason": reason})


def progress(text, issue="7", **more):
    return ("progress", issue, {"number": 2, "phase": "agent", "text": text, "kind": "text", **more})


def drawn(state, totals=None, width=80, height=24, now=142.0):
    lines = block(state, totals or Totals({}), width, height, now, NOON)
    console = Console(record=True, width=width, file=io.StringIO())
    console.print(Group(*lines))
    return [line.rstrip() for line in console.export_text().splitlines()]


def rows(state, **how):
    return [line for line in drawn(state, **how) if "─" not in line][:-1]


# What rows say


def test_a_row_names_issue_attempt_model_step_cost_and_time():
    state = told(RunState(0.0), running(), progress("Edit src/login.py", kind="edit"))
    assert rows(state) == [
        " 7  Fix the login of visitors whose name holds a comma               $0.42  0:42",
        "    attempt 2 claude-sonnet · Edit src/login.py",
    ]


def test_what_a_worker_used_is_shown_until_it_is_counted():
    state = told(RunState(0.0), running(), progress("Read a.py", cost_usd=1.0))
    state = told(state, progress("running the gates", phase="gate"))
    assert "$1.42" in rows(state)[0]
    assert drawn(state, Totals({}, 0.42))[-1].endswith("1 attempt · $1.42 · 2:22")
    assert wants_facts(state, "attempt_finished", "7")
    state = told(state, ("attempt_finished", "7", {"number": 2}), facts=replace(LOGIN, cost_usd=1.45))
    assert "$1.45" in rows(state)[0]
    assert drawn(state, Totals({}, 1.45))[-1].endswith("1 attempt · $1.45 · 2:22")


def test_gates_are_named_while_they_run():
    state = told(RunState(0.0), running(), progress("running the gates", phase="gate"))
    assert rows(state)[1].endswith("· gates")
    state = told(state, progress("unit once more", phase="gate"))
    assert rows(state)[1].endswith("· gates: unit once more")


def test_landing_is_shown_until_the_issue_is_merged():
    state = told(RunState(0.0), running(), ("issue_landing", "7", {"reason": "passed; waits to land"}))
    assert rows(state)[1] == "    landing · waits for its turn"
    state = told(state, progress("unit", phase="gate"))
    assert rows(state)[1] == "    landing · gates: unit"
    state = told(state, ("issue_merged", "7", {"reason": "merged as abc"}))
    assert rows(state) == []


def test_an_issue_that_pauses_has_no_row():
    state = told(RunState(0.0), running("1"), running("2"), running("3"))
    state = told(state, ("issue_blocked", "2", {"reason": "no"}), running("4"))
    assert [row.issue_id for row in state.rows] == ["1", "3", "4"]


def test_an_attempt_that_was_resumed_gets_its_row_from_its_progress():
    state = told(RunState(0.0), progress("unit", phase="gate"))
    (row,) = state.rows
    assert (row.role, row.facts) == (Role.ATTEMPT, LOGIN)
    assert wants_facts(RunState(0.0), "progress", "7")
    assert not wants_facts(state, "progress", "7")


# The last lines


def test_the_totals_count_issues_attempts_money_and_time():
    state = told(RunState(0.0), running("1"), running("1"))
    totals = Totals({"ready": 4, "merged": 3, "blocked": 1}, 1.234)
    (line,) = drawn(state, totals)[-1:]
    assert line == " 3 merged · 1 blocked · 4 ready                        2 attempts · $1.23 · 2:22"


def test_where_everything_waits_the_next_moment_and_its_cause_are_shown():
    until = NOON + 720
    state = told(RunState(0.0), running(), ("waiting", None, {"until": until, "seconds": 720.0}))
    lines = drawn(state, Totals({"waiting": 2}, away=("claude-sonnet: rate limited until 16:28",)))
    clock = time.strftime("%H:%M", time.localtime(until))
    assert lines[1:3] == [f" everything waits until {clock}, 12m more", "   claude-sonnet: rate limited until 16:28"]
    assert "7" not in "".join(row.issue_id for row in state.rows)
    state = told(state, running())
    assert "everything waits" not in "\n".join(drawn(state))


def test_a_wait_that_no_time_ends_says_for_what_and_a_pause_stays_to_be_seen():
    pause = ("paused", None, {"text": "paused: nothing more starts; `noface resume` goes on"})
    wait = ("waiting", None, {"until": 0.0, "seconds": 0.0, "reason": "it is paused; `noface resume` goes on"})
    state = told(RunState(0.0), pause)
    assert " paused · 2:22" in drawn(state)[-1], "also while others could start"
    state = told(state, wait)
    assert " everything waits: it is paused; `noface resume` goes on" in drawn(state)
    state = told(state, ("paused", None, {"text": "resumed: it goes on"}), running())
    assert "pause" not in "\n".join(drawn(state))
    watching = told(state, ("waiting", None, {"until": 0.0, "reason": "for new issues (--watch)"}))
    assert " everything waits: for new issues (--watch)" in drawn(watching)


def test_a_provider_that_is_away_is_named_while_others_work():
    state = told(RunState(0.0), running())
    assert " claude-sonnet: rate limited until 16:28" in drawn(
        state, Totals({}, away=("claude-sonnet: rate limited until 16:28",))
    )


def test_the_totals_are_looked_up_as_status_counts_them(project):
    write_issue(project.path, "7-a", "One")
    write_issue(project.path, "8-b", "Two", 'depends_on = ["7"]\n')
    story = Story(project.path).sync().run()
    until = story.now + 600
    story.attempt("7", 1, red_test(), cost=0.25)
    story.journal.wait(Breaker("claude-sonnet", until, 1, story.now, "RATE_LIMITED", "why"))
    story.status("7", "waiting", "RATE_LIMITED: retry 1 of 3", until)
    totals = look_up(story.reader, story.now)
    story.close()
    assert dict(totals.counts) == {"waiting": 2}
    assert totals.usd == 0.25
    assert totals.away == (f"claude-sonnet: rate limited until {time.strftime('%H:%M', time.localtime(until))}",)


# Sizes


@cases("at_work", [0, 1, 4, 16, 64])
@cases("width", [1, 7, 20, 40, 80, 200])
@cases("height", [1, 2, 5, 10, 24, 60])
def test_it_fits_any_terminal(at_work, width, height):
    facts = WorkFacts("日本語 " * 20, "running", 12, "claude-sonnet", True, 12.5)
    state = RunState(0.0)
    for number in range(at_work):
        issue = f"issue-{number}-日本"
        state = told(state, running(issue), progress("Edit src/日本語/x.py", issue, kind="edit"), facts=facts)
    totals = Totals({"merged": 1000, "blocked": 20, "approval": 3}, 99.0, ("a" * 99,))
    lines = block(state, totals, width, height, 9999.0, NOON)
    assert len(lines) <= max(height - 1, 1)
    assert max(cell_len(line.plain) for line in lines) <= width


# In a terminal


@pytest.fixture
def work(project):
    """Three issues: one passes, one fails first, one is never done."""
    project.config(gate="test ! -e bad || { echo 'FAIL: got bad, want good'; exit 1; }", workers=2)
    project.play(
        ("1", 0, [{"say": "Reading the code"}, {"sleep": 1.5}, {"write": "one", "text": "1"}]),
        ("2", 1, [{"say": "A quick fix"}, {"sleep": 0.7}, {"write": "bad", "text": "2"}]),
        ("2", 0, [{"shell": "rm -f bad"}, {"write": "two", "text": "2"}]),
        ("3", 0, [{"say": "Why?"}]),
    )
    project.issue(1, "Fix the login")
    project.issue(2, "Cache the rates")
    project.issue(3, "Make it better", max_attempts=1)
    project.commit()
    return project


def opened(project, *args, **how):
    return Terminal(project, *args, **how)


def test_a_person_sees_rows_of_what_is_under_way_and_lines_of_what_happened(work):
    """A colour is in what the terminal gets, unless NO_COLOR is set (the test of Ctrl-C)."""
    terminal = opened(work, "run")
    try:
        began = time.monotonic()
        terminal.until(
            lambda screen: re.search(r" 1  Fix the login +0:0\d\n +attempt 1 small · Reading the code", screen.text)
        )
        assert not terminal.screen.cursor_shown
        assert terminal.ended() == 3
        seconds = time.monotonic() - began
    finally:
        terminal.close()
    lines = [re.sub(r"^\d\d:\d\d ", "", line) for line in terminal.screen.lines if line]
    assert "· work that passes lands on main; running its gates on main first" in lines[:2]
    for line in (
        "▶ 1 attempt 1 with small: Fix the login",
        "✗ 2 attempt 1 failed a test: gate check: FAIL: got bad, want good",
        "▶ 2 attempt 2 with small, told what went wrong: Cache the rates",
        "■ 3 blocked: its only attempt is used up (Make it better)",
        "✓ 1 attempt 1 passed every gate",
    ):
        assert lines.count(line) == 1, terminal.screen.text
    assert "The backlog: 2 merged, 1 blocked." in lines
    assert not [line for line in lines if "─" in line or "attempt 1 small" in line]  # nothing is left of the rows
    assert terminal.screen.cursor_shown
    assert terminal.raw.count("\r\x1b[2K") <= 4 * seconds + 4  # each frame begins with one
    assert COLOUR.search(terminal.raw)


def test_ctrl_c_ends_it_with_a_clean_screen(work):
    terminal = opened(work, "run", NO_COLOR="1")
    try:
        terminal.until(lambda screen: "Reading the code" in screen.text)
        os.write(terminal.master, b"\x03")
        assert terminal.ended() == 130
    finally:
        terminal.close()
    assert "stopping: workers are being ended" in terminal.screen.text
    assert "\nInterrupted; `noface run` goes on where it was. " in terminal.screen.text
    assert terminal.screen.cursor_shown
    assert terminal.screen.lines[-1] == ""
    assert not COLOUR.search(terminal.raw)


@pytest.mark.thorough
def test_a_terminal_that_is_closed_does_no_harm(work):
    terminal = opened(work, "run")
    try:
        terminal.until(lambda screen: "Reading the code" in screen.text)
        os.close(terminal.master)
        terminal.process.wait(60)
        terminal.master = os.open(os.devnull, os.O_RDONLY)
    finally:
        terminal.close()
    assert work.processes() == []
    work.run(code=3)
    assert work.statuses() == {"1": "merged", "2": "merged", "3": "blocked"}


COLOUR = re.compile(r"\x1b\[[0-9;]*\b(?:3|4|9)[0-9][0-9;]*m")
