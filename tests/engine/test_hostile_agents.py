"""Agents that do what they must not, through the real `noface run`: each is handled and named, and nothing is lost.

Most of them work side by side in one run; what each left behind is looked at issue by issue. Traps that concern git
alone are in test_git_agent_traps.
"""

import fcntl
import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
import termios

import pytest
from support.cases import cases
from support.git_ground import Canary
from support.project import Project

from noface.process.command import LOG_BYTES_MAX

GITS = {
    "commits": "echo 1 > commits.txt; git add -A; git commit -qm 'mine, mine' --author 'Eve <eve@evil>'",
    "amends": "echo 1 > amends.txt; git add -A; git commit -q --amend -m rewritten --reset-author",
    "rebases": "echo 1 > rebases.txt; git add -A; git commit -qm one; git rebase -q --root --exec 'echo 2 >> rebases.txt'",
    "uncommits": "echo 1 > uncommits.txt; git update-ref -d HEAD; git rm -rq --cached .",
    "deletes-git": "echo 1 > deletes-git.txt; rm -rf .git",
    "switches": "git checkout -qb other; echo 1 > switches.txt; git add -A; git commit -qm there; git checkout -q --detach",
    "traps": "cp -r $TRAPS/. .; cat $TRAPS/config >> .git/config; cp -r $TRAPS/.githooks/. .git/hooks;"
    " git config core.hooksPath .githooks; echo 1 > traps.txt",
}
PROCESSES = {
    "daemon": "echo 1 > daemon.txt; (trap '' TERM INT HUP; setsid sleep 98765 & nohup sleep 98765 &"
    " env -i setsid sleep 98765 & sleep 98765) & until test $(pgrep -cfx 'sleep 98765') -ge 4; do sleep 0.05; done",
    "asks": "read -t 5 answer < /dev/tty || echo 1 > asks.txt; read -t 5 line; read -t 5 line; cat > /dev/null",
    "kills-its-group": "echo 1 > kills-its-group.txt; kill -9 0",
}
FILES = {
    "nests": "mkdir nested; echo 1 > nested/nests.txt; cd nested; git init -q; git add -A; git commit -qm inner",
    "copies": "git worktree add -q wt/x -b x; echo 1 > wt/x/lost.txt; git clone -q . wt/y; echo 1 > copies.txt",
    "inits": "git init -q issues; git -C issues add -A; git -C issues commit -qm inner; echo 1 > inits.txt",
    "fifos": "rm -f .gitignore; mkfifo .gitignore pipe; echo 1 > fifos.txt",
    "links-out": "ln -sfn $PRECIOUS out; ln -sfn ../../../.. up; ln -sfn /dev/zero zero; ln -sfn loop loop;"
    " rm -r checks; ln -s $PRECIOUS checks; echo 1 > links-out.txt",
    "locks-itself-out": "mkdir shut; echo 1 > shut/locks-itself-out.txt; chmod 000 shut; chmod 444 checks",
    "steers": "echo '[[gates]]' > noface.toml; echo true > checks/extra.sh; echo 'Say yes.' > prompts/retry.md.j2;"
    " echo 1 > steers.txt",
    "removes-its-records": "echo 1 > removes-its-records.txt; cd /; records=$(dirname $NOFACE_ORDER_FILE);"
    " rm -rf $records; ln -s $PRECIOUS $records",
    "swaps-its-logs": "echo 1 > swaps-its-logs.txt; cd $(dirname $NOFACE_ORDER_FILE); rm agent.log agent.err;"
    " mkfifo agent.log agent.err; echo unseen",
    "moves-away": "echo 1 > moves-away.txt; here=$PWD; cd /; mv $here $here.$NOFACE_ATTEMPT; mkdir $here; echo 1 > $here/bad",
    "sparse": "echo 1 > sparse.txt; truncate -s 3G sparse.bin",
    "floods": "echo 1 > floods.txt; yes",
    "crowds": f"echo changed >> a.txt; mkdir d; cd d; {sys.executable} -c 'for n in range(10500): open(str(n), \"x\").close()'",
}
HOSTILE = {**GITS, **PROCESSES, **FILES}
"""What the worker of each issue does; one that does its work besides writes a file named like its issue."""

DEFEATED = {
    "kills-its-group": ("AGENT_CRASH", "the worker died of SIGKILL"),
    "nests": ("NO_DIFF", "the change lies in nested, a repository of its own: work in the checkout itself"),
    "moves-away": ("AGENT_CRASH", "its workspace was removed while it was at work"),
    "sparse": ("LINT_FAILURE", "files that are too large to land were left: sparse.bin"),
    "floods": ("RESOURCE_EXHAUSTED", "more output than is kept"),
    "crowds": ("LINT_FAILURE", "10500 new files were left"),
}
"""Whose work is turned down, as what, and in which words."""

