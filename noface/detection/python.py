"""The gates of a Python project, and its environment in the workspace: made by pip, or by uv, poetry or pdm.

The manager whose lock file is there installs; pip if there is none.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from shlex import quote

from noface import data
from noface.detection.checks import Ci, CiCheck
from noface.detection.detected import DetectedGate, DetectedSetup, Detection, Surroundings
from noface.detection.files import (
    first_file,
    ignore_lines,
    is_committed,
    is_inner,
    present,
    table,
    text_of,
    texts,
    toml_of,
)
from noface.detection.python_project import (
    KNOWN,
    PRE_COMMIT,
    PythonProject,
    hatch_texts,
    names_of,
    package_name_of,
    pinned_version,
    read_ini,
    read_python,
    requirements_files,
    requirements_in_file,
    test_requirements_elsewhere,
    type_requirements,
    version_files,
    version_variable,
    wanted_names,
)
from noface.detection.shell import quoted
from noface.diagnosis.missing_library import distribution_name

VENV = ".venv"
PIP = f"{VENV}/bin/python -m pip install"
WHY = (
    f"Workspaces are fresh checkouts outside the repository, so a {VENV} of yours is not there, and the python on\n"
    "PATH may import this package from your own checkout. So each workspace makes an environment of its own, once,\n"
    "and again when a file of setup_inputs changes."
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
    chosen = project.chosen(extras, tools)
    chosen += tuple(name for name in hatch_texts(project, "features") if name in extras and name not in chosen)
    groups = project.chosen(project.groups, tools)
    listed = requirements_files(project, tools)
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
    named += [line for file in listed for line in requirements_in_file(project.root, file)]
    what = [f"-r {quote(name)}" for name in listed] + [f"--group {quote(name)}" for name in groups]
    what += [quote(pinned_version(project, tool)) for tool in _lacking(project, tools, named)]
    what += [quote(item) for item in _asked(project, [*named, *tools])]
    for_tests = wanted_names((*chosen, *groups), ("pytest",)) or any("test" in file or "dev" in file for file in listed)
    if "pytest" in tools and not for_tests:
        what += [_pip_words(item) for item in test_requirements_elsewhere(project) if quote(item) not in what]
    if "mypy" in tools and not wanted_names((*chosen, *groups), ("mypy",)):
        known = names_of((*texts(project.metadata.get("dependencies")), *named, *tools))
        more = (item for item in type_requirements(project) if not names_of((item,)) & known)
        what += [words for words in map(_pip_words, more) if words not in what]
    # The old way of installing a setup.py needs files in the sources, which are gone with the next checkout.
    modern = "" if {"build-system", "project"} & project.pyproject.keys() else "--use-pep517 "
    here = quote(f".[{','.join(chosen)}]") if chosen else "."
    target = f"{modern}-e {here}" if own else ""
    # pip refuses what has no hash beside what has one, and this package beside a version of it that a file holds.
    itself = distribution_name(package_name_of(project)) in names_of(named)
    if listed and (any("--hash" in line for line in named) or (own and itself)):
        steps.append(f"{PIP} {' '.join(f'-r {quote(name)}' for name in listed)}")
        what = what[len(listed) :]
    version = version_variable(project, surroundings.version) if own else ""
    if words := " ".join(part for part in (target, *what) if part):
        steps.append(f"{version}{PIP} {words}")
    aside = _ASIDE if own and packages is not None else ""
    return DetectedSetup(
        aside + " && ".join(steps),
        _inputs(project),
        (VENV, *version_files(project), *_egg_info(project)),
        WHY + (_WHY_ASIDE if aside else ""),
        (_PROGRAM,),
    )


def _lacking(project: PythonProject, tools: tuple[str, ...], requirements: list[str]) -> tuple[str, ...]:
    """Return the tools of gates that neither the project's own dependencies nor `requirements` name."""
    own = [*texts(project.metadata.get("dependencies")), *requirements]
    return tuple(tool for tool in tools if tool not in names_of(own))


def _asked(project: PythonProject, requirements: list[str]) -> tuple[str, ...]:
    """Return what CI installs besides, as far as neither the project's own dependencies nor `requirements` name it."""
    known = names_of((*texts(project.metadata.get("dependencies")), *requirements, package_name_of(project)))
    plain = (item for item in project.wanted.items if not item.startswith("-"))
    return tuple(item for item in plain if not names_of((item,)) & known)


def _pip_words(item: str) -> str:
    option, file = item[:2], item[2:].strip()
    return f"-r {quote(file)}" if option == "-r" else quote(item)


