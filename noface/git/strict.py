"""Asks git whether a server that checks what it is sent (`git fsck --strict`) would refuse what a file holds."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from noface.git.command import Git, failed

_SAID = re.compile(r"^(?:error|warning): object [0-9a-f]{40,64}: (\w+): (.*)$", re.MULTILINE)
_REGULAR = "100644"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The name of git's check that fails, and git's words."""

    check: str
    words: str


def refused(git: Git, name: str, blob: str) -> Refusal | None:
    """Return what git has against a blob under a name that it reads (.gitmodules, .gitattributes); None for nothing.

    It is checked in a pack of its own: nothing else in the repository is looked at, and an older fault hides no new
    one. Raises GitError where git fails otherwise.
    """
    tree = git.ask("mktree", stdin=f"{_REGULAR} blob {blob}\t{name}\n".encode())
    packing = ("pack-objects", "--stdout", "-q")
    packed = git.run(*packing, stdin=f"{tree}\n{blob}\n".encode())
    if packed.code != 0:
        raise failed(packing, packed)
    with tempfile.TemporaryDirectory(prefix="noface-") as folder:
        pack = Path(folder, "new.pack")
        pack.write_bytes(packed.stdout)
        checking = ("index-pack", "--strict", "-o", str(pack.with_suffix(".idx")), str(pack))
        checked = git.run(*checking)
    if checked.code == 0:
        return None
    said = _SAID.search(checked.stderr)
    if said is None:
        raise failed(checking, checked)
    return Refusal(said[1], said[2])
