"""The scanner is held against tomllib: whatever path tomllib sees has a line, and the line is the right one."""

import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from noface.config.lines import Layout, nearest_line, split_key


def paths(value, path=()):
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*path, key))


HAIRY = """\
# comment [not.a.table]
title = "x # no comment" # 2
"quoted key".'a.b' = 1
dates = [1979-05-27 07:32:00, 1979-05-27T07:32:00Z, 07:32:00]

[a . b]
text = \"\"\"
[not.a.header]
key = "no"
two quotes at the end\"\"\"\"\"
raw = '''
[also.none]
it's''''
escaped = "a \\" b \\\\"
back = \"\"\"\\
   x \\\"\"\" y\"\"\"
empty = ""
empty2 = \"\"\"\"\"\"
[ a.b."c]d" ] # header with a bracket in quotes
x.y.z = 1
x.y.w = { p = { q = [1, { r = 2 }] }, "s.t" = "}" }

[[gates]]
name = "unit"
list = [
  # comment, with ] and "
  [1, 2],
  "a]b",

  { k = 1 },
]
[[gates.inner]]
n = 1
[[gates.inner]]
n = 2
[gates.inner.deep]
m = 3

[[gates]]
timeout = 5
[[gates.inner]]
n = 4
[after.everything]
last = true"""


def test_a_hairy_document_has_a_line_for_every_path_tomllib_sees():
    assert set(Layout(HAIRY).lines) == set(paths(tomllib.loads(HAIRY)))


def test_the_lines_of_a_hairy_document_are_right():
    lines, text = Layout(HAIRY).lines, HAIRY.split("\n")
    expected = {
        ("title",): 'title = "x',
        ("quoted key", "a.b"): '"quoted key"',
        ("a", "b"): "[a . b]",
        ("a", "b", "raw"): "raw = ",
        ("a", "b", "escaped"): "escaped = ",
        ("a", "b", "empty2"): "empty2 = ",
        ("a", "b", "c]d"): '[ a.b."c]d" ]',
        ("a", "b", "c]d", "x", "y"): "x.y.z",
        ("a", "b", "c]d", "x", "y", "w", "p", "q", 1, "r"): "x.y.w",
        ("gates", 0, "list", 0, 1): "  [1, 2],",
        ("gates", 0, "list", 1): '  "a]b",',
        ("gates", 0, "list", 2, "k"): "  { k = 1 },",
        ("gates", 0, "inner", 1, "n"): "n = 2",
        ("gates", 0, "inner", 1, "deep", "m"): "m = 3",
        ("gates", 1, "timeout"): "timeout = 5",
        ("gates", 1, "inner", 0, "n"): "n = 4",
        ("after", "everything", "last"): "last = true",
    }
    assert {path: text[lines[path] - 1][: len(start)] for path, start in expected.items()} == expected


def test_carriage_returns_do_not_shift_lines():
    text = HAIRY.replace("\n", "\r\n")
    assert Layout(text).lines == Layout(HAIRY).lines
    assert set(Layout(text).lines) == set(paths(tomllib.loads(text)))


def test_a_header_that_comes_after_its_subtable_is_the_line_of_the_table():
    assert Layout("[a.b]\nx = 1\n[a]\ny = 2\n").lines[("a",)] == 3


def test_a_missing_key_has_the_line_of_its_table():
    lines = Layout("[run]\n\n[[gates]]\nname = 'x'\n").lines
    assert nearest_line(lines, ("gates", 0, "command")) == 3
    assert nearest_line(lines, ("retry", "default_model")) is None


NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6), st.sampled_from(["a", "b", "c.d", 'q"', "1"])
)
SCALARS = st.one_of(
    st.integers(-(2**60), 2**60), st.booleans(), st.text(st.characters(exclude_categories=["Cs"])), st.datetimes()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=20,
)


def numbered(shape, counter):
    """Replace every leaf of `shape` by a number of its own, so that the number tells its line."""
    if isinstance(shape, dict):
        return {key: numbered(value, counter) for key, value in shape.items()}
    if isinstance(shape, list):
        return [numbered(value, counter) for value in shape]
    counter.append(None)
    return 1_000_000 + len(counter)


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_every_value_stands_on_the_line_given_for_it(shape):
    data = numbered(shape, [])
    text = tomli_w.dumps(data)
    lines, rows = Layout(text).lines, text.split("\n")
    for path in paths(data):
        value = data
        for part in path:
            value = value[part]
        if isinstance(value, int):
            assert str(value) in rows[lines[path] - 1]


STRINGS = st.sampled_from(
    [
        '"x"',
        "'y'",
        '"""\n[h]\n"""',
        "'''\n[[h]]\nk = 1'''",
        '"\\""',
        '""',
        "''",
        '"""a""b"""',
        '""" " """""',
        "1",
        "[\n]",
        "{}",
    ]
)
KEYS = st.lists(st.sampled_from(["a", "b-c", '"d.e"', "'f g'", '"\\u0041"', "1"]), min_size=1, max_size=3)
STATEMENTS = st.one_of(
    st.builds(lambda parts, value: f"{'.'.join(parts)} = {value}", KEYS, STRINGS),
    st.builds(lambda parts, value: f"{' . '.join(parts)}=[{value} , # ]\n {value}] # x", KEYS, STRINGS),
    st.builds(lambda parts, value: f"{'.'.join(parts)} = {{ z.y = {value}, x = [{value}] }}", KEYS, STRINGS),
    st.builds(lambda parts: f"[{'.'.join(parts)}]", KEYS),
    st.builds(lambda parts: f"[[ {'.'.join(parts)} ]]", KEYS),
)


@given(st.lists(STATEMENTS, max_size=6))
def test_whatever_style_tomllib_accepts_has_a_line_for_every_path(statements):
    kept = []
    for statement in statements:
        try:
            tomllib.loads("\n".join([*kept, statement]))
        except tomllib.TOMLDecodeError:
            continue
        kept.append(statement)
    text = "\n".join(kept)
    assert set(Layout(text).lines) == set(paths(tomllib.loads(text)))


def test_dotted_keys_are_split_as_toml_does():
    assert split_key('models."gpt-4.1".tier') == ("models", "gpt-4.1", "tier")
    assert split_key("gates.0 . timeout") == ("gates", "0", "timeout")


@pytest.mark.parametrize("key", ["", ".", "a.", "a b", "a=1", 'a."b', "[a]"])
def test_what_is_no_key_is_refused(key):
    with pytest.raises(ValueError, match=r".*"):
        split_key(key)
