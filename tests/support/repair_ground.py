"""Small projects for the repair worker of the demonstration, and orders for it."""

import sys

from noface.demo.order import Order
from noface.demo.repair import Repair

PYTEST = f"{sys.executable} -B -m pytest -q"
CONFIG = '[tool.pytest.ini_options]\npythonpath = [".", "src"]\naddopts = "--disable-plugin-autoload"\n'
BROKEN = "def double(n):\n    return n + n + 1\n\n\ndef half(n):\n    return n // 2\n"
DOUBLE_TEST = "from lib import double\n\n\ndef test_double():\n    assert double(2) == 4\n    assert double(0) == 0\n"


def small_project(folder, **files):
    root = folder / "work"
    for name, text in {"pyproject.toml": CONFIG, **files.pop("files", {}), **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def contents(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def order_of(accept, gates=(), paths=(), earlier=(), model="tier1", main=""):
    accept = (accept,) if isinstance(accept, str) else accept
    return Order("7", len(earlier) + 1, model, tuple(paths), accept, tuple(gates), tuple(earlier), main)


def repair(root, order, tier=1):
    lines = []
    summary = Repair(order, tier, root, lines.append).run()
    return summary, lines
