"""Faults around a whole run: signals, clocks, disks, databases, filters. It ends in good order, and the next goes on."""

import os
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest
from support.cases import first_ones
from support.processes import wait_for
from support.project import WHOLE, Project

DAY_S = 86_400


def in_good_order(done, code):
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    assert "Traceback" not in said
    assert "noface itself failed" not in said
    return said


def test_a_run_that_is_stopped_and_continued_goes_on(project):
    go_on = project.folder / "go-on"
    wait = f"until test -e {go_on}; do sleep 0.05; done"
    running = project.half_done(("*", 0, [{"write": "half.txt", "text": "h"}, {"shell": wait}, *WHOLE[2]]))
    running.send_signal(signal.SIGSTOP)
    state = Path(f"/proc/{running.pid}/stat")
    wait_for(lambda: state.read_text().rpartition(")")[2].split()[0] == "T")
    go_on.touch()
    running.send_signal(signal.SIGCONT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0, out
    assert project.statuses() == {"1": "merged"}


@pytest.mark.thorough
@pytest.mark.parametrize("seconds", first_ones([DAY_S, -DAY_S]), ids=["went back by a day", "went on by a day"])
def test_a_clock_that_jumped_between_two_runs_holds_nothing_up(project, seconds):
    project.play(
        ("1", 1, [{"write": "bad", "text": "x"}]), ("1", 0, [{"shell": "rm -f bad"}, {"write": "b.txt", "text": "b"}])
    )
    project.issue(1)
    project.commit()
    project.run("--max-iterations", "1", code=4)
    with sqlite3.connect(project.state / "state.db") as database:
        for table, column in (
            ("runs", "started_at"),
            ("runs", "ended_at"),
            ("attempts", "started_at"),
            ("attempts", "finished_at"),
            ("gate_memo", "at"),
            ("events", "at"),
        ):
            database.execute(f"UPDATE {table} SET {column} = {column} + {seconds}")
    database.close()
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert [attempt["outcome"] for attempt in project.attempts("1")] == ["RUNTIME_ERROR", "PASSED"]
    assert project.noface("tools", "fsck").returncode == 0


# make soak arms all of them, at random.
WRITES = (
    "base_held",
    "snapshot_recorded",
    "gate_passed",
    "attempt_recorded",
    "merge_built",
    "landing_intent",
    "landing_files_updated",
    "landing_recorded",
)


@pytest.mark.parametrize("name", first_ones(WRITES[::-1]))
def test_a_disk_that_is_full_at_any_write_ends_the_run_in_good_order(project, name):
    moved = project.path / "moved"  # the gates of the worker's tree move main, so that its merge is gated, too
    move = f"touch {moved} && git -C {project.path} commit -q --allow-empty -m mine"
    project.config(gate=f"test -e a.txt && if test -e b.txt && test ! -e {moved}; then {move}; fi")
    project.issue(1)
    project.commit()
    said = in_good_order(project.noface("run", NOFACE_FAILPOINT=f"{name}:1:enospc"), 1)
    assert "No space left" in said
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert project.noface("tools", "fsck").returncode == 0
    assert project.git("status", "--porcelain") in ("", "?? moved")


@pytest.mark.thorough
def test_a_database_that_another_program_locks_ends_the_run_with_its_name(project):
    project.issue(1)
    project.commit()
    project.run()
    other = sqlite3.connect(project.state / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    said = in_good_order(project.noface("run"), 1)
    other.execute("ROLLBACK")
    other.close()
    assert "database is locked" in said
    project.run()


def truncated(path):
    path.write_bytes(path.read_bytes()[:5000])


def garbage(path):
    path.write_bytes(b"garbage" * 1000)


def newer(path):
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()


@pytest.mark.parametrize("damage", [truncated, garbage, newer])
def test_a_database_that_cannot_be_used_stops_every_command_and_is_left_as_it_is(project, damage):
    project.issue(1)
    project.commit()
    project.run()
    path = project.state / "state.db"
    database = sqlite3.connect(path)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    damage(path)
    before = path.read_bytes()
    for command in (("run",), ("status",), ("tools", "clean"), ("blocked",)):
        assert str(path) in in_good_order(project.noface(*command), 1).replace("\n", "")
    assert path.read_bytes() == before


def test_a_database_that_is_deleted_during_a_run_costs_nothing_that_landed(project):
    removes = [{"write": "half.txt", "text": "h"}, {"shell": f"rm {project.state}/state.db*"}]
    project.play(("1", 1, removes), ("2", 0, [{"write": "two.txt", "text": "2"}]), WHOLE)
    project.issue(1)
    project.issue(2)
    project.commit()
    project.noface("run")
    project.run()
    assert set(project.statuses().values()) == {"merged"}
    landed = project.git("log", "--first-parent", "--format=%(trailers:key=Noface-Issue,valueonly)", "main").split()
    assert sorted(landed) == ["1", "2"]


@pytest.mark.thorough
def test_work_of_a_lost_database_is_never_written_over(project):
    project.play(("1", 1, [{"write": "bad", "text": "x"}, {"write": "first.txt", "text": "first"}]))
    project.issue(1, max_attempts=1)
    project.commit()
    project.run(code=3)
    first = project.git("rev-parse", "refs/noface/issues/1/1")
    for file in project.state.glob("state.db*"):
        file.unlink()
    project.play(("*", 0, [{"write": "b.txt", "text": "b"}]))
    project.run()
    assert project.git("rev-parse", "refs/noface/issues/1/1") == first
    assert [attempt["number"] for attempt in project.attempts("1")] == [2]


def test_files_of_a_large_file_filter_stay_pointers_in_main_and_files_elsewhere(project):
    """A worker and a gate see what the checkout holds; a worker's own such file is refused once, and told."""
    project.git("config", "filter.big.clean", "sed s/^/pointer:/")
    project.git("config", "filter.big.smudge", "sed s/^pointer://")
    project.git("config", "filter.big.required", "true")
    project.write(".gitattributes", "*.bin filter=big\n")
    project.write("large.bin", "large\n")
    project.issue(1)
    project.commit()
    project.play(("*", 1, [{"write": "b.txt", "text": "b"}, {"write": "other.bin", "text": "other\n"}]),
                 ("*", 0, [{"shell": "test $(cat large.bin) = large"}, {"write": "b.txt", "text": "b"}]))  # fmt: skip
    project.run()
    assert [attempt["outcome"] for attempt in project.attempts("1")] == ["BOUNDARY_VIOLATION", "PASSED"]
    assert project.git("show", "main:large.bin") == "pointer:large"
    assert (project.path / "large.bin").read_text() == "large\n"
    assert project.git("status", "--porcelain") == ""


def mounted(folder, *options):
    """Mount a small file system in memory; skip where that is not allowed."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting takes root")
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", folder], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"mount: {done.stderr.decode().strip()}")


def a_project(folder):
    path = folder / "repo"
    path.mkdir()
    project = Project(path, folder)
    project.git("init", "-q", "-b", "main")
    project.git("config", "user.name", "Ada")
    project.git("config", "user.email", "ada@example.org")
    project.write("a.txt", "one\n")
    project.config()
    project.issue(1)
    project.play(WHOLE)
    project.commit("first")
    return project


def test_a_real_disk_that_a_worker_fills_is_no_end_of_anything(tmp_path):
    disk = tmp_path / "disk"
    mounted(disk, "-o", "size=24m")
    try:
        project = a_project(disk)
        fill = project.folder / "fill"
        project.play(("1", 1, [{"write": "half.txt", "text": "h"}, {"shell": f"cat /dev/zero > {fill}"}]), WHOLE)
        done = project.noface("run")
        assert "Traceback" not in done.stdout + done.stderr
        assert done.returncode in (0, 1, 3), done.stdout + done.stderr
        fill.unlink()
        project.noface("retry", "--all")
        project.run()
        assert project.statuses() == {"1": "merged"}
        assert project.noface("tools", "fsck").returncode == 0
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def test_a_file_system_that_is_read_only_is_named_and_nothing_is_lost(tmp_path):
    disk = tmp_path / "disk"
    mounted(disk, "-o", "size=24m")
    try:
        project = a_project(disk)
        project.run()
        project.play(("2", 0, [{"write": "c.txt", "text": "c"}]))
        project.issue(2)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        for command, code in ((("run",), 2), (("status",), 1), (("tools", "clean"), 2), (("retry", "--all"), 1)):
            said = in_good_order(project.noface(*command), code).replace("\n", " ").replace("- ", "-")
            assert "ead-only" in said or "be written" in said
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        project.run()
        assert project.statuses() == {"1": "merged", "2": "merged"}
    finally:
        subprocess.run(["umount", "-l", disk], check=False)
