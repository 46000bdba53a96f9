"""Removing goes by descriptors: through no link on the way, into no mount, to any depth (law 3)."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from support import TESTS
from support.git_ground import a_bench, a_repository, git, listing, without_privilege, write

from noface.errors import GitError
from noface.git.removal import mount_points, remove, remove_below, unlink_below
from noface.git.workspace import checkout

PRECIOUS = {"deep/.git/HEAD": "x", "deep/data": "x", "data": "x"}


@pytest.fixture
def precious(tmp_path):
    """A folder of the person's that an agent has a link to."""
    write(tmp_path / "precious", PRECIOUS)
    yield tmp_path / "precious"
    assert {path: (tmp_path / "precious" / path).read_text() for path in PRECIOUS} == PRECIOUS


def test_no_link_on_the_way_is_followed(tmp_path, precious):
    root = tmp_path / "slot"
    root.mkdir()
    (root / "link").symlink_to(precious)
    for removal in (remove_below, unlink_below):
        removal(root, "link/deep/data")
        removal(root, "link/deep")
    assert (root / "link").is_symlink()
    remove_below(root, "link")
    assert not (root / "link").is_symlink()


def test_root_that_was_replaced_by_a_link_is_not_followed(tmp_path, precious):
    (tmp_path / "slot").symlink_to(precious)
    remove_below(tmp_path / "slot", "data")
    unlink_below(tmp_path / "slot", "data")


@pytest.mark.parametrize("relative", ["../precious", "a/../../precious", "", "a//b", "."])
def test_path_that_could_lead_out_is_refused(tmp_path, precious, relative):
    write(tmp_path, {"slot/a/b": "x"})
    with pytest.raises(GitError, match="no path below"):
        remove_below(tmp_path / "slot", relative)


def test_what_is_not_there_is_removed_already(tmp_path):
    write(tmp_path, {"file": "x"})
    for relative in ("gone", "gone/x", "file/x"):
        remove_below(tmp_path, relative)
        unlink_below(tmp_path, relative)
    assert listing(tmp_path) == {"file": b"x"}


def test_file_goes_with_the_folders_that_are_empty_without_it(tmp_path):
    write(tmp_path, {"a/b/c/file": "x", "a/other": "x"})
    unlink_below(tmp_path, "a/b/c/file")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "other"]


