"""Run pytest many times cheaply: import it once, then fork a child for every request.

A script of its own, needing only the standard library and pytest, because it runs under the interpreter that the
project's accept command names. It is started at the top of a scratch copy as `python forkserver.py CONFIG`, in JSON:

    {"as_module": true, "flags": ["-B"], "options": ["-k", "word"], "tests": ["tests/test_x.py"], "cold": false}

Then each line on stdin is a request and each line on stdout its answer:

    {"tests": [...], "cpu_s": 0.5, "wall_s": 5.0, "memory_mb": 1024, "trace": false, "keep_bytecode": false}
    {"ended": "itself", "cpu_s": 0.03, "told": "..."}

"told" holds a JSON line for each event: a test's outcome, message and deepest line; the lines it ran; and in the end
pytest's exit status, missing where the run was cut short (ended: cpu, wall or a signal).
The fork happens inside pytest's `pytest_collection` hook: configuration, plugins and conftest files are loaded by
then, the code under repair is not. Where a conftest or plugin has imported it already, children would test the old
code; then the server starts itself again "cold" and forks before pytest, slower and always right.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator, TextIO  # noqa: UP035 - the project's Python may be an older one

import pytest

HERE = Path(__file__).resolve()
ROOT = f"{Path.cwd().resolve()}{os.sep}"
QUIET = ["--capture=no", "--tb=native", "-p", "no:cacheprovider"]
MESSAGE_CHARS_MAX = 300
FILE_BYTES_MAX = 64 * 2**20


class Recorder:
    """The pytest plugin: serves requests when warm, and in a child tells of each test as it ends."""

    def __init__(self, requests: Requests) -> None:
        self.requests = requests
        self.request: dict[str, Any] = {}
        self.out: TextIO | None = None
        self.lines: dict[str, set[int]] = {}
        self.running = ""

    def be_child(self) -> list[str]:
        """Serve; return only in a child, with the tests it has to run."""
        self.request, self.out = self.requests.serve()
        sys.dont_write_bytecode = not self.request["keep_bytecode"]
        confine(self.request, self.out_of_time)
        return list(self.request["tests"])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Fork here when warm; only children go on to collect."""
        if self.out is None:
            if any(is_project_code(module) for module in list(sys.modules.values())):
                self.requests.restart_cold()
            session.config.args = self.be_child() or session.config.args

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Tell that a test begins, and note its lines where the request asks for a trace."""
        self.tell({"test": item.nodeid, "outcome": "unfinished", "message": "it did not end", "line": 0})
        self.running, self.lines = item.nodeid, {}
        if self.request["trace"]:
            sys.settrace(self.enter)
            threading.settrace(self.enter)
        yield
        self.end_trace()

    def end_trace(self) -> None:
        """Stop tracing and tell the lines of the test that ran."""
        sys.settrace(None)
        threading.settrace(None)
        if self.lines:
            self.tell({"traced": self.running, "lines": {name: sorted(seen) for name, seen in self.lines.items()}})

    def enter(self, frame: Any, _event: str, _arg: object) -> Any:
        """Follow frames of the project's own files, noting their lines; the `def` line stands for the call."""
        path = frame.f_code.co_filename
        if not path.startswith(ROOT):
            return None
        seen = self.lines.setdefault(path[len(ROOT) :], set())
        seen.add(frame.f_code.co_firstlineno)

        def step(frame: Any, event: str, _arg: object) -> Any:
            if event == "line":
                seen.add(frame.f_lineno)
            return step

        return step

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Tell how a phase of a test went, where it decides."""
        result: Any = yield
        report = result.get_result()
        if report.when == "call" or report.outcome != "passed":
            self.tell({"test": item.nodeid, "outcome": report.outcome, **failure_of(str(item.path), call)})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Tell of a file that cannot even be imported."""
        if report.failed:
            message = str(report.longrepr)[-MESSAGE_CHARS_MAX:]
            self.tell({"test": report.nodeid or ".", "outcome": "error", "message": message, "line": 0})

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Tell that the run came to its own end, and be gone."""
        self.tell({"status": int(exitstatus)})
        os._exit(0)

    def out_of_time(self, _signal: int, _frame: object) -> None:
        """End the child; a test that loops for ever still tells where."""
        self.end_trace()
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPROF)

    def tell(self, record: dict[str, Any]) -> None:
        """Send one line to the parent."""
        if self.out is not None:
            print(json.dumps(record), file=self.out, flush=True)


def is_project_code(module: Any) -> bool:
    """Return True for a module of the project that is not a conftest: it must not be loaded before the fork."""
    path = Path(getattr(module, "__file__", None) or os.devnull).resolve()
    return str(path).startswith(ROOT) and path.name != "conftest.py" and path != HERE


def failure_of(test_path: str, call: pytest.CallInfo[None]) -> dict[str, Any]:
    """Tell what failed, and the deepest line of the test's own file on the way there: how far the test got."""
    if call.excinfo is None:
        return {"message": "", "line": 0}
    steps = [entry.lineno + 1 for entry in call.excinfo.traceback if str(entry.path) == test_path]
    message = f"{call.excinfo.typename}: {call.excinfo.value}"
    return {"message": message[:MESSAGE_CHARS_MAX], "line": steps[-1] if steps else 0}


