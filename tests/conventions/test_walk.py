"""The way of an issue is short, and the page that leads along it names what is there."""

import ast
import re

from support import ROOT

FILES_MAX = 25
SECTION = (
    (ROOT / "docs/design.md").read_text().partition("## From noface run to the landing\n")[2].partition("\n## ")[0]
)
FILES = sorted(set(re.findall(r"`([\w/]+\.py)`", SECTION)))
STEPS = [
    (name, file)
    for names, file in re.findall(r"((?:`[\w.]+`(?: and|,)? ?)+)(?:back )?in\s+`([\w/]+\.py)`", SECTION)
    for name in re.findall(r"`([\w.]+)`", names)
]


def functions(file):
    """Return the functions of a module by name, methods as Class.method."""
    tree = ast.parse((ROOT / "noface" / file).read_text())
    methods = [(node.name, child) for node in tree.body if isinstance(node, ast.ClassDef) for child in node.body]
    plain = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return plain | {f"{name}.{child.name}" for name, child in methods if isinstance(child, ast.FunctionDef)}


def test_from_noface_run_to_the_landing_a_reader_opens_few_files():
    assert 0 < len(FILES) <= FILES_MAX


def test_each_file_on_the_way_is_named_with_a_function_of_it():
    assert {file for _, file in STEPS} == set(FILES)
    assert [f"{name} in {file}" for name, file in STEPS if name not in functions(file)] == []
