"""Make the sample project: a small library with bugs, its test suite, and a backlog that reports the bugs."""

import json
import os
import shlex
import subprocess
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from noface.demo.catalogue import Bug, draw

FIRST_ID = 101
PACKAGE = "oddments"
WORKER = "noface.demo.worker"
_LIBRARY = resources.files("noface.demo") / "library"
_ISSUE = """\
+++
{front}
+++

{body}

The acceptance test of this issue shows the problem; it has to pass, and the suite in `tests/` with it.
"""


def build(directory: Path, seed: int | None, python: str) -> tuple[tuple[str, str, str], ...]:
    """Make the project in `directory`, with `python` (which must have pytest and noface) in its commands.

    Returns id, title and class of bug of its issues, in the order of their ids. Raises ValueError if the directory
    exists and is not empty, and RuntimeError if git fails.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ValueError(f"{directory} exists and is not empty; name a directory that doesn't exist yet")
    directory.mkdir(parents=True, exist_ok=True)
    bugs = draw(seed)
    ids = {bug.name: str(FIRST_ID + number) for number, bug in enumerate(bugs)}
    git(directory, "init", "--quiet", "--initial-branch=main", "--template=")
    modules = library(bugs)
    start = {"README.md": _text("README.md"), ".gitignore": _text("gitignore")}
    start |= {"pyproject.toml": _text("pyproject.toml"), **modules.pop("__init__")}
    write_files(directory, start)
    commit(directory, "Start the project")
    for module, files in modules.items():
        write_files(directory, files)
        commit(directory, f"Add {module}")
    for bug in bugs:
        write_files(directory, _report(bug, ids, python))
    write_files(directory, {"noface.toml": _settings(python)})
    commit(directory, "Open the backlog")
    return tuple((ids[bug.name], bug.title, bug.kind.value) for bug in bugs)


def library(bugs: tuple[Bug, ...]) -> dict[str, dict[str, str]]:
    """Return the library's files by module, with the wrong text of each bug in place of the right one."""
    modules: dict[str, dict[str, str]] = {}
    for file in sorted((_LIBRARY / PACKAGE).iterdir(), key=lambda file: file.name):
        name = file.name.removesuffix(".txt")
        module = name.removesuffix(".py")
        text = file.read_text(encoding="utf-8")
        for bug in bugs:
            if bug.module == module and bug.right:
                if text.count(bug.right) != 1:
                    raise ValueError(f"bug {bug.name}: its right text occurs {text.count(bug.right)} times in {name}")
                text = text.replace(bug.right, bug.wrong)
        modules[module] = {f"{PACKAGE}/{name}": text}
        if (_LIBRARY / "tests" / f"test_{file.name}").is_file():
            modules[module][f"tests/test_{name}"] = _text(f"tests/test_{name}")
    return modules


def _text(name: str) -> str:
    return _LIBRARY.joinpath(f"{name}.txt").read_text(encoding="utf-8")


def _settings(python: str) -> str:
    """Return the text of noface.toml. JSON's strings are valid in TOML.

    `-I` keeps the checkout's files from being imported in the worker's place.
    """
    worker = shlex.join([python, "-I", "-m", WORKER])
    text = _text("noface.toml").replace("@GATE@", json.dumps(f"{shlex.quote(python)} -B -m pytest -q tests"))
    for tier in (1, 2):
        text = text.replace(f"@TIER{tier}@", json.dumps(f"{worker} --tier {tier}"))
    return text


def _report(bug: Bug, ids: dict[str, str], python: str) -> dict[str, str]:
    number = ids[bug.name]
    front = {
        "title": bug.title,
        "priority": bug.priority,
        "labels": bug.labels,
        "depends_on": [ids[bug.needs]] if bug.needs else [],
        "paths": [bug.path],
        "accept": [f"{shlex.quote(python)} -B -m pytest -q acceptance/test_{number}.py"],
    }
    return {
        f"acceptance/test_{number}.py": bug.acceptance,
        f"issues/{number}-{bug.name}.md": _ISSUE.format(front=front_matter(front), body=bug.body),
    }


def front_matter(values: Mapping[str, object]) -> str:
    return "\n".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())


def write_files(directory: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def commit(directory: Path, message: str) -> None:
    git(directory, "add", "--all")
    git(directory, "commit", "--quiet", "--no-verify", "--message", message)


def git(directory: Path, *arguments: str) -> str:
    """Run git without the person's configuration; return what it printed. Raises RuntimeError if it fails."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "Demo", f"GIT_{who}_EMAIL": "demo@localhost"}
    done = subprocess.run(
        ["git", *arguments], cwd=directory, env=env, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"git {arguments[0]} failed in {directory}: {done.stderr.strip()}")
    return done.stdout
