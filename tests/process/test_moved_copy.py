"""A folder that is copied to another place names that place, in whatever form its files did."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.cases import cases

from noface.process.moved_copy import BoundToPlaceError, Relocation, copy_moved


def moved(tmp_path, content, old="from-here", new="over-here"):
    """Copy a folder with one file from `old` to `new`, and return the copy's file."""
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    source, target = folder / old, folder / new
    source.mkdir()
    target.mkdir()
    (source / "kept").mkdir()
    (source / "kept/file").write_bytes(content.replace(b"@", os.fsencode(source)))
    copy_moved(source / "kept", target / "kept", Relocation.between(source, target))
    return target / "kept/file"


@cases(
    "content",
    [
        b"#!@/.venv/bin/python\nimport x\n",
        b'{"url": "file://@", "editable": true}',
        b"\x7fELF\0\0\0rpath=@/lib:@/lib64\0rest",
        b"\xe3\x00\x00@/x.py\x00",
        b"nothing of it",
        b"",
        b"x" * (9 << 20) + b"@/far" + b"\0" * 5000 + b"@",
    ],
    lambda content: content[:12],
)
def test_what_names_its_place_names_the_new_one_and_nothing_else_moves(tmp_path, content):
    file = moved(tmp_path, content)
    assert file.read_bytes() == content.replace(b"@", os.fsencode(file.parents[1]))


@cases(
    ("content", "new"),
    [
        (b"PK\x03\x04 @ ", "over-here"),
        (b"#!@/bin/x", "somewhere-else"),
        (b"PK\x03\x04" + b"x" * (9 << 20) + b"@", "over-here"),
    ],
    lambda value: value[:4],
)
def test_what_cannot_name_another_place_is_refused(tmp_path, content, new):
    with pytest.raises(BoundToPlaceError):
        moved(tmp_path, content, new=new)


def test_paths_of_another_length_are_no_hindrance_where_nothing_names_them(tmp_path):
    assert moved(tmp_path, b"free", new="somewhere-else").read_bytes() == b"free"


def test_a_place_behind_a_link_is_named_by_both_of_its_names(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    (real / "old/kept").mkdir(parents=True)
    (real / "new").mkdir()
    link.symlink_to(real)
    (real / "old/kept/file").write_text(f"{link}/old/x {real}/old/x")
    copy_moved(link / "old/kept", link / "new/kept", Relocation.between(link / "old", link / "new"))
    assert (real / "new/kept/file").read_text() == f"{link}/new/x {real}/new/x"


def test_a_copy_has_modes_times_and_links_and_shares_no_file(tmp_path):
    source, target = tmp_path / "a", tmp_path / "b"
    (source / "in").mkdir(parents=True)
    tool = source / "in/tool"
    tool.write_text("old")
    tool.chmod(0o755)
    os.utime(tool, ns=(1, 1_000_000_007))
    os.link(tool, source / "twin")
    (source / "inner").symlink_to("in/tool")
    (source / "whole").symlink_to(tool)
    (source / "outer").symlink_to("/usr/bin/env")
    os.mkfifo(source / "pipe")
    (source / "in").chmod(0o555)
    copy_moved(source, target, Relocation.between(source, target))
    (target / "twin").write_text("new")
    copy = target / "in/tool"
    assert (copy.stat().st_mode & 0o777, copy.stat().st_mtime_ns, copy.read_text()) == (0o755, 1_000_000_007, "old")
    assert tool.read_text() == "old"
    links = [str((target / name).readlink()) for name in ("inner", "whole", "outer")]
    assert links == ["in/tool", str(copy), "/usr/bin/env"]
    assert ((target / "in").stat().st_mode & 0o777, (target / "pipe").exists()) == (0o555, False)
    (source / "in").chmod(0o755)
    (target / "in").chmod(0o755)


def test_a_virtual_environment_works_at_its_new_place_and_takes_no_compiled_file_for_stale(tmp_path):
    old, new = tmp_path / "from-here", tmp_path / "over-here"
    for place in (old, new):
        (place / "pkg").mkdir(parents=True)
        (place / "pkg/__init__.py").write_text("")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--copies", old / ".venv"], check=True)
    packages = next((old / ".venv").glob("lib/python*/site-packages"))
    # As setuptools writes it where the packages lie at the top: a module that Python reads at each start.
    finder = "import sys, importlib.util as u\ndef install():\n    import importlib\n    sys.path.append(MAP)\n"
    (packages / "finder.py").write_text(f"MAP = {str(old)!r}\n{finder}")
    (packages / "pkg.pth").write_text("import finder; finder.install()\n")
    said = "import sys, pkg, finder; print(sys.prefix, pkg.__file__, finder.install.__code__.co_filename)"
    subprocess.run([old / ".venv/bin/python", "-c", said], check=True, stdout=subprocess.DEVNULL, cwd="/")
    copy_moved(old / ".venv", new / ".venv", Relocation.between(old, new))
    before = {path: path.stat() for path in (new / ".venv").rglob("*") if path.is_file()}
    out = subprocess.run(
        [new / ".venv/bin/python", "-c", said], check=True, capture_output=True, text=True, cwd="/"
    ).stdout.split()
    assert out == [
        str(Path(new, ".venv")),
        f"{new}/pkg/__init__.py",
        str(new / packages.relative_to(old) / "finder.py"),
    ]
    assert {path: path.stat().st_mtime_ns for path in (new / ".venv").rglob("*") if path.is_file()} == {
        path: status.st_mtime_ns for path, status in before.items()
    }


def test_a_copy_that_is_stopped_ends_with_the_next_folder(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    with pytest.raises(InterruptedError):
        copy_moved(tmp_path / "a", tmp_path / "c", Relocation((), lambda: True))
