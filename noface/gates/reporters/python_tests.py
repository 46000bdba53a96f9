"""Writes down how each test of pytest or unittest ended, in a process of a gate. See `import_hook.py`.

A run is a line {"run": runner, "root": folder}, a line {"id", "outcome"} for each test, {"patched": the runner's own
functions that others stand in place of}, and {"end": whether all that was collected ran}. A file is a process's own,
and each line is written at once: an os._exit cuts the end off.

What is needed is kept from before the project's first module, so that what the code under test puts in its place
changes no report: an outcome is what a test raised, whatever the runner makes of it. That code may write here, too;
what it cannot do is to write results without naming its tests.
"""

from __future__ import annotations

import functools
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType, TracebackType
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


class _Quiet:
    """Swallows what goes wrong in the reporter: the tests run as if it were not there."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, _error: object, _where: TracebackType | None) -> bool:
        return kind is not None and issubclass(kind, Exception)


_quiet = _Quiet()


class RunnerRun:
    """The run of one runner in this process; what its tests start reports nothing, in the project's environment."""

    def __init__(self, runner: str, root: str) -> None:
        self.runner = runner
        self._process = _CALLS[0]()
        self._path = f"{_REPORTS}/{self._process}-{os.urandom(8).hex()}.jsonl"
        self._taken: dict[str, tuple[str, str | None]] = {}
        self.write(run=runner, root=root)
        for name, cleaned in (("PYTHONPATH", _without_folder), ("NODE_OPTIONS", _without_preload)):
            if name in os.environ:
                self._take(name, cleaned(os.environ[name]))
        _runs.append(self)

    @property
    def here(self) -> bool:
        """False in a fork of the process that the run began in."""
        return _CALLS[0]() == self._process

    def write(self, **record: object) -> None:
        """Add one line to the file, which stays closed in between: tests close descriptors that are not theirs."""
        if not self.here:
            return
        _, opened, write, close = _CALLS
        line = ", ".join(f"{_quote(name)}: {_json(value)}" for name, value in record.items())
        descriptor = opened(self._path, _APPEND, 0o600)
        try:
            write(descriptor, f"{{{line}}}\n".encode())
        finally:
            close(descriptor)

    def end(self, whole: bool) -> None:
        """Close the run, `whole` if all that was collected ran."""
        _runs.remove(self)
        for name, (before, during) in self._taken.items():
            # A test may have set it since: then it stays.
            if os.environ.get(name) == during:
                os.environ[name] = before
        with _quiet:
            names = sorted(_patched | _patched_now())
            if names:
                self.write(patched=names[:_NAMES_MAX])
        self.write(end=whole)

    def _take(self, name: str, during: str) -> None:
        self._taken[name] = (os.environ[name], during or None)
        if during:
            os.environ[name] = during
        else:
            del os.environ[name]


def _json(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_json, value))}]"
    return str(value).lower() if value is True or value is False else _quote(str(value))


_NAMES_MAX = 50
_kept: dict[str, tuple[object, dict[str, object]]] = {}
"""The modules and classes of the runners by name, each with what it held before the project's first module."""
_patched: set[str] = set()
_DECIDES = (type(_json), type, property, staticmethod, classmethod)


def _keep(*packages: str) -> None:
    """Keep what the modules of these packages hold that are loaded now, once."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages and name not in _kept and hasattr(module, "__dict__"):
            _kept[name] = (module, dict(vars(module)))
            for each in vars(module).values():
                if isinstance(each, type) and each.__module__ == name:
                    _kept[f"{name}.{each.__qualname__}"] = (each, dict(vars(each)))


def _patched_now() -> set[str]:
    """Return the names of the functions and classes of the runners that something else stands in place of now."""
    return {
        f"{place}.{name}"
        for place, (holder, before) in _kept.items()
        for now in [vars(holder)]
        for name, value in before.items()
        if now.get(name) is not value and isinstance(value, _DECIDES) and not name.startswith("__annot")
    }


def _without_folder(value: str) -> str:
    return os.pathsep.join(part for part in value.split(os.pathsep) if part != _FOLDER)


def _without_preload(value: str) -> str:
    return value.replace(f'--require "{_PRELOAD}"', "").strip()


def _watch_limit() -> None:
    """Have the stacks written to standard error shortly before the gate's time limit: where it stands if it hangs."""
    ends = os.environ.pop("NOFACE_GATE_ENDS", "")
    if not ends:
        return
    import faulthandler
    import time

    at, limit = (float(part) for part in ends.split("/"))
    left = at - time.time() - min(_MARGIN_S, limit * _MARGIN)
    if left > 0:
        faulthandler.dump_traceback_later(left, file=os.dup(2))


_MARGIN_S = 2.0
_MARGIN = 0.1


