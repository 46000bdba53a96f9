"""A real project in a temporary folder: git repository, noface.toml, issues, a scripted worker, and noface run on it."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from noface.model.transitions import UnexpectedStep
from noface.store.check import database_facts
from noface.store.database import Database

from .processes import wait_for
from .warm_noface import WarmNoface, WarmProcess

GATE = "test ! -e bad && test -e a.txt"
PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider --disable-plugin-autoload"
"""A gate that starts quickly, whatever plugins are installed beside the tests."""

CONFIG = """\
[[gates]]
name = "check"
command = "{gate}"
canary = {canary}

[models.small]
agent = "scripted"
command = "{script}"
tier = 1
timeout = "60s"
idle_timeout = "30s"

[models.big]
agent = "scripted"
command = "{script}"
tier = 2

[retry]
default_model = "small"
escalation_model = "big"

[sandbox]
kind = "{sandbox}"

[run]
slots_dir = "{slots}"
workers = {workers}
"""

HALF = ("1", 1, [{"write": "half.txt", "text": "half"}, {"sleep": 60}])
WHOLE = ("*", 0, [{"write": "b.txt", "text": "b"}])


@dataclass
class Project:
    """A repository at `path` with a scripted worker; every method acts as a person at the keyboard would."""

    path: Path
    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    base: str = ""
    warm: ClassVar = WarmNoface()
    started: list["WarmProcess | subprocess.Popen[str]"] = field(default_factory=list)

    @property
    def script(self) -> Path:
        return self.folder / "script.toml"

    @property
    def state(self) -> Path:
        return self.path / ".git" / "noface"

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *args], cwd=self.path, env=self.environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or not check, f"git {args}: {done.stderr}"
        return done.stdout.strip()

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, message: str = "work") -> str:
        self.git("add", "-A")
        self.git("-c", "maintenance.auto=false", "commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def issue(self, number: int | str, title: str = "", body: str = "", **front: Any) -> Path:
        lines = [f"{key} = {json.dumps(value)}" for key, value in front.items()]
        head = "+++\n" + "\n".join([f"title = {json.dumps(title or f'Issue {number}')}", *lines]) + "\n+++\n"
        return self.write(f"issues/{number}-x.md", head + (body or "Do it."))

    def play(self, *plays: tuple[Any, ...]) -> None:
        """Tell the scripted worker: (issue or "*", attempt or 0, steps), and the role where it is asked something."""
        blocks = []
        for issue, attempt, steps, *role in plays:
            shown = ", ".join(
                "{ " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in step.items()) + " }" for step in steps
            )
            as_role = f'role = "{role[0]}"\n' if role else ""
            blocks.append(f'[[play]]\nissue = "{issue}"\nattempt = {attempt}\n{as_role}steps = [{shown}]\n')
        self.script.write_text("\n".join(blocks))

    def config(
        self, extra: str = "", *, gate: str = GATE, workers: int = 1, sandbox: str = "none", canary: bool = False
    ) -> None:
        """Write noface.toml. Most gates here look at no source file, so that the canary would hold nothing of them."""
        slots, flies = self.folder / "slots", str(canary).lower()
        text = CONFIG.format(gate=gate, script=self.script, slots=slots, workers=workers, sandbox=sandbox, canary=flies)
        self.write("noface.toml", text + extra)

    def environment(self, **extra: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "NOFACE_", "PYTEST_"))}
        home = {"HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache"), "COLUMNS": "80"}
        return {**kept, **home, **self.env, **extra}

    def cold(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run noface in an interpreter of its own, as a shell does."""
        return subprocess.run(
            [sys.executable, "-m", "noface", *args],
            cwd=self.path,
            env=self.environment(**env),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=180,
            check=False,
        )

    def start(self, *args: str, **env: str) -> "WarmProcess | subprocess.Popen[str]":
        if not self._is_special(env):
            warm = self.warm.start([*args], str(self.path), self.environment(**env))
            self.started.append(warm)
            return warm
        process = subprocess.Popen(
            [sys.executable, "-m", "noface", *args],
            cwd=self.path,
            env=self.environment(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.started.append(process)
        return process

    def noface(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run noface in a process of its own that need not import anything first.

        What Python itself looks at when it starts, and what /proc shows of the environment, only `cold` can tell.
        """
        if self._is_special(env):
            return self.cold(*args, **env)
        return self.warm.run([*args], str(self.path), self.environment(**env), timeout=180)

    def _is_special(self, env: dict[str, str]) -> bool:
        return any(name.startswith("PYTHON") for name in self.env.keys() | env.keys())

    def run(self, *args: str, code: int = 0, **env: str) -> str:
        done = self.noface("run", *args, **env)
        assert done.returncode == code, f"exit {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def shown(self, *args: str) -> dict[str, Any]:
        done = self.noface(*args, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def statuses(self) -> dict[str, str]:
        return {issue["id"]: issue["status"] for issue in self.shown("status")["issues"]}

    def attempts(self, issue: str) -> list[dict[str, Any]]:
        return self.shown("show", issue)["attempts"]

    def prompt(self, issue: str, attempt: int) -> str:
        return (self.state / "attempts" / issue / str(attempt) / "prompt.md").read_text()

    def processes(self) -> list[int]:
        """The processes that carry this project's marker."""
        mark = f"NOFACE_STATE={self.state}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if mark in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    def unexpected_steps(self) -> tuple[UnexpectedStep, ...]:
        """The changes of state that noface has made and that its table of transitions does not have."""
        with closing(Database.open(self.state / "state.db")) as database:
            return database_facts(database).unexpected_steps

    def half_done(self, *plays: tuple[Any, ...]) -> "WarmProcess | subprocess.Popen[str]":
        """Start a run, and return it once the worker of issue 1 has written half.txt: it sleeps; the next does all."""
        self.play(*plays or (HALF, WHOLE))
        self.issue(1)
        self.commit()
        running = self.start("run")
        self.in_slots("half.txt")
        return running

    def in_slots(self, name: str) -> Path:
        """Wait until a worker or gate has written to a file of this name in a slot; the file."""

        def found() -> Path | None:
            try:
                return next((path for path in (self.folder / "slots").rglob(name) if path.stat().st_size), None)
            except OSError:  # what was listed is gone: slots are made, emptied and removed all the time
                return None

        return wait_for(found)

    def end(self) -> None:
        """End what a test has left at work; some of it may end by itself meanwhile."""
        for process in self.started:
            process.kill()
            with process:  # closes its output and waits for it
                pass
        while left := self.processes():
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


class Restored:
    """A project as a story has left it, for many tests: told once, then copied back to the same place.

    The place must be the same, because what noface writes names it.
    """

    def __init__(self, folder: Path) -> None:
        self._place, self._kept = folder / "project", folder / "kept"

    def give(self, project: Project, story: Callable[[Project], None]) -> None:
        """Move `project` to the place, with the story told."""
        shutil.rmtree(self._place, ignore_errors=True)
        told = self._kept.exists()
        shutil.copytree(self._kept if told else project.folder, self._place, symlinks=True)
        project.path, project.folder = self._place / project.path.name, self._place
        project.git("update-index", "-q", "--refresh")
        if not told:
            project.config()
            story(project)
            shutil.copytree(self._place, self._kept, symlinks=True)
