"""A library that is not installed: which one it is, where the code imports it, how the project adds it."""

import pytest

from noface.data import table
from noface.diagnosis.missing_library import imported_at, missing_library, told, way_to_install
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind


def failure(line, kind=FailureKind.ENVIRONMENT, gate="unit"):
    return Failure(kind, line, rule="r", gate=gate, location="a.py:1")


@pytest.mark.parametrize(
    ("line", "ecosystem", "name", "package"),
    [
        ("E   ModuleNotFoundError: No module named 'yaml'", "python", "yaml", "PyYAML"),
        ("ModuleNotFoundError: No module named 'requests.adapters'", "python", "requests", "requests"),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /w/a.mjs", "node", "@a/b", "@a/b"),
        ("Error: Cannot find module 'left-pad'", "node", "left-pad", "left-pad"),
        ("a.go:3:8: no required module provides package github.com/a/b; to add it:", "go", *["github.com/a/b"] * 2),
        ("error[E0432]: unresolved import `serde`", "rust", "serde", "serde"),
        ("error[E0433]: failed to resolve: use of unresolved module or unlinked crate `rand`", "rust", "rand", "rand"),
    ],
)
def test_the_library_is_read_from_the_error(line, ecosystem, name, package):
    found = missing_library(failure(line))
    assert (found.ecosystem, found.name, found.package) == (ecosystem, name, package)


@pytest.mark.parametrize(
    "other",
    [
        failure("Error: Cannot find module './own.js'"),
        failure("error[E0432]: unresolved import `crate::a`"),
        failure("ModuleNotFoundError: No module named 'shop'", FailureKind.RUNTIME_ERROR),  # a module of its own
        failure("ModuleNotFoundError: No module named 'shop'", gate=None),
        failure("OSError: [Errno 28] No space left on device"),
    ],
)
def test_nothing_else_is_one(other):
    assert missing_library(other) is None


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("No module named 'yaml'", "import os\nimport yaml\n"),
        ("No module named 'yaml'", "x = 1\nfrom yaml import load\n"),
        ("Cannot find package 'left-pad'", "// left-pad\nimport pad from 'left-pad';\n"),
        ("Cannot find module 'left-pad'", "\nconst pad = require('left-pad/x');\n"),
        ("no required module provides package github.com/a/b", 'import (\n\t"github.com/a/b"\n)\n'),
        ("error[E0432]: unresolved import `serde`", "\nuse serde::Serialize;\n"),
    ],
)
def test_the_line_that_imports_it_is_found(line, text):
    assert imported_at(missing_library(failure(line)), text) == 2


@pytest.mark.parametrize(
    ("files", "add", "setup"),
    [
        ({"uv.lock", "pyproject.toml"}, "uv add PyYAML", "uv sync"),
        ({"requirements.txt"}, "add PyYAML to requirements.txt", "pip install -r requirements.txt"),
        ({"pyproject.toml"}, "add PyYAML to the dependencies in pyproject.toml", "pip install -e ."),
        (set(), "pip install PyYAML", "pip install PyYAML"),
    ],
)
def test_it_is_added_as_the_project_s_manifests_say(files, add, setup):
    library = missing_library(failure("No module named 'yaml'"))
    way = way_to_install(library, files)
    assert (way[0], way[1].endswith(setup)) == (add, True)
    said = told(failure("No module named 'yaml'"), library, ("a.py:2",), files, "").message
    assert "the library yaml (the package PyYAML), which a.py:2 imports, is not installed" in said
    assert add in said
    assert f'[project] setup = "{way[1]}" in noface.toml' in said


def test_each_ecosystem_reads_its_example():
    assert {missing_library(failure(known["example"])).ecosystem for known in table("libraries").values()} == set(
        table("libraries")
    )
