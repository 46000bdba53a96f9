"""Finds what a test has started, by a token in its environment, and waits for what is to come true."""

import time

import psutil

DEADLINE_S = 60.0


def wait_until(condition):
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


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
