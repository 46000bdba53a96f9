"""Real agent programs in a real project, against a model on loopback that plays a scenario.

A test that is marked `row("NAME")` shows a cell of the table agent × scenario; see cells.toml.
"""

import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from endpoints import GEMINI_SETTINGS, MODELS, agent_of, endpoint
from install import clis
from model_server import Model
from scenario import Scenario, scenario
from summary import (
    ROW,
    SANDBOX,
    cell,
    pytest_configure,
    pytest_runtest_logreport,
    pytest_sessionfinish,
    pytest_terminal_summary,
)

from noface.agents.base import AGENTS, WORKER, RunPlace, RunVerdict
from noface.model.access import Permissions, Tool
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.worker_run import ModelSpec, Session
from noface.process.environment import agent_environment
from noface.process.supervise import Canceller, Command, Exit, Launcher

__all__ = [
    "cell",
    "pytest_configure",
    "pytest_runtest_logreport",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "real",
]

CLIS = clis()
GATE = "test -e a.txt && test ! -e bad"

ASKED = {"permissions": Permissions.READ_ONLY, "tools": (Tool.READ,)}
"""What a model may do as a role, unless noface.toml says more."""


def toml(value: Any) -> str:
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

    def model_entry(self, cli: str, *, name: str = "real", model: str = "", args: tuple[str, ...] = (), idle: int = 100,
                    env: dict[str, str] | None = None, own_endpoint: bool = False, own: str = "") -> str:  # fmt: skip
        """Return an entry of [models] that is the real program; `own` are further lines of it."""
        assert self.model is not None
        given, more = ({}, []) if own_endpoint else endpoint(cli, self.model.url)
        return f"""
[models.{name}]
agent = "{agent_of(cli)}"
command = "{CLIS[agent_of(cli)].program}"
model = "{model or MODELS[cli]}"
args = {toml([*more, *args])}
env = {toml(given | (env or {}))}
timeout = "150s"
idle_timeout = "{idle}s"
{own}
"""

    def config(self, cli: str, *, model: str = "", args: tuple[str, ...] = (), idle: int = 100,
               env: dict[str, str] | None = None, workers: int = 1, own_endpoint: bool = False, own: str = "",
               gate: str = GATE, retry: str = "", run: str = "", more: str = "") -> None:  # fmt: skip
        """Write a noface.toml whose first model is the real program.

        `own`, `retry` and `run` are further lines of [models.real], [retry] and [run], `more` is what follows it all.
        """
        self.cli = cli
        entry = self.model_entry(cli, model=model, args=args, idle=idle, env=env, own_endpoint=own_endpoint, own=own)
        text = f"""
[[gates]]
name = "check"
command = "{gate}"
{entry}
[retry]
default_model = "real"
{retry}

[run]
slots_dir = "{self.folder}/slots"
workers = {workers}
{run}

[sandbox]
kind = "{SANDBOX}"
{more}
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
        self.project.issue(number, "Write a file", f"Write a file {file} that holds the word done.")
        self.project.commit("an issue")

    def left(self) -> list[int]:
        return self.project.processes()

    def landed(self) -> list[str]:
        return self.project.git("diff", "--name-only", "HEAD~1", "HEAD").split()

    def next(self, issue: int = 1) -> str:
        """Return the status of an issue, and the reason that `noface status` gives: what noface does next."""
        (found,) = [each for each in self.project.shown("status")["issues"] if each["id"] == str(issue)]
        told = found["reason"] and found["status"] != "merged"
        return f"{found['status']} ({found['reason']})" if told else str(found["status"])

    def sight(self) -> str:
        """Return what noface made of all issues: how their attempts ended, and what is next."""
        if not (self.project.state / "state.db").exists():
            return ""
        sights: Counter[str] = Counter()
        for each in self.project.shown("status")["issues"]:
            outcomes = [attempt["outcome"] or "under way" for attempt in self.project.attempts(each["id"])]
            sights[f"{', '.join(outcomes) or 'no attempt'} → {_undated(self.next(each['id']))}"] += 1
        return "; ".join(f"{count} × {sight}" if count > 1 else sight for sight, count in sights.items())

    def kept(self) -> set[str]:
        """Return every path in every commit that noface kept of the attempts."""
        refs = self.project.git("for-each-ref", "--format=%(objectname)", "refs/noface", "refs/heads").split()
        return {path for ref in refs for path in self.project.git("ls-tree", "-r", "--name-only", ref).splitlines()}

    def started(self, cli: str, prompt: str, *, role: str = WORKER, think: bool = False, model: str = "",
                args: tuple[str, ...] = (), env: dict[str, str] | None = None, until: Callable[[], object] | None = None,
                schema: str = "", files: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
                own_endpoint: bool = False, session: Session | None = None, **more_of_model: Any) -> tuple[Exit, RunVerdict]:  # fmt: skip
        """Run the program alone on a prompt, as its adapter says, in the project's folder; end it when `until` is true.

        The seconds that ending it took are in `self.ending_s`. `files` are those that it is given: to change, to read.
        """
        assert self.model is not None
        given, more = ({}, []) if own_endpoint else endpoint(cli, self.model.url)
        name, cli = cli, agent_of(cli)
        spec = ModelSpec(
            "real", cli, model or MODELS[name], command=str(CLIS[cli].program), args=(*more, *args),
            env=tuple(({"HOME": str(self.folder)} | given | (env or {})).items()),
            **({} if role == WORKER else ASKED), **more_of_model,
        )  # fmt: skip
        directory = self.folder / "attempt"
        directory.mkdir(exist_ok=True)
        (directory / "prompt.md").write_text(prompt)
        place = RunPlace(str(self.project.path), str(directory / "prompt.md"), "", str(directory))
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
            session=session,
            files=files[0],
            files_to_read=files[1],
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


def _undated(text: str) -> str:
    """Return a text without times of day and amounts, which differ from run to run."""
    return re.sub(r"\d+(?=[.:]\d)|(?<=[.:])\d+", "…", text)


@pytest.fixture
def real(project: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Real]:
    made = Real(project, tmp_path)
    yield made
    made.close()
    left = made.left()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    if request.node.get_closest_marker(ROW):
        request.node.user_properties.append(("seen", made.sight()))
    assert left == [], "processes were left behind"
