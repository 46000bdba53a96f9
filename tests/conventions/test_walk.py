"""The ways of an issue, a pull request and a comment are short, and the page names what is there."""

import ast
import re

from support import ROOT
from support.cases import cases

FILES_MAX = 25
PAGE = (ROOT / "docs/design.md").read_text()
ISSUE, PULL, COMMENT = "From noface run to the landing", "The way of a pull request", "The way of a comment"


def section(title):
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def files(title):
    return set(re.findall(r"`([\w/]+\.py)`", section(title)))


def steps(title):
    named = re.findall(r"((?:`[\w.]+`(?: and|,)? ?)+)(?:back )?in\s+`([\w/]+\.py)`", section(title))
    return [(name, file) for names, file in named for name in re.findall(r"`([\w.]+)`", names)]


def functions(file):
    """Return the functions of a module by name, methods as Class.method."""
    tree = ast.parse((ROOT / "noface" / file).read_text())
    methods = [(node.name, child) for node in tree.body if isinstance(node, ast.ClassDef) for child in node.body]
    plain = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return plain | {f"{name}.{child.name}" for name, child in methods if isinstance(child, ast.FunctionDef)}


def test_from_noface_run_to_the_landing_a_reader_opens_few_files():
    assert 0 < len(files(ISSUE)) <= FILES_MAX


@cases("title", (ISSUE, PULL, COMMENT))
def test_each_file_on_a_way_is_named_with_a_function_of_it(title):
    assert steps(title)
    assert files(title) - {file for _, file in steps(title)} <= {"store/decisions.py"}, "all of it carries out commands"
    assert [f"{name} in {file}" for name, file in steps(title) if name not in functions(file)] == []


def test_the_picture_of_who_acts_names_modules_that_are_there():
    named = set(re.findall(r"\b[a-z]+/[a-z_]+\.py\b", section("Who acts in a run")))
    assert len(named) > 5
    assert [file for file in named if not (ROOT / "noface" / file).exists()] == []
