"""What an agent can do to its `.git` and to the files git reads; none of it may run, hang or lead elsewhere."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from support.git_ground import Canary, a_bench, a_repository, git, listing, write

from noface.git.landings import landed_issues
from noface.git.workspace import checkout

CHANGE = {"a.txt": "changed by the agent\n", "src/new.txt": "new\n"}


def all_of_noface(bench):
    """Run every git command noface runs on a slot and on its result."""
    taken = bench.take()
    plumbing = bench.plumbing
    plumbing.merge(bench.main, taken.snapshot.candidate)
    plumbing.diff(bench.main, taken.snapshot.candidate)
    plumbing.entries(taken.snapshot.candidate, ("a.txt",))
    landed_issues(plumbing)
    checkout(bench.slot, taken.snapshot.candidate)
    bench.begin()
    return taken.snapshot


def test_nothing_an_agent_writes_into_its_git_dir_runs(tmp_path):
    bench = a_bench(tmp_path)
    canary = Canary(tmp_path)
    work = bench.begin()
    write(work, CHANGE | {".gitattributes": "* filter=evil diff=evil merge=evil working-tree-encoding=evil\n"})
    canary.set_everywhere(work / ".git")
    snapshot = all_of_noface(bench)
    assert not canary.sang
    assert bench.content(snapshot.tree, "a.txt") == b"changed by the agent\n"


def test_the_same_traps_do_run_for_an_ordinary_git_in_the_slot(tmp_path):
    bench = a_bench(tmp_path)
    canary = Canary(tmp_path)
    work = bench.begin()
    write(work, CHANGE)
    canary.set_everywhere(work / ".git")
    git(work, "status", check=False)
    assert canary.sang


def test_in_tree_hooks_and_attributes_of_the_agent_do_not_run_after_they_have_landed_in_the_slot(tmp_path):
    bench = a_bench(tmp_path)
    canary = Canary(tmp_path)
    work = bench.begin()
    shutil.copytree(canary.hooks(tmp_path), work / ".githooks", symlinks=False)
    write(work, {".gitattributes": "* filter=evil diff=evil merge=evil\n"})
    first = bench.take()
    checkout(bench.slot, first.snapshot.candidate)
    write(bench.work, CHANGE)
    all_of_noface(bench)
    assert not canary.sang


def test_programs_named_in_the_persons_configuration_do_not_run_on_what_noface_does_by_itself(tmp_path):
    bench = a_bench(tmp_path)
    canary = Canary(tmp_path)
    ours = bench.merged({"a.txt": "mine\n"})
    canary.set_everywhere(bench.path / ".git")
    write(bench.begin(), CHANGE | {".gitattributes": "* filter=evil diff=evil merge=evil\n"})
    snapshot = all_of_noface(bench)
    assert bench.plumbing.merge(ours, snapshot.candidate).conflicts == ("a.txt",)
    assert not canary.sang


def victim_of(tmp_path):
    path = a_repository(tmp_path / "victim", {"precious.txt": "precious\n"})
    write(path, {"untracked.txt": "precious too\n"})
    return path


def agent_git_file(work, victim):
    shutil.rmtree(work / ".git")
    (work / ".git").write_text(f"gitdir: {victim / '.git'}\n")


def agent_git_symlink(work, victim):
    shutil.rmtree(work / ".git")
    (work / ".git").symlink_to(victim / ".git")


def agent_core_worktree(work, victim):
    git(work, "config", "core.worktree", str(victim))


def agent_alternates(work, victim):
    with (work / ".git" / "objects" / "info" / "alternates").open("a") as file:
        file.write(f"{victim / '.git' / 'objects'}\n")


def agent_no_git(work, victim):
    shutil.rmtree(work / ".git")


def agent_git_fifo(work, victim):
    shutil.rmtree(work / ".git")
    os.mkfifo(work / ".git")


def agent_head_fifo(work, victim):
    (work / ".git" / "HEAD").unlink()
    os.mkfifo(work / ".git" / "HEAD")


def agent_rewrites_history(work, victim):
    write(work, {"a.txt": "committed by the agent\n"})
    git(work, "checkout", "-q", "--orphan", "elsewhere")
    git(work, "commit", "-q", "-a", "-m", "rewritten")
    git(work, "replace", "-f", git(work, "rev-parse", "HEAD^{tree}"), git(work, "mktree", stdin=b""), check=False)


AGENTS = [
    agent_git_file,
    agent_git_symlink,
    agent_core_worktree,
    agent_alternates,
    agent_no_git,
    agent_git_fifo,
    agent_head_fifo,
    agent_rewrites_history,
]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.__name__)
def test_whatever_becomes_of_the_slots_git_dir_the_files_are_taken_and_a_victim_is_left_alone(tmp_path, agent):
    bench = a_bench(tmp_path)
    victim = victim_of(tmp_path)
    before = listing(victim), git(victim, "status", "--porcelain"), git(victim, "rev-parse", "HEAD")
    work = bench.begin()
    agent(work, victim)
    write(work, CHANGE)
    snapshot = all_of_noface(bench)
    assert {c.path: c.status for c in snapshot.changes} == {"a.txt": "M", "src/new.txt": "A"}
    assert git(bench.work, "status", "--porcelain") == ""
    assert (listing(victim), git(victim, "status", "--porcelain"), git(victim, "rev-parse", "HEAD")) == before


def test_pushing_from_the_slot_reaches_nothing(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    write(work, CHANGE)
    git(work, "commit", "-q", "-a", "-m", "agent")
    git(work, "push", "-f", "origin", "HEAD:main", check=False)
    assert git(work, "remote") == ""
    assert git(bench.path, "rev-parse", "main") == git(work, "rev-parse", "HEAD~1")


def test_the_agents_own_git_works_and_shows_only_its_changes(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    assert git(work, "status", "--porcelain") == ""
    assert git(work, "log", "--format=%s") == "first"
    assert git(work, "branch", "--show-current") == "noface/7"
    write(work, CHANGE)
    assert git(work, "status", "--porcelain").split("\n") == [" M a.txt", "?? src/new.txt"]
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "mine")
    assert git(work, "log", "-1", "--format=%an <%ae>") == "Pat <pat@example.org>"


def test_a_git_dir_that_the_set_up_made_is_replaced_by_the_agents(tmp_path):
    bench = a_bench(tmp_path)
    checkout(bench.slot, bench.main)
    git(bench.work, "init", "-q")
    bench.begin()
    assert git(bench.work, "status", "--porcelain") == ""


@pytest.mark.parametrize("with_commit", [True, False])
@pytest.mark.parametrize("place", ["nested", "src/nested", "src"])
def test_nested_repository_is_left_out_or_taken_as_plain_files_and_nothing_in_it_runs(tmp_path, with_commit, place):
    bench = a_bench(tmp_path)
    canary = Canary(tmp_path)
    nested = bench.begin() / place
    nested.mkdir(exist_ok=True)
    git(nested, "init", "-q")
    write(nested, {"inner.txt": "inner\n"})
    if with_commit:
        git(nested, "add", "inner.txt")
        git(nested, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "inner")
    canary.set_everywhere(nested / ".git")
    snapshot = all_of_noface(bench)
    if place == "src":
        assert bench.content(snapshot.tree, f"{place}/inner.txt") == b"inner\n"
        assert snapshot.notes == (f"{place}/.git: a nested git repository's .git was removed; its files were kept",)
    else:
        assert snapshot.changes == ()
        assert snapshot.elsewhere == (place,)
    assert not canary.sang


def test_worktree_pointer_of_a_nested_repository_leads_nowhere(tmp_path):
    bench = a_bench(tmp_path)
    victim = victim_of(tmp_path)
    nested = bench.begin() / "nested"
    write(nested, {"inner.txt": "inner\n", ".git": f"gitdir: {victim / '.git'}\n"})
    snapshot = bench.take().snapshot
    assert bench.files(snapshot.tree) == {"a.txt", "src/b.txt", "src/deep/c.txt"}
    assert snapshot.elsewhere == ("nested",)
    assert git(victim, "status", "--porcelain") == "?? untracked.txt"


def test_special_files_are_removed_and_told_of(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    write(work, CHANGE)
    for name in (".gitignore", ".gitattributes", "src/.gitignore", "pipe"):
        os.mkfifo(work / name)
    here = Path.cwd()
    os.chdir(work)  # the path of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("plug")
    os.chdir(here)
    snapshot = bench.take().snapshot
    assert {c.path for c in snapshot.changes} == set(CHANGE)
    assert sorted(note.split(":")[0] for note in snapshot.notes) == [
        ".gitattributes",
        ".gitignore",
        "pipe",
        "plug",
        "src/.gitignore",
    ]


@pytest.mark.parametrize("kind", ["fifo", "folder", "link to a fifo", "dangling link"])
@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", ".gitmodules"])
def test_git_files_of_a_wrong_kind_neither_hang_nor_stop_a_snapshot(tmp_path, kind, name):
    bench = a_bench(tmp_path, {name: "\n", "a.txt": "a\n"})
    work = bench.begin()
    write(work, CHANGE)
    (work / name).unlink()
    match kind:
        case "fifo":
            os.mkfifo(work / name)
        case "folder":
            write(work, {f"{name}/inner": "x\n"})
        case "link to a fifo":
            os.mkfifo(tmp_path / "outer-fifo")
            (work / name).symlink_to(tmp_path / "outer-fifo")
        case _:
            (work / name).symlink_to("nowhere")
    snapshot = all_of_noface(bench)
    assert set(CHANGE) < {c.path for c in snapshot.changes}
    assert listing(bench.work).keys() == {name, "a.txt"}


@pytest.mark.parametrize("kept", [False, True])
def test_fifo_as_head_of_a_nested_git_dir_hangs_nothing(tmp_path, kept):
    bench = a_bench(tmp_path, keep=("deps",))
    work = bench.begin()
    for place in ("deps" if kept else "nested", "src"):
        git_dir = work / place / ".git"
        (git_dir / "objects").mkdir(parents=True)
        (git_dir / "refs").mkdir()
        os.mkfifo(git_dir / "HEAD")
        write(work / place, {"inner.txt": "inner\n"})
    checkout(bench.slot, bench.main)
    assert ("deps/inner.txt" in listing(bench.work)) is kept
    assert listing(bench.work).keys() - {"deps/inner.txt"} == {"a.txt", "src/b.txt", "src/deep/c.txt"}


def test_special_files_left_by_a_gate_are_gone_before_the_next_checkout(tmp_path):
    bench = a_bench(tmp_path, name="gate-0")
    checkout(bench.slot, bench.main)
    for name in (".gitattributes", "src/.gitattributes", "pipe"):
        os.mkfifo(bench.work / name)
    checkout(bench.slot, bench.merged({"a.txt": "next\n", "src/b.txt": "next\n"}))
    assert listing(bench.work) == {"a.txt": b"next\n", "src/b.txt": b"next\n", "src/deep/c.txt": b"c\n"}
    assert not any(file.is_fifo() for file in bench.work.rglob("*"))


def test_bad_encoding_attribute_does_not_stop_a_snapshot(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    write(work, CHANGE | {".gitattributes": "* working-tree-encoding=no-such-encoding\n"})
    assert bench.content(bench.take().snapshot.tree, "src/new.txt") == b"new\n"


def test_submodules_stay_what_they_are(tmp_path):
    inner = a_repository(tmp_path / "inner")
    bench = a_bench(tmp_path)
    git(bench.path, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(bench.path, "commit", "-q", "-m", "with a submodule")
    work = bench.begin()
    write(work, CHANGE)
    write(work, {"sub/planted.txt": "planted\n"})
    subprocess.run(["git", "init", "-q", str(work / "sub")], check=True)
    git(work / "sub", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "other")
    snapshot = all_of_noface(bench)
    assert {c.path for c in snapshot.changes} == set(CHANGE)
    assert "sub/planted.txt" not in listing(bench.work)


@pytest.mark.parametrize("name", [".GIT", ".Git", "git~1", ".git.", ".git ", "src/.GIT", "a\\..\\.git"])
def test_names_that_mean_git_elsewhere_never_reach_a_tree(tmp_path, name):
    bench = a_bench(tmp_path)
    work = bench.begin()
    write(work, CHANGE)
    write(work / name, {"config": "[core]\n", "hooks/post-checkout": "echo\n"})
    snapshot = all_of_noface(bench)
    assert {c.path for c in snapshot.changes} == set(CHANGE)
    assert snapshot.notes
    assert listing(bench.work).keys() == {"a.txt", "src/b.txt", "src/deep/c.txt"}
