"""Which files a program reads, as the file system notes it."""

import subprocess
import sys

import pytest

from noface.process.reads import Reads, forget_reads, notes_reads, reads_since


@pytest.mark.parametrize(
    "command",
    [
        ["cat", "a"],
        ["bash", "-c", "read -n1 line < a"],
        [sys.executable, "-c", "import mmap; f = open('a'); mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)[0]"],
    ],
)
def test_what_a_program_reads_is_told_from_what_it_leaves(tmp_path, command):
    assert notes_reads(tmp_path), "tests need a file system that notes reads"
    for name in ("a", "b"):
        (tmp_path / name).write_text("text")
        (tmp_path / name).read_text()
    (tmp_path / "link").symlink_to("b")
    forget_reads(tmp_path, ("a", "b", "link", "gone"))
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert reads_since(tmp_path, ("a", "b", "gone")) == Reads(frozenset({"a", "gone"}), frozenset({"b"}))


def test_what_was_left_unread_tells_nothing_of_another_tree():
    reads = Reads(frozenset({"a"}), frozenset({"b"}), "one")
    assert reads.on("one") == reads
    assert reads.on("two") == Reads(frozenset({"a"}), tree="one")
    assert (reads.noted, Reads(tree="one").noted) == (True, False)


def test_looking_at_a_folder_and_at_what_files_are_is_no_reading(tmp_path):
    (tmp_path / "a").write_text("text")
    forget_reads(tmp_path, ("a",))
    subprocess.run(["ls", "-l"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert reads_since(tmp_path, ("a",)).unread == {"a"}
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
