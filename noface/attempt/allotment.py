"""What a machine has once, and each workspace gets of its own, as variables: a number, ports, a compose project."""

import hashlib
import os
import re

from noface.process.ports import PortRanges

_KINDS = ("land", "agent", "gate", "setup")
_NAME_CHARS_MAX = 30


def slot_number(slot: str) -> int:
    """Return the number of a workspace: its own, and other than that of the gates after it (law 11)."""
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
    """What the workspaces of the repository at `place`, called `name`, have been allotted. `close` takes ports back."""

    def __init__(self, place: str, name: str) -> None:
        digest = hashlib.sha256(os.fsencode(place)).hexdigest()
        self._name, self._digest = name, digest[:8]
        self._ports = PortRanges(int(digest[:8], 16))
        self.close = self._ports.close

    def variables(self, slot: str) -> dict[str, str]:
        number = slot_number(slot)
        given = {"NOFACE_SLOT": str(number), "COMPOSE_PROJECT_NAME": compose_project(self._name, self._digest, number)}
        if ports := self._ports.of(number):
            given |= {"NOFACE_PORT": str(ports[0]), "NOFACE_PORTS": f"{ports[0]}-{ports[-1]}"}
        return given