class Requests:
    """Reads requests, forks for each, attends the child, answers."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.source = os.fdopen(os.dup(0), "r")
        self.answers = os.fdopen(os.dup(1), "w")
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)

    def serve(self) -> tuple[dict[str, Any], TextIO]:
        """Return (request, file to tell into), in children only; the parent ends with its input."""
        self.answer({"ready": True})
        for line in iter(self.source.readline, ""):
            request = json.loads(line)
            out, into = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(out)
                return request, os.fdopen(into, "w")
            os.close(into)
            self.answer(attend(pid, out, request["wall_s"]))
        os._exit(0)

    def answer(self, record: dict[str, Any]) -> None:
        """Send one line to the worker."""
        print(json.dumps(record), file=self.answers, flush=True)

    def restart_cold(self) -> None:
        """Become a server that forks before pytest starts; nothing has been asked of this one yet."""
        os.dup2(self.source.fileno(), 0)
        os.dup2(self.answers.fileno(), 1)
        config = json.dumps({**self.config, "cold": True})
        os.execv(sys.executable, [sys.executable, *self.config["flags"], str(HERE), config])  # noqa: S606 - itself


def confine(request: dict[str, Any], out_of_time: Any) -> None:
    """Limit the child's processor time, memory and file size, in a session of its own that can be ended whole.

    The profiling timer ends a mutant that loops for ever after a share of CPU time, however busy the machine is; the
    kernel's own limit is for loops inside C code, where no handler runs.
    """
    os.setsid()
    signal.signal(signal.SIGPROF, out_of_time)
    signal.setitimer(signal.ITIMER_PROF, request["cpu_s"])
    lower(resource.RLIMIT_CPU, int(request["cpu_s"]) + 2)
    lower(resource.RLIMIT_FSIZE, FILE_BYTES_MAX)
    lower(resource.RLIMIT_CORE, 0)
    with contextlib.suppress(OSError):  # only Linux tells its use here; elsewhere memory stays unlimited
        in_use = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        lower(resource.RLIMIT_AS, in_use + request["memory_mb"] * 2**20)


def lower(limit: int, value: int) -> None:
    """Set a soft and hard limit, never above the hard one in force."""
    hard = resource.getrlimit(limit)[1]
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (most, most))


def attend(pid: int, out: int, wall_s: float) -> dict[str, Any]:
    """Read what the child tells until it ends or its time is over; return the answer."""
    deadline = time.monotonic() + wall_s
    told, ended = b"", "wall"
    while select.select([out], [], [], max(0.0, deadline - time.monotonic()))[0]:
        chunk = os.read(out, 65536)
        if not chunk:
            ended = "itself"
            break
        told += chunk
    os.close(out)
    if ended == "wall":
        end_session(pid)
    _, status, used = os.wait4(pid, 0)
    if os.WIFSIGNALED(status) and ended == "itself":
        number = os.WTERMSIG(status)
        ended = "cpu" if number in {signal.SIGPROF, signal.SIGXCPU} else f"signal {number}"
    end_session(pid)
    return {"ended": ended, "cpu_s": used.ru_utime + used.ru_stime, "told": told.decode("utf-8", "replace")}


def end_session(pid: int) -> None:
    """End a child and what it has started, as far as that stayed in its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def main() -> None:
    """Serve until stdin ends."""
    config = json.loads(sys.argv[1])
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE.parent]
    if config["as_module"]:
        sys.path.insert(0, ROOT.rstrip(os.sep))
    recorder = Recorder(Requests(config))
    tests = recorder.be_child() if config["cold"] else config["tests"]
    recorder.tell({"status": int(pytest.main([*QUIET, *config["options"], *tests], plugins=[recorder]))})
    os._exit(0)


if __name__ == "__main__":
    main()