def test_five_thousand_folders_deep_go_with_few_descriptors(tmp_path):
    depth = 5000
    (tmp_path / "top").mkdir()
    folder = os.open(tmp_path / "top", os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(int(path.name) for path in Path("/dev/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 6, limits[1]))
    try:
        remove(tmp_path / "top")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert list(tmp_path.iterdir()) == []


def test_folders_whose_permissions_were_taken_away_go(tmp_path):
    program = """
import sys
from pathlib import Path
from noface.git.removal import remove
top = Path(sys.argv[1], "top")
(top / "a/b").mkdir(parents=True)
(top / "a/b/file").write_text("x")
for folder, mode in ((top / "a/b", 0o000), (top / "a", 0o500), (top, 0o300)):
    folder.chmod(mode)
remove(top)
print(top.exists())
"""
    tmp_path.chmod(0o777)
    command = [*without_privilege(), sys.executable, "-c", program, tmp_path]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


def test_what_cannot_be_removed_is_an_error_with_its_reason(tmp_path):
    program = """
import sys
from pathlib import Path
from noface.errors import GitError
from noface.git.removal import remove
top = Path(sys.argv[1], "top")
(top / "file").parent.mkdir()
top.parent.chmod(0o500)
try:
    remove(top)
except GitError as error:
    print(error.message)
"""
    command = [*without_privilege(), sys.executable, "-c", program, tmp_path]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "top could not be removed: Permission denied" in said


def kept_folder(path, target):
    (path / "kept").symlink_to(target / "deep")


def parent_of_a_kept_folder(path, target):
    (path / "far").symlink_to(target)


def folder_of_a_submodule(path, target):
    (path / "sub").rmdir()
    (path / "sub").symlink_to(target)


def parent_of_a_submodule(path, target):
    (path / "lib/sub").rmdir()
    (path / "lib").rmdir()
    (path / "lib").symlink_to(target)


def tracked_folder(path, target):
    (path / "src").rename(path.parent / "src-moved")
    (path / "src").symlink_to(target)


@pytest.mark.parametrize(
    "replace",
    [kept_folder, parent_of_a_kept_folder, folder_of_a_submodule, parent_of_a_submodule, tracked_folder],
    ids=lambda replace: replace.__name__,
)
def test_cleaning_a_slot_deletes_through_no_link(tmp_path, precious, replace):
    write(precious, {"sub/data": "x", "b.txt": "x", "deep/c.txt": "x"})
    before = sorted(str(path) for path in precious.rglob("*"))
    bench = a_bench(tmp_path, keep=("kept", "far/deep"))
    commit = bench.merged({"sub": ("160000", "x"), "lib/sub": ("160000", "x")})
    bench.begin(commit)
    replace(bench.work, precious)
    bench.take(start=commit)
    checkout(bench.slot, commit)
    checkout(bench.slot, bench.main)
    assert sorted(str(path) for path in precious.rglob("*")) == before


def test_linked_worktree_inside_a_slot_loses_nothing_outside_it(tmp_path):
    bench = a_bench(tmp_path)
    other = a_repository(tmp_path / "other")
    bench.begin()
    git(other, "worktree", "add", "-q", bench.work / "linked", "-b", "theirs")
    admin = {path: path.read_bytes() for path in (other / ".git/worktrees").rglob("*") if path.is_file()}
    bench.take()
    checkout(bench.slot, bench.main)
    assert not (bench.work / "linked").exists()
    assert {path: path.read_bytes() for path in (other / ".git/worktrees").rglob("*") if path.is_file()} == admin
    assert git(other, "rev-parse", "theirs") == git(other, "rev-parse", "main")


def test_mount_points_below_a_folder_are_listed(tmp_path):
    listed = mount_points(Path("/"))
    assert "proc" in listed
    assert mount_points(tmp_path) == ()


MOUNTED = """
import subprocess, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from support.git_ground import a_bench, write
from noface.errors import GitError
from noface.git.removal import remove, remove_below
from noface.git.workspace import checkout, discard
folder = Path(sys.argv[1])
bench = a_bench(folder, keep=("kept",))
bench.begin()
place = bench.work / sys.argv[3]
write(folder, {"precious/deep/data": "x", "precious/.git/HEAD": "x"})
place.mkdir(parents=True, exist_ok=True)
subprocess.run(["mount", "--bind", folder / "precious", place], check=True)
def tried(action, *arguments):
    try:
        action(*arguments)
    except GitError as error:
        print("mount" in error.message)
print(sorted(bench.files(bench.take().snapshot.tree)))
tried(checkout, bench.slot, bench.main)
tried(remove_below, bench.work, f"{sys.argv[3]}/deep")
tried(remove_below, bench.work, sys.argv[3])
tried(remove, bench.work)
tried(discard, bench.slot)
"""


@pytest.mark.parametrize("place", ["mine", "src/deep", "kept", "kept/inner"])
def test_nothing_is_removed_from_a_bind_mount_in_a_slot(tmp_path, precious, place):
    unshare = ["unshare", *(() if os.geteuid() == 0 else ("--user", "--map-root-user")), "--mount"]
    if subprocess.run([*unshare, "mount", "--bind", tmp_path, tmp_path], check=False).returncode != 0:
        pytest.skip("this machine lets nobody mount anything, so no mount can be in the way")
    command = [*unshare, sys.executable, "-c", MOUNTED, tmp_path, TESTS, place]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    tree = "['a.txt', 'src/b.txt', 'src/deep/c.txt']"
    refused = [] if place.startswith("kept") else ["True"]  # what is kept is not cleaned
    assert done.stdout.splitlines() == [tree, *refused, *["True"] * 4]
