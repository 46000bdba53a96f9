"""A fault of noface's own, raised anywhere: what met it is done again, the run goes on, and nobody is charged."""

import errno
import json

import pytest
from engine.test_run_killed import check_laws, lay_out
from support.cases import cases, first_ones
from support.project import WHOLE

from noface.data import table
from noface.engine.faults import After, after, is_fault
from noface.errors import DiskFullError, GitError, LockLostError, StoreError

BEFORE = ("lock_taken", "database_ready")
"""Nothing is begun there: the run ends, and another does it all."""
ALWAYS = "landing_ref_moved"
"""In the loop's own thread between an effect and its record."""


def told(done):
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [each for each in events if each.get("event") == "own_fault"]


def at_hits(name, *numbers):
    return ",".join(f"{name}:{number}:raise" for number in numbers)


@pytest.mark.parametrize("name", first_ones((ALWAYS, *(each for each in table("failpoints")["run"] if each != ALWAYS))))
def test_a_fault_at_any_failpoint_ends_no_run(project, name):
    lay_out(project)
    done = project.noface("run", "--json", NOFACE_FAILPOINT=at_hits(name, 1))
    said = done.stdout + done.stderr
    assert done.returncode == (1 if name in BEFORE else 0), said
    if name in BEFORE:
        project.run()
    else:
        assert f"failpoint {name}" in (project.state / "faults.log").read_text()
        assert [event["follows"] for event in told(done)] == ["it is tried once more"] or name == "event_shown"
    check_laws(project)
    assert set(project.statuses().values()) == {"merged"}
    attempts = [attempt for number in "123" for attempt in project.attempts(number)]
    assert all(attempt["charged"] is (attempt["outcome"] != "INTERRUPTED") for attempt in attempts)


def three(project):
    for number in (1, 2, 3):
        project.issue(number)
    project.play(*((str(n), 0, [{"write": f"{n}.txt", "text": str(n)}]) for n in (1, 2, 3)))
    project.commit()


def test_an_issue_at_whose_work_noface_fails_twice_waits_for_the_next_run_and_no_other(project):
    three(project)
    done = project.noface("run", "--json", NOFACE_FAILPOINT=at_hits("agent_exited", 1, 2))
    assert done.returncode == 3, done.stdout + done.stderr
    assert project.statuses() == {"1": "blocked", "2": "merged", "3": "merged"}
    assert [event["row"] for event in told(done)] == [1, 2]
    said = project.noface("blocked").stdout
    assert "noface itself failed" in said
    assert "faults.log" in said.replace("\n", "")
    assert not any(attempt["charged"] for attempt in project.attempts("1"))
    project.run()
    assert set(project.statuses().values()) == {"merged"}


@pytest.mark.parametrize("name", first_ones(["agent_exited", "attempt_recorded", "merge_built", "landing_intent"]))
def test_the_same_fault_three_times_in_a_row_stops_the_run_and_keeps_everything(project, name):
    three(project)
    moved = "" if name != "merge_built" else "git -C {0} commit -q --allow-empty -m mine"
    project.config(gate=f"test -e a.txt && {moved.format(project.path)}" if moved else "test -e a.txt")
    project.commit()
    done = project.noface("run", NOFACE_FAILPOINT=at_hits(name, 1, 2, 3))
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1, said
    assert "Noface itself failed 3 times in a row" in said
    assert "faults.log" in said
    assert "Nothing is lost" in said
    assert "Traceback" not in said
    assert project.processes() == []
    project.config()
    project.run()
    assert set(project.statuses().values()) == {"merged"}
    assert project.noface("tools", "fsck").returncode == 0


def test_work_that_was_recorded_is_judged_again_and_not_paid_for_again(project):
    counter = project.folder / "runs"
    project.play(("*", 0, [{"shell": f"echo run >> {counter}"}, {"write": "b.txt", "text": "b"}]))
    project.issue(1)
    project.commit()
    project.noface("run", NOFACE_FAILPOINT=at_hits("attempt_judged", 1))
    assert project.statuses() == {"1": "merged"}
    assert counter.read_text() == "run\n"


def test_what_a_worker_had_done_by_then_is_kept_and_gone_on_with(project):
    project.play(("1", 1, [{"write": "half.txt", "text": "half"}]), WHOLE)
    project.issue(1)
    project.commit()
    project.noface("run", NOFACE_FAILPOINT=at_hits("agent_exited", 1))
    first, second = project.attempts("1")
    assert (first["outcome"], first["charged"], second["outcome"]) == ("INTERRUPTED", False, "PASSED")
    assert project.git("show", "refs/noface/issues/1/1:half.txt") == "half"
    assert project.git("show", "main:half.txt") == "half"


@cases(
    ("error", "expected"),
    [
        (ValueError("x"), True),
        (MemoryError(), True),
        (RecursionError(), True),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), True),
        (FileNotFoundError(errno.ENOENT, "gone"), True),
        (GitError("fatal: unable to create temporary file"), True),
        (GitError("fatal: write error: No space left on device"), False),
        (OSError(errno.ENOSPC, "full"), False),
        (OSError(errno.EMFILE, "files"), False),
        (LockLostError("lost"), False),
        (StoreError("damaged"), False),
        (DiskFullError("full"), False),
        (KeyboardInterrupt(), False),
        (SystemExit(3), False),
    ],
)
def test_what_no_other_try_would_mend_is_no_fault(error, expected):
    assert is_fault(error) is expected


@cases(
    ("row", "tries", "expected"),
    [(1, 1, After.AGAIN), (2, 1, After.AGAIN), (2, 2, After.ASIDE), (1, 5, After.ASIDE), (3, 1, After.STOP)],
)
def test_what_follows_of_a_fault(row, tries, expected):
    assert after(row, tries) is expected
