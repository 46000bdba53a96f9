"""Refs read from files are those that git lists, whatever a person does to them meanwhile."""

import subprocess
import threading

import pytest
from support.git_ground import ENV, a_bench, a_repository, git

from noface.errors import GitError
from noface.git.ref_files import references
from noface.git.worktrees import checked_out, worktrees

PREFIXES = ("refs", "refs/heads", "refs/heads/", "refs/tags", "refs/noface/issues/1", "refs/heads/main", "refs/none")


def listed(path, prefix):
    lines = git(path, "for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
    return dict(line.split(" ", 1) for line in lines)


def loose(path):
    """Several loose refs: branches in folders, numbers that begin alike, an annotated tag, a name that is not ASCII."""
    for ref in ("refs/heads/a/b/c", "refs/heads/ünï", "refs/noface/issues/1/1", "refs/noface/issues/10/1"):
        git(path, "update-ref", ref, "HEAD")
    git(path, "tag", "light")
    git(path, "tag", "-a", "-m", "told", "v1")


def packed(path):
    loose(path)
    git(path, "pack-refs", "--all")


def both(path):
    packed(path)
    git(path, "commit", "-q", "--allow-empty", "-m", "second")
    git(path, "update-ref", "refs/heads/a/b/c", "HEAD")
    git(path, "update-ref", "-d", "refs/noface/issues/10/1")


def symbolic(path):
    packed(path)
    git(path, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/main")
    git(path, "symbolic-ref", "refs/heads/alias", "refs/remotes/origin/HEAD")
    git(path, "symbolic-ref", "refs/heads/dangling", "refs/heads/none")


def broken(path):
    loose(path)
    heads = path / ".git" / "refs" / "heads"
    (heads / "empty").write_text("")
    (heads / "words").write_text("not an id\n")
    (heads / "null").write_text("0" * 40 + "\n")
    (heads / "main.lock").write_text("")
    (heads / ".hidden").write_text("1" * 40 + "\n")
    (heads / "odd name").write_text("1" * 40 + "\n")
    (heads / "a..b").write_text("1" * 40 + "\n")
    (heads / "gone").write_text("1" * len(git(path, "rev-parse", "HEAD")) + "\n")
    (heads / "folder" / "in").mkdir(parents=True)


@pytest.mark.parametrize("made", [loose, packed, both, symbolic, broken])
@pytest.mark.parametrize("init", [(), ("--object-format=sha256",)])
def test_refs_are_those_that_git_lists(tmp_path, made, init):
    path = a_repository(tmp_path / "project", None, *init)
    made(path)
    for prefix in PREFIXES:
        assert references(path / ".git", prefix) == listed(path, prefix)
    assert list(references(path / ".git", "refs")) == list(listed(path, "refs"))


def test_a_ref_that_is_packed_deleted_or_made_again_between_two_reads_is_seen(tmp_path):
    path = a_repository(tmp_path / "project")
    git(path, "branch", "other")
    first = references(path / ".git", "refs/heads")
    git(path, "pack-refs", "--all")
    assert references(path / ".git", "refs/heads") == first
    git(path, "branch", "-D", "other")
    assert references(path / ".git", "refs/heads/other") == {}
    git(path, "commit", "-q", "--allow-empty", "-m", "second")
    git(path, "branch", "other")
    assert references(path / ".git", "refs/heads/other") == listed(path, "refs/heads/other")
    git(path, "gc", "-q", "--prune=now")
    assert references(path / ".git", "refs/heads") == listed(path, "refs/heads")


def test_no_ref_is_ever_missed_while_refs_are_packed(tmp_path):
    path = a_repository(tmp_path / "project")
    for number in range(20):
        git(path, "branch", f"b{number}")
    over = threading.Event()

    def move_and_pack():
        for _ in range(15):
            for number in range(0, 20, 4):
                git(path, "update-ref", f"refs/heads/b{number}", "HEAD")
            git(path, "pack-refs", "--all")
        over.set()

    person = threading.Thread(target=move_and_pack)
    person.start()
    counts = set()
    while not over.is_set():
        counts.add(len(references(path / ".git", "refs/heads")))
    person.join()
    assert counts == {21}


@pytest.mark.parametrize("link", ["refs/heads/link", "packed-refs", "refs/heads/folder"])
def test_what_only_git_reads_is_left_to_it(tmp_path, link):
    bench = a_bench(tmp_path)
    common = bench.path / ".git"
    (common / "elsewhere").mkdir()
    (common / "elsewhere" / "packed").write_text(f"{bench.main} refs/heads/packed\n")
    targets = {"link": common / "refs" / "heads" / "main", "packed-refs": common / "elsewhere" / "packed"}
    (common / link).symlink_to(targets.get(link.rpartition("/")[2], common / "elsewhere"))
    assert references(common, "refs/heads") is None
    assert bench.plumbing.references("refs/heads") == listed(bench.path, "refs/heads")


def test_a_reftable_is_left_to_git(tmp_path):
    asked = ("git", "init", "-q", "-b", "main", "--ref-format=reftable", tmp_path / "project")
    if subprocess.run(asked, env=ENV, capture_output=True, check=False).returncode != 0:
        (tmp_path / "project" / ".git" / "reftable").mkdir(parents=True)  # a git that has none yet
    assert references(tmp_path / "project" / ".git", "refs") is None


@pytest.mark.parametrize("left", ["", "ref:", "words\n"])
def test_a_head_that_a_crash_has_cut_off_is_not_taken_for_a_detached_one(tmp_path, left):
    bench = a_bench(tmp_path)
    git(bench.path, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    tree = next(each for each in worktrees(bench.plumbing.repository) if each.path.name == "side")
    (tree.git_dir / "HEAD").write_text(left)
    with pytest.raises(GitError):
        checked_out(tree)
