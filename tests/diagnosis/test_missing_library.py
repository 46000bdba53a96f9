"""A library that is not installed: which one it is, where the code imports it, how the project adds it."""

from dataclasses import replace

import pytest

from noface.data import table
from noface.diagnosis.missing_library import (
    is_named,
    library_failure,
    manifests,
    missing_library,
    own_library_failure,
    place_among,
    way_to_install,
)
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
    said = library_failure(replace(failure("No module named 'yaml'"), location="a.py:2"), library, files, "").message
    assert "the library yaml (the package PyYAML), which a.py:2 imports, is not installed" in said
    assert add in said
    assert f'[project] setup = "{way[1]}" in noface.toml' in said


def test_each_ecosystem_reads_its_example():
    assert {missing_library(failure(known["example"])).ecosystem for known in table("libraries").values()} == set(
        table("libraries")
    )


@pytest.mark.parametrize(
    ("line", "path", "manifest"),
    [
        ("No module named 'acme_shop'", "pyproject.toml", '[project]\nname = "acme-shop"\n'),
        ("No module named 'shop'", "libs/shop/setup.py", "setup(\n    name='shop',\n)\n"),
        ("No module named 'shop'", "setup.cfg", "[metadata]\nname = Shop\n"),
        ("Cannot find module '@acme/core'", "packages/core/package.json", '{\n  "name": "@acme/core",\n}\n'),
        (
            "no required module provides package acme.org/shop/cart; to add",
            "go.mod",
            "module acme.org/shop\n\ngo 1.22\n",
        ),
        ("error[E0432]: unresolved import `acme_core`", "crates/core/Cargo.toml", '[package]\nname = "acme-core"\n'),
        (
            "cannot load such file -- acme (LoadError)",
            "acme.gemspec",
            "Gem::Specification.new do |s|\n  s.name = 'acme'\n",
        ),
    ],
)
def test_what_a_manifest_of_the_project_names_is_no_stranger_s(line, path, manifest):
    library = missing_library(failure(line))
    assert manifests(library, ("src/a.txt", path)) == (path,)
    assert is_named(library, path, manifest)
    assert not is_named(replace(library, name="requests", package="requests"), path, manifest)
    said = own_library_failure(failure(line), library, f"{path} names it", {path}).message
    assert "is the project's own" in said
    assert not any(
        word in said for word in ("pip install acme", "npm install @acme", "go get", "cargo add", "gem install")
    )


@pytest.mark.parametrize(
    ("name", "path", "place"),
    [
        ("billing", "billing.py", "billing.py"),
        ("billing", "src/billing/core.py", "src/billing"),
        ("shop", "packages/shop/src/a.py", "packages/shop"),
        ("redis", "redis.conf", None),  # the name of a library may be that of other files
        ("requests", "tests/requests/test_a.py", None),
        ("docker", "docker/Dockerfile", None),
        ("yaml", "docs/yaml.py", None),
    ],
)
def test_a_module_of_the_project_is_known_by_its_place(name, path, place):
    assert place_among(missing_library(failure(f"No module named '{name}'")), ("README.md", path)) == place


@pytest.mark.parametrize(
    ("path", "location", "place"),
    [
        ("tests/billing.py", "tests/test_a.py:3", "tests/billing.py"),
        ("backend/billing/core.py", "backend/tests/unit/test_a.py", "backend/billing"),
        ("docs/billing.py", "tests/test_a.py:3", None),
        ("docs/billing.py", None, None),
        ("tests/unit/billing.py", "tests/test_a.py:3", None),
    ],
)
def test_a_module_beside_or_above_the_file_that_imports_it_is_no_package_to_install(path, location, place):
    assert place_among(missing_library(failure("No module named 'billing'")), ("a.py", path), location) == place
