"""Ignored and untracked files of a person's hold a landing that would remove them, whenever they appear (law 3)."""

import os

import pytest
from support.git_ground import a_bench, a_repository, git, listing, write
from support.landings import land, landing_that_pauses, left

from noface.git.fast_forward import Blocked, Landed
from noface.git.worktrees import Obstacles

FILES = {"d/x": "x\n", "d/e/y": "y\n", "file": "f\n", "Name": "n\n", ".gitignore": "*.env\nmine\nmine/\n"}
FOLDER_GOES = ("d/x", "d/e/y")


def file_for_a_folder(path):
    write(path, {"d/local.env": "secret\n"})
    return {"d": "now a file\n"}, FOLDER_GOES, "d/local.env"


def link_for_a_folder(path):
    write(path, {"d/e/local.env": "secret\n"})
    return {"d": ("120000", "file")}, FOLDER_GOES, "d/e/local.env"


def file_for_a_folder_with_an_ignored_folder(path):
    write(path, {"d/mine/data/1": "data\n"})
    return {"d": "now a file\n"}, FOLDER_GOES, "d/mine/data/1"


def file_for_a_folder_with_an_untracked_file(path):
    write(path, {"d/notes": "notes\n"})
    return {"d": "now a file\n"}, FOLDER_GOES, "d/notes"


def file_for_a_folder_with_another_repository(path):
    a_repository(path / "d/mine", {"x": "x\n"})
    return {"d": "now a file\n"}, FOLDER_GOES, None


def file_for_an_ignored_file(path):
    write(path, {"local.env": "secret\n"})
    return {"local.env": "landed\n"}, (), "local.env"


def file_for_an_ignored_folder(path):
    write(path, {"mine/1": "data\n"})
    return {"mine": "landed\n"}, (), "mine/1"


def folder_for_an_ignored_file(path):
    write(path, {"mine": "data\n"})
    return {"mine/deep/new": "landed\n"}, (), "mine"


def folder_for_an_ignored_link(path):
    write(path.parent, {"elsewhere/deep/new": "data\n"})
    (path / "mine").symlink_to(path.parent / "elsewhere")
    return {"mine/deep/new": "landed\n"}, (), "mine"


def folder_for_an_ignored_link_to_nowhere(path):
    (path / "mine").symlink_to("nowhere")
    return {"mine/new": "landed\n"}, (), "mine"


def name_in_other_case_for_an_ignored_file(path):
    write(path, {".git/info/exclude": "name\n", "name": "data\n"})
    return {"name": "landed\n"}, ("Name",), "name"


def submodule_for_an_ignored_file(path):
    write(path, {"mine": "data\n"})
    return {"mine": ("160000", "x")}, (), "mine"


HELD = [
    file_for_a_folder,
    link_for_a_folder,
    file_for_a_folder_with_an_ignored_folder,
    file_for_a_folder_with_an_untracked_file,
    file_for_a_folder_with_another_repository,
    file_for_an_ignored_file,
    file_for_an_ignored_folder,
    folder_for_an_ignored_file,
    folder_for_an_ignored_link,
    folder_for_an_ignored_link_to_nowhere,
    name_in_other_case_for_an_ignored_file,
    submodule_for_an_ignored_file,
]


@pytest.mark.parametrize("kind", HELD, ids=lambda kind: kind.__name__)
def test_landing_that_would_remove_what_git_ignores_is_held_and_names_it(tmp_path, kind):
    bench = a_bench(tmp_path, FILES)
    files, removed, named = kind(bench.path)
    old, new = bench.main, bench.merged(files, remove=removed)
    before = listing(bench.path), listing(tmp_path / "elsewhere")
    held = land(bench, old, new)
    assert isinstance(held, Blocked)
    assert "move them away" in held.reason
    assert held.paths == (named,) if named else all(path.startswith("d/mine/") for path in held.paths)
    assert (listing(bench.path), listing(tmp_path / "elsewhere")) == before
    assert (bench.main, left(bench.path)) == (old, set())


