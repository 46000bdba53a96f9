"""Broken files are named exactly before any gate runs; what any tool of the project may accept is left to the gates."""

from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import cases

from noface.diagnosis.syntax import BrokenFile, check, language_of, syntax_failure
from noface.model.taxonomy import FailureKind

# The grammars come with the extra `syntax`: with it a broken file is named, without it the gates judge it.
GRAMMARS = find_spec("tree_sitter") is not None and find_spec("tree_sitter_javascript") is not None
YAML = find_spec("yaml") is not None


def broken(language, text, path="a"):
    found = check(path, language, text.encode() if isinstance(text, str) else text)
    return None if found is None else (found.line, found.message)


# Python


@cases(
    ("text", "line", "said"),
    [
        ("x = 1\nfoo(1\n", 2, "'(' was never closed"),
        ("def f():\nreturn 1\n", 2, "expected an indented block after function definition on line 1"),
        ("x = 'a\n", 1, "unterminated string literal"),
        ("def f()\n    pass\n", 1, "expected ':'"),
        ("x = )\n", 1, "unmatched ')'"),
        ("```python\nx = 1\n```\n", 1, "invalid syntax"),
        ("<<<<<<< HEAD\nx = 1\n", 1, "invalid syntax"),
        ("if x:\n    a()\n  b()\n", 3, "unindent does not match any outer indentation level"),
        ("for x in range(3) print(x)\n", 1, ""),
        ("async def f():\n    x = [1, 2\n", 2, "'[' was never closed"),
    ],
)
def test_python_that_is_broken_in_every_version_is_named(text, line, said):
    found = broken("python", text)
    assert found is not None
    assert (found[0], found[1][: len(said)]) == (line, said)


def test_sound_python_is_sound_and_its_warnings_stay_unsaid(capfd):
    assert broken("python", "x = '\\d'\nassert (x, 'y')\nx is 1\n") is None
    assert broken("python", b"# -*- coding: latin-1 -*-\nx = '\xe4'\n") is None
    assert broken("python", "\ufeffx = 1\r\ny = 2\r\n") is None
    assert broken("python", "") is None
    assert capfd.readouterr() == ("", "")


