"""What a change does beyond what was asked, row by row: found, put right, and not found where it is the work.

How often that is wrong on honest work (`benchmarks/unasked.py`): of the last 19,977 commits of 22 public projects (up to
1,000 of each, without merges, the message as the issue) 10 would be told (0.05 %): 9 move submodules by the way, one
makes a copy a link. Two would be asked about if they were done again. Put right without a word: 105 last newlines, 20
line ends, 8 byte order marks, 8 modes, one encoding, one link; most of them accidents that were mended later.
If anybody's home is taken for the person's own, 24 more would be told of a line that names it (0.12 %).
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.data import table
from noface.integrity.unasked.chapters import find_unasked
from noface.integrity.unasked.finding import Changed, Ground
from noface.model.issue import Issue

FILE, PROGRAM, LINK, SUBMODULE, NONE = "100644", "100755", "120000", "160000", "000000"


def found(*files, says="Add a count of items", main=(), machine=(), brought=()):
    """Return what is found in files: (path, old, new) or (path, old, new, old mode, new mode)."""
    held = {path: (FILE, data) for path, data in dict(main).items()}
    modes = [(NONE if old is None else FILE, NONE if new is None else FILE) for _, old, new, *_ in files]
    changed = [Changed(*file, *(() if len(file) > 3 else mode)) for file, mode in zip(files, modes, strict=True)]
    on_main = {*held, *(file.path for file in changed if file.old is not None)}
    issue = Issue(id="1", title="Do it", body=says)
    ground = Ground(issue, on_main, lambda texts: [p for p, (_, data) in held.items() if any(t.encode() in data for t in texts)], held.get, machine, lambda path: dict(brought).get(path, ()))  # fmt: skip
    return find_unasked(changed, ground)


@pytest.mark.parametrize("row", table("unasked")["rows"])
def test_every_row_says_what_it_is_and_what_comes_of_it(row):
    entry = table("unasked")["rows"][row]
    assert entry.keys() - {"asked", "named"} == {"what", "mend", "then"}
    assert entry["then"] in ("left-out", "ask", "tell", "say")


LATIN = "LABELS = {'café': 1, 'crème brûlée': 2, 'Straße': 3}\n\n\ndef total(prices):\n    return sum(prices)\n"


def lossy(text):
    return text.encode("latin-1").decode("utf-8", "replace").encode()


@pytest.mark.parametrize(
    ("new", "right"),
    [
        (lossy(LATIN) + b"def count(): pass\n", LATIN.encode("latin-1") + b"def count(): pass\n"),
        (lossy(LATIN.replace("2", "4")), LATIN.replace("2", "4").encode("latin-1")),
        (lossy(LATIN.replace("'crème brûlée': 2, ", "")), LATIN.replace("'crème brûlée': 2, ", "").encode("latin-1")),
    ],
)
def test_letters_that_an_edit_tool_could_not_decode_are_put_back_beside_the_work(new, right):
    [one] = found(("a.py", LATIN.encode("latin-1"), new))
    assert (one.row, one.right) == ("undecodable", {"a.py": ("", right)})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (LATIN.encode(), LATIN.encode() + b'LOST = "\xef\xbf\xbd"\n'),
        (LATIN.encode("latin-1"), LATIN.encode("latin-1") + b"x = 1\n"),
        ("LOST = '\ufffd'\n".encode() + b"\xe9\n", "LOST = '\ufffd'\n\n".encode() + b"\xe9\n"),
    ],
)
def test_a_file_whose_letters_are_all_there_lost_none(old, new):
    assert found(("a.py", old, new)) == ()


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\xff"


def wide_lossy(text):
    return text.encode("utf-16").decode("utf-8", "replace").encode()


CRLF = b"a = 1\r\nb = 2\r\n"
UTF8 = LATIN.encode()
WORK = "def count(): pass\n"


@pytest.mark.parametrize(
    ("row", "old", "new", "right"),
    [
        ("transcoded", LATIN.encode("latin-1"), (LATIN + WORK).encode(), (LATIN + WORK).encode("latin-1")),
        ("transcoded", UTF8, (LATIN + WORK).encode("latin-1"), (LATIN + WORK).encode()),
        ("transcoded", UTF8, (LATIN.encode().decode("latin-1") + WORK).encode(), (LATIN + WORK).encode()),
        ("transcoded", "один\nдва\n".encode("cp1251"), "один\nдва\nx\n".encode(), "один\nдва\nx\n".encode("cp1251")),
        ("transcoded", "日本\n".encode("shift_jis"), "日本\nx\n".encode(), "日本\nx\n".encode("shift_jis")),
        ("transcoded", "a\nb\n".encode("utf-16"), b"a\nb\nc\n", "a\nb\nc\n".encode("utf-16")),
        ("transcoded", b"a\nb\n", "a\nb\nc\n".encode("utf-16"), b"a\nb\nc\n"),
        ("unencodable", UTF8, (LATIN + WORK).encode("ascii", "replace"), (LATIN + WORK).encode()),
        ("unencodable", UTF8 * 2, (LATIN * 2 + WORK).encode("ascii", "ignore"), (LATIN * 2 + WORK).encode()),
        ("byte-order-mark", b"\xef\xbb\xbfa\n", b"a\nb\n", b"\xef\xbb\xbfa\nb\n"),
        ("byte-order-mark", b"a\n", b"\xef\xbb\xbfa\nb\n", b"a\nb\n"),
        ("line-ends", CRLF, CRLF.replace(b"\r", b"") + b"c = 3\n", CRLF + b"c = 3\r\n"),
        ("line-ends", CRLF, CRLF + b"c = 3\n", CRLF + b"c = 3\r\n"),
        ("line-ends", b"a\nb\n", b"a\r\nb\r\nc\r\n", b"a\nb\nc\n"),
        ("last-newline", b"a\n", b"a\nb", b"a\nb\n"),
        ("last-newline", CRLF, CRLF + b"c = 3", CRLF + b"c = 3\r\n"),
        ("nul", b"a\nb\n", b"a\nb\nc\n\0\0\0", b"a\nb\nc\n"),
        ("nul", b"a\nb\n", b"a\n\0b\n", None),
        ("nul", b"a\nb\n", b"\0\0\0\0", None),
        ("undecodable", "a\nb\n".encode("utf-16"), wide_lossy("a\nb\nc\n"), "a\nb\nc\n".encode("utf-16")),
        ("undecodable", PNG, PNG.decode("utf-8", "replace").encode(), PNG),
        ("undecodable", PNG, PNG.decode("utf-8", "replace").encode() + b"x", None),
    ],
)
def test_what_a_tool_makes_of_bytes_is_undone_and_the_work_beside_it_stays(row, old, new, right):
    one, *others = found(("a.txt", old, new))
    assert one.row == row
    assert all(other.right == one.right for other in others)
    assert one.right == ({} if right is None else {"a.txt": ("", right)})


def test_all_that_one_tool_makes_of_a_file_is_undone_together():
    """Python's `open(encoding="utf-8-sig")` loses the mark and the line ends; `strip()` the last of them."""
    old, new = b"\xef\xbb\xbf" + CRLF, b"a = 1\nb = 2\nc = 3"
    rows = {one.row: one.right for one in found(("a.py", old, new))}
    right = {"a.py": ("", b"\xef\xbb\xbf" + CRLF + b"c = 3\r\n")}
    assert rows == dict.fromkeys(("byte-order-mark", "line-ends", "last-newline"), right)
    asked = found(("a.py", old, new), says="Give it LF line endings")
    assert {one.row: one.right["a.py"][1] for one in asked} == dict.fromkeys(
        ("byte-order-mark", "last-newline"), b"\xef\xbb\xbfa = 1\nb = 2\nc = 3\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (UTF8, LATIN.encode("latin-1"), "Convert the labels to latin-1"),
        (CRLF, CRLF.replace(b"\r", b""), "Normalise line endings"),
        (CRLF, b"x = 1\r\n", ""),
        (b"a\r\nb\nc\n", b"a\nb\nc\n", ""),
        (b"\x89PNG\r\n\0\1", b"\x89PNG\r\n\0\2\n\0", ""),
        (UTF8, UTF8.replace("é".encode(), b"e"), ""),
        (b"", b"\0\0", ""),
    ],
)
def test_bytes_that_the_issue_speaks_of_or_that_are_the_work_are_no_finding(old, new, says):
    assert found(("a.txt", old, new), says=says or "Add a count") == ()


