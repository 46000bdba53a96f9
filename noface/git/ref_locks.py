"""Takes away the locks of refs that a killed git command of noface's own has left; nobody else's."""

import time
from pathlib import Path

from noface.git.plumbing import Plumbing

_EMPTY_LOCK_SECONDS_MIN = 60.0


def remove_own_ref_locks(plumbing: Plumbing, new: str, *, ours: bool = False) -> None:
    """Remove the locks of main and HEAD where they are those our killed update-ref left.

    Main's holds the new commit's id then, and HEAD's, which it takes for the reflog, is empty; `ours` says that the
    index's is there, which comes before them. After a power loss both may be empty; a lock that stays so is no
    running command's. The caller knows that no update-ref of noface's runs.
    """
    common = plumbing.repository.common_dir
    for lock in (Path(f"{common / plumbing.repository.main}.lock"), common / "HEAD.lock"):
        try:
            content = lock.read_text("utf-8", "replace").strip()
            stale = time.time() - lock.stat().st_mtime > _EMPTY_LOCK_SECONDS_MIN
        except OSError:
            continue  # there is none
        if content == new or (not content and (stale or (ours and lock.name == "HEAD.lock"))):
            lock.unlink(missing_ok=True)
            ours = True
