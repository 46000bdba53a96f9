"""A slot is mended whatever a crash or an agent has made of it, and costs one git process (law 4)."""

import os
import shutil
import subprocess
import sys
import threading

import pytest
from support.git_ground import Bench, a_bench, git, listing, write

from noface.errors import GitError
from noface.git.plumbing import Plumbing
from noface.git.refs import exclusive_lock
from noface.git.repository import discover
from noface.git.workspace import checkout, discard

FILES = {"a.txt": b"a\n", "src/b.txt": b"b\n", "src/deep/c.txt": b"c\n"}


def stale_lock(slot):
    (slot.private_git_dir / "index.lock").write_bytes(b"")


def corrupt_index(slot):
    (slot.private_git_dir / "index").write_bytes(b"DIRC" + os.urandom(100))


def no_index(slot):
    (slot.private_git_dir / "index").unlink()


def index_is_a_folder(slot):
    (slot.private_git_dir / "index").unlink()
    (slot.private_git_dir / "index").mkdir()


def half_written_files(slot):
    (slot.path / "a.txt").write_bytes(b"")
    (slot.path / "src/b.txt").unlink()
    write(slot.path, {"src/stray.txt": "stray\n"})


def half_made_git_dir(slot):
    (slot.path / ".git/HEAD").unlink()
    (slot.path / ".git/config").unlink()


def folder_in_a_files_place(slot):
    (slot.path / "a.txt").unlink()
    write(slot.path, {"a.txt/inner/x": "x\n"})


def file_in_a_folders_place(slot):
    shutil.rmtree(slot.path / "src")
    write(slot.path, {"src": "x\n"})


def folder_gone(slot):
    shutil.rmtree(slot.path)


def folder_is_a_link(slot):
    slot.path.rename(slot.path.with_name("moved"))
    slot.path.symlink_to(slot.path.with_name("moved"))


def hub_gone(slot):
    shutil.rmtree(slot.private_git_dir)


DAMAGES = [
    stale_lock,
    corrupt_index,
    no_index,
    index_is_a_folder,
    half_written_files,
    half_made_git_dir,
    folder_in_a_files_place,
    file_in_a_folders_place,
    folder_gone,
    folder_is_a_link,
    hub_gone,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_checkout_mends_what_a_crash_has_left(tmp_path, damage):
    bench = a_bench(tmp_path)
    bench.begin()
    damage(bench.slot)
    assert listing(bench.begin()) == FILES
    assert git(bench.work, "status", "--porcelain") == ""
    assert not bench.take().changed


@pytest.mark.parametrize("damage", [stale_lock, corrupt_index, no_index, index_is_a_folder, half_made_git_dir])
def test_work_in_a_slot_whose_index_is_damaged_is_not_lost(tmp_path, damage):
    bench = a_bench(tmp_path)
    write(bench.begin(), {"a.txt": "work\n", "new.txt": "work\n"})
    damage(bench.slot)
    snapshot = bench.take().snapshot
    assert {c.path: c.status for c in snapshot.changes} == {"a.txt": "M", "new.txt": "A"}


def test_checkout_leaves_exactly_the_tree(tmp_path):
    bench = a_bench(tmp_path)
    write(bench.begin(), {"a.txt": "changed\n", "stray.txt": "x", "src/stray/x": "x", ".hidden": "x"})
    (bench.work / "src/b.txt").unlink()
    (bench.work / "empty/folder").mkdir(parents=True)
    (bench.work / "a.txt").chmod(0o755)
    checkout(bench.slot, bench.main)
    assert listing(bench.work) == FILES
    assert not (bench.work / "empty").exists()
    assert not os.access(bench.work / "a.txt", os.X_OK)


def test_setup_is_forgotten_only_where_the_folder_had_to_be_made_anew(tmp_path):
    bench = a_bench(tmp_path, keep=(".venv",))
    write(bench.begin(), {".venv/x": "x"})
    bench.slot.setup_stamp.write_text("done")
    checkout(bench.slot, bench.main)
    assert ((bench.work / ".venv/x").exists(), bench.slot.setup_stamp.exists()) == (True, True)
    corrupt_index(bench.slot)
    checkout(bench.slot, bench.main)
    assert ((bench.work / ".venv/x").exists(), bench.slot.setup_stamp.exists()) == (False, False)


def test_tree_that_does_not_exist_is_an_error(tmp_path):
    bench = a_bench(tmp_path)
    with pytest.raises(GitError, match="read-tree"):
        checkout(bench.slot, "0" * 39 + "1")


def test_discarded_slot_is_gone_and_can_be_made_again(tmp_path):
    bench = a_bench(tmp_path)
    bench.begin()
    slot = bench.slot
    discard(slot)
    assert (slot.path.exists(), slot.private_git_dir.exists()) == (False, False)
    assert listing(bench.begin()) == FILES


def test_nothing_of_the_repositorys_own_is_written_but_objects_refs_and_noface(tmp_path):
    bench = a_bench(tmp_path)
    write(bench.path, {"a.txt": "dirty\n"})

    def own():
        git_dir = bench.path / ".git"
        return {
            str(file): (file.read_bytes(), file.stat().st_mtime_ns)
            for file in git_dir.rglob("*")
            if file.is_file() and file.relative_to(git_dir).parts[0] not in {"objects", "noface"}
        }

    before = own()
    write(bench.begin(), {"a.txt": "work\n"})
    bench.take()
    bench.begin()
    assert own() == before


def test_checkout_waits_for_a_git_that_outlived_a_killed_noface(tmp_path):
    bench = a_bench(tmp_path)
    bench.begin()
    hold = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); input()"
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, bench.slot.private_git_dir / "guard"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout.readline() == b"held\n"
    released = threading.Event()
    seen = []
    thread = threading.Thread(target=lambda: (checkout(bench.slot, bench.main), seen.append(released.is_set())))
    thread.start()
    thread.join(0.5)
    released.set()
    holder.communicate(b"\n")
    thread.join()
    assert seen == [True]


def test_waiting_for_another_git_has_an_end(tmp_path):
    with (
        exclusive_lock(tmp_path / "guard"),
        pytest.raises(GitError, match="earlier noface is still running"),
        exclusive_lock(tmp_path / "guard", seconds_max=0.05),
    ):
        pass


def test_a_workspace_s_git_has_the_tags_and_names_origin_without_its_credentials(tmp_path):
    bench = a_bench(tmp_path)
    git(bench.path, "tag", "-a", "-m", "one", "v1")
    git(bench.path, "remote", "add", "origin", "https://ada:token@example.org/shop.git")
    bench = Bench(bench.path, bench.folder, Plumbing(discover(bench.path)))
    work = bench.begin()
    assert work.name == bench.path.name
    assert git(work, "describe", "--tags") == "v1"
    assert git(work, "remote", "get-url", "origin") == "https://example.org/shop.git"
    assert "token" not in (work / ".git/config").read_text()
    assert git(work, "merge-base", "origin/main", "HEAD") == bench.main
    refused = subprocess.run(["git", "push", "origin", "HEAD"], cwd=work, capture_output=True, text=True, check=False)
    assert "workspaces-do-not-push" in refused.stderr
    bench.plumbing.close()
