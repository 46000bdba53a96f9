"""Keeps text that is not Unicode, such as the path of a folder whose name is not UTF-8, in an SQLite database.

Python holds such bytes as lone surrogates, which sqlite3 refuses: they are written as the bytes they stand for.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any


def decode(data: bytes) -> str:
    """Return the text of a column; bytes that are not UTF-8 as surrogates. For `Connection.text_factory`."""
    return data.decode("utf-8", "surrogateescape")


class Connection(sqlite3.Connection):
    """A connection whose statements, with `?` for their values, take any string. Reads with `decode`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.text_factory = decode

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> sqlite3.Cursor:  # type: ignore[override]
        """Run one statement and return its cursor."""
        try:
            return super().execute(sql, parameters)
        except UnicodeEncodeError:
            values = [_bytes(value) for value in parameters]
        *before, last = sql.split("?")
        marks = ["CAST(? AS TEXT)" if isinstance(value, bytes) else "?" for value in values]
        return super().execute("".join(part + mark for part, mark in zip(before, marks, strict=True)) + last, values)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        for values in parameters:
            self.execute(sql, values)
        return self.cursor()


def _bytes(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        # A surrogate that stands for no byte is half of a pair, from a JSON text for example.
        halved = any("\ud800" <= mark <= "\udfff" and not "\udc80" <= mark <= "\udcff" for mark in value)
        return value.encode("utf-8", "backslashreplace" if halved else "surrogateescape")
    return value
