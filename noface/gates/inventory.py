"""Makes a gate's test runners report which tests they ran, by environment variables, and reads these reports.

In the folder, `preload` is what the gate's processes load; they write to `reports`, through the code under test, so
that is read through no link, without waiting, and within bounds.
"""

import os
import secrets
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from noface.integrity.inventory import Inventory, Outcome, inventory, joined, merged, steady
from noface.integrity.inventory_text import counted_tests, named_tests, summary_counts
from noface.model.json_record import JsonRecord, json_value
from noface.process.environment import Variables
from noface.process.files import read_regular

WRITTEN = "reports"
"""The folder in that of the reporters that the gate's processes write to."""
FILES_MAX = 2_000
BYTES_MAX = 100_000_000
TESTS_MAX = 200_000
_HOOK = "import_hook"
_COPIED = ("python_tests.py", "node_preload.cjs", "node_report.cjs", "jest_reporter.cjs", "vitest_source.cjs",
           "vitest_hooks.mjs")  # fmt: skip
_SAME_NAMES = frozenset({"jest", "vitest", "mocha", "node:test"})
"""Runners that may run several tests of one id. Of the others, the last word about an id counts: a test run again."""
_OUTCOMES = frozenset(Outcome)
_UNREAD = inventory((), "unread", complete=False)
"""What stands for reports that were not read."""


def instrumented(env: Variables, folder: Path) -> Variables:
    """Fill the fresh `folder`; return the environment with what makes test runners report there. Raises OSError."""
    preload, reports = folder / "preload", folder / WRITTEN
    preload.mkdir(parents=True)
    reports.mkdir()
    sources = Path(__file__).parent / "reporters"
    hook = f"_{secrets.token_hex(8)}"  # a name that no module of the project has
    start = (sources / "sitecustomize.py.txt").read_text(encoding="utf-8").replace(_HOOK, hook)
    (preload / "sitecustomize.py").write_text(start, encoding="utf-8")
    for name, source in ((f"{hook}.py", f"{_HOOK}.py"), *((name, name) for name in _COPIED)):
        (preload / name).write_bytes((sources / source).read_bytes())
    values = dict(env)
    own_path, own_node = values.get("PYTHONPATH"), values.get("NODE_OPTIONS")
    script = str(preload / "node_preload.cjs").replace("\\", "\\\\").replace('"', '\\"')
    values["PYTHONPATH"] = f"{preload}{os.pathsep}{own_path}" if own_path else str(preload)
    values["NODE_OPTIONS"] = f'{own_node} --require "{script}"' if own_node else f'--require "{script}"'
    values["GOFLAGS"] = f"{values.get('GOFLAGS', '')} -v".strip()
    return tuple(values.items())


def read_inventory(folder: Path, checkout: Path, stdout: str, command: str, stderr: str = "") -> Inventory | None:
    """Return which tests a gate ran in `checkout` by reports, names or numbers; None if there is no sign of any."""
    roots = tuple(dict.fromkeys((str(checkout), str(checkout.resolve()))))
    written = _written(folder / WRITTEN, roots)
    taps = not any(_SAME_NAMES & set(run.runners) for run in written)
    named = []
    for run in named_tests(stdout, stderr, taps=taps):
        tests = ((steady(name, roots), outcome) for name, outcome in run.tests)
        named.append(inventory(tests, run.runners[0], complete=run.complete))
    reported = merged((*written, *named))
    if reported is not None:
        return replace(reported, told=summary_counts(stdout, stderr, command) if written else ())
    return counted_tests(stdout, stderr, command)


def _written(reports: Path, roots: tuple[str, ...]) -> list[Inventory]:
    runs: list[Inventory] = []
    bytes_left, tests_left = BYTES_MAX, TESTS_MAX
    if reports.is_symlink() or not reports.is_dir():
        return [_UNREAD]
    files = list(islice(reports.iterdir(), FILES_MAX + 1))
    runs += [_UNREAD] if len(files) > FILES_MAX else []
    for path in files[:FILES_MAX]:
        # One byte more than fits shows that it does not fit.
        data = read_regular(path, bytes_left + 1)
        if data is None or len(data) > bytes_left:
            runs.append(_UNREAD)
            continue
        bytes_left -= len(data)
        for run in _runs(data, roots):
            tests_left -= len(run.tests)
            if tests_left < 0:
                return [*runs, _UNREAD]
            runs.append(run)
    return runs


def _runs(data: bytes, roots: tuple[str, ...]) -> Iterator[Inventory]:
    runner, root, whole = "", "", True
    tests: list[tuple[str, Outcome]] = []
    open_run = False
    for line in data.splitlines():
        record = JsonRecord.of(json_value(line))
        if not open_run and "run" not in record:
            whole = False
        elif "run" in record:
            if open_run:
                yield _run(runner, root, roots, tests, whole=False)
            open_run, whole, tests = True, True, []
            runner, root = record.text("run")[:40], record.text("root")
        elif "end" in record:
            yield _run(runner, root, roots, tests, whole=whole and record.values["end"] is True)
            open_run = False
        elif record.text("outcome") in _OUTCOMES and isinstance(name := record.values.get("id"), str):
            tests.append((name, Outcome(record.text("outcome"))))
        else:
            whole = False
    if open_run or not whole:
        yield _run(runner or "unread", root, roots, tests if open_run else [], whole=False)


def _run(runner: str, root: str, roots: tuple[str, ...], tests: list[tuple[str, Outcome]], *, whole: bool) -> Inventory:
    outcomes = tests if runner in _SAME_NAMES else list(dict(tests).items())
    named = ((_named(name, root, roots), outcome) for name, outcome in outcomes)
    return inventory(named, runner, complete=whole)


def _named(name: str, root: str, roots: tuple[str, ...]) -> str:
    path = name.partition("::")[0]
    # Without a path, a runner has an id of its own making; a module that could not be collected has no "::".
    whole = joined(root, name) if "::" in name or "/" in path or path.endswith(".py") else name
    return steady(whole, roots)
