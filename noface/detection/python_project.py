"""What a Python project's files say of its dependencies and its version: extras, groups, requirements files."""

import ast
import configparser
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from noface import data
from noface.detection.detected import Needs
from noface.detection.files import is_inner, present, table, text_of, texts
from noface.diagnosis.missing_library import distribution_name

KNOWN = data.table("ecosystems")["python"]
PRE_COMMIT = ".pre-commit-config.yaml"
_HOOKS = {
    "ruff": re.compile(r"/ruff-pre-commit[\"']?\s+rev:\s*[\"']?(?:[0-9a-f]{40}[\"']?\s*#\D*)?v?([0-9]+\.[0-9a-z.]*)"),
    "mypy": re.compile(r"/mirrors-mypy[\"']?\s+rev:\s*[\"']?(?:[0-9a-f]{40}[\"']?\s*#\D*)?v?([0-9]+\.[0-9a-z.]*)"),
}
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_INCLUDED = re.compile(r"\s*(?:-r|--requirement)[ =]?\s*(\S+)")
_SETUP_PY_CHARS_MAX = 200_000
_INCLUDED_MAX = 20
_TOX_LINE = re.compile(r"[A-Za-z0-9][^:{}$]*|-r\s*[^:{}$]+")


@dataclass(frozen=True)
class PythonProject:
    """The files of a Python project, as far as they could be read: `cfg` is setup.cfg, `setup_py` setup.py's text."""

    root: Path
    pyproject: dict[str, Any]
    cfg: dict[str, dict[str, str]]
    setup_py: str
    notes: tuple[str, ...]
    wanted: Needs = field(default_factory=Needs)

    def chosen(self, names: Iterable[str], tools: Iterable[str]) -> tuple[str, ...]:
        """Return the names of extras or groups that CI installs, else those that the tools are likely to need."""
        asked = self.wanted.groups if names is self.groups else self.wanted.extras
        if "*" in asked:
            return tuple(names)
        if {*self.wanted.groups, *self.wanted.extras} & {*self.groups, *self.extras}:
            plain = {distribution_name(name) for name in asked}
            return tuple(name for name in names if distribution_name(name) in plain)
        return wanted_names(names, tools)

    def tool(self, *names: str) -> dict[str, Any]:
        """Return a table below `tool` of pyproject.toml."""
        return table(self.pyproject, "tool", *names)

    @property
    def metadata(self) -> dict[str, Any]:
        """The table `project` of pyproject.toml."""
        return table(self.pyproject, "project")

    @property
    def built_by(self) -> str:
        """The build backend; setuptools if none is named."""
        return str(table(self.pyproject, "build-system").get("build-backend") or "setuptools.build_meta")

    @property
    def build_requires(self) -> frozenset[str]:
        """The names of what the build requires."""
        return names_of(texts(table(self.pyproject, "build-system").get("requires")))

    @property
    def is_package(self) -> bool:
        """Whether there is something that pip could install."""
        cfg = "metadata" in self.cfg or "options" in self.cfg
        return "project" in self.pyproject or "build-system" in self.pyproject or bool(self.setup_py) or cfg

    @cached_property
    def extras(self) -> dict[str, tuple[str, ...]]:
        """The extras with their requirements, as far as those are written down."""
        extras = {name: texts(what) for name, what in table(self.metadata, "optional-dependencies").items()}
        extras |= dict.fromkeys(table(self.tool("setuptools"), "dynamic", "optional-dependencies"), ())
        legacy = table(self.tool("flit", "metadata"), "requires-extra")
        extras |= {name: texts(what) for name, what in legacy.items()}
        section = self.cfg.get("options.extras_require", {})
        extras |= {name: tuple(what.split("\n")) for name, what in section.items()}
        return extras | dict.fromkeys(_literals(self.setup_py, "extras_require"), ())

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The dependency groups (PEP 735) with their requirements, those of groups they include among them."""
        listed = table(self.pyproject, "dependency-groups")
        return {name: tuple(_group(listed, name, frozenset())) for name in listed}


def read_python(root: Path) -> PythonProject:
    """Read the files at the top of a project."""
    notes: tuple[str, ...] = ()
    try:
        pyproject = tomllib.loads(text_of(root / "pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        pyproject, notes = {}, (f"pyproject.toml could not be read: {error}",)
    return PythonProject(root, pyproject, read_ini(root / "setup.cfg"), text_of(root / "setup.py"), notes)


def read_ini(path: Path) -> dict[str, dict[str, str]]:
    """Return the sections of an INI file, none if it is not one."""
    return read_ini_text(text_of(path))


def read_ini_text(text: str) -> dict[str, dict[str, str]]:
    """Return the sections of an INI text, none if it is not one."""
    parser = configparser.RawConfigParser(strict=False, default_section="")
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _families(tools: Iterable[str]) -> frozenset[str]:
    """Return the names of what development and these tools of gates are likely to need."""
    return frozenset(KNOWN["development"]).union(*(KNOWN["families"].get(tool, ()) for tool in tools))


def wanted_names(names: Iterable[str], tools: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names of extras or groups that development, or one of the gates' tools, is likely to need."""
    families = _families(tools)
    return tuple(name for name in names if re.sub(r"[_.]", "-", name.lower()) in families)