def _top_level(project: PythonProject) -> tuple[str, ...] | None:
    """Return what setuptools would take for packages at the top by itself, None if it does not have to guess.

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
    left_out = {*KNOWN["no_packages"], *KNOWN["not_committed"], *ignored, _ISSUES}
    folders = (path for path in root.iterdir() if path.is_dir() and path.name not in left_out)
    return tuple(sorted(path.name for path in folders if path.name.isidentifier() and not path.name.startswith("_")))


def _compiled(project: PythonProject) -> bool:
    """True if the package has parts that are compiled, which setup leaves in the sources."""
    by_setuptools = _COMPILED.search(project.setup_py) is not None or "ext-modules" in project.tool("setuptools")
    return by_setuptools or project.built_by.startswith(tuple(KNOWN["compilers"]))


def _inputs(project: PythonProject, *more: str) -> tuple[str, ...]:
    """Return the files that the environment depends on, as paths and globs."""
    root = project.root
    names = [*present(root, ("pyproject.toml", "setup.py", "setup.cfg", *more))]
    if next(root.glob("*requirements*.txt"), None):
        names.append("*requirements*.txt")
    folders = [folder for folder in ("test", "tests", "dev") if (root / folder / "requirements.txt").is_file()]
    folders += ["requirements"] if (root / "requirements").is_dir() else []
    names += [f"{folder}/*.txt" for folder in folders]
    return (*names, *present(root, ("constraints.txt", "tox.ini", PRE_COMMIT, ".python-version")))


def _egg_info(project: PythonProject) -> tuple[str, ...]:
    """Return what setuptools leaves in the sources, if git would take it for somebody's work."""
    name = package_name_of(project)
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
    chosen = project.chosen(extras, tools)
    more = tuple(name for name in project.chosen(groups, tools) if name not in by_itself)
    words = ["uv", "sync", "--frozen"]
    members = texts(project.tool("uv", "workspace").get("members"))
    words += ["--all-packages"] if members else []
    words += [f"--group {quote(name)}" for name in more] + [f"--extra {quote(name)}" for name in chosen]
    installed = [item for name in chosen for item in extras[name]]
    installed += [item for name in (*by_itself, *more) for item in groups.get(name, ())]
    installed += texts(project.tool("uv").get("dev-dependencies"))
    steps = [f"{version_variable(project, surroundings.version)}UV_PROJECT_ENVIRONMENT={VENV} {' '.join(words)}"]
    steps += _tools_step(project, tools, installed, _UV_PIP)
    inner = tuple(f"{member}/pyproject.toml" for member in members if is_inner(member))
    return _setup(project, steps, ("uv.lock", "uv.toml"), "uv", inner)


