"""What a change does beyond what was asked, row by row: found, put right, and not found where it is the work."""

import pytest

from noface.data import table
from noface.integrity.unasked.chapters import find_unasked
from noface.integrity.unasked.finding import Changed, Ground
from noface.model.issue import Issue

FILE, PROGRAM, LINK, SUBMODULE, NONE = "100644", "100755", "120000", "160000", "000000"


def found(*files, says="Add a count of items", main=()):
    """Return what is found in files: (path, old, new) or (path, old, new, old mode, new mode)."""
    held = {path: (FILE, data) for path, data in dict(main).items()}
    modes = [(NONE if old is None else FILE, NONE if new is None else FILE) for _, old, new, *_ in files]
    changed = [Changed(*file, *(() if len(file) > 3 else mode)) for file, mode in zip(files, modes, strict=True)]
    on_main = {*held, *(file.path for file in changed if file.old is not None)}
    issue = Issue(id="1", title="Do it", body=says)
    ground = Ground(issue, on_main, lambda texts: [p for p, (_, data) in held.items() if any(t.encode() in data for t in texts)], held.get)  # fmt: skip
    return find_unasked(changed, ground)


@pytest.mark.parametrize("row", table("unasked")["rows"])
def test_every_row_says_what_it_is_and_what_comes_of_it(row):
    entry = table("unasked")["rows"][row]
    assert entry.keys() - {"asked"} == {"what", "mend", "then"}
    assert entry["then"] in ("left-out", "ask", "tell")


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
