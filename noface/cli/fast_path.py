"""Opens the state the quick way: no git, no pydantic, nothing of the loop. So looking costs little more than a start.

Only where the issue files are as they were when the rows were written; in every other case, also where something is
wrong, `cli/session.py` opens it, and says what is wrong.
"""

import sqlite3
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from noface.data.trackers import TRACKERS, tracker_settings
from noface.git.locate import RepositoryFolders, locate
from noface.store.overview import Overview, Rows
from noface.store.records import SCHEMA_VERSION

_BUSY_SECONDS = 10.0
_CONFIG_NAMES = ("noface.toml", ".noface.toml")


def overview(start: Path, config: Path | None) -> Overview:
    """Return what there is to look at around `start`. Raises UsageError or ConfigError."""
    known = _unchanged(start, config)
    if known is not None:
        return known
    from noface.cli.session import open_session

    return open_session(config).reader


def _unchanged(start: Path, config: Path | None) -> Overview | None:
    location = locate(start)
    path = location.state_dir / "state.db"
    if not path.is_file():
        return None
    tables = _tables(location.root, config)
    mark = fingerprint(location, tables) if tables is not None else None
    if mark is None:
        return None
    try:
        rows = _read_only(path)
        reader = Overview(rows)
        known = rows("PRAGMA user_version")[0][0] == SCHEMA_VERSION
        return reader if known and reader.fact("fingerprint") == mark else None
    except sqlite3.Error:
        return None


def _read_only(path: Path) -> Rows:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
    connection.row_factory = sqlite3.Row

    def rows(sql: str, *values: object) -> list[sqlite3.Row]:
        try:
            return connection.execute(sql, values).fetchall()
        except sqlite3.OperationalError:
            from noface.store.database import decode

            if connection.text_factory is decode:
                raise
            connection.text_factory = decode  # slower, and needed for text that is not UTF-8 only
            return connection.execute(sql, values).fetchall()

    return rows


def fingerprint(location: RepositoryFolders, tables: Mapping[str, object]) -> str | None:
    """Return the fingerprint of the tracker that the tables of noface.toml name; None if they name no known one."""
    settings = tracker_settings(tables)
    if settings is None:
        return None
    module, _, name = TRACKERS[settings.kind].fingerprint.partition(":")
    return str(getattr(import_module(module), name)(settings, location.root, location.state_dir))


def _tables(root: Path, config: Path | None) -> Mapping[str, Any] | None:
    """Return the tables of noface.toml as far as they say where issues come from, None if a look finds that out.

    A file without that word is not parsed: what else is in it, or wrong with it, must not keep anyone from looking.
    """
    paths = [config] if config is not None else [path for name in _CONFIG_NAMES if (path := root / name).exists()]
    if not paths:
        return {}
    try:
        text = paths[0].read_bytes() if len(paths) == 1 else None
    except OSError:
        return None
    if text is None or b"tracker" not in text:
        return None if text is None else {}
    from noface.config import load

    return load.tables(load.read(paths[0]), str(paths[0]))
