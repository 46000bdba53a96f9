"""What one running git is asked of commits and trees is what git tells in a process of its own."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.git_ground import a_bench, a_repository, git, write
from support.processes import wait_for

from noface.errors import GitError
from noface.git.objects import CommitWriter
from noface.git.plumbing import Plumbing
from noface.git.repository import discover

CASES = {
    "nothing": {},
    "file in the place of a folder": {"src": ("100644", "A")},
    "folder in the place of a file": {"a.txt/in/it.txt": ("100755", "A")},
    "folder loses all of its files": {"src/b.txt": None, "src/deep/c.txt": None},
    "folder stays, of which no file goes": {"src": None, "src/none": None, "none/at/all": None},
    "submodule": {"src/sub": ("160000", "1" * 40)},
    "below a file that is not there": {"a.txt/b": None},
    "sorted as git sorts": {"src.d/x": ("100644", "A"), "src-x": ("100644", "A"), "src0": ("120000", "A")},
}


@pytest.mark.parametrize("case", CASES)
def test_a_tree_with_other_files_is_the_one_that_an_index_makes(tmp_path, case):
    bench = a_bench(tmp_path)
    blob = git(bench.path, "rev-parse", "HEAD:a.txt")
    files = {path: entry and (entry[0], entry[1].replace("A", blob)) for path, entry in CASES[case].items()}
    index = {"GIT_INDEX_FILE": str(tmp_path / "index"), **os.environ, "GIT_DIR": str(bench.path / ".git")}
    lines = [
        f"{entry[0]} {entry[1]}\t{path}\0" if entry else f"0 {'0' * 40}\t{path}\0" for path, entry in files.items()
    ]
    for args, feed in (("read-tree HEAD", ""), ("update-index --replace -z --index-info", "".join(lines))):
        subprocess.run(["git", *args.split()], env=index, input=feed, text=True, check=True)
    made = subprocess.run(["git", "write-tree"], env=index, capture_output=True, text=True, check=True).stdout.strip()
    assert bench.plumbing.tree_with(bench.main, files) == made
    bench.plumbing.close()


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", ".mailmap"])
def test_a_folder_in_which_git_would_follow_no_link_is_written_all_the_same(tmp_path, name):
    bench = a_bench(tmp_path)
    (bench.path / "src" / name).symlink_to("../a.txt")
    git(bench.path, "add", "-A")
    git(bench.path, "commit", "-q", "-m", "linked")
    tree = bench.plumbing.tree_with(bench.main, {"src/b.txt": None})
    assert bench.plumbing.git.ask("ls-tree", "--name-only", f"{tree}:src").split() == sorted([name, "deep"])
    bench.plumbing.close()


def test_a_tree_with_an_object_that_is_not_there_is_not_written(tmp_path):
    bench = a_bench(tmp_path)
    with pytest.raises(GitError, match=r"1{40}"):
        bench.plumbing.tree_with(bench.main, {"src/b.txt": ("100644", "1" * 40)})
    bench.plumbing.close()


def test_a_folder_deeper_than_pythons_stack_is_written(tmp_path):
    bench = a_bench(tmp_path)
    path, entry = "/".join(["d"] * 1_500), ("100644", git(bench.path, "rev-parse", "HEAD:a.txt"))
    tree = bench.plumbing.tree_with(bench.main, {f"{path}/f": entry, f"{path}/g": entry})
    assert bench.plumbing.entries(tree, (path,)) == {f"{path}/f": entry, f"{path}/g": entry}
    assert bench.plumbing.tree_with(tree, {f"{path}/f": None, f"{path}/g": None}) == bench.plumbing.tree(bench.main)
    bench.plumbing.close()


def test_modes_are_those_that_git_lists_though_an_old_tree_has_others(tmp_path):
    bench = a_bench(tmp_path)
    blob = git(bench.path, "rev-parse", "HEAD:a.txt")
    trees = []
    for modes in (("100664", "100775"), ("100644", "100755")):
        entries = (
            f"{mode} {name}".encode() + b"\0" + bytes.fromhex(blob) for mode, name in zip(modes, "ab", strict=True)
        )
        made = ("hash-object", "-t", "tree", "-w", "--literally", "--stdin")
        trees.append(git(bench.path, *made, stdin=b"".join(entries)))
    old, new = trees
    assert bench.plumbing.entries(old, ("a", "b")) == bench.plumbing.entries(new, ("a", "b"))
    assert list(bench.plumbing.raw_changes(old, new)) == []
    assert bench.plumbing.tree_with(old, {"c": ("100644", blob)}) == bench.plumbing.tree_with(
        new, {"c": ("100644", blob)}
    )
    bench.plumbing.close()


@pytest.mark.parametrize("path", ["../out", "a/.git/config", "a/.GIT", "", "a//b", "."])
def test_a_path_that_git_takes_from_nobody_is_refused(tmp_path, path):
    bench = a_bench(tmp_path)
    with pytest.raises(GitError):
        bench.plumbing.tree_with(bench.main, {path: ("100644", git(bench.path, "rev-parse", "HEAD:a.txt"))})
    bench.plumbing.close()


@pytest.mark.parametrize("name", [" Pat <the> Committer. ", b"J\xfcrgen \xc3\xa9".decode("utf-8", "surrogateescape")])
@pytest.mark.parametrize("init", [(), ("--object-format=sha256",)])
def test_a_commit_is_the_one_that_git_makes(tmp_path, init, name):
    path = a_repository(tmp_path / "project", None, *init)
    git(path, "config", "user.name", name)
    plumbing = Plumbing(discover(path))
    main, tree = plumbing.main(), git(path, "rev-parse", "HEAD^{tree}")
    for message in ("subject\n\nbody é\n", "no line end", ""):
        ours = plumbing.commit_tree(tree, (main, main), message)
        theirs = plumbing.git.ask("commit-tree", "-p", main, "-p", main, "-F", "-", tree, stdin=message)
        assert (
            git(path, "cat-file", "commit", ours).split("\n")[4:]
            == git(path, "cat-file", "commit", theirs).split("\n")[4:]
        )
        names = "--format=%T %P %an %ae %cn %ce %B"
        assert git(path, "show", "-s", names, ours) == git(path, "show", "-s", names, theirs)
    assert git(path, "fsck", "--strict", "--no-dangling") == ""
    plumbing.close()


def history(path):
    """Main, work on it in two commits and a merge, and a landing of that; return the names."""
    git(path, "switch", "-q", "-c", "work")
    for name, content in (("a.txt", "work\n"), (":new.txt", "new\n")):
        (path / name).write_text(content)
        git(path, "add", "-A")
        git(path, "commit", "-q", "-m", f"{name}\n\nwhy é")
    git(path, "switch", "-q", "-c", "side", "main")
    (path / "side.txt").write_text("side\n")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "side")
    git(path, "merge", "-q", "-m", "both", "work")
    git(path, "switch", "-q", "main")


def test_new_history_and_ancestors_are_those_of_git(tmp_path):
    bench = a_bench(tmp_path)
    git(bench.path, "commit", "-q", "--allow-empty", "-m", "second")
    history(bench.path)
    plumbing = bench.plumbing
    commits = {name: git(bench.path, "rev-parse", name) for name in ("main", "main^", "work", "work^", "side", "side^")}
    for name, brought, began in (
        ("work", {"a.txt", ":new.txt"}, {"main"}),
        ("side", {"a.txt", ":new.txt", "side.txt"}, {"main"}),
        ("main", set(), set()),
    ):
        told = plumbing.new_history(commits[name])
        new = git(bench.path, "rev-list", name, "^main").split()
        assert {change.path for change in told.changes} == brought
        assert set(told.bases) == {commits[each] for each in began}
        assert sorted(told.messages) == sorted(
            f"{git(bench.path, 'log', '-1', '--format=%B', each)}\n".encode() for each in new
        )
    for old, first in commits.items():
        for new, second in commits.items():
            known = subprocess.run(["git", "merge-base", "--is-ancestor", old, new], cwd=bench.path, check=False)
            assert plumbing.is_ancestor(first, second) is (known.returncode == 0)
            chain = tuple(git(bench.path, "rev-list", "--first-parent", f"{old}..{new}").split())
            assert plumbing.first_parents(first, second) == chain
    plumbing.close()


def test_where_main_stood_is_known_along_the_first_parents(tmp_path):
    bench = a_bench(tmp_path)
    path, plumbing, stood = bench.path, bench.plumbing, [bench.main]
    git(path, "switch", "-q", "-c", "side")
    git(path, "commit", "-q", "--allow-empty", "-m", "side")
    git(path, "switch", "-q", "main")
    for command in (("commit", "-q", "--allow-empty", "-m", "one"), ("merge", "-q", "--no-ff", "-m", "both", "side")):
        git(path, *command)
        stood.append(bench.main)
        assert plumbing.are_on_line(stood, bench.main)
    assert not plumbing.are_on_line([git(path, "rev-parse", "side")], bench.main)
    git(path, "reset", "-q", "--hard", stood[0])
    assert not plumbing.are_on_line(stood, bench.main)
    assert plumbing.are_on_line(stood[:1], bench.main)
    plumbing.close()


def test_what_was_read_and_is_pruned_since_is_missing(tmp_path):
    bench = a_bench(tmp_path)
    commit = bench.merged({"a.txt": "2\n", "src/b.txt": "3\n"})
    git(bench.path, "update-ref", "refs/keep", commit)
    git(bench.path, "gc", "-q", "--prune=now")
    blob = git(bench.path, "rev-parse", f"{commit}:src/b.txt")
    assert bench.plumbing.paths(commit)
    git(bench.path, "update-ref", "-d", "refs/keep")
    git(bench.path, "reflog", "expire", "--expire=now", "--all")
    git(bench.path, "gc", "-q", "--prune=now")
    with bench.plumbing.blobs() as blobs:
        assert blobs.size(blob) is None
    bench.plumbing.close()


def test_a_running_git_keeps_no_pack_that_was_deleted_and_sees_a_new_one(tmp_path):
    bench = a_bench(tmp_path)
    reader = bench.plumbing._names
    for number in range(3):
        git(bench.path, "commit", "-q", "--allow-empty", "-m", f"{number}")
        git(bench.path, "gc", "-q", "--prune=now")
        assert reader.resolve("HEAD") == bench.main
        assert bench.plumbing.paths("HEAD")
        held = subprocess.run(
            ["ls", "-l", f"/proc/{reader._process.pid}/fd"], capture_output=True, text=True, check=False
        )
        maps = subprocess.run(["cat", f"/proc/{reader._process.pid}/maps"], capture_output=True, text=True, check=False)
        assert "(deleted)" not in held.stdout + maps.stdout
    time.sleep(0.2)
    reader.resolve("HEAD")
    process = reader._process.pid
    reader.resolve("HEAD")
    assert reader._process.pid == process
    bench.plumbing.close()


def test_a_writer_that_was_killed_is_begun_again_and_one_that_cannot_write_says_why(tmp_path):
    bench = a_bench(tmp_path)
    writer = CommitWriter(bench.plumbing.git, bench.path / ".git/objects/pack")
    tree = git(bench.path, "rev-parse", "HEAD^{tree}")
    whole = f"tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx".encode()
    first = writer.write(whole)
    writer._process.kill()
    writer._process.wait()
    assert writer.write(whole) == first
    with pytest.raises(GitError, match=r"corrupt|malformed"):
        writer.write(b"no commit")
    assert writer.write(whole) == first
    writer.close()


WORK = """
import sys, time
from pathlib import Path
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate
from noface.git.repository import discover
plumbing = Plumbing(discover(Path(sys.argv[1])))
commit = plumbing.commit_tree(plumbing.tree("HEAD"), (), "x")
plumbing.refs.apply(RefUpdate("refs/noface/x", plumbing.commit_tree(plumbing.tree_with(commit, {"a.txt": None}), (), "x")))
running = (plumbing._names, plumbing.refs, plumbing._stored._commits, plumbing._stored._trees)
print(*(process._process.pid for process in running), flush=True)
time.sleep(60)
"""


def test_no_git_outlives_a_noface_that_was_killed_and_none_leaves_a_lock(tmp_path):
    bench = a_bench(tmp_path)
    noface = subprocess.Popen([sys.executable, "-c", WORK, bench.path], stdout=subprocess.PIPE, text=True)
    pids = noface.stdout.readline().split()
    assert len(pids) == 4
    noface.kill()
    noface.wait()
    noface.stdout.close()
    wait_for(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in pids))
    assert list((bench.path / ".git").rglob("*.lock")) == []


def test_a_tree_of_what_came_in_a_pack_since_its_writer_runs_is_written(tmp_path):
    bench = a_bench(tmp_path)
    assert bench.plumbing.tree_with(bench.main, {"first.txt": None, "a.txt": None})
    other = a_bench(tmp_path / "other")
    write(other.begin(), {"new.txt": "new\n"})
    blob = git(other.path, "hash-object", "-w", str(other.work / "new.txt"))
    packed = subprocess.run(
        ["git", "pack-objects", "--stdout", "-q"], cwd=other.path, input=f"{blob}\n".encode(), capture_output=True, check=True
    )  # fmt: skip
    bench.plumbing.git.ask("index-pack", "--stdin", stdin=packed.stdout)
    assert bench.files(bench.plumbing.tree_with(bench.main, {"new.txt": ("100644", blob)})) >= {"new.txt"}
