"""`noface tools clean`: what merged issues left behind goes, unmerged work and a person's own stay."""

import pytest
from support.cli_story import Story, red_test, write_issue

from noface.git.repository import discover
from noface.process.lock import RepositoryLock


class Night:
    """Issue 1 landed, 2 blocked with work on its branch; real commits, refs, workspaces."""

    def __init__(self, project):
        self.project, self.git = project, project.git
        write_issue(project.path, "1-x", "One")
        write_issue(project.path, "2-x", "Two")
        self.main = self.git("rev-parse", "HEAD")
        self.landed = self.commit("work on one", "Noface-Issue: 1")
        self.git("update-ref", "refs/heads/main", self.landed)
        self.git("reset", "-q", "--hard")
        self.work = self.commit("work on two")
        self.story = Story(project.path, self.landed).sync().run()
        self.story.merge("1")
        self.story.commit = self.work
        self.story.attempt("2", 1, red_test()).block("2")
        for ref, commit in (
            ("refs/heads/noface/1", self.landed),
            ("refs/noface/issues/1/1", self.landed),
            ("refs/heads/noface/2", self.work),
            ("refs/noface/issues/2/1", self.work),
        ):
            self.git("update-ref", ref, commit)
        for issue in ("1", "2"):
            folder = self.story.directory(issue, 1)
            (folder / "agent.log").write_text("x" * 5000)
            (folder / "report.json").write_text("{}")
            (folder / "gates").mkdir()
            (folder / "gates" / "unit.out").write_text("green")

    def commit(self, *message):
        tree = self.git("rev-parse", f"{self.main}^{{tree}}")
        parts = [part for line in message for part in ("-m", line)]
        return self.git("commit-tree", tree, "-p", self.main, *parts)

    def refs(self):
        return set(self.git("for-each-ref", "--format=%(refname)", "refs/heads/noface", "refs/noface").split())

    def make_slots(self, *names):
        """Make workspaces where noface makes them."""
        from noface.cli.wiring import slots_dir
        from noface.config.load import load

        home = slots_dir(load(self.project.path), discover(self.project.path))
        for name in names:
            for folder in (home / name, self.story.state / "hubs" / name):
                folder.mkdir(parents=True)
                (folder / "file").write_text("x" * 1000)
        return home


@pytest.fixture
def night(project):
    made = Night(project)
    yield made
    made.story.close()


BRANCHES = {"refs/heads/noface/1", "refs/heads/noface/2"}
UNMERGED = {"refs/heads/noface/2", "refs/noface/issues/2/1"}


def test_refs_of_merged_issues_go_and_those_of_others_stay(project, night):
    done = project.noface("tools", "clean")
    assert done.returncode == 0, done.stderr
    assert night.refs() == UNMERGED
    assert "branch noface/1" in done.stdout
    assert "not merged (blocked)" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_logs_of_merged_attempts_go_but_for_the_report(project, night):
    project.noface("tools", "clean")
    assert sorted(path.name for path in night.story.directory("1", 1).iterdir()) == ["removed.json", "report.json"]
    assert "were removed on 20" in project.noface("logs", "1").stderr
    assert len(list(night.story.directory("2", 1).iterdir())) == 3


def test_workspaces_go_with_their_git_dirs(project, night):
    home = night.make_slots("agent-0", "gate-0", "gate-land")
    document = project.shown("tools", "clean")
    names = [each["name"] for each in document["clean"] if each["what"] == "workspace"]
    assert names == ["agent-0", "gate-0", "gate-land"]
    assert all(each["bytes"] >= 2000 for each in document["clean"] if each["what"] == "workspace")
    assert not home.exists()
    assert list((night.story.state / "hubs").iterdir()) == []


def test_a_workspace_that_holds_the_only_copy_of_cut_off_work_stays(project, night):
    home = night.make_slots("agent-0", "agent-1")
    night.story.start("2", 2, slot=1)
    document = project.shown("tools", "clean")
    assert [(each["name"], "cut off" in each["why"]) for each in document["kept"] if each["what"] == "workspace"] == [
        ("agent-1", True)
    ]
    assert (home / "agent-1").exists()
    assert not (home / "agent-0").exists()


