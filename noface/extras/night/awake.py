"""Keeps the machine awake while a run is at work, by what the system has for that; a killed noface lets it sleep."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

_TRIED_S = 0.5


@contextmanager
def awake() -> Iterator[str]:
    """Keep the machine from sleeping by itself; yield why that cannot be, "" if it can."""
    inhibit, caffeinate = shutil.which("systemd-inhibit"), shutil.which("caffeinate")
    if caffeinate is not None:
        argv = [caffeinate, "-i", "-w", str(os.getpid())]
    elif inhibit is not None:
        argv = [inhibit, "--what=idle:sleep", "--who=noface", "--why=a run is at work", "cat"]
    else:
        yield "neither systemd-inhibit nor caffeinate is here"
        return
    # `cat` reads until noface's end of the pipe is closed, however noface ends.
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as holder:
        problem = ""
        try:
            holder.wait(_TRIED_S)
        except subprocess.TimeoutExpired:
            pass
        else:
            problem = (holder.stderr.read() if holder.stderr else b"").decode("utf-8", "replace").strip() or argv[0]
        try:
            yield problem
        finally:
            holder.kill()