LINK_OF = ("docs/a.md", b"../etc/a.md")
MAIN = {"etc/a.md": b"a\n", "shared/b.md": b"b\n"}


@pytest.mark.parametrize(
    ("row", "files", "right"),
    [
        ("mode", [("run.sh", b"#!/bin/sh\n", b"#!/bin/sh\necho\n", PROGRAM, FILE)], {"run.sh": (PROGRAM, None)}),
        ("mode", [("a.md", b"a\n", b"a\nb\n", FILE, PROGRAM)], {"a.md": (FILE, None)}),
        ("mode", [("__init__.py", b"", b"", FILE, PROGRAM)], {"__init__.py": (FILE, None)}),
        ("link", [(*LINK_OF, b"a\nb\n", LINK, FILE)], {"docs/a.md": (LINK, LINK_OF[1]), "etc/a.md": ("", b"a\nb\n")}),
        ("link", [(*LINK_OF, b"a\n", LINK, FILE)], {"docs/a.md": (LINK, LINK_OF[1])}),
        ("link", [(*LINK_OF, LINK_OF[1], LINK, FILE)], {"docs/a.md": (LINK, LINK_OF[1])}),
        ("link", [(*LINK_OF, b"x\n", LINK, FILE), ("etc/a.md", b"a\n", b"y\n", FILE, FILE)], {}),
        ("link", [("docs/a.md", b"/etc/hosts", b"x\n", LINK, FILE)], {}),
        (
            "link",
            [("docs", b"shared", None, LINK, NONE), ("docs/b.md", None, b"b\nc\n", NONE, FILE)],
            {"docs": (LINK, b"shared"), "docs/b.md": None, "shared/b.md": (FILE, b"b\nc\n")},
        ),
        ("became-link", [("a.md", b"a\n", b"etc/a.md", FILE, LINK)], {}),
        ("submodule", [("lib", b"1" * 40, b"2" * 40, SUBMODULE, SUBMODULE)], {"lib": (SUBMODULE, b"1" * 40)}),
        ("submodule", [("lib", b"1" * 40, None, SUBMODULE, NONE), ("lib/a.c", None, b"a\n", NONE, FILE)], {}),
        ("became-folder", [("conf", b"a\n", None, FILE, NONE), ("conf/x", None, b"a\n", NONE, FILE)], {}),
    ],
)
def test_a_file_keeps_its_kind_and_its_mode(row, files, right):
    [one] = found(*files, main=MAIN)
    assert (one.row, one.right) == (row, right)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ([("run.sh", b"echo\n", b"#!/bin/sh\necho\n", FILE, PROGRAM)], ""),
        ([("run.sh", b"#!/bin/sh\n", b"#!/bin/sh\n\n", PROGRAM, FILE)], "run.sh need not be executable"),
        ([("a.md", b"a\n", b"b\n", PROGRAM, FILE)], ""),
        ([("run.sh", b"#!/bin/sh\n", b"#!/bin/sh\n", FILE, PROGRAM), ("a.md", b"", b"")], "run.sh is refused"),
        ([("run.sh", CRLF, CRLF.replace(b"\r", b""), FILE, FILE)], "`run.sh`: bad interpreter"),
        ([("a.json", b"\xef\xbb\xbf{}\n", b"{}\n", FILE, FILE)], "a.json: unexpected token"),
        ([(*LINK_OF, b"a\n", LINK, FILE)], "Replace the symlink docs/a.md by a copy"),
        ([(*LINK_OF, None, LINK, NONE)], ""),
        ([("lib", b"1" * 40, b"2" * 40, SUBMODULE, SUBMODULE)], "Move lib to its newest commit"),
    ],
)
def test_kinds_and_modes_that_the_issue_speaks_of_are_its_work(files, says):
    assert found(*files, says=says or "Add a count", main=MAIN) == ()