def test_without_the_database_workspaces_of_agents_stay(project, night):
    home = night.make_slots("agent-0", "gate-0")
    night.story.close()
    for path in night.story.state.glob("state.db*"):
        path.unlink()
    project.noface("tools", "clean")
    assert (home / "agent-0").exists()
    assert not (home / "gate-0").exists()
    assert night.refs() >= UNMERGED


def test_a_dry_run_changes_nothing_and_says_the_same(project, night):
    night.make_slots("agent-0")
    refs = night.refs()
    planned = project.shown("tools", "clean", "--dry-run")
    assert planned["dry_run"] is True
    assert night.refs() == refs
    assert (night.story.directory("1", 1) / "agent.log").exists()
    page = project.noface("tools", "clean", "--dry-run").stdout
    assert "Would remove" in page
    assert "\nKept:\n" in page
    done = project.shown("tools", "clean")
    assert (done["clean"], done["kept"]) == (planned["clean"], planned["kept"])


def test_force_lets_go_of_unmerged_work_after_naming_it_and_resets_nothing(project, night):
    done = project.noface("tools", "clean", "--force")
    assert night.refs() == set()
    assert "branch noface/2" in done.stdout
    assert night.story.reader.issue("2").status == "blocked"
    assert (night.story.directory("2", 1) / "agent.log").exists()


def test_a_branch_that_is_checked_out_stays_even_with_force(project, night):
    project.git("worktree", "add", "-q", str(project.folder / "look"), "noface/1")
    document = project.shown("tools", "clean", "--force")
    assert "refs/heads/noface/1" in night.refs()
    (kept,) = document["kept"]
    assert (kept["name"], "checked out" in kept["why"]) == ("noface/1", True)


def test_commits_that_a_person_put_on_a_landed_branch_stay(project, night):
    project.git("update-ref", "refs/heads/noface/1", night.commit("my own addition"))
    document = project.shown("tools", "clean")
    assert "refs/heads/noface/1" in night.refs()
    assert [each["name"] for each in document["kept"] if each["issue"] == "1"] == ["noface/1"]


def test_refs_of_a_merged_issue_stay_where_main_no_longer_holds_it(project, night):
    project.git("reset", "-q", "--hard", night.main)
    document = project.shown("tools", "clean")
    assert {"refs/heads/noface/1", "refs/noface/issues/1/1"} <= night.refs()
    assert any("main does not hold it any more" in each["why"] for each in document["kept"])


def test_the_next_run_removes_the_branches_of_what_main_holds(project, night):
    project.config(gate="true")
    project.run(code=3)
    assert night.refs() & BRANCHES == {"refs/heads/noface/2"}
    assert "refs/noface/issues/1/1" in night.refs()


@pytest.mark.parametrize("theirs", ["a checkout", "a commit", "a main without it"])
def test_a_run_removes_no_branch_that_may_be_needed(project, night, theirs):
    project.config(gate="true")
    match theirs:
        case "a checkout":
            project.git("worktree", "add", "-q", str(project.folder / "look"), "noface/1")
        case "a commit":
            project.git("update-ref", "refs/heads/noface/1", night.commit("my own addition"))
        case _:
            project.git("reset", "-q", "--hard", night.main)
    told = project.run("-i", "2", code=3)
    assert "Finished; 2 is blocked: all 5 attempts are used up; to have it tried again: noface retry 2." in told
    assert "refs/heads/noface/1" in night.refs()


def test_a_second_noface_keeps_it_from_cleaning(project, night):
    refs = night.refs()
    with RepositoryLock(night.story.state / "lock"):
        done = project.noface("tools", "clean")
    assert done.returncode == 2
    assert "another noface works on this repository" in done.stderr
    assert night.refs() == refs


def test_where_noface_never_ran_nothing_is_made(project):
    assert project.noface("tools", "clean").stdout == "Nothing to clean.\n"
    assert project.shown("tools", "clean")["clean"] == []
    assert not project.state.exists()


def test_an_attempts_folder_outside_noface_is_never_touched(project, night):
    outside = project.folder / "precious"
    outside.mkdir()
    (outside / "agent.log").write_text("keep")
    with night.story.database.transaction() as connection:
        connection.execute("UPDATE attempts SET directory = ? WHERE issue_id = '1'", (str(outside),))
    project.noface("tools", "clean", "--force")
    assert (outside / "agent.log").exists()
