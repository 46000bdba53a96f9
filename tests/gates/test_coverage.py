"""Which added lines and conditions a gate's processes run: real runners, with what follows them in their environment."""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest
from support.reported_gate import outside

from noface.gates.coverage import followed, read_covered
from noface.gates.inventory import instrumented, read_inventory
from noface.integrity.covered import FollowedFile, one_sided, unentered
from noface.integrity.surroundings import conditions
from noface.integrity.surroundings_lexed import lexed_conditions

PRODUCT = '''"""Prices."""
from __future__ import annotations

import sys


def tax(cents, country):
    """Return the tax."""
    if sys.stdin is None:
        return 1
    if cents > 1000:
        big = cents
        return big // 5

    return cents // 5 if country else 0


def unused():
    return 3
'''


def run(checkout, command, files, package="", **env):
    folder = checkout.parent / "reports-of-it"
    inside = instrumented(tuple((outside() | env).items()), folder)
    inside = dict(followed(inside, folder, checkout, files, package, command))
    done = subprocess.run(
        ["bash", "-c", command], cwd=checkout, env=inside, capture_output=True, text=True, check=False, timeout=120
    )
    inventory = read_inventory(folder, checkout, done.stdout, command, done.stderr)
    return done, inventory, read_covered(folder, checkout, files, package)


def of_all_lines(path, text, found):
    return FollowedFile(path, text, frozenset(range(1, text.count("\n") + 1)), found)


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "__init__.py").write_text("")
    (folder / "shop" / "pricing.py").write_text(PRODUCT)
    return folder


TEST = "from shop.pricing import tax\n\n\ndef test_tax():\n    assert tax(10, 'de') == 2\n"


@pytest.fixture
def product():
    return of_all_lines("shop/pricing.py", PRODUCT, conditions("shop/pricing.py", PRODUCT, {"shop"}))


def test_python_tells_which_added_lines_no_test_runs(checkout, product):
    (checkout / "test_pricing.py").write_text(TEST)
    done, inventory, covered = run(checkout, f"{sys.executable} -m pytest -q", (product,))
    assert (done.returncode, [name for name, _ in inventory.tests]) == (0, ["test_pricing.py::test_tax"])
    assert unentered((product,), covered) == (
        "no test runs these added lines: shop/pricing.py:10, shop/pricing.py:12-13, shop/pricing.py:19"
    )
    assert [each.text for each in one_sided((product,), covered)] == ["sys.stdin is None"]


def test_both_sides_of_a_condition_are_seen_in_all_processes_of_a_gate(checkout, product):
    child = "import sys; sys.stdin = None; from shop.pricing import tax; tax(2000, 'de')"
    (checkout / "test_pricing.py").write_text(
        f"import os, subprocess, sys\n{TEST}\n\ndef test_child():\n"
        f"    subprocess.run([sys.executable, '-c', {child!r}], check=True)\n"
        "    if not os.fork():\n        tax(2000, 'de')\n        os._exit(0)\n    os.wait()\n"
    )
    done, _, covered = run(checkout, f"{sys.executable} -m pytest -q", (product,))
    assert done.returncode == 0, done.stdout
    assert unentered((product,), covered) == "no test runs these added lines: shop/pricing.py:19"
    assert one_sided((product,), covered) == ()


def test_unittest_and_a_module_that_is_run_are_followed(checkout, product):
    (checkout / "test_pricing.py").write_text(
        "import unittest\nfrom shop.pricing import tax\n\n\nclass T(unittest.TestCase):\n"
        "    def test_tax(self):\n        self.assertEqual(tax(10, 'de'), 2)\n"
    )
    done, _, covered = run(checkout, f"{sys.executable} -m unittest -q && {sys.executable} -m shop.pricing", (product,))
    assert done.returncode == 0, done.stderr
    assert covered["shop/pricing.py"].unrun == {10, 12, 13, 19}


def test_code_does_what_it_did_and_shows_itself_as_it_is(checkout):
    text = textwrap.dedent('''
        """A module."""
        import inspect
        import traceback

        class Kind:
            """A kind."""
            one: int = 1
            def of(self, values=()):
                """Say which."""
                yield from (each for each in values if each)
                return lambda: self.one

        def where():
            try:
                if None or values(): return 1
            except NameError as error:
                return traceback.extract_tb(error.__traceback__)[-1].lineno
            finally:
                pass

        async def later():
            async for each in x: await each
    ''')
    (checkout / "shop" / "kinds.py").write_text(text)
    (checkout / "test_kinds.py").write_text(
        "import inspect\nfrom shop import kinds\n\n\ndef test_kinds():\n"
        "    assert list(kinds.Kind().of([0, 1])) == [1]\n"
        "    assert kinds.Kind.__doc__ == 'A kind.' and kinds.Kind.of.__doc__ == 'Say which.'\n"
        "    assert kinds.__doc__ == 'A module.' and 'Say which' in inspect.getsource(kinds.Kind)\n"
        "    assert kinds.where() == 16 and set(vars(kinds.Kind)) >= {'one', 'of'}\n"
        "    assert kinds.Kind.of.__code__.co_firstlineno == 9\n"
    )
    files = (of_all_lines("shop/kinds.py", text, conditions("shop/kinds.py", text, {"shop"})),)
    done, _, covered = run(checkout, f"{sys.executable} -W error -m pytest -q -p no:cacheprovider", files)
    assert done.returncode == 0, done.stdout
    assert not list(checkout.rglob("kinds.*.pyc"))  # no process after it takes this code for the file's
    assert covered["shop/kinds.py"].unrun == {23}


