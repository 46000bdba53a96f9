"""Text as a terminal may have it: nothing that an issue, an agent or a test wrote can drive the terminal.

Lengths are in cells, the columns of a terminal: a Chinese character takes two.
"""

import re

from noface.model.quoting import in_dollars, printable_lines, to_the_point

_ELLIPSIS = "…"


def clean(text: str) -> str:
    """Return `text` as one printable line: line ends become blanks, escape sequences vanish.

    Blanks inside a line stay as they are: what is copied of a command has to be that command.
    """
    return " ".join(line.strip() for line in printable_lines(text).splitlines() if line.strip())


def cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fit(text: str, room: int) -> str:
    if cells(text) <= room:
        return text
    return _pieces(text, max(room - 1, 1))[0].rstrip() + _ELLIPSIS


def pad(text: str, room: int) -> str:
    fitted = fit(text, room)
    return fitted + " " * (room - cells(fitted))


def wrapped(text: str, room: int, rows_max: int = 1000) -> list[str]:
    """Break one cleaned line into rows of at most `room` cells, at blanks where possible.

    Blanks inside a row stay as they are. Words with a slash stay whole, since half a path or address is of no use. What
    goes beyond `rows_max` is cut.
    """
    if (whole := text.rstrip()) and cells(whole) <= room:
        return [whole]
    rows: list[str] = []
    row = ""
    for blanks, word in re.findall(r"(\s*)(\S+)", text.rstrip()):
        if row and cells(row + blanks + word) > room:
            rows.append(row)
            row = ""
        *full, last = _pieces(word, room) if "/" not in word else [word]
        rows += full
        apart = row or (not rows and cells(blanks + last) <= room)
        row += blanks + last if apart else last
    if row:
        rows.append(row)
    if len(rows) > rows_max:
        rows = rows[:rows_max]
        last = fit(rows[-1], room - 2)
        rows[-1] = last if last.endswith(_ELLIPSIS) else f"{last} {_ELLIPSIS}"
    return rows


def hanging(text: str, room: int, first: str = "", rest: str | None = None, rows_max: int = 1000) -> list[str]:
    indent = " " * cells(first) if rest is None else rest
    rows = wrapped(clean(text), max(room - max(cells(first), cells(indent)), 20), rows_max)
    return [(indent if number else first) + row for number, row in enumerate(rows)]


def pointed(line: str, room: int, rows_max: int) -> list[str]:
    """Break a cleaned line into at most `rows_max` rows; of a longer one the beginning and what is wrong are kept."""
    chars = max(room * rows_max * len(line) // max(cells(line), 1), 1)
    tries = (wrapped(to_the_point(line, chars * part // 8), room) for part in (8, 7, 6, 5, 4))
    return next((rows for rows in tries if len(rows) <= rows_max), wrapped(line, room, rows_max))


def count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def money(dollars: float | None) -> str:
    return "" if dollars is None else in_dollars(dollars)


def duration(seconds: float) -> str:
    """Return a duration in its two largest units."""
    whole = max(int(seconds), 0)
    if whole < 10:  # noqa: PLR2004 - tenths matter only below
        return f"{max(seconds, 0.0):.1f}s"
    for size, unit, part, lower in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "m"), (60, "m", 1, "s")):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size}{unit} {rest}{lower}" if rest else f"{whole // size}{unit}"
    return f"{whole}s"


def size(count_bytes: int) -> str:
    amount = float(count_bytes)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:  # noqa: PLR2004 - decimal units
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"  # noqa: PLR2004 - two digits
        amount /= 1000
    return f"{amount:.1f} GB"


def moment(at: float, now: float) -> str:
    """Return a time as people say it: the clock today and for half a day back, else with the date."""
    import time

    try:
        there, here = time.localtime(at), time.localtime(now)
        if at > now:
            shape = "%H:%M" if there[:3] == here[:3] else "%a %Y-%m-%d %H:%M"
        else:
            shape = "%H:%M" if now - at < 43_200 else "%Y-%m-%d %H:%M"  # noqa: PLR2004 - half a day
        return time.strftime(shape, there)
    except (OverflowError, OSError, ValueError):
        return "a far day"


def _pieces(text: str, room: int) -> list[str]:
    if text.isascii():
        return [text[at : at + room] for at in range(0, len(text), room)] or [""]
    from rich.cells import chop_cells

    return chop_cells(text, room) or [""]
