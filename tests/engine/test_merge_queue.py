"""Issues that wait together are proven together: what lands then, what main's history shows, and after a kill."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess

import pytest
from support.cases import first_ones
from support.processes import wait_for
from support.run_parts import run_parts

from noface.engine.landing.stacks import build
from noface.engine.landing.waiting import QueueEntry
from noface.model.issue import Issue
from noface.process.command import Canceller

TOGETHER = 6


def lay_out(project, gate="sleep 0.4", stacks=2, landing="", plays=()):
    """As many issues as end at the same time: while the first lands the others become stale."""
    project.config(landing and f"\n[landing]\n{landing}\n", gate=gate, workers=TOGETHER)
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text.replace("[run]\n", f"[run]\ngates_at_once = {2 * stacks}\n"))
    names = range(1, TOGETHER + 1)
    project.play(*plays, *[(str(n), 0, [{"write": f"f{n}.txt", "text": "x"}]) for n in names])
    for n in names:
        project.issue(n)
    project.base = project.commit()


def check_history(project):
    """Law 1 and I2: each first-parent commit has a proven tree, and main moved only by recorded swaps."""
    database = sqlite3.connect(project.state / "state.db")
    landings = database.execute("SELECT old, new, tree FROM landings WHERE state = 'landed'").fetchall()
    green = {row[0] for row in database.execute("SELECT tree FROM gate_memo")}
    history = project.git("log", "--first-parent", "--format=%H %P", f"{project.base}..main").splitlines()
    assert {tuple(line.split()[1::-1]) for line in history} == {(old, new) for old, new, _ in landings}
    for _, new, tree in landings:
        assert project.git("rev-parse", f"{new}^{{tree}}") == tree
        assert tree in green
    assert not database.execute("SELECT COUNT(*) FROM landings WHERE state = 'intent'").fetchone()[0]
    found = json.loads(project.noface("tools", "fsck", "--json").stdout)
    assert found["findings"] == [], found
    return history


def test_what_waits_together_lands_as_one_commit_that_lists_each_issue_s_own(project):
    lay_out(project)
    project.run()
    history = check_history(project)
    assert set(project.statuses().values()) == {"merged"}
    assert len(history) < TOGETHER
    several = next(
        line.split()[0] for line in history if len(line.split()) > 2 and "Noface-Issue" not in body(project, line)
    )
    message = project.git("log", "-1", "--format=%B", several)
    own = project.git("log", "--first-parent", "--format=%H", f"{several}^1..{several}^2").splitlines()
    assert len(own) > 1
    for commit in own:
        trailers = dict(
            line.split(": ") for line in project.git("log", "-1", "--format=%(trailers)", commit).splitlines() if line
        )
        assert f"- {trailers['Noface-Issue']}: " in message
        added = project.git("diff", "--name-only", f"{commit}^1", commit).split()
        assert added == [f"f{trailers['Noface-Issue']}.txt"], "who reverts it takes back this issue alone"
        page = project.noface("show", trailers["Noface-Issue"]).stdout
        command = next(line for line in page.splitlines() if "landed: " in line).partition("landed: ")[2]
        shown = project.git(*command.removeprefix("git ").split())
        assert [line for line in shown.splitlines() if line.startswith("+++")] == [f"+++ b/{added[0]}"]
    merged = {row["id"]: row["merged_commit"] for row in rows(project, "SELECT id, merged_commit FROM issues")}
    assert {*own} <= {*merged.values()}


def body(project, line):
    return project.git("log", "-1", "--format=%B", line.split()[0])


def rows(project, query):
    database = sqlite3.connect(project.state / "state.db")
    database.row_factory = sqlite3.Row
    return database.execute(query).fetchall()


@pytest.fixture
def seen(project, monkeypatch):
    """The file in which each process of git that noface starts leaves its arguments."""
    seen, program = project.folder / "seen", project.folder / "bin/git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {seen}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return seen


def test_each_candidate_costs_a_stack_a_merge_and_a_look_at_its_history(project, seen):
    # On a machine with much to do they are what a round waits for with all its slots.
    project.config()
    project.issue(9)
    base = project.commit()
    entries = []
    for name in "12345":
        project.git("reset", "-q", "--hard", base)
        project.write(f"f{name}.txt", name)
        work = project.commit(f"work\n\nNoface-Issue: {name}\nNoface-Outcome: PASSED")
        entries.append(QueueEntry(Issue(name, name), 1, work, mains=frozenset({base})))
    project.git("reset", "-q", "--hard", base)
    project.write("mine.txt", "mine")
    main = project.commit()
    with run_parts(project.path) as context:
        build(context, entries[:2], Canceller())  # and what stays open from now on
        seen.unlink()
        built = build(context, entries, Canceller())
    assert (built.main, len(built.steps)) == (main, 5)
    assert sum(" merge-tree " in line for line in seen.read_text().splitlines()) == 5
    # Of two the history was looked at before.
    assert len(seen.read_text().splitlines()) == 5 + 3, seen.read_text()


@pytest.mark.parametrize("slots", [1, pytest.param(3, marks=pytest.mark.thorough)])
def test_two_that_break_each_other_are_told_apart_from_the_innocent_beside_them(project, slots):
    lay_out(project, gate="sleep 0.3; ! test -e f3.txt || ! test -e f5.txt", stacks=slots)
    project.run("--max-iterations", "12", code=3)
    check_history(project)
    statuses = project.statuses()
    assert {statuses[name] for name in ("1", "2", "4", "6")} == {"merged"}
    assert sorted(status == "merged" for status in (statuses["3"], statuses["5"])) == [False, True]
    last = next(name for name in ("3", "5") if statuses[name] != "merged")
    landed_first = "5" if last == "3" else "3"
    failed = [each["failure"] for each in project.attempts(last) if each["failure"]]
    text = next(each["message"] for each in failed if "passed alone" in each["message"])
    assert landed_first in text.partition("holds ")[2].partition(" by now")[0].split(", ")
    for name in ("1", "2", "4", "6"):
        assert [each["outcome"] for each in project.attempts(name)] == ["PASSED"]


@pytest.mark.parametrize(
    "name",
    first_ones(
        [
            "landing_recorded:3",
            "landing_ref_moved:2",
            "merge_built",
            "landing_intent:2",
            "landing_files_updated:2",
            "landing_recorded:2",
        ]
    ),
)
def test_a_run_that_is_killed_while_several_land_goes_on(project, name):
    lay_out(project, stacks=1)
    killed = project.noface("run", NOFACE_FAILPOINT=name)
    assert killed.returncode == -signal.SIGKILL
    wait_for(lambda: not project.processes())
    project.run()
    assert set(project.statuses().values()) == {"merged"}
    check_history(project)
    assert project.unexpected_steps() == ()


@pytest.mark.thorough
def test_the_loop_goes_on_while_a_slow_key_signs_and_what_is_withdrawn_meanwhile_does_not_land(project):
    key, program, reached, go = (project.folder / name for name in ("key", "sign.sh", "reached", "go"))
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    waits = (
        f"if test $(git rev-parse main) != {{base}}; then touch {reached}; until test -e {go}; do sleep 0.05; done; fi"
    )
    for name, value in {"gpg.format": "ssh", "user.signingkey": str(key), "gpg.ssh.program": str(program)}.items():
        project.git("config", name, value)
    lay_out(project, stacks=1, landing="sign = true")
    program.write_text(f'#!/bin/sh\n{waits.format(base=project.base)}\nexec ssh-keygen "$@"\n')
    program.chmod(0o755)
    running = project.start("run")
    wait_for(reached.exists, 60)
    taken = next(name for name, status in project.statuses().items() if status == "landing")
    next((project.path / "issues").glob(f"{taken}-*.md")).unlink()
    wait_for(lambda: taken not in project.statuses(), 60)
    go.touch()
    assert running.wait(60) == 0
    merged = {name for name in project.statuses() if project.git("ls-tree", "--name-only", "main", f"f{name}.txt")}
    assert merged == {str(number) for number in range(1, TOGETHER + 1)} - {taken}
    assert not project.git("ls-tree", "--name-only", "main", f"f{taken}.txt")
    check_history(project)
