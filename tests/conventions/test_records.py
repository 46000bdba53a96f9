"""One record a fact: two records that share most of their fields are one, or a reason stands beside the pair.

Pairs are found by the names of their fields: at least four that both have, and seven in ten of the smaller one's. A
field that a record inherits is its base's, and counts for no other.
"""

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

from support import ROOT

PAIRS = Path(__file__).with_name("record_pairs.toml")
SHARED_MIN = 4
SHARED_OF_SMALLER = 0.7
BASES = {"NamedTuple", "TypedDict", "BaseModel", "Section"}


@cache
def records() -> dict[str, frozenset[str]]:
    """Return the records of noface, as room/module:Class, with the names of the fields that they define themselves."""
    found = {}
    for path in sorted((ROOT / "noface").rglob("*.py")):
        name = path.relative_to(ROOT / "noface").with_suffix("").as_posix()
        known = set(BASES)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and is_record(node, known):
                known.add(node.name)
                found[f"{name}:{node.name}"] = frozenset(fields(node))
    return found


def is_record(node: ast.ClassDef, known: set[str]) -> bool:
    decorated = any("dataclass" in ast.unparse(each) for each in node.decorator_list)
    return decorated or any(ast.unparse(base).rpartition(".")[2] in known for base in node.bases)


def fields(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and "ClassVar" not in ast.unparse(each.annotation):
            yield ast.unparse(each.target)


def pairs() -> dict[str, int]:
    """Return the pairs that say the same, by the names of their classes, with how many fields they share."""
    known = records()
    alike = {}
    for one, other in combinations(sorted(known), 2):
        shared = len(known[one] & known[other])
        if shared >= SHARED_MIN and shared >= SHARED_OF_SMALLER * min(len(known[one]), len(known[other])):
            names = (one.rpartition(":")[2], other.rpartition(":")[2])
            alike[" ".join(sorted(names))] = shared
    return alike


def reasons() -> dict[str, str]:
    """Return the pairs that are known, each with the reason why it is two."""
    groups = tomllib.loads(PAIRS.read_text())["pairs"]
    return {pair: group["why"] for group in groups for pair in group["of"]}


def test_two_records_that_share_most_of_their_fields_are_one_or_have_a_reason():
    assert sorted(pairs().keys() - reasons().keys()) == []


def test_a_reason_goes_with_its_pair():
    assert sorted(reasons().keys() - pairs().keys()) == []


if __name__ == "__main__":
    for pair, shared in sorted(pairs().items(), key=lambda item: -item[1]):
        print(f"{shared:3}  {pair}")
    print(len(records()), "records,", len(pairs()), "pairs")
