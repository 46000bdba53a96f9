"""The figures of the code that may only fall: how they are counted.

Run as a script it lowers the figures in `ratchet.toml` to what the code has now; it never raises one.
"""

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import tomlkit

ROOT = Path(__file__).parents[2]
FIGURES = Path(__file__).with_name("ratchet.toml")
OLD_WORDS = frozenset({"found", "said", "shown", "told"})
"""Participles that stood for nouns once: `found` for a finding, `told` for a message."""
OF_AN_ATTEMPT = frozenset({"order", "env", "scope", "work", "snapshot", "task"})
"""What an `Attempt` holds: functions that take several of these hand an attempt on in pieces."""
RECORD_BASES = frozenset({"NamedTuple", "TypedDict", "BaseModel"})


def count() -> dict[str, int]:
    """Return each figure of the code as it is now."""
    texts = {path: path.read_text() for path in sorted((ROOT / "noface").rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    names = Counter(
        name for tree in trees.values() for name in {c.name for c in tree.body if isinstance(c, ast.ClassDef)}
    )
    folders = Counter(path.parent for path in texts)
    return {
        "lines": sum(text.count("\n") for text in texts.values()),
        "records": sum(map(_is_record, classes)),
        "double_names": sum(1 for times in names.values() if times > 1),
        "old_words": sum(OLD_WORDS & set(name.split("_")) != set() for name in _identifiers(nodes)),
        "passed_on": sum(len(list(_passed_on(function))) for function in functions),
        "in_pieces": sum(len(OF_AN_ATTEMPT & _parameters(function)) > 1 for function in functions),
        "files_of_a_folder": max(folders.values()),
        "untyped": sum(text.count("dict[str, Any]") for text in texts.values()),
    }


def _is_record(node: ast.ClassDef) -> bool:
    """True if the class is a record: its fields are what it is for."""
    made = any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
    return made or any(ast.unparse(base).rpartition(".")[2] in RECORD_BASES for base in node.bases)


def _identifiers(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}


def _passed_on(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the parameters of a function that it only hands to other functions under their own names."""
    handed: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            used[node.id] += 1
        elif isinstance(node, ast.Call):
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            handed.update(argument.id for argument in given if isinstance(argument, ast.Name))
    for argument in (*function.args.args, *function.args.kwonlyargs):
        if argument.arg not in {"self", "cls"} and used[argument.arg] == handed[argument.arg] > 0:
            yield argument.arg


def rises(versions: list[str]) -> list[str]:
    """Return what rose between two versions of the figures, the oldest first, without a new reason beside it."""
    unexplained = []
    tables = [tomllib.loads(text) for text in versions]
    for before, after in pairwise(tables):
        for name in before.keys() & after.keys():
            old, new = before[name], after[name]
            if new["at_most"] > old["at_most"] and len(new.get("rose", ())) <= len(old.get("rose", ())):
                unexplained.append(f"{name}: {old['at_most']} -> {new['at_most']}")
    return unexplained


def main() -> None:
    document = tomlkit.parse(FIGURES.read_text())
    for name, now in count().items():
        print(f"{name:18} {now:6} of at most {document[name]['at_most']}")
        document[name]["at_most"] = min(now, document[name]["at_most"])
    FIGURES.write_text(tomlkit.dumps(document))


if __name__ == "__main__":
    sys.exit(main())
