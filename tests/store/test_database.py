"""The state database as a file: never overwritten, never half written, readable by two."""

import hashlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from support import ROOT

from noface.errors import StoreError
from noface.store import records
from noface.store.database import Database, _refuse_unknown
from noface.store.journal import Journal
from noface.store.reader import Reader
from noface.store.records import SCHEMA_VERSION


@pytest.fixture
def path(tmp_path):
    return tmp_path / "noface" / "state.db"


@pytest.fixture
def database(path):
    made = Database.open(path)
    yield made
    made.close()


def fact(database, name, value="1"):
    Journal(database).fact(name, value)


def facts(database):
    return [row["name"] for row in database.rows("SELECT name FROM facts ORDER BY name")]


# Opening


def test_what_was_written_is_there_when_it_is_opened_again(path):
    first = Database.open(path)
    fact(first, "a")
    first.close()
    again = Database.open(path)
    assert Reader(again).fact("a") == "1"
    again.close()


def test_every_commit_is_synchronous_and_in_the_write_ahead_log(database):
    assert database.rows("PRAGMA journal_mode")[0][0] == "wal"
    assert database.rows("PRAGMA synchronous")[0][0] == 2


@pytest.mark.parametrize("content", [b"x", b"SQLite format 2\0" + b"\0" * 100, b"[retry]\ndefault_model = 1\n" * 50])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreError, match="file is not a database") as caught:
        Database.open(path)
    assert "never overwrites" in caught.value.hint
    assert path.read_bytes() == content


def test_a_database_that_another_noface_makes_meanwhile_is_no_other_program_s(path):
    class Slow(sqlite3.Connection):
        """Between its first statement and the next another noface makes the tables."""

        statements = 0

        def execute(self, *arguments):
            self.statements += 1
            if self.statements == 2:
                Database.open(path).close()
            return super().execute(*arguments)

    path.parent.mkdir()
    connection = sqlite3.connect(path, factory=Slow)
    assert _refuse_unknown(connection, path) in (0, SCHEMA_VERSION)
    assert connection.statements == 2
    connection.close()


def test_another_program_s_database_is_refused_and_left_as_it_is(path):
    path.parent.mkdir()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE songs (title TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Database.open(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["state.db"]


@pytest.mark.parametrize("change", [-1, 1])
def test_another_schema_is_refused_and_left_as_it_is(path, change):
    Database.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + change}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another version of noface") as caught:
        Database.open(path)
    assert f"mv {path} {path}.{SCHEMA_VERSION + change}" in caught.value.hint
    assert path.read_bytes() == before


def test_a_damaged_page_is_found_by_the_check(path):
    made = Database.open(path)
    with made.transaction() as connection:
        connection.executemany("INSERT INTO facts VALUES (?, ?)", [(f"f{n}", "x" * 500) for n in range(500)])
    made.check()
    made.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096 * 3)
    hurt = Database.open(path)
    with pytest.raises(StoreError, match=r"damaged|malformed"):
        hurt.check()
    hurt.close()


def test_a_cut_off_file_is_refused(path):
    made = Database.open(path)
    fact(made, "a", "x" * 50_000)
    made.close()
    os.truncate(path, 3000)
    with pytest.raises(StoreError, match="cannot be used"):
        Database.open(path)


def test_a_folder_in_its_place_is_refused(path):
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot be used"):
        Database.open(path)


# Transactions


def test_a_block_that_fails_leaves_nothing(database):
    with suppress(KeyError), database.transaction():
        fact(database, "a")
        raise KeyError
    assert facts(database) == []
    fact(database, "b")
    assert facts(database) == ["b"]


def test_an_inner_failure_that_was_handled_undoes_only_the_inner_block(database):
    with database.transaction():
        fact(database, "before")
        with suppress(KeyError), database.transaction():
            fact(database, "inner")
            with database.transaction():
                fact(database, "innermost")
            raise KeyError
        fact(database, "later")
    assert facts(database) == ["before", "later"]