def _left_out(name: str) -> bool:
    return bool(_ONLY) and not any(
        only == name or only.endswith("/" + name) or name.endswith("/" + only) for only in _ONLY
    )


def _runs_here() -> bool:
    """True if a run is open already, here or in the process that this one is a fork of."""
    return bool(_runs)


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
        with _quiet:
            _keep("_pytest", "pytest", "pluggy")
        consider_env(self)
        with _quiet:  # under a name of its own each time, which `-p no:…` cannot know
            self.register(_Pytest(), f"noface-{os.urandom(8).hex()}")

    manager.consider_env = considered


with _quiet:
    _watch_limit()

_FIRST = ("pytest_sessionstart", "pytest_runtest_makereport", "pytest_collectreport", "pytest_runtest_logreport")
_LAST = ("pytest_sessionfinish", "pytest_collection_modifyitems")


class _Pytest:
    """A plugin that writes down how the tests of one session ended. Its hooks are in _FIRST and _LAST."""

    def __init__(self) -> None:
        self.run: RunnerRun | None = None
        self.ended: dict[str, str] = {}
        self.raised: set[tuple[str, str]] = set()
        self.begun: set[str] = set()

    def pytest_sessionstart(self, session: Any) -> None:
        with _quiet:
            options = session.config.option
            only_looks = any(
                getattr(options, name, False) for name in ("collectonly", "showfixtures", "show_fixtures_per_test")
            )
            # A session in another one: started by a test, or a worker of xdist, whose tests the first one reports.
            inside = _runs_here() or hasattr(session.config, "workerinput") or "PYTEST_CURRENT_TEST" in os.environ
            if not only_looks and not inside:
                root = getattr(session.config, "rootpath", None) or session.config.rootdir
                self.run = RunnerRun("pytest", str(root))

    def pytest_collection_modifyitems(self, config: Any, items: Any) -> None:
        with _quiet:
            others = [item for item in items if _left_out(item.nodeid)]
            if others:
                items[:] = [item for item in items if item not in others]
                config.hook.pytest_deselected(items=others)
            if self.run is not None:
                _patched.update(_patched_now())

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        with _quiet:
            if call.when == "setup":
                # A test that runs again, as with pytest-rerunfailures, begins anew.
                self.raised -= {(item.nodeid, when) for when in ("setup", "call", "teardown")}
            if call.excinfo is not None and not _is_skip(call.excinfo.value):
                self.raised.add((item.nodeid, call.when))

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
        if hasattr(report, "context") and type(report).__name__.lower() == "subtestreport":
            context = report.context
            values = ", ".join(f"{key}={value}" for key, value in context.kwargs.items())
            parts = (f"[{context.msg}]" if context.msg else "", f"({values})" if values else "")
            label = " ".join(filter(None, parts))
            ended = _FAILED if report.outcome == "failed" else _SKIPPED if report.outcome == "skipped" else _PASSED
            run.write(id=f"{name}[{label}]", outcome=ended)
            return
        if report.when == "setup":
            self.ended.pop(name, None)
            self.begun.add(name)
        outcome = self.outcome(report)
        if outcome is not None:
            self.ended[name] = max(self.ended.get(name, outcome), outcome, key=_WORST_LAST.index)
        if report.when not in {"setup", "call"} and name in self.ended:
            run.write(id=name, outcome=self.ended.pop(name))

    def outcome(self, report: Any) -> str | None:
        """Return how a phase ended, None if it says nothing of the test: a setup that went well, a rerun."""
        if hasattr(report, "wasxfail") or report.outcome == "skipped":
            return _SKIPPED if report.outcome != "failed" else _FAILED
        if report.outcome == "failed":
            return _FAILED
        if report.outcome == "passed" and (report.nodeid, report.when) in self.raised:
            return _FAILED  # the report was made to say otherwise
        return _PASSED if report.outcome == "passed" and report.when == "call" else None


def _is_skip(error: BaseException) -> bool:
    return type(error).__name__ in {"Skipped", "SkipTest", "XFailed", "Exit"}


def attach_unittest(case: ModuleType) -> None:
    """Have every TestCase that unittest runs in this process reported. `case` is the module `unittest.case`."""
    test_case = case.TestCase
    run_test = test_case.run
    with _quiet:
        _watch_parts(case)

    @functools.wraps(run_test)
    def run(self: Any, result: Any = None) -> Any:
        begun = False
        if _ONLY and result is not None and _left_out(_unittest_id(self)):
            return None
        with _quiet:
            begun = _begin_test(self, result)
        try:
            return run_test(self, result)
        finally:
            with _quiet:
                if begun:
                    _, noted = _noting.pop()
                    for name, outcome in noted.items():
                        _runs[0].write(id=name, outcome=outcome)

    test_case.run = run


