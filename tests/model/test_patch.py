"""A patch of git's, taken apart: a line is known by where it stands, not by how it begins."""

import subprocess

import pytest

from noface.model.patch import ChangedLine, changed_lines, patch_files
from noface.recovery.lacking import new_names

HEAD = "diff --git a/q.sql b/q.sql\nindex 1..2 100644\n--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@ def query():\n"


@pytest.fixture
def repository(tmp_path):
    def git(*words):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=tmp_path, check=True,
                              capture_output=True, text=True).stdout  # fmt: skip

    git("init", "-q")
    return tmp_path, git


def test_a_line_in_a_hunk_is_no_name_of_a_file():
    patch = f"{HEAD}--- a/old.py\n+++ b/new.py\n"
    (file,) = patch_files(patch)
    assert (file.old, file.new) == ("q.sql", "q.sql")
    assert [(line.path, line.removed, line.text) for line in changed_lines(patch)] == [
        ("q.sql", True, "-- a/old.py"),
        ("q.sql", False, "++ b/new.py"),
    ]


def test_a_comment_of_sql_that_goes_counts_as_gone():
    patch = f"{HEAD}--- counted_twice\n+-- counted_once\n"
    assert "counted_once" in new_names(patch)
    assert "counted_twice" not in new_names(f"{patch}+x = counted_twice\n")


def test_what_git_writes_of_names_modes_and_missing_ends_is_read(repository):
    folder, git = repository
    (folder / "gone.txt").write_text("a\n")
    (folder / "old.txt").write_text("one\ntwo\nthree\nfour\n")
    git("add", ".")
    git("commit", "-qm", "start")
    (folder / "gone.txt").unlink()
    (folder / "old.txt").rename(folder / "ünder.txt")
    (folder / "ünder.txt").write_text("one\nTWO\nthree\nfour")
    (folder / "empty").touch()
    git("add", ".")
    files = {file.named: file for file in patch_files(git("diff", "--cached", "-M20%"))}
    assert (files["gone.txt"].old, files["gone.txt"].new) == ("gone.txt", "")
    assert "empty" in files
    assert files["empty"].rows == ()
    renamed = next(file for file in files.values() if file.old == "old.txt")
    assert renamed.new == "ünder.txt"
    assert [row.sign for row in renamed.rows] == ["@", " ", "-", "+", " ", "-", "+"]


def test_an_added_stretch_has_the_number_after_the_removed_one_that_it_replaces():
    lines = list(changed_lines(f"{HEAD}-a\n-b\n+c\n d\n+e\n"))
    first = lines[0].stretch
    assert [line.stretch - first for line in lines[:3]] == [0, 0, 1]
    assert lines[3].stretch > first + 2
    assert lines[2] == ChangedLine("q.sql", False, "c", first + 1)
