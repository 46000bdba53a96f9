"""Copies what `[project] setup` made on main's tree to the other slots: kept paths, home, caches.

The source is a slot in which setup runs and nothing else ever does, so that no worker and no gate has written there
(law 11). Each copy is a slot's own. Of caches a copy is where a box starts; setup's own are written by setup alone.

What names its place is exchanged (process/moved_copy.py). A name made of a digest of the path cannot be: so main's
gates run in a copy first, and where they are red there and not where setup itself ran, setup runs in each slot from
then on.
"""

import hashlib
import os
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from noface.attempt.environment import AttemptEnvironment, Scope
from noface.git.removal import remove, remove_below
from noface.git.workspace import Slot
from noface.process.files import is_folder, read_regular, write_atomic
from noface.process.moved_copy import BoundToPlaceError, Relocation, copy_moved

MADE = "made"
"""What setup left in the home lies in this folder beside its slot."""
SETUP_CACHES = "setup"
GATE_CACHES = "gates"
_STAMP_BYTES_MAX = 1 << 16


class Copied(StrEnum):
    """Whether a slot has what setup makes."""

    YES = "yes"
    NOT = "not"


class Copies(StrEnum):
    """What is known of copies of what a setup makes: main's gates tell."""

    UNTRIED = "untried"
    WORK = "work"
    FAIL = "fail"


def may_copy(env: AttemptEnvironment) -> bool:
    """True if a copy does, as far as is known."""
    return copies(env) is not Copies.FAIL


def copies(env: AttemptEnvironment) -> Copies:
    """Return what is known of copies of what this setup makes."""
    text = _text(_verdict(env)).partition(" ")
    return Copies(text[2]) if text[0] == _key(env) and text[2] in list(Copies) else Copies.UNTRIED


def note_copies(env: AttemptEnvironment, verdict: Copies) -> None:
    """Remember what main's gates tell of copies."""
    write_atomic(_verdict(env), f"{_key(env)} {verdict}")


def _verdict(env: AttemptEnvironment) -> Path:
    return env.setup_slot().private_git_dir / "setup-copies"


def _key(env: AttemptEnvironment) -> str:
    return hashlib.sha256(repr((env.setup.command, env.setup.keep)).encode("utf-8", "surrogateescape")).hexdigest()


def copy_setup(scope: Scope, source: Slot, slot: Slot) -> Copied:
    """Give a slot, in which nobody is at work, what setup made in the source; NOT where that cannot be copied."""
    before = _state(source)
    move = _move(source.path, slot.path, scope)
    try:
        for path in slot.keep:
            _copy_kept(source.path, slot.path, path.strip("/"), move)
        _renewed(beside(source.path, MADE), beside(slot.path, MADE), move)
    except BoundToPlaceError:
        note_copies(scope.env, Copies.FAIL)
        before = ""
    except (OSError, RecursionError):
        before = ""
    if not before or _state(source) != before:
        for path in slot.keep:
            remove_below(slot.path, path)
        remove(beside(slot.path, MADE))
        return Copied.NOT
    remove(beside(slot.path, f"caches-{GATE_CACHES}"))  # they start anew from what setup fetched
    return Copied.YES


def start_caches(env: AttemptEnvironment, workspace: str, kind: str) -> None:
    """Let caches that are new start from what setup fetched: those of gates, and a worker's if nothing is kept.

    Where setup keeps something in the workspace, what it fetched is there.
    """
    target = beside(Path(workspace), f"caches-{kind}")
    wanted = kind in (SETUP_CACHES, GATE_CACHES) or (kind.startswith("model-") and not env.setup.keep)
    if not wanted or os.path.lexists(target):
        return
    source = env.setup_slot()
    before = _state(source)
    if not before or workspace == str(source.path):
        return
    copy = beside(Path(workspace), f"caches-{kind}-new")
    with suppress(BoundToPlaceError, OSError, RecursionError):
        _renewed(beside(source.path, f"caches-{SETUP_CACHES}"), copy, _move(source.path, Path(workspace)))
        if _state(source) == before and is_folder(copy):
            copy.rename(target)  # whole, or not there
    remove(copy)


def beside(workspace: Path, kind: str) -> Path:
    """Return one of the folders that belong to a workspace and lie beside it."""
    return workspace.with_name(f"{workspace.name}.{kind}")


def _move(source: Path, target: Path, scope: Scope | None = None) -> Relocation:
    stopped = (lambda: scope.cancel.cancelled) if scope is not None else (lambda: False)
    return Relocation.between(source, target, stopped)


def _copy_kept(source: Path, target: Path, path: str, move: Relocation) -> None:
    """Copy a kept path; a link on the way there leads elsewhere, so that setup has to make it."""
    if any((top / parent).is_symlink() for top in (source, target) for parent in list(Path(path).parents)[:-1]):
        raise BoundToPlaceError(path)
    remove_below(target, path)
    if os.path.lexists(source / path):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        copy_moved(source / path, target / path, move)


def _renewed(source: Path, target: Path, move: Relocation) -> None:
    remove(target)
    if is_folder(str(source)):
        copy_moved(source, target, move)


def _state(source: Slot) -> str:
    """Return what changes with each run of setup in the source, "" while there is nothing whole."""
    stamp = _text(source.setup_stamp)
    return f"{stamp} {_text(source.kept_stamp)}" if stamp else ""


def _text(path: Path) -> str:
    return (read_regular(path, _STAMP_BYTES_MAX) or b"").decode("utf-8", "replace")