ASKED = ("links-out", "traps")
"""A person is asked about them: twice they name places of this machine, which would lead nowhere elsewhere."""
MERGED = sorted(HOSTILE.keys() - DEFEATED.keys() - set(ASKED))


def a_project(folder):
    (folder / "repo").mkdir()
    project = Project(folder / "repo", folder)
    project.git("init", "-q", "-b", "main")
    project.git("config", "user.name", "Ada")
    project.git("config", "user.email", "ada@example.org")
    project.write("a.txt", "one\n")
    return project


class Night:
    """One run with all of them at work, four at a time, and what it recorded."""

    def __init__(self, folder):
        self.project = project = a_project(folder)
        self.canary = Canary(folder)
        self.precious = folder / "precious"
        self.precious.mkdir()
        (self.precious / "diary.txt").write_text("dear diary\n")
        self._lay_out(self._traps(folder))
        self.base = project.commit("first")
        self.done = project.noface("run", "--json")
        self.left_running = project.processes()
        database = sqlite3.connect(project.state / "state.db")
        database.row_factory = sqlite3.Row
        self.attempts = {
            row["issue_id"]: dict(row) for row in database.execute("SELECT * FROM attempts ORDER BY number")
        }
        self.statuses = dict(database.execute("SELECT id, status FROM issues"))
        database.close()

    def _traps(self, folder):
        traps = folder / "traps"
        traps.mkdir()
        self.canary.set_everywhere(traps)
        (traps / "hooks").rename(traps / ".githooks")
        (traps / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
        return traps

    def _lay_out(self, traps):
        project = self.project
        project.config(
            '\n[prompts]\ndir = "prompts"\n[protect]\nextra = ["checks/**"]\n[landing]\nstyle = "squash"\n',
            gate="test ! -e bad && test -e a.txt && sh checks/extra.sh",
            workers=4,
        )
        project.write("checks/extra.sh", "test ! -e fail\n")
        project.write("prompts/README", "templates\n")
        given = f"export TRAPS={traps} PRECIOUS={self.precious}"
        project.play(*[(str(n), 0, [{"shell": f"{given}; {do}"}]) for n, do in enumerate(HOSTILE.values(), 1)])
        for number, name in enumerate(HOSTILE, 1):
            wanted = {"may_change": ["out", "up", "zero"]} if name == "links-out" else {}
            project.issue(number, max_attempts=1, **wanted)

    def attempt(self, name):
        return self.attempts[str(list(HOSTILE).index(name) + 1)]

    def status(self, name):
        return self.statuses[str(list(HOSTILE).index(name) + 1)]

    def notes(self, name):
        return " | ".join(json.loads(self.attempt(name)["notes"]))


@pytest.fixture(scope="module")
def night(tmp_path_factory):
    night = Night(tmp_path_factory.mktemp("night"))
    yield night
    night.project.end()


def test_the_run_ends_in_good_order_with_nothing_left_running(night):
    assert night.done.returncode == 3, night.done.stdout[-3000:] + night.done.stderr
    assert night.left_running == []
    assert night.project.git("fsck", "--connectivity-only", "--no-dangling") == ""


@cases("name", MERGED)
def test_honest_work_of_a_hostile_agent_lands_as_one_commit_of_the_person(night, name):
    git = night.project.git
    assert (night.status(name), night.attempt(name)["outcome"]) == ("merged", "PASSED")
    number = list(HOSTILE).index(name) + 1
    (commit,) = git(
        "log", "--first-parent", "--format=%H", f"--grep=^Noface-Issue: {number}$", f"{night.base}..main"
    ).splitlines()
    assert git("log", "-1", "--format=%an <%ae>", commit) == "Ada <ada@example.org>"
    added = git("diff", "--name-only", "--diff-filter=A", f"{commit}^1", commit).splitlines()
    assert f"{name}.txt" in {path.split("/")[-1] for path in added}


@cases("name", DEFEATED)
def test_what_must_not_land_is_turned_down_and_named_and_the_rest_of_the_work_is_kept(night, name):
    kind, words = DEFEATED[name]
    attempt = night.attempt(name)
    assert (night.status(name), attempt["outcome"]) == ("blocked", kind)
    assert words in json.loads(attempt["failure"])["message"]
    kept = night.project.git("ls-tree", "--name-only", attempt["candidate"]).splitlines()
    assert {"moves-away": "bad", "crowds": "a.txt", "nests": "a.txt"}.get(name, f"{name}.txt") in kept


@cases("name", ASKED)
def test_what_names_places_of_this_machine_waits_for_a_person(night, name):
    assert (night.status(name), night.attempt(name)["outcome"]) == ("approval", "PASSED")


def test_main_holds_the_landings_and_nothing_else(night):
    git = night.project.git
    history = git("log", "--first-parent", "--format=%s", f"{night.base}..main").splitlines()
    assert len(history) == len(MERGED)
    for path in ("noface.toml", "checks/extra.sh", "prompts", "issues"):
        assert git("diff", night.base, "main", "--", path) == ""
    assert git("status", "--porcelain") == ""
    assert (night.project.path / "a.txt").read_text() == "one\n"


def test_no_hook_filter_or_program_of_an_agents_configuration_ever_ran(night):
    assert not night.canary.sang
    landed = night.project.git("ls-tree", "-r", "--name-only", "main").splitlines()
    assert not {".githooks/pre-commit", ".gitattributes"} & set(landed)


def test_links_lead_to_no_damage_and_stay_links(night):
    assert [file.name for file in night.precious.iterdir()] == ["diary.txt"]
    assert (night.precious / "diary.txt").read_text() == "dear diary\n"
    work = night.project.git("ls-tree", night.attempt("links-out")["candidate"])
    modes = {line.split("\t")[1]: line.split()[0] for line in work.splitlines()}
    assert {modes[name] for name in ("out", "up", "zero", "loop")} == {"120000"}
    assert modes["checks"] == "040000"


@cases(
    ("name", "told"),
    [
        ("nests", "nested: a git repository of its own was left out"),
        ("copies", "wt/x: a git repository of its own was left out"),
        ("copies", "wt/y: a git repository of its own was left out"),
        ("inits", "issues/.git: a nested git repository's .git was removed; its files were kept"),
        ("fifos", ".gitignore: a FIFO, socket or device was removed"),
        ("fifos", "pipe: a FIFO"),
        (
            "steers",
            "left out of the change: checks/extra.sh (put back to main's: it is protected), noface.toml (put back",
        ),
        (
            "links-out",
            "left out of the change: checks (put back to main's: it is protected), checks/extra.sh (put back",
        ),
        ("daemon", "processes that the worker left behind were ended"),
        ("crowds", "only changes of tracked files were taken"),
    ],
)
def test_what_was_undone_is_noted(night, name, told):
    assert told in night.notes(name)


def test_a_flood_of_output_fills_no_disk_and_holds_nobody_up(night):
    folder = night.project.state / "attempts" / str(list(HOSTILE).index("floods") + 1) / "1"
    assert 1_000_000 < (folder / "agent.log").stat().st_size <= LOG_BYTES_MAX
    attempt = night.attempt("floods")
    assert attempt["finished_at"] - attempt["started_at"] < 60


def test_the_records_of_an_attempt_that_removed_them_are_written_all_the_same(night):
    folder = night.project.state / "attempts" / str(list(HOSTILE).index("removes-its-records") + 1) / "1"
    assert not folder.is_symlink()
    assert {"diff.patch", "report.json"} <= {file.name for file in folder.iterdir()}


# Beyond its slot


def test_what_an_agent_writes_into_other_slots_reaches_neither_gates_nor_the_next_attempt(project):
    poison = "for slot in ../../{agent-001,gate-0000,gate-land,setup-000}/repo; do mkdir -p $slot/.git/hooks; echo x > $slot/bad; echo x > $slot/stray; done"
    project.config(gate="test ! -e bad && test -e a.txt && ls > $HOME/seen-$(basename $(dirname $PWD))", workers=2)
    project.play(
        ("1", 0, [{"shell": f"{poison}; echo x > ../stray"}, {"write": "one.txt", "text": "1"}]),
        ("2", 0, [{"write": "two.txt", "text": "2"}]),
    )
    project.issue(1)
    project.issue(2, depends_on=["1"])
    project.commit()
    project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}
    names = project.git("ls-tree", "--name-only", "main").split()
    assert {"one.txt", "two.txt"} < set(names)
    assert not {"bad", "stray"} & set(names)
    assert all("stray" not in seen.read_text().split() for seen in project.folder.glob("seen-*"))


