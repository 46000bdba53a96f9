"""kill -9 at every failpoint, then `noface run` again: nothing lost, nothing landed twice, no process left."""

import json
import os
import signal
import sqlite3
from pathlib import Path

import pytest
from support.cases import first_ones
from support.processes import wait_for

from noface.data import table

KILLED = -signal.SIGKILL
DIAGNOSIS = {
    "cause": "the file bad is there",
    "recoverable": "yes",
    "strategy": "alternative_approach",
    "alternative": "remove it",
}


def lay_out(project):
    """Three issues: one fails once, one is proven while main moves; and changes of the user's, not committed."""
    moved = f"until test -e {project.path}/two.txt; do sleep 0.05; done"
    asks = '[roles]\ndiagnoser = "big"\n[retry.strategies]\nRUNTIME_ERROR = "diagnose"\n'
    # What prints nothing could be the other's doing: it would be waited for.
    gate = f"if test -e bad; then echo 'RuntimeError: strange' >&2; exit 3; fi; if test -e three.txt; then {moved}; fi"
    project.config(asks, gate=gate, workers=2)
    project.play(
        ("2", 0, [{"say": json.dumps(DIAGNOSIS)}], "diagnosis"),
        ("1", 0, [{"write": "one.txt", "text": "1"}]),
        ("2", 1, [{"write": "bad", "text": "x"}, {"write": "two.txt", "text": "2"}]),
        ("2", 0, [{"shell": "rm -f bad"}, {"write": "two.txt", "text": "2"}]),
        ("3", 0, [{"write": "three.txt", "text": "3"}]),
    )
    for number in (1, 2, 3):
        project.issue(number)
    project.base = project.commit()
    project.write("notes.txt", "mine\n")
    project.write("a.txt", "one\nmine, not committed\n")


def check_laws(project):
    """I1-I4, I6, I8, I10 of the invariants in docs/design.md."""
    database = sqlite3.connect(project.state / "state.db")
    assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    landings = database.execute("SELECT old, new, tree FROM landings WHERE state = 'landed'").fetchall()
    green = {row[0] for row in database.execute("SELECT tree FROM gate_memo")}
    history = project.git("log", "--first-parent", "--format=%H %P", f"{project.base}..main").splitlines()
    moves = [(line.split()[1], line.split()[0]) for line in history]
    assert sorted(moves) == sorted((old, new) for old, new, _ in landings)  # main moved only by recorded swaps
    for _, new, tree in landings:
        assert project.git("rev-parse", f"{new}^{{tree}}") == tree
        assert tree in green
    finished = database.execute("SELECT candidate FROM attempts WHERE candidate IS NOT NULL").fetchall()
    kept = set(project.git("for-each-ref", "--format=%(objectname)", "refs/noface").split())
    assert {row[0] for row in finished} <= kept
    assert (project.path / "notes.txt").read_text() == "mine\n"
    assert (project.path / "a.txt").read_text() == "one\nmine, not committed\n"
    assert project.git("status", "--porcelain").splitlines() == ["M a.txt", "?? notes.txt"]
    assert not (project.path / ".git" / "index.lock").exists()
    assert project.git("fsck", "--connectivity-only", "--no-dangling") == ""
    assert project.unexpected_steps() == ()
    wait_for(lambda: not project.processes())


ALWAYS = ("snapshot_taken", "landing_files_updated")
"""A death before the work is kept, and one while main moves."""


@pytest.mark.parametrize(
    "name", first_ones((*ALWAYS, *(each for each in table("failpoints")["run"] if each not in ALWAYS)), len(ALWAYS))
)
def test_a_run_killed_at_any_failpoint_goes_on(project, name):
    lay_out(project)
    killed = project.noface("run", NOFACE_FAILPOINT=name)
    assert killed.returncode == KILLED, f"{name} was never reached:\n{killed.stdout}{killed.stderr}"
    wait_for(lambda: not project.processes())
    project.run()
    check_laws(project)
    assert {"one.txt", "two.txt", "three.txt"} < set(project.git("ls-tree", "--name-only", "main").split())
    assert set(project.statuses().values()) == {"merged"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", first_ones(["landing_intent", "snapshot_recorded", "landing_files_updated", "attempt_recorded"])
)
def test_any_number_of_kills_in_a_row_changes_nothing_of_that(project, name):
    lay_out(project)
    for _ in range(4):  # what a death without evidence does not add up to
        project.noface("run", NOFACE_FAILPOINT=name)
    project.run()
    check_laws(project)
    assert set(project.statuses().values()) == {"merged"}


