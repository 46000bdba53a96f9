"""A virtual environment of the workspace's own, filled by pip."""

import re
from shlex import quote

from noface.config import detect_python_files as files
from noface.config.detect_python_files import PRE_COMMIT, PythonProject
from noface.config.detect_python_version import version_files, version_variable
from noface.config.detection import DetectedSetup, Surroundings, ignore_lines, is_inner, present, texts

VENV = ".venv"
PIP = f"{VENV}/bin/python -m pip install"
WHY = (
    f"Workspaces are fresh checkouts outside the repository, so a {VENV} of yours is not there, and the python on\n"
    "PATH may import this package from your own checkout. So each workspace makes an environment of its own, once,\n"
    "and again when these inputs change:"
)
_PROGRAM = "python3"
_COMPILED = re.compile(r"\b(?:ext_modules|cffi_modules|rust_extensions|cythonize)\b")
_COMPILERS = ("maturin", "scikit_build_core", "mesonpy", "setuptools_rust")
# setuptools takes each folder at the top for a package, but for these and those that begin with a dot.
_NO_PACKAGES = frozenset((
    "ci", "bin", "debian", "doc", "docs", "documentation", "manpages", "news", "newsfragments", "changelog",
    "test", "tests", "unit_test", "unit_tests", "example", "examples", "scripts", "tools", "util", "utils",
    "python", "build", "benchmark", "benchmarks", "exercise", "exercises", "htmlcov",
))  # fmt: skip
# What is at the top of a checkout and not in git, mostly.
_NOT_COMMITTED = frozenset(("dist", "env", "node_modules", "venv"))
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


