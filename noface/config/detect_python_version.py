"""Versions that a Python project's build takes from git: a workspace has the history, but not the tags."""

import re
from collections.abc import Iterator

from noface.config.detect_python_files import PythonProject
from noface.config.detection import is_inner

_SCM = "SETUPTOOLS_SCM_PRETEND_VERSION"
_NO_TAG = "0.0.0"
_WRITTEN = re.compile(r"""["']?\b(?:write_to|version_file)["']?\s*[:=]\s*["']([^"'\n]+)["']""")


def version_variable(project: PythonProject, version: str) -> str:
    """Return the assignment that gives the build its version, with a blank behind it; "" where none is needed."""
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