LOCK = b'"resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz",\n'
HERE = b'"resolved": "http://127.0.0.1:4873/%s/-/%s-1.0.0.tgz",\n'
MADE = b"// Code generated by gen.py from api.json. DO NOT EDIT.\nA = 1\n"


@pytest.mark.parametrize(
    ("old", "new", "right"),
    [
        (LOCK, HERE % (b"a", b"a") + HERE % (b"b", b"b"), LOCK + LOCK.replace(b"a/-/a", b"b/-/b")),
        (LOCK, LOCK + HERE % (b"b", b"b"), None),
        (LOCK, LOCK.replace(b"registry.npmjs.org", b"npm.corp.internal/repo"), LOCK),
    ],
)
def test_a_lock_file_names_no_registry_that_only_this_machine_reaches(old, new, right):
    [one] = found(("package-lock.json", old, new))
    assert (one.row, one.right) == ("registry", {} if right is None else {"package-lock.json": ("", right)})
    assert found(("package-lock.json", old, new), says="Use our own registry") == ()
    known = {".npmrc": b"registry=http://127.0.0.1:4873/\nx=npm.corp.internal\n"}
    assert found(("package-lock.json", old, new), main=known) == ()


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ([], True),
        ([("b.txt", b"b\n", b"c\n")], True),
        ([("api.json", b"1\n", b"2\n")], False),
        ([("tests/test_api.py", b"1\n", b"2\n")], True),
    ],
)
def test_what_says_that_it_is_generated_changes_with_its_source(rest, told):
    change = ("api.js", MADE, MADE.replace(b"1", b"2")), *rest
    main = {"api.json": b"1\n"}
    assert [one.row for one in found(*change, main=main)] == ["by-hand"] * told
    assert found(*change, says="Set A to 2 in api.js", main=main) == ()


