"""The gates of a Python project, and its environment in the workspace: by uv, poetry, pdm or pipenv, else by pip."""

import configparser
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

from noface import data
from noface.detection.detected import DetectedGate, DetectedSetup, Detection, Surroundings
from noface.detection.files import first_file, ignore_lines, is_committed, is_inner, present, table, text_of, texts

VENV = ".venv"
PROGRAMS = f'PATH="$PWD/{VENV}/bin:$PATH" '
"""Puts the programs of the workspace's environment first."""
_PYTHON = f"{VENV}/bin/python"
_PIP = f"{_PYTHON} -m pip install"
_KNOWN = data.table("ecosystems")["python"]
_WHY = (
    f"Workspaces are fresh checkouts outside the repository, so a {VENV} of yours is not there, and the python on\n"
    "PATH may import this package from your own checkout. So each workspace makes an environment of its own, once,\n"
    "and again when a file of setup_inputs changes."
)
_ASIDE = "trap 'test ! -d .issues || mv .issues issues' EXIT; test ! -d issues || mv issues .issues; "
_WHY_ASIDE = "\n(setuptools would take the folder issues for a package, so it is put aside meanwhile.)"
_WRITTEN = re.compile(r"""\b(?:version[_-]file|write_to)["']?\s*[:=]\s*["']([^"'\n]+)["']""")
_COMPILED = re.compile(_KNOWN["compiled"])
_OTHER_REQUIREMENTS = re.compile(_KNOWN["other_requirements"])


@dataclass(frozen=True)
class _Project:
    """The files of a Python project, as far as they could be read: `cfg` is setup.cfg, `setup_py` setup.py's text."""

    root: Path
    pyproject: dict[str, Any]
    cfg: dict[str, dict[str, str]]
    setup_py: str

    @property
    def metadata(self) -> dict[str, Any]:
        return table(self.pyproject, "project")

    @property
    def by_setuptools(self) -> bool:
        backend = table(self.pyproject, "build-system").get("build-backend", "setuptools")
        return str(backend).startswith("setuptools")

    @property
    def is_package(self) -> bool:
        return bool({"project", "build-system"} & self.pyproject.keys() or self.setup_py or "metadata" in self.cfg)

    @cached_property
    def extras(self) -> tuple[str, ...]:
        listed = (*table(self.metadata, "optional-dependencies"), *self.cfg.get("options.extras_require", {}))
        literal = re.search(r"extras_require\s*=\s*\{([^}]*)\}", self.setup_py)
        return _likely((*listed, *re.findall(r"[\"']([\w-]+)[\"']\s*:", literal[1] if literal else "")))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        return _likely(tuple(table(self.pyproject, "dependency-groups")))

    @cached_property
    def requirements(self) -> tuple[str, ...]:
        found = (file for file in present(self.root, _KNOWN["requirements"]) if not _OTHER_REQUIREMENTS.search(file))
        # What dependencies a package has, it says itself; its plain file holds versions that somebody had once.
        dynamic = "dependencies" in texts(self.metadata.get("dynamic"))
        own = bool(self.metadata) and not dynamic
        return tuple(file for file in found if not (own and file == "requirements.txt"))

    @cached_property
    def text(self) -> str:
        files = ("pyproject.toml", "setup.cfg", "setup.py", "Pipfile", *self.requirements)
        return "\n".join(text_of(self.root / file) for file in files)

    def configures(self, tool: str, files: tuple[str, ...]) -> str:
        if tool in table(self.pyproject, "tool"):
            return f"pyproject.toml configures {tool}"
        if {tool, f"tool:{tool}"} & self.cfg.keys():
            return f"setup.cfg configures {tool}"
        return next((f"{file} is there" for file in present(self.root, files)), "")

    @cached_property
    def packages(self) -> tuple[str, ...] | None:
        told = {"packages", "py-modules", "package-dir", "ext-modules"} & table(
            self.pyproject, "tool", "setuptools"
        ).keys()
        in_cfg = {"packages", "py_modules", "package_dir"} & self.cfg.get("options", {}).keys()
        in_setup_py = re.search(r"\b(packages|py_modules)\b", self.setup_py)
        if told or in_cfg or in_setup_py or not self.by_setuptools or (self.root / "src").is_dir():
            return None
        left_out = {*_KNOWN["no_packages"], *(rule.strip("/") for rule in ignore_lines(self.root)), "issues"}
        names = (path.name for path in self.root.iterdir() if path.is_dir() and path.name not in left_out)
        return tuple(sorted(name for name in names if name.isidentifier() and not name.startswith("_")))

    def version(self, tag: str) -> str:
        name = next((variable for pattern, variable in _KNOWN["versions"] if re.search(pattern, self.text)), "")
        return f"{name}={tag or '0.0.0'} " if name else ""


