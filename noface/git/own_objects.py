"""noface's own object store, and how what it made there comes to be held by refs.

A person's `git gc`, `prune` or `repack -d` deletes what no ref reaches, removes empty folders below `.git/objects`, and
may have read the refs a moment before noface made one. So noface's git writes into a folder that they do not know, with
the repository's objects as its alternate. Before a ref moves, what it is to hold is copied into a pack of the
repository's, which a `.keep` file protects until the ref has moved, as `git fetch` does it:

* `prune` deletes loose objects, and no packs;
* `repack` deletes the packs that it found at its start. One that began while the `.keep` was there leaves the pack; one
  that begins later finds the ref.

What no ref holds is worth nothing once its run has ended: each run begins with an empty store.
"""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from noface.errors import GitError
from noface.git.removal import remove
from noface.git.repository import Repository
from noface.process.failpoints import hit

_KEEP = "noface is about to let a ref hold what is in this pack\n"
_HALF_MADE = "incoming"


def begin_own_objects(repository: Repository) -> None:
    """Begin with an empty store, and let go of packs that a noface protected that was killed.

    The caller holds the repository's lock. Until then the repository's git writes into its own objects.
    """
    remove(repository.own_objects)
    repository.own_objects.mkdir(parents=True)
    for keep in (repository.objects / "pack").glob("*.keep"):
        with suppress(OSError):
            if keep.read_text(errors="replace") == _KEEP:
                _release(keep)


@contextmanager
def shared(repository: Repository, names: Iterable[str], bases: Iterable[str]) -> Iterator[None]:
    """Have what commits or trees need in a pack of the repository's that nobody deletes while refs are moved to them.

    What `bases` reach is left out: refs hold it. Raises GitError if an object is gone, or cannot be written.
    """
    incoming = repository.own_objects / _HALF_MADE
    incoming.mkdir(parents=True, exist_ok=True)
    wanted = "".join((*(f"{name}\n" for name in names), *(f"^{base}\n" for base in bases)))
    packing = ("pack-objects", "--revs", "--non-empty", "--threads=1", "-q", str(incoming / "pack"))
    made = repository.git().ask(*packing, stdin=wanted)
    keep = _moved(incoming / f"pack-{made}", repository.objects / "pack") if made else None
    hit("objects_shared")
    try:
        yield
    finally:
        if keep is not None:
            keep.unlink(missing_ok=True)


def _moved(made: Path, folder: Path) -> Path:
    """Move a pack into the repository, under a name that no other has ever had; return its `.keep`.

    Git names packs by their content: an older pack of the same content may be about to be deleted by that name.
    """
    folder.mkdir(exist_ok=True)
    place = folder / f"pack-{secrets.token_hex(20)}"
    keep = place.with_suffix(".keep")
    keep.write_text(_KEEP)
    # With its index a pack begins to count.
    for file in sorted(made.parent.glob(f"{made.name}.*"), key=lambda file: file.suffix == ".idx"):
        file.rename(place.with_suffix(file.suffix))
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return keep


def _release(keep: Path) -> None:
    """Take the protection from a pack; one that was never whole goes."""
    if not keep.with_suffix(".idx").exists():
        for file in keep.parent.glob(f"{keep.stem}.*"):
            file.unlink(missing_ok=True)
    keep.unlink(missing_ok=True)


def roll_up(repository: Repository) -> None:
    """Join small packs and loose objects into larger packs, reachable or not, unless a `git gc` is doing it."""
    if (repository.common_dir / "gc.pid").exists():
        return
    with suppress(GitError):  # they do no harm; it is tried again
        repository.shared_git().ask("repack", "-d", "-l", "-q", "--geometric=2")


def drop_old(repository: Repository, before: float) -> None:
    """Remove what has lain in the store since before a time: refs hold it, or it was never held."""
    with suppress(OSError):
        for folder, _, names in os.walk(repository.own_objects):
            for name in names:
                file = Path(folder, name)
                if file.lstat().st_mtime < before:
                    file.unlink(missing_ok=True)
