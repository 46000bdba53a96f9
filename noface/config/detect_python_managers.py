"""The environment of a Python project that uv, poetry or pdm looks after, made in the workspace."""

from shlex import quote

from noface.config import detect_python_files as files
from noface.config.detect_python_files import PythonProject
from noface.config.detect_python_pip import PIP, VENV, WHY, inputs, lacking
from noface.config.detect_python_version import version_files, version_variable
from noface.config.detection import DetectedSetup, Surroundings, is_committed, is_inner, table, texts

# An environment that is activated around noface is not the workspace's.
_NOT_ACTIVE = "env -u VIRTUAL_ENV -u CONDA_PREFIX"


def managed_setup(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup | None:
    """Return the setup by the manager whose lock file or table is there, None where there is none."""
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
    extras, groups = files.extras(project), files.groups(project)
    defaults = project.tool("uv").get("default-groups", ["dev"])
    by_itself = tuple(groups) if defaults == "all" else texts(defaults)
    chosen = files.wanted(extras, tools)
    more = tuple(name for name in files.wanted(groups, tools) if name not in by_itself)
    words = ["uv", "sync", "--frozen"]
    members = texts(project.tool("uv", "workspace").get("members"))
    words += ["--all-packages"] if members else []
    words += [f"--group {quote(name)}" for name in more] + [f"--extra {quote(name)}" for name in chosen]
    installed = [item for name in chosen for item in extras[name]]
    installed += [item for name in (*by_itself, *more) for item in groups.get(name, ())]
    installed += texts(project.tool("uv").get("dev-dependencies"))
    steps = [f"{version_variable(project, surroundings.version)}UV_PROJECT_ENVIRONMENT={VENV} {' '.join(words)}"]
    if rest := lacking(project, tools, installed):
        steps.append(f"uv pip install --python {VENV}/bin/python {_words(project, rest)}")
    return _setup(
        project,
        steps,
        ("uv.lock", "uv.toml"),
        "uv",
        tuple(f"{member}/pyproject.toml" for member in members if is_inner(member)),
    )


def _uv_pip(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    """Install without a lock file: `uv sync` would write one, which would count as the worker's work."""
    extras, groups = files.extras(project), files.groups(project)
    chosen, of_groups = files.wanted(extras, tools), files.wanted(groups, tools)
    is_package = "build-system" in project.pyproject or project.tool("uv").get("package") is True
    words = [f"-e {quote('.[' + ','.join(chosen) + ']') if chosen else '.'}"]
    if not is_package:
        words = ["-r pyproject.toml", *(f"--extra {quote(name)}" for name in chosen)]
    words += [f"--group {quote(name)}" for name in of_groups]
    installed = [item for name in chosen for item in extras[name]] + [i for name in of_groups for i in groups[name]]
    older = texts(project.tool("uv").get("dev-dependencies"))
    rest = lacking(project, tools, [*installed, *older])
    words += [*(quote(item) for item in older), *([_words(project, rest)] if rest else [])]
    version = version_variable(project, surroundings.version)
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
    extras = {**table(poetry, "extras"), **files.extras(project)}
    chosen, with_groups = files.wanted(extras, tools), files.wanted(optional, tools)
    words = [f"--with {quote(','.join(with_groups))}"] if with_groups else []
    words += [f"--extras {quote(name)}" for name in chosen]
    installed = [*table(poetry, "dependencies"), *table(poetry, "dev-dependencies")]
    for name in listed:
        installed += table(listed, name, "dependencies") if name not in optional or name in with_groups else ()
    for name in chosen:
        installed += files.extras(project).get(name, ())
    installed += [item for requirements in files.groups(project).values() for item in requirements]
    options = "POETRY_VIRTUALENVS_CREATE=true POETRY_VIRTUALENVS_IN_PROJECT=true"
    version = version_variable(project, surroundings.version)
    steps = [" ".join((_NOT_ACTIVE, f"{version}{options}", "poetry install --no-interaction", *words))]
    if not is_committed(project.root, "poetry.lock"):
        steps.append("rm -f poetry.lock")  # it would count as the worker's work
    if rest := lacking(project, tools, installed):
        steps.append(f"{PIP} {_words(project, rest)}")
    return _setup(project, steps, ("poetry.lock", "poetry.toml"), "poetry")


def _pdm(project: PythonProject, tools: tuple[str, ...], surroundings: Surroundings) -> DetectedSetup:
    """Install into an environment made before: pdm takes the active one, and asks for none."""
    extras, groups = files.extras(project), files.groups(project)
    chosen = files.wanted(extras, tools)
    installed = [item for name in chosen for item in extras[name]]
    installed += [item for requirements in groups.values() for item in requirements]
    older = project.tool("pdm", "dev-dependencies")
    installed += [item for requirements in older.values() for item in texts(requirements)]
    version = version_variable(project, surroundings.version)
    words = " ".join(("pdm sync --dev", *(f"-G {quote(name)}" for name in chosen)))
    steps = [f"python3 -m venv --clear {VENV}", f'{version}VIRTUAL_ENV="$PWD/{VENV}" {words}', "rm -f .pdm-python"]
    if rest := lacking(project, tools, installed):
        steps.append(f"{PIP} {_words(project, rest)}")
    return _setup(project, steps, ("pdm.lock", "pdm.toml"), "pdm")


def _words(project: PythonProject, tools: tuple[str, ...]) -> str:
    return " ".join(quote(files.pinned(project, tool)) for tool in tools)


def _setup(
    project: PythonProject, steps: list[str], own: tuple[str, ...], program: str, more: tuple[str, ...] = ()
) -> DetectedSetup:
    return DetectedSetup(
        " && ".join(steps), (*inputs(project, *own), *more), (VENV, *version_files(project)), WHY, (program,)
    )
