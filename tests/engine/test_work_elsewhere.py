"""Work that an agent leaves in another place: a worktree, a clone, a new repository inside its workspace."""

import json
import os

import pytest
from support.git_ground import a_bench, git, write

from noface.git.workspace import checkout

FIXED = {"write": "fixed.txt", "text": "fixed\n"}
WORKTREE = ".claude/worktrees/fix"
PLACES = {
    WORKTREE: f"git worktree add -q {WORKTREE}; echo fixed > {WORKTREE}/fixed.txt",
    "wt/x": "git worktree add -q wt/x -b fix; cd wt/x; echo fixed > fixed.txt; git add -A; git commit -qm fixed",
    "copy": "git clone -q . copy; echo fixed > copy/fixed.txt",
    "twin": "mkdir twin; cp -r .git a.txt twin; echo fixed > twin/fixed.txt",
    "sub": "git init -q sub; echo fixed > sub/fixed.txt",
}


def said_of(place):
    return f"the change lies in {place}, a repository of its own: work in the checkout itself"


@pytest.fixture
def played(project):
    """Run an issue of as many attempts as there are lists of steps; give back the attempts."""

    def run(*plays, code=0, gate="test ! -e bad && test -e a.txt", before=None):
        for name, text in (before or {}).items():
            project.write(name, text)
        project.config(gate=gate)
        project.play(*[("7", number, steps) for number, steps in enumerate(plays, 1)])
        project.issue(7, max_attempts=len(plays))
        project.commit()
        project.run(code=code)
        return project.attempts("7")

    return run


def test_work_in_another_place_is_told_as_such_and_the_next_attempt_does_it_right(project):
    """Each place is where the worker of an issue of its own works first."""
    numbered = {str(number): place for number, place in enumerate(PLACES, 1)}
    project.play(
        *((issue, 1, [{"shell": PLACES[place]}]) for issue, place in numbered.items()),
        *((issue, 2, [{"write": f"fixed{issue}.txt", "text": "fixed\n"}]) for issue in numbered),
    )
    for issue in numbered:
        project.issue(issue, max_attempts=2)
    project.commit()
    project.run()
    landed = set(project.git("ls-tree", "-r", "--name-only", "main").split())
    for issue, place in numbered.items():
        first, second = project.attempts(issue)
        assert (place, first["outcome"], first["failure"]["rule"]) == (place, "NO_DIFF", "worked-elsewhere")
        assert first["failure"]["message"].startswith(said_of(place))
        noted = [note.split(":")[0] for note in first["notes"]]
        assert noted == ["left out of the change", place, "kept of the worker's own git"]
        assert said_of(place) in project.prompt(issue, 2)
        assert second["outcome"] == "PASSED"
        assert {f"fixed{issue}.txt", "a.txt"} <= landed
        assert not [path for path in landed if path.startswith(place)]


def test_a_repository_made_in_a_folder_of_the_project_s_own_loses_its_git_and_nothing_else(played, project):
    steps = [{"shell": "cd src; git init -q; echo new > new.py; git add -A; git commit -qm inner"}]
    (attempt,) = played(steps, before={"src/a.py": "a = 1\n"})
    assert attempt["outcome"] == "PASSED"
    assert project.git("diff", "--name-only", "main~1", "main") == "src/new.py"
    assert [note for note in attempt["notes"] if note.startswith("src/.git: a nested")]


@pytest.mark.thorough
def test_a_dependency_with_a_git_dir_in_an_ignored_folder_is_nobody_s_work(played):
    steps = [{"shell": "git init -q deps/lib; echo x > deps/lib/x"}]
    (attempt,) = played(steps, before={".gitignore": "deps/\n"}, code=3)
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("NO_DIFF", "tree-unchanged")
    assert attempt["notes"] == []


@pytest.mark.thorough
def test_a_worktree_in_an_ignored_folder_is_told_of(played):
    (attempt,) = played([{"shell": PLACES[WORKTREE]}], before={".gitignore": ".claude/worktrees/\n"}, code=3)
    assert attempt["failure"]["message"].startswith(said_of(WORKTREE))


# The snapshot alone


