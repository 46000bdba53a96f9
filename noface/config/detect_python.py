"""What a Python project's files say about its gates, and its environment in the workspace by pip, uv, poetry or pdm.

First what the files say of dependencies: extras, dependency groups, requirements files. Then the setup that installs
them, by pip or by the manager whose lock file is there. Last the gates.
"""

import ast
import configparser
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

from noface import data
from noface.config.detection import (
    DetectedGate,
    DetectedSetup,
    Detection,
    Surroundings,
    ignore_lines,
    is_committed,
    is_inner,
    present,
    table,
    text_of,
    texts,
)

_KNOWN = data.table("ecosystems")["python"]
_PRE_COMMIT = ".pre-commit-config.yaml"
_HOOKS = {
    "ruff": re.compile(r"/ruff-pre-commit[\"']?\s+rev:\s*[\"']?v?([0-9][0-9a-z.]*)"),
    "mypy": re.compile(r"/mirrors-mypy[\"']?\s+rev:\s*[\"']?v?([0-9][0-9a-z.]*)"),
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

    def tool(self, *names: str) -> dict[str, Any]:
        """Return a table below `tool` of pyproject.toml."""
        return table(self.pyproject, "tool", *names)

    @property
    def metadata(self) -> dict[str, Any]:
        """The table `project` of pyproject.toml."""
        return table(self.pyproject, "project")

    @property
    def built_by(self) -> str:
        """The build backend; setuptools where none is named."""
        return str(table(self.pyproject, "build-system").get("build-backend") or "setuptools.build_meta")

    @property
    def build_requires(self) -> frozenset[str]:
        """The names of what the build requires."""
        return _names_of(texts(table(self.pyproject, "build-system").get("requires")))

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
        return extras | dict.fromkeys(_literal_keys(self.setup_py, "extras_require"), ())

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The dependency groups (PEP 735) with their requirements, those of groups they include among them."""
        listed = table(self.pyproject, "dependency-groups")
        return {name: tuple(_group(listed, name, frozenset())) for name in listed}


def _read_python(root: Path) -> PythonProject:
    """Read the files at the top of a project."""
    notes: tuple[str, ...] = ()
    try:
        pyproject = tomllib.loads(text_of(root / "pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        pyproject, notes = {}, (f"pyproject.toml could not be read: {error}",)
    return PythonProject(root, pyproject, _ini(root / "setup.cfg"), text_of(root / "setup.py"), notes)


def _ini(path: Path) -> dict[str, dict[str, str]]:
    """Return the sections of an INI file, none where it is not one."""
    parser = configparser.RawConfigParser(strict=False, default_section="")
    try:
        parser.read_string(text_of(path))
    except configparser.Error:
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _families(tools: Iterable[str]) -> frozenset[str]:
    """Return the names of what development and these tools of gates are likely to need."""
    return frozenset(_KNOWN["development"]).union(*(_KNOWN["families"].get(tool, ()) for tool in tools))


def _wanted(names: Iterable[str], tools: Iterable[str]) -> tuple[str, ...]:
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


def _requirements_files(project: PythonProject, tools: Iterable[str]) -> tuple[str, ...]:
    """Return the requirements files that the gates are likely to need: the plain one, and those named for them."""
    root = project.root
    plain = ("requirements.txt", "requirements/base.txt", "requirements/requirements.txt")
    named = (form.format(name) for form in _KNOWN["requirements"] for name in sorted(_families(tools)))
    # What dependencies a package has, it says itself; its plain file holds versions that somebody had once.
    skip = plain if "dependencies" in project.metadata else ()
    return tuple(name for name in present(root, (*plain, *named)) if name not in skip)


def _requirements_in(root: Path, file: str) -> tuple[str, ...]:
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


def _names_of(requirements: Iterable[str]) -> frozenset[str]:
    """Return the normalised names of what is required; lines that are options name nothing."""
    matches = (_REQUIREMENT.match(line) for line in requirements)
    return frozenset(_normalised(match[1]) for match in matches if match)


def _pinned(project: PythonProject, tool: str) -> str:
    """Return the requirement for a gate's tool that the project does not list: the version pre-commit has of it."""
    version = _HOOKS[tool].search(text_of(project.root / _PRE_COMMIT)) if tool in _HOOKS else None
    return f"{tool}=={version[1]}" if version else tool


def _normalised(name: str) -> str:
    """Return the one spelling of a distribution's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _test_requirements_elsewhere(project: PythonProject) -> tuple[str, ...]:
    """Return what hatch, setup.py or tox say that tests require, for a project that names it nowhere else.

    Texts are arguments of pip: requirements, and `-r FILE`.
    """
    required = _of_hatch(project, "dependencies", "extra-dependencies")
    required = required or list(_literal_items(project.setup_py, "tests_require"))
    required = required or _tox_lines(_ini(project.root / "tox.ini").get("testenv", {}).get("deps", ""))
    return tuple(dict.fromkeys(item for item in required if "{" not in item))


def _type_requirements(project: PythonProject) -> tuple[str, ...]:
    """Return what tox says that mypy requires: packages whose types it looks up."""
    sections = (keys for name, keys in _ini(project.root / "tox.ini").items() if name.startswith("testenv:"))
    deps = (keys.get("deps", "") for keys in sections if "mypy" in keys.get("commands", ""))
    return tuple(dict.fromkeys(line for text in deps for line in _tox_lines(text)))


def _tox_lines(deps: str) -> list[str]:
    return [line for line in map(str.strip, deps.split("\n")) if _TOX_LINE.fullmatch(line)]


def _of_hatch(project: PythonProject, *keys: str) -> list[str]:
    """Return what the keys of hatch's environments for tests list."""
    environments = project.tool("hatch", "envs")
    names = ("default", "test", "tests", "hatch-test")
    return [item for name in names for key in keys for item in texts(table(environments, name).get(key))]


def _package_name(project: PythonProject) -> str:
    """Return what the package is called, "" where that is not written down."""
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
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    value = next((node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == name), None)
    if not isinstance(value, ast.Name):
        return value
    assigned = (node for node in nodes if isinstance(node, ast.Assign))
    wanted_id = value.id
    return next(
        (node.value for node in assigned for to in node.targets if isinstance(to, ast.Name) and to.id == wanted_id),
        None,
    )


def _literal_keys(setup_py: str, name: str) -> tuple[str, ...]:
    value = _argument(setup_py, name)
    keys = value.keys if isinstance(value, ast.Dict) else ()
    return tuple(key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def _literal_items(setup_py: str, name: str) -> tuple[str, ...]:
    value = _argument(setup_py, name)
    items = value.elts if isinstance(value, ast.List | ast.Tuple) else ()
    return tuple(item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str))


# Versions that a Python project's build takes from git: a workspace has the history, but not the tags.

_SCM = "SETUPTOOLS_SCM_PRETEND_VERSION"
_NO_TAG = "0.0.0"
_WRITTEN = re.compile(r"""["']?\b(?:write_to|version_file)["']?\s*[:=]\s*["']([^"'\n]+)["']""")


def _version_variable(project: PythonProject, version: str) -> str:
    """Return the assignment that gives the build its version, with a blank behind it; "" where none is needed."""
    name = _variable(project)
    return f"{name}={version or _NO_TAG} " if name else ""


def _version_files(project: PythonProject) -> tuple[str, ...]:
    """Return the files that the build writes the version to, which the package imports."""
    return tuple(dict.fromkeys(path for path in _written(project) if is_inner(path)))


def _variable(project: PythonProject) -> str:
    requires = project.build_requires
    dynamic = "version" in (project.metadata.get("dynamic") or ())
    if project.tool("hatch", "version").get("source") == "vcs":
        return _SCM
    if (
        "setuptools_scm" in project.tool()
        or "setuptools-scm" in project.tool()
        or "use_scm_version" in project.setup_py
    ):
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


VENV = ".venv"
PIP = f"{VENV}/bin/python -m pip install"
WHY = (
    f"Workspaces are fresh checkouts outside the repository, so a {VENV} of yours is not there, and the python on\n"
    "PATH may import this package from your own checkout. So each workspace makes an environment of its own, once,\n"
    "and again when these inputs change:"
)
_PROGRAM = "python3"
_COMPILED = re.compile(r"\b(?:ext_modules|cffi_modules|rust_extensions|cythonize)\b")

_ISSUES = "issues"
_ASIDE = (
    f"trap 'test ! -d .{_ISSUES} || mv .{_ISSUES} {_ISSUES}' EXIT; test ! -d {_ISSUES} || mv {_ISSUES} .{_ISSUES}; "
)
_WHY_ASIDE = f"\n(setuptools would take the folder {_ISSUES} for a package, so it is put aside meanwhile.)"
_REQUIRED = f"{VENV}/required.txt"
_ONLY_REQUIRED = (
    "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; "
    "print(*p.get('dependencies', []), "
    "*[r for n in '{}'.split() for r in p['optional-dependencies'][n]], sep='\\n')"
)


def _pip_setup(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    """Return the setup of a project without another manager; `tools` are the modules that gates run."""
    extras = project.extras
    chosen = _wanted(extras, tools)
    chosen += tuple(name for name in _of_hatch(project, "features") if name in extras and name not in chosen)
    groups = _wanted(project.groups, tools)
    listed = _requirements_files(project, tools)
    packages = _top_level(project)
    own = project.is_package and (packages is None or len(packages) <= 1)
    steps = [f"{_PROGRAM} -m venv --clear {VENV}"]
    if groups:
        steps.append(f"{PIP} 'pip>=25.1'")  # the first with --group
    if not own and "project" in project.pyproject:
        steps.append(f'{VENV}/bin/python -c "{_ONLY_REQUIRED.format(" ".join(chosen))}" > {_REQUIRED}')
        listed = (_REQUIRED, *listed)
    named = [item for name in chosen for item in extras[name]]
    named += [item for name in groups for item in project.groups[name]]
    named += [line for file in listed for line in _requirements_in(project.root, file)]
    what = [f"-r {quote(name)}" for name in listed] + [f"--group {quote(name)}" for name in groups]
    what += [quote(_pinned(project, tool)) for tool in _lacking(project, tools, named)]
    if "pytest" in tools and not _for_tests(chosen, groups, listed):
        what += [_pip_words(item) for item in _test_requirements_elsewhere(project) if quote(item) not in what]
    if "mypy" in tools and not _wanted((*chosen, *groups), ("mypy",)):
        known = _names_of((*texts(project.metadata.get("dependencies")), *named, *tools))
        more = (item for item in _type_requirements(project) if not _names_of((item,)) & known)
        what += [words for words in map(_pip_words, more) if words not in what]
    target = _target(project, chosen) if own else ""
    # pip refuses what has no hash beside what has one, and this package beside a version of it that a file holds.
    itself = _normalised(_package_name(project)) in _names_of(named)
    if listed and (any("--hash" in line for line in named) or (own and itself)):
        steps.append(f"{PIP} {' '.join(f'-r {quote(name)}' for name in listed)}")
        what = what[len(listed) :]
    version = _version_variable(project, surroundings.version) if own else ""
    if words := " ".join(part for part in (target, *what) if part):
        steps.append(f"{version}{PIP} {words}")
    aside = _ASIDE if own and packages is not None else ""
    return DetectedSetup(
        aside + " && ".join(steps),
        _inputs(project),
        (VENV, *_version_files(project), *_egg_info(project)),
        WHY + (_WHY_ASIDE if aside else ""),
        (_PROGRAM,),
    )


def _target(project: PythonProject, chosen: tuple[str, ...]) -> str:
    # The old way of installing a setup.py needs files in the sources, which are gone with the next checkout.
    modern = "" if "build-system" in project.pyproject or "project" in project.pyproject else "--use-pep517 "
    return f"{modern}-e {quote('.[' + ','.join(chosen) + ']')}" if chosen else f"{modern}-e ."


def _lacking(project: PythonProject, tools: tuple[str, ...], requirements: list[str]) -> tuple[str, ...]:
    """Return the tools of gates that neither the project's own dependencies nor `requirements` name."""
    own = [*texts(project.metadata.get("dependencies")), *requirements]
    return tuple(tool for tool in tools if tool not in _names_of(own))


def _for_tests(chosen: tuple[str, ...], groups: tuple[str, ...], listed: tuple[str, ...]) -> bool:
    """Tell whether extras, groups or files that are named for tests or development are installed."""
    named = any("test" in name or "dev" in name for name in listed)
    return named or bool(_wanted((*chosen, *groups), ("pytest",)))


def _pip_words(item: str) -> str:
    option, file = item[:2], item[2:].strip()
    return f"-r {quote(file)}" if option == "-r" else quote(item)


def _top_level(project: PythonProject) -> tuple[str, ...] | None:
    """Return what setuptools would take for packages at the top by itself, None where it does not have to guess.

    More than one is an error to it.
    """
    root = project.root
    listed = project.tool("setuptools").keys() & {"packages", "py-modules", "package-dir", "ext-modules"}
    in_setup_py = "packages" in project.setup_py or "py_modules" in project.setup_py
    cfg = project.cfg.get("options", {}).keys() & {"packages", "py_modules", "package_dir"}
    other = not project.built_by.startswith("setuptools")
    if other or listed or in_setup_py or cfg or not project.is_package or (root / "src").is_dir():
        return None
    ignored = {rule.strip("/") for rule in ignore_lines(root)}
    left_out = {*_KNOWN["no_packages"], *_KNOWN["not_committed"], *ignored, _ISSUES}
    folders = (path for path in root.iterdir() if path.is_dir() and path.name not in left_out)
    return tuple(sorted(path.name for path in folders if path.name.isidentifier() and not path.name.startswith("_")))


def _compiled(project: PythonProject) -> bool:
    """Tell whether the package has parts that are compiled, which setup leaves in the sources."""
    by_setuptools = _COMPILED.search(project.setup_py) is not None or "ext-modules" in project.tool("setuptools")
    return by_setuptools or project.built_by.startswith(tuple(_KNOWN["compilers"]))


def _inputs(project: PythonProject, *more: str) -> tuple[str, ...]:
    """Return the files that the environment depends on, as paths and globs."""
    root = project.root
    names = [*present(root, ("pyproject.toml", "setup.py", "setup.cfg", *more))]
    if next(root.glob("*requirements*.txt"), None):
        names.append("*requirements*.txt")
    folders = [folder for folder in ("test", "tests", "dev") if (root / folder / "requirements.txt").is_file()]
    folders += ["requirements"] if (root / "requirements").is_dir() else []
    names += [f"{folder}/*.txt" for folder in folders]
    return (*names, *present(root, ("constraints.txt", "tox.ini", _PRE_COMMIT, ".python-version")))


def _egg_info(project: PythonProject) -> tuple[str, ...]:
    """Return what setuptools leaves in the sources, where git would take it for somebody's work."""
    name = _package_name(project)
    ignored = any("egg-info" in line for line in ignore_lines(project.root))
    if not name or ignored or not project.built_by.startswith("setuptools"):
        return ()
    folder = "src/" if (project.root / "src").is_dir() else ""
    path = f"{folder}{re.sub(r'[^A-Za-z0-9.]+', '_', name)}.egg-info"
    return (path,) if is_inner(path) else ()


# An environment that is activated around noface is not the workspace's.
_NOT_ACTIVE = "env -u VIRTUAL_ENV -u CONDA_PREFIX"


def _managed_setup(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup | None:
    """Return the setup by the manager whose lock file or table is there, None without one."""
    root = project.root
    if is_committed(root, "uv.lock"):
        return _uv_sync(project, tools, surroundings)
    if is_committed(root, "poetry.lock"):
        return _poetry(project, tools, surroundings)
    if is_committed(root, "pdm.lock"):
        return _pdm(project, tools, surroundings)
    if "uv" in project.tool() and (surroundings.has("uv") or project.tool("uv", "sources")):
        return _uv_pip(project, tools, surroundings)
    if project.tool("poetry").keys() & {"dependencies", "group", "dev-dependencies"}:
        return _poetry(project, tools, surroundings)
    return None


def _uv_sync(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    """Install what the lock file says: the groups that uv takes by itself, and those the gates need."""
    extras, groups = project.extras, project.groups
    defaults = project.tool("uv").get("default-groups", ["dev"])
    by_itself = tuple(groups) if defaults == "all" else texts(defaults)
    chosen = _wanted(extras, tools)
    more = tuple(name for name in _wanted(groups, tools) if name not in by_itself)
    words = ["uv", "sync", "--frozen"]
    members = texts(project.tool("uv", "workspace").get("members"))
    words += ["--all-packages"] if members else []
    words += [f"--group {quote(name)}" for name in more] + [f"--extra {quote(name)}" for name in chosen]
    installed = [item for name in chosen for item in extras[name]]
    installed += [item for name in (*by_itself, *more) for item in groups.get(name, ())]
    installed += texts(project.tool("uv").get("dev-dependencies"))
    steps = [f"{_version_variable(project, surroundings.version)}UV_PROJECT_ENVIRONMENT={VENV} {' '.join(words)}"]
    steps += _tools_step(project, tools, installed, f"uv pip install --python {VENV}/bin/python")
    return _setup(
        project,
        steps,
        ("uv.lock", "uv.toml"),
        "uv",
        tuple(f"{member}/pyproject.toml" for member in members if is_inner(member)),
    )


def _uv_pip(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    """Install without a lock file: `uv sync` would write one, which would count as the worker's work."""
    extras, groups = project.extras, project.groups
    chosen, of_groups = _wanted(extras, tools), _wanted(groups, tools)
    is_package = "build-system" in project.pyproject or project.tool("uv").get("package") is True
    words = [f"-e {quote('.[' + ','.join(chosen) + ']') if chosen else '.'}"]
    if not is_package:
        words = ["-r pyproject.toml", *(f"--extra {quote(name)}" for name in chosen)]
    words += [f"--group {quote(name)}" for name in of_groups]
    installed = [item for name in chosen for item in extras[name]] + [i for name in of_groups for i in groups[name]]
    older = texts(project.tool("uv").get("dev-dependencies"))
    rest = _lacking(project, tools, [*installed, *older])
    words += [quote(item) for item in (*older, *(_pinned(project, tool) for tool in rest))]
    version = _version_variable(project, surroundings.version)
    steps = [
        f"rm -rf {VENV}",
        f"uv venv {VENV}",
        f"{version}uv pip install --python {VENV}/bin/python {' '.join(words)}",
    ]
    return _setup(project, steps, ("uv.toml",), "uv")


def _poetry(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    poetry = project.tool("poetry")
    listed = table(poetry, "group")
    optional = [name for name in listed if table(listed, name).get("optional") is True]
    extras = {**table(poetry, "extras"), **project.extras}
    chosen, with_groups = _wanted(extras, tools), _wanted(optional, tools)
    words = [f"--with {quote(','.join(with_groups))}"] if with_groups else []
    words += [f"--extras {quote(name)}" for name in chosen]
    installed = [*table(poetry, "dependencies"), *table(poetry, "dev-dependencies")]
    for name in listed:
        installed += table(listed, name, "dependencies") if name not in optional or name in with_groups else ()
    for name in chosen:
        installed += project.extras.get(name, ())
    installed += [item for requirements in project.groups.values() for item in requirements]
    options = "POETRY_VIRTUALENVS_CREATE=true POETRY_VIRTUALENVS_IN_PROJECT=true"
    version = _version_variable(project, surroundings.version)
    steps = [" ".join((_NOT_ACTIVE, f"{version}{options}", "poetry install --no-interaction", *words))]
    if not is_committed(project.root, "poetry.lock"):
        steps.append("rm -f poetry.lock")  # it would count as the worker's work
    steps += _tools_step(project, tools, installed, PIP)
    return _setup(project, steps, ("poetry.lock", "poetry.toml"), "poetry")


def _pdm(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    """Install into an environment made before: pdm takes the active one, and asks for none."""
    extras, groups = project.extras, project.groups
    chosen = _wanted(extras, tools)
    installed = [item for name in chosen for item in extras[name]]
    installed += [item for requirements in groups.values() for item in requirements]
    older = project.tool("pdm", "dev-dependencies")
    installed += [item for requirements in older.values() for item in texts(requirements)]
    version = _version_variable(project, surroundings.version)
    words = " ".join(("pdm sync --dev", *(f"-G {quote(name)}" for name in chosen)))
    steps = [f"python3 -m venv --clear {VENV}", f'{version}VIRTUAL_ENV="$PWD/{VENV}" {words}', "rm -f .pdm-python"]
    steps += _tools_step(project, tools, installed, PIP)
    return _setup(project, steps, ("pdm.lock", "pdm.toml"), "pdm")


def _tools_step(project: PythonProject, tools: tuple[str, ...], installed: list[str], install: str) -> list[str]:
    """Return the step that installs the tools of gates that nothing else installs, if there are any."""
    lacking = _lacking(project, tools, installed)
    return [" ".join((install, *(quote(_pinned(project, tool)) for tool in lacking)))] if lacking else []


def _setup(
    project: PythonProject, steps: list[str], own: tuple[str, ...], program: str, more: tuple[str, ...] = ()
) -> DetectedSetup:
    return DetectedSetup(
        " && ".join(steps), (*_inputs(project, *own), *more), (VENV, *_version_files(project)), WHY, (program,)
    )


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
    project = _read_python(root)
    gates = tuple(_gates(root, project))
    if not gates and not project.is_package:
        return Detection(notes=project.notes)
    tools = tuple(gate.name for gate in gates if gate.kind != "build")
    managed = _managed_setup(project, tools, surroundings)
    setup = managed or _pip_setup(project, tools, surroundings)
    return Detection(
        tuple(replace(gate, needs=setup.needs) for gate in gates),
        (setup,),
        project.notes + (() if managed else tuple(_notes(project))),
    )


def environment(detection: Detection) -> str:
    """Return what puts the programs of the workspace's environment first on PATH, "" where it makes none."""
    makes = any(VENV in setup.keep for setup in detection.setups)
    return f'PATH="$PWD/{VENV}/bin:$PATH" ' if makes else ""


def _gates(root: Path, project: PythonProject) -> Iterator[DetectedGate]:
    why_pytest = _why_pytest(root, project)
    if why_pytest and _compiled(project):
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
        # mypy needs to know what to check, unless its configuration says so.
        target = "" if {"files", "packages", "modules"} & _mypy_keys(root, project) else " ."
        yield DetectedGate("mypy", f"{_PYTHON} -m mypy{target}", "lint", why)


def _fixes(root: Path, project: PythonProject) -> bool:
    """Tell whether ruff's settings have it mend what it finds."""
    own = (text_of(root / file) for file in _RUFF)
    return project.tool("ruff").get("fix") is True or any(_FIX.search(text) for text in own)


def _mypy_keys(root: Path, project: PythonProject) -> set[str]:
    keys = set(project.tool("mypy")) | set(project.cfg.get("mypy", {}))
    return keys.union(*(_ini(root / name).get("mypy", {}) for name in ("mypy.ini", ".mypy.ini")))


def _why_pytest(root: Path, project: PythonProject) -> str:
    if "pytest" in project.tool():
        return "pyproject.toml configures pytest"
    for file, section in _PYTEST_INI_SECTIONS:
        if section in _ini(root / file):
            return f"{file} configures pytest"
    if any("pytest" in text_of(root / file) for file in ("pyproject.toml", "setup.cfg", "setup.py")):
        return "pytest is among the dependencies"
    for pattern in ("test_*.py", "*_test.py"):
        files = [file for folder in _TEST_FOLDERS for file in (root / folder).rglob(pattern)]
        if first := min((*files, *root.glob(pattern)), default=None):
            return f"{first.relative_to(root).as_posix()} is there"
    return ""


def _configured(root: Path, project: PythonProject, tool: str, files: tuple[str, ...]) -> str:
    """Return where `tool` is configured, "" if nowhere."""
    if tool in project.tool():
        return f"pyproject.toml configures {tool}"
    if tool in project.cfg:
        return f"setup.cfg configures {tool}"
    return next((f"{file} is there" for file in files if (root / file).is_file()), "")


def _notes(project: PythonProject) -> Iterator[str]:
    packages = _top_level(project) or ()
    if len(packages) > 1:
        yield _SEVERAL.format(", ".join(packages))
    if "versioningit" in project.build_requires:
        yield "versioningit takes the version from git's tags, which workspaces do not have: set default-tag for it."