def test_the_program_that_writes_a_file_is_not_its_source():
    change = "usage.txt", b"GENERATED by bin/usage.sh, do not edit\n1\n", b"GENERATED by bin/usage.sh, do not edit\n2\n"
    main = {"bin/usage.sh": b"grep USAGE lib.rs\n", "lib.rs": b"1\n"}
    assert [one.row for one in found(change, main=main)] == ["by-hand"]
    assert found(change, ("lib.rs", b"1\n", b"2\n"), main=main) == ()


SLOTS = "/home/ada/.cache/noface/shop-0123456789"


@pytest.mark.parametrize(
    "line", [f'ROOT = "{SLOTS}/agent-0"', f"CFLAGS = -I{SLOTS}/include", f"see file://{SLOTS}/x#top", "ada@laptop-7"]
)
def test_a_line_that_names_the_machine_is_told(line):
    [one] = found(("a.py", b"x = 1\n", f"x = 1\n{line}\n".encode()), machine=(SLOTS, "ada@laptop-7"))
    assert (one.row, one.lines) == ("machine", (line,))


@pytest.mark.parametrize(
    "files",
    [
        [("a.py", None, f"ROOT = '{SLOTS}9/agent-0'\n".encode())],
        [("a.py", f"A = '{SLOTS}/x'\n".encode(), f"A = '{SLOTS}/y'\n".encode())],
        [("a.py", f"A = '{SLOTS}/x'\n".encode(), None), ("b.py", None, f"A = '{SLOTS}/x'\n".encode())],
    ],
)
def test_lines_of_main_s_own_and_other_folders_name_no_machine(files):
    assert [one for one in found(*files, machine=(SLOTS,)) if one.row == "machine"] == []


_PIECES = st.sampled_from(
    [b"\n", b"\r\n", b"a", b"caf\xe9", b"\xef\xbf\xbd", b"\0", b"\xff\xfe", b"#!/bin/sh\n", b"do not edit\n", HERE]
)
_BYTES = st.none() | st.lists(_PIECES, max_size=8).map(b"".join)
_MODES = st.sampled_from([FILE, PROGRAM, LINK, SUBMODULE, NONE])
_PATHS = st.sampled_from(["a.py", "docs", "docs/a", "package-lock.json", "a.json"])


@given(st.lists(st.tuples(_PATHS, _BYTES, _BYTES, _MODES, _MODES), max_size=4, unique_by=lambda file: file[0]))
def test_whatever_files_hold_something_or_nothing_is_said_of_them(files):
    assert isinstance(found(*files, main=MAIN, machine=(SLOTS,)), tuple)


def test_what_the_work_adds_beside_lost_letters_is_told_and_mixed_into_no_encoding():
    [one] = found(("a.py", LATIN.encode("latin-1"), lossy(LATIN) + "MASS = 'Maß'\n".encode()))
    assert (one.row, one.right) == ("undecodable", {})


def test_ends_of_lines_come_back_with_a_wide_encoding_and_nul_bytes_that_are_gone_are_told():
    old = "\ufeffa = é\r\nb = ü\r\nc = ö\r\n".encode("utf-16-le")
    [one] = found(("a.rc", old, "a = é\nb = ü\nc = ö\nd = 1\n".encode()))
    assert one.right["a.rc"][1] == old + "d = 1\r\n".encode("utf-16-le")
    [one] = found(("table.dat", bytes(range(64)), bytes(range(1, 64))))
    assert (one.row, one.right) == ("nul", {})
