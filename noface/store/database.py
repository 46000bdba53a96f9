"""Opens the state database: SQLite, WAL, synchronous FULL, so that no acknowledged row is lost."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Self

from noface.errors import StoreError

SCHEMA_VERSION = 1
_BUSY_SECONDS = 10.0
_HEADER = b"SQLite format 3\0"


class Database:
    """One connection; transactions are serialised, and nest into the outer one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        self._depth = 0

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or make the database at `path`.

        Raises StoreError where the file is not a database, is damaged, or is of a newer noface; it is never
        overwritten.
        """
        _refuse_foreign(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            database = cls(connection)
            database._migrate(path)
        except (sqlite3.Error, OSError) as error:
            raise _unusable(path, str(error)) from error
        return database

    @classmethod
    def memory(cls) -> Self:
        """Return an empty database that lives in memory: what a repository looks like before its first run."""
        database = cls(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))
        database._migrate(Path(":memory:"))
        return database

    def _migrate(self, path: Path) -> None:
        with self.transaction():
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise StoreError(
                    f"{path} was written by a newer noface (schema {version}, this one knows {SCHEMA_VERSION}).",
                    "Upgrade noface: `pipx upgrade noface-loop`.",
                )
            if version == 0:
                script = files("noface.store").joinpath("schema.sql").read_text("utf-8")
                for statement in _statements(script):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a block in one transaction: all of it is on disk when the block ends, or none of it."""
        with self._lock:
            self._depth += 1
            try:
                if self._depth == 1:
                    self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                if self._depth == 1:
                    self._connection.execute("COMMIT")
            except BaseException:
                if self._depth == 1 and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """Return the rows of a query, with columns by name."""
        with self._lock:
            cursor = self._connection.cursor()
            cursor.row_factory = sqlite3.Row
            return cursor.execute(sql, values).fetchall()

    def check(self) -> None:
        """Raise StoreError where the database is damaged (`PRAGMA quick_check`)."""
        said = self.rows("PRAGMA quick_check(1)")[0][0]
        if said != "ok":
            raise StoreError(f"The state database is damaged: {said}", "Restore state.db from a backup, or move it.")

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()


def _statements(script: str) -> Iterator[str]:
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def _refuse_foreign(path: Path) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(len(_HEADER))
    except OSError:
        return
    if header and header != _HEADER:
        raise _unusable(path, "it does not begin like an SQLite file")


def _unusable(path: Path, why: str) -> StoreError:
    return StoreError(
        f"The state database {path} cannot be used: {why}.",
        f"noface never overwrites it. Move it away (`mv {path} {path}.broken`) and run again: merged work is known "
        "from main's history; attempts stay below refs/noface.",
    )
