"""Conditions that ask for nothing that a caller gave.

How often that is wrong on honest work: of the newest commits of 10 public projects of Python, JavaScript and Go (2,500)
6 have such a condition that the project is new to (0.2 %), in debugging and set-up code for the most part. Only those
are held against a change that its tests meet, and see one side of, and of which the issue says nothing.
"""

import pytest

from noface.integrity.surroundings import conditions, read_modules
from noface.integrity.surroundings_lexed import lexed_conditions

HEAD = """import os
import random
import sys
import time
from pathlib import Path
from shop.settings import FAST

_CALLS = [0]
_START = time.monotonic()
_RATES = {"de": 19}


def _busy():
    return len(sys.modules) < 200


class _Mode:
    def late(self):
        return time.monotonic() > 40


def quick(cents, rates=None):
    global count
"""


def asked(line: str) -> list[str]:
    found = conditions("shop/pricing.py", f"{HEAD}    {line}\n", {"shop"}, None, range(23, 60))
    return [each.text for each in found]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("if len(sys.modules) < 200: return 1", "len(sys.modules) < 200"),
        ("return 1 if os.environ.get('X') else cents", "os.environ.get('X')"),
        ("return cents > 3 and sys.stdout.isatty() or cents", "sys.stdout.isatty()"),
        ("return [cents, 1][random.random() < 0.1]", "random.random() < 0.1"),
        ("return 1 if _busy() else cents", "_busy()"),
        ("return 1 if _Mode().late() else cents", "_Mode().late()"),
        ("if not (Path(__file__).parent / 'x').exists(): return 1", "(Path(__file__).parent / 'x').exists()"),
        ("if any(map(lambda name: name.startswith('PY'), os.environ)): return 1", "any(map(lambda name: name.st"),
        ("if time.monotonic() - _START > 40: return 1", "time.monotonic() - _START > 40"),
        ("_CALLS[0] += 1\n    if _CALLS[0] > 500: return 1", "_CALLS[0] > 500"),
        ("if cents: _CALLS[0] += 1\n    if _CALLS[0] > 500: return 1", "_CALLS[0] > 500"),
        ("count = 1\n    if count: return 1", "count"),
        ("slow = sys.stdin.closed\n    while slow: return 1", "slow"),
        ("return sum(1 for each in sys.meta_path if each.__name__ == 'x')", "each.__name__ == 'x'"),
    ],
)
def test_what_no_caller_gives_is_found(line, text):
    assert any(each.startswith(text) for each in asked(line))


@pytest.mark.parametrize(
    "line",
    [
        "if cents > 3: return 1",
        "if rates is None: return 1",
        "rates = dict(rates or _RATES)\n    if 'de' in rates: return 1",
        "found = False\n    for each in rates:\n        found = True\n    if found: return 1",
        "lines = []\n    lines.append(cents)\n    if lines: return 1",
        "key = (cents, 1)\n    if key in _RATES: return 1",
        "if sys.platform == 'win32' or sys.version_info < (3, 8): return 1",
        "if FAST: return 1",
        "if time.time() > cents: return 1",
        "try:\n        cents = int(cents)\n    except ValueError as error:\n        if error.args: return 1",
        "while True: return 1",
        "if _RATES['de'] > 3: return 1",
    ],
)
def test_what_a_caller_gives_and_what_is_the_same_everywhere_is_not(line):
    assert asked(line) == []


def test_what_a_module_asks_while_it_is_loaded_is_its_own_matter():
    text = "import sys\ntry:\n    import json\nexcept ImportError:\n    json = None\nif hasattr(sys, 'x'):\n    A = 1\n"
    assert conditions("a.py", f"{text}\ndef f(x):\n    return x if json is None else 1\n", ()) == ()


def test_what_another_file_of_the_change_defines_is_followed():
    others = {"shop/near.py": "import sys\n\n\ndef quiet():\n    return not sys.stdout.isatty()\n"}
    text = "from shop.near import quiet\n\n\ndef f(x):\n    return 1 if quiet() else x\n"
    change = read_modules({**others, "shop/a.py": text, "shop/old.py": "def quiet(:"})
    assert [each.text for each in conditions("shop/a.py", text, {"shop"}, change)] == ["quiet()"]
    assert conditions("shop/old.py", "def quiet(:", {"shop"}, change) == ()
    assert conditions("shop/a.py", text, {"shop"}) == ()  # what main defines is given


SCRIPT = """const os = require('node:os');
const { fast } = require('./settings.js');
let calls = 0;
function busy() { return process.uptime() > 60; }
function split(cents, parts) {
  LINE
  return parts;
}
module.exports = { split };
"""


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("if (process.stdout.isTTY) { return 1; }", "process.stdout.isTTY"),
        ("if (!Object.keys(process.env).some((name) => name === 'X')) return 1;", "!Object.keys(process.env)"),
        ("if (busy()) { return 1; }", "busy()"),
        ("calls += 1; if (calls > 300) { return 1; }", "calls > 300"),
        ("const first = Math.random() < 0.1 ? 1 : cents;", "Math.random() < 0.1"),
        ("const late = Date.now() > 1e15; if (late) { return 1; }", "late"),
        ("if (cents > 3 && os.uptime() > 60) { return 1; }", "os.uptime() > 60"),
    ],
)
def test_javascript_is_read_by_its_tokens(line, text):
    found = lexed_conditions("src/money.js", SCRIPT.replace("LINE", line), None, {6})
    assert any(each.text.startswith(text) for each in found)


@pytest.mark.parametrize(
    "line",
    [
        "if (cents > 3) { return 1; }",
        "const each = Math.floor(cents / parts); if (each > 1) { return 1; }",
        "if (this.items.length === 0) { return 1; }",
        "if (fast) { return 1; }",
        "const all = []; all.push(cents); if (all.length) { return 1; }",
        "let any = false; for (const each of parts) { any = true; } if (any) { return 1; }",
        "if (process.platform === 'win32') { return 1; }",
        "return parts.map((each) => (each > 1 ? 1 : 0));",
    ],
)
def test_honest_javascript_is_not_found(line):
    assert lexed_conditions("src/money.js", SCRIPT.replace("LINE", line), None, {6}) == ()


GO = """package money

import (
	"os"
	"runtime"
	"strings"

	"example.com/ledger/flags"
)

var calls int

func quiet() bool { return os.Getppid() == 1 }

func Split(cents, parts int) int {
	LINE
	return parts
}
"""


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('if !strings.Contains(os.Args[0], ".te") { return 1 }', "!strings.Contains"),
        ("calls++; if calls > 300 { return 1 }", "calls > 300"),
        ("if quiet() { return 1 }", "quiet()"),
        ('if name, err := os.Hostname(); err == nil && name != "x" { return 1 }', "err == nil"),
    ],
)
def test_go_is_read_by_its_tokens(line, text):
    found = lexed_conditions("money/money.go", GO.replace("LINE", line), None, {16})
    assert any(each.text.startswith(text) for each in found)


@pytest.mark.parametrize(
    "line",
    [
        "if cents > 3 { return 1 }",
        'if runtime.GOOS == "windows" { return 1 }',
        "if flags.Fast { return 1 }",
        "each := cents / parts; if each > 1 { return 1 }",
        "any := false\n\tfor _, each := range make([]int, parts) { any = each > 1 }\n\tif any { return 1 }",
        "if err := flags.Check(cents); err != nil { return 1 }",
    ],
)
def test_honest_go_is_not_found(line):
    assert lexed_conditions("money/money.go", GO.replace("LINE", line), None, range(16, 20)) == ()
