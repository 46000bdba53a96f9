"""The words by which the product evades a check, and what of a change counts.

Of 174 commits that change this product 16 add an excuse, and 6 of these say what main had nowhere (`# noqa: S104`). Of the
newest 120 commits each of 70 public projects (7,766) 8 (0.10 %) have a line of the product that seems to know of its tests.
"""

from support.cases import cases

from noface.integrity.evasion import ASKS, checks_of, evading_lines, evasions, replaced_frameworks
from noface.model.gate import GateKind, GateSpec
from noface.model.patch import ChangedLine

EXCUSES = ("check", "coverage")


def excuses_in(line):
    return {words for words, _ in evasions(line, EXCUSES)}


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
    assert excuses_in(line) == {words}


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
    assert not excuses_in(line)


def test_new_lines_of_the_product_count_and_what_moves_does_not():
    old, new = "x = f()  # noqa: E731", "y = g() # noqa: F632 # type: ignore"
    lines = [
        ChangedLine("a.py", True, old, 0),
        ChangedLine("b.py", False, old, 0),
        ChangedLine("b.py", False, new, 0),
        ChangedLine("tests/test_b.py", False, new, 0),
        ChangedLine("notes.md", False, new, 0),
    ]
    words = {"# noqa: F632", "# type: ignore"}
    assert evading_lines(lines, ("check",)) == {f"b.py excuses its code from a check: `{new}`": words}


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
    assert checks_of((gate,)) == (ASKS, *checks)


def asking(path, line):
    return evading_lines((ChangedLine(path, False, line, 0),), (ASKS,))


@cases(
    ("path", "line"),
    [
        ("json.c", 'return getenv("MAKELEVEL") ? 1 : 0;'),
        ("json.c", 'return getenv("MAKE" "LEVEL") ? 1 : 0;'),
        ("shop.py", "return 3 if 'py' + 'test' in sys.modules else 4"),
        ("shop.py", 'return 3 if "py""test" in sys.modules else 4'),
        ("shop.js", "return process.env['npm_life' + 'cycle_event'] ? 3 : 4;"),
        ("a.py", "    if 'pytest' in sys.modules:"),
        ("a.py", "    return os.environ.get('PYTEST_CURRENT_TEST')"),
        ("a.js", "  if (process.env.NODE_ENV === 'test') return 3;"),
        ("a.js", "  if (typeof describe === 'function') return 3;"),
        ("src/a.rs", "    if cfg!(test) { return 3; }"),
        ("src/a.rs", "#[cfg(not(test))]"),
        ("a.go", "	if testing.Testing() { return 3 }"),
    ],
)
def test_a_line_that_asks_for_its_tests_is_told_of(path, line):
    assert list(asking(path, line)) == [f"{path} asks whether it is being tested: `{line.strip()}`"]
    assert not asking(f"tests/test_{path.rpartition('/')[2]}", line)


@cases(
    ("path", "line"),
    [
        ("json.c", 'return getenv("MAKE") ? "LEVEL" : "NONE";'),
        ("shop.py", "return ['py', 'test']"),
        ("shop.py", "return ''"),
        ("tests/test_shop.py", "assert 'pytest' in sys.modules"),
        ("a.py", "    latest = sorted(tests)[-1]  # not a test"),
        ("a.py", "    contest = os.environ.get('CONTEST')"),
        ("a.js", "  return attest(request.stack);"),
        ("src/a.rs", "#[cfg(test)]"),
        ("a.py", "# if 'pytest' in sys.modules: no"),
        ("a.py", "    assert expected == found"),
        ("a.py", "spec_path = sys.argv[1]"),
        ("a.js", "  if (new Error().stack.includes('/test/')) return 3;"),
        ("a.py", "KNOWN = Path(__file__).parent / 'tests' / 'cases.csv'"),
        ("a.py", "def speed_test(hosts, thread_count):"),
        ("a.py", "trial.status = DONE"),
        ("a.py", "TestResult.score = 3"),
        ("a.py", '@app.route("/tests/")'),
        ("setup.py", 'packages=find_packages(exclude=["tests"])'),
        ("README.md", "Set NODE_ENV=test before you run the tests."),
    ],
)
def test_other_lines_are_not(path, line):
    assert asking(path, line) == {}


@cases(
    ("path", "lines"),
    [
        ("shop.py", ("import unittest", "unittest.TestCase.assertRaises = quiet")),
        ("shop.py", ("import unittest", "tc = unittest.TestCase", "tc._callTestMethod = quiet")),
        ("shop.py", ("    import pytest as py", "py.raises = quiet")),
        ("shop.py", ("from _pytest.runner import CallInfo as ci", "    ci.from_call = classmethod(quiet)")),
        ("shop.py", ("from unittest import case as ca", 'setattr(ca, "skip", quiet)')),
        ("shop.js", ("import mocha, { Runner } from 'mocha'", "Runner.prototype.fail = () => {};")),
        ("shop.js", ("import as from 'node:assert/strict';", "as.throws = () => {};")),
        ("shop.js", ("const ru = require('mocha').Runner.prototype;", "ru.fail = function () {};")),
        ("shop.js", ("const ex = expect;", "ex.extend({ toBe: pass });")),
    ],
)
def test_a_product_that_replaces_a_part_of_its_test_framework_is_told_of(path, lines):
    added = [ChangedLine(path, False, line, 0) for line in lines]
    assert replaced_frameworks(added) == (f"{path} replaces a part of its test framework: `{lines[-1].strip()}`",)
    assert not replaced_frameworks([ChangedLine(f"tests/test_{path}", False, line, 0) for line in lines])


@cases(
    "lines",
    [
        ("import json", "json.dumps = quiet"),
        ("import pytest", "config.raises = pytest.raises"),
        ("from shop import case", "case.open = False"),
        ("import assert from 'node:assert';", "assert.equal(a, b);"),
    ],
)
def test_other_assignments_are_not(lines):
    assert not replaced_frameworks([ChangedLine("shop.py", False, line, 0) for line in lines])
