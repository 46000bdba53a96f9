"""What an agent may use and do in a run: whose settings act, which tools it has, how far it may write.

The words are noface's own; each agent's adapter maps them to its program's options. What a program cannot be held to
stands in data/agents.toml, and asking for it is an error of the configuration: no word is silently ignored.
"""

from enum import StrEnum


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
