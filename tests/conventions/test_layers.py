"""Imports go down, never up and never sideways within a row. docs/design.md quotes these rows."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from support import ROOT

from noface.data.extras import EXTRAS, extra

ROWS = """\
extras
cli
remote | report
engine | ui
attempt
trackers | agents | gates | git | store
forge
process | detection
config
recovery | knowledge
prompts
integrity | secrets
diagnosis
model
errors | data
"""
LEVEL = {name.strip(): row for row, line in enumerate(ROWS.splitlines()) for name in line.split("|")}
PURE = {"model", "diagnosis", "integrity", "secrets", "prompts", "recovery", "knowledge"}
IMPURE = {"os", "time", "random", "sqlite3", "asyncio", "subprocess", "threading", "socket", "pathlib", "shutil"}
APART = {"demo", "__init__", "__main__"}  # the demo's worker is an ordinary command: it knows nothing of noface


@cache
def import_nodes(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)
    )


def imports(path: Path) -> set[str]:
    found = set()
    for node in import_nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def names(path: Path) -> set[str]:
    """What a module imports, and what it might: `from noface.ui import page` imports a module."""
    froms = (node for node in import_nodes(path) if isinstance(node, ast.ImportFrom) and node.module)
    return imports(path) | {f"{node.module}.{alias.name}" for node in froms for alias in node.names}


def modules() -> list[tuple[str, Path]]:
    return [(p.relative_to(ROOT / "noface").parts[0].removesuffix(".py"), p) for p in (ROOT / "noface").rglob("*.py")]


def test_every_package_has_its_place_in_the_rows():
    assert {package for package, _ in modules()} - APART == set(LEVEL)


def test_imports_go_down_only():
    wrong = []
    for package, path in modules():
        for name in imports(path):
            target = name.split(".")[1] if name.startswith("noface.") else None
            if package in APART or target in (None, package) or (package == "cli" and target in APART):
                continue
            if LEVEL[target] <= LEVEL[package]:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert wrong == []


def test_nothing_imports_what_is_optional():
    """Not within a function or for types either: the core reaches it by its names in `data/extras.py`."""
    core = [path for package, path in modules() if package != "extras"]
    assert [path for path in core if any(f"{name}.".startswith("noface.extras.") for name in names(path))] == []


def test_each_name_of_what_is_optional_leads_to_something():
    assert all(extra(name) is not None for name in EXTRAS)


def test_no_modules_import_each_other_in_a_circle():
    """Not in a room either, nor by imports within a function or for types only: one can be read after the other."""
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for _, path in modules()}
    graph = {name: {found for found in names(path) if found in files and found != name} for name, path in files.items()}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" imports ".join(error.args[1]))


def test_what_decides_is_pure():
    impure = {
        f"{path.relative_to(ROOT)}: {name}"
        for package, path in modules()
        if package in PURE
        for name in imports(path)
        if name.split(".")[0] in IMPURE
    }
    assert impure == set()


def test_an_attempt_knows_neither_run_nor_database_nor_other_machines():
    """So it can be held, tried again, and sent to another machine as a value."""
    used = {
        name.split(".")[1]
        for package, path in modules()
        if package == "attempt"
        for name in names(path)
        if "noface." in name
    }
    assert used & {"engine", "remote", "store", "trackers", "forge", "ui", "cli"} == set()


def test_the_demos_worker_knows_nothing_of_noface():
    names = {name for package, path in modules() if package == "demo" for name in imports(path)}
    assert {n for n in names if n.startswith("noface.") and not n.startswith("noface.demo")} == set()


def test_the_readme_quotes_the_rows():
    assert ROWS in (ROOT / "docs" / "design.md").read_text()