def pip_setup(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    """Return the setup of a project without another manager; `tools` are the modules that gates run."""
    found = files.extras(project)
    chosen = files.wanted(found, tools)
    chosen += tuple(name for name in files.hatch_features(project) if name in found and name not in chosen)
    groups = files.wanted(files.groups(project), tools)
    listed = files.requirements_files(project, tools)
    packages = top_level(project)
    own = project.is_package and (packages is None or len(packages) <= 1)
    steps = [f"{_PROGRAM} -m venv --clear {VENV}"]
    if groups:
        steps.append(f"{PIP} 'pip>=25.1'")  # the first with --group
    if not own and "project" in project.pyproject:
        steps.append(f'{VENV}/bin/python -c "{_ONLY_REQUIRED.format(" ".join(chosen))}" > {_REQUIRED}')
        listed = (_REQUIRED, *listed)
    named = [item for name in chosen for item in found[name]]
    named += [item for name in groups for item in files.groups(project)[name]]
    named += [line for file in listed for line in files.requirements_in(project.root, file)]
    what = [f"-r {quote(name)}" for name in listed] + [f"--group {quote(name)}" for name in groups]
    what += [quote(files.pinned(project, tool)) for tool in lacking(project, tools, named)]
    if "pytest" in tools and not _for_tests(chosen, groups, listed):
        what += [_pip_words(item) for item in files.told_elsewhere(project) if quote(item) not in what]
    if "mypy" in tools and not files.wanted((*chosen, *groups), ("mypy",)):
        known = files.names_of((*texts(project.metadata.get("dependencies")), *named, *tools))
        told = (item for item in files.told_of_types(project) if not files.names_of((item,)) & known)
        what += [words for words in map(_pip_words, told) if words not in what]
    target = _target(project, chosen) if own else ""
    # pip refuses what has no hash beside what has one, and this package beside a version of it that a file holds.
    itself = files.normalised(files.package_name(project)) in files.names_of(named)
    if listed and (any("--hash" in line for line in named) or (own and itself)):
        steps.append(f"{PIP} {' '.join(f'-r {quote(name)}' for name in listed)}")
        what = what[len(listed) :]
    version = version_variable(project, surroundings.version) if own else ""
    if words := " ".join(part for part in (target, *what) if part):
        steps.append(f"{version}{PIP} {words}")
    aside = _ASIDE if own and packages is not None else ""
    return DetectedSetup(
        aside + " && ".join(steps),
        inputs(project),
        (VENV, *version_files(project), *_egg_info(project)),
        WHY + (_WHY_ASIDE if aside else ""),
        (_PROGRAM,),
    )


def _target(project: PythonProject, chosen: tuple[str, ...]) -> str:
    # The old way of installing a setup.py needs files in the sources, which are gone with the next checkout.
    modern = "" if "build-system" in project.pyproject or "project" in project.pyproject else "--use-pep517 "
    return f"{modern}-e {quote('.[' + ','.join(chosen) + ']')}" if chosen else f"{modern}-e ."


def lacking(project: PythonProject, tools: tuple[str, ...], requirements: list[str]) -> tuple[str, ...]:
    """Return the tools of gates that neither the project's own dependencies nor `requirements` name."""
    own = [*texts(project.metadata.get("dependencies")), *requirements]
    return tuple(tool for tool in tools if tool not in files.names_of(own))


def _for_tests(chosen: tuple[str, ...], groups: tuple[str, ...], listed: tuple[str, ...]) -> bool:
    """Tell whether extras, groups or files that are named for tests or development are installed."""
    named = any("test" in name or "dev" in name for name in listed)
    return named or bool(files.wanted((*chosen, *groups), ("pytest",)))


def _pip_words(item: str) -> str:
    option, file = item[:2], item[2:].strip()
    return f"-r {quote(file)}" if option == "-r" else quote(item)


def top_level(project: PythonProject) -> tuple[str, ...] | None:
    """Return what setuptools would take for packages at the top by itself, None where it does not have to guess.

    More than one is an error to it.
    """
    root = project.root
    told = project.tool("setuptools").keys() & {"packages", "py-modules", "package-dir", "ext-modules"}
    told_before = "packages" in project.setup_py or "py_modules" in project.setup_py
    cfg = project.cfg.get("options", {}).keys() & {"packages", "py_modules", "package_dir"}
    other = not project.built_by.startswith("setuptools")
    if other or told or told_before or cfg or not project.is_package or (root / "src").is_dir():
        return None
    ignored = {rule.strip("/") for rule in ignore_lines(root)}
    left_out = _NO_PACKAGES | _NOT_COMMITTED | ignored | {_ISSUES}
    folders = (path for path in root.iterdir() if path.is_dir() and path.name not in left_out)
    return tuple(sorted(path.name for path in folders if path.name.isidentifier() and not path.name.startswith("_")))


def compiled(project: PythonProject) -> bool:
    """Tell whether the package has parts that are compiled, which setup leaves in the sources."""
    by_setuptools = _COMPILED.search(project.setup_py) is not None or "ext-modules" in project.tool("setuptools")
    return by_setuptools or project.built_by.startswith(_COMPILERS)


def inputs(project: PythonProject, *more: str) -> tuple[str, ...]:
    """Return the files that the environment depends on, as paths and globs."""
    root = project.root
    found = [*present(root, ("pyproject.toml", "setup.py", "setup.cfg", *more))]
    if next(root.glob("*requirements*.txt"), None):
        found.append("*requirements*.txt")
    folders = [folder for folder in ("test", "tests", "dev") if (root / folder / "requirements.txt").is_file()]
    folders += ["requirements"] if (root / "requirements").is_dir() else []
    found += [f"{folder}/*.txt" for folder in folders]
    return (*found, *present(root, ("constraints.txt", "tox.ini", PRE_COMMIT, ".python-version")))


def _egg_info(project: PythonProject) -> tuple[str, ...]:
    """Return what setuptools leaves in the sources, where git would take it for somebody's work."""
    name = files.package_name(project)
    ignored = any("egg-info" in line for line in ignore_lines(project.root))
    if not name or ignored or not project.built_by.startswith("setuptools"):
        return ()
    folder = "src/" if (project.root / "src").is_dir() else ""
    path = f"{folder}{re.sub(r'[^A-Za-z0-9.]+', '_', name)}.egg-info"
    return (path,) if is_inner(path) else ()
