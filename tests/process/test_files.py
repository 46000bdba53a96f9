"""Atomic writes, appended lines, and bounded reads."""

import os
import stat
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from noface.process.files import read_bounded, write_atomic


def test_text_is_written_as_utf8_and_bytes_as_they_are(tmp_path):
    write_atomic(tmp_path / "a", "grün\n")
    assert (tmp_path / "a").read_bytes() == "grün\n".encode()
    write_atomic(tmp_path / "a", b"\xff\x00", durable=False)
    assert (tmp_path / "a").read_bytes() == b"\xff\x00"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_permissions_of_the_file_are_kept(tmp_path):
    (tmp_path / "a").touch(mode=0o640)
    write_atomic(tmp_path / "a", "new")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_symbolic_link_is_replaced_and_its_target_untouched(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_atomic(tmp_path / "link", "new")
    assert (tmp_path / "target").read_text() == "old"
    assert (tmp_path / "link").read_text() == "new"
    assert not (tmp_path / "link").is_symlink()


def test_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "a").write_text("old")
    script = """
import resource, signal, sys
from pathlib import Path
from noface.process.files import write_atomic
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
write_atomic(Path(sys.argv[1]), "x" * 5000)
"""
    ended = subprocess.run([sys.executable, "-c", script, tmp_path / "a"], check=False, capture_output=True, text=True)
    assert "File too large" in ended.stderr
    assert (tmp_path / "a").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_reader_never_sees_a_part(tmp_path):
    path = tmp_path / "a"
    contents = [letter * 200_000 for letter in "abcd"]
    write_atomic(path, contents[0])
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: [write_atomic(path, each, durable=False) for each in contents * 20])
        while not writing.done():
            assert path.read_text() in contents
        writing.result()


def test_middle_that_was_left_out_is_counted(tmp_path):
    (tmp_path / "a").write_text("head" + "x" * 100 + "tail")
    assert read_bounded(tmp_path / "a", 4, 4) == "head\n[… 100 bytes left out …]\ntail"


def test_single_line_of_100_megabytes_is_read_in_little_memory(tmp_path):
    with (tmp_path / "big").open("wb") as file:
        file.write(b"start")
        file.truncate(100_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"end")
    tracemalloc.start()
    try:
        read = read_bounded(tmp_path / "big", 1000, 1000)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert read.startswith("start")
    assert read.endswith("end")
    assert "[… 99998003 bytes left out …]" in read
    assert peak_bytes < 1_000_000


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path):
        with pytest.raises(OSError, match="not a regular file"):
            read_bounded(path, 10, 10)
    with pytest.raises(FileNotFoundError):
        read_bounded(tmp_path / "none", 10, 10)
