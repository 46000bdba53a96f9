"""Copies a folder as it is: links, times and modes stay, and blocks are shared if the file system can."""

import select
import subprocess
from pathlib import Path

from noface.process.command import Canceller

_LOOK_S = 0.05


def copy_whole(source: Path, target: Path, cancel: Canceller | None = None) -> bool:
    """Copy a folder, file or link to `target`, where nothing is; False if that failed or was cancelled."""
    null = subprocess.DEVNULL
    argv = ("cp", "-a", "--reflink=auto", "-T", "--", str(source), str(target))
    copying = subprocess.Popen(argv, stdin=null, stdout=null, stderr=null, cwd="/")
    while copying.poll() is None:
        if cancel is not None and cancel.cancelled:
            copying.kill()
            copying.wait()
            return False
        select.select([] if cancel is None else [cancel], [], [], _LOOK_S)
    return copying.returncode == 0
