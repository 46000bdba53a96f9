import json
import shutil
import subprocess

import pytest
from support.cases import first_ones
from support.reported_gate import run_reported

from noface.integrity.inventory import compared

PROBE = ("node", "-e", "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)")
HAS_NODE = shutil.which("node") is not None and subprocess.run(PROBE, check=False).returncode == 0
pytestmark = pytest.mark.skipif(not HAS_NODE, reason="node 18 or newer is not installed")

TESTS = """
import test, { describe, it } from "node:test";
import assert from "node:assert";
test("adds", () => assert.equal(1 + 1, 2));
test("same", () => {});
test("same", () => {});
describe("group", () => {
  it("inner", async () => {});
  describe("deeper", () => it("inmost", () => {}));
});
test("parent", async (t) => { await t.test("child", () => {}); });
"""
ALL = [
    "a.test.mjs::adds",
    "a.test.mjs::group > deeper > inmost",
    "a.test.mjs::group > inner",
    "a.test.mjs::parent",
    "a.test.mjs::parent > child",
    "a.test.mjs::same",
    "a.test.mjs::same #2",
]


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "a.test.mjs").write_text(TESTS)
    return folder


@pytest.mark.parametrize(
    "command", ["node --test", "node a.test.mjs", "node --test --test-reporter=dot", "sh -c 'node --test'"]
)
def test_each_test_is_named_by_its_file(checkout, command):
    ran = run_reported(checkout, command)
    assert (ran.exit_code, ran.ids("PASSED"), ran.inventory.complete) == (0, ALL, True)
    assert ran.inventory.runners == ("node:test",)


def test_each_way_to_end_has_its_outcome(checkout):
    (checkout / "a.test.mjs").write_text(
        """
import test, { describe, it } from "node:test";
test("passes", () => {});
test("fails", () => { throw new Error("red"); });
test("skips", { skip: true }, () => {});
test("skips itself", (t) => t.skip("now"));
test("todo", { todo: true }, () => { throw new Error("red"); });
describe.skip("group", () => it("never", () => {}));
"""
    )
    ran = run_reported(checkout, "node --test")
    assert ran.ids("PASSED") == ["a.test.mjs::passes"]
    assert ran.ids("FAILED") == ["a.test.mjs::fails"]
    assert set(ran.ids("SKIPPED")) >= {f"a.test.mjs::{name}" for name in ("skips", "skips itself", "todo")}


EXIT = 'test("exits", () => process.exit(0)); test("adds"'
# What stands in place of what, the command: then how many are gone, skipped, failed, and whether the run broke off.
CHEATS = {
    "a skip": ('test("adds"', 'test.skip("adds"', "node --test", (0, 1, 0, False)),
    "an early exit": ('test("adds"', EXIT, "node a.test.mjs", (7, 0, 0, True)),
    "a forged exit code": (
        "1 + 1, 2));",
        "1 + 1, 3));\nprocess.on('exit', () => { process.exitCode = 0; });",
        "node a.test.mjs",
        (0, 0, 1, False),
    ),
    "only": ('test("adds"', 'test.only("adds"', "node --test --test-only", (6, 0, 0, False)),
    "a filter": ("", "", "node --test --test-name-pattern=adds", (6, 0, 0, False)),
    "another file": ("", "", "node --test b.test.mjs", (7, 0, 0, False)),
    "an early exit of a file": ('test("adds"', EXIT, "node --test", (7, 0, 0, False)),
}


@pytest.mark.parametrize("cheat", first_ones(CHEATS, 3))
def test_what_hides_tests_from_a_green_gate_shows(checkout, cheat):
    old, new, command, (gone, skipped, failed, broken_off) = CHEATS[cheat]
    (checkout / "b.test.mjs").write_text("")
    main = run_reported(checkout, "node --test a.test.mjs").inventory
    (checkout / "a.test.mjs").write_text(TESTS.replace(old, new, 1))
    now = run_reported(checkout, command)
    assert now.exit_code == 0, now.stdout
    short = compared(main, now.inventory)
    assert len(short.gone) + len(short.skipped) == gone + skipped  # a filter leaves out, or skips, by node's version
    assert (len(short.failed), short.broken_off) == (failed, broken_off)


def test_what_tests_run_is_not_counted_and_sees_the_projects_environment(checkout):
    (checkout / "inner.mjs").write_text(TESTS)
    (checkout / "a.test.mjs").write_text(
        """
import test from "node:test";
import assert from "node:assert";
import { spawnSync } from "node:child_process";
test("runs another", () => {
  assert.equal(process.env.NODE_OPTIONS, "--no-warnings");
  assert.equal(process.env.PYTHONPATH, undefined);
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  assert.equal(spawnSync(process.execPath, ["--test", "inner.mjs"], { env }).status, 0);
});
"""
    )
    ran = run_reported(checkout, "node --test a.test.mjs", NODE_OPTIONS="--no-warnings")
    assert (ran.exit_code, ran.ids("PASSED")) == (0, ["a.test.mjs::runs another"]), ran.stdout


# Written by hand in the form that node_report.cjs has for all of them; the real ones run in tests/runners/run.py.
REPORTS = {
    "jest": '{"run":"jest","root":"CHECKOUT"}\n{"id":"CHECKOUT/a.test.js::outer > passes","outcome":"PASSED"}\n'
    '{"id":"CHECKOUT/a.test.js::outer > fails","outcome":"FAILED"}\n'
    '{"id":"CHECKOUT/a.test.js::outer > skips","outcome":"SKIPPED"}\n{"end":true}\n'
}


@pytest.mark.parametrize("runner", ["jest", "vitest", "mocha"])
def test_a_report_of_other_runners_is_read(checkout, runner):
    text = REPORTS["jest"].replace("jest", runner).replace("CHECKOUT", str(checkout))
    (checkout / "report").write_text(text)
    ran = run_reported(checkout, "cp report ../reported-0/reports/1.jsonl")
    assert [(name, outcome.value) for name, outcome in ran.inventory.tests] == [
        ("a.test.js::outer > fails", "FAILED"),
        ("a.test.js::outer > passes", "PASSED"),
        ("a.test.js::outer > skips", "SKIPPED"),
    ]
    assert json.loads(text.splitlines()[0])["run"] == ran.inventory.runners[0]
