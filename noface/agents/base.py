"""What an agent adapter is: it builds a command line and reads a stream. It starts no process."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from noface.data import table
from noface.data.extras import EXTRAS, extra
from noface.model.access import Permissions, Tool
from noface.model.attempt import AttemptOrder
from noface.model.failure import Failure
from noface.model.listed import Window
from noface.model.worker_run import ModelSpec, Session, Usage
from noface.process.files import real_folder
from noface.process.sandbox_home import AgentHome

LINE_BYTES_MAX = 4 * 1024 * 1024
LAST_WORDS_MAX = 2000
ANSWER_MAX = 200_000
"""Characters of a run's last message that are looked through for a report or an answer."""

ONLY_THE_STREAM: Mapping[str, str] = {}
"""The environment for a reader that is to look at nothing beside the stream."""

SESSION = "session"
"""The folder of an attempt's that belongs to its agent."""

OWN_SETTINGS = "own-settings"
"""A folder there that holds what the person has configured, keys among it. It is gone when the run has ended."""

WORKER = "worker"
"""The role that edits. In any other a run is asked something, and is kept from editing if the CLI can be."""


class EventKind(StrEnum):
    """What an agent is doing, as far as its output shows."""

    TEXT = "text"
    TOOL = "tool"
    EDIT = "edit"
    RETRY = "retry"
    LIMIT = "limit"
    ERROR = "error"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """One thing an agent wrote or did. `resets_at` (epoch seconds) belongs to a LIMIT whose end the provider gave."""

    kind: EventKind
    text: str
    resets_at: float | None = None

    @property
    def alive(self) -> bool:
        """True if the event shows that work goes on."""
        return self.kind is not EventKind.RETRY


class ToolProcesses(StrEnum):
    """How an agent starts the programs of its tools: in sessions of their own, or as it starts anything."""

    APART = "apart"
    BELOW = "below"


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A tool call that has begun and not ended. `command` is "" if it runs no program: it asks a server, or the web."""

    id: str
    text: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where a run takes place, in absolute paths; the workspace is seen at `address`, unless that is empty.

    `directory` is the agent's own; `logs` is where noface writes what it prints, the same unless it is given.
    `boxed`: noface's own sandbox holds it to its permissions.
    """

    workspace: str
    prompt_file: str
    order_file: str
    directory: str
    logs: str = ""
    boxed: bool = False
    address: str = ""

    @property
    def seen(self) -> str:
        return self.address or self.workspace

    @property
    def schema_file(self) -> str:
        return str(Path(self.prompt_file).with_name("answer.schema.json"))

    @property
    def log_folder(self) -> str:
        return self.logs or self.directory


def place_in(workspace: Path, directory: Path) -> RunPlace:
    session = directory / SESSION
    real_folder(session, directory.parent)
    return RunPlace(
        str(workspace), str(directory / "prompt.md"), str(directory / "order.json"), str(session), str(directory)
    )


@dataclass(frozen=True, slots=True)
class Invocation:
    """A program to start; `env` comes on top of the usual. `dropped` folders are the person's, and go after the run."""

    argv: tuple[str, ...]
    stdin: str | None
    env: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()


def option(name: str, value: str | float | None) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    return name, value if isinstance(value, str) else f"{value:g}"


def may_edit(model: ModelSpec) -> bool:
    return model.permissions is not Permissions.READ_ONLY and model.may(Tool.EDIT)


def resuming(flag: str, session: Session | None) -> tuple[str, ...]:
    return (flag, session.id) if session is not None else ()


