"""Make the sample project: a small library with bugs, its test suite, and a backlog that reports the bugs."""

import os
import shlex
import subprocess
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from noface.demo.catalogue import Bug
from noface.demo.draw import draw
from noface.demo.project_files import GITIGNORE, PYPROJECT, README, issue_file, settings

FIRST_ID = 101
PACKAGE = "oddments"
WORKER = "noface.demo.worker"
_IDENTITY = {"NAME": "Demo", "EMAIL": "demo@localhost"}


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample project as made; `issues` are (id, title, class of bug) in the order of their ids."""

    directory: Path
    issues: tuple[tuple[str, str, str], ...]


def build(directory: Path, seed: int | None, python: str) -> Sample:
    """Make the project in `directory`, with `python` (which must have pytest and noface) in its commands.

    Raises ValueError where the directory exists and is not empty, and RuntimeError where git fails.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ValueError(f"{directory} exists and is not empty; name a directory that doesn't exist yet")
    directory.mkdir(parents=True, exist_ok=True)
    bugs = draw(seed)
    ids = {bug.name: str(FIRST_ID + number) for number, bug in enumerate(bugs)}
    _git(directory, "init", "--quiet", "--initial-branch=main", "--template=")
    modules = library(bugs)
    start = {"README.md": README, ".gitignore": GITIGNORE, "pyproject.toml": PYPROJECT}
    _write(directory, {**start, **modules.pop("__init__")})
    _commit(directory, "Start the project")
    for module, files in modules.items():
        _write(directory, files)
        _commit(directory, f"Add {module}")
    for bug in bugs:
        _write(directory, _reported(bug, ids, python))
    _write(directory, {"noface.toml": settings(python, worker_command(python))})
    _commit(directory, "Open the backlog")
    return Sample(directory, tuple((ids[bug.name], bug.title, bug.kind.value) for bug in bugs))


def library(bugs: tuple[Bug, ...]) -> dict[str, dict[str, str]]:
    """Return the library's files by module, with the wrong text of each bug in place of the right one."""
    home = resources.files("noface.demo") / "library"
    made: dict[str, dict[str, str]] = {}
    for file in sorted((home / PACKAGE).iterdir(), key=lambda file: file.name):
        name = file.name.removesuffix(".txt")
        module = name.removesuffix(".py")
        text = file.read_text(encoding="utf-8")
        for bug in bugs:
            if bug.module == module and bug.right:
                if text.count(bug.right) != 1:
                    raise ValueError(f"bug {bug.name}: its right text occurs {text.count(bug.right)} times in {name}")
                text = text.replace(bug.right, bug.wrong)
        made[module] = {f"{PACKAGE}/{name}": text}
        tests = home / "tests" / f"test_{name}.txt"
        if tests.is_file():
            made[module][f"tests/test_{name}"] = tests.read_text(encoding="utf-8")
    return made


def worker_command(python: str) -> str:
    """Return the shell command of the built-in worker, without its tier.

    `-I` keeps the checkout's files from being imported in the worker's place. A noface that is not installed but
    run from its folder is invisible to `-I`; its folder is then named in the command.
    """
    plain = [python, "-I", "-m", WORKER]
    known = subprocess.run([python, "-I", "-c", f"import {WORKER}"], capture_output=True, check=False)
    if known.returncode == 0:
        return shlex.join(plain)
    home = str(Path(__file__).resolve().parents[2])
    code = f"import sys; sys.path.insert(0, {home!r}); from {WORKER} import main; sys.exit(main())"
    return shlex.join([python, "-I", "-c", code])


def _reported(bug: Bug, ids: dict[str, str], python: str) -> dict[str, str]:
    number = ids[bug.name]
    accept = f"{shlex.quote(python)} -B -m pytest -q acceptance/test_{number}.py"
    depends_on = [ids[bug.needs]] if bug.needs else []
    return {
        f"acceptance/test_{number}.py": bug.acceptance,
        f"issues/{number}-{bug.name}.md": issue_file(bug, depends_on, f"{PACKAGE}/{bug.module}.py", accept),
    }


def _write(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _commit(directory: Path, message: str) -> None:
    _git(directory, "add", "--all")
    _git(directory, "commit", "--quiet", "--no-verify", "--message", message)


def _git(directory: Path, *arguments: str) -> None:
    """Run git without anything of the user's configuration or of a git command that noface was started from."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _IDENTITY.items()}
    done = subprocess.run(
        ["git", *arguments], cwd=directory, env=env, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"git {arguments[0]} failed in {directory}: {done.stderr.strip()}")
