"""Real agent programs in a real project, against a model on loopback that plays a scenario."""

import json
import os
import re
import shutil
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from endpoints import GEMINI_SETTINGS, MODELS, endpoint
from install import clis
from model_server import Model
from scenario import Scenario, scenario

from noface.agents.base import Place, RunVerdict
from noface.agents.registry import AGENTS
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.worker_run import ModelSpec
from noface.process.environment import agent_environment
from noface.process.sandbox import find_bubblewrap
from noface.process.supervise import Canceller, Command, Exit, Launcher

CLIS = clis()
SANDBOX = "bubblewrap" if find_bubblewrap(shutil.which("bwrap")).works else "none"


def toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(each) for each in value) + "]"
    return "'" + value + "'" if isinstance(value, str) else str(value)


@dataclass
class Real:
    """A project whose worker is a real agent program, and the model behind it."""

    project: Any
    folder: Path
    cli: str = ""
    model: Model | None = None
    opened: list[Model] = field(default_factory=list)
    ending_s: float = 0.0
    sandbox: str = SANDBOX

    def play(self, name: str | Scenario) -> Model:
        """Start a model that plays a scenario."""
        self.settings_of_gemini()
        self.model = Model(scenario(name) if isinstance(name, str) else name).__enter__()
        self.opened.append(self.model)
        return self.model

    def settings_of_gemini(self, **more: Any) -> None:
        """Write what a person who uses Gemini CLI with a key has in their home."""
        settings = self.folder / ".gemini" / "settings.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps(GEMINI_SETTINGS | more))

    def close(self) -> None:
        for model in self.opened:
            model.__exit__()

    def config(self, cli: str, *, args: tuple[str, ...] = (), idle: int = 100, env: dict[str, str] | None = None,
               workers: int = 1, own_endpoint: bool = False) -> None:  # fmt: skip
        """Write a noface.toml whose one model is the real program."""
        assert self.model is not None
        given, more = ({}, []) if own_endpoint else endpoint(cli, self.model.url)
        self.cli = cli
        text = f"""
[[gates]]
name = "check"
command = "test -e a.txt && test ! -e bad"

[models.real]
agent = "{cli}"
command = "{CLIS[cli].program}"
model = "{MODELS[cli]}"
args = {toml([*more, *args])}
env = {toml(given | (env or {}))}
timeout = "150s"
idle_timeout = "{idle}s"

[retry]
default_model = "real"
max_total_attempts = 1

[run]
slots_dir = "{self.folder}/slots"
workers = {workers}

[sandbox]
kind = "{SANDBOX}"
"""
        (self.project.path / "noface.toml").write_text(text)

    def run(self, issue: int = 1) -> tuple[dict[str, Any], str]:
        """Run noface once on an issue; its only attempt, and what was printed."""
        self.issue(issue)
        done = self.project.noface("run", "--once")
        assert done.returncode in (0, 3, 4), f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        (attempt,) = self.project.attempts(str(issue))
        return attempt, done.stdout + done.stderr

    def issue(self, number: int, file: str = "b.txt") -> None:
        """Commit an issue that wants a file."""
        self.project.issue(number, "Write a file", f"Write a file {file} that holds the word done.")
        self.project.commit("an issue")

    def left(self) -> list[int]:
        """Return the processes that noface started and that still run."""
        return self.project.processes()

    def landed(self) -> list[str]:
        """Return the paths that main's newest commit changed."""
        return self.project.git("diff", "--name-only", "HEAD~1", "HEAD").split()

    def kept(self) -> set[str]:
        """Return every path in every commit that noface kept of the attempts."""
        refs = self.project.git("for-each-ref", "--format=%(objectname)", "refs/noface", "refs/heads").split()
        return {path for ref in refs for path in self.project.git("ls-tree", "-r", "--name-only", ref).splitlines()}

    def started(self, cli: str, prompt: str, *, role: str = "worker", think: bool = False, model: str = "",
                args: tuple[str, ...] = (), env: dict[str, str] | None = None, until: Callable[[], object] | None = None,
                schema: str = "") -> tuple[Exit, RunVerdict]:  # fmt: skip
        """Run the program alone on a prompt, as its adapter says, in the project's folder; end it when `until` is true.

        The seconds that ending it took are in `self.ending_s`.
        """
        assert self.model is not None
        given, more = endpoint(cli, self.model.url)
        spec = ModelSpec(
            "real", cli, model or MODELS[cli], command=str(CLIS[cli].program), args=(*more, *args),
            env=tuple((given | (env or {})).items()),
        )  # fmt: skip
        directory = self.folder / "attempt"
        directory.mkdir(exist_ok=True)
        (directory / "prompt.md").write_text(prompt)
        place = Place(str(self.project.path), str(directory / "prompt.md"), "", str(directory))
        order = AttemptOrder(
            "r",
            "t",
            Issue("1", "One"),
            1,
            spec,
            prompt,
            "m",
            "s",
            0,
            str(directory),
            (),
            think=think,
            role=role,
            answer_schema=schema,
        )
        if schema:
            Path(place.schema_file).write_text(schema)
        agent = AGENTS[cli]
        invocation = agent.invocation(order, place)
        logs = [directory / "agent.log", directory / "agent.err"]
        for log in logs:
            log.unlink(missing_ok=True)
        home = {name: self.project.environment()[name] for name in ("HOME", "XDG_CACHE_HOME")}
        marked = home | {"NOFACE_STATE": str(self.project.state)} | dict(spec.env) | dict(invocation.env)
        environment = agent_environment(agent.environment, spec, marked.items())
        cancel, cancelled_at = Canceller(), 0.0

        def looked() -> float:
            nonlocal cancelled_at
            if until is not None and not cancel.cancelled and until():
                cancelled_at = time.monotonic()
                cancel.cancel()
            return time.monotonic()

        with Launcher() as launcher:
            ended = launcher.run(
                Command(
                    argv=invocation.argv,
                    cwd=str(self.project.path),
                    env=environment,
                    stdin=invocation.stdin,
                    stdout=str(logs[0]),
                    stderr=str(logs[1]),
                    timeout_s=100,
                    idle_timeout_s=None,
                    log_max_bytes=50_000_000,
                ),
                cancel,
                on_output=looked,
            )
        self.ending_s = time.monotonic() - cancelled_at
        reader = agent.reader(dict(environment))
        reader.feed(logs[0].read_bytes())
        return ended, reader.verdict(ended.exit_code, logs[1].read_text("utf-8", "replace"))


@pytest.fixture
def real(project: Any, tmp_path: Path) -> Iterator[Real]:
    made = Real(project, tmp_path)
    yield made
    made.close()
    left = made.left()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == [], "processes were left behind"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many tests ran with each program."""
    ran: Counter[tuple[str, str]] = Counter()
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            named = re.search(r"\[(\w+)", report.nodeid)
            ran[named[1] if named else "", outcome] += 1
    for name, cli in CLIS.items():
        counts = ", ".join(f"{ran[name, outcome]} {outcome}" for outcome in ("passed", "failed", "error"))
        terminalreporter.write_line(f"{name} {cli.version}: {counts}")
    alone = [name for _, name in socket.if_nameindex()] == ["lo"]
    terminalreporter.write_line(
        "network: loopback only" if alone else "network: NOT cut off, see tests/real_agents/run.py"
    )
