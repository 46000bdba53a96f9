"""What a Python project's files say about its gates and its setup."""

import configparser
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noface.config.detection import DetectedGate, DetectedSetup, Detection, text_of

_PYTEST_INI_SECTIONS = (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_TEST_FOLDERS = ("tests", "test")
_EXTRAS = ("dev", "test", "tests", "testing")
_VENV = ".venv"


def detect_python(root: Path) -> Detection:
    """Return the gates of pytest, ruff and mypy where they are in use, and a virtual environment as setup."""
    pyproject, notes = _pyproject(root)
    gates = tuple(_gates(root, pyproject))
    return Detection(gates, tuple(_setup(pyproject)), notes)


def _pyproject(root: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        return tomllib.loads(text_of(root / "pyproject.toml")), ()
    except tomllib.TOMLDecodeError as error:
        return {}, (f"pyproject.toml could not be read: {error}",)


def _gates(root: Path, pyproject: dict[str, Any]) -> Iterator[DetectedGate]:
    if why := _why_pytest(root, pyproject):
        yield DetectedGate("pytest", "python -m pytest -q", "test", why)
    if why := _configured(root, pyproject, "ruff", ("ruff.toml", ".ruff.toml")):
        yield DetectedGate("ruff", "python -m ruff check .", "lint", why)
    if why := _configured(root, pyproject, "mypy", ("mypy.ini", ".mypy.ini")):
        # mypy wants to be told what to check, unless its configuration does.
        target = "" if {"files", "packages", "modules"} & _tool(pyproject, "mypy").keys() else " ."
        yield DetectedGate("mypy", f"python -m mypy{target}", "lint", why)


def _why_pytest(root: Path, pyproject: dict[str, Any]) -> str:
    if "pytest" in _table(pyproject.get("tool")):
        return "pyproject.toml configures pytest"
    for file, section in _PYTEST_INI_SECTIONS:
        if section in _ini_sections(root / file):
            return f"{file} configures pytest"
    if any("pytest" in text_of(root / file) for file in ("pyproject.toml", "setup.cfg", "setup.py")):
        return "pytest is among the dependencies"
    for pattern in ("test_*.py", "*_test.py"):
        files = [file for folder in _TEST_FOLDERS for file in (root / folder).rglob(pattern)]
        if found := min((*files, *root.glob(pattern)), default=None):
            return f"{found.relative_to(root).as_posix()} is there"
    return ""


def _configured(root: Path, pyproject: dict[str, Any], tool: str, files: tuple[str, ...]) -> str:
    """Return where `tool` is configured, "" if nowhere."""
    if tool in _table(pyproject.get("tool")):
        return f"pyproject.toml configures {tool}"
    if tool in _ini_sections(root / "setup.cfg"):
        return f"setup.cfg configures {tool}"
    return next((f"{file} is there" for file in files if (root / file).is_file()), "")


def _setup(pyproject: dict[str, Any]) -> Iterator[DetectedSetup]:
    if "project" not in pyproject and "build-system" not in pyproject:
        return
    extras = _table(_table(pyproject.get("project")).get("optional-dependencies"))
    extra = next((name for name in _EXTRAS if name in extras), None)
    what = f"'.[{extra}]'" if extra else "."
    yield DetectedSetup(
        f"python -m venv {_VENV} && {_VENV}/bin/pip install -e {what}",
        ("pyproject.toml",),
        (_VENV,),
        f"Workspaces are fresh checkouts outside the repository, so a {_VENV} of yours is not there.\n"
        "The gates use whatever python is on PATH. If they need an environment of the project's own,\n"
        f'use this, and begin their commands with "{_VENV}/bin/python" in place of "python":',
        certain=False,
    )


def _ini_sections(path: Path) -> list[str]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text_of(path))
    except configparser.Error:
        return []
    return parser.sections()


def _tool(pyproject: dict[str, Any], name: str) -> dict[str, Any]:
    return _table(_table(pyproject.get("tool")).get(name))


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
