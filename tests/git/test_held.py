"""Pruning, packing and locks of another git beside a run: nothing is lost, and no lock ends a run."""

import os
import threading
import time
from pathlib import Path

import pytest
from support.cases import first_ones
from support.git_ground import a_bench, git, write

from noface.errors import GitError, RefLockedError
from noface.git.own_objects import begin_own_objects, shared
from noface.git.plumbing import make_and_hold
from noface.git.refs import ZERO, RefUpdate
from noface.git.snapshot import forget_index

REF = "refs/noface/issues/7/1"


def a_lock(path, name, age_s=0.0):
    """A lock file as a git that was killed leaves it."""
    lock = path / ".git" / name
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("")
    then = time.time() - age_s
    os.utime(lock, (then, then))
    return lock


NEW = {f"d{number}/{number}.txt": f"{number}\n" for number in range(12)}


def pruned(path):
    """What the commands leave that people and their tools run; none of them knows what noface is at."""
    git(path, "reflog", "expire", "--expire=now", "--all")
    git(path, "gc", "-q", "--prune=now")
    git(path, "repack", "-a", "-d", "-q")
    git(path, "prune", "--expire=now")


@pytest.mark.parametrize("moment", ["written", "in a pack", "held"])
def test_a_pruning_at_any_moment_takes_nothing_of_what_a_ref_is_to_hold(tmp_path, moment):
    bench = a_bench(tmp_path)
    write(bench.begin(), NEW)
    made = bench.take()
    if moment == "written":
        pruned(bench.path)
    repository, commit = bench.plumbing.repository, made.snapshot.candidate
    with shared(repository, [commit], [bench.main]):
        if moment == "in a pack":
            pruned(bench.path)
        git(bench.path, "update-ref", REF, commit)
    if moment == "held":
        pruned(bench.path)
    assert bench.files(REF) == {*NEW, "a.txt", "src/b.txt", "src/deep/c.txt"}
    git(bench.path, "fsck", "--strict", "--connectivity-only")
    assert not list(repository.objects.glob("pack/*.keep"))


def test_a_repacking_that_has_read_the_refs_and_deletes_old_packs_leaves_what_a_ref_holds_since(tmp_path):
    bench = a_bench(tmp_path)
    write(bench.begin(), NEW)
    commit = bench.take().snapshot.candidate
    # Packs of the same content, of which a repacking that is at work is about to delete the first by its name.
    bench.plumbing.refs.apply(RefUpdate(REF, commit))
    first = {pack.name for pack in bench.plumbing.repository.objects.glob("pack/*.pack")}
    bench.plumbing.refs.apply(RefUpdate(REF, ZERO))
    bench.plumbing.refs.apply(RefUpdate("refs/noface/issues/8/1", commit))
    for name in first:
        for file in bench.plumbing.repository.objects.glob(f"pack/{Path(name).stem}.*"):
            file.unlink()
    assert bench.files("refs/noface/issues/8/1") >= NEW.keys()


def test_what_was_found_in_the_repository_and_pruned_before_a_ref_held_it_is_made_again(tmp_path):
    bench = a_bench(tmp_path)
    slot = bench.begin()
    write(slot, NEW)
    blob = git(bench.path, "hash-object", "-w", str(slot / "d3/3.txt"))  # a person had a file of the same content
    made = []

    def snapshot():
        if made:
            forget_index(bench.slot)
        made.append(bench.take())
        if len(made) == 1:
            git(bench.path, "prune", "--expire=now")
        return made[-1]

    taken = make_and_hold(bench.plumbing, REF, snapshot, lambda taken: taken.snapshot.candidate)
    assert len(made) == 2
    assert git(bench.path, "rev-parse", f"{REF}:d3/3.txt") == blob
    assert git(bench.path, "rev-parse", REF) == taken.snapshot.candidate


def test_no_ref_is_set_to_what_the_repository_does_not_hold(tmp_path):
    bench = a_bench(tmp_path)
    write(bench.begin(), NEW)
    commit = bench.take().snapshot.candidate
    assert git(bench.path, "cat-file", "-t", commit, check=False) == ""
    assert bench.plumbing.resolve(commit) == commit
    with pytest.raises(GitError):
        bench.plumbing.repository.shared_git().ask("update-ref", REF, commit)


