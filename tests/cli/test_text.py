"""Text for terminals: nothing drives them, nothing is wider than it may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from noface.model.quoting import printable_lines
from noface.ui import text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;https://evil\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\text", "text"),
        ("a\tb \n\n  c", "a   b c"),
        ("grep 'a  b'  x", "grep 'a  b'  x"),
        ("nul\x00bel\x07", "nul�bel�"),
        ("\x9b31mred", "red"),
        ("user\u202egnp.exe", "user�gnp.exe"),
        ("half \ud83d pair", "half � pair"),
    ],
)
def test_clean_leaves_one_harmless_line(written, shown):
    assert text.clean(written) == shown


def test_a_block_keeps_its_lines_and_the_steps_of_a_progress_bar():
    assert printable_lines("10%\r20%\r\ndone\n") == "10%\n20%\ndone\n"


@given(st.text(st.characters(codec=None)))
def test_whatever_was_written_the_result_is_printable(written):
    assert not set(printable_lines(written)) & {chr(code) for code in (*range(10), *range(11, 32), *range(127, 160))}
    printable_lines(written).encode()


@given(st.text(st.sampled_from("ab ログ\u0301é")), st.integers(2, 30))
def test_a_fitted_text_is_never_wider_than_its_room(written, room):
    assert cell_len(text.fit(text.clean(written), room)) <= room
    assert cell_len(text.pad(text.clean(written), room)) == room


@given(st.text(st.sampled_from("abc  ログé"), max_size=200), st.integers(4, 40))
def test_wrapping_loses_nothing_and_keeps_to_the_width(written, room):
    line = text.clean(written)
    rows = text.wrapped(line, room)
    assert "".join(rows).replace(" ", "") == line.replace(" ", "")
    assert all(cell_len(row) <= room for row in rows)


def test_paths_stay_whole_when_lines_are_broken():
    assert text.wrapped("see src/a/very/long/path.py now", 10) == ["see", "src/a/very/long/path.py", "now"]


def test_rows_beyond_the_limit_are_cut_with_a_mark():
    assert text.wrapped("one two three four", 9, rows_max=1) == ["one two …"]


MAVEN = "[ERROR] Failed to execute goal on project cart: " + "com.acme:missing:jar:9 " * 40 + "Unknown host repo.org"


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (MAVEN, ("[ERROR] Failed to execute", "Unknown host repo.org")),
        (f'{{"at": "{"x" * 400}", "error": "disk quota exceeded", "frames": "{"y" * 900}"}}', ('{"at"', "disk quota")),
        (f"{'a ' * 500}the end", ("a a", "the end")),
        ("値" * 300 + " 失敗 の 理由", ("値値", "の 理由")),
    ],
)
@pytest.mark.parametrize("room", [20, 76])
def test_a_line_too_long_keeps_its_beginning_and_what_it_says_is_wrong(line, kept, room):
    rows = text.pointed(line, room, 4)
    assert len(rows) <= 4
    assert all(cell_len(row) <= room for row in rows)
    assert all(part in " ".join(rows) for part in kept) or room < 76


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0.0s"), (9.94, "9.9s"), (59.9, "59s"), (60, "1m"), (192, "3m 12s"), (7260, "2h 1m"), (90000, "1d 1h")],
)
def test_durations_have_two_units_at_most(seconds, shown):
    assert text.duration(seconds) == shown


@pytest.mark.parametrize(
    ("dollars", "shown"),
    [
        (None, ""),
        (0, "$0.00"),
        (0.001, "$0.001"),
        (0.05, "$0.05"),
        (0.00312, "$0.0031"),
        (0.00001, "<$0.0001"),
        (1.005, "$1.00"),
        (12.5, "$12.50"),
    ],
)
def test_money_is_dollars_and_cents(dollars, shown):
    assert text.money(dollars) == shown


@pytest.mark.parametrize(("number", "shown"), [(1, "1 B"), (999, "999 B"), (1500, "1.5 kB"), (2.5e9, "2.5 GB")])
def test_sizes_are_decimal(number, shown):
    assert text.size(number) == shown


def test_a_time_beyond_all_calendars_is_shown_somehow():
    assert text.moment(1e30, 0.0) == "a far day"
