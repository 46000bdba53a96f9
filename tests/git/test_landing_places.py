"""Where main can be checked out, and what a person can have under way there (law 3)."""

import shutil

import pytest
from support.git_ground import Bench, a_bench, a_repository, git, listing, write
from support.landings import AFTER, FILES, LANDING, REMOVED, land, plumbing_at, the_bench

from noface.git.fast_forward import Blocked, Landed


def merging(path):
    write(path, {"mine.txt": "ours\n"})
    git(path, "commit", "-qam", "ours")
    git(path, "checkout", "-q", "-b", "theirs", "HEAD~1")
    write(path, {"mine.txt": "theirs\n"})
    git(path, "commit", "-qam", "theirs")
    git(path, "checkout", "-q", "main")


def in_a_merge(path):
    merging(path)
    git(path, "merge", "theirs", check=False)


def in_a_rebase(path):
    merging(path)
    git(path, "rebase", "theirs", check=False)


def in_a_cherry_pick(path):
    merging(path)
    git(path, "cherry-pick", "theirs", check=False)


def in_a_revert(path):
    merging(path)
    write(path, {"mine.txt": "once more\n"})
    git(path, "commit", "-qam", "again")
    git(path, "revert", "HEAD~1", check=False)


def in_a_bisect(path):
    merging(path)
    git(path, "bisect", "start", "HEAD", "HEAD~1")


def in_a_bisect_that_has_moved_on(path):
    for number in range(4):
        write(path, {"mine.txt": f"{number}\n"})
        git(path, "commit", "-qam", str(number))
    git(path, "bisect", "start", "HEAD", "HEAD~4")


@pytest.mark.parametrize(
    "start",
    [in_a_merge, in_a_rebase, in_a_cherry_pick, in_a_revert, in_a_bisect, in_a_bisect_that_has_moved_on],
    ids=lambda start: start.__name__,
)
@pytest.mark.parametrize("linked", [False, True], ids=["here", "in a linked worktree"])
def test_unfinished_work_of_the_persons_holds_the_landing(tmp_path, start, linked):
    bench = a_bench(tmp_path, FILES)
    path = bench.path
    if linked:
        git(path, "checkout", "-q", "-b", "other")
        git(path, "worktree", "add", "-q", tmp_path / "linked", "main")
        path = tmp_path / "linked"
    start(path)
    old = bench.main
    new = bench.merged(LANDING, remove=REMOVED)
    before = listing(path), git(path, "status")
    held = land(bench, old, new)
    assert isinstance(held, Blocked)
    assert "finish or abort" in held.reason
    assert ((listing(path), git(path, "status")), bench.main) == (before, old)


def test_rebase_that_will_move_main_along_holds_the_landing(tmp_path):
    bench = a_bench(tmp_path, FILES)
    git(bench.path, "checkout", "-q", "-b", "side")
    write(bench.path, {"mine.txt": "side\n"})
    git(bench.path, "commit", "-qam", "side")
    git(bench.path, "branch", "-f", "main")
    git(bench.path, "checkout", "-q", "-b", "top")
    write(bench.path, {"mine.txt": "top\n"})
    git(bench.path, "commit", "-qam", "top")
    git(bench.path, "checkout", "-q", "-b", "onto", "HEAD~2")
    write(bench.path, {"mine.txt": "onto\n"})
    git(bench.path, "commit", "-qam", "onto")
    git(bench.path, "checkout", "-q", "top")
    git(bench.path, "rebase", "--update-refs", "onto", check=False)
    old = bench.main
    assert isinstance(land(bench, old, bench.merged(LANDING)), Blocked)
    assert bench.main == old


def test_main_in_a_linked_worktree_moves_there(tmp_path):
    bench, old, new = the_bench(tmp_path)
    git(bench.path, "checkout", "-q", "-b", "other")
    git(bench.path, "worktree", "add", "-q", tmp_path / "linked", "main")
    write(tmp_path / "linked", {"mine.txt": "mine\n"})
    before = listing(bench.path)
    assert land(bench, old, new) == Landed(new)
    assert listing(tmp_path / "linked") == AFTER | {"mine.txt": b"mine\n"}
    assert git(tmp_path / "linked", "status", "--porcelain") == " M mine.txt"
    assert (listing(bench.path), git(bench.path, "status", "--porcelain")) == (before, "")


def test_overlap_in_a_linked_worktree_holds_the_landing(tmp_path):
    bench, old, new = the_bench(tmp_path)
    git(bench.path, "checkout", "-q", "-b", "other")
    git(bench.path, "worktree", "add", "-q", tmp_path / "linked", "main")
    write(tmp_path / "linked", {"a.txt": "mine\n"})
    assert land(bench, old, new).paths == ("a.txt",)


