"""A public function of more than six lines says what it is for; a shorter one is read as fast as its docstring."""

import ast

from conventions.budgets import ROOT


def _undocumented(body):
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _undocumented(node.body)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            long = node.end_lineno - node.body[0].lineno >= 6
            marked = {name.id for name in node.decorator_list if isinstance(name, ast.Name)}
            if long and not marked & {"override", "overload"} and ast.get_docstring(node) is None:
                yield f"{node.lineno}: {node.name}"


def test_public_functions_of_more_than_six_lines_have_a_docstring():
    found = [
        f"{path.relative_to(ROOT)}:{name}"
        for path in sorted((ROOT / "noface").rglob("*.py"))
        for name in _undocumented(ast.parse(path.read_text()).body)
    ]
    assert found == []
