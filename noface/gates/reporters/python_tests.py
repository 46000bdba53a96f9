"""Writes down how each test of pytest or unittest ended, in a process of a gate. See `import_hook.py`.

A run is a line {"run": runner, "root": folder}, a line {"id", "outcome"} for each test, and {"end": whether all that
was collected ran}. A file is a process's own, and each line is written at once: an os._exit cuts the end off. The code
under test may write here, too; what it cannot do is to write results without naming its tests.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

__unittest = True  # unittest leaves the frames of such modules out of what it prints
_FOLDER = os.path.dirname(__file__)  # noqa: PTH120
_REPORTS = os.path.join(os.path.dirname(_FOLDER), "reports")  # noqa: PTH118, PTH120
_PRELOAD = os.path.join(_FOLDER, "node_preload.cjs")  # noqa: PTH118
_PASSED, _FAILED, _SKIPPED = "PASSED", "FAILED", "SKIPPED"
_WORST_LAST = (_PASSED, _SKIPPED, _FAILED)
_runs: list[RunnerRun] = []
_CALLS = (os.getpid, os.open, os.write, os.close)
_quote = json.encoder.encode_basestring_ascii
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
_ONLY: list[str] = json.loads(os.environ.pop("NOFACE_ONLY_TESTS", "[]"))
"""The ids of the only tests to run, counted from the checkout; none if all run."""


_quiet = contextlib.suppress(Exception)
"""The tests run as if the reporter were not there, whatever goes wrong in it."""


class RunnerRun:
    """The run of one runner in this process; what its tests start reports nothing, in the project's environment."""

    def __init__(self, runner: str, root: str) -> None:
        self.runner = runner
        self._process = _CALLS[0]()
        self._path = f"{_REPORTS}/{self._process}-{os.urandom(8).hex()}.jsonl"
        self._taken: dict[str, tuple[str, str | None]] = {}
        self.write(run=runner, root=root)
        path, node = os.environ.get("PYTHONPATH"), os.environ.get("NODE_OPTIONS")
        if path is not None:
            self._take("PYTHONPATH", os.pathsep.join(part for part in path.split(os.pathsep) if part != _FOLDER))
        if node is not None:
            self._take("NODE_OPTIONS", node.replace(f'--require "{_PRELOAD}"', "").strip())
        _runs.append(self)

    @property
    def here(self) -> bool:  # not in a fork of the process that the run began in
        return _CALLS[0]() == self._process

    def write(self, **record: object) -> None:
        """Add one line to the file, which stays closed in between: tests close descriptors that are not theirs."""
        if self.here:
            _, opened, write, close = _CALLS
            line = ", ".join(f"{_quote(name)}: {_json(value)}" for name, value in record.items())
            descriptor = opened(self._path, _APPEND, 0o600)
            write(descriptor, f"{{{line}}}\n".encode())
            close(descriptor)

    def end(self, whole: bool) -> None:
        """Close the run, `whole` if all that was collected ran."""
        _runs.remove(self)
        for name, (before, during) in self._taken.items():
            # A test may have set it since: then it stays.
            if os.environ.get(name) == during:
                os.environ[name] = before
        self.write(end=whole)

    def _take(self, name: str, during: str) -> None:
        self._taken[name] = (os.environ[name], during or None)
        if during:
            os.environ[name] = during
        else:
            del os.environ[name]


def _json(value: object) -> str:
    return str(value).lower() if value is True or value is False else _quote(str(value))


def _watch_limit() -> None:
    """Have the stacks written to standard error shortly before the gate's time limit: where it stands if it hangs."""
    ends = os.environ.pop("NOFACE_GATE_ENDS", "")
    if not ends:
        return
    import faulthandler
    import time

    at, limit = (float(part) for part in ends.split("/"))
    left = at - time.time() - min(2.0, limit * 0.1)
    if left > 0:
        faulthandler.dump_traceback_later(left, file=os.dup(2))


def _left_out(name: str) -> bool:
    return bool(_ONLY) and not any(
        only == name or only.endswith("/" + name) or name.endswith("/" + only) for only in _ONLY
    )


def attach_pytest(config: ModuleType) -> None:
    """Have every session of pytest in this process reported. `config` is the module `_pytest.config`."""
    manager = config.PytestPluginManager
    consider_env = manager.consider_env
    with _quiet:
        for name in _FIRST:
            config.hookimpl(tryfirst=True)(getattr(_Pytest, name))
        for name in _LAST:
            config.hookimpl(trylast=True)(getattr(_Pytest, name))

    @functools.wraps(consider_env)
    def considered(self: Any) -> None:
        consider_env(self)
        with _quiet:  # under a name of its own each time, which `-p no:…` cannot know
            self.register(_Pytest(), f"noface-{os.urandom(8).hex()}")

    manager.consider_env = considered


with _quiet:
    _watch_limit()

_FIRST = ("pytest_sessionstart", "pytest_collectreport", "pytest_runtest_logreport")
_LAST = ("pytest_sessionfinish", "pytest_collection_modifyitems")


