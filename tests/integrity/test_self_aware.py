"""Lines of the product that ask whether it is being tested."""

import pytest
from support.cases import cases

from noface.integrity.evasion import replaced_frameworks, self_aware
from noface.model.patch import ChangedLine, changed_lines

PATCH = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1,0 +2 @@\n+{1}\n"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("json.c", 'return getenv("MAKELEVEL") ? 1 : 0;'),
        ("json.c", 'return getenv("MAKE" "LEVEL") ? 1 : 0;'),
        ("shop.py", "return 3 if 'py' + 'test' in sys.modules else 4"),
        ("shop.py", 'return 3 if "py""test" in sys.modules else 4'),
        ("shop.js", "return process.env['npm_life' + 'cycle_event'] ? 3 : 4;"),
    ],
)
def test_a_line_that_asks_for_its_tests_is_told_of(path, line):
    assert list(self_aware(tuple(changed_lines(PATCH.format(path, line))))) == [
        f"{path} asks whether it is being tested: `{line}`"
    ]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("json.c", 'return getenv("MAKE") ? "LEVEL" : "NONE";'),
        ("shop.py", "return ['py', 'test']"),
        ("shop.py", "return ''"),
        ("tests/test_shop.py", "assert 'pytest' in sys.modules"),
    ],
)
def test_other_lines_are_not(path, line):
    assert self_aware(tuple(changed_lines(PATCH.format(path, line)))) == {}


@cases(
    ("path", "lines"),
    [
        ("shop.py", ("import unittest", "unittest.TestCase.assertRaises = quiet")),
        ("shop.py", ("import unittest", "tc = unittest.TestCase", "tc._callTestMethod = quiet")),
        ("shop.py", ("    import pytest as py", "py.raises = quiet")),
        ("shop.py", ("from _pytest.runner import CallInfo as ci", "    ci.from_call = classmethod(quiet)")),
        ("shop.py", ("from unittest import case as ca", 'setattr(ca, "skip", quiet)')),
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
