"""Opens the state database: SQLite, WAL, synchronous FULL, so that no acknowledged row is lost."""

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from noface.errors import StoreError
from noface.process.files import kind_at
from noface.store.records import SCHEMA_VERSION


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


_BUSY_SECONDS = 10.0
_PAUSE_SECONDS = 0.02
_MEND = (
    "See that the disk has room, can be written, and nothing else holds state.db open. If it is damaged, restore it "
    "from a backup (with no state.db-wal of another time beside it) or move it away: merged work is known from main's "
    "history, attempts stay below refs/noface."
)


class Database:
    """One connection; transactions are serialised, and nest into the outer one (as savepoints of it)."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        self._place: tuple[Path, os.stat_result] | None = None
        self._depth = self._undone = 0
        self._calls: list[Callable[[], None]] = []

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or make the database at `path`. Raises StoreError for what is no database of this schema, or damaged."""
        if kind_at(path.resolve()) not in (0, stat.S_IFREG):
            raise _unusable(path, "it is no regular file")
        if path.exists() and path.stat().st_size == 1:  # which SQLite takes for an empty one
            raise _unusable(path, "file is not a database")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=Connection
            )
        except (sqlite3.Error, OSError) as error:
            raise _unusable(path, str(error)) from error
        database = cls(connection)
        try:
            _refuse_unknown(connection, path)
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
            database._make(path)
            database._place = path, path.stat()
        except BaseException as error:
            database.close()
            if isinstance(error, sqlite3.DatabaseError) and error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                raise _unusable(path, str(error)) from error
            if isinstance(error, sqlite3.Error):
                raise StoreError(f"The state database {path} cannot be used: {error}.", _MEND) from error
            raise
        return database

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open the database to look at it; before the first run it is an empty one, and nothing is written."""
        return cls.open(path) if path.exists() else cls.memory()

    @classmethod
    def memory(cls) -> Self:
        database = cls(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))
        database._make(Path(":memory:"))
        return database

    def _make(self, path: Path) -> None:
        with self.transaction():
            if not _refuse_unknown(self._connection, path):
                for statement in _statements(Path(__file__).with_name("schema.sql").read_text("utf-8")):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a block in one transaction: all of it is on disk at its end, or none. Raises StoreError."""
        with self._lock:
            depth, waiting = self._depth, len(self._calls)
            try:
                self._connection.execute("BEGIN IMMEDIATE" if depth == 0 else f"SAVEPOINT s{depth}")
                self._depth += 1
                try:
                    yield self._connection
                finally:
                    self._depth -= 1
                self._connection.execute("COMMIT" if depth == 0 else f"RELEASE s{depth}")
            except BaseException as error:
                self._undone += 1
                del self._calls[waiting:]
                self._undo(depth)
                if _environmental(error):
                    raise StoreError(f"The state database cannot be written: {error}.", _MEND) from error
                raise
            if depth == 0:
                calls, self._calls = self._calls, []
                for call in calls:
                    call()

    def in_place(self) -> bool:
        """True if the file is still where it was opened: another there gets nothing of what is written here."""
        if self._place is None:
            return True
        path, opened = self._place
        try:
            return os.path.samestat(opened, path.stat())
        except OSError:
            return False

    def after_commit(self, call: Callable[[], None]) -> None:
        with self._lock:
            if self._depth:
                self._calls.append(call)
                return
        call()

    def _undo(self, depth: int) -> None:
        if not self._connection.in_transaction:  # SQLite has given up the whole transaction itself
            return
        for command in ("ROLLBACK",) if depth == 0 else (f"ROLLBACK TO s{depth}", f"RELEASE s{depth}"):
            try:
                self._connection.execute(command)
            except sqlite3.OperationalError:
                return  # it never began

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """Return the rows of a query, with columns by name. Raises StoreError if the database is damaged."""
        try:
            with self._lock:
                cursor = self._connection.execute(sql, values)
                cursor.row_factory = sqlite3.Row
                return cursor.fetchall()
        except sqlite3.Error as error:
            if _environmental(error):
                raise StoreError(f"The state database cannot be read: {error}.", _MEND) from error
            raise

    def mark(self) -> tuple[int, int, int]:
        """Return what differs from an earlier mark if anything was written since, by whom ever."""
        with self._lock:
            return int(self.rows("PRAGMA data_version")[0][0]), self._connection.total_changes, self._undone

    def check(self) -> None:
        damage = self.rows("PRAGMA quick_check(1)")[0][0]
        if damage != "ok":
            raise StoreError(f"The state database is damaged: {damage}", _MEND)

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def insert(connection: sqlite3.Connection, table: str, verb: str = "INSERT", /, **columns: object) -> int:
    sql = f"{verb} INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    return int(connection.execute(sql, tuple(columns.values())).lastrowid or 0)


def update(
    connection: sqlite3.Connection, table: str, columns: Mapping[str, object], where: str, *values: object
) -> int:
    assignments = ", ".join(f"{column} = ?" for column in columns)
    sql = f"UPDATE {table} SET {assignments} WHERE {where}"  # noqa: S608 - our own names
    return connection.execute(sql, (*columns.values(), *values)).rowcount


def _statements(script: str) -> Iterator[str]:
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Have a database write ahead; waits for others that do the same.

    SQLite calls no busy handler here: of two that change a new database's mode at once, one fails at once.
    """
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _refuse_unknown(connection: sqlite3.Connection, path: Path) -> int:
    # In this order: another noface may be making the tables, and sets the version with them in one transaction.
    tables = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version not in (0, SCHEMA_VERSION):
        raise StoreError(
            f"{path} was written by another version of noface (its schema is {version}, this one's {SCHEMA_VERSION}).",
            f"Go on with that version, or begin anew: `mv {path} {path}.{version}`. Merged work is known from main's "
            "history; attempts stay below refs/noface.",
        )
    if version == 0 and tables is not None:
        raise _unusable(path, "it is the database of another program")
    return version


def _environmental(error: BaseException) -> bool:
    """True if SQLite failed for a reason outside noface: locked, full, read-only, damaged."""
    if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, sqlite3.IntegrityError):
        return False
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return code not in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE)


def _unusable(path: Path, why: str) -> StoreError:
    return StoreError(
        f"The state database {path} cannot be used: {why}.",
        f"noface never overwrites it. Move it away (`mv {path} {path}.broken`) and run again: merged work is known "
        "from main's history; attempts stay below refs/noface.",
    )
