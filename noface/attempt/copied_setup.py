"""Copies what `[project] setup` made on main's tree to the other slots: kept paths, home, caches.

The source is a slot in which nothing but setup ever runs (law 11). In the sandbox all slots are seen at one address, so
what names its place is right in a copy as well; where a command runs outside it, setup runs in each slot.
"""

import os
import select
import subprocess
from pathlib import Path

from noface.attempt.environment import AttemptEnvironment, Scope
from noface.git.removal import remove, remove_below
from noface.git.workspace import Slot
from noface.process.command import Canceller
from noface.process.files import is_folder, read_regular

MADE = "made"
"""What setup left in the home lies in this folder beside its slot."""
SETUP_CACHES = "setup"
GATE_CACHES = "gates"
_STAMP_BYTES_MAX = 1 << 16
_LOOK_S = 0.05


def copy_setup(scope: Scope, source: Slot, slot: Slot) -> bool:
    """Give a slot, in which nobody is at work, what setup made in the source; False if that cannot be copied."""
    before, made = _state(source), beside(slot.path, MADE)
    remove(made)
    home = not is_folder(beside(source.path, MADE)) or _copy(beside(source.path, MADE), made, scope.cancel)
    kept = home and all(_copy_kept(scope, source.path, slot.path, path.strip("/")) for path in slot.keep)
    if kept and before and _state(source) == before:
        remove(beside(slot.path, f"caches-{GATE_CACHES}"))  # they start anew from what setup fetched
        return True
    for path in slot.keep:
        remove_below(slot.path, path)
    remove(made)
    return False


def _copy_kept(scope: Scope, source: Path, target: Path, path: str) -> bool:
    """Copy a kept path; a link on the way there leads elsewhere, so that setup has to make it."""
    if any((top / parent).is_symlink() for top in (source, target) for parent in list(Path(path).parents)[:-1]):
        return False
    remove_below(target, path)
    (target / path).parent.mkdir(parents=True, exist_ok=True)
    return not os.path.lexists(source / path) or _copy(source / path, target / path, scope.cancel)


def start_caches(env: AttemptEnvironment, workspace: str, kind: str) -> None:
    """Let caches that are new start from what setup fetched: those of gates, and a worker's if nothing is kept."""
    slot = env.setup_slot() if env.address else None
    before = _state(slot) if slot is not None else "its own"
    fetched = beside(slot.path if slot is not None else Path(workspace), f"caches-{SETUP_CACHES}")
    target, copy = (beside(Path(workspace), f"caches-{kind}{end}") for end in ("", "-new"))
    wanted = kind in (SETUP_CACHES, GATE_CACHES) or (kind.startswith("model-") and not env.setup.keep)
    if not wanted or os.path.lexists(target) or not before or target == fetched or not is_folder(fetched):
        return
    remove(copy)
    if _copy(fetched, copy) and (slot is None or _state(slot) == before):
        copy.rename(target)  # whole, or not there
    remove(copy)


def beside(workspace: Path, kind: str) -> Path:
    return workspace.with_name(f"{workspace.name}.{kind}")


def _state(source: Slot) -> str:
    stamp, kept = (read_regular(path, _STAMP_BYTES_MAX) or b"" for path in (source.setup_stamp, source.kept_stamp))
    return f"{stamp!r} {kept!r}" if stamp else ""


def _copy(source: Path, target: Path, cancel: Canceller | None = None) -> bool:
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
