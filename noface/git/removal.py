"""Removes whatever an agent left behind: unreadable, thousands of folders deep, or no ordinary file."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

from noface.errors import GitError


def remove(path: Path) -> None:
    """Remove a file, link, special file or folder; nothing happens where there is none. Links are not followed.

    Raises GitError where it is still there afterwards.
    """
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()
    except FileNotFoundError:
        pass
    except (OSError, RecursionError):
        _insist(path)
    if os.path.lexists(path):
        raise GitError(f"{path} could not be removed.", "Remove it by hand; look at its owner and attributes.")


def _insist(path: Path) -> None:
    """Give the permissions back and use `rm`, which goes to any depth: rmtree holds a descriptor for each level."""
    subprocess.run(("chmod", "-R", "u+rwX", "--", str(path)), check=False, capture_output=True)
    subprocess.run(("rm", "-rf", "--", str(path)), check=False, capture_output=True)