def test_a_store_begins_empty_and_a_pack_that_a_killed_noface_protected_is_let_go(tmp_path):
    bench = a_bench(tmp_path)
    write(bench.begin(), NEW)
    commit, repository = bench.take().snapshot.candidate, bench.plumbing.repository
    packs = repository.objects / "pack"
    (packs / "pack-1.keep").write_text("mine")
    with shared(repository, [commit], []):
        (keep,) = (file for file in packs.glob("*.keep") if file.name != "pack-1.keep")
        os.link(keep, packs / "pack-2.keep")  # as a kill leaves it, with the pack and without its index
        (packs / "pack-2.pack").write_text("half")
    begin_own_objects(repository)
    assert not list(repository.own_objects.iterdir())
    assert {file.name for file in packs.glob("*.keep")} == {"pack-1.keep"}
    assert not (packs / "pack-2.pack").exists()


def test_many_small_packs_become_few_and_lose_nothing_that_a_ref_holds(tmp_path):
    bench = a_bench(tmp_path)
    for number in range(41):
        commit = bench.plumbing.commit_tree(bench.plumbing.tree("main"), (bench.main,), f"{number}\n")
        bench.plumbing.refs.apply(RefUpdate(f"refs/noface/issues/{number}/1", commit))
    assert len(list(bench.plumbing.repository.objects.glob("pack/*.pack"))) < 5
    git(bench.path, "fsck", "--strict", "--connectivity-only")


@pytest.mark.parametrize("name", first_ones([f"{REF}.lock", "refs/heads/noface/7.lock"]))
def test_a_lock_left_on_a_ref_of_noface_s_own_is_taken_away(tmp_path, name):
    bench = a_bench(tmp_path)
    a_lock(bench.path, name, age_s=3600)
    ref = name.removesuffix(".lock")
    bench.plumbing.refs.apply(RefUpdate(ref, bench.main))
    assert git(bench.path, "rev-parse", ref) == bench.main


def test_a_lock_held_for_a_second_is_waited_for(tmp_path):
    bench = a_bench(tmp_path)
    lock = a_lock(bench.path, "refs/heads/other.lock")
    free = threading.Timer(0.7, lock.unlink)
    free.start()
    bench.plumbing.refs.apply(RefUpdate("refs/heads/other", bench.main))
    free.join()
    assert git(bench.path, "rev-parse", "other") == bench.main


def test_a_lock_of_the_person_s_stays_and_is_named_with_its_age(tmp_path):
    bench = a_bench(tmp_path)
    bench.plumbing.refs.apply(RefUpdate(REF, bench.main))
    git(bench.path, "pack-refs", "--all")
    lock = a_lock(bench.path, "packed-refs.lock", age_s=7200)
    with pytest.raises(RefLockedError) as error:
        bench.plumbing.refs.apply(RefUpdate(REF, ZERO))
    assert str(lock) in error.value.hint
    assert "it is 720" in error.value.hint
    assert "remove it" in error.value.hint
    assert lock.exists()


@pytest.mark.thorough
def test_a_packed_refs_lock_left_behind_does_not_end_the_run(project):
    project.issue(1)
    project.commit()
    a_lock(project.path, "packed-refs.lock")
    project.git("update-ref", "refs/noface/issues/1/landing", "main")
    project.run()
    assert project.statuses() == {"1": "merged"}


def test_work_that_is_judged_again_is_what_its_ref_holds_and_not_a_commit_that_was_pruned(project):
    project.issue(1)
    project.commit()
    project.noface("run", NOFACE_FAILPOINT="attempt_judged")
    held_by = "refs/noface/issues/1/1"
    recorded = project.git("rev-parse", held_by)
    tree, base = project.git("rev-parse", f"{held_by}^{{tree}}"), project.git("rev-parse", f"{held_by}^")
    last = project.git("commit-tree", "-p", base, "-m", "its last commit", tree)  # as a noface that died later made it
    project.git("update-ref", held_by, last)
    project.git("gc", "-q", "--prune=now")
    assert project.git("cat-file", "-t", recorded, check=False) == ""
    project.write("elsewhere.txt", "mine")
    project.commit("main moves, so that the work is merged")
    project.run()
    assert project.statuses() == {"1": "merged"}