class _Pytest:
    """A plugin that writes down how the tests of one session ended. Its hooks are in _FIRST and _LAST."""

    def __init__(self) -> None:
        self.run: RunnerRun | None = None
        self.ended: dict[str, str] = {}
        self.begun: set[str] = set()

    def pytest_sessionstart(self, session: Any) -> None:
        with _quiet:
            looks = ("collectonly", "showfixtures", "show_fixtures_per_test")
            only_looks = any(getattr(session.config.option, name, False) for name in looks)
            # A session in another one: started by a test, or a worker of xdist, whose tests the first one reports.
            inside = bool(_runs) or hasattr(session.config, "workerinput") or "PYTEST_CURRENT_TEST" in os.environ
            if not only_looks and not inside:
                root = getattr(session.config, "rootpath", None) or session.config.rootdir
                self.run = RunnerRun("pytest", str(root))

    def pytest_collection_modifyitems(self, config: Any, items: Any) -> None:
        with _quiet:
            others = [item for item in items if _left_out(item.nodeid)]
            if others:
                items[:] = [item for item in items if item not in others]
                config.hook.pytest_deselected(items=others)

    def pytest_collectreport(self, report: Any) -> None:
        with _quiet:
            if self.run is not None and report.outcome != "passed":
                self.run.write(id=report.nodeid, outcome=_FAILED if report.outcome == "failed" else _SKIPPED)

    def pytest_runtest_logreport(self, report: Any) -> None:
        with _quiet:
            if self.run is not None:
                self.note(self.run, report)

    def pytest_sessionfinish(self, session: Any, exitstatus: Any) -> None:
        with _quiet:
            if self.run is not None:
                # 0 all passed, 1 some failed, 5 none collected; every other code is a run that broke off.
                whole = int(exitstatus) in {0, 1, 5} and len(self.begun) >= session.testscollected
                self.run.end(whole)
                self.run = None

    def note(self, run: RunnerRun, report: Any) -> None:
        name = report.nodeid
        if report.when == "setup":
            self.ended.pop(name, None)
            self.begun.add(name)
        outcome = _outcome(report)
        if outcome is not None:
            self.ended[name] = max(self.ended.get(name, outcome), outcome, key=_WORST_LAST.index)
        if report.when not in {"setup", "call"} and name in self.ended:
            run.write(id=name, outcome=self.ended.pop(name))


def _outcome(report: Any) -> str | None:
    """Return how a phase ended, None if it says nothing of the test: a setup that went well, a rerun, a subtest."""
    if report.outcome == "failed":
        return _FAILED
    if hasattr(report, "context"):  # a subtest
        return None
    if hasattr(report, "wasxfail") or report.outcome == "skipped":
        return _SKIPPED
    return _PASSED if report.outcome == "passed" and report.when == "call" else None


def attach_unittest(case: Any) -> None:
    """Have every TestCase that unittest runs in this process reported. `case` is the module `unittest.case`."""
    run_test, stop = case.TestCase.run, case.result.TestResult.stopTestRun

    @functools.wraps(run_test)
    def run(self: Any, result: Any = None) -> Any:
        if _ONLY and result is not None and _left_out(_unittest_id(self)):
            return None
        begun, before = False, (0, 0)
        with _quiet:
            begun, before = _begins(self, result), _counted(result)
        try:
            return run_test(self, result)
        finally:
            if begun:
                with _quiet:
                    _running.clear()
                    now = _counted(result)
                    outcome = _FAILED if now[0] > before[0] else _SKIPPED if now[1] > before[1] else _PASSED
                    _runs[0].write(id=_unittest_id(self), outcome=outcome)

    @functools.wraps(stop)
    def stopped(self: Any) -> Any:
        with _quiet:
            if _runs and not _running and _runs[0].here and _runs[0].runner == "unittest":
                _runs[0].end(not self.shouldStop)  # as with --failfast
        return stop(self)

    case.TestCase.run, case.result.TestResult.stopTestRun = run, stopped


_running: list[object] = []
"""The test that runs: none of those that it runs itself is reported."""


def _counted(result: Any) -> tuple[int, int]:
    failed = (result.failures, result.errors, result.unexpectedSuccesses)
    return sum(map(len, failed)), len(result.skipped) + len(result.expectedFailures)


def _begins(test: object, result: Any) -> bool:
    """True if a test's outcome is noted: not if pytest runs it, or another test does."""
    inside = _runs and (_runs[0].runner != "unittest" or not _runs[0].here)
    if result is None or _running or inside or type(result).__module__.startswith("_pytest."):
        return False
    if not _runs:
        RunnerRun("unittest", os.getcwd())  # noqa: PTH109
    _running.append(test)
    return True


def _unittest_id(test: Any) -> str:
    """Return an id as pytest would: the file, not the module, which depends on where the run was started."""
    kind = type(test)
    path = getattr(sys.modules.get(kind.__module__), "__file__", None)
    method = getattr(test, "_testMethodName", None)
    if path is None or method is None or kind.__module__.partition(".")[0] in {"unittest", "doctest"}:
        return str(test.id())
    return "::".join((os.path.abspath(path), *kind.__qualname__.split("."), method))  # noqa: PTH100