def _group(listed: dict[str, Any], name: str, above: frozenset[str]) -> Iterator[str]:
    items = listed.get(name)
    for item in items if isinstance(items, list) else ():
        if isinstance(item, str):
            yield item
        other = item.get("include-group") if isinstance(item, dict) else None
        if isinstance(other, str) and other not in above:
            yield from _group(listed, other, above | {name})


def requirements_files(project: PythonProject, tools: Iterable[str]) -> tuple[str, ...]:
    """Return the requirements files that the gates are likely to need: the plain one, and those named for them."""
    root = project.root
    if files := tuple(item[3:] for item in project.wanted.items if item.startswith("-r ")):
        return present(root, files)
    plain = ("requirements.txt", "requirements/base.txt", "requirements/requirements.txt")
    named = (form.format(name) for form in KNOWN["requirements"] for name in sorted(_families(tools)))
    # What dependencies a package has, it says itself; its plain file holds versions that somebody had once, or tools
    # that CI does without.
    none = bool(project.metadata and project.wanted) and "dependencies" not in texts(project.metadata.get("dynamic"))
    skip = plain if "dependencies" in project.metadata or none else ()
    return tuple(name for name in present(root, (*plain, *named)) if name not in skip)


def requirements_in_file(root: Path, file: str) -> tuple[str, ...]:
    """Return the lines of a requirements file and of those it includes."""
    lines: list[str] = []
    pending, seen = [Path(file)], set[Path]()
    while pending and len(seen) < _INCLUDED_MAX:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        for line in text_of(root / path).splitlines():
            included = _INCLUDED.match(line)
            if included:
                pending.append(path.parent / included[1])
            lines.append(line)
    return tuple(lines)


def names_of(requirements: Iterable[str]) -> frozenset[str]:
    """Return the normalised names of what is required; lines that are options name nothing."""
    matches = (_REQUIREMENT.match(line) for line in requirements)
    return frozenset(distribution_name(match[1]) for match in matches if match)


def pinned_version(project: PythonProject, tool: str) -> str:
    """Return the requirement for a gate's tool that the project does not list: as CI or pre-commit has it."""
    asked = next((item for item in project.wanted.items if names_of((item,)) == {tool}), "")
    version = _HOOKS[tool].search(text_of(project.root / PRE_COMMIT)) if tool in _HOOKS else None
    return asked or (f"{tool}=={version[1]}" if version else tool)


def test_requirements_elsewhere(project: PythonProject) -> tuple[str, ...]:
    """Return what hatch, setup.py or tox say that tests require, for a project that names it nowhere else.

    Texts are arguments of pip: requirements, and `-r FILE`.
    """
    required = hatch_texts(project, "dependencies", "extra-dependencies")
    required = required or _literals(project.setup_py, "tests_require")
    required = required or _tox_lines(read_ini(project.root / "tox.ini").get("testenv", {}).get("deps", ""))
    return tuple(dict.fromkeys(item for item in required if "{" not in item))


def type_requirements(project: PythonProject) -> tuple[str, ...]:
    """Return what tox says that mypy requires: packages whose types it looks up."""
    sections = (keys for name, keys in read_ini(project.root / "tox.ini").items() if name.startswith("testenv:"))
    deps = (keys.get("deps", "") for keys in sections if "mypy" in keys.get("commands", ""))
    return tuple(dict.fromkeys(line for text in deps for line in _tox_lines(text)))


