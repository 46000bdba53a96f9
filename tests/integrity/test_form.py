"""What changes a file's form alone, and what says something else; what asks for it.

On the newest 300 commits each of 26 public histories (7,729) this says of 135 that they change the form of some file alone.
It is the purpose of 48, and the words tell so of 44. Of the other 87 it leaves something out of 27: layout, and signs in
comments (229 files were compared by tree-sitter as well).
"""

import pytest

from noface.integrity.asked_for import asks_for, names_file
from noface.integrity.form import changed_beside_form, same_but_for_comments, same_but_for_form
from noface.model.issue import Issue


def same(path, old, new):
    return same_but_for_form(path, old.encode(), new.encode())


FORM = [
    ("a.py", "x = {'a':1,\n'b':2}\n", 'x = {\n    "a": 1,\n    "b": 2,\n}\n'),
    ("a.py", "x=1\ny = 2\n", "x = 1\n\n\ny = 2  \n"),
    ("a.py", "if (a and\n    b): f(1,\n2) #why\n", "if a and b:\n    f(1, 2)  # why\n"),
    ("a.py", "def f():\n  '''Doc.\n\n  More.  '''\n", 'def f():\n    """Doc.\n\n    More."""\n'),
    ("a.py", "x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
    ("a.json", '{"a":1,"b":[1,2]}', '{\n  "a": 1,\n  "b": [1, 2]\n}\n'),
    ("a.toml", "a=1 # one\nb=[1,2]\n", "a = 1  # one\nb = [\n  1,\n  2,\n]\n"),
    ("a.yaml", "a:   1\nb: x  \n\n\n", "a: 1\nb: x\n"),
    ("a.js", "f(a,b)\n", "f(a, b)\n"),
    ("a.js", "if (x) {\nf()\n}\n", "if (x) {\n  f()\n}\n"),
    ("a.js", "const a = 'x'\nb(a)\n", 'const a = "x";\nb(a);\n'),
    (
        "a.js",
        "m.x = function (a) {\n  return a.map(b => b+1)\n}\n",
        "m.x = function (a) {\n\treturn a.map((b) => b + 1);\n};\n",
    ),
    ("a.js", "if (a)\n  f()\nelse\n  g()\n", "if (a) f();\nelse g();\n"),
    ("a.ts", "interface A { b: string\n c: number }\n", "interface A {\n  b: string;\n  c: number;\n}\n"),
    ("a.mjs", "const r = /a'b/\nf([1,\n2])\n", "const r = /a'b/;\nf([\n  1,\n  2,\n]);\n"),
    ("a.go", "x := 1 // one\ny  :=  2\n", "x := 1     // one\ny := 2\n"),
    ("a.rs", "fn a( b:&'a str )->u8{ c(b,1) }", "fn a(b: &'a str) -> u8 {\n    c(b, 1)\n}\n"),
    ("A.java", "int f(){return g(1,\n2);}", "int f() {\n    return g(1, 2);\n}\n"),
    ("a.c", "#define A (x)\nint a ;", "#define A (x)\nint a;\n"),
    ("a.html", "<p>\n<b>x</b> y\n</p>", "<p>\n  <b>x</b> y\n</p>\n"),
    ("a.txt", "one\r\ntwo\r\n", "one\ntwo\n"),
    ("a.txt", "one\n", "one"),
    ("README.md", "One.\r\nTwo.\r\n", "One.\nTwo.\n"),
]
CONTENT = [
    ("a.py", "if x:\n    f()\n    g()\n", "if x:\n    f()\ng()\n"),
    ("a.py", "x = (1,)\n", "x = (1)\n"),
    ("a.py", "x = 'a b'\n", "x = 'a  b'\n"),
    ("a.py", "x = 1  # one\n", "x = 1  # two\n"),
    ("a.js", "x = 1 // one\n", "x = 1 // one two\n"),
    ("a.py", "f()  # pragma: nocover\n", "f()  # pragma: no cover\n"),
    ("a.py", "f(\n", "f( \n"),
    ("a.py", "import b\nimport a\n", "import a\nimport b\n"),
    ("a.json", '{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
    ("a.json", '{"a": 1}', '{"a": "1"}'),
    ("a.toml", "a = 1\n", 'a = "1"\n'),
    ("a.yaml", "a:\n  b: 1\n  c: 2\n", "a:\n  b: 1\nc: 2\n"),
    ("a.yaml", "a: yes\n", "a: 'yes'\n"),
    ("a.yaml", "a: |\n    b\n", "a: |\n  b\n"),
    ("Makefile", "a:\n    true\n", "a:\n\ttrue\n"),
    ("a.js", "returnx;\n", "return x;\n"),
    ("a.js", "return\nx\n", "return x\n"),
    ("a.js", "const a = b\n(c)\n", "const a = b;\n(c);\n"),
    ("a.js", "x = {}\n(c)\n", "x = {};\n(c);\n"),
    ("a.js", 'f("a b")\n', 'f("a  b")\n'),
    ("a.js", "f(`a\n b`)\n", "f(`a\nb`)\n"),
    ("a.js", "f([,])\n", "f([])\n"),
    ("a.js", "i++ + j\n", "i + ++j\n"),
    ("a.js", "a = (b + c) * d\n", "a = b + c * d\n"),
    ("a.js", "// eslint-disable no-var\n", "// eslint-disable no, var\n"),
    ("a.js", "// f()\n", "//\nf()\n"),
    ("a.tsx", "<b>x</b> y\n", "<b>x</b>y\n"),
    ("a.js", "x = <b>x</b> + y\n", "x = <b> x</b> + y\n"),
    ("a.go", "f(x)\n(y)\n", "f(x)(y)\n"),
    ("a.rs", "fn a() { x; }\n", "fn a() { x }\n"),
    ("a.rs", "let a = (b,);\n", "let a = (b);\n"),
    ("a.c", "#define A (x)\n", "#define A(x)\n"),
    ("a.sh", "a \\\nb\n", "a \\ \nb\n"),
    ("a.sh", "cat <<E\n  a\nE\n", "cat <<E\na\nE\n"),
    ("README.md", "One.\nTwo.\n", "One.\n\nTwo.\n"),
    ("README.md", "One.  \nTwo.\n", "One.\nTwo.\n"),
    ("a.csv", "a , b\n", "a,b\n"),
    ("a.txt", "one\ntwo\n", "two\none\n"),
    ("a.bin", "a\0 b", "a\0  b"),
]


@pytest.mark.parametrize(("path", "old", "new"), FORM)
def test_a_file_laid_out_anew_says_the_same(path, old, new):
    assert same(path, old, new)
    assert same(path, new, old)


@pytest.mark.parametrize(("path", "old", "new"), CONTENT)
def test_white_space_order_and_signs_that_mean_something_are_content(path, old, new):
    assert not same(path, old, new)
    assert not same(path, new, old)


def test_what_no_parser_reads_is_no_trouble():
    deep = "(" * 5_000 + ")" * 5_000
    for path in ("a.py", "a.json", "a.toml", "a.yaml", "a.js", "a.rs", "a.go", "a", "a.zz"):
        for old, new in ((deep, f"{deep} "), ("'", '"'), ("", " "), ("\ud800", "\ud800 "), ("/*", "/* "), ("`", "` ")):
            same_but_for_form(path, old.encode("utf-8", "surrogatepass"), new.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("a.py", "x = 1\n", "x = 1  # TODO: ask\n", True),
        ("a.py", "def f():\n    return 1\n", 'def f():\n    """One?"""\n    return 1\n', True),
        ("a.ts", "f(1);\n", "// Which one?\nf(1);\n", True),
        ("a.go", "f(1)\n", "/* TODO */\nf(1)\n", True),
        ("a.py", "x = 1\n", "x = 2  # TODO\n", False),
        ("a.py", "def f(): pass\n", "def f():\n    '''Doc'''\n", False),
        ("a.rb", "x = 1\n", "x = 1 # TODO\n", False),
    ],
)
def test_a_file_of_code_may_differ_in_comments_alone(path, old, new, expected):
    assert same_but_for_comments(path, old.encode(), new.encode()) == expected


def test_what_lies_between_the_first_and_the_last_difference_that_means_something_is_measured():
    old = "".join(f"f({n},'a')\n" for n in range(100)).encode()
    new = old.replace(b"(", b"( ").replace(b"'", b'"')
    assert changed_beside_form(old, new) == 0
    assert changed_beside_form(old, new.replace(b"50", b"51")) < 5
    assert changed_beside_form(old, b"") > 500


@pytest.mark.parametrize(
    "text",
    [
        "Format the code base",
        "Run black over everything",
        "style: apply rustfmt",
        "Convert CRLF line endings",
        "Get rid of trailing whitespace",
        "Use single quotes everywhere",
        "Make bin/run executable",
        "Fix indentation",
        "`prettier --check .` must pass",
        "pycodestyle: E201 and E202 in net",
        "git diff shows ^M all over",
        "fmt.js looks ugly in the editor",
        "SIM102 in shop.py",
        "Wrap at 100 columns",
        "Add a final newline to LICENSE",
    ],
)
def test_an_issue_that_asks_for_form_is_told_by_its_words(text):
    assert asks_for("form", (text,))


@pytest.mark.parametrize(
    "text",
    [
        "parse_date ignores the zone",
        "total() of an empty list raises",
        "The date format loses the zone",
        "Add a --json flag",
    ],
)
def test_an_issue_about_behaviour_asks_for_no_form(text):
    assert not asks_for("form", (text,))


def test_an_issue_names_a_file_by_its_path_its_name_or_its_stem():
    issue = Issue("1", "The parser loses a comment", body="see `src/cart.test.js`", paths=("lib/a.py", "src/**"))
    for path in ("src/parser.py", "src/cart.test.js", "lib/a.py", "web/cart.test.js"):
        assert names_file(issue, path)
    for path in ("src/parsers.py", "src/b.py", "lib/b.py", "src/a.py"):
        assert not names_file(issue, path)
