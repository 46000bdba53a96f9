"""`noface tools fsck`: each invariant is broken in a real repository, seen, and repaired where that is safe."""

import json
import os
import signal
import sqlite3
import subprocess
from contextlib import closing

import jsonschema
import pytest
from support.cases import cases, first_ones
from support.processes import wait_for
from support.project import Restored

from noface.cli.fsck import _check as look
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.integrity.state.fsck_facts import Severity
from noface.model.codec import shown
from noface.ui.fsck import FsckDocument
from noface.ui.published import published

ATTENTION = 3


class Checked:
    """A repository after a run: issue 1 is merged, issue 2 is blocked with work on its branch."""

    def __init__(self, project):
        self.project = project

    @staticmethod
    def tell(project):
        project.play(
            ("1", 0, [{"write": "one.txt", "text": "1"}]),
            ("2", 0, [{"write": "two.txt", "text": "2"}, {"write": "bad", "text": "x"}]),
        )
        project.issue(1)
        project.issue(2, max_attempts=1)
        project.commit()
        project.run(code=ATTENTION)

    def check(self, *args, code=None):
        """The document of `noface tools fsck`; what is only looked at needs no process."""
        if not args:
            with closing(Plumbing(discover(self.project.path, "main"))) as plumbing:
                running, findings = look(plumbing)
            document = FsckDocument(
                all(each.severity is Severity.NOTE for each in findings), running or None, (), findings
            )
            assert code is None or document.sound is (code == 0), document
            return shown(document)
        done = self.project.noface("tools", "fsck", "--json", *args)
        assert code is None or done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)

    def kinds(self, *args, code=None):
        found = self.check(*args, code=code)["findings"]
        return {(each["kind"], each["severity"]) for each in found}

    def sql(self, *statements):
        with sqlite3.connect(self.project.state / "state.db") as database:
            for statement in statements:
                database.execute(statement)
        database.close()

    def rows(self, query):
        database = sqlite3.connect(self.project.state / "state.db")
        try:
            return database.execute(query).fetchall()
        finally:
            database.close()

    def repair_settles(self, kind):
        """Check that it is seen, that --repair settles it, and that nothing of it is left."""
        assert (kind, "repairable") in self.kinds(code=ATTENTION)
        document = self.check("--repair", code=0)
        assert kind in {each["kind"] for each in document["repaired"]}
        assert document["sound"]
        assert kind not in {found for found, _ in self.kinds(code=0)}


@pytest.fixture(scope="module")
def after_a_run(tmp_path_factory):
    return Restored(tmp_path_factory.mktemp("fsck"))


@pytest.fixture
def checked(project, after_a_run):
    after_a_run.give(project, Checked.tell)
    return Checked(project)


def test_what_a_run_leaves_is_sound(project, checked):
    document = project.shown("tools", "fsck")
    assert document["findings"] == []
    jsonschema.validate(document, published("fsck"))
    page = project.noface("tools", "fsck")
    assert (page.stdout, page.returncode) == ("No problems found.\n", 0)


UNREADABLE = "UPDATE attempts SET outcome = NULL, record = {} WHERE issue_id = '2'"
DAMAGE = {
    "no order": (UNREADABLE.format("NULL"), "database-damaged"),
    "an order of nothing": (UNREADABLE.format("""'{"run_id":"x"}'"""), "database-damaged"),
    "a memo of nothing": ("UPDATE gate_memo SET result = '[]'", "database-damaged"),
    "no column": ("ALTER TABLE attempts DROP COLUMN notes", "database-unusable"),
}


@cases(("statement", "kind"), DAMAGE.values(), DAMAGE)
def test_what_is_not_in_the_database_as_it_should_be_is_damage(checked, statement, kind):
    checked.sql(statement)
    assert (kind, "person") in checked.kinds(code=ATTENTION)


def test_an_attempt_whose_order_cannot_be_read_is_interrupted_and_nothing_else_ends(project, checked):
    checked.sql(UNREADABLE.format("NULL"))
    assert project.noface("tools", "clean", "--dry-run").returncode == 0
    project.run(code=ATTENTION)
    assert checked.rows("SELECT outcome FROM attempts WHERE issue_id = '2' AND number = 1") == [("INTERRUPTED",)]