def _tox_lines(deps: str) -> list[str]:
    return [line for line in map(str.strip, deps.split("\n")) if _TOX_LINE.fullmatch(line)]


def hatch_texts(project: PythonProject, *keys: str) -> list[str]:
    """Return what the keys of hatch's environments for tests list."""
    environments = project.tool("hatch", "envs")
    names = ("default", "test", "tests", "hatch-test")
    return [item for name in names for key in keys for item in texts(table(environments, name).get(key))]


def package_name_of(project: PythonProject) -> str:
    """Return what the package is called, "" if that is not written down."""
    value = _argument(project.setup_py, "name")
    literal = value.value if isinstance(value, ast.Constant) else None
    name = project.metadata.get("name") or project.cfg.get("metadata", {}).get("name") or literal
    return name if isinstance(name, str) else ""


def _argument(setup_py: str, name: str) -> ast.expr | None:
    """Return the value of a keyword argument in setup.py, or what is assigned to the name that stands there."""
    if name not in setup_py or len(setup_py) > _SETUP_PY_CHARS_MAX:
        return None
    try:
        nodes = list(ast.walk(ast.parse(setup_py)))
    # MemoryError is what the parser says of brackets in too many brackets.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    value = next((node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == name), None)
    if not isinstance(value, ast.Name):
        return value
    assigned = ((node.value, to) for node in nodes if isinstance(node, ast.Assign) for to in node.targets)
    return next((made for made, to in assigned if isinstance(to, ast.Name) and to.id == value.id), None)


def _literals(setup_py: str, name: str) -> list[str]:
    """Return the texts that a list in setup.py holds, or the keys of a dictionary."""
    value = _argument(setup_py, name)
    items = value.keys if isinstance(value, ast.Dict) else value.elts if isinstance(value, ast.List | ast.Tuple) else ()
    return [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]


# Versions that a Python project's build takes from git: a workspace has the history, but not the tags.

_SCM = "SETUPTOOLS_SCM_PRETEND_VERSION"
_NO_TAG = "0.0.0"
_WRITTEN = re.compile(r"""["']?\b(?:write_to|version_file)["']?\s*[:=]\s*["']([^"'\n]+)["']""")


def version_variable(project: PythonProject, version: str) -> str:
    """Return the assignment that gives the build its version, with a blank behind it; "" if none is needed."""
    name = _variable(project)
    return f"{name}={version or _NO_TAG} " if name else ""


def version_files(project: PythonProject) -> tuple[str, ...]:
    """Return the files that the build writes the version to, which the package imports."""
    return tuple(dict.fromkeys(path for path in _written(project) if is_inner(path)))


def _variable(project: PythonProject) -> str:
    requires = project.build_requires
    dynamic = "version" in (project.metadata.get("dynamic") or ())
    if project.tool("hatch", "version").get("source") == "vcs":
        return _SCM
    if project.tool().keys() & {"setuptools_scm", "setuptools-scm"} or "use_scm_version" in project.setup_py:
        return _SCM
    if dynamic and requires & {"setuptools-scm", "hatch-vcs", "flit-scm", "vcs-versioning"}:
        return _SCM
    if project.tool("pdm", "version").get("source") == "scm":
        return "PDM_BUILD_SCM_VERSION"
    if "poetry-dynamic-versioning" in requires:
        return "POETRY_DYNAMIC_VERSIONING_BYPASS"
    if "uv-dynamic-versioning" in requires:
        return "UV_DYNAMIC_VERSIONING_BYPASS"
    uses_pbr = "pbr" in requires or re.search(r"\bpbr\s*=\s*True", project.setup_py)
    return "PBR_VERSION" if uses_pbr else ""


def _written(project: PythonProject) -> Iterator[str]:
    scm = project.tool("setuptools_scm") | project.tool("setuptools-scm")
    hook = project.tool("hatch", "build", "hooks", "vcs")
    for value in (scm.get("version_file"), scm.get("write_to"), hook.get("version-file")):
        if isinstance(value, str):
            yield value
    if "use_scm_version" in project.setup_py:
        yield from _WRITTEN.findall(project.setup_py)
