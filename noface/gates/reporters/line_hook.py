"""Waits in a Python process of a gate, at next to no cost, until it loads a file that the change touches.

Then that file's code notes what it runs (`python_lines.py`). It imports nothing but what every process has, since tests
look at what their project imports: what the notes need is out of sys.modules again once it is loaded. A loader of
another class, which may compile by rules of its own, loads as ever. It serves Python 3.8 and newer, and never raises
anything of its own.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_FOLDER = __file__.rpartition("/")[0]
_lines: Any = {}


def _load() -> None:
    before = set(sys.modules)
    with open(f"{_FOLDER}/python_lines.py", encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to import
        _lines.update(__file__=file.name, __name__="noface")
        exec(compile(file.read(), "<noface>", "exec"), _lines)  # noqa: S102 - what noface has put there
    for name in set(sys.modules) - before:
        del sys.modules[name]


def _wait(loader: Any, paths: dict[str, str]) -> None:
    get_code = loader.get_code

    def followed(self: Any, fullname: str) -> CodeType | None:
        try:
            path = self.get_filename(fullname) if type(self) is loader else ""
            name = paths.get(os.path.realpath(path)) if path else None
            if name is not None:
                if not _lines:
                    _load()
                code: CodeType = _lines["with_probes"](path, name, self.get_data(path))
                return code
        except Exception:  # noqa: BLE001, S110 - it is loaded as ever
            pass
        loaded: CodeType | None = get_code(self, fullname)
        return loaded

    loader.get_code = followed


with open(f"{_FOLDER}/follow.txt", encoding="utf-8") as _file:  # noqa: PTH123
    _root, *_paths = _file.read().split("\0")
_touched = {os.path.realpath(f"{_root}/{path}"): path for path in _paths}
_wait(sys.modules["_frozen_importlib_external"].SourceFileLoader, _touched)
