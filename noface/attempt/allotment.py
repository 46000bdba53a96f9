"""What a machine has once, and each workspace gets of its own: a number, ports, a compose project, a TMPDIR.

Workers and gates at work at the same time are kept apart by it if the project's programs go by these variables. They
differ by workspace, so no result of a gate is remembered by them (AttemptEnvironment.fingerprint).
"""

import hashlib
import os
import re
import tempfile
from pathlib import Path

from noface.errors import GitError
from noface.git.removal import remove
from noface.process.environment import TEMPORARY, Variables
from noface.process.ports import PortRanges
from noface.secrets.environment import fits

_KINDS = ("land", "agent", "gate", "setup")
_NAME_CHARS_MAX = 30


def slot_number(slot: str) -> int:
    """Return the number of a workspace by its name: small, and no two workspaces of a repository have the same.

    A worker's is not that of the gates after it: what it left in a database or container must not reach them (law 11).
    """
    kind, _, rest = slot.partition("-")
    index = int(re.sub(r"\D", "", rest) or 0)
    if kind == "gate" and not rest.isdecimal():
        kind = "land"  # "land" itself, and what of its kind has a number
    return len(_KINDS) * index + _KINDS.index(kind)


def compose_project(name: str, digest: str, number: int) -> str:
    """Return a name that docker compose takes: lower-case letters, digits, - and _, a letter first."""
    plain = re.sub(r"[^a-z0-9_-]++", "-", name.lower())[:_NAME_CHARS_MAX].strip("-_")
    return "-".join(part for part in ("noface", plain, digest, str(number)) if part)


class Allotments:
    """What the workspaces of a repository have been allotted; `close` takes it back.

    `place` names the repository on this machine, `name` is what people call it.
    """

    def __init__(self, place: str, name: str) -> None:
        digest = hashlib.sha256(os.fsencode(place)).hexdigest()
        self._name, self._digest = name, digest[:8]
        self._ports = PortRanges(int(digest[:8], 16))
        self._folders: set[Path] = set()

    def variables(self, slot: str, env_pass: tuple[str, ...], *, private_tmp: bool) -> Variables:
        """Return the variables for a command in a workspace; what `env_pass` names has the person's own value.

        Where it has a /tmp of its own, `private_tmp`, TMPDIR is left to that; else it is a new, empty folder.
        """
        number = slot_number(slot)
        ports = self._ports.of(number)
        given = {"NOFACE_SLOT": str(number), "COMPOSE_PROJECT_NAME": compose_project(self._name, self._digest, number)}
        if ports:
            given |= {"NOFACE_PORT": str(ports[0]), "NOFACE_PORTS": f"{ports[0]}-{ports[-1]}"}
        if not private_tmp and not _own("TMPDIR", env_pass):
            given |= dict.fromkeys(TEMPORARY, self._fresh_folder(slot))
        return tuple((name, value) for name, value in given.items() if not _own(name, env_pass))

    def folder(self, slot: str) -> Path:
        """Return where TMPDIR of a workspace lies: a short path, since those of sockets have at most 107 bytes."""
        return Path(tempfile.gettempdir(), f"noface-{self._digest}-{slot_number(slot)}")

    def _fresh_folder(self, slot: str) -> str:
        folder = self.folder(slot)
        try:
            remove(folder)
            folder.mkdir(0o700)
        except (GitError, OSError):  # another user's, or what a container left there as root
            folder = Path(tempfile.mkdtemp(prefix=f"{folder.name}-"))
        self._folders.add(folder)
        return str(folder)

    def forget(self, slot: str) -> None:
        """Remove the folder of a workspace that goes: a run that was killed has left it."""
        _try_to_remove(self.folder(slot))

    def close(self) -> None:
        """Give the ports back and remove the folders, as far as that can be done."""
        self._ports.close()
        while self._folders:
            _try_to_remove(self._folders.pop())


def _own(name: str, env_pass: tuple[str, ...]) -> bool:
    """True if a person has a value of their own for a variable and wants it passed on; never one of noface's."""
    return name in os.environ and not name.startswith("NOFACE_") and fits(name, env_pass)


def _try_to_remove(folder: Path) -> None:
    try:
        remove(folder)
    except GitError:
        return
