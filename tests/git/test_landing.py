"""Main moves by compare-and-swap, with its files where it is checked out; all else of the person's stays (laws 1, 3)."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from support.cases import first_ones
from support.git_ground import ENV, Canary, a_bench, git, listing, write
from support.landings import (
    AFTER,
    FILES,
    LAND,
    LANDING,
    REMOVED,
    land,
    landing_that_pauses,
    left,
    plumbing_at,
    the_bench,
)
from support.processes import wait_for

from noface.errors import UsageError
from noface.git.fast_forward import Blocked, Landed, Moved
from noface.git.landing import Advance, _prepared, landing


def everything_of_the_persons(path):
    git_dir = path / ".git"
    hooks = {file.name: file.read_bytes() for file in (git_dir / "hooks").iterdir() if file.is_file()}
    return (
        git(path, "diff", "--cached"),
        git(path, "diff"),
        git(path, "stash", "list", "-p"),
        git(path, "ls-files", "--others"),
        (git_dir / "config").read_bytes(),
        (git_dir / "info/exclude").read_bytes(),
        hooks,
    )


def test_clean_checkout_moves_with_its_files(tmp_path):
    bench, old, new = the_bench(tmp_path)
    assert land(bench, old, new) == Landed(new)
    assert listing(bench.path) == AFTER
    assert os.access(bench.path / "run.sh", os.X_OK)
    assert git(bench.path, "status", "--porcelain") == ""
    assert git(bench.path, "rev-parse", "HEAD") == new
    assert git(bench.path, "reflog", "-1", "--format=%gs", "main") == "noface: land issue 7"
    assert not (bench.path / "d").exists()
    assert left(bench.path) == set()


def test_main_that_is_checked_out_nowhere_moves_alone(tmp_path):
    bench, old, new = the_bench(tmp_path)
    git(bench.path, "checkout", "-q", "-b", "feature/of-mine")
    write(bench.path, {"a.txt": "dirty\n"})
    before = everything_of_the_persons(bench.path), listing(bench.path)
    assert land(bench, old, new) == Landed(new)
    assert (everything_of_the_persons(bench.path), listing(bench.path)) == before
    assert git(bench.path, "rev-parse", "main") == new
    assert git(bench.path, "reflog", "-1", "--format=%gs", "main") == "noface: land issue 7"


def test_local_changes_elsewhere_stay_as_they_are(tmp_path):
    files = FILES | {"staged.txt": "1\n", "both.txt": "1\n", "deleted.txt": "1\n", "removed.txt": "1\n"}
    bench = a_bench(tmp_path, files)
    old, new = bench.main, bench.merged(LANDING, remove=REMOVED)
    write(bench.path, {"mine.txt": "stashed\n"})
    git(bench.path, "stash", "-q")
    write(bench.path, {"staged.txt": "2\n", "both.txt": "2\n", "added.txt": "2\n"})
    git(bench.path, "add", "-A")
    git(bench.path, "rm", "-q", "removed.txt")
    write(bench.path, {"both.txt": "3\n", "mine.txt": "2\n", "untracked.txt": "2\n", "new/untracked.txt": "2\n"})
    (bench.path / "deleted.txt").unlink()
    (bench.path / ".git/hooks/post-merge").write_text("#!/bin/sh\n")
    before = everything_of_the_persons(bench.path)
    assert land(bench, old, new) == Landed(new)
    assert everything_of_the_persons(bench.path) == before
    assert listing(bench.path) == {
        **AFTER,
        "staged.txt": b"2\n",
        "both.txt": b"3\n",
        "added.txt": b"2\n",
        "mine.txt": b"2\n",
        "untracked.txt": b"2\n",
        "new/untracked.txt": b"2\n",
    }


def edited(path):
    write(path, {"a.txt": "mine\n"})
    return "a.txt"


def staged(path):
    write(path, {"a.txt": "mine\n"})
    git(path, "add", "a.txt")
    return "a.txt"


def deleted(path):
    (path / "a.txt").unlink()
    return "a.txt"


def deleted_and_staged(path):
    git(path, "rm", "-q", "a.txt")
    return "a.txt"


def edited_what_will_be_deleted(path):
    write(path, {"gone.txt": "mine\n"})
    return "gone.txt"


def mode_changed(path):
    (path / "a.txt").chmod(0o755)
    return "a.txt"


def untracked_in_the_way(path):
    write(path, {"new/n.txt": "mine\n"})
    return "new/n.txt"


def ignored_in_the_way(path):
    write(path, {".git/info/exclude": "new/\n", "new/n.txt": "mine\n"})
    return "new/n.txt"


def same_content_staged(path):
    write(path, {"a.txt": "landed\n"})
    git(path, "add", "a.txt")
    return "a.txt"


def unmerged(path):
    blob = git(path, "rev-parse", "HEAD:a.txt")
    git(path, "update-index", "--index-info", stdin=f"0 {'0' * 40}\ta.txt\n100644 {blob} 2\ta.txt\n".encode())
    return "a.txt"


def link_in_the_way(path):
    (path / "new").mkdir()
    (path / "new/n.txt").symlink_to("nowhere")
    return "new/n.txt"


OVERLAPS = [
    edited,
    staged,
    deleted,
    deleted_and_staged,
    edited_what_will_be_deleted,
    mode_changed,
    untracked_in_the_way,
    ignored_in_the_way,
    same_content_staged,
    unmerged,
    link_in_the_way,
]


@pytest.mark.parametrize("change", OVERLAPS, ids=lambda change: change.__name__)
def test_overlapping_local_change_holds_the_landing_and_is_named(tmp_path, change):
    bench, old, new = the_bench(tmp_path)
    path = change(bench.path)
    before = everything_of_the_persons(bench.path), listing(bench.path), (bench.path / ".git/index").read_bytes()
    held = land(bench, old, new)
    assert isinstance(held, Blocked)
    assert held.paths == (path,)
    after = everything_of_the_persons(bench.path), listing(bench.path), (bench.path / ".git/index").read_bytes()
    assert (after, bench.main, left(bench.path)) == (before, old, set())


def folder_where_a_file_comes(path):
    (path / "new-file").mkdir()
    write(path, {"new-file/mine.txt": "mine\n"})


def file_where_a_folder_comes(path):
    write(path, {"new": "mine\n"})


def local_edit_hidden_by_assume_unchanged(path):
    git(path, "update-index", "--assume-unchanged", "a.txt")
    write(path, {"a.txt": "mine\n"})


def local_edit_hidden_by_skip_worktree(path):
    git(path, "update-index", "--skip-worktree", "a.txt")
    write(path, {"a.txt": "mine\n"})


def link_in_a_folders_place(path):
    (path / "d").rename(path.parent / "d")
    (path / "d").symlink_to(path.parent / "d")


@pytest.mark.parametrize(
    "change",
    [
        folder_where_a_file_comes,
        file_where_a_folder_comes,
        local_edit_hidden_by_assume_unchanged,
        local_edit_hidden_by_skip_worktree,
        link_in_a_folders_place,
    ],
    ids=lambda change: change.__name__,
)
def test_whatever_git_itself_would_not_overwrite_holds_the_landing(tmp_path, change):
    bench = a_bench(tmp_path, FILES)
    old, new = bench.main, bench.merged(LANDING | {"new-file": "x\n"}, remove=REMOVED)
    change(bench.path)
    before = listing(bench.path), git(bench.path, "status", "--porcelain", "-uall"), listing(tmp_path / "d")
    assert isinstance(land(bench, old, new), Blocked)
    after = listing(bench.path), git(bench.path, "status", "--porcelain", "-uall"), listing(tmp_path / "d")
    assert (after, bench.main, left(bench.path)) == (before, old, set())


def test_files_that_were_only_touched_hold_nothing(tmp_path):
    bench, old, new = the_bench(tmp_path)
    for name in FILES:
        os.utime(bench.path / name, (1, 1))
    write(bench.path, {"mine.txt": "mine\n"})
    assert land(bench, old, new) == Landed(new)
    assert git(bench.path, "status", "--porcelain") == " M mine.txt"


@pytest.mark.parametrize("lock", ["index.lock", "refs/heads/main.lock"])
@pytest.mark.parametrize("content", first_ones(["", "0" * 40]))
def test_lock_of_another_git_holds_the_landing_and_stays(tmp_path, lock, content):
    bench, old, new = the_bench(tmp_path)
    (bench.path / ".git" / lock).write_text(content)
    os.utime(bench.path / ".git" / lock, (time.time() - 3600, time.time() - 3600))
    held = land(bench, old, new)
    assert isinstance(held, Blocked)
    assert f"{bench.path / '.git' / lock}: it is 36" in held.reason
    assert held.passing == str(bench.path / ".git" / lock)
    assert (bench.path / ".git" / lock).read_text() == content
    (bench.path / ".git" / lock).unlink()
    assert (git(bench.path, "status", "--porcelain"), bench.main) == ("", old)
    assert land(bench, old, new) == Landed(new)


def test_main_that_has_moved_meanwhile_is_left_where_it_is(tmp_path):
    bench, old, new = the_bench(tmp_path)
    write(bench.path, {"mine.txt": "mine\n"})
    git(bench.path, "commit", "-qam", "mine")
    before = listing(bench.path)
    assert land(bench, old, new) == Moved(git(bench.path, "rev-parse", "main"))
    assert (listing(bench.path), git(bench.path, "status", "--porcelain"), left(bench.path)) == (before, "", set())
    git(bench.path, "checkout", "-q", "--detach")
    assert land(bench, old, new) == Moved(git(bench.path, "rev-parse", "main"))


def test_main_that_is_gone_is_said_to_be(tmp_path):
    bench, old, new = the_bench(tmp_path)
    git(bench.path, "checkout", "-q", "--detach")
    git(bench.path, "branch", "-q", "-D", "main")
    with pytest.raises(UsageError, match="main is gone"):
        land(bench, old, new)
    git(bench.path, "symbolic-ref", "HEAD", "refs/heads/main")
    with pytest.raises(UsageError, match="main is gone"):
        land(bench, old, new)


def test_branch_names_with_slashes_are_branches(tmp_path):
    bench = a_bench(tmp_path, FILES)
    git(bench.path, "checkout", "-q", "-b", "release/2.x/main")
    bench.plumbing = plumbing_at(bench.path)
    old, new = bench.main, bench.merged(LANDING, remove=REMOVED)
    assert land(bench, old, new) == Landed(new)
    assert listing(bench.path) == AFTER


@pytest.mark.parametrize("checked_out", [True, False])
def test_neither_hooks_nor_signing_of_the_persons_run(tmp_path, checked_out):
    bench, old, new = the_bench(tmp_path)
    if not checked_out:
        git(bench.path, "checkout", "-q", "--detach")
    canary = Canary(tmp_path)
    canary.set_everywhere(bench.path / ".git")
    (bench.path / ".git/info/attributes").unlink()
    bench.plumbing.commit_tree(bench.plumbing.tree(new), (old,), "no ref holds it: it cannot land\n")
    assert land(bench, old, new) == Landed(new)
    assert not canary.sang


def test_line_endings_of_the_persons_are_kept(tmp_path):
    bench = a_bench(tmp_path, {"a.txt": "1\r\n2\r\n", "mine.txt": "m\r\n"})
    git(bench.path, "config", "core.autocrlf", "true")
    git(bench.path, "add", "--renormalize", ".")
    git(bench.path, "commit", "-qm", "normalised")
    git(bench.path, "checkout", "-q", "-f", "HEAD")
    old = bench.main
    new = bench.merged({"a.txt": "1\n2\n3\n", "new.txt": "n\n"})
    assert land(bench, old, new) == Landed(new)
    assert listing(bench.path) == {"a.txt": b"1\r\n2\r\n3\r\n", "new.txt": b"n\r\n", "mine.txt": b"m\r\n"}
    assert git(bench.path, "status", "--porcelain") == ""


@pytest.mark.parametrize("index", ["true", "false"])
def test_sparse_checkout_stays_sparse(tmp_path, index):
    bench = a_bench(tmp_path, {"a.txt": "a\n", "in/i.txt": "i\n", "out/o.txt": "o\n", "out/deep/p.txt": "p\n"})
    git(bench.path, "config", "index.sparse", index)
    git(bench.path, "sparse-checkout", "set", "--cone", "in")
    old = bench.main
    new = bench.merged({"in/i.txt": "landed\n", "out/o.txt": "landed\n", "out/n.txt": "n\n"}, remove=["out/deep/p.txt"])
    assert land(bench, old, new) == Landed(new)
    assert listing(bench.path) == {"a.txt": b"a\n", "in/i.txt": b"landed\n"}
    assert git(bench.path, "status", "--porcelain") == ""


def test_split_index_and_untracked_cache_go_along(tmp_path):
    bench, old, new = the_bench(tmp_path)
    git(bench.path, "update-index", "--split-index", "--untracked-cache")
    git(bench.path, "config", "core.splitIndex", "true")
    write(bench.path, {"mine.txt": "mine\n"})
    git(bench.path, "add", "mine.txt")
    assert land(bench, old, new) == Landed(new)
    assert git(bench.path, "status", "--porcelain") == "M  mine.txt"


def test_filter_that_fails_leaves_the_files_as_they_were(tmp_path):
    bench = a_bench(tmp_path, FILES)
    write(bench.path, {".git/info/attributes": "*.big filter=fetch\n"})
    git(bench.path, "config", "filter.fetch.smudge", "false")
    git(bench.path, "config", "filter.fetch.required", "true")
    old = bench.main
    new = bench.merged({"a.txt": "landed\n", "m.big": "pointer\n", "z.txt": "z\n", "b/c/d.txt": "d\n"}, remove=REMOVED)
    before = listing(bench.path), (bench.path / ".git/index").read_bytes()
    held = land(bench, old, new)
    assert isinstance(held, Blocked)
    assert "m.big" in held.reason
    assert (listing(bench.path), (bench.path / ".git/index").read_bytes()) == before
    assert (git(bench.path, "status", "--porcelain"), bench.main, left(bench.path)) == ("", old, set())
    assert not (bench.path / "b").exists()
    git(bench.path, "config", "filter.fetch.smudge", "cat")
    assert land(bench, old, new) == Landed(new)


@pytest.mark.parametrize(("where", "kind"), [("landing_ref_locked", "raise"), ("landing_files_updated", "enospc")])
def test_error_before_the_ref_has_moved_takes_the_files_back(tmp_path, where, kind):
    bench, old, new = the_bench(tmp_path)
    write(bench.path, {"mine.txt": "mine\n"})
    before = listing(bench.path)
    ended = subprocess.run(
        [sys.executable, "-c", LAND, bench.path, old, new],
        env={**ENV, "NOFACE_FAILPOINT": f"{where}:1:{kind}"},
        input=b"go\n",
        capture_output=True,
        check=False,
    )
    assert b"failpoint" in ended.stderr
    assert (listing(bench.path), bench.main) == (before, old)
    assert (git(bench.path, "status", "--porcelain"), left(bench.path)) == (" M mine.txt", set())


def test_status_that_fails_holds_the_landing(tmp_path):
    bench, old, new = the_bench(tmp_path)
    write(bench.path, {".git/info/attributes": "a.txt filter=gone\n"})
    git(bench.path, "config", "filter.gone.clean", "false")
    git(bench.path, "config", "filter.gone.required", "true")
    os.utime(bench.path / "a.txt", (1, 1))
    held = land(bench, old, new)
    assert isinstance(held, Blocked)
    assert "a.txt: clean filter 'gone' failed" in held.reason


def test_of_several_landings_that_race_exactly_one_lands(tmp_path):
    bench = a_bench(tmp_path)
    old = bench.main
    news = [bench.merged({"a.txt": f"{number}\n", f"new/{number}": "x\n"}) for number in range(3)]
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", LAND, bench.path, old, new],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=ENV,
            text=True,
        )
        for new in news
    ]
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    said = [racer.communicate()[0].strip() for racer in racers]
    assert sorted(said) == ["Landed", "Moved", "Moved"]
    winner = said.index("Landed")
    assert bench.main == news[winner]
    assert git(bench.path, "status", "--porcelain") == ""
    assert listing(bench.path)["a.txt"] == f"{winner}\n".encode()


def listing_now(folder):
    """Return a listing of files that may be moving; None where one went away while it was read."""
    try:
        return listing(folder)
    except FileNotFoundError:
        return None


@pytest.mark.parametrize("where", ["landing_ref_locked", "landing_files_updated"])
def test_the_persons_git_is_kept_out_while_files_move_and_stops_cleanly(tmp_path, where):
    bench, old, new = the_bench(tmp_path)
    git(bench.path, "branch", "other")
    child = subprocess.Popen(
        [sys.executable, "-c", LAND, bench.path, old, new],
        env={**ENV, "NOFACE_FAILPOINT": f"{where}:1:sleep"},
        stdin=subprocess.PIPE,
    )
    try:
        child.stdin.write(b"go\n")
        child.stdin.close()
        wait_for((bench.path / ".git/refs/heads/main.lock").exists)
        if where == "landing_files_updated":
            wait_for(lambda: listing_now(bench.path) == AFTER)
        before = listing(bench.path)
        for command in (("checkout", "other"), ("commit", "--allow-empty", "-m", "x"), ("reset", "--hard")):
            git(bench.path, *command, check=False)
        assert (listing(bench.path), git(bench.path, "symbolic-ref", "HEAD")) == (before, "refs/heads/main")
        assert bench.main == old
    finally:
        child.kill()
        child.wait()


def test_main_that_is_checked_out_while_its_ref_is_being_locked_holds_the_landing(tmp_path):
    bench, old, new = the_bench(tmp_path)
    git(bench.path, "checkout", "-q", "-b", "other")
    child = landing_that_pauses(tmp_path, bench, old, new, "update-ref -m", 1)
    git(bench.path, "checkout", "-q", "main")
    write(tmp_path, {"go": ""})
    assert child.communicate()[0] == "Blocked\n"
    assert (bench.main, git(bench.path, "status", "--porcelain"), left(bench.path)) == (old, "", set())


def test_branch_switched_after_the_last_look_holds_the_landing(tmp_path):
    bench, old, new = the_bench(tmp_path)
    child = landing_that_pauses(tmp_path, bench, old, new, "status --porcelain", 1)
    git(bench.path, "checkout", "-q", "-b", "other")
    before = listing(bench.path)
    write(tmp_path, {"go": ""})
    assert child.communicate()[0] == "Blocked\n"
    assert (bench.main, listing(bench.path), left(bench.path)) == (old, before, set())
    assert git(bench.path, "status", "--porcelain") == ""


def test_file_edited_after_the_last_look_holds_the_landing(tmp_path):
    bench, old, new = the_bench(tmp_path)
    child = landing_that_pauses(tmp_path, bench, old, new, "read-tree -m -u", 1)
    write(bench.path, {"a.txt": "mine\n", "new/n.txt": "mine\n"})
    before = listing(bench.path)
    write(tmp_path, {"go": ""})
    assert child.communicate()[0] == "Blocked\n"
    assert (bench.main, listing(bench.path), left(bench.path)) == (old, before, set())


def test_commit_made_after_the_last_look_is_never_lost(tmp_path):
    bench, old, new = the_bench(tmp_path)
    child = landing_that_pauses(tmp_path, bench, old, new, "status --porcelain", 1)
    write(bench.path, {"mine.txt": "mine\n"})
    git(bench.path, "commit", "-qam", "mine")
    theirs, before = bench.main, listing(bench.path)
    write(tmp_path, {"go": ""})
    assert child.communicate()[0] == "Moved\n"
    assert (bench.main, listing(bench.path), left(bench.path)) == (theirs, before, set())


@pytest.mark.parametrize("lock", ["index.lock", "refs/heads/main.lock"])
def test_lock_that_another_git_lets_go_of_soon_is_waited_for(tmp_path, lock):
    bench, old, new = the_bench(tmp_path)
    (bench.path / ".git" / lock).write_text("")
    release = threading.Timer(0.3, (bench.path / ".git" / lock).unlink)
    release.start()
    assert land(bench, old, new) == Landed(new)
    release.join()
    assert (bench.main, git(bench.path, "status", "--porcelain"), left(bench.path)) == (new, "", set())


def test_odd_names_land(tmp_path):
    odd = {":(top)x": "1\n", "-n": "1\n", os.fsdecode(b"\xff/\xfe"): "1\n", "sp ace*": "1\n", "new\nline": "1\n"}
    known = {f"old/{name}": "1\n" for name in odd}
    bench = a_bench(tmp_path, {"a.txt": "a\n", **known})
    old = bench.main
    write(bench.path, {**odd, **dict.fromkeys(known, "2\n")})
    git(bench.path, "add", "-A")
    git(bench.path, "commit", "-qam", "two")
    new = bench.main
    git(bench.path, "reset", "-q", "--hard", "HEAD~1")
    write(bench.path, {"-n": "mine\n"})
    assert land(bench, old, new).paths == ("-n",)
    write(bench.path, {"old/-n": "mine\n"})
    assert land(bench, old, new).paths == ("old/-n",)
    (bench.path / "-n").unlink()
    git(bench.path, "checkout", "-q", "--", "old")
    assert land(bench, old, new) == Landed(new)
    assert listing(bench.path) == {"a.txt": b"a\n", **dict.fromkeys(odd, b"1\n"), **dict.fromkeys(known, b"2\n")}
    assert git(bench.path, "status", "--porcelain") == ""


def test_new_files_go_through_the_persons_filters_as_with_large_file_storage(tmp_path):
    bench = a_bench(tmp_path, {"a.txt": "a\n", ".gitattributes": "*.big filter=up\n*.crlf text eol=crlf\n"})
    git(bench.path, "config", "filter.up.smudge", "tr a-z A-Z")
    git(bench.path, "config", "filter.up.clean", "tr A-Z a-z")
    old, new = bench.main, bench.merged({"new.big": "pointer\n", "new.crlf": "1\n2\n"})
    assert land(bench, old, new) == Landed(new)
    assert (bench.path / "new.big").read_text() == "POINTER\n"
    assert (bench.path / "new.crlf").read_bytes() == b"1\r\n2\r\n"
    assert git(bench.path, "status", "--porcelain") == ""


def test_lock_of_main_that_a_killed_git_of_nofaces_own_leaves_stops_no_later_landing(tmp_path):
    bench, old, new = the_bench(tmp_path)
    lock = bench.path / ".git/refs/heads/main.lock"
    with (
        landing(bench.plumbing) as descriptor,
        _prepared(Advance(bench.plumbing, old, new, "note", descriptor)) as process,
    ):
        assert lock.read_text().strip() == new
        os.kill(process.pid, signal.SIGKILL)
    assert left(bench.path) == set()
    another = bench.merged({"a.txt": "another\n"})
    assert land(bench, old, another) == Landed(another)