def test_before_the_first_run_all_is_sound_and_nothing_is_made(project):
    assert project.noface("tools", "fsck").returncode == 0
    assert not project.state.exists()


def test_a_configuration_that_is_missing_keeps_nobody_from_checking(project, checked):
    (project.path / "noface.toml").unlink()
    assert checked.kinds(code=0) == set()


def test_a_run_that_was_killed_is_settled_by_a_repair(project):
    project.play(("*", 0, [{"write": "half.txt", "text": "half"}, {"sleep": 60}]))
    project.issue(1)
    project.commit()
    running = project.start("run")
    wait_for(lambda: list((project.folder / "slots").rglob("half.txt")))
    running.kill()
    running.communicate()
    found = json.loads(project.noface("tools", "fsck", "--json").stdout)
    assert {"run-open", "attempt-open"} <= {each["kind"] for each in found["findings"]}
    assert json.loads(project.noface("tools", "fsck", "--repair", "--json").stdout)["sound"]
    assert project.git("show", "refs/noface/issues/1/1:half.txt") == "half"
    (attempt,) = project.attempts("1")
    assert (attempt["outcome"], attempt["charged"]) == ("INTERRUPTED", False)
    assert project.processes() == []


@pytest.mark.parametrize(
    "name", first_ones(["landing_files_updated", "landing_intent", "landing_ref_locked", "landing_ref_moved"])
)
def test_a_landing_that_was_cut_off_is_settled_by_a_repair(project, name):
    project.issue(1)
    project.commit()
    assert project.noface("run", NOFACE_FAILPOINT=name).returncode == -signal.SIGKILL
    wait_for(lambda: not project.processes())
    kinds = {each["kind"] for each in json.loads(project.noface("tools", "fsck", "--json").stdout)["findings"]}
    assert "landing-open" in kinds
    assert json.loads(project.noface("tools", "fsck", "--repair", "--json").stdout)["sound"]
    assert (project.git("status", "--porcelain"), project.git("show", "main:b.txt")) == ("", "done")
    assert project.statuses() == {"1": "merged"}


def test_a_cut_off_landing_that_no_record_tells_of_is_settled_by_a_repair(project):
    project.issue(1)
    project.commit()
    assert project.noface("run", NOFACE_FAILPOINT="landing_files_updated").returncode == -signal.SIGKILL
    wait_for(lambda: not project.processes())
    for file in project.state.glob("state.db*"):
        file.unlink()
    found = json.loads(project.noface("tools", "fsck", "--json").stdout)["findings"]
    assert "landing-cut-off" in {each["kind"] for each in found}
    project.noface("tools", "fsck", "--repair")
    assert not (project.path / ".git" / "index.lock").exists()
    assert project.git("status", "--porcelain") == ""


def test_a_deleted_database_is_made_again_from_mains_trailers(project, checked):
    for file in project.state.glob("state.db*"):
        file.unlink()
    checked.repair_settles("database-missing")
    assert project.statuses()["1"] == "merged"


def test_an_issue_that_main_holds_and_its_row_does_not_is_marked_as_merged(project, checked):
    checked.sql("UPDATE issues SET status = 'ready', merged_commit = NULL WHERE id = '1'")
    checked.repair_settles("merge-unrecorded")
    assert project.statuses()["1"] == "merged"


def test_a_ref_of_work_that_was_removed_is_made_again_while_the_object_is_there(project, checked):
    work = project.git("rev-parse", "refs/noface/issues/2/1")
    project.git("update-ref", "-d", "refs/noface/issues/2/1")
    project.git("update-ref", "-d", "refs/noface/issues/2/branch")
    project.git("branch", "-qD", "noface/2")
    checked.repair_settles("work-unheld")
    assert project.git("rev-parse", "refs/noface/issues/2/1") == work


def test_work_whose_object_is_gone_needs_a_person(project, checked):
    for ref in project.git("for-each-ref", "--format=%(refname)", "refs/noface", "refs/heads/noface").split():
        project.git("update-ref", "-d", ref)
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "-q", "--prune=now")
    assert ("work-missing", "person") in checked.kinds(code=ATTENTION)


