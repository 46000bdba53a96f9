"""What an agent's own git holds when it ends becomes commits in noface's store, and nothing that lies there is run."""

import os
import zlib

import pytest
from support.git_ground import Canary, a_bench, a_repository, git, write

MADE = "echo new > new.txt"
ADDED = f"{MADE}; git add -A"
COMMITTED = f"{ADDED}; git commit -qm made"
HELD = [
    # what a worker does, and what each thing that is held beside its files is called
    (f"{ADDED}; git stash -q", ["a stash"]),
    (f"{MADE}; git stash -q -u", ["a stash"]),
    (f"{ADDED}; git stash -q; echo two > a.txt; git stash -q", ["a stash", "a stash"]),
    (f"{ADDED}; git stash -q; git stash pop -q; git checkout -q .", []),
    (f"git checkout -q -b own; {COMMITTED}; git checkout -q noface/7", ["the branch own"]),
    (f"git checkout -q -b a/own; {COMMITTED}; git pack-refs --all; git checkout -q noface/7", ["the branch a/own"]),
    (f"git checkout -q -b own; {COMMITTED}; git checkout -q noface/7; git branch -qD own", ["commits of no branch"]),
    (f"git checkout -q --detach; {COMMITTED}; git checkout -q noface/7", ["commits of no branch"]),
    (f"{COMMITTED}; git reset -q --hard HEAD~1", ["commits of no branch"]),
    (f"{COMMITTED}; git reset -q --hard HEAD~1; git gc -q", ["commits of no branch"]),
    (f"{COMMITTED}; git tag wip; git reset -q --hard HEAD~1", ["the tag wip"]),
    (f"{COMMITTED}; git reset -q --hard HEAD~1; git reflog expire --expire=now --all", ["commits of no branch"]),
    ("git branch own; git tag t; git checkout -q --detach; git checkout -q noface/7", []),
    (COMMITTED, []),  # its files are the work
    (f"git checkout -q -b own; {COMMITTED}", []),
    (f"git worktree add -q wt; cd wt; {MADE}", ["wt"]),
    (f"git worktree add -q wt --detach; cd wt; {COMMITTED}", ["commits of no branch"]),
    (f"git worktree add -q wt -b own; cd wt; {COMMITTED}; echo more > more.txt", ["wt", "the branch own"]),
    (f"git worktree add -q ../beside -b own; cd ../beside; {COMMITTED}; cd ..; rm -r beside", ["the branch own"]),
    (
        f"git clone -q . copy; cd copy; {ADDED}; git -c user.name=x -c user.email=x commit -qm x",
        ["the branch noface/7"],
    ),
    (f"git clone -q . copy; cd copy; {ADDED}; git -c user.name=x -c user.email=x stash -q", ["a stash"]),
    (f"git clone -q -s . copy; cd copy; {MADE}", ["copy"]),
    (f"git init -q sub; cd sub; {MADE}", ["sub"]),
    (f"git init -q sub; cd sub; git init -q in; echo a > in/a; {MADE}", ["sub"]),
]


@pytest.mark.parametrize(("does", "held"), HELD, ids=lambda value: value if isinstance(value, str) else "")
def test_what_the_git_of_a_workspace_holds_beside_its_files_is_taken_over(tmp_path, does, held):
    bench = a_bench(tmp_path)
    work = bench.begin()
    git(work, "-c", f"alias.does=!sh -ec '{does}'", "does")
    in_git = bench.take().snapshot.in_git
    assert sorted(what for what, _ in in_git) == sorted(held)
    for what, commit in in_git:
        stashed = bench.plumbing.resolve(f"{commit}^3") if what == "a stash" else None
        assert {"new.txt", "a.txt"} & {*bench.files(stashed or commit)}, what
        git(bench.path, "fsck", "--connectivity-only")


def test_a_copy_of_another_project_is_kept_as_its_files_and_not_with_its_history(tmp_path):
    bench, other = a_bench(tmp_path), a_repository(tmp_path / "other", {"lib.c": "int x;\n"})
    work = bench.begin()
    git(work, "clone", "-q", f"file://{other}", "lib")
    ((what, commit),) = bench.take().snapshot.in_git
    assert (what, bench.files(commit)) == ("lib", {"lib.c"})
    assert bench.plumbing.resolve(git(other, "rev-parse", "HEAD")) is None


def a_stash(bench):
    work = bench.begin()
    write(work, {"a.txt": "the work\n"})
    git(work, "stash", "-q")
    return work / ".git"