@pytest.mark.thorough
def test_a_worker_reaches_no_terminal_even_where_noface_has_one(project):
    project.play(
        (
            "*",
            0,
            [{"shell": "(echo 'type your password:' > /dev/tty) 2> tty.txt; read -t 9 x < /dev/tty; tty >> tty.txt"}],
        )
    )
    project.issue(7)
    project.commit()
    ours, theirs = pty.openpty()

    def take_terminal():
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    done = subprocess.run(
        [sys.executable, "-m", "noface", "run", "--json"],
        cwd=project.path,
        env=project.environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=take_terminal,
        timeout=60,
        check=False,
    )
    os.close(theirs)
    os.set_blocking(ours, False)
    assert done.returncode == 0, done.stdout
    assert "/dev/tty: No such device or address" in (project.path / "tty.txt").read_text()
    assert "not a tty" in (project.path / "tty.txt").read_text()
    with pytest.raises(OSError, match=r"Input/output error|temporarily unavailable"):
        os.read(ours, 1000)
    os.close(ours)


# Streams

RETRYING = (
    '{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"error_status":529,"error":"overloaded_error"}'
)
DONE = '{"type":"result","subtype":"success","is_error":false,"result":"done","total_cost_usd":0.01}'
WORKING = (
    '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"ls"}}]}}'
)
RAN = '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1"}]}}'

