"""Ordinary surroundings for the tests, whatever shell starts them."""

import os
import re
import signal
import sys

IN_MEMORY = "/dev/shm"
IN_MEMORY_BYTES_MIN = 2 << 30
_KEPT = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|LC_ALL|LC_CTYPE|VIRTUAL_ENV|LD_LIBRARY_PATH|PYENV_ROOT|RUSTUP_HOME"
    "|CARGO_HOME|GOCACHE|GOPATH|GOROOT|JAVA_HOME|SSL_CERT_FILE|PYTHONPATH|PYTHONHOME|(PYTEST|COVERAGE).*"
)


def take_ordinary_surroundings() -> None:
    """Make of this process, and so of all that the tests start, one that a plain shell has started.

    A background job ignores SIGINT, nohup SIGHUP, and some start programs with signals blocked: children inherit all
    of it. What this process ignores it goes on ignoring, but by a handler, which an exec sets back to the default.
    SIGPIPE and SIGXFSZ are ignored by Python itself, which sees to its children. Of the environment what tools need
    to work stays, not what changes what they print. Bytecode is written whatever the shell says: each of the many
    starts of noface would compile it again, and pytest rewrite all tests at each run.
    """
    sys.dont_write_bytecode = False
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)
    for name in [name for name in os.environ if not _KEPT.fullmatch(name)]:
        del os.environ[name]
    if _has_room_in_memory():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", IN_MEMORY)


def _has_room_in_memory() -> bool:
    """True if the tests' folders can lie in memory: each run of noface asks the disk a hundred times to be sure."""
    try:
        there = os.statvfs(IN_MEMORY)
    except OSError:
        return False
    return there.f_bavail * there.f_frsize >= IN_MEMORY_BYTES_MIN and not there.f_flag & os.ST_NOEXEC