def defaults(model: ModelSpec, *variables: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that `[models.NAME] env` does not set itself: what a person wrote there stands."""
    own = {name for name, _ in model.env}
    return tuple((name, value) for name, value in variables if name not in own)


def denied_tools(model: ModelSpec) -> tuple[Tool, ...]:
    """Return the groups of tools that a model's runs may not use; to read only is to edit nothing and run nothing."""
    read_only = (Tool.EDIT, Tool.RUN) if model.permissions is Permissions.READ_ONLY else ()
    return tuple(tool for tool in Tool if tool in read_only or not model.may(tool))


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """What the stream and the exit code say of a run. `finished` False: its work may be half done.

    `resource` names what it ran out of; `refused` is what the program itself kept its model from doing.
    """

    usage: Usage = field(default_factory=Usage)
    last_words: str = ""
    error: Failure | None = None
    finished: bool = True
    resource: str = ""
    answer: str = ""
    refused: tuple[str, ...] = ()


class StreamReader(ABC):
    """Reads one run's standard output as it grows. An adapter's reader states what differs from these defaults."""

    any_output_is_life = False
    """True if the agent has no typed events: then every byte shows that it lives."""
    tells_calls = False
    """True if the stream tells of a tool call when it begins."""
    repeats = False
    """True once the program only asks its provider again and again, and would do so for ever."""

    @property
    def ended(self) -> bool:
        """True if the stream's last word is that the work is over: what it counts is the sum, and no new answer."""
        return False

    @property
    def awaits(self) -> bool:
        """True if it has announced work in the background that has not ended, for which it may stay."""
        return False

    @property
    def quota(self) -> tuple[Window, ...]:
        """The windows of its login's quota at the provider, as far as it has told of them."""
        return ()

    @property
    def open_calls(self) -> Sequence[OpenCall]:
        """The tool calls that have begun and not ended, the oldest first: those that may take their time."""
        return ()

    @abstractmethod
    def feed(self, data: bytes) -> list[AgentEvent]:
        """Take the next bytes and return the events they complete."""

    @abstractmethod
    def used(self) -> Usage:
        """Return what the run has used so far, as far as it is known. Cheap: called several times a second."""

    @abstractmethod
    def verdict(self, exit_code: int | None, stderr: str) -> RunVerdict:
        """Judge the run, once its process has ended by itself. Its usage counts however the run ended."""


class Agent(ABC):
    """An agent program noface can drive. An adapter states what differs from these defaults."""

    name: ClassVar[str] = ""
    """The program, unless `[models.NAME] command` gives another; "" if none is needed."""
    stream: ClassVar[type[StreamReader]]
    """What reads the program's output."""
    enforces_cost: ClassVar[bool] = False
    """True if the program ends a run at `max_cost_usd` by itself, and more gently than from outside."""

    def __init__(self) -> None:
        entry = table("agents").get(self.name, {})  # one without a name of its own lists nothing
        self.environment: tuple[str, ...] = tuple(entry.get("environment", ()))
        """Glob patterns of the variables that the program reads for itself, its keys among them."""
        self.instructions: tuple[str, ...] = tuple(entry.get("instructions", ()))
        """The files at the top of a project that it reads by itself, for what agents should know."""
        self.chooses_settings = bool(entry.get("settings"))
        """True if noface can choose whose settings of the program act."""
        self.tool_processes = ToolProcesses(entry["tool_processes"]) if "tool_processes" in entry else None
        """How the processes of its tools are told from its own; None if they are not."""
        self.resumes = "resumes" in entry
        """True if the program can go on with a session of an earlier run, by the id that its stream gave."""
        self.resumes_anywhere = entry.get("resumes") == "anywhere"
        """True if it can do so in another folder than the session was begun in."""
        self.takes_schema = bool(entry.get("takes_schema"))
        """True if the program has an option for the schema of the answer."""
        self.wants_files = bool(entry.get("wants_files"))
        """True if the program has no tools to find files with: it is given those that the work is about."""

    @property
    def homes(self) -> tuple[AgentHome, ...]:
        """The folders of the person's home that the program needs in a sandbox, its login among them."""
        return tuple(AgentHome.of(home) for home in table("agents").get(self.name, {}).get("homes", ()))

    def session_usage(self, session: str, env: Mapping[str, str]) -> Usage:
        """Return what the program will count for a session before a run goes on with it, if it counts it at all."""
        del session, env
        return Usage()

    def program(self, model: ModelSpec) -> str:
        """Return the program that must be on PATH, or "" if none is needed."""
        return model.command or self.name

    @abstractmethod
    def invocation(self, order: AttemptOrder, place: RunPlace) -> Invocation:
        """Return how to start the agent on an order."""

    def reader(self, env: Mapping[str, str] = ONLY_THE_STREAM, session: Session | None = None) -> StreamReader:
        """Return a reader for one run, which goes on with `session` if any; `env` leads to the program's files."""
        del env, session
        return self.stream()


class Lines:
    """Cuts a stream into lines. A line beyond `LINE_BYTES_MAX` is passed over as a whole and counted."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._skipping = False
        self.too_long = 0

    def feed(self, data: bytes) -> list[str]:
        """Take bytes and return the lines they complete, without their ends; undecodable bytes are replaced."""
        *complete, rest = data.split(b"\n")
        lines = []
        for piece in complete:
            self._add(piece)
            if not self._skipping:
                lines.append(self._pending.decode("utf-8", "replace").rstrip("\r"))
            self._pending.clear()
            self._skipping = False
        self._add(rest)
        return lines

    def _add(self, piece: bytes) -> None:
        if self._skipping:
            return
        if len(self._pending) + len(piece) > LINE_BYTES_MAX:
            self._pending.clear()
            self._skipping = True
            self.too_long += 1
        else:
            self._pending += piece

    def rest(self) -> str:
        return bytes(self._pending).decode("utf-8", "replace")


class TextTail:
    """The newest lines of a text, `ANSWER_MAX` characters of them at most."""

    def __init__(self) -> None:
        self._text = ""

    def append(self, line: str) -> None:
        self._text = f"{self._text}{line}\n"[-ANSWER_MAX - 1 :]

    def clear(self) -> None:
        self._text = ""

    @property
    def lines(self) -> list[str]:
        return self._text.split("\n")[:-1]

    @property
    def text(self) -> str:
        return self._text.strip()


class _Agents(Mapping[str, Agent]):
    def __getitem__(self, name: str) -> Agent:
        if name not in table("agents"):
            raise KeyError(name)
        further = f"agent {name}"
        adapter: Agent = extra(further) if further in EXTRAS else import_module(f"noface.agents.{name}").AGENT
        return adapter

    def __iter__(self) -> Iterator[str]:
        return iter(table("agents"))

    def __len__(self) -> int:
        return len(table("agents"))


AGENTS: Mapping[str, Agent] = _Agents()
"""The agents noface can drive, by the name that `[models.NAME] agent` gives them. The registry is data/agents.toml.

Adding one: its adapter, a folder of `noface/extras` with its name in `data/extras.py`; its table there; recordings in
tests. An adapter is imported when it is first used.
"""