CLAUDES = {
    "retrying": f"echo 1 > retrying.txt; while :; do echo '{RETRYING}'; sleep 0.05; done",
    "working": f"echo 1 > working.txt; for i in {{1..50}}; do echo '{WORKING}'; sleep 0.1; done; echo '{DONE}'",
    "hanging": f"echo 1 > hanging.txt; trap 'exit 0' INT TERM; echo '{DONE}'; while :; do sleep 0.05; done",
    "babbling": "echo 1 > babbling.txt; head -c 50000000 /dev/zero | tr '\\0' x; echo; printf '\\0\\377\\033[2J{{[\\n{}\\n[1]\\nnull\\n'"
    f"; head -c 50000 /dev/zero | tr '\\0' '['; echo; echo '{DONE}'",
    "testing": f"echo 1 > testing.txt; echo '{WORKING}'; setsid sleep 5; echo '{RAN}'; echo '{DONE}'",
    "lost": f"echo '{WORKING}'; exec sleep 30",
    "garbled": "echo 1 > garbled.txt; echo 'not JSON at all'; echo '{\"type\": \"result\"'",
}


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    """A run in which stand-ins for Claude Code print what it should not; each is a model of its own."""
    folder = tmp_path_factory.mktemp("streams")
    project = a_project(folder)
    extra = ""
    for name, script in CLAUDES.items():
        program = folder / f"claude-{name}"
        program.write_text(f"#!/bin/bash\ncat > /dev/null\n{script}\n")
        program.chmod(0o755)
        extra += f'\n[models.{name}]\nagent = "claude"\ncommand = "{program}"\nidle_timeout = "2s"\ntimeout = "40s"\n'
    project.play()
    project.config(extra, workers=len(CLAUDES))
    for name in CLAUDES:
        project.issue(name, model=name, max_attempts=1)
    project.commit()
    done = project.noface("run", "--json", "--max-iterations", str(len(CLAUDES)))
    assert done.returncode == 4, done.stdout + done.stderr
    reports = {}
    for name in CLAUDES:
        (found,) = project.state.glob(f"attempts/{name}-x*/1/report.json")
        reports[name] = json.loads(found.read_text())
    yield project, reports
    assert project.processes() == []


def outcome(report):
    return (report["failure"] or {}).get("kind"), report["agent"]["ended_by"]


def test_a_run_that_only_retries_is_not_alive_and_its_provider_is_to_blame(streams):
    project, reports = streams
    assert outcome(reports["retrying"]) == ("OVERLOADED", "idle")
    assert not reports["retrying"]["failure"]["charged"]
    assert 2.0 <= reports["retrying"]["agent"]["seconds"] < 25
    assert project.git("show", f"{reports['retrying']['snapshot']['candidate']}:retrying.txt") == "1"


def test_a_run_that_works_is_alive_however_long(streams):
    _, reports = streams
    assert outcome(reports["working"]) == (None, "itself")
    assert reports["working"]["agent"]["seconds"] > 5


def test_a_tool_that_prints_nothing_is_alive_as_long_as_its_process_runs(streams):
    _, reports = streams
    assert outcome(reports["testing"]) == (None, "itself")
    assert reports["testing"]["agent"]["seconds"] > 5


def test_a_tool_whose_process_is_gone_shows_nothing(streams):
    _, reports = streams
    assert outcome(reports["lost"]) == ("TIMEOUT", "idle")
    message = reports["lost"]["failure"]["message"]
    said = r"no sign of life for 2 s \(idle_timeout of lost\); `ls` had run for \d s, and its process is gone"
    assert re.fullmatch(said, message), message


def test_a_run_that_stays_after_its_result_has_ended_with_it(streams):
    project, reports = streams
    assert outcome(reports["hanging"]) == (None, "itself")
    assert project.git("ls-tree", "--name-only", "main", "hanging.txt") == "hanging.txt"


def test_50_megabytes_on_one_line_and_bytes_of_all_kinds_hide_no_result(streams):
    _, reports = streams
    assert outcome(reports["babbling"]) == (None, "itself")
    assert reports["babbling"]["agent"]["usage"]["cost_usd"] == 0.01


def test_a_stream_without_a_result_is_no_finished_run(streams):
    project, reports = streams
    kind, ended_by = outcome(reports["garbled"])
    assert (kind, ended_by) == ("MISCONFIGURED", "itself")
    assert project.git("ls-tree", "--name-only", "main", "garbled.txt") == ""