def test_what_is_left_out_stays_until_the_workspace_is_used_again(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    git(work, "worktree", "add", "-q", "wt/x")
    write(work, {"wt/x/a.txt": "changed there\n", "new.txt": "new\n"})
    snapshot = bench.take().snapshot
    assert {change.path for change in snapshot.changes} == {"new.txt"}
    assert snapshot.elsewhere == ("wt/x",)
    assert (work / "wt/x/a.txt").read_text() == "changed there\n"
    checkout(bench.slot, bench.main)
    assert not (work / "wt").exists()


@pytest.mark.parametrize("kind", ["folder", "file", "fifo"])
def test_a_git_entry_that_makes_no_repository_leaves_its_folder_in_the_change(tmp_path, kind):
    bench = a_bench(tmp_path)
    work = bench.begin()
    write(work, {"fixtures/root/x.txt": "x\n"})
    match kind:
        case "folder":
            (work / "fixtures/root/.git").mkdir()
        case "file":
            (work / "fixtures/root/.git").write_text("")
        case _:
            os.mkfifo(work / "fixtures/root/.git")
    snapshot = bench.take().snapshot
    assert {change.path for change in snapshot.changes} == {"fixtures/root/x.txt"}
    assert snapshot.elsewhere == ()


def test_what_would_hang_git_does_not_in_a_copy_either_and_no_file_of_it_counts(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    for place in ("copy", "copy/inner", "linked"):
        git(work, "clone", "-q", str(bench.path), place)
    (work / "copy/inner/.git/HEAD").unlink()
    os.mkfifo(work / "copy/inner/.git/HEAD")
    os.mkfifo(work / "copy/.gitignore")
    write(work, {"copy/big.bin": "x" * 2_000_000, "copy/.gitattributes": "x" * 2_000_000, "new.txt": "new\n"})
    (work / "linked/.git").rename(work / "linked/real")
    (work / "linked/.git").symlink_to("real")
    snapshot = bench.take().snapshot
    assert {change.path for change in snapshot.changes} == {"new.txt"}
    assert (sorted(snapshot.elsewhere), snapshot.oversized) == (["copy", "linked"], ())


def test_only_so_many_places_are_noted_and_no_other_note_is_lost(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    for number in range(30):
        git(work, "init", "-q", f"r{number}")
    os.mkfifo(work / "pipe")
    snapshot = bench.take().snapshot
    assert len(snapshot.elsewhere) == 30
    assert len([note for note in snapshot.notes if "of its own was left out" in note]) == 5
    assert "pipe: a FIFO, socket or device was removed" in snapshot.notes


def test_a_worker_whose_commits_are_on_a_branch_and_not_in_its_checkout_is_told_so(played, project):
    """Its own git is read as files; a branch that stands where the work began, a link and a FIFO tell nothing."""
    committed = (
        "git branch still; git checkout -q -b fix;"
        " echo fixed > fixed.txt; git add -A; git commit -qm fixed; git checkout -q --detach HEAD~1; mkfifo .git/refs/heads/pipe; ln -s fix .git/refs/heads/link"
    )
    first, second = played([{"shell": committed}], [FIXED])
    assert (first["outcome"], second["outcome"]) == ("NO_DIFF", "PASSED")
    commit = project.git("rev-parse", "refs/noface/issues/7/in-git-1-0")
    kept = f"the branch fix (`git merge --squash {commit[:12]}`) of a worker's own git is kept"
    assert f"{kept}: what counts is the files of the checkout" in first["failure"]["message"]
    assert kept in project.prompt("7", 2)


@pytest.mark.parametrize("says", ["I see nothing to do.", json.dumps({"status": "already_done", "evidence": "true"})])
def test_nobody_is_asked_to_close_an_issue_as_done_whose_work_a_stash_holds(played, project, says):
    stashed = [{"write": "fixed.txt", "text": "fixed\n"}, {"shell": "git stash -q -u"}]
    attempts = played(stashed, [{"say": says}], [{"say": says}], code=3)
    assert [each["failure"]["rule"] for each in attempts] == ["worked-elsewhere"] * 3
    assert project.statuses() == {"7": "blocked"}
    page = " ".join(project.noface("blocked").stdout.split())
    commit = project.git("rev-parse", "refs/noface/issues/7/in-git-1-0")
    assert "Is that the work, and what keeps the workers from it?" in page
    assert f"git stash apply {commit[:12]}" in page
    assert "approve" not in page
