"""The table agent × scenario: what the tests that are marked as its cells have found, as text and as a page."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FILE = Path(__file__).parent / "cells.toml"
COLUMNS = {
    "claude": "claude",
    "codex": "codex",
    "codex-5": "codex 5",
    "gemini": "gemini",
    "opencode": "opencode",
    "aider": "aider",
    "mini": "mini",
}
"""Heading of each column: agents, and "codex-5" for Codex with a model of the older tool protocol."""
_ROW_WIDTH = 19
_WIDTH = 80
_NOTE_MAX = 300


@dataclass(frozen=True)
class Row:
    """A scenario of the table."""

    name: str
    about: str
    none: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """What one test found of a cell: what noface did, and what was wrong with that, "" where it was right."""

    row: str
    column: str
    seen: str = ""
    wrong: str = ""
    skipped: str = ""


def rows() -> list[Row]:
    return [Row(name, **entry) for name, entry in tomllib.loads(FILE.read_text("utf-8")).items()]


class Table:
    """All cells, or the rows of which something was found. A note is a line below it that a cell refers to by number."""

    def __init__(self, found: Iterable[Found], *, whole: bool = True) -> None:
        self._found: dict[tuple[str, str], list[Found]] = {}
        for each in found:
            self._found.setdefault((each.row, each.column), []).append(each)
        shown = {row for row, _ in self._found}
        self.rows = [row for row in rows() if whole or row.name in shown]
        self._missing = "?" if whole else "."
        self.notes: list[str] = []
        self.cells = {(row.name, column): self._cell(row, column) for row in self.rows for column in COLUMNS}
        strays = self._found.keys() - {(row.name, column) for row in rows() for column in COLUMNS}
        assert not strays, f"not in cells.toml: {sorted(strays)}"

    @property
    def right(self) -> int:
        return sum(cell == "✓" for cell in self.cells.values())

    @property
    def reasoned(self) -> int:
        return sum(cell.startswith("–") for cell in self.cells.values())

    @property
    def whole(self) -> bool:
        """True where every cell is right, or has a reason for not being there."""
        return self.right + self.reasoned == len(self.cells)

    def _cell(self, row: Row, column: str) -> str:
        found = self._found.get((row.name, column), [])
        wrong = [each for each in found if each.wrong]
        if wrong:
            return f"✗ {self._note('; '.join(_told(each) for each in wrong), row.name, column)}"
        if any(not each.skipped for each in found):
            return "✓"
        reason = row.none.get(column) or "; ".join(each.skipped for each in found)
        if reason:
            return f"– {self._note(reason)}"
        return self._missing

    def _note(self, text: str, *where: str) -> int:
        text = " × ".join(where) + ": " * bool(where) + " ".join(text.split())
        if text not in self.notes:
            self.notes.append(text)
        return self.notes.index(text) + 1

    def lines(self) -> list[str]:
        """Return the table, not wider than 80 columns, and its notes."""
        head = [" " * _ROW_WIDTH, *COLUMNS.values()]
        body = [
            [row.name.ljust(_ROW_WIDTH), *(self.cells[row.name, column] for column in COLUMNS)] for row in self.rows
        ]
        lines = [
            "".join(f"{each:<8} " if n else each for n, each in enumerate(line)).rstrip() for line in (head, *body)
        ]
        assert max(map(len, lines)) <= _WIDTH
        return [*lines, "", *(f"{number}. {note}" for number, note in enumerate(self.notes, 1))]

    def what_was_seen(self) -> list[str]:
        """Return for each row what noface did, and with which agents."""
        lines = []
        for row in self.rows:
            by_sight: dict[str, list[str]] = {}
            for column, heading in COLUMNS.items():
                found = self._found.get((row.name, column), [])
                seen = sorted({part for each in found for part in each.seen.split("; ") if part})
                if seen:
                    by_sight.setdefault("; ".join(seen), []).append(heading)
            lines += ["", f"**{row.name}.** {row.about}", ""]
            lines += [f"- {', '.join(columns)}: {seen}" for seen, columns in by_sight.items()]
        return [line for n, line in enumerate(lines) if line or lines[n - 1 : n] != [""]]


def _told(each: Found) -> str:
    """Return what was seen and what of it is wrong: the assertion, which follows what was printed."""
    wrong = each.wrong[max(each.wrong.rfind("\nassert "), 0) :].strip()
    return f"{each.seen}; {wrong}"[:_NOTE_MAX] if each.seen else wrong[:_NOTE_MAX]


def page(table: Table, programs: Iterable[str], date: str, where: str) -> str:
    """Return the page TESTED.md: `programs` with their versions, `where` the tests ran."""
    wrapped = [part for line in table.what_was_seen() for part in _wrapped(line)]
    return "\n".join([
        "# The agents as they were tested",
        "",
        *_wrapped(
            f"`make test-agents` writes this page. On {date} it ran {where} with the versions that were the newest "
            "then, each against a model on the same machine that plays the scenario:"
        ),
        "",
        *(part for program in programs for part in _wrapped(f"- {program}")),
        "",
        *_wrapped(
            f"✓ is as it should be ({table.right} cells), – cannot be had ({table.reasoned}), ✗ is wrong, ? was not shown. codex runs "
            "with a model of its presets, codex 5 with one of the older tool protocol. A later run of some cells renews "
            "those alone."
        ),
        "",
        "```text",
        *(part for line in table.lines() for part in _wrapped(line)),
        "```",
        "",
        "## What noface did",
        *([""] if wrapped[:1] != [""] else []),
        *wrapped,
        "",
    ])  # fmt: skip


def _wrapped(line: str) -> list[str]:
    """Return a line in lines of 80 columns; those of an item of a list or a note are indented."""
    if len(line) <= _WIDTH:
        return [line]
    cut = line.rfind(" ", 0, _WIDTH + 1)
    if cut <= len(line) - len(line.lstrip()) + 2:
        return [line]
    start = line.lstrip()
    indent = "  " if start.startswith("- ") else "   " if start[:1].isdigit() and ". " in start[:4] else ""
    indent = indent or " " * (len(line) - len(start))
    return [line[:cut], *_wrapped(indent + line[cut + 1 :])]