def test_no_program_and_no_setting_of_the_agents_git_is_used(tmp_path):
    bench, canary = a_bench(tmp_path), Canary(tmp_path)
    git_dir = a_stash(bench)
    for place in ("copy", "copy/inner"):
        git(bench.work, "clone", "-q", ".", place)
        write(bench.work, {f"{place}/a.txt": "beside\n"})
        canary.set_everywhere(bench.work / place / ".git")
    canary.set_everywhere(git_dir)
    found = dict(bench.take().snapshot.in_git)
    assert bench.content(found["a stash"], "a.txt") == b"the work\n"
    assert bench.content(found["copy"], "a.txt") == b"beside\n"
    assert not canary.sang


def linked_store(git_dir, secret):
    (git_dir / "objects").rename(git_dir / "own")
    (git_dir / "objects").symlink_to(secret / ".git/objects")
    write(git_dir, {"logs/HEAD": git(secret, "rev-parse", "HEAD")})


def linked_folders(git_dir, secret):
    for folder in (secret / ".git/objects").iterdir():
        if len(folder.name) == 2 and not (git_dir / "objects" / folder.name).exists():
            (git_dir / "objects" / folder.name).symlink_to(folder)
    write(git_dir, {"logs/HEAD": git(secret, "rev-parse", "HEAD")})


def named_alternate(git_dir, secret):
    write(
        git_dir, {"objects/info/alternates": f"{secret}/.git/objects\n", "logs/HEAD": git(secret, "rev-parse", "HEAD")}
    )


def linked_refs(git_dir, secret):
    (git_dir / "refs/heads/there").symlink_to(secret / ".git/refs/heads")


@pytest.mark.parametrize("trap", [linked_store, linked_folders, named_alternate, linked_refs])
def test_nothing_is_read_of_another_repository_that_a_link_or_an_alternate_names(tmp_path, trap):
    bench, secret = a_bench(tmp_path), a_repository(tmp_path / "secret", {"key.txt": "of another\n"})
    git_dir = a_stash(bench)
    trap(git_dir, secret)
    bench.take()
    assert bench.plumbing.resolve(git(secret, "rev-parse", "HEAD")) is None


def put(git_dir, name, content):
    path = git_dir / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def forged(git_dir):
    put(git_dir, "0" * 39 + "1", zlib.compress(b"blob 5\0hello"))


def too_short(git_dir):
    put(git_dir, "0" * 39 + "2", zlib.compress(b"blob 900\0hello"))


def no_zlib(git_dir):
    put(git_dir, "0" * 39 + "3", b"rubbish")


def a_fifo(git_dir):
    (git_dir / "objects" / "00").mkdir(exist_ok=True)
    os.mkfifo(git_dir / "objects" / "00" / ("0" * 38))
    os.mkfifo(git_dir / "logs" / "pipe")


@pytest.mark.parametrize("trap", [forged, too_short, no_zlib, a_fifo])
def test_what_is_no_sound_object_is_passed_over_and_the_rest_is_kept(tmp_path, trap):
    bench = a_bench(tmp_path)
    trap(a_stash(bench))
    ((what, commit),) = bench.take().snapshot.in_git
    assert (what, bench.content(commit, "a.txt")) == ("a stash", b"the work\n")


def a_bomb(git_dir):
    squeeze = zlib.compressobj(9)
    size = 1 << 29
    content = squeeze.compress(b"blob %d\0" % size)
    content += b"".join(squeeze.compress(bytes(1 << 20)) for _ in range(512)) + squeeze.flush()
    put(git_dir, "0" * 39 + "4", content)


def a_tree_that_leads_out(git_dir):
    tree = b"100644 ../../out\0" + bytes(20)
    put(git_dir, "0" * 39 + "5", zlib.compress(b"tree %d\0" % len(tree) + tree))


def a_broken_pack(git_dir):
    write(git_dir, {"objects/pack/pack-x.pack": b"PACK\0\0\0\2\0\0\0\7rubbish"})


@pytest.mark.parametrize("trap", [a_bomb, a_tree_that_leads_out, a_broken_pack])
def test_what_git_refuses_is_told_and_the_files_are_taken_all_the_same(tmp_path, trap):
    bench = a_bench(tmp_path)
    git_dir = a_stash(bench)
    trap(git_dir)
    write(git_dir.parent, {"new.txt": "new\n"})
    snapshot = bench.take().snapshot
    assert [change.path for change in snapshot.changes] == ["new.txt"]
    assert [note for note in snapshot.notes if note.startswith("not all that the worker's own git holds")]
