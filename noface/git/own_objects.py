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

from noface.git.removal import remove
from noface.git.repository import Repository
from noface.process.failpoints import hit

_KEEP = "noface is about to let a ref hold what is in this pack\n"
_HALF_MADE = "incoming"


def begin_own_objects(repository: Repository) -> None:
    """Begin with an empty store, and let go of packs that a killed noface protected; the caller holds the lock."""
    for folder in (repository.own_objects, repository.state_dir / _HALF_MADE):
        remove(folder)
    repository.own_objects.mkdir(parents=True)
    for keep in (repository.objects / "pack").glob("*.keep"):
        with suppress(OSError):
            if keep.read_text(errors="replace") != _KEEP:
                continue
            if not keep.with_suffix(".idx").exists():  # it was never whole
                for file in keep.parent.glob(f"{keep.stem}.*"):
                    file.unlink(missing_ok=True)
            keep.unlink(missing_ok=True)


@contextmanager
def shared(repository: Repository, names: Iterable[str], bases: Iterable[str]) -> Iterator[Path | None]:
    """Have what commits or trees need, beside what `bases` reach, in a pack that stays while refs move to them.

    Yields the pack, None if nothing is new. Raises GitError if an object is gone, or cannot be written.
    """
    wanted = "".join((*(f"{name}\n" for name in names), *(f"^{base}\n" for base in bases)))
    pack = _packed(repository, ("--revs", "--non-empty"), wanted)
    try:
        hit("objects_shared")
        yield pack
    finally:
        if pack is not None:
            pack.with_suffix(".keep").unlink(missing_ok=True)


def joined(repository: Repository, packs: Iterable[Path]) -> list[Path]:
    """Put one pack in the place of several. `repack --geometric` leaves out what older packs have, which may go."""
    there = [pack for pack in packs if pack.exists()]
    pack = _packed(repository, ("--stdin-packs", "--window=0"), "".join(f"{pack.name}\n" for pack in there))
    if pack is None:
        return there
    for old in there:
        for suffix in (".idx", ".rev", ".pack"):
            old.with_suffix(suffix).unlink(missing_ok=True)
    pack.with_suffix(".keep").unlink(missing_ok=True)
    repository.shared_git().run("pack-refs", "--all")  # if packs are many, refs are; a lock in the way does no harm
    return [pack]


def _packed(repository: Repository, words: Iterable[str], wanted: str) -> Path | None:
    """Make a pack with a `.keep`. Its name is new: by the content's an older one may be about to be deleted."""
    incoming, folder = repository.state_dir / _HALF_MADE, repository.objects / "pack"
    incoming.mkdir(parents=True, exist_ok=True)
    packing = ("pack-objects", *words, "--threads=1", "-q", str(incoming / "pack"))
    made = repository.git().ask(*packing, stdin=wanted)
    if not made:
        return None
    folder.mkdir(exist_ok=True)
    place = folder / f"pack-{secrets.token_hex(20)}.pack"
    place.with_suffix(".keep").write_text(_KEEP)
    # With its index a pack begins to count.
    for file in sorted(incoming.glob(f"pack-{made}.*"), key=lambda file: file.suffix == ".idx"):
        file.rename(place.with_suffix(file.suffix))
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return place
