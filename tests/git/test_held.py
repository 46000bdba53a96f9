"""Pruning, packing and locks of another git beside a run: nothing is lost, and no lock ends a run."""

import os
import subprocess
import threading
import time

import pytest
from support.cases import first_ones
from support.git_ground import a_bench, git, write

from noface.errors import RefLockedError
from noface.git.fast_forward import Blocked
from noface.git.landing import advance
from noface.git.plumbing import make_and_hold
from noface.git.refs import ZERO, RefUpdate
from noface.git.snapshot import forget_index
from noface.git.taken_back import merge_and_hold

REF = "refs/noface/issues/7/1"


def a_lock(path, name, age_s=0.0):
    """A lock file as a git that was killed leaves it."""
    lock = path / ".git" / name
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("")
    then = time.time() - age_s
    os.utime(lock, (then, then))
    return lock


def test_objects_pruned_before_their_ref_held_them_are_made_again(tmp_path):
    bench = a_bench(tmp_path)
    slot = bench.begin()
    write(slot, {"new.txt": "new\n", "d/deep.txt": "deep\n"})
    made = []

    def snapshot():
        if made:
            forget_index(bench.slot)
        made.append(1)
        taken = bench.take()
        if len(made) < 3:
            git(bench.path, "prune", "--expire=now")
        return taken

    taken = make_and_hold(bench.plumbing, REF, bench.main, snapshot, lambda taken: taken.snapshot.candidate)
    git(bench.path, "gc", "-q", "--prune=now")
    assert len(made) == 3
    assert git(bench.path, "show", f"{REF}:d/deep.txt") == "deep"
    assert git(bench.path, "rev-parse", REF) == taken.snapshot.candidate
    git(bench.path, "fsck", "--strict", "--connectivity-only")


def test_a_pruning_that_began_before_the_ref_takes_nothing_of_what_it_holds(tmp_path):
    bench = a_bench(tmp_path)
    slot = bench.begin()
    write(slot, {"new.txt": "new\n", "d/deep.txt": "deep\n"})
    (bench.path / ".git/gc.pid").write_text("4711 host\n")  # as a git gc that is under way has it
    taken = make_and_hold(bench.plumbing, REF, bench.main, bench.take, lambda taken: taken.snapshot.candidate)
    objects = git(bench.path, "rev-list", "--objects", REF, "--not", bench.main).split()
    for name in objects:  # deleted by the pruning, which has looked at all refs before this one was made
        (bench.path / ".git/objects" / name[:2] / name[2:]).unlink(missing_ok=True)
    assert git(bench.path, "show", f"{taken.snapshot.candidate}:d/deep.txt") == "deep"
    assert bench.plumbing.missing(REF, bench.main) == ""


def test_a_merge_is_held_before_a_pruning_can_take_it(tmp_path):
    bench = a_bench(tmp_path)
    other = bench.merged({"new.txt": "new\n"})
    merge = merge_and_hold(bench.plumbing, REF, bench.main, other, ()).merge
    git(bench.path, "gc", "-q", "--prune=now")
    assert git(bench.path, "cat-file", "-t", merge.tree) == "tree"


def test_an_object_whose_contents_were_pruned_counts_as_missing(tmp_path):
    bench = a_bench(tmp_path)
    blob = bench.plumbing.git.ask("hash-object", "-w", "--stdin", stdin=b"lost\n")
    tree = bench.plumbing.git.ask("mktree", stdin=f"100644 blob {blob}\tlost.txt\n".encode())
    assert bench.plumbing.missing(tree, bench.main) == ""
    (bench.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert blob in bench.plumbing.missing(tree, bench.main)


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
def test_a_landing_that_meets_a_lock_on_main_waits_and_names_it(tmp_path):
    bench = a_bench(tmp_path)
    new = bench.merged({"new.txt": "new\n"})
    lock = a_lock(bench.path, "refs/heads/main.lock", age_s=60)
    result = advance(bench.plumbing, bench.main, new, "noface: land issue 7")
    assert isinstance(result, Blocked)
    assert str(lock) in result.reason
    assert "s old" in result.reason
    lock.unlink()
    assert git(bench.path, "status", "--porcelain") == ""


def test_a_packed_refs_lock_left_behind_does_not_end_the_run(project):
    project.issue(1)
    project.commit()
    a_lock(project.path, "packed-refs.lock")
    project.git("update-ref", "refs/noface/issues/1/landing", "main")
    project.run()
    assert project.statuses() == {"1": "merged"}


@pytest.mark.thorough
def test_pruning_and_packing_in_a_loop_beside_a_run_lose_nothing(project):
    project.config(workers=2)
    for number in range(1, 5):
        project.issue(number)
    project.play(
        *((str(number), 0, [{"write": f"d{number}/{number}.txt", "text": f"{number}\n"}]) for number in range(1, 5))
    )
    project.commit()
    loop = "while :; do git gc -q --prune=now; git pack-refs --all; git repack -q -a -d; done"
    busy = subprocess.Popen(
        ["bash", "-c", loop], cwd=project.path, env=project.environment(), stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        project.run()
    finally:
        os.killpg(busy.pid, 9)
        busy.wait()
    assert set(project.statuses().values()) == {"merged"}
    for lock in (project.path / ".git").rglob("*.lock"):
        lock.unlink()  # of the git that was killed
    assert project.git("fsck", "--connectivity-only", "--no-dangling") == ""


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
