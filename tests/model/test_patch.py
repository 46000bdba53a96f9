"""A patch of git's, taken apart: a line is known by where it stands, not by how it begins."""

import subprocess

import pytest

from noface.gates.secrets import without_secrets
from noface.integrity.evasion import ASKS, evading_lines
from noface.model.patch import LINE_CHARS_MAX, ChangedLine, changed_lines, patch_files
from noface.recovery.lacking import new_names
from noface.secrets.masking import Masker

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


LONG = (
    "diff --git a/web/app.js b/web/app.js\nnew file mode 100644\n--- /dev/null\n+++ b/web/app.js\n@@ -0,0 +1 @@\n+{}\n"
)


def test_a_long_line_comes_in_pieces_that_overlap_and_hide_nothing():
    """Minified files are honest: in pieces nothing counts against them that did not in one line."""
    for size in (0, 1, LINE_CHARS_MAX, LINE_CHARS_MAX + 1, 3_600, 3_601, 360_000):
        line = "".join(chr(97 + at * at % 26) for at in range(size))
        texts = [each.text for each in changed_lines(LONG.format(line))]
        assert max(map(len, texts)) <= LINE_CHARS_MAX
        assert texts[0] + "".join(text[400:] for text in texts[1:]) == line


@pytest.mark.parametrize("column", [0, 1_990, 5_000, 350_000])
def test_neither_a_cheat_nor_a_key_hides_behind_a_column(column):
    key = "AKIA" + "Q7RZ2LXJ4M6VN3PB"  # in two pieces, so that no scanner takes this file for a leak
    patch = LONG.replace(
        "{}", "x;" * (column // 2) + f' if (process.env.NODE_ENV === "test") k("{key}");' + "x;" * 1_000
    )
    assert evading_lines(tuple(changed_lines(patch)), (ASKS,))
    assert key.encode() not in without_secrets(patch.encode(), Masker())