def _uv_pip(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    """Install without a lock file: `uv sync` would write one, which would count as the worker's work."""
    extras, groups = project.extras, project.groups
    chosen, of_groups = project.chosen(extras, tools), project.chosen(groups, tools)
    is_package = "build-system" in project.pyproject or project.tool("uv").get("package") is True
    words = [f"-e {quote('.[' + ','.join(chosen) + ']') if chosen else '.'}"]
    if not is_package:
        words = ["-r pyproject.toml", *(f"--extra {quote(name)}" for name in chosen)]
    words += [f"--group {quote(name)}" for name in of_groups]
    installed = [item for name in chosen for item in extras[name]] + [i for name in of_groups for i in groups[name]]
    older = texts(project.tool("uv").get("dev-dependencies"))
    rest = _lacking(project, tools, [*installed, *older])
    asked = _asked(project, [*installed, *older, *tools])
    words += [quote(item) for item in (*older, *(pinned_version(project, tool) for tool in rest), *asked)]
    version = version_variable(project, surroundings.version)
    # uv venv asks, or refuses, if there is an environment from before.
    steps = [f"rm -rf {VENV}", f"uv venv {VENV}", f"{version}{_UV_PIP} {' '.join(words)}"]
    return _setup(project, steps, ("uv.toml",), "uv")


def _poetry(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    poetry = project.tool("poetry")
    listed = table(poetry, "group")
    optional = [name for name in listed if table(listed, name).get("optional") is True]
    extras = {**table(poetry, "extras"), **project.extras}
    chosen, with_groups = project.chosen(extras, tools), project.chosen(optional, tools)
    words = [f"--with {quote(','.join(with_groups))}"] if with_groups else []
    words += [f"--extras {quote(name)}" for name in chosen]
    installed = [*table(poetry, "dependencies"), *table(poetry, "dev-dependencies")]
    for name in listed:
        installed += table(listed, name, "dependencies") if name not in optional or name in with_groups else ()
    for name in chosen:
        installed += project.extras.get(name, ())
    installed += [item for requirements in project.groups.values() for item in requirements]
    options = "POETRY_VIRTUALENVS_CREATE=true POETRY_VIRTUALENVS_IN_PROJECT=true"
    version = version_variable(project, surroundings.version)
    steps = [" ".join((_NOT_ACTIVE, f"{version}{options}", "poetry install --no-interaction", *words))]
    if not is_committed(project.root, "poetry.lock"):
        steps.append("rm -f poetry.lock")  # it would count as the worker's work
    steps += _tools_step(project, tools, installed, PIP)
    return _setup(project, steps, ("poetry.lock", "poetry.toml"), "poetry")


def _pdm(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    """Install into an environment made before: pdm takes the active one, and asks for none."""
    extras, groups = project.extras, project.groups
    chosen = project.chosen(extras, tools)
    installed = [item for name in chosen for item in extras[name]]
    installed += [item for requirements in groups.values() for item in requirements]
    older = project.tool("pdm", "dev-dependencies")
    installed += [item for requirements in older.values() for item in texts(requirements)]
    version = version_variable(project, surroundings.version)
    words = " ".join(("pdm sync --dev", *(f"-G {quote(name)}" for name in chosen)))
    # pdm notes its interpreter in .pdm-python, which would count as the worker's work.
    steps = [f"python3 -m venv --clear {VENV}", f'{version}VIRTUAL_ENV="$PWD/{VENV}" {words}', "rm -f .pdm-python"]
    steps += _tools_step(project, tools, installed, PIP)
    return _setup(project, steps, ("pdm.lock", "pdm.toml"), "pdm")


def _tools_step(project: PythonProject, tools: tuple[str, ...], installed: list[str], install: str) -> list[str]:
    """Return the step that installs the tools of gates that nothing else installs, if there are any."""
    lacking = [pinned_version(project, tool) for tool in _lacking(project, tools, installed)]
    lacking += _asked(project, [*installed, *tools])
    return [" ".join((install, *map(quote, lacking)))] if lacking else []


def _setup(
    project: PythonProject, steps: list[str], own: tuple[str, ...], program: str, more: tuple[str, ...] = ()
) -> DetectedSetup:
    return DetectedSetup(
        " && ".join(steps), (*_inputs(project, *own), *more), (VENV, *version_files(project)), WHY, (program,)
    )


_PYTEST_INI_SECTIONS = (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_RUFF = ("ruff.toml", ".ruff.toml")
_PYTHON = f"{VENV}/bin/python"
_WITH_PROGRAMS = f'PATH="$PWD/{VENV}/bin:$PATH" '
_CI = data.table("ci")["python"]
_COMMA = re.compile(r"[,\s]+")
_NO_CI = Ci()
_UV_PIP = f"uv pip install --python {VENV}/bin/python"
_TOOL = re.compile(rf"{re.escape(VENV)}/bin/(?:python -m )?(?!python\b)([\w.-]+)")
_SEVERAL = (
    "setuptools finds several packages at the top ({}) and would refuse to install them: setup installs what they\n"
    "require and nothing else. Say packages = [...] in [tool.setuptools] if tests need the package itself installed."
)


def detect_python(root: Path, surroundings: Surroundings, ci: Ci = _NO_CI) -> Detection:
    """Return the gates of Python's tools, those that CI runs if that is known, and their environment as setup."""
    project = replace(read_python(root), wanted=ci.wanted)
    gates = tuple(_gates(root, project, ci))
    if not gates and not project.is_package:
        return Detection(notes=project.notes)
    tools = tuple(dict.fromkeys(tool for gate in gates if (tool := _distribution(gate))))
    managed = _managed_setup(project, tools, surroundings)
    setup = managed or _pip_setup(project, tools, surroundings)
    if "uv" in setup.needs:  # its environments have no pip
        gates = tuple(replace(gate, command=gate.command.replace(PIP, _UV_PIP)) for gate in gates)
    gates = tuple(replace(gate, needs=setup.needs) for gate in gates)
    return Detection(gates, (setup,), project.notes + (() if managed else tuple(_notes(project))))


def _distribution(gate: DetectedGate) -> str:
    """Return what installs the tool of a gate, "" if nothing has to."""
    match = _TOOL.search(gate.command) if gate.kind != "build" else None
    return distribution_name(_CI["distributions"].get(match[1], match[1])) if match else ""


def environment(detection: Detection) -> str:
    """Return what puts the programs of the workspace's environment first on PATH, "" if it makes none."""
    makes = any(VENV in setup.keep for setup in detection.setups)
    return _WITH_PROGRAMS if makes else ""


def _gates(root: Path, project: PythonProject, ci: Ci) -> Iterator[DetectedGate]:
    why_pytest = "" if ci.tests("python") else _why_pytest(root, project)
    if (why_pytest or ci.tests("python")) and _compiled(project):
        why = "the package has compiled parts, which are made anew from the change"
        yield DetectedGate("compile", f"{PIP} --no-deps -e .", "build", why)
    if why_pytest:
        yield DetectedGate("pytest", f"{_WITH_PROGRAMS}{_PYTHON} -m pytest -q", "test", why_pytest)
    for check in ci.checks:
        if check.of == "python":
            whole = replace(check, words=(*check.words, ".")) if _is_aimless(root, project, check) else check
            whole = replace(whole, words=(*whole.words, *_besides(root, whole)))
            yield DetectedGate(check.name, _command(whole, fixes=_fixes(root, project)), check.kind, check.why)
    if ci.checks:
        return
    if why := _configured(root, project, "ruff", _RUFF):
        # A gate must not change what it checks, as ruff does if its settings say so.
        only_look = "--no-fix " if _fixes(root, project) else ""
        yield DetectedGate("ruff", f"{_PYTHON} -m ruff check {only_look}.", "lint", why)
    if why := _configured(root, project, "mypy", ("mypy.ini", ".mypy.ini")):
        # mypy needs to know what to check, unless its configuration says so.
        target = "" if {"files", "packages", "modules"} & _mypy_keys(root, project) else " ."
        yield DetectedGate("mypy", f"{_PYTHON} -m mypy{target}", "lint", why)


def _besides(root: Path, check: CiCheck) -> Iterator[str]:
    """Yield what keeps a tool that looks at all files from those of the environment, which lies among them here."""
    program, *rest = check.words
    option, place = _CI["besides"].get(program, ("", ""))
    named = (word for word in rest if not word.startswith("-") and word not in {".", "./"})
    if not option or option in check.text or any((root / check.folder / word).exists() for word in named):
        return
    # The option stands in for the key of that name.
    known = (read_ini(root / file).get(program, {}) for file in (".flake8", "setup.cfg", "tox.ini"))
    own = next((text for keys in known if (text := keys.get(option.strip("-")))), "")
    yield f"{option}={','.join((*filter(None, re.split(_COMMA, own)), place))}"


def _command(check: CiCheck, *, fixes: bool) -> str:
    """Return a check of CI's as it runs in the environment of the workspace."""
    program, *rest = check.words
    place = "/".join([*([".."] * len([part for part in check.folder.split("/") if part])), VENV, "bin"])
    start = f"{place}/{program}" if program in _CI["alone"] else f"{place}/python -m {program}"
    if program.startswith("python"):
        start = f"{place}/python"
    elif program == "ruff" and rest[:1] == ["check"] and fixes and "--no-fix" not in rest:
        rest.insert(1, "--no-fix")
    # Tests may start the project's own scripts, or tools, by their names.
    programs = _WITH_PROGRAMS.replace(f"{VENV}/bin", place) if check.kind == "test" else ""
    return check.shell(programs + " ".join((start, *map(quoted, rest))))


def _fixes(root: Path, project: PythonProject) -> bool:
    """True if ruff's settings have it mend what it finds."""
    return any(settings.get("fix") is True for settings in (project.tool("ruff"), *(toml_of(root / f) for f in _RUFF)))


_MYPY_AIMS = ("-p", "-m", "-c", "--package", "--module", "--command")


def _is_aimless(root: Path, project: PythonProject, check: CiCheck) -> bool:
    """True if neither the words of mypy nor its settings say what it is to check, as those of a hook do not."""
    if check.words[0] != "mypy" or {"files", "packages", "modules"} & _mypy_keys(root, project):
        return False
    return not any(
        word.startswith(_MYPY_AIMS)
        or (not word.startswith("-") and not before.startswith("-"))
        or (before != "--config-file" and (root / check.folder / word).exists())
        for before, word in pairwise(check.words)
    )


def _mypy_keys(root: Path, project: PythonProject) -> set[str]:
    keys = set(project.tool("mypy")) | set(project.cfg.get("mypy", {}))
    return keys.union(*(read_ini(root / name).get("mypy", {}) for name in ("mypy.ini", ".mypy.ini")))


def _why_pytest(root: Path, project: PythonProject) -> str:
    if "pytest" in project.tool():
        return "pyproject.toml configures pytest"
    for file, section in _PYTEST_INI_SECTIONS:
        if section in read_ini(root / file):
            return f"{file} configures pytest"
    if any("pytest" in text_of(root / file) for file in ("pyproject.toml", "setup.cfg", "setup.py")):
        return "pytest is among the dependencies"
    file = first_file(root, ("test_*.py", "*_test.py"))
    return f"{file} is there" if file else ""


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
