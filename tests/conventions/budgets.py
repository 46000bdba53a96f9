"""What the code may cost: how its figures are counted, and when a budget may rise.

Run as a script it lowers the budgets in `budgets.toml` to what the code has now, and adds rooms that are new; it never
raises one.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import tomli_w

from noface.cli.main import SECTIONS
from noface.data import table

ROOT = Path(__file__).parents[2]
BUDGETS = Path(__file__).with_name("budgets.toml")
RECORD_BASES = frozenset({"NamedTuple", "TypedDict", "BaseModel"})
Figures = dict[str, dict[str, int]]
"""Figures by their kind and by what they are of."""


def count() -> Figures:
    """Return lines, files and records of each room, and for the whole its keys, verbs and events."""
    figures: Figures = {"lines": {}, "files": {}, "records": {}, "whole": {"verbs": sum(map(len, SECTIONS.values()))}}
    keys = 0
    for path in sorted((ROOT / "noface").rglob("*.py")):
        inside = path.relative_to(ROOT / "noface")
        room, text = inside.parts[0] if len(inside.parts) > 1 else "noface", path.read_text()
        nodes = list(ast.walk(ast.parse(text)))
        records = sum(1 for node in nodes if isinstance(node, ast.ClassDef) and _is_record(node))
        for kind, number in (("lines", text.count("\n")), ("files", 1), ("records", records)):
            figures[kind][room] = figures[kind].get(room, 0) + number
        keys += sum(name == "setting" for name, _ in _calls(nodes)) if room == "config" else 0
    figures["whole"] |= {"keys": keys, "kinds_of_events": len(table("events"))}
    tests = (ROOT / "tests").rglob("*.py")
    figures["whole"]["lines_of_tests"] = sum(path.read_text().count("\n") for path in tests)
    return figures


def _is_record(node: ast.ClassDef) -> bool:
    """True if the class is a record: its fields are what it is for."""
    made = any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
    return made or any(ast.unparse(base).rpartition(".")[2] in RECORD_BASES for base in node.bases)


def _calls(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.AST | None]]:
    for node in nodes:
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            yield name, next(iter(node.args), None)


def above(figures: Figures, budgets: Figures) -> list[str]:
    """Return the figures that are above their budgets, or have none."""
    return [
        f"{kind} of {room}: {now} of at most {budgets.get(kind, {}).get(room, 0)}"
        for kind, rooms in figures.items()
        for room, now in rooms.items()
        if now > budgets.get(kind, {}).get(room, 0)
    ]


def rises(versions: list[Figures]) -> list[str]:
    """Return what rose between two versions of the budgets, the oldest first.

    A room's figure may rise if others of its kind fall by as much; those of the whole may only fall.
    """
    found = []
    for before, after in pairwise(versions):
        sums = {kind: (_sum(before.get(kind, {})), _sum(rooms)) for kind, rooms in after.items() if kind != "whole"}
        whole = after.get("whole", {})
        sums |= {name: (before.get("whole", {}).get(name, now), now) for name, now in whole.items()}
        found += [f"{kind}: {old} -> {new}" for kind, (old, new) in sums.items() if new > old]
    return found


def _sum(rooms: Mapping[str, int]) -> int:
    return sum(rooms.values())


def main() -> None:
    """Lower the budgets to what the code has."""
    old: Figures = tomllib.loads(BUDGETS.read_text()) if BUDGETS.exists() else {}
    figures = count()
    for kind, rooms in figures.items():
        print(f"{kind:8} {_sum(rooms):8}" if kind != "whole" else f"{rooms}")
    lowered = {
        kind: {room: min(now, old.get(kind, {}).get(room, now)) for room, now in rooms.items()}
        for kind, rooms in figures.items()
    }
    BUDGETS.write_text(tomli_w.dumps(lowered))


if __name__ == "__main__":
    sys.exit(main())