def test_work_that_a_person_let_go_of_is_not_missed(project, checked):
    project.noface("tools", "clean", "--force")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "-q", "--prune=now")
    assert checked.kinds(code=0) == set()


def test_refs_that_nobody_knows_stay_and_are_named(project, checked):
    project.git("update-ref", "refs/noface/issues/nobody/1", "main")
    assert checked.kinds("--repair", code=0) == {("ref-unknown", "note")}
    assert project.git("for-each-ref", "refs/noface/issues/nobody/1") != ""


def test_counters_that_differ_from_their_attempts_are_counted_anew(project, checked):
    checked.sql("UPDATE issues SET attempts = 7, cost_usd = 3.5 WHERE id = '2'")
    checked.repair_settles("counters-wrong")
    assert checked.rows("SELECT attempts FROM issues WHERE id = '2'") == [(1,)]


def test_a_landing_without_proof_needs_a_person(checked):
    checked.sql("DELETE FROM gate_memo")
    assert checked.kinds("--repair", code=ATTENTION) == {("landing-unproven", "person")}


def test_a_landing_that_a_red_gate_proves_needs_a_person(checked):
    ((key, result),) = checked.rows(
        "SELECT key, result FROM gate_memo WHERE tree = (SELECT tree FROM landings WHERE state = 'landed')"
    )
    red = json.loads(result)
    red["failure"] = {"kind": "TEST_FAILURE", "message": "red", "rule": "red"}
    checked.sql(f"UPDATE gate_memo SET result = '{json.dumps(red)}' WHERE key = '{key}'")
    assert ("landing-unproven", "person") in checked.kinds(code=ATTENTION)


def test_a_landing_of_another_tree_than_main_holds_needs_a_person(checked):
    checked.sql("UPDATE landings SET tree = old")
    assert ("landing-differs", "person") in checked.kinds(code=ATTENTION)


def test_a_move_of_main_by_noface_that_nobody_recorded_needs_a_person(checked):
    checked.sql("DELETE FROM landings")
    assert {("landing-unrecorded", "person"), ("main-moved", "person")} <= checked.kinds(code=ATTENTION)


def test_what_a_person_rebased_or_pulled_is_only_noted(project, checked):
    project.git("commit", "-q", "--amend", "--no-edit", "--date", "2001-01-01T00:00:00")
    assert checked.kinds(code=0) == {("landing-unrecorded", "note")}


def test_a_merged_issue_that_a_person_reset_away_is_noted(project, checked):
    project.git("reset", "-q", "--hard", "HEAD~1")
    assert ("merge-lost", "note") in checked.kinds(code=0)


def file_of(project, oid):
    """Return the file of an object, once none lies in a pack."""
    objects, aside = project.path / ".git" / "objects", project.folder / "aside"
    aside.mkdir()
    for pack in list(objects.glob("pack/*.pack")):
        pack.rename(aside / pack.name)
        pack.with_suffix(".idx").unlink()
        with (aside / pack.name).open("rb") as packed:
            subprocess.run(["git", "unpack-objects", "-q"], cwd=project.path, stdin=packed, check=True)
    return objects / oid[:2] / oid[2:]


@pytest.mark.parametrize(("name", "left"), [(":two.txt", None), ("^{tree}", b"")])
def test_a_missing_or_empty_object_below_noface_s_refs_needs_a_person(project, checked, name, left):
    oid = project.git("rev-parse", f"refs/noface/issues/2/1{name}")
    file = file_of(project, oid)
    file.unlink()
    if left is not None:
        file.write_bytes(left)
    document = checked.check(code=ATTENTION)
    (found,) = [each for each in document["findings"] if each["kind"] == "objects-missing"]
    assert left is not None or oid in found["message"]


def test_an_empty_ref_file_needs_a_person(project, checked):
    (project.path / ".git" / "refs" / "noface" / "issues" / "2" / "1").write_text("")
    assert ("ref-broken", "person") in checked.kinds(code=ATTENTION)


