"""A landing that was cut off anywhere is brought to an end, and nothing of the person's is touched (law 7)."""

import os
import random
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress

import psutil
import pytest
from support.cases import first_ones
from support.git_ground import ENV, a_bench, git, listing, write
from support.landings import landing_that_pauses
from support.processes import wait_for

from noface.git.fast_forward import Blocked, Landed, Moved
from noface.git.landing import advance, remove_own_ref_locks, settle

FILES = {
    "a.txt": "old content of a\n",
    "b.txt": "old content of b\n",
    "gone.txt": "gone\n",
    "d/gone.txt": "gone\n",
    "type.txt": "type\n",
    "grows": "a file\n",
    "shrinks/inner.txt": "a folder\n",
    "run.sh": "run\n",
    "mine.txt": "m\n",
    "staged.txt": "s\n",
}
LANDING = {
    "a.txt": "new content of a, and more of it\n",
    "b.txt": "another b\n",
    "new/deep/n.txt": "new\n",
    "type.txt": ("120000", "a.txt"),
    "grows/inner.txt": "a folder now\n",
    "shrinks": "a file now\n",
    "run.sh": ("100755", "run\n"),
}
REMOVED = ("gone.txt", "d/gone.txt", "grows", "shrinks/inner.txt")
CHANGED = {*LANDING, *REMOVED}
MINE = {"mine.txt": b"mine\n", "staged.txt": b"mine\n", "untracked.txt": b"mine\n"}
MY_STATUS = {" M mine.txt", "M  staged.txt", "?? untracked.txt"}

ADVANCE = """
import sys
from pathlib import Path
from noface.git.landing import advance
from noface.git.landing import settle
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
do = {"advance": advance, "settle": settle}[sys.argv[1]]
print(do(Plumbing(discover(Path(sys.argv[2]), "main")), sys.argv[3], sys.argv[4], "landing"))
"""


def a_landing(tmp_path, place="here"):
    """Return a bench, where main is checked out, old and new; the person has local changes there."""
    bench = a_bench(tmp_path, FILES)
    old, new = bench.main, bench.merged(LANDING, remove=REMOVED)
    path = bench.path
    if place != "here":
        git(path, "checkout", "-q", "-b", "other")
    if place == "linked":
        path = tmp_path / "linked"
        git(bench.path, "worktree", "add", "-q", path, "main")
    write(path, dict.fromkeys(MINE, "mine\n"))
    git(path, "add", "staged.txt")
    return bench, path, old, new


