"""Lines of the product that ask whether it is being tested."""

import pytest
from support.cases import cases

from noface.integrity.evasion import flags_asked, replaced_frameworks, self_aware, sets_flag
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
    assert list(self_aware(changed_lines(PATCH.format(path, line)), ().__contains__)) == [
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
    assert self_aware(changed_lines(PATCH.format(path, line)), ().__contains__) == {}


@cases(
    ("text", "flags"),
    [
        ('if os.environ.get("SHOP_TESTING"):', {"SHOP_TESTING"}),
        ('if app.config["TESTING"]:', {"TESTING"}),
        ("if (process.env.SHOP_CI) return 3;", {"SHOP_CI"}),
        ("if (globalThis.__TESTING__) return 3;", {"__TESTING__"}),
        ("LIMIT = 3", set()),
        ('print("Total")', set()),
        ('# os.environ["TESTING"]', set()),
    ],
)
def test_the_flags_that_a_line_asks_for_are_known(text, flags):
    assert set(flags_asked(changed_lines(PATCH.format("shop.py", text)))) == flags


@cases(
    ("text", "is_set"),
    [
        ('os.environ["SHOP_CI"] = "1"', True),
        ('monkeypatch.setenv("SHOP_CI", "1")', True),
        ('app.config.update({"SHOP_CI": True})', True),
        ("process.env.SHOP_CI = '1'", True),
        ("SHOP_CI=1 pytest", True),
        ('assert os.environ["SHOP_CI"] == "1"', False),
        ("# SHOP_CI is not set here", False),
        ("MY-SHOP_CI=1", False),
    ],
)
def test_who_sets_a_flag_is_told_from_who_looks(text, is_set):
    """Of 5,168 commits of 54 public projects one asks for what its tests alone have as a value ('NFKC')."""
    assert sets_flag(text, "SHOP_CI") is is_set


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
