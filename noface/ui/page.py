"""Puts lines and JSON on standard output: the terminal's width, colours where they are wanted, whole characters."""

import io
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer

from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_USAGE
from noface.model.finding import Finding
from noface.model.quoting import printable_lines
from noface.ui.text import clean, fit, hanging, pointed

WIDTH_MIN, WIDTH_MAX = 40, 120

_ROLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "quiet": {"dim": True},
    "good": {"fg": "green"},
    "bad": {"fg": "red"},
    "careful": {"fg": "yellow"},
    "active": {"fg": "cyan"},
}
_STATUS_ROLES = {
    "running": "active",
    "landing": "active",
    "review": "active",
    "merged": "good",
    "blocked": "bad",
    "faulty": "bad",
    "approval": "careful",
    "waiting": "careful",
}


def width() -> int:
    """Return the columns to write to: COLUMNS, else the terminal's, else 80; within sensible bounds."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, WIDTH_MIN), WIDTH_MAX)


def paint(text: str, role: str) -> str:
    """Colour a text by what it means, a role of this module or an issue's status, for a terminal that knows colours."""
    style = _ROLES.get(_STATUS_ROLES.get(role, role))
    wanted = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return typer.style(text, **style) if style and text and wanted else text


def painted(rows: Iterable[str], role: str) -> list[str]:
    return [paint(row, role) for row in rows]


def advised(text: str, advice: str, room: int) -> list[str]:
    rows = hanging(text, room, "  ", "    ")
    return [*rows, *painted(hanging(advice, room, "    → ", "      "), "quiet")] if advice else rows


def quoted(text: str, room: int, indent: str, lines_max: int | None = None, rows_max: int = 1) -> Iterator[str]:
    """Yield what somebody wrote behind a bar, cleaned; of many lines the first `lines_max`.

    A line is cut to `room`; if it may take several rows, `rows_max`, what it says is wrong is kept.
    """
    bar = f"{indent}│ "
    lines = [line for line in printable_lines(text).splitlines() if line.strip()]
    for line in lines[:lines_max]:
        rows = pointed(line, room - len(bar), rows_max) if rows_max > 1 else [fit(line, room - len(bar))]
        yield from (paint(bar + row, "quiet") for row in rows)
    if lines_max is not None and len(lines) > lines_max:
        yield paint(f"{indent}│ … {len(lines) - lines_max} more lines: --json has all", "quiet")


_ROWS_MAX = 6


def message_lines(message: str, room: int) -> list[str]:
    return [f"  {row}" for row in pointed(clean(message), room - 2, _ROWS_MAX)]


def evidence_lines(
    evidence: Sequence[str], message: str, room: int, indent: str = "  ", lines_max: int | None = None
) -> Iterator[str]:
    """Yield the lines that decided; those that the message above them has already take a single row each."""
    lines = [line for line in printable_lines("\n".join(evidence)).splitlines() if line.strip()]
    rows_max = 1 if all(clean(line) in clean(message) for line in lines) else _ROWS_MAX
    yield from quoted("\n".join(lines), room, indent, lines_max, rows_max)


def show(lines: Iterable[str]) -> None:
    """Print lines; what the terminal's encoding lacks is shown as a question mark instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    text = "\n".join(line.rstrip() for line in lines)
    sys.stdout.write(text + "\n" if text else "")
    sys.stdout.flush()


def show_json(document: object) -> None:
    """Print a document of schema 1, a record or a dict, as one line of ASCII."""
    import json

    from noface.model.codec import shown

    sys.stdout.write(json.dumps({"schema": 1, **shown(document)}, separators=(", ", ": ")) + "\n")
    sys.stdout.flush()


_TITLES = {
    EXIT_USAGE: ("noface run would not start:", "bad"),
    EXIT_ATTENTION: ("This needs you:", "careful"),
    EXIT_DONE: ("Worth knowing:", "quiet"),
}


def finding_lines(findings: Sequence[Finding], width: int) -> Iterator[str]:
    for code, (title, role) in _TITLES.items():
        group = [finding for finding in findings if finding.exit_code == code]
        if group:
            yield paint(title, role)
        for finding in group:
            yield from advised(finding.text, finding.fix, width)