def test_python_is_never_run(tmp_path):
    assert broken("python", f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(3)\n") is None
    assert not (tmp_path / "ran").exists()


def test_what_no_parser_can_bear_is_left_to_the_gates():
    assert broken("python", "(" * 50_000 + ")" * 50_000) is None
    assert broken("python", "-" * 200_000 + "1") is None
    assert broken("json", "[" * 200_000 + "]" * 200_000) is None
    assert broken("json", "1" * 5_000) is None


# JSON, TOML, YAML


@cases(
    ("language", "text", "line"),
    [
        ("json", '{\n  "a": 1\n  "b": 2\n}\n', 3),
        ("json", '{"a": }\n', 1),
        ("json", '{"a": 1\n', 2),
        ("json", '["a", "b"\n"c"]', 2),
        ("json", "hello\n", 1),
        ("json", '{"a": 1} oops', 1),
        ("json", '{"a": 1, /* c */ "b": }', 1),
        ("json", '{"a": [1,2,], "b": }', 1),
        ("json", '{"a": 1} /* open', 1),
        ("toml", "a = 1\nb = \n", 2),
        ("toml", "[a\nb = 1\n", 1),
        ("toml", 'a = "x\n', 1),
        ("toml", "a = 1\na = 2\n", 2),
        ("toml", "x = [1, 2\n\n[t]\ny = 1\n", 3),
    ],
)
def test_broken_json_and_toml_are_named(language, text, line):
    assert broken(language, text)[0] == line


def test_some_json_is_strict_whatever_others_accept():
    assert broken("json", '{"name": "x",}', "package.json") is not None
    assert broken("json", '{"name": "x",}', "data.json") is None


@pytest.mark.parametrize("text", ["<a><b></a>\n", "<a", "<a>&</a>", "<a></a><b/>", "<a b=1/>", "a"])
def test_broken_xml_is_named(text):
    assert broken("xml", text) is not None


@pytest.mark.parametrize("text", ["a: b: c\n", "a:\n  - 1\n - 2\n", 'a: "x\n', "a: [1, 2\nb: 3\n"])
def test_broken_yaml_is_named_where_a_parser_is_installed(text):
    assert (broken("yaml", text) is not None) == YAML


# Other languages


@pytest.mark.parametrize(
    ("language", "text", "place"),
    [
        ("javascript", "function f() {\n  return 1;\n", (1, "'{' was never closed")),
        ("javascript", "f();\n}\n", (2, "unmatched '}'")),
        ("typescript", "function f(x: number {\n  return x\n}\n", (1, "'(' was never closed")),
        ("tsx", "const a = <p>{x</p>;\n", (1, "'{' was never closed")),
        ("go", "package a\n\nfunc f() {\n\tg(1]\n}\n", (4, "closing ']' does not match opening '(' on line 4")),
        ("rust", 'fn main() {\n    println!("a";\n}\n', (3, "closing '}' does not match opening '(' on line 2")),
        ("java", "class A {\n  void f() {\n}\n", (1, "'{' was never closed")),
    ],
)
def test_a_bracket_without_its_other_half_is_named_where_the_grammar_is_installed(language, text, place):
    assert broken(language, text) == (place if GRAMMARS else None)


@cases(
    ("language", "text"),
    [
        # of a newer version
        ("python", "type X = int\n"),
        ("python", "type X[T] = list[T]\nx = 1\n"),
        ("python", "def f[T](x: T) -> T:\n    return x\n"),
        ("python", "class A[T: int]:\n    pass\n"),
        ("python", "x = f'{a['b']}'\n"),
        ("python", 'print(f"{", ".join(names)}")\n'),
        ("python", 'x = f"{\n    a\n}"\n'),
        ("python", "x = f'{a!r:{'>'}{10}}'\n"),
        ("python", "x = f\"{'\\n'.join(a)}\"\n"),
        ("python", "x = t'{a}'\n"),
        ("python", "try:\n    pass\nexcept A, B:\n    pass\n"),
        ("python", "lazy import json\n"),
        ("python", "lazy from json import dumps\n"),
        ("python", "x = [*a for a in b]\n"),
        ("python", "x = {**a for a in b}\n"),
        # of Python 2 and notebooks
        ("python", "print 'hello'\n"),
        ("python", "#!/usr/bin/env python2\nx = `1`\n"),
        ("python", "x = `a`\n"),
        ("python", "try:\n    pass\nexcept A, e:\n    pass\n"),
        ("python", "raise E, 'no'\n"),
        ("python", "exec 'x' in d\n"),
        ("python", "x = 0777\n"),
        ("python", "x = 10L\n"),
        ("python", "x = ur'a'\n"),
        ("python", "if a <> b:\n    pass\n"),
        ("python", "def f(a, (b, c)):\n    pass\n"),
        ("python", "if x:\n\ta()\n        b()\n"),
        ("python", "%matplotlib inline\n"),
        ("python", "!ls\n"),
        ("python", "await f()\n"),
        ("python", "return 1\n"),
        # that some reader accepts
        ("json", '{"a": 1, // one\n "b": [1, 2,], /* two */ }\n'),
        ("json", '{"a": 1}\n{"a": 2}\n'),
        ("json", '{"a": {{ value }} }\n'),
        ("json", '{% if x %}{"a": 1}{% endif %}\n'),
        ("json", '{"a": NaN}\n'),
        ("json", '\ufeff{"a": 1}\n'),
        ("json", '{"a": "// no comment,]"}\n'),
        ("json", ""),
        # of a newer version
        ("toml", "a = {\n  b = 1,\n}\n"),
        ("toml", 'a = "\\e[0m"\n'),
        ("toml", "a = 07:30\n"),
        ("toml", "a = {{ value }}\n"),
        ("toml", "\ufeff# a comment\n"),
        ("toml", ""),
        # that some reader accepts
        ("yaml", "a: !custom b\n---\nc: *nowhere\n"),
        ("yaml", "{{- if .Values.x }}\na: 1\n{{- end }}\n"),
        ("yaml", "run: ${{ github.ref }}\n"),
        ("yaml", "a: 1\na: 2\n"),
        ("yaml", "# nothing\n"),
        ("yaml", "a: |\n  {% raw %}\n"),
        ("xml", "<a>&nbsp;</a>"),
        ("xml", ""),
        ("xml", '<?xml version="1.0" encoding="ISO-8859-1"?>\n<a x:b="1"/>'),
        ("xml", "<a>{{ value }}</a>"),
        # that the grammar alone takes amiss
        ("javascript", "const s = '(', r = /[(]/, t = `a ${'{'} (`; // {\n"),
        ("javascript", "// @flow\ntype A = {| x: ?string |};\nconst a = <p>it's (</p>;\n"),
        ("javascript", "const = 5;\n"),
        ("typescript", "let x: Array<Array<number>> = [];\nenum E { A }\n"),
        ("java", "import module java.base;\nclass A { void f() { var x = new int[] {1}; } }\n"),
        ("go", "package a\n\nvar s = `(`\nvar r = '{'\n"),
        ("rust", "fn f<'a>(x: &'a str) -> char { '(' }\n"),
    ],
)
def test_what_some_tool_of_the_project_may_accept_is_left_to_the_gates(language, text):
    assert broken(language, text) is None


def test_of_a_file_too_large_for_a_person_to_have_written_no_bracket_is_missed():
    """None of 1,142 files of JavaScript in npm and its dependencies is so large."""
    assert broken("javascript", "f(1);\n" * 1_000 + "f((1);\n") == (
        (1_001, "'(' was never closed") if GRAMMARS else None
    )
    assert broken("javascript", "f(1);\n" * 40_000 + "f((1);\n") is None


# Which files


@cases(
    ("path", "language"),
    [
        ("src/a.py", "python"),
        ("tests/test_a.py", "python"),
        ("tests/conftest.py", "python"),
        ("package.json", "json"),
        ("pyproject.toml", "toml"),
        ("tests/data/bad.py", None),
        ("tests/bad.py", None),
        ("src/templates/a.py", None),
        ("{{cookiecutter.name}}/a.py", None),
        ("fixtures/a.json", None),
        ("tsconfig.json", None),
        ("tsconfig.build.json", None),
        (".vscode/settings.json", None),
        ("a.jsonc", None),
        ("a.json5", None),
        (".eslintrc.json", None),
        ("README.md", None),
        ("a.c", None),
        ("vendor/a.go", None),
        ("a.min.js", None),
    ],
)
def test_files_that_may_be_broken_on_purpose_or_in_a_dialect_are_not_parsed(path, language):
    assert language_of(path) == language


def test_languages_whose_parser_is_not_installed_are_not_even_read():
    assert language_of("a.js") == ("javascript" if GRAMMARS else None)
    assert language_of("a.yaml") == ("yaml" if YAML else None)


# The failure


def test_the_failure_has_the_shape_of_a_gate_s():
    found = check("src/a.py", "python", b"x = 1\n\nfoo(1\ny = 2\n")
    failure = syntax_failure((found,))
    assert failure.kind is FailureKind.SYNTAX_ERROR
    assert failure.rule == "syntax.python"
    assert failure.location == "src/a.py:3"
    assert failure.message == "src/a.py:3: '(' was never closed: foo(1"
    assert failure.evidence == ("src/a.py:3: '(' was never closed", "foo(1")
    assert ">     3 | foo(1" in failure.excerpt.splitlines()


def test_the_signature_stays_where_only_the_line_s_number_moved():
    one, moved, other = (
        syntax_failure((check("a.py", "python", text),)) for text in (b"f(1\n", b"\n\nf(1\n", b"g(1\n")
    )
    assert one.signature == moved.signature
    assert one.signature != other.signature


def test_further_files_are_named_too():
    failure = syntax_failure(tuple(BrokenFile(f"{n}.py", 1, "no", "python", ("x",)) for n in range(9)))
    assert failure.message == "0.py:1: no: x (and 8 more file(s) that do not parse)"
    assert len(failure.evidence) == 10


@given(st.binary(max_size=300), st.sampled_from(["python", "json", "toml", "yaml", "xml", "javascript", "go", "rust"]))
def test_no_input_makes_it_fail(data, language):
    found = check("a", language, data)
    assert found is None or syntax_failure((found,)).kind is FailureKind.SYNTAX_ERROR