def test_processes_that_a_dead_run_left_are_killed(project, checked):
    left = subprocess.Popen(["sleep", "600"], env=project.environment(NOFACE_STATE=str(project.state)))
    try:
        assert ("process-left", "repairable") in checked.kinds(code=ATTENTION)
        checked.check("--repair", code=0)
        assert left.wait(timeout=20) == -signal.SIGKILL
    finally:
        left.kill()
        left.wait()


def test_a_database_that_cannot_be_used_is_named_and_left(project, checked):
    path = project.state / "state.db"
    for file in project.state.glob("state.db*"):
        file.unlink()
    path.write_bytes(b"garbage" * 1000)
    assert checked.kinds("--repair", code=ATTENTION) == {("database-unusable", "person")}
    assert path.read_bytes() == b"garbage" * 1000


def test_a_damaged_index_of_the_database_is_damage(project, checked):
    checked.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    checked.sql("PRAGMA writable_schema = ON", "DELETE FROM sqlite_master WHERE name = 'events_by_issue'")
    assert ("database-damaged", "person") in checked.kinds(code=ATTENTION)


def test_beside_a_run_what_is_in_flight_is_only_noted_and_a_repair_is_refused(project):
    project.play(("*", 0, [{"write": "half.txt", "text": "half"}, {"sleep": 60}]))
    project.issue(1)
    project.commit()
    running = project.start("run")
    wait_for(lambda: list((project.folder / "slots").rglob("half.txt")))
    document = json.loads(project.noface("tools", "fsck", "--json").stdout)
    assert document["running"] == f"noface with pid {running.pid}"
    assert document["sound"]
    assert ("attempt-open", "note") in {(each["kind"], each["severity"]) for each in document["findings"]}
    refused = project.noface("tools", "fsck", "--repair")
    assert refused.returncode == 2
    assert str(running.pid) in refused.stderr
    running.kill()
    running.communicate()


def test_a_repair_touches_nothing_of_a_persons(project, checked):
    project.write("a.txt", "mine, not committed\n")
    project.git("stash", "-q")
    project.write("a.txt", "one\nand staged\n")
    project.git("add", "a.txt")
    project.write("notes.txt", "mine\n")
    checked.sql("UPDATE issues SET attempts = 7 WHERE id = '2'")
    git_dir = project.path / ".git"
    before = (git_dir / "index").read_bytes(), (git_dir / "config").read_bytes(), project.git("status", "--porcelain")
    stash, refs = project.git("stash", "list"), project.git("for-each-ref")
    checked.check("--repair", code=0)
    after = (git_dir / "index").read_bytes(), (git_dir / "config").read_bytes(), project.git("status", "--porcelain")
    assert after == before
    assert (project.git("stash", "list"), project.git("for-each-ref")) == (stash, refs)


@pytest.mark.parametrize(
    ("place", "commands"),
    [
        ("refs/noface/issues/odd", (["tools", "fsck"], ["tools", "fsck", "--repair"], ["tools", "clean"], ["run"])),
        ("refs/heads/noface/odd", (["tools", "fsck"],)),
        ("refs/noface/link", (["tools", "fsck"],)),
    ],
)
def test_a_fifo_among_refs_is_named_by_every_command_that_asks_git_and_none_waits(project, checked, place, commands):
    file = project.path / ".git" / place
    file.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(project.folder / "pipe" if place.endswith("link") else file)
    if place.endswith("link"):
        file.symlink_to(project.folder / "pipe")
    for command in commands:
        done = project.noface(*command)
        assert done.returncode == 2, command
        assert f"{place} is not a regular file; git would wait for it forever" in "".join(done.stderr.split("\n"))
    assert project.noface("status").returncode == 0


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("noface/state.db", ("tools fsck", "status", "tools clean", "run")),
        ("noface/lock", ("tools fsck", "run")),
        ("noface/hubs/agent-000/config", ("tools fsck", "run")),
        ("index.lock", ("tools fsck", "run")),
        ("logs/refs/heads/main", ("tools fsck", "run")),
    ],
)
def test_a_fifo_in_place_of_a_file_that_is_read_is_not_waited_for(project, checked, name, commands):
    file = project.path / ".git" / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    for command in commands:
        assert "Traceback" not in project.noface(*command.split()).stderr