def test_work_that_was_snapshotted_is_judged_and_not_paid_for_again(project):
    counter = project.folder / "runs"
    project.play(("*", 0, [{"shell": f"echo run >> {counter}"}, {"write": "b.txt", "text": "b"}]))
    project.issue(1)
    project.commit()
    assert project.noface("run", NOFACE_FAILPOINT="gate_checkout:2").returncode == KILLED
    project.run()
    assert counter.read_text() == "run\n"
    (attempt,) = project.attempts("1")
    assert attempt["outcome"] == "PASSED"


def test_no_gate_runs_again_on_a_tree_that_is_green(project):
    counter = project.folder / "gates"
    project.config(gate=f"echo run >> {counter}")
    project.issue(1)
    project.commit()
    assert project.noface("run", NOFACE_FAILPOINT="landing_intent").returncode == KILLED
    project.run()
    assert counter.read_text() == "run\n" * 2  # main's tree once, the merge result once


def test_an_interrupted_attempt_is_charged_to_nobody_and_its_work_is_kept(project):
    running = project.half_done()
    running.kill()
    running.communicate()
    wait_for(lambda: not project.processes())
    project.run()
    first, second = project.attempts("1")
    assert (first["outcome"], first["charged"], second["outcome"]) == ("INTERRUPTED", False, "PASSED")
    assert project.git("show", "refs/noface/issues/1/1:half.txt") == "half"


def test_the_first_ctrl_c_ends_the_workers_and_keeps_everything(project):
    running = project.half_done()
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 130, out
    assert project.processes() == []
    (first,) = project.attempts("1")
    assert (first["outcome"], first["charged"]) == ("INTERRUPTED", False)
    assert project.git("show", "refs/noface/issues/1/1:half.txt") == "half"
    project.run()
    assert project.statuses() == {"1": "merged"}


def test_a_second_ctrl_c_stops_at_once_also_a_worker_that_will_not_listen(project):
    project.play(("*", 0, [{"write": "half.txt", "text": "h"}, {"shell": "trap '' INT TERM; sleep 600"}]))
    project.issue(1)
    project.commit()
    running = project.start("run")
    project.in_slots("half.txt")
    running.send_signal(signal.SIGINT)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 130, out
    assert project.processes() == []


def test_a_second_noface_is_refused_and_told_the_first_ones_pid(project):
    project.play(("*", 0, [{"write": "half.txt", "text": "h"}, {"sleep": 60}]))
    project.issue(1)
    project.commit()
    running = project.start("run")
    project.in_slots("half.txt")
    second = project.noface("run")
    assert second.returncode == 2
    assert str(running.pid) in second.stderr
    running.kill()
    running.communicate()


def test_a_lost_database_is_rebuilt_from_mains_trailers(project):
    project.issue(1)
    project.commit()
    project.run()
    for file in project.state.glob("state.db*"):
        file.unlink()
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert project.git("rev-list", "--count", "--first-parent", "main") == "3"


@pytest.mark.thorough
def test_what_people_quote_of_a_landing_lands_nothing_also_where_the_database_is_lost(project):
    project.issue(1)
    project.commit()
    project.run()
    quoted = project.git("log", "-1", "--format=%B", "main").replace("Issue: 1", "Issue: 2")
    project.git("commit", "-q", "--allow-empty", "-m", quoted)
    project.git("checkout", "-q", "-b", "topic", "main~1")
    project.git("commit", "-q", "--allow-empty", "-m", quoted)
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "--no-ff", "-m", quoted, "topic")
    project.play(("2", 0, [{"write": "c.txt", "text": "c"}]))
    project.issue(2)
    project.commit()
    for file in project.state.glob("state.db*"):
        file.unlink()
    project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}
    assert len(project.attempts("2")) == 1
    assert "landing of 2" not in project.noface("tools", "fsck").stdout


def test_a_killed_supervisor_is_named_and_nothing_is_left(project):
    running = project.half_done()
    player = wait_for(project.processes)[0]
    parent = int(Path(f"/proc/{player}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 0, out
    first, second = project.attempts("1")
    assert (first["outcome"], second["outcome"]) == ("AGENT_CRASH", "PASSED")
    assert project.processes() == []