def with_submodule(tmp_path):
    """Return a bench whose main has the submodule `sub`, populated, with a file in it that nobody tracks."""
    a_repository(tmp_path / "library", {"x": "library\n"})
    bench = a_bench(tmp_path, FILES)
    git(bench.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", tmp_path / "library", "sub")
    git(bench.path, "commit", "-q", "-m", "submodule")
    write(bench.path, {"sub/local.env": "secret\n"})
    return bench


@pytest.mark.parametrize("files", [{"sub": "a file\n"}, {"sub": ("120000", "file")}, {"sub/new": "in a folder\n"}])
def test_submodule_in_whose_place_something_else_comes_holds_the_landing(tmp_path, files):
    bench = with_submodule(tmp_path)
    old, new = bench.main, bench.merged(files, remove=() if "sub" in files else ("sub",))
    before = listing(bench.path), listing(bench.path / "sub")
    held = land(bench, old, new)
    assert isinstance(held, Blocked)
    assert "sub/local.env" in held.paths
    assert (listing(bench.path), listing(bench.path / "sub"), bench.main) == (*before, old)


def test_submodule_that_is_removed_leaves_its_files(tmp_path):
    bench = with_submodule(tmp_path)
    old, new = bench.main, bench.merged(remove=("sub",))
    assert land(bench, old, new) == Landed(new)
    assert (bench.path / "sub/local.env").read_text() == "secret\n"


def test_empty_folder_of_a_submodule_makes_way_for_a_file(tmp_path):
    bench = with_submodule(tmp_path)
    git(bench.path, "submodule", "deinit", "-q", "-f", "sub")
    (bench.path / "sub/local.env").unlink(missing_ok=True)
    old, new = bench.main, bench.merged({"sub": "a file\n"})
    assert land(bench, old, new) == Landed(new)
    assert (bench.path / "sub").read_text() == "a file\n"


def test_submodule_in_the_place_of_a_folder_leaves_what_is_ignored_in_it(tmp_path):
    bench = a_bench(tmp_path, FILES)
    write(bench.path, {"d/local.env": "secret\n"})
    old, new = bench.main, bench.merged({"d": ("160000", "x")}, remove=FOLDER_GOES)
    land(bench, old, new)
    assert (bench.path / "d/local.env").read_text() == "secret\n"


def test_ignored_files_stay_where_the_last_tracked_file_of_their_folder_goes(tmp_path):
    bench = a_bench(tmp_path, FILES)
    write(bench.path, {"d/local.env": "secret\n", "d/e/mine/1": "data\n"})
    old, new = bench.main, bench.merged(remove=FOLDER_GOES)
    assert land(bench, old, new) == Landed(new)
    assert {"d/local.env": b"secret\n", "d/e/mine/1": b"data\n"}.items() <= listing(bench.path).items()
    assert "d/x" not in listing(bench.path)


def test_folder_without_anything_of_the_persons_becomes_a_file(tmp_path):
    bench = a_bench(tmp_path, FILES)
    (bench.path / "d/empty").mkdir()
    old, new = bench.main, bench.merged({"d": "now a file\n"}, remove=FOLDER_GOES)
    assert land(bench, old, new) == Landed(new)
    assert (bench.path / "d").read_text() == "now a file\n"
    assert git(bench.path, "status", "--porcelain") == ""


def test_file_that_only_changes_its_case_is_no_obstacle_to_itself(tmp_path):
    write(tmp_path, {"Folder/Name": "x"})
    os.link(tmp_path / "Folder/Name", tmp_path / "Folder/name")  # as where the file system folds case: one file
    assert Obstacles(tmp_path, {"Folder/Name": "D", "Folder/name": "A"}, frozenset()).find(9) == ()
    assert Obstacles(tmp_path, {"Folder/name": "A"}, frozenset()).find(9) == ("Folder/name",)


def appears_at_a_new_path(path):
    write(path, {"local.env": "secret\n"})
    return "local.env"


def appears_in_a_folder_that_becomes_a_file(path):
    write(path, {"d/mine/1": "secret\n"})
    return "d/mine/1"


def appears_as_the_parent_of_a_new_path(path):
    write(path, {"mine": "secret\n"})
    return "mine"


def link_appears_as_the_parent_of_a_new_path(path):
    (path / "mine").symlink_to(path.parent)
    return "mine"


@pytest.mark.parametrize(
    ("appears", "at"),
    [
        (appears_in_a_folder_that_becomes_a_file, "read-tree -m -u"),
        (appears_at_a_new_path, "checkout-index -u"),
        (appears_in_a_folder_that_becomes_a_file, "checkout-index -u"),
        (appears_as_the_parent_of_a_new_path, "checkout-index -u"),
        (link_appears_as_the_parent_of_a_new_path, "checkout-index -u"),
    ],
)
def test_ignored_file_that_appears_after_the_last_look_stays_and_holds_the_landing(tmp_path, appears, at):
    bench = a_bench(tmp_path, FILES)
    files = {"file": "changed\n", "a-new": "1\n", "local.env": "l\n", "d": "now a file\n", "mine/deep/new": "n\n"}
    old, new = bench.main, bench.merged(files, remove=FOLDER_GOES)
    before = listing(bench.path)
    child = landing_that_pauses(tmp_path, bench, old, new, at, 1)
    path = appears(bench.path)
    theirs = {path: listing(bench.path)[path]}
    write(tmp_path, {"go": ""})
    assert child.communicate()[0] == "Blocked\n"
    assert (listing(bench.path), bench.main, left(bench.path)) == (before | theirs, old, set())
    assert git(bench.path, "status", "--porcelain", "--untracked-files=no") == ""
