"""The table tells right cells from wrong ones, from those that cannot be had, and from those that no test has shown."""

import pytest
from cells import COLUMNS, Found, Table, page, rows


def found(*, without=(), **changes):
    """Return every cell as right, but those `without` one, and what is changed of claude's first."""
    cells = [(row.name, column) for row in rows() for column in COLUMNS if column not in row.none]
    every = [Found(*cell, seen="PASSED → merged") for cell in cells if cell not in without]
    return [Found(**(vars_of(each) | changes)) if n == 0 else each for n, each in enumerate(every)]


def vars_of(each):
    return {name: getattr(each, name) for name in ("row", "column", "seen", "wrong", "skipped")}


def test_a_table_is_whole_if_every_cell_is_right_or_has_its_reason():
    table = Table(found())
    assert table.whole
    assert table.right + table.reasoned == len(rows()) * len(COLUMNS)


@pytest.mark.parametrize(
    ("changes", "cell"), [({"wrong": "printed\nassert 1 == 2"}, "✗ 1"), ({"skipped": "no node"}, "– 1")]
)
def test_what_is_wrong_or_missing_stands_in_its_cell_with_a_note(changes, cell):
    table = Table(found(**changes))
    assert table.lines()[1].split()[:3] == ["success", *cell.split()]
    assert table.whole is ("skipped" in changes)
    assert ("assert 1 == 2" in "\n".join(table.lines())) is ("wrong" in changes)


def test_a_cell_that_no_test_has_shown_is_not_right():
    table = Table(found(without=[("hang", "mini")]))
    assert not table.whole
    assert next(line for line in table.lines() if line.startswith("hang")).endswith("?")


def test_table_and_page_are_not_wider_than_80_columns():
    table = Table(found(wrong="one word after the other " * 20))
    text = page(table, ["claude 2.1.330, as tested"], "2026-11-22", "here")
    assert max(map(len, text.splitlines())) <= 80
    assert "claude: PASSED → merged" in text


def test_a_cell_of_no_row_is_refused():
    with pytest.raises(AssertionError, match=r"not in cells\.toml"):
        Table([Found("sucess", "claude")])
