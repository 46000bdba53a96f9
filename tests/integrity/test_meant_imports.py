"""Which unused imports are meant to be there: of the project's own code, and those that ask what is installed."""

import pytest
from support.cases import cases

from noface.integrity.meant_imports import excuses_unused_import, meant_imports

TREE = ("src/shop/__init__.py", "src/shop/core.py", "src/shop/api/__init__.py", "src/shop/api/signals.py", "plugin.py")


@cases(
    ("path", "line", "meant"),
    [
        ("src/shop/__init__.py", "from .core import total", True),
        ("src/shop/__init__.py", "from shop.core import total", True),
        ("src/shop/__init__.py", "from . import core", True),
        ("src/shop/__init__.py", "import shop.api.signals", True),
        ("src/shop/api/apps.py", "from . import signals", True),
        ("src/shop/api/apps.py", "from ..core import total", True),
        ("src/shop/api/apps.py", "import plugin", True),
        ("src/shop/__init__.py", "from .gone import total", False),
        ("src/shop/__init__.py", "import os", False),
        ("src/shop/__init__.py", "from json import loads", False),
        ("src/shop/core.py", "import numpy", False),
        ("src/shop/core.py", "from .... import core", False),
        ("src/shop/core.py", "def (", False),
    ],
)
def test_an_import_of_the_project_s_own_code_is_meant(path, line, meant):
    assert meant_imports(path, f"\n{line}\n", TREE) == (frozenset({2}) if meant else frozenset())


def test_an_import_over_several_lines_is_meant_on_each():
    assert meant_imports("src/shop/__init__.py", "from .core import (\n    a,\n    b,\n)\n", TREE) == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("handler", "meant"),
    [("ImportError", True), ("(AttributeError, ModuleNotFoundError)", True), ("ValueError", False), ("", False)],
)
def test_what_asks_whether_a_library_is_there_is_meant(handler, meant):
    text = f"try:\n    import numpy\nexcept {handler}:\n    numpy = None\n"
    assert meant_imports("src/shop/core.py", text, TREE) == (frozenset({2}) if meant else frozenset())


@cases(
    ("kind", "only"),
    [
        *((kind, True) for kind in ("# noqa: F401", "#noqa:F401", "# NOQA: F401", "# pylint: disable=unused-import")),
        *((kind, False) for kind in ("# noqa", "# noqa: F401, F811", "# noqa: F403", "# type: ignore", "# ruff: noqa")),
    ],
)
def test_only_the_rule_of_unused_imports_is_excused(kind, only):
    assert excuses_unused_import(kind) is only
