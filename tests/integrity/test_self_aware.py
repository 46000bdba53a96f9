"""Lines of the product that ask whether it is being tested."""

import pytest

from noface.integrity.evasion import self_aware
from noface.integrity.tampering import changed_lines

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
    assert list(self_aware(changed_lines(PATCH.format(path, line)), ())) == [
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
    assert self_aware(changed_lines(PATCH.format(path, line)), ()) == {}