def keep_unittest(_main: ModuleType) -> None:
    """Keep what unittest is made of, once all of that is loaded."""
    _keep("unittest")


def _watch_parts(case: Any) -> None:
    """Note what each part of a test raises where the runner meets it first: no method of a result need be told."""
    execute = case._Outcome.testPartExecutor  # noqa: SLF001
    no_failure = (case.SkipTest, case._ShouldStop)  # noqa: SLF001

    class Part:
        def __init__(self, outcome: Any, test: Any, part: Any) -> None:
            self.outcome, self.test, self.part = outcome, test, part

        def __enter__(self) -> Any:
            return self.part.__enter__()

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
        ) -> Any:
            with _quiet:
                if kind is not None and not issubclass(kind, no_failure) and not self.outcome.expecting_failure:
                    _note_failed(self.test)
            return self.part.__exit__(kind, error, where)

    @functools.wraps(execute)
    def executed(self: Any, test: Any, *args: Any, **more: Any) -> Any:
        return Part(self, test, execute(self, test, *args, **more))

    case._Outcome.testPartExecutor = executed  # noqa: SLF001


def _note_failed(test: Any) -> None:
    if _noting:
        _note(test, _FAILED)
        if hasattr(test, "_subDescription"):
            _note(test.test_case, _FAILED)


_noting: list[tuple[object, dict[str, str]]] = []
"""The test that runs, with what is known of it so far; none of the tests that it runs itself."""
_ENDS = {
    "addSuccess": _PASSED,
    "addError": _FAILED,
    "addFailure": _FAILED,
    "addSkip": _SKIPPED,
    "addExpectedFailure": _SKIPPED,
    "addUnexpectedSuccess": _FAILED,
}


def _begin_test(test: object, result: Any) -> bool:
    """True if a test's outcome is noted: not if pytest runs it, or another test does."""
    if result is None or _noting or (_runs and (_runs[0].runner != "unittest" or not _runs[0].here)):
        return False
    if type(result).__module__.startswith("_pytest."):
        return False
    if not _runs:
        RunnerRun("unittest", os.getcwd())  # noqa: PTH109
        _patched.update(_patched_now())
    _watch(type(result))
    _noting.append((test, {}))
    return True


def _watch(kind: Any) -> None:
    if "_noface_watched" in vars(kind):
        return
    kind._noface_watched = True  # noqa: SLF001
    for name, outcome in _ENDS.items():
        setattr(kind, name, _noted(getattr(kind, name), outcome))
    kind.addSubTest = _noted(kind.addSubTest, None)
    stop = kind.stopTestRun

    @functools.wraps(stop)
    def stopped(self: Any) -> Any:
        with _quiet:
            if _runs and not _noting and _runs[0].here and _runs[0].runner == "unittest":
                _runs[0].end(not self.shouldStop)  # as with --failfast
        return stop(self)

    kind.stopTestRun = stopped
    # What was put there just now is the reporter's, and not the project's.
    for holder, before in _kept.values():
        if holder is kind:
            before.update(vars(kind))


def _noted(method: Callable[..., Any], outcome: str | None) -> Callable[..., Any]:
    @functools.wraps(method)
    def noted(self: Any, test: Any, *args: Any, **more: Any) -> Any:
        with _quiet:
            if outcome is not None:
                _note(test, outcome)
            else:
                _note_subtest(test, *args, **more)
        return method(self, test, *args, **more)

    return noted


def _note_subtest(test: Any, subtest: Any, err: Any) -> None:
    _note(subtest, _PASSED if err is None else _FAILED)
    if err is not None:
        _note(test, _FAILED)


def _note(test: Any, outcome: str) -> None:
    if not _runs or not _runs[0].here or _runs[0].runner != "unittest":
        return
    name = _unittest_id(test)
    if not _noting:  # what holds for a class or a module
        _runs[0].write(id=name, outcome=outcome)
    elif _noting[0][0] in (test, getattr(test, "test_case", None)):
        noted = _noting[0][1]
        noted[name] = max(noted.get(name, outcome), outcome, key=_WORST_LAST.index)


def _unittest_id(test: Any) -> str:
    """Return an id as pytest would: the file, not the module, which depends on where the run was started."""
    inner = getattr(test, "test_case", None)
    if inner is not None and hasattr(test, "_subDescription"):
        return f"{_unittest_id(inner)}[{test._subDescription()}]"  # noqa: SLF001
    kind = type(test)
    path = getattr(sys.modules.get(kind.__module__), "__file__", None)
    method = getattr(test, "_testMethodName", None)
    if path is None or method is None or kind.__module__.partition(".")[0] in {"unittest", "doctest"}:
        return str(test.id())
    return "::".join((os.path.abspath(path), *kind.__qualname__.split("."), method))  # noqa: PTH100