def test_what_waits_for_the_commit_is_done_after_it_in_order_and_only_if_it_happens(database):
    told = []
    with database.transaction():
        database.after_commit(lambda: told.append(("outer", facts(database))))
        with suppress(KeyError), database.transaction():
            database.after_commit(lambda: told.append("undone"))
            raise KeyError
        with database.transaction():
            database.after_commit(lambda: told.append("inner"))
        fact(database, "a")
        assert told == []
    assert told == [("outer", ["a"]), "inner"]
    with suppress(KeyError), database.transaction():
        database.after_commit(lambda: told.append("never"))
        raise KeyError
    database.after_commit(lambda: told.append("at once"))
    assert told[2:] == ["at once"]


def test_a_mistake_in_sql_is_not_taken_for_a_broken_database(database):
    with pytest.raises(sqlite3.OperationalError), database.transaction() as connection:
        connection.execute("INSERT INTO nowhere VALUES (1)")
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        connection.execute("INSERT INTO facts VALUES ('a', NULL)")
    assert facts(database) == []


def test_a_full_disk_is_an_error_to_read_and_the_old_rows_stay(path, database):
    fact(database, "a")
    with database.transaction() as connection:
        connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(StoreError, match="full"):
        fact(database, "b", "x" * 5_000_000)
    assert facts(database) == ["a"]
    database.check()


def test_threads_take_turns(database):
    def work(name):
        for n in range(20):
            with database.transaction():
                fact(database, f"{name}{n:02}a")
                fact(database, f"{name}{n:02}b")

    threads = [threading.Thread(target=work, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(facts(database)) == 120


# Other processes

WRITER = """
import sys
from pathlib import Path
from noface.store.database import Database
from noface.store.journal import Journal
journal = Journal(Database.open(Path(sys.argv[1])))
for number in range(100_000):
    journal.event(float(number), "tick", number=number)
    print(number, flush=True)
"""
OPENER = """
import sys
from pathlib import Path
from noface.store.database import Database
from noface.store.journal import Journal
Journal(Database.open(Path(sys.argv[1]))).event(0.0, "opened")
"""


def test_a_writer_that_is_killed_loses_no_row_it_has_acknowledged(path):
    for kill_at in (1, 40, 90):
        shutil.rmtree(path.parent, ignore_errors=True)
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        for text in writer.stdout:
            if int(text) == kill_at:
                writer.send_signal(signal.SIGKILL)
                break
        acknowledged = [kill_at, *map(int, writer.stdout.read().split())]
        writer.stdout.close()
        writer.wait()
        survived = Database.open(path)
        survived.check()
        rows = survived.rows("SELECT at FROM events ORDER BY id")
        assert [row["at"] for row in rows] == list(range(len(rows)))
        assert len(rows) > acknowledged[-1]
        survived.close()


def test_processes_that_open_a_new_database_at_once_all_succeed(path):
    openers = [subprocess.Popen([sys.executable, "-c", OPENER, str(path)]) for _ in range(4)]
    assert [opener.wait() for opener in openers] == [0, 0, 0, 0]
    made = Database.open(path)
    assert len(made.rows("SELECT 1 FROM events")) == 4
    made.close()


def test_a_changed_schema_has_another_number():
    """Another digest needs another number: nothing else keeps an older database from being opened."""
    text = re.sub(r"--.*|\s+", " ", (ROOT / "noface/store/schema.sql").read_text())
    digest = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]
    assert (SCHEMA_VERSION, digest) == (12, "28c621323e17ca2c")


def test_every_named_statement_fits_the_schema_and_is_used():
    database = Database.memory()
    source = "".join(path.read_text() for path in (ROOT / "noface" / "store").glob("*.py"))
    for name, sql in records._queries().items():
        assert re.search(rf"query\(['\"]{name}['\"]\)", source), name
        database.rows(f"EXPLAIN {sql}", *[None] * sql.count("?"))
