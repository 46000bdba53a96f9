"""When a gate that failed beside others is worth a run alone, and how seldom that is for honest failures."""

from support.cases import cases

from noface.diagnosis.known_causes import contention_line
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind

LINES = [
    "OSError: [Errno 98] Address already in use",
    "Error: listen EADDRINUSE: address already in use :::3000",
    "listen tcp :8080: bind: address already in use",
    "Bind for 0.0.0.0:5432 failed: port is already allocated",
    "Web server failed to start. Port 8080 was already in use: port 8080 is already in use",
    "mkdir: cannot create directory '/tmp/build.lock': File exists",
    "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/app.sock'",
    "sqlite3.OperationalError: database is locked",
    "SQLITE_BUSY: database is locked",
    'ERROR:  database "test_shop" already exists',
    'ERROR:  source database "template1" is being accessed by other users',
    "pg: deadlock detected",
    "Timeout waiting to lock build logic queue. It is currently in use by another Gradle instance.",
    "Another instance of the server is running",
    "fatal: Unable to create '/tmp/r/.git/index.lock': File exists.",
    "E: Could not get lock /var/lib/dpkg/lock-frontend",
    "flock: failed to acquire lock: Resource temporarily unavailable",
    "cp: cannot create regular file 'app': Text file busy",
    "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
]
OTHERS = [
    "AssertionError: assert 3 == 4",
    "TypeError: cannot lock on to undefined",
    "No such file or directory: 'src/app.py'",
    "the clock is wrong",
    "expected the block to be unlocked",
    "SyntaxError: invalid syntax",
    "ModuleNotFoundError: No module named 'requests'",
]


def failure(line, kind=FailureKind.RUNTIME_ERROR):
    return Failure(
        kind, "exit code 1", rule="x", evidence=("exit code 1",), excerpt=f"collected 1 item\n{line}\n1 failed"
    )


@cases(("line", "told"), [*((line, line) for line in LINES), *((line, "") for line in OTHERS)])
def test_what_only_one_can_have_at_a_time_is_known_by_the_words_of_many_systems(line, told):
    assert contention_line(failure(line)) == told
