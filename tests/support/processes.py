"""Finds what a test has started, by a token in its environment, and waits for what is to come true."""

import subprocess
import sys
import time

import psutil


def wait_for(condition, seconds=120.0, poll_s=0.02):
    """Poll until `condition()` is true; its value."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(poll_s)
    raise AssertionError("it did not come true in time")


def alive(token):
    """Return the pids of the processes that carry the token; what has ended and was not reaped shows no environment."""
    pids = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("NOFACE_TOKEN") == token:
                pids.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return pids


def watches_connects():
    """True if this kernel tells of connects."""
    code = "from noface.process.connections import watching; raise SystemExit(watching([], boxed=True) is None)"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
