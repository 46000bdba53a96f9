"""Waits in a process of a gate, at next to no cost, until pytest or unittest is imported, and has its tests reported.

This file and `python_tests.py` are copied into a folder on PYTHONPATH: they import nothing of noface, serve Python
3.7 and newer, and never raise anything of their own.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_FOLDER = __file__.rpartition("/")[0]
_ATTACH = {"_pytest.config": "attach_pytest", "unittest.case": "attach_unittest"}
_reporter: dict[str, object] = {}


class RunnerFinder:
    """A finder that finds nothing itself; if a test runner is looked for, it has a look at what the others find."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a test runner's module, which attaches the reporter once it is loaded; None for others."""
        if name not in _ATTACH:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not RunnerFinder else None
            if spec is not None:
                _attach_after_loading(name, spec)
                return spec
        return None


def _attach_after_loading(name: str, spec: ModuleSpec) -> None:
    loader = spec.loader
    try:
        load = loader.exec_module  # type: ignore[union-attr]

        def exec_module(module: ModuleType) -> None:
            load(module)
            _attach(name, module)

        loader.exec_module = exec_module  # type: ignore[union-attr, method-assign]
    except Exception:  # noqa: BLE001, S110 - a loader that cannot be wrapped loads as ever
        pass


def _attach(name: str, module: ModuleType) -> None:
    try:
        if not _reporter:
            path = f"{_FOLDER}/python_tests.py"
            with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to import
                code = compile(file.read(), path, "exec")
            _reporter.update(__name__=__name__, __file__=path, __builtins__=dict(vars(sys.modules["builtins"])))
            exec(code, _reporter)  # noqa: S102 - by its path, which no module of the project can take
        _reporter[_ATTACH[name]](module)  # type: ignore[operator]
    except Exception:  # noqa: BLE001, S110 - tests run unreported rather than not at all
        pass


sys.meta_path.insert(0, RunnerFinder)