def start(command, bench, old, new, **env):
    return subprocess.Popen(
        [sys.executable, "-c", ADVANCE, command, bench.path, old, new],
        env={**ENV, **env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def settled(bench, old, new):
    return settle(bench.plumbing, old, new, "noface: land issue 7")


def tree_of(bench, commit):
    """Return what a checkout of the commit holds, in the form of `listing`."""
    shown = {}
    for path, (mode, _) in bench.plumbing.entries(commit, tuple(bench.plumbing.paths(commit))).items():
        content = bench.content(commit, path)
        shown[path] = f"-> {content.decode()}" if mode == "120000" else content
    return shown


def status(path):
    return set(git(path, "status", "--porcelain", "-uall").split("\n")) - {""}


def assert_landed(bench, path, new):
    assert bench.main == new
    assert listing(path) == tree_of(bench, new) | MINE
    assert status(path) == MY_STATUS
    assert os.access(path / "run.sh", os.X_OK)
    assert leftovers(bench) == []


def leftovers(bench):
    git_dir = bench.path / ".git"
    return [file for file in git_dir.rglob("*") if "lock" in file.name or file.name.startswith("landing-index")]


STEPS = ("landing_ref_locked", "landing_files_updated", "landing_ref_moved")


@pytest.mark.parametrize(
    ("where", "place"),
    [
        *((step, "here") for step in STEPS),
        ("landing_files_updated", "linked"),  # files lie elsewhere
        ("landing_ref_moved", "nowhere"),  # there are none
        *(
            pytest.param(step, "linked", marks=pytest.mark.thorough)
            for step in STEPS
            if step != "landing_files_updated"
        ),
        *(pytest.param(step, "nowhere", marks=pytest.mark.thorough) for step in STEPS if step != "landing_ref_moved"),
    ],
)
def test_kill_at_any_step_of_a_landing_is_settled(tmp_path, place, where):
    bench, path, old, new = a_landing(tmp_path, place)
    child = start("advance", bench, old, new, NOFACE_FAILPOINT=f"{where}:1:kill")
    assert child.wait() == -9
    before = listing(bench.path)
    assert settled(bench, old, new) == Landed(new)
    if place == "nowhere":
        assert (bench.main, listing(path), status(path), leftovers(bench)) == (new, before, MY_STATUS, [])
    else:
        assert_landed(bench, path, new)
    assert settled(bench, old, new) == Landed(new)


def test_three_kills_during_recovery_are_settled(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    for command, where in [
        ("advance", "landing_files_updated"),
        ("settle", "landing_ref_locked"),
        ("settle", "landing_files_updated"),
        ("settle", "landing_ref_moved"),
    ]:
        start(command, bench, old, new, NOFACE_FAILPOINT=f"{where}:1:kill").wait()
    assert settled(bench, old, new) == Landed(new)
    assert_landed(bench, path, new)


def cut_off(bench, path, old, new, states, *, marked=True):
    """Leave the files as a kill in the middle of the move could: each path old, new, absent or a beginning."""
    before, after = tree_of(bench, old), tree_of(bench, new)
    for name in sorted(CHANGED, key=lambda name: states[name] not in ("absent", "old")):
        held = after if states[name] in ("new", "part of new") else before
        if states[name] == "old":
            continue
        for parent in reversed((path / name).relative_to(path).parents[:-1]):
            if (path / parent).is_file():
                (path / parent).unlink()
        if (path / name).is_dir() and not (path / name).is_symlink():
            continue
        (path / name).unlink(missing_ok=True)
        content = held.get(name)
        if states[name] == "absent" or content is None:
            continue
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            (path / name).symlink_to(content.removeprefix("-> "))
        else:
            (path / name).write_bytes(content[: len(content) // 2] if "part" in states[name] else content)
    if marked:
        (path / ".git" / "index.lock").write_text(f"noface landing {old} {new}\n")
        write(bench.path, {".git/noface/landing-index": "half", ".git/noface/landing-index.lock": "half"})


KINDS = ["old", "new", "absent", "part of new", "part of old"]


@pytest.mark.parametrize("seed", first_ones(range(16), 2))
def test_any_mixture_of_old_new_absent_and_half_written_files_is_settled(tmp_path, seed):
    bench, path, old, new = a_landing(tmp_path)
    dice = random.Random(seed)
    cut_off(bench, path, old, new, {name: dice.choice(KINDS) for name in sorted(CHANGED)})
    assert settled(bench, old, new) == Landed(new)
    assert_landed(bench, path, new)


@pytest.mark.parametrize("kind", first_ones(KINDS, 2))
def test_landing_cut_off_with_every_file_alike_is_settled(tmp_path, kind):
    bench, path, old, new = a_landing(tmp_path)
    cut_off(bench, path, old, new, dict.fromkeys(CHANGED, kind))
    assert settled(bench, old, new) == Landed(new)
    assert_landed(bench, path, new)


def foreign_content(path):
    write(path, {"a.txt": "something else\n"})
    return "a.txt"


def foreign_more(path):
    write(path, {"b.txt": "another b\nand mine below it\n"})
    return "b.txt"


def foreign_link(path):
    (path / "a.txt").unlink()
    (path / "a.txt").symlink_to("mine.txt")
    return "a.txt"


def foreign_folder(path):
    (path / "a.txt").unlink()
    write(path, {"a.txt/mine.txt": "mine\n"})
    return "a.txt"


def foreign_new_file(path):
    write(path, {"new/deep/n.txt": "mine\n"})
    return "new/deep/n.txt"


def foreign_parent(path):
    (path / "d").rename(path.parent / "outside-d")
    (path / "d").symlink_to(path.parent / "outside-d")
    return "d/gone.txt"


FOREIGN = [foreign_content, foreign_more, foreign_link, foreign_folder, foreign_new_file, foreign_parent]


@pytest.mark.parametrize("change", FOREIGN, ids=lambda change: change.__name__)
def test_anything_of_the_persons_among_the_files_is_named_and_left_alone(tmp_path, change):
    bench, path, old, new = a_landing(tmp_path)
    cut_off(bench, path, old, new, dict.fromkeys(CHANGED, "old") | {"b.txt": "new", "gone.txt": "absent"})
    foreign = change(path)
    before = listing(path), listing(tmp_path / "outside-d")
    held = settled(bench, old, new)
    assert isinstance(held, Blocked)
    assert held.paths == (foreign,)
    assert "neither the old nor the new" in held.reason
    assert (listing(path), listing(tmp_path / "outside-d"), bench.main) == (*before, old)
    assert isinstance(settled(bench, old, new), Blocked)
    assert (listing(path), listing(tmp_path / "outside-d"), bench.main) == (*before, old)


def test_lock_of_a_running_git_is_never_taken_for_ours(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    index = (path / ".git/index").read_bytes()
    (path / ".git/index.lock").write_bytes(index)
    before = listing(path)
    assert isinstance(settled(bench, old, new), Blocked)
    assert ((path / ".git/index.lock").read_bytes(), listing(path), bench.main) == (index, before, old)


def test_half_moved_files_without_our_lock_are_the_persons(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    cut_off(bench, path, old, new, dict.fromkeys(CHANGED, "old") | {"a.txt": "absent", "b.txt": "new"}, marked=False)
    before = listing(path)
    held = settled(bench, old, new)
    assert held.paths == ("a.txt", "b.txt")
    assert (listing(path), bench.main) == (before, old)


def test_landing_whose_lock_a_person_has_removed_is_finished_where_all_files_are_new(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    start("advance", bench, old, new, NOFACE_FAILPOINT="landing_files_updated").wait()
    (path / ".git/index.lock").unlink()
    assert settled(bench, old, new) == Landed(new)
    assert_landed(bench, path, new)


def test_landing_whose_lock_a_person_has_removed_is_held_where_a_file_was_edited_since(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    start("advance", bench, old, new, NOFACE_FAILPOINT="landing_files_updated").wait()
    (path / ".git/index.lock").unlink()
    write(path, {"a.txt": "mine\n"})
    before = listing(path)
    assert "a.txt" in settled(bench, old, new).paths
    assert (listing(path), bench.main) == (before, old)


def test_edit_made_after_all_files_were_new_survives(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    start("advance", bench, old, new, NOFACE_FAILPOINT="landing_files_updated").wait()
    write(path, {"a.txt": "mine on top of new\n"})
    assert settled(bench, old, new) == Landed(new)
    assert (path / "a.txt").read_text() == "mine on top of new\n"
    assert status(path) == MY_STATUS | {" M a.txt"}


def test_lock_left_behind_after_the_ref_had_moved_is_taken_away(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    start("advance", bench, old, new, NOFACE_FAILPOINT="landing_ref_moved").wait()
    write(path, {".git/index.lock": f"noface landing {old} {new}\n"})
    assert settled(bench, old, new) == Landed(new)
    assert_landed(bench, path, new)


def test_main_that_was_moved_elsewhere_by_force_is_left_there_and_the_files_go_back(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    cut_off(bench, path, old, new, dict.fromkeys(CHANGED, "old") | {"a.txt": "part of new"})
    theirs = bench.merged({"mine.txt": "theirs\n"})
    git(path, "update-ref", "refs/heads/main", theirs)
    assert settled(bench, old, new) == Moved(theirs)
    assert (listing(path)["a.txt"], bench.main) == (b"old content of a\n", theirs)
    assert not (path / ".git/index.lock").exists()


def test_main_that_has_gone_on_from_the_landing_is_landed(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    assert settled(bench, old, new) == Landed(new)
    git(path, "commit", "-q", "-m", "mine")
    assert settled(bench, old, new) == Landed(new)


def test_landing_that_nobody_remembers_is_mended_by_the_next(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    cut_off(bench, path, old, new, dict.fromkeys(CHANGED, "part of new"))
    other = bench.merged({"b.txt": "another landing\n"})
    assert advance(bench.plumbing, old, other, "landing") == Landed(other)
    assert listing(path) == tree_of(bench, other) | MINE
    assert status(path) == MY_STATUS


def test_landing_that_nobody_remembers_is_finished_where_its_files_are_new(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    start("advance", bench, old, new, NOFACE_FAILPOINT="landing_files_updated").wait()
    other = bench.merged({"b.txt": "another landing\n"}, base=old)
    assert advance(bench.plumbing, old, other, "landing") == Moved(new)
    assert_landed(bench, path, new)


def a_ref_lock(bench, old, new, name, content, age):
    lock = bench.path / ".git" / name
    lock.write_text(content.replace("NEW", new).replace("OLD", old))
    os.utime(lock, (time.time() - age, time.time() - age))
    return lock


def test_a_lock_of_a_ref_is_ours_if_it_holds_our_commit_or_is_empty_and_stale(tmp_path):
    bench, _path, old, new = a_landing(tmp_path)
    for name in ("refs/heads/main.lock", "HEAD.lock"):
        for content, age, ours in (
            ("NEW\n", 0, True), ("", 3600, True), ("", 0, False), ("OLD\n", 3600, False), ("other", 3600, False)
        ):  # fmt: skip
            lock = a_ref_lock(bench, old, new, name, content, age)
            remove_own_ref_locks(bench.plumbing, new)
            assert lock.exists() is not ours, (name, content, age)
            lock.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("name", "content", "lands"), [("refs/heads/main.lock", "NEW\n", True), ("HEAD.lock", "other", False)]
)
def test_only_our_own_locks_of_refs_are_removed(tmp_path, name, content, lands):
    bench, path, old, new = a_landing(tmp_path)
    lock = a_ref_lock(bench, old, new, name, content, 3600)
    result = settled(bench, old, new)
    assert (isinstance(result, Landed), lock.exists()) == (lands, not lands)
    assert lands or (bench.main == old and status(path) == MY_STATUS)


def test_locks_of_both_kinds_left_by_a_power_loss_are_settled(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    start("advance", bench, old, new, NOFACE_FAILPOINT="landing_files_updated").wait()
    write(path, {".git/refs/heads/main.lock": f"{new}\n", ".git/HEAD.lock": ""})
    assert settled(bench, old, new) == Landed(new)
    assert_landed(bench, path, new)


def slow_filter(bench, path, tmp_path):
    """Have the files of the landing come through a filter that says when it runs and waits to be let on."""
    program = tmp_path / "slow"
    program.write_text(
        f"#!/bin/sh\ntouch '{tmp_path}/started'\nwhile [ ! -e '{tmp_path}/go' ]; do sleep 0.02; done\ncat\n"
    )
    program.chmod(0o755)
    git(path, "config", "filter.slow.smudge", str(program))
    git(path, "config", "filter.slow.clean", "cat")
    write(bench.path, {".git/info/attributes": "b.txt filter=slow\n"})


def test_git_killed_while_it_writes_the_files_is_settled(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    slow_filter(bench, path, tmp_path)
    child = start("advance", bench, old, new)
    wait_for((tmp_path / "started").exists)
    below = psutil.Process(child.pid).children(recursive=True)
    child.kill()
    child.wait()
    for process in below:
        with suppress(psutil.NoSuchProcess):  # a filter whose git is gone ends by itself
            process.kill()
    psutil.wait_procs(below)
    assert (path / ".git/index.lock").exists()
    assert listing(path) != tree_of(bench, old) | MINE
    write(tmp_path, {"go": ""})
    assert settled(bench, old, new) == Landed(new)
    assert_landed(bench, path, new)


def test_git_that_outlives_noface_is_waited_for(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    slow_filter(bench, path, tmp_path)
    child = start("advance", bench, old, new)
    wait_for((tmp_path / "started").exists)
    child.kill()
    child.wait()
    results = []
    thread = threading.Thread(target=lambda: results.append((settled(bench, old, new), (tmp_path / "go").exists())))
    thread.start()
    thread.join(1)
    write(tmp_path, {"go": ""})
    thread.join()
    assert results == [(Landed(new), True)]
    assert_landed(bench, path, new)


def test_old_files_that_cannot_be_put_back_are_put_back_once_they_can(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    git(path, "config", "filter.fetch.smudge", "false")
    git(path, "config", "filter.fetch.clean", "cat")
    git(path, "config", "filter.fetch.required", "true")
    write(path, {".git/info/attributes": "b.txt filter=fetch\n"})
    for _ in range(2):
        held = advance(bench.plumbing, old, new, "landing")
        assert isinstance(held, Blocked)
        assert bench.main == old
    git(path, "config", "filter.fetch.smudge", "cat")
    assert advance(bench.plumbing, old, new, "landing") == Landed(new)
    assert_landed(bench, path, new)


def test_half_written_file_with_the_persons_line_endings_is_recognised(tmp_path):
    bench = a_bench(tmp_path, {"a.txt": "1\r\n2\r\n", "b.txt": "b\r\n"})
    git(bench.path, "config", "core.autocrlf", "true")
    git(bench.path, "add", "--renormalize", ".")
    git(bench.path, "commit", "-qm", "normalised")
    old = bench.main
    new = bench.merged({"a.txt": "3\n4\n5\n", "b.txt": "c\n"})
    write(bench.path, {"a.txt": "3\r\n4\r", ".git/index.lock": f"noface landing {old} {new}\n"})
    assert settled(bench, old, new) == Landed(new)
    assert listing(bench.path) == {"a.txt": b"3\r\n4\r\n5\r\n", "b.txt": b"c\r\n"}
    assert git(bench.path, "status", "--porcelain") == ""


def test_settling_what_never_began_just_lands(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    assert settled(bench, old, new) == Landed(new)
    assert_landed(bench, path, new)


def test_settling_holds_where_the_person_is_in_the_way(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    write(path, {"a.txt": "mine\n"})
    assert settled(bench, old, new).paths == ("a.txt",)
    assert (path / "a.txt").read_text() == "mine\n"
    (path / "a.txt").unlink()
    assert settled(bench, old, new).paths == ("a.txt",)
    assert not (path / "a.txt").exists()


def test_kill_between_the_changed_and_the_new_files_is_settled(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    child = landing_that_pauses(tmp_path, bench, old, new, "checkout-index -u", 1)
    assert {"a.txt", "new/deep/n.txt"} & listing(path).keys() == {"a.txt"}
    child.kill()
    write(tmp_path, {"go": ""})  # the git that noface had started goes on, and is waited for
    child.communicate()
    assert settled(bench, old, new) == Landed(new)
    assert_landed(bench, path, new)


def test_what_a_killed_landing_left_of_its_scratch_index_is_in_nobodys_way(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    write(path, {".git/noface/landing-index": "half", ".git/noface/landing-index.lock": "half"})
    assert advance(bench.plumbing, old, new, "landing") == Landed(new)
    assert_landed(bench, path, new)


def a_git_that_dies(tmp_path, words):
    """Return a PATH on which the git commands with these words are killed before they answer."""
    program = tmp_path / "dying" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ncase "$*" in *"{words}"*) kill -9 $$ ;; esac\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    return f"{program.parent}:{ENV['PATH']}"


@pytest.mark.parametrize("words", ["diff-index --cached", "cat-file --batch-command"])
@pytest.mark.parametrize("where", first_ones(["landing_files_updated", "landing_ref_moved"]))
def test_git_that_is_killed_while_it_is_asked_how_far_a_landing_came_answers_nothing(tmp_path, where, words):
    bench, path, old, new = a_landing(tmp_path)
    start("advance", bench, old, new, NOFACE_FAILPOINT=f"{where}:1:kill").wait()
    before = listing(path), (path / ".git/index").read_bytes()
    asked = start("settle", bench, old, new, PATH=a_git_that_dies(tmp_path, words))
    assert asked.wait() == 0
    assert (listing(path), (path / ".git/index").read_bytes()) == before
    assert (path / ".git/index.lock").exists() or bench.main == new
    assert settled(bench, old, new) == Landed(new)
    assert_landed(bench, path, new)


def test_landing_whose_update_ref_dies_before_it_moves_main_is_taken_back(tmp_path):
    bench, path, old, new = a_landing(tmp_path)
    program = tmp_path / "dying" / "git"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/sh
case "$*" in *"update-ref -m"*)
  {{ while read -r line && [ "$line" != commit ]; do echo "$line"; done; }} | {shutil.which("git")} "$@"
  kill -9 $$
esac
exec {shutil.which("git")} "$@"
"""
    )
    program.chmod(0o755)
    before = listing(path)
    child = start("advance", bench, old, new, PATH=f"{program.parent}:{ENV['PATH']}")
    assert child.wait() == 0
    assert (listing(path), bench.main, status(path), leftovers(bench)) == (before, old, MY_STATUS, [])
