"""What an agent may use and do in a run: whose settings act, which tools it has, how far it may write.

The words are noface's own; each agent's adapter maps them to its program's options. What a program cannot be held to
stands in data/agents.toml, and asking for it is an error of the configuration: no word is silently ignored.
"""

import re
from enum import StrEnum

_SERVICE = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\]):(?P<port>[1-9][0-9]{0,4})")


class Settings(StrEnum):
    """Whose settings of an agent's program act; login, provider and models do in any case. PROJECT: no hooks."""

    PROJECT = "project"
    USER = "user"
    NONE = "none"


class Tool(StrEnum):
    """A group of an agent's tools."""

    READ = "read"
    EDIT = "edit"
    RUN = "run"
    WEB = "web"
    AGENTS = "agents"
    MCP = "mcp"


class Permissions(StrEnum):
    """What the agent's program itself lets a run do, inside noface's own sandbox, which bounds it in any case.

    `FULL`: it neither asks nor forbids. `WORKSPACE`: it writes in the workspace alone. `READ_ONLY`: it edits nothing,
    and runs no command that writes.
    """

    FULL = "full"
    WORKSPACE = "workspace"
    READ_ONLY = "read-only"


class Network(StrEnum):
    """What a command in the sandbox reaches of the network; outside it each command shares the machine's.

    With AUTO a gate has what OFF gives as long as main passes so; if not, what main needs.
    """

    AUTO = "auto"
    OFF = "off"
    """A loopback of its own, and nothing else."""
    OWN = "own"
    """The same, and the outside by way of a program such as pasta; the machine's network where there is none."""
    ON = "on"
    """The machine's, with whatever listens on its loopback."""


def port_of(service: str) -> int | None:
    """Return the port of a service, None if it is the path or the name of a Unix socket.

    Raises ValueError if it is none of these.
    """
    if service.startswith(("/", "@")):
        return None
    match = _SERVICE.fullmatch(service)
    if match is None or int(match["port"]) >= 1 << 16:
        raise ValueError(service)
    return int(match["port"])


def is_service(text: str) -> bool:
    try:
        port_of(text)
    except ValueError:
        return False
    return True


def named(services: tuple[str, ...]) -> tuple[str, ...]:
    ports = {service: port_of(service) for service in services}
    return tuple(service if port is None else f"localhost:{port}" for service, port in ports.items())
