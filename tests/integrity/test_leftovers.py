"""Lines that a worker has probably forgotten in its change.

How often that is wrong on honest work: of the last 28,999 commits of 26 public projects (up to 1,500 of each) 21 would
be asked about. In 19 of them a breakpoint or a debugging print was left in, most of them taken out later; two are meant
to be there (a handler that starts pdb, and an example in a docstring).
"""

import pytest

from noface.data import table
from noface.integrity.form import string_lines
from noface.integrity.leftovers import left_in, reminder
from noface.model.patch import ChangedLine

LINES = table("rubbish")["lines"]
ENDINGS = ["py", "js", "ts", "vue", "rs", "go", "rb", "php", "exs", "cs", "java", "c"]


def found(text, path, before="", main=None, said="", holding=(), removed=()):
    lines = [ChangedLine(path, removed=False, text=text, stretch=1), *(ChangedLine("b.py", removed=True, text=t, stretch=2) for t in removed)]  # fmt: skip
    main = [f"src/lib.{path.rpartition('.')[2]}"] if main is None else main
    return [*left_in(lines, lambda _: before, main, said, lambda _: holding).values()]


def path_of(kind):
    import re

    return next(f"src/one.{ending}" for ending in ENDINGS if re.search(kind["files"], f"src/one.{ending}"))


@pytest.mark.parametrize("kind", LINES, ids=lambda kind: kind["example"].strip())
def test_a_line_of_each_kind_is_found_and_what_looks_alike_is_not(kind):
    assert kind["what"] in found(kind["example"], path_of(kind))
    assert found(kind["counter"], path_of(kind)) == []


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ('    print("DEBUG", x)', "a.py"),
        ('  console.log("XXX", order)', "src/main.js"),
        ('\tfmt.Println("HERE", err)', "cmd/app/main.go"),
        ('    System.out.println("DEBUG " + x);', "A.java"),
        ('  fprintf(stderr, "DEBUG %d\\n", n);', "a.c"),
        ('    eprintln!("DEBUG {}", n);', "src/lib.rs"),
        ("    breakpoint()", "tests/test_a.py"),
        ("    from x import y; breakpoint()", "a.py"),
        ("  byebug", "app/models/a.rb"),
        ("    require IEx; IEx.pry", "lib/a.ex"),
    ],
)
def test_breakpoints_and_debugging_prints_of_other_languages_are_found(line, path):
    assert found(line, path)


@pytest.mark.parametrize(
    "more",
    [
        {"before": 'print("DEBUG", 1)\n'},
        {"removed": ['print("DEBUG", x)']},
        {"path": "tests/test_a.py"},
        {"path": "docs/conf.py"},
        {"path": "examples/a.py"},
    ],
)
def test_a_debugging_print_is_none_where_there_was_one_or_where_it_shows_something(more):
    assert found('    print("DEBUG", x)', **{"path": "src/a.py", **more}) == []


@pytest.mark.parametrize(
    "more",
    [
        {"path": "src/cli.js"},
        {"path": "scripts/a.js"},
        {"holding": ["src/lib.js"]},
        {"main": []},
        {"main": ["other/lib.js"]},
        {"said": "Print the total"},
        {"before": "console.log(1)"},
    ],
)
def test_a_plain_print_is_wanted_where_the_folder_prints_the_issue_says_so_or_nothing_is_known(more):
    assert found("  console.log(total);", "src/a.js")
    assert found("  console.log(total);", **{"path": "src/a.js", **more}) == []


def test_a_worker_is_told_the_lines_and_charged_nothing():
    failure = reminder({("a.py", "breakpoint()"): "a breakpoint"}, {"out.txt": "a file as they are made for a try"})
    assert (failure.rule, failure.charged, failure.location) == ("left-in", False, "a.py")
    assert failure.excerpt.split("\n") == ["a.py: breakpoint()", "out.txt (a file as they are made for a try)"]
    assert "a breakpoint in a.py, out.txt" in failure.message
    assert reminder({}, {}) is None


def test_a_line_of_an_example_in_a_docstring_is_no_print_that_was_forgotten():
    """A worker had to look again at an example that was meant to be read."""
    text = 'def a():\n    """Read it::\n\n        print(1)\n    """\n    print(2)\n'
    assert string_lines(text) == {"", "print(1)", '"""'}
    assert string_lines("def (") == frozenset()
