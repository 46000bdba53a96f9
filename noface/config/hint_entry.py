"""Adds a `[[failure_hints]]` to noface.toml and keeps everything else, comments and order included."""

import contextlib
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from noface.config.lines import line_numbers
from noface.config.load import parse, tables
from noface.errors import UsageError

if TYPE_CHECKING:
    from tomlkit.items import Table

_SECTION = "failure_hints"


def with_hint(text: str, values: Mapping[str, str], source: str = "noface.toml") -> str:
    """Return `text` with one more hint behind those there are; the result is valid as a whole.

    `values` are the keys of the entry that are set. Raise UsageError for a value that cannot be used, naming the
    option that gave it, and ConfigError for a file that is not valid to begin with.
    """
    parse(text, source)
    _check(values)
    ends = "\r\n" if "\r\n" in text else "\n"
    changed = _appended(text.replace("\r\n", "\n"), values)
    parse(changed, source)
    return changed.replace("\n", ends)


def hint_toml(values: Mapping[str, str]) -> str:
    """Return the entry as it is written into the file."""
    return f"[[{_SECTION}]]\n{_table(values).as_string()}"


def _check(values: Mapping[str, str]) -> None:
    from pydantic import ValidationError

    from noface.config.workers import HINT_CONDITIONS, FailureHint

    if not any(values.get(name) for name in HINT_CONDITIONS):
        options = ", ".join(_option(name) for name in HINT_CONDITIONS)
        raise UsageError("when does this hint apply? A condition is missing", f"Give one or more of {options}.")
    for name, value in values.items():
        if not value.isascii() and value.encode("utf-8", "replace").decode() != value:
            raise UsageError(f"{_option(name)} is not UTF-8 text", "noface.toml can hold nothing else.")
    try:
        FailureHint.model_validate(dict(values))
    except ValidationError as error:
        wrong = [f"{_option(str(found['loc'][0]))}: expected {found['msg']}" for found in error.errors()]
        raise UsageError("; ".join(wrong), "Nothing was added.") from None


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _appended(text: str, values: Mapping[str, str]) -> str:
    """Return `text`, whose lines end with a newline alone, with the entry in it."""
    there = tables(text, "").get(_SECTION, [])
    lines = text.split("\n")
    line = _end_of_hints(lines, there)
    if line is None:
        return _in_array(text, values)
    before, after = "\n".join(lines[:line]).rstrip("\n"), "\n".join(lines[line:]).lstrip("\n")
    parts = (before, hint_toml(values).rstrip("\n"), after)
    return "\n\n".join(part for part in parts if part).rstrip("\n") + "\n"


def _end_of_hints(lines: list[str], there: list[Any]) -> int | None:
    """Return how many lines there are up to the end of the last hint; all of them where there is none yet.

    None where the hints are written as a list of inline tables.
    """
    if not there:
        return len(lines)
    known = line_numbers("\n".join(lines))
    last = max((line for path, line in known.items() if path[:2] == (_SECTION, len(there) - 1)), default=len(lines))
    for line in range(last, len(lines) + 1):  # a text of several lines begins there and ends later
        with contextlib.suppress(tomllib.TOMLDecodeError):
            if tomllib.loads("\n".join(lines[:line])).get(_SECTION) == there:
                return None if _inline(lines, line) else line
    return None


def _inline(lines: list[str], line: int) -> bool:
    """Tell whether another table cannot follow: the hints are a list, which is closed."""
    try:
        tomllib.loads("\n".join([*lines[:line], f"[[{_SECTION}]]"]))
    except tomllib.TOMLDecodeError:
        return True
    return False


def _in_array(text: str, values: Mapping[str, str]) -> str:
    """Add the entry to `failure_hints = [{ … }]`."""
    import tomlkit

    document = tomlkit.parse(text)
    entry = tomlkit.inline_table()
    entry.update({name: _string(value) for name, value in values.items()})
    document[_SECTION].append(entry)
    return tomlkit.dumps(document)


def _table(values: Mapping[str, str]) -> "Table":
    import tomlkit

    table = tomlkit.table()
    for name, value in values.items():
        if value:
            table.append(name, _string(value))
    return table


def _string(value: str) -> Any:
    """Write a text so that it is easy to read: in single quotes where that spares it from being escaped."""
    import tomlkit

    plain = value.isprintable() and "'" not in value
    return tomlkit.string(value, literal=plain and ("\\" in value or '"' in value))
