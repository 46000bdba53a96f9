"""What home and a host say to each other over ssh before dask.distributed does: a line of JSON each.

The host says hello, home invites it, the host says that it has joined. From then on home sends an empty line every
`BEAT_S`: its ssh notices a cut by itself, but the host's sshd, as it is usually set up, would never tell of one.
"""

import json
import socket
from collections.abc import Mapping
from typing import NamedTuple

BEAT_S = 2.0
SILENCE_S = 12.0
"""How long a host waits for a beat before it takes home for gone."""

LINE_BYTES_MAX = 1 << 16


class Invitation(NamedTuple):
    """What a host needs to join: where, as what, and what it proves itself with (PEM).

    `scheduler` is the address of the scheduler, `contact` that at which home reaches the worker, if it is another than
    the worker listens at. `name` is what the worker is called, `attempts` how many it carries out at once.
    """

    scheduler: str
    contact: str | None
    name: str
    attempts: int
    ca: str
    cert: str
    key: str


def parse_invitation(line: bytes) -> Invitation | None:
    """Return what a line says, None if it is no invitation."""
    value = parse_line(line)
    if value is None or set(value) != set(Invitation._fields):
        return None
    made = Invitation._make(value[name] for name in Invitation._fields)
    texts = (made.scheduler, made.contact, made.name, made.ca, made.cert, made.key)
    whole = type(made.attempts) is int and made.attempts > 0
    return made if whole and all(isinstance(text, str) for text in texts) else None


def parse_line(line: bytes) -> Mapping[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def held_port() -> socket.socket:
    """Return a socket that keeps a free port of loopback from everybody but a server that is to listen there.

    It does not listen itself; with SO_REUSEADDR on both the server can.
    """
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held
