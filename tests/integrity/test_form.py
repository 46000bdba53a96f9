"""What changes a file's form alone, and what says something else; what asks for it.

On the newest 17,929 commits of twelve public projects this takes files out of 13, all of Python: eleven re-formatted
them beside an update of tools or of a vendored package, two spelt strings anew (with r"").
"""

import pytest

from noface.integrity.asked_for import asks_for, names_file
from noface.integrity.form import same_but_for_comments, same_but_for_form
from noface.model.issue import Issue


def same(path, old, new):
    return same_but_for_form(path, old.encode(), new.encode())


FORM = [
    ("a.py", "x = {'a':1,\n'b':2}\n", 'x = {\n    "a": 1,\n    "b": 2,\n}\n'),
    ("a.py", "x=1\ny = 2\n", "x = 1\n\n\ny = 2  \n"),
    ("a.pyi", "if (a and\n    b): f(1,\n2) #why\n", "if a and b:\n    f(1, 2) #why\n"),
    ("a.py", "x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
    ("a.py", "x = 0XFF; y = 1\n", "x = 0xff\ny = 1\n"),
    ("a.txt", "one\r\ntwo\r\n", "one\ntwo\n"),
    ("run.sh", "a\r\nb\n", "a\nb\r\n"),
]
CONTENT = [
    ("a.py", "if x:\n    f()\n    g()\n", "if x:\n    f()\ng()\n"),
    ("a.py", "x = (1,)\n", "x = (1)\n"),
    ("a.py", "x = 'a b'\n", "x = 'a  b'\n"),
    ("a.py", "x = 1  # one\n", "x = 1  # two\n"),
    ("a.py", "x = 1  # a, b\n", "x = 1  # a b\n"),
    ("a.py", "f()  # pragma: nocover\n", "f()  # pragma: no cover\n"),
    ("a.py", "f()  # noqa\ng()\n", "f()\ng()  # noqa\n"),
    ("a.py", "f()\n# noqa\ng()\n", "f()  # noqa\ng()\n"),
    ("a.py", "#!python\nx=1\n", "# !python\nx = 1\n"),
    ("a.py", "def f():\n  'Doc. '\n", "def f():\n  'Doc.'\n"),
    ("a.py", 'def f():\n  """A\n  B"""\n', 'def f():\n  """A\n    B"""\n'),
    ("a.py", "f'{x=}'\n", "f'{x = }'\n"),
    ("a.py", "f(\n", "f( \n"),
    ("a.py", "import b\nimport a\n", "import a\nimport b\n"),
    ("run.sh", "rm -rf $BUILD /\n", "rm -rf $BUILD/\n"),
    ("run.sh", "[ -n $a ] && b\n", "[ -n $a]&& b\n"),
    ("app.env", "MODE = fast\n", "MODE=fast\n"),
    ("a.ini", "MODE = fast\n", "MODE=fast\n"),
    ("a.yaml", "port:80\n", "port: 80\n"),
    ("a.yaml", "a:   1\n", "a: 1\n"),
    ("crontab", "* /5 * * * * a\n", "*/5 * * * * a\n"),
    ("a.sql", "select 1 -1\n", "select 1 - 1\n"),
    ("a.css", ".a .b {}\n", ".a.b {}\n"),
    ("a.css", "a { width: calc(1px+ 2px) }\n", "a { width: calc(1px + 2px) }\n"),
    ("a.html", "<b>x</b> y\n", "<b>x</b>y\n"),
    ("a.rb", "puts -1\n", "puts - 1\n"),
    ("a.hs", "f a = b\n", "f  a = b\n"),
    ("a.js", "return\nx\n", "return x\n"),
    ("a.js", "f(a,b)\n", "f(a, b)\n"),
    ("a.json", '{"a":1}', '{"a": 1}'),
    ("a.toml", "a=1\n", "a = 1\n"),
    ("Dockerfile", "RUN a \\\n b\n", "RUN a \\ \n b\n"),
    (".gitignore", "a \n", "a\n"),
    ("Makefile", "a:\n    true\n", "a:\n\ttrue\n"),
    ("a.c", "#define A (x)\n", "#define A(x)\n"),
    ("a.txt", "one\n", "one"),
    ("a.patch", " a\n", "a\n"),
    ("a.bin", "a\0\r\n", "a\0\n"),
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
        ("a.c", "f();\n", "f(); // TODO\n", False),
        ("a.c", "f();\n", "*p = 1;\nf();\n", False),
    ],
)
def test_a_file_of_code_may_differ_in_comments_alone(path, old, new, expected):
    assert same_but_for_comments(path, old.encode(), new.encode()) == expected


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
