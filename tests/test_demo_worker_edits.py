"""Mutation operators: each edit is minimal, and almost every one gives a valid program."""

import ast
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noface.demo.catalogue import CATALOGUE
from noface.demo.edits import Edit, Source, apply, describe
from noface.demo.mutate import compiles, single_edits
from noface.demo.sample import library

EVERY_LINE = range(100_000).__contains__


def edits_of(text, tier=2):
    source = Source("m.py", textwrap.dedent(text).encode())
    return source, list(single_edits(source, tier, EVERY_LINE))


def results(text, operator, tier=2):
    source, edits = edits_of(text, tier)
    changed = [apply({"m.py": source.data}, [e])["m.py"].decode() for e in edits if e.operator == operator]
    return [new for new in changed if compiles("m.py", new.encode())]


@pytest.mark.parametrize(
    ("operator", "tier", "before", "after"),
    [
        ("comparison", 1, "ok = a < b", "ok = a <= b"),
        ("comparison", 1, "ok = a  not  in b", "ok = a  in b"),
        ("comparison", 1, "ok = (a) == (b)", "ok = (a) != (b)"),
        ("constant", 1, "x = 7", "x = 8"),
        ("constant", 1, "x = 0", "x = (-1)"),
        ("constant", 1, "x = True", "x = False"),
        ("arithmetic", 1, "x = a // b", "x = a % b"),
        ("arithmetic", 1, "x += 1", "x -= 1"),
        ("boolean", 1, "x = a and b or c", "x = a or b or c"),
        ("negation", 1, "x = not a", "x = a"),
        ("negation", 1, "x = [i for i in y if i]", "x = [i for i in y if not (i)]"),
        ("opposite", 1, "x = min(a, b)", "x = max(a, b)"),
        ("opposite", 1, "x = a.startswith(b)", "x = a.endswith(b)"),
        ("sign", 1, "x = -a", "x = a"),
        ("off by one", 1, "x = a[i]", "x = a[i + 1]"),
        ("off by one", 1, "x = a - 1", "x = a"),
        ("off by one", 1, "for i in range(n): pass", "for i in range(n - 1): pass"),
        ("slice", 1, "x = a[1:n]", "x = a[1:]"),
        ("swapped operands", 1, "x = a + b - c", "x = c - (a + b)"),
        ("swapped arguments", 1, "x = f(a, b)", "x = f(b, a)"),
        ("loop exit", 1, "for i in a: break", "for i in a: continue"),
        ("variable", 2, "def f(a, b): return a", "def f(a, b): return b"),
        ("borrowed constant", 2, "x = 'a'\ny = 'b'", "x = 'b'\ny = 'b'"),
        ("attribute", 2, "def f(a): return a.x - a.y", "def f(a): return a.y - a.y"),
        ("dropped clause", 2, "x = a and b", "x = b"),
        (
            "borrowed clause",
            2,
            "def f(a):\n    if a:\n        return a > 1",
            "def f(a):\n    if (a) or a > 1:\n        return a > 1",
        ),
        ("dropped call", 2, "x = sorted(a)", "x = a"),
        ("added call", 2, "x = a", "x = abs(a)"),
        ("dropped statement", 2, "def f(a):\n    a.sort()\n    return a", "def f(a):\n    pass\n    return a"),
        ("swapped statements", 2, "def f(a):\n    a = 1\n    b = a", "def f(a):\n    b = a\n    a = 1"),
        ("dedented statement", 2, "for a in b:\n    c = a\n    d = a\n", "for a in b:\n    c = a\nd = a\n"),
    ],
)
def test_each_operator_makes_the_edit_it_is_for(operator, tier, before, after):
    assert after in results(before, operator, tier)


def test_the_first_tier_is_part_of_the_second():
    text = "def f(a, b):\n    return a - b if a > 1 else b\n"
    assert set(edits_of(text, 1)[1]) < set(edits_of(text, 2)[1])


def test_annotations_docstrings_imports_and_fstrings_are_left_alone():
    _, edits = edits_of('from a import b\ndef f(x: "min") -> 3:\n    """Doc, 1."""\n    return f"{x - 1}"\n')
    assert {edit.line for edit in edits} <= {4}
    assert not any(edit.operator in {"constant", "arithmetic"} for edit in edits)


@pytest.mark.parametrize("module", sorted(library(CATALOGUE)))
def test_on_real_modules_every_edit_touches_its_place_alone_and_nearly_all_compile(module):
    (text,) = [text for name, text in library(CATALOGUE)[module].items() if name.startswith("oddments/")]
    source, edits = edits_of(text)
    valid = 0
    for edit in edits:
        new = apply({"m.py": source.data}, [edit])["m.py"]
        assert new != source.data
        assert new.startswith(source.data[: edit.start])
        assert new.endswith(source.data[edit.end :])
        assert 0 < edit.weight <= 1
        valid += compiles("m.py", new)
    assert valid >= 0.9 * len(edits)
    assert len({(edit.start, edit.end, edit.new) for edit in edits}) == len(edits)


names = st.sampled_from(["a", "b", "größe", "名", "x1"])
atoms = names | st.integers(0, 99).map(str) | st.sampled_from(["'ä'", '"日本"', "None", "True"])


def compound(inner):
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda p: f"({p[0]} + {p[1]})"),
        pairs.map(lambda p: f"({p[0]} <= {p[1]})"),
        pairs.map(lambda p: f"({p[0]}\n  and {p[1]})"),
        pairs.map(lambda p: f"f({p[0]}, {p[1]})"),
        pairs.map(lambda p: f"{p[0]}[{p[1]}]" if p[0].isidentifier() else f"({p[0]} - {p[1]})"),
    )


expressions = st.recursive(atoms, compound, max_leaves=8)


@given(st.lists(expressions, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_positions_hold_with_any_letters_line_ends_and_byte_order_marks(values, newline, mark):
    text = "\n".join(f"v{number} = {value}" for number, value in enumerate(values)).replace("\n", newline)
    data = (b"\xef\xbb\xbf" if mark else b"") + text.encode()
    source = Source("m.py", data)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.expr):
            piece = "(" + source.text(node).decode() + ")"
            assert ast.unparse(ast.parse(piece, mode="eval").body) == ast.unparse(node)


@given(st.lists(expressions, min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_edits_of_any_expression_change_the_syntax_tree_and_mostly_compile(values):
    text = "def f(a, b):\n" + "".join(f"    v{number} = {value}\n" for number, value in enumerate(values))
    source, edits = edits_of(text)
    for edit in edits:
        new = apply({"m.py": source.data}, [edit])["m.py"]
        if compiles("m.py", new):
            assert ast.dump(ast.parse(new)) != ast.dump(source.tree)


def test_two_edits_apply_together_and_clashing_ones_are_told():
    texts = {"m.py": b"x = a + b\n"}
    one, two = Edit("m.py", 4, 5, b"cc", "t", 1, 1.0), Edit("m.py", 8, 9, b"d", "t", 1, 1.0)
    assert apply(texts, [one, two]) == {"m.py": b"x = cc + d\n"}
    assert one.clashes(Edit("m.py", 3, 6, b"", "t", 1, 1.0))
    assert not one.clashes(two)
    assert not one.clashes(Edit("n.py", 4, 5, b"", "t", 1, 1.0))


def test_an_edit_is_described_by_its_line_before_and_after():
    edit = Edit("m.py", 10, 11, b"-", "arithmetic", 2, 1.0)
    assert describe(edit, b"# 1\nx = a + b\n") == "m.py:2: `x = a + b` -> `x = a - b` (arithmetic)"
