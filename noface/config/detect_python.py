"""What a Python project's files say about its gates and its setup."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from noface.config.detect_python_files import PythonProject, ini, read_python
from noface.config.detect_python_managers import managed_setup
from noface.config.detect_python_pip import PIP, VENV, compiled, pip_setup, top_level
from noface.config.detection import DetectedGate, Detection, Surroundings, text_of

_PYTEST_INI_SECTIONS = (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_TEST_FOLDERS = ("tests", "test")
_RUFF = ("ruff.toml", ".ruff.toml")
_FIX = re.compile(r"^fix\s*=\s*true\b", re.MULTILINE)
_PYTHON = f"{VENV}/bin/python"
_SEVERAL = (
    "setuptools finds several packages at the top ({}) and would refuse to install them: setup installs what they\n"
    "require and nothing else. Say packages = [...] in [tool.setuptools] if tests need the package itself installed."
)


def detect_python(root: Path, surroundings: Surroundings) -> Detection:
    """Return the gates of pytest, ruff and mypy where they are in use, and an environment of their own as setup."""
    project = read_python(root)
    gates = tuple(_gates(root, project))
    if not gates and not project.is_package:
        return Detection(notes=project.notes)
    tools = tuple(gate.name for gate in gates if gate.kind != "build")
    managed = managed_setup(project, tools, surroundings)
    setup = managed or pip_setup(project, tools, surroundings)
    return Detection(
        tuple(replace(gate, needs=setup.needs) for gate in gates),
        (setup,),
        project.notes + (() if managed else tuple(_notes(project))),
    )


def environment(found: Detection) -> str:
    """Return what puts the programs of the workspace's environment first on PATH, "" where it makes none."""
    makes = any(VENV in setup.keep for setup in found.setups)
    return f'PATH="$PWD/{VENV}/bin:$PATH" ' if makes else ""


def _gates(root: Path, project: PythonProject) -> Iterator[DetectedGate]:
    why_pytest = _why_pytest(root, project)
    if why_pytest and compiled(project):
        why = "the package has compiled parts, which are made anew from the change"
        yield DetectedGate("compile", f"{PIP} --no-deps -e .", "build", why)
    if why_pytest:
        yield DetectedGate("pytest", f"{_PYTHON} -m pytest -q", "test", why_pytest)
    if why := _configured(root, project, "ruff", _RUFF):
        # A gate must not change what it checks, as ruff does where its settings say so.
        yield DetectedGate(
            "ruff", f"{_PYTHON} -m ruff check {'--no-fix ' if _fixes(root, project) else ''}.", "lint", why
        )
    if why := _configured(root, project, "mypy", ("mypy.ini", ".mypy.ini")):
        # mypy wants to be told what to check, unless its configuration does.
        target = "" if {"files", "packages", "modules"} & _mypy_keys(root, project) else " ."
        yield DetectedGate("mypy", f"{_PYTHON} -m mypy{target}", "lint", why)


def _fixes(root: Path, project: PythonProject) -> bool:
    """Tell whether ruff's settings have it mend what it finds."""
    own = (text_of(root / file) for file in _RUFF)
    return project.tool("ruff").get("fix") is True or any(_FIX.search(text) for text in own)


def _mypy_keys(root: Path, project: PythonProject) -> set[str]:
    keys = set(project.tool("mypy")) | set(project.cfg.get("mypy", {}))
    return keys.union(*(ini(root / name).get("mypy", {}) for name in ("mypy.ini", ".mypy.ini")))


def _why_pytest(root: Path, project: PythonProject) -> str:
    if "pytest" in project.tool():
        return "pyproject.toml configures pytest"
    for file, section in _PYTEST_INI_SECTIONS:
        if section in ini(root / file):
            return f"{file} configures pytest"
    if any("pytest" in text_of(root / file) for file in ("pyproject.toml", "setup.cfg", "setup.py")):
        return "pytest is among the dependencies"
    for pattern in ("test_*.py", "*_test.py"):
        files = [file for folder in _TEST_FOLDERS for file in (root / folder).rglob(pattern)]
        if found := min((*files, *root.glob(pattern)), default=None):
            return f"{found.relative_to(root).as_posix()} is there"
    return ""


def _configured(root: Path, project: PythonProject, tool: str, files: tuple[str, ...]) -> str:
    """Return where `tool` is configured, "" if nowhere."""
    if tool in project.tool():
        return f"pyproject.toml configures {tool}"
    if tool in project.cfg:
        return f"setup.cfg configures {tool}"
    return next((f"{file} is there" for file in files if (root / file).is_file()), "")


def _notes(project: PythonProject) -> Iterator[str]:
    packages = top_level(project) or ()
    if len(packages) > 1:
        yield _SEVERAL.format(", ".join(packages))
    if "versioningit" in project.build_requires:
        yield "versioningit takes the version from git's tags, which workspaces do not have: set default-tag for it."
