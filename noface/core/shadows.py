"""Finds files of a change that would be taken for what a gate has from outside the tree: `pytest.py`, `random.py`.

A name that resolved outside the tree on main may not resolve inside it.
"""

from collections.abc import Collection, Iterable

from noface.core.attempt import FileChange
from noface.core.tampering import is_test_file

_ABSENT = "000000"
_MODULES = (".py", ".pyc", ".so", ".pyd")
_SOURCE_FOLDERS = ("", "src", "lib", "python")
_ALWAYS = frozenset(
    ("sitecustomize", "usercustomize", "pytest", "_pytest", "pluggy", "iniconfig", "coverage", "mypy", "ruff", "flake8",
     "pylint", "pyflakes", "pycodestyle", "tox", "nox", "hypothesis", "nose2", "xdist", "pytest_cov", "pytest_asyncio",
     "black", "isort", "bandit", "pyright", "behave", "robot", "twisted", "ward")
)  # fmt: skip
_STUB, _STUBBED = ".pyi", ".py"
_COMPILED_TO_SCRIPT = (".ts", ".tsx", ".mts", ".cts", ".coffee")
_SCRIPT = (".js", ".jsx", ".mjs", ".cjs")
_COMPILED = (".pyc", ".pyo")
_PYTHON_STARTS = (".pth", ".egg-link")


def shadowing(changes: Iterable[FileChange], main: Collection[str], outside: Collection[str]) -> tuple[str, ...]:
    """Return what a change puts in the place of modules and packages from outside, each as a phrase.

    `main` are the paths of main's tree: what it has under such a name already is the project's own. `outside` are the
    names of modules that the gates' Python has by itself.
    """
    added = [change.path for change in changes if change.old_mode == _ABSENT and change.new_mode != _ABSENT]
    own = {name for path in main if (name := _module(path, main))}
    stems = {path.rpartition(".")[0]: path for path in main if path.endswith(_COMPILED_TO_SCRIPT)}
    found = []
    for path in added:
        name = _module(path, (*main, *added))
        if name and name not in own and (name in _ALWAYS or name in outside):
            found.append(f"{path} takes the place of the module {name}, which the gates have from outside the tree")
        elif "node_modules" in path.split("/"):
            found.append(f"{path} takes the place of a package that the gates have from outside the tree")
        elif path.endswith(_SCRIPT) and (source := stems.get(path.rpartition(".")[0])) is not None:
            found.append(f"{path} takes the place of {source} where both can be meant")
        elif path.endswith(_STUB) and f"{path.removesuffix(_STUB)}{_STUBBED}" in main:
            found.append(f"{path} is what type checkers read in place of the source beside it")
        elif path.endswith(_COMPILED):
            found.append(f"{path} is compiled code, which is run in place of the source beside it")
        elif path.endswith(_PYTHON_STARTS):
            found.append(f"{path} would be run by Python when it starts")
    return tuple(dict.fromkeys(found))


def _module(path: str, tree: Iterable[str]) -> str:
    """Return the name under which Python imports a file, or the package that it begins, from where tests run; or ""."""
    folder, _, name = path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    if not dot or not name.endswith(_MODULES):
        return ""
    if stem == "__init__":
        folder, _, stem = folder.rpartition("/")
    top = folder in _SOURCE_FOLDERS or _holds_tests(folder, tree)
    return stem.partition(".")[0] if top else ""


def _holds_tests(folder: str, tree: Iterable[str]) -> bool:
    """Tell whether tests stand in a folder itself: its modules are imported by their bare names then."""
    start = f"{folder}/"
    return any(path.startswith(start) and "/" not in path[len(start) :] and is_test_file(path) for path in tree)
