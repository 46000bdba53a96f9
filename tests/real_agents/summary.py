"""What the tests say at their end: how many ran with each program, and the table agent × scenario.

With several processes it is the one that gathers the reports of the others that says it.
"""

import json
import platform
import re
import shutil
import socket
import subprocess
import time
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from cells import Found, Table, page, rows
from install import FOLDER, clis

from noface.process.sandbox import find_bubblewrap

ROW = "row"
"""The marker of tests that show a cell."""
SANDBOX = "bubblewrap" if find_bubblewrap(shutil.which("bwrap")).works else "none"
KEPT = FOLDER / "found.json"
"""What the last run of all tests found, and runs of some since then: these renew their cells of the page."""
PAGE = Path(__file__).with_name("TESTED.md")


@pytest.fixture(autouse=True)
def cell(request: pytest.FixtureRequest) -> None:
    row = request.node.get_closest_marker(ROW)
    if row is not None:
        name, *columns = row.args
        if not columns:
            given = request.node.callspec.params
            columns = [given["cli"] if "cli" in given else given["case"].cli]
        request.node.user_properties.append(("cell", [name, *columns]))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{ROW}(name, column): shows a cell of the table, see cells.toml; the column is else the one of the test's `cli`",
    )


class Reports:
    """Gathers what the tests found of the cells; with several processes, in the one that gathers their reports."""

    found: ClassVar[dict[str, Found]] = {}

    @classmethod
    def add(cls, report: pytest.TestReport) -> None:
        """Take the report of a test's beginning, its course or its end."""
        told = dict(report.user_properties)
        if "cell" not in told:
            return
        row, column = told["cell"]
        before = cls.found.get(report.nodeid, Found(row, column))
        crash = getattr(report.longrepr, "reprcrash", None)
        wrong = (crash.message if crash is not None else str(report.longrepr)) if report.failed else ""
        skipped = str(report.longrepr[2]) if report.skipped and isinstance(report.longrepr, tuple) else ""
        cls.found[report.nodeid] = replace(
            before, seen=told.get("seen", ""), wrong=before.wrong or wrong, skipped=before.skipped or skipped
        )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    Reports.add(report)


def _is_whole(config: pytest.Config) -> bool:
    asked = [Path(each).resolve() for each in config.args]
    return asked == [Path(__file__).parent] and not (config.option.keyword or config.option.markexpr)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run of all tests where a cell of the table was shown by none."""
    if hasattr(session.config, "workerinput") or not _is_whole(session.config):
        return
    if session.exitstatus == pytest.ExitCode.OK and not Table(Reports.found.values()).whole:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """Say how many tests ran with each program, and show the table; after a run of all tests, keep it."""
    if hasattr(config, "workerinput"):
        return  # one of several processes, which knows its own tests alone
    ran: Counter[tuple[str, str]] = Counter()
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            named = re.search(r"\[(\w+)", report.nodeid)
            ran[named[1] if named else "", outcome] += 1
    for name, cli in clis().items():
        counts = ", ".join(f"{ran[name, outcome]} {outcome}" for outcome in ("passed", "failed", "error"))
        terminalreporter.write_line(f"{cli.shown}: {counts}")
    alone = [name for _, name in socket.if_nameindex()] == ["lo"]
    terminalreporter.write_line(
        "network: loopback only" if alone else "network: NOT cut off, see tests/real_agents/run.py"
    )
    if not Reports.found:
        return
    table = Table(Reports.found.values(), whole=_is_whole(config))
    for line in ("", *table.lines(), *table.what_was_seen(), ""):
        terminalreporter.write_line(line)
    found = Reports.found if _is_whole(config) else _found_before() | Reports.found
    if len(found) == len(Reports.found) and not _is_whole(config):
        terminalreporter.write_line("These were some of the tests: TESTED.md is as it was.")
        return
    KEPT.write_text(json.dumps([_versions(), {name: asdict(each) for name, each in found.items()}]), "utf-8")
    table = Table(found.values())
    write_page(table)
    terminalreporter.write_line(f"written: {PAGE.name}, {table.right} cells right, {table.reasoned} with a reason")
    others = [f"{cli.name} {cli.version}" for cli in clis().values() if cli.version != cli.tested]
    if others and exitstatus == pytest.ExitCode.OK and table.whole:
        terminalreporter.write_line(f"all right; noface/data/agents.toml may now name as tested: {', '.join(others)}")


def _versions() -> dict[str, str]:
    return {name: cli.version for name, cli in clis().items()}


def _found_before() -> dict[str, Found]:
    """Return what earlier runs found with the same versions, nothing without a run of all tests."""
    if not KEPT.exists():
        return {}
    versions, found = json.loads(KEPT.read_text("utf-8"))
    known = {row.name for row in rows()} if versions == _versions() else set()
    return {name: Found(**each) for name, each in found.items() if each["row"] in known}


def write_page(table: Table) -> None:
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    where = f"on {platform.system()} with Node {node.removeprefix('v')}, " + (
        "in bubblewrap's sandbox," if SANDBOX == "bubblewrap" else "without a sandbox, which is not possible there,"
    )
    programs = [cli.shown for cli in clis().values()]
    PAGE.write_text(page(table, programs, time.strftime("%Y-%m-%d", time.gmtime()), where), "utf-8")
