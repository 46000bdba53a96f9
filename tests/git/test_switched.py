"""A switch of branches that began before a landing and ends after it leaves nothing staged that nobody staged (law 3)."""

import os
import subprocess
import time

import pytest
from support.git_ground import ENV, a_bench, git, listing, write

from noface.git.fast_forward import Landed
from noface.git.landing import advance, settle, settle_forgotten

FILES = {"a.txt": "a\n", "gone.txt": "gone\n", "mine.txt": "m\n", "staged.txt": "s\n"}
LANDING = {"a.txt": "landed\n", "new/n.txt": "new\n"}
AFTER = {"a.txt": b"landed\n", "new/n.txt": b"new\n", "mine.txt": b"mine\n", "staged.txt": b"mine\n"}
BEFORE = {"a.txt": b"a\n", "gone.txt": b"gone\n", "mine.txt": b"mine\n", "staged.txt": b"mine\n"}
MY_STATUS = " M mine.txt\nM  staged.txt"


class Switch:
    """A person's `git switch` that has written the index and waits before it writes HEAD."""

    def __init__(self, tmp_path, path, branch):
        self._go = tmp_path / "go"
        waiting = tmp_path / "waiting"
        hook = path / ".git/hooks/post-index-change"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{waiting}'\nwhile [ ! -e '{self._go}' ]; do sleep 0.02; done\n")
        hook.chmod(0o755)
        self._process = subprocess.Popen(["git", "switch", "-q", branch], cwd=path, env=ENV)
        deadline = time.monotonic() + 60
        while not waiting.exists():
            assert time.monotonic() < deadline, "the switch never wrote the index"
            time.sleep(0.01)

    def ends(self):
        self._go.touch()
        return self._process.wait()


def a_bench_of_the_persons(tmp_path):
    bench = a_bench(tmp_path, FILES)
    old, new = bench.main, bench.merged(LANDING, remove=("gone.txt",))
    write(bench.path, {"mine.txt": "mine\n", "staged.txt": "mine\n"})
    git(bench.path, "add", "staged.txt")
    git(bench.path, "branch", "other")
    return bench, old, new


def look_again(bench, how, old, new):
    if how == "the repair":
        assert settle_forgotten(bench.plumbing) == ()
    elif how == "a settling":
        assert settle(bench.plumbing, old, new, "landing") == Landed(new)
    else:
        newer = bench.merged({"later.txt": "later\n"}, base=new)
        assert advance(bench.plumbing, new, newer, "landing") == Landed(newer)


@pytest.mark.parametrize("how", ["the repair", "a settling", "the next landing"])
def test_switch_to_main_that_ends_after_the_landing_is_brought_along(tmp_path, how):
    bench, old, new = a_bench_of_the_persons(tmp_path)
    git(bench.path, "switch", "-q", "other")
    switch = Switch(tmp_path, bench.path, "main")
    assert advance(bench.plumbing, old, new, "landing") == Landed(new)
    assert switch.ends() == 0
    look_again(bench, how, old, new)
    later = {"later.txt": b"later\n"} if how == "the next landing" else {}
    assert listing(bench.path) == AFTER | later
    assert git(bench.path, "status", "--porcelain") == MY_STATUS


def test_switch_away_from_main_that_ends_after_the_landing_is_brought_along(tmp_path):
    bench, old, new = a_bench_of_the_persons(tmp_path)
    switch = Switch(tmp_path, bench.path, "other")
    assert advance(bench.plumbing, old, new, "landing") == Landed(new)
    assert switch.ends() == 0
    assert git(bench.path, "symbolic-ref", "HEAD") == "refs/heads/other"
    look_again(bench, "the repair", old, new)
    assert listing(bench.path) == BEFORE
    assert git(bench.path, "status", "--porcelain") == MY_STATUS
    assert bench.main == new


def test_landing_that_a_person_stages_the_reverse_of_stays_staged(tmp_path):
    bench, old, new = a_bench_of_the_persons(tmp_path)
    git(bench.path, "switch", "-q", "other")
    assert advance(bench.plumbing, old, new, "landing") == Landed(new)
    git(bench.path, "switch", "-q", "main")
    git(bench.path, "restore", "--source", old, "--staged", "--worktree", "a.txt", "gone.txt", "new/n.txt")
    before = listing(bench.path), git(bench.path, "diff", "--cached")
    look_again(bench, "the repair", old, new)
    assert (listing(bench.path), git(bench.path, "diff", "--cached")) == before


def test_edit_made_after_such_a_switch_survives(tmp_path):
    bench, old, new = a_bench_of_the_persons(tmp_path)
    git(bench.path, "switch", "-q", "other")
    switch = Switch(tmp_path, bench.path, "main")
    assert advance(bench.plumbing, old, new, "landing") == Landed(new)
    assert switch.ends() == 0
    write(bench.path, {"a.txt": "mine\n", "new/n.txt": "mine\n"})
    before = listing(bench.path)
    look_again(bench, "the repair", old, new)
    assert listing(bench.path) == before
    assert not (bench.path / ".git/index.lock").exists()


def test_a_fifo_in_the_place_of_what_is_remembered_is_not_waited_for(tmp_path):
    bench, old, new = a_bench_of_the_persons(tmp_path)
    remembered = bench.plumbing.repository.state_dir / "late-landings"
    remembered.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(remembered)
    assert advance(bench.plumbing, old, new, "landing") == Landed(new)