def test_worktree_whose_folder_was_deleted_by_hand_holds_nothing(tmp_path):
    bench, old, new = the_bench(tmp_path)
    git(bench.path, "checkout", "-q", "-b", "other")
    git(bench.path, "worktree", "add", "-q", tmp_path / "linked", "main")
    shutil.rmtree(tmp_path / "linked")
    assert land(bench, old, new) == Landed(new)


def test_worktree_that_is_locked_because_its_disk_is_away_holds_the_landing(tmp_path):
    bench, old, new = the_bench(tmp_path)
    git(bench.path, "checkout", "-q", "-b", "other")
    git(bench.path, "worktree", "add", "-q", tmp_path / "linked", "main")
    git(bench.path, "worktree", "lock", tmp_path / "linked")
    (tmp_path / "linked").rename(tmp_path / "unplugged")
    assert isinstance(land(bench, old, new), Blocked)
    (tmp_path / "unplugged").rename(tmp_path / "linked")
    assert land(bench, old, new) == Landed(new)
    assert git(tmp_path / "linked", "status", "--porcelain") == ""


def test_main_checked_out_twice_holds_the_landing(tmp_path):
    bench, old, new = the_bench(tmp_path)
    git(bench.path, "worktree", "add", "-q", "-f", tmp_path / "linked", "main")
    assert "twice" in land(bench, old, new).reason
    assert bench.main == old


def test_git_dir_apart_from_its_files_is_found(tmp_path):
    bench = a_bench(tmp_path, FILES, "--separate-git-dir", str(tmp_path / "git-dir"))
    old, new = bench.main, bench.merged(LANDING, remove=REMOVED)
    assert land(bench, old, new) == Landed(new)
    assert (listing(bench.path), git(bench.path, "status", "--porcelain")) == (AFTER, "")


def test_files_that_git_cannot_tell_the_place_of_hold_the_landing(tmp_path):
    bench = a_bench(tmp_path, FILES, "--separate-git-dir", str(tmp_path / "git-dir"))
    old, new = bench.main, bench.merged(LANDING)
    git(bench.path, "worktree", "add", "-q", "-b", "other", tmp_path / "linked")
    elsewhere = Bench(tmp_path / "linked", tmp_path, plumbing_at(tmp_path / "linked", "main"))
    assert isinstance(land(elsewhere, old, new), Blocked)
    assert (git(bench.path, "status", "--porcelain"), bench.main) == ("", old)


def test_submodule_can_be_the_project(tmp_path):
    inner = a_repository(tmp_path / "inner", FILES)
    outer = a_repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(outer / "sub", "config", "user.name", "Pat")
    git(outer / "sub", "config", "user.email", "pat@example.org")
    bench = Bench(outer / "sub", tmp_path, plumbing_at(outer / "sub"))
    old, new = bench.main, bench.merged(LANDING, remove=REMOVED)
    assert land(bench, old, new) == Landed(new)
    assert (listing(outer / "sub"), git(outer / "sub", "status", "--porcelain")) == (AFTER, "")


def test_worktree_of_a_bare_repository_can_be_the_project(tmp_path):
    source = a_repository(tmp_path / "source", FILES)
    git(tmp_path, "clone", "-q", "--bare", source, "hidden.git")
    git(tmp_path / "hidden.git", "worktree", "add", "-q", tmp_path / "work", "main")
    bench = Bench(tmp_path / "work", tmp_path, plumbing_at(tmp_path / "work"))
    old, new = bench.main, bench.merged(LANDING, remove=REMOVED)
    assert land(bench, old, new) == Landed(new)
    assert (listing(tmp_path / "work"), git(tmp_path / "work", "status", "--porcelain")) == (AFTER, "")


def test_submodule_in_the_project_is_left_alone_whatever_it_is_told(tmp_path):
    inner = a_repository(tmp_path / "inner")
    bench = a_bench(tmp_path, FILES)
    git(bench.path, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(bench.path, "commit", "-q", "-m", "with a submodule")
    git(bench.path, "config", "submodule.recurse", "true")
    git(bench.path, "config", "-f", ".gitmodules", "submodule.sub.ignore", "none")
    git(bench.path, "commit", "-qam", "ignore none")
    write(bench.path / "sub", {"a.txt": "dirty\n", "untracked.txt": "x\n"})
    old, new = bench.main, bench.merged(LANDING, remove=REMOVED)
    before = listing(bench.path / "sub"), git(bench.path / "sub", "rev-parse", "HEAD")
    assert land(bench, old, new) == Landed(new)
    assert (listing(bench.path / "sub"), git(bench.path / "sub", "rev-parse", "HEAD")) == before
    assert git(bench.path, "status", "--porcelain") == " M sub"
