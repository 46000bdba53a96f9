"""Tables that are data and no code: one TOML or JSON file each, beside this module.

Nothing is read before it is needed, and nothing twice. The readers are typed and stand beside what uses the table;
`tests/conventions/test_tables.py` holds every file against its reader and every rule against its example.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
_PIECE = r"\(\?&(\w+)\)"


@cache
def table(name: str) -> dict[str, Any]:
    """Return the table of `name`.toml. It is shared: do not change it."""
    import tomllib

    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


@cache
def document(name: str) -> dict[str, Any]:
    import json

    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return content


@cache
def pattern(name: str, section: str, key: str, flags: int = 0) -> re.Pattern[str]:
    """Return the alternatives of an entry of a table, with its pieces, as one regular expression."""
    entries = table(name)
    return re.compile(expanded("|".join(entries[section][key]), entries.get("pieces", {})), flags)


class Patterns(dict[str, re.Pattern[str]]):
    """The regular expressions of a section of patterns.toml by their names, each compiled on its first use.

    `more` makes pieces that are no text of the table.
    """

    def __init__(self, section: str, more: Callable[[], Mapping[str, str]] = dict) -> None:
        super().__init__()
        self.section = section
        self.more = more

    def __missing__(self, name: str) -> re.Pattern[str]:
        entries = table("patterns")
        expression = "".join(entries[self.section][name]["pattern"])
        compiled = self[name] = re.compile(expanded(expression, {**entries["pieces"], **self.more()}))
        return compiled

    def all(self) -> list[re.Pattern[str]]:
        return [self[name] for name in table("patterns")[self.section]]


def expanded(expression: str, pieces: Mapping[str, str | list[str]]) -> str:
    """Return a regular expression with each `(?&name)` replaced by the piece, or the alternatives, of that name."""

    def piece(match: re.Match[str]) -> str:
        text = pieces[match[1]]
        return text if isinstance(text, str) else "|".join(text)

    while re.search(_PIECE, expression):
        expression = re.sub(_PIECE, piece, expression)
    return expression