def detect_python(root: Path, surroundings: Surroundings) -> Detection:
    """Return the gates of Python's tools, and their environment as setup."""
    notes: tuple[str, ...] = ()
    try:
        pyproject = tomllib.loads(text_of(root / "pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        pyproject, notes = {}, (f"pyproject.toml could not be read: {error}",)
    parser = configparser.RawConfigParser(strict=False, default_section="")
    try:
        parser.read_string(text_of(root / "setup.cfg"))
        cfg = {name: dict(parser.items(name)) for name in parser.sections()}
    except configparser.Error:
        cfg = {}
    project = _Project(root, pyproject, cfg, text_of(root / "setup.py"))
    gates = tuple(_gates(project))
    if not gates and not project.is_package:
        return Detection(notes=notes)
    tools = [tool for tool in ("pytest", "ruff", "mypy") if any(gate.name == tool for gate in gates)]
    lacking = [tool for tool in tools if not re.search(rf"[\"'\s]{tool}\b", project.text, re.IGNORECASE)]
    entry = next((each for each in _KNOWN["managers"] if any(is_committed(root, file) for file in each["files"])), None)
    if entry is None:
        setup = _by_pip(project, lacking, surroundings)
    else:
        command = entry["setup"].format(
            version=project.version(surroundings.version),
            extras="".join(entry.get("extra", "").format(quote(name)) for name in project.extras),
            groups="".join(entry.get("group", "").format(quote(name)) for name in project.groups),
            tools=entry["tools"].format(" ".join(lacking)) if lacking else "",
        )
        setup = _setup(project, command, entry["needs"])
    if "uv" in setup.needs:  # its environments have no pip
        uv = f"uv pip install --python {_PYTHON}"
        gates = tuple(replace(gate, command=gate.command.replace(_PIP, uv)) for gate in gates)
    return Detection(gates, (setup,), notes)


def _likely(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name.lower() in _KNOWN["development"]))


def _gates(project: _Project) -> Iterator[DetectedGate]:
    pytest = project.configures("pytest", ("pytest.ini",))
    if not pytest and re.search(r"[\"'\s]pytest\b", project.text):
        pytest = "pytest is among the dependencies"
    if not pytest and (file := first_file(project.root, ("test_*.py", "*_test.py"))):
        pytest = f"{file} is there"
    if pytest:
        if _COMPILED.search(project.text):
            why = "the package has compiled parts, which are made anew from the change"
            yield DetectedGate("compile", f"{_PIP} --no-deps -e .", "build", why)
        yield DetectedGate("pytest", f"{PROGRAMS}{_PYTHON} -m pytest -q", "test", pytest)
    if why := project.configures("ruff", ("ruff.toml", ".ruff.toml")):
        yield DetectedGate("ruff", f"{_PYTHON} -m ruff check --no-fix .", "lint", why)
    if why := project.configures("mypy", ("mypy.ini", ".mypy.ini")):
        # mypy needs to know what to check, unless its configuration says so.
        settings = (project.root / name for name in ("mypy.ini", ".mypy.ini"))
        named = {*table(project.pyproject, "tool", "mypy"), *project.cfg.get("mypy", {})}
        aimed = {"files", "packages", "modules"} & named
        aimed |= {name for file in settings for name in re.findall(r"(?m)^(files|packages|modules)\b", text_of(file))}
        yield DetectedGate("mypy", f"{_PYTHON} -m mypy{'' if aimed else ' .'}", "lint", why)


def _by_pip(project: _Project, lacking: list[str], surroundings: Surroundings) -> DetectedSetup:
    own = project.is_package and (project.packages is None or len(project.packages) <= 1)
    steps = [f"python3 -m venv --clear {VENV}"]
    if project.groups:
        steps.append(f"{_PIP} 'pip>=25.1'")  # the first with --group
    what = [f"-r {quote(name)}" for name in project.requirements] + [
        f"--group {quote(name)}" for name in project.groups
    ]
    # The old way of installing a setup.py needs files in the sources, which are gone with the next checkout.
    modern = "" if {"build-system", "project"} & project.pyproject.keys() else "--use-pep517 "
    target = [f"{modern}-e {quote('.[' + ','.join(project.extras) + ']') if project.extras else '.'}"] if own else []
    if "--hash" in project.text:  # pip refuses what has no hash beside what has one
        steps.append(f"{_PIP} {' '.join(what)}")
        what = []
    if words := " ".join((*target, *what, *lacking)):
        steps.append(f"{project.version(surroundings.version) if own else ''}{_PIP} {words}")
    aside = _ASIDE if own and project.packages is not None else ""
    return _setup(project, aside + " && ".join(steps), "python3", _WHY_ASIDE if aside else "")


def _setup(project: _Project, command: str, program: str, why: str = "") -> DetectedSetup:
    written = (path for path in _WRITTEN.findall(project.text) if is_inner(path))
    inputs = (*present(project.root, _KNOWN["inputs"]), *project.requirements)
    keep = dict.fromkeys((VENV, *written))
    name = project.metadata.get("name") or project.cfg.get("metadata", {}).get("name")
    literal = re.search(r"\bname\s*=\s*[\"']([\w.-]+)[\"']", project.setup_py)
    name = name or (literal[1] if literal else "")
    ignored = any("egg-info" in line for line in ignore_lines(project.root))
    if isinstance(name, str) and name and project.by_setuptools and not ignored and project.is_package:
        folder = "src/" if (project.root / "src").is_dir() else ""
        keep[f"{folder}{re.sub(r'[^A-Za-z0-9.]+', '_', name)}.egg-info"] = None  # git would take it for work
    return DetectedSetup(command, inputs, tuple(keep), _WHY + why, (program,))
