"""The table of words that excuse code from a check, and what of a change counts as an excuse.

Of 174 commits that change this product 16 add such words, and 6 of these say what main had nowhere (`# noqa: S104`).
"""

from support.cases import cases

from noface.integrity.excuses import checks_of, excused_lines, excuses_in, stubs_beside
from noface.model.attempt import FileChange
from noface.model.gate import GateKind, GateSpec
from noface.model.patch import ChangedLine


@cases(
    ("line", "words"),
    [
        ("x = 1  # noqa", "# noqa"),
        ("x = 1  # NOQA because it is so", "# NOQA"),
        ("x = 1  # noqa: E402,E501 - late", "# noqa: E402,E501"),
        ("# ruff: noqa: F632", "# ruff: noqa: F632"),
        ("from .core import total  # noqa: F401, F811", "# noqa: F401, F811"),
        ("f(x)  # type: ignore[arg-type]", "# type: ignore[arg-type]"),
        ("# mypy: disable-error-code=operator", "# mypy: disable-error-code=operator"),
        ("# pyright: basic", "# pyright: basic"),
        ("# pylint: disable=invalid-name, no-member", "# pylint: disable=invalid-name, no-member"),
        ("@typing.no_type_check", "@typing.no_type_check"),
        ("  // @ts-expect-error later", "/ @ts-expect-error"),
        ("f() // eslint-disable-line no-eval -- why", "// eslint-disable-line no-eval"),
        ('/* eslint eqeqeq: "off" */', "/* eslint eqeqeq:"),
        ("// biome-ignore lint/suspicious: so", "biome-ignore lint/suspicious"),
        ("x := f() //nolint:errcheck", "//nolint:errcheck"),
        ("#![allow(clippy::all)]", "#![allow(clippy::all)"),
        ("#[cfg_attr(all(), allow(warnings))]", "#[cfg_attr(all(), allow(warnings))"),
        ("#pragma GCC diagnostic ignored", "#pragma GCC diagnostic ignored"),
        ('@SuppressWarnings("unchecked")', '@SuppressWarnings("unchecked")'),
        ("# shellcheck disable=SC2086", "# shellcheck disable=SC2086"),
        ("def f():  # pragma: no cover", "# pragma: no cover"),
        ("/* istanbul ignore next */", "istanbul ignore"),
    ],
)
def test_words_that_excuse_code_are_found_with_their_rules(line, words):
    assert excuses_in(line, ("check", "coverage")) == {words}


@cases(
    "line",
    [
        "from .core import total  # noqa: F401",
        "# pyright: strict",
        "#![warn(missing_docs)]",
        "# fmt: off",
        "allow(user)",
        "# ignore what is empty",
        "/* standard library */",
    ],
)
def test_other_words_excuse_nothing(line):
    assert not excuses_in(line, ("check", "coverage"))


def test_new_lines_of_the_product_count_and_what_moves_does_not():
    old, new = "x = f()  # noqa: E731", "y = g() # noqa: F632"
    lines = [
        ChangedLine("a.py", True, old, 0),
        ChangedLine("b.py", False, old, 0),
        ChangedLine("b.py", False, new, 0),
        ChangedLine("tests/test_b.py", False, new, 0),
        ChangedLine("notes.md", False, new, 0),
    ]
    assert excused_lines(lines, ("check",)) == {
        "b.py excuses its code from a check: `y = g() # noqa: F632`": "# noqa: F632"
    }


def test_a_new_stub_beside_its_source_is_an_excuse():
    new = [FileChange(path, "A", "000000", "100644", "0" * 40, "1" * 40) for path in ("a.pyi", "c.pyi", "b.py")]
    assert stubs_beside(new, {"a.py", "b.py"}) == ("a.pyi has type checkers read it in place of a.py",)


@cases(
    ("gate", "checks"),
    [
        (GateSpec("lint", "ruff check .", GateKind.LINT), ("check",)),
        (GateSpec("unit", "pytest -q", GateKind.TEST), ()),
        (GateSpec("unit", "pytest --cov=shop --cov-fail-under=90", GateKind.TEST), ("coverage",)),
        (GateSpec("unit", "npx c8 --check-coverage node --test", GateKind.TEST), ("coverage",)),
    ],
)
def test_code_is_excused_only_from_what_a_gate_checks(gate, checks):
    assert checks_of((gate,)) == checks