def test_following_changes_nothing_that_tests_look_at(checkout, product):
    """What the process has imported, what measures coverage, a loader of another class, and a warning of the parser."""
    (checkout / "shop" / "escape.py").write_text('PATTERN = "\\d"\n')
    bare = (
        "import sys; first = set(sys.modules); import shop.pricing as p; p.tax(10, 'de')\n"
        "print(sorted(set(sys.modules) - first)); print('json' in sys.modules, 'ast' in sys.modules)"
    )
    (checkout / "test_pricing.py").write_text(
        f"import importlib.machinery, subprocess, sys, sysconfig\n{TEST}\n\ndef test_bare():\n"
        f"    done = subprocess.run([sys.executable, '-c', {bare!r}], capture_output=True, text=True, check=True)\n"
        "    assert done.stdout.split('\\n')[:2] == [\"['shop', 'shop.pricing']\", 'False False']\n\n"
        "def test_own_loader():\n    class Own(importlib.machinery.SourceFileLoader):\n"
        "        def source_to_code(self, data, path, **more):\n            return compile('OWN = 1', path, 'exec')\n"
        "    import types\n    module = types.ModuleType('shop.pricing')\n"
        "    Own('shop.pricing', 'shop/pricing.py').exec_module(module)\n    assert module.OWN == 1\n"
    )
    escape = of_all_lines("shop/escape.py", 'PATTERN = "\\d"\n', ())
    done, _, covered = run(checkout, f"{sys.executable} -m pytest -q -p no:cacheprovider", (product, escape))
    assert done.returncode == 0, done.stdout
    assert covered["shop/pricing.py"].run
    command = f"{sys.executable} -W error -c 'import shop.escape'"
    shutil.rmtree(checkout.parent / "reports-of-it")
    assert run(checkout, command, (product, escape))[0].returncode == 1


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("go vet ./... && go test ./...", False),
        ("go test ./...", True),
        ("go test ./a && go test ./b", False),
        ("go test -coverprofile=c.out ./...", False),
        ("make test", False),
    ],
)
def test_go_is_told_only_by_the_gate_that_is_one_go_test(tmp_path, command, told):
    """Its flags hold for each go that a gate starts: a program that is built so warns, a profile is overwritten."""
    (tmp_path / "reports").mkdir()
    files = (FollowedFile("money/money.go", GO, frozenset({8})),)
    assert ("GOFLAGS" in dict(followed((), tmp_path, tmp_path, files, "example.com/ledger", command))) is told


def test_what_is_installed_elsewhere_is_unknown(checkout, product):
    shutil.move(checkout / "shop", checkout.parent / "shop")
    (checkout / "test_pricing.py").write_text(TEST)
    done, _, covered = run(checkout, f"{sys.executable} -m pytest -q", (product,), PYTHONPATH=str(checkout.parent))
    assert (done.returncode, covered, unentered((product,), covered)) == (0, {}, "")


SCRIPT = """function split(cents, parts) {
  if (process.stdout.isTTY) {
    return [];
  }
  const each = Math.floor(cents / parts);
  return Math.random() < 2 ? [each] : [];
}
module.exports = { split };
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("text", [SCRIPT, f"#!/usr/bin/env node\n// ümlaut\n{SCRIPT}"])
def test_node_counts_by_itself(tmp_path, text):
    checkout = tmp_path / "a checkout"
    checkout.mkdir()
    (checkout / "money.js").write_text(text)
    (checkout / "a.test.js").write_text(
        "const { test } = require('node:test');\nconst { split } = require('./money.js');\n"
        "test('splits', () => { require('assert').deepStrictEqual(split(9, 2), [4]); });\n"
    )
    files = (of_all_lines("money.js", text, lexed_conditions("money.js", text)),)
    done, inventory, covered = run(checkout, "node --test", files)
    first = text.count("\n") - SCRIPT.count("\n")
    assert (done.returncode, len(inventory.tests)) == (0, 1)
    assert unentered(files, covered) == f"no test runs these added lines: money.js:{first + 3}"
    assert [each.text for each in one_sided(files, covered)] == ["process.stdout.isTTY", "Math.random() < 2"]


GO = """package money

import "os"

// Split splits.
func Split(cents int) int {
	if len(os.Args) > 99 {
		return 0
	}
	return cents / 2
}
"""


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_go_counts_in_a_profile(tmp_path):
    checkout = tmp_path / "checkout"
    (checkout / "money").mkdir(parents=True)
    (checkout / "go.mod").write_text("module example.com/ledger\n\ngo 1.18\n")
    (checkout / "money" / "money.go").write_text(GO)
    (checkout / "money" / "money_test.go").write_text(
        'package money\n\nimport "testing"\n\nfunc TestSplit(t *testing.T) {\n\tif Split(4) != 2 {\n\t\tt.Fail()\n\t}\n}\n'
    )
    files = (of_all_lines("money/money.go", GO, lexed_conditions("money/money.go", GO)),)
    home = os.environ.get("GOCACHE", str(tmp_path / "cache"))
    done, inventory, covered = run(checkout, "go test ./...", files, "example.com/ledger", GOCACHE=home)
    assert (done.returncode, len(inventory.tests)) == (0, 1)
    assert unentered(files, covered) == "no test runs these added lines: money/money.go:8"
    assert [each.text for each in one_sided(files, covered)] == ["len(os.Args) > 99"]


def test_reports_that_are_none_are_passed_over(checkout, product):
    folder = checkout.parent / "reports"
    instrumented((), folder)
    followed((), folder, checkout, (product,))
    into = folder / "reports" / "covered"
    (into / "a.jsonl").write_text('{"hit": 1}\nx\n{"file": "shop/pricing.py", "first": 0, "probes": 3}\n[]\n')
    (into / "b.json").write_text('{"result": [{"url": 3}]}')
    (into / "c.json").symlink_to("/dev/zero")
    (into / "d.json").mkdir()
    assert read_covered(folder, checkout, (product,)) == {}
