"""Run pytest many times cheaply: import it once, then fork a child for every request.

A script of its own, because it must run under the interpreter that the project's accept command names, which may
be another one than noface's: it needs nothing but the standard library and pytest. It is started in the top folder
of a scratch copy of the project as `python forkserver.py CONFIG`, where CONFIG is JSON:

    {"as_module": true, "options": ["-k", "word"], "tests": ["tests/test_x.py"], "cold": false}

Then each line on stdin is a request and each line on stdout its answer:

    {"tests": [...], "cpu_s": 0.5, "wall_s": 5.0, "memory_mb": 1024, "trace": false, "keep_bytecode": false}
    {"status": 1, "ended": "itself", "cpu_s": 0.03, "tests": {id: {"outcome", "message", "line"}}, "lines": {...}}

`status` is pytest's exit status, null where the run did not come to its own end; "ended" then says cpu, wall or the
signal. The fork happens inside pytest's `pytest_collection` hook: configuration, plugins and conftest files are
loaded by then, the code under repair is not. Where a conftest or plugin has imported it already, children would
test the old code; then the server starts itself again "cold" and forks before pytest, slower and always right.
"""

import contextlib
import json
import os
import resource
import select
import signal
import sys
import threading
import time

import pytest

ROOT = os.path.realpath(os.getcwd()) + os.sep
QUIET = ["--capture=no", "--tb=native", "-p", "no:cacheprovider"]
MESSAGE_CHARS_MAX = 300
FILE_BYTES_MAX = 64 * 2**20


class Recorder:
    """The pytest plugin: serves requests when warm, and in a child tells of each test as it ends.

    One JSON line a test, so that a run that is cut short leaves what it had.
    """

    def __init__(self, requests):
        self.requests = requests
        self.request = None
        self.out = None
        self.lines = {}
        self.running = ""

    def be_child(self):
        """Serve; return only in a child, ready to answer its request."""
        self.request, self.out = self.requests.serve()
        sys.dont_write_bytecode = not self.request["keep_bytecode"]
        confine(self.request, self.out_of_time)
        return self.request["tests"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session):
        if self.out is None:
            if any(is_project_code(m) for m in list(sys.modules.values())):
                self.requests.restart_cold()
            session.config.args = self.be_child()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.tell({"test": item.nodeid, "outcome": "unfinished", "message": "it did not end", "line": 0})
        self.running = item.nodeid
        if not self.request["trace"]:
            yield
            return
        self.lines = {}
        sys.settrace(self.enter)
        threading.settrace(self.enter)
        yield
        self.end_trace()

    def end_trace(self):
        """Stop tracing and tell the lines of the test that ran."""
        sys.settrace(None)
        threading.settrace(None)
        self.tell({"traced": self.running, "lines": {name: sorted(seen) for name, seen in self.lines.items()}})

    def out_of_time(self, _signal, _frame):
        """End the child; a test that loops for ever still tells where."""
        if self.request["trace"] and self.lines:
            self.end_trace()
        self.tell({"ended": "cpu"})
        os._exit(0)

    def enter(self, frame, _event, _arg):
        """Follow frames of the project's own files, noting their lines; the `def` line stands for the call."""
        path = frame.f_code.co_filename
        if not path.startswith(ROOT):
            return None
        seen = self.lines.setdefault(path[len(ROOT) :], set())
        seen.add(frame.f_code.co_firstlineno)

        def step(frame, event, _arg):
            if event == "line":
                seen.add(frame.f_lineno)
            return step

        return step

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        result = yield
        report = result.get_result()
        if report.when == "call" or report.outcome != "passed":
            told = failure_of(str(item.fspath), call)
            self.tell({"test": item.nodeid, "outcome": report.outcome, **told})

    def pytest_collectreport(self, report):
        if report.failed:
            told = {"outcome": "error", "message": str(report.longrepr)[-MESSAGE_CHARS_MAX:], "line": 0}
            self.tell({"test": report.nodeid or ".", **told})

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus):
        self.tell({"status": int(exitstatus)})
        self.out.close()
        os._exit(0)

    def tell(self, record):
        """Send one line to the parent."""
        self.out.write(json.dumps(record) + "\n")
        self.out.flush()


def is_project_code(module):
    """True for a module of the project that is not a conftest: it must not be loaded before the fork."""
    path = getattr(module, "__file__", None) or ""
    inside = os.path.realpath(path).startswith(ROOT) if path else False
    return inside and os.path.basename(path) not in ("conftest.py", os.path.basename(__file__))


def failure_of(test_path, call):
    """What failed, and the deepest line of the test's own file on the way there: how far the test got."""
    if call.excinfo is None:
        return {"message": "", "line": 0}
    steps = [entry.lineno + 1 for entry in call.excinfo.traceback if str(entry.path) == test_path]
    message = "{}: {}".format(call.excinfo.typename, call.excinfo.value)
    return {"message": message[:MESSAGE_CHARS_MAX], "line": steps[-1] if steps else 0}


class Requests:
    """Reads requests, forks for each, attends the child, answers."""

    def __init__(self, config):
        self.config = config
        self.source = os.fdopen(os.dup(0), "r")
        self.answers = os.fdopen(os.dup(1), "w")
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)

    def serve(self):
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

    def answer(self, record):
        """Send one line to the worker."""
        self.answers.write(json.dumps(record) + "\n")
        self.answers.flush()

    def restart_cold(self):
        """Become a server that forks before pytest starts; nothing has been asked of this one yet."""
        os.dup2(self.source.fileno(), 0)
        os.dup2(self.answers.fileno(), 1)
        flags = list(self.config["flags"])
        os.execv(sys.executable, [sys.executable, *flags, __file__, json.dumps({**self.config, "cold": True})])


def confine(request, out_of_time):
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
    with contextlib.suppress(OSError), open("/proc/self/statm") as statm:
        in_use = int(statm.read().split()[0]) * resource.getpagesize()
        lower(resource.RLIMIT_AS, in_use + request["memory_mb"] * 2**20)


def lower(limit, value):
    """Set a soft and hard limit, never above the hard one in force."""
    _, hard = resource.getrlimit(limit)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))


def attend(pid, out, wall_s):
    """Read what the child tells until it ends or its time is over; return the answer."""
    deadline = time.monotonic() + wall_s
    told = b""
    ended = "itself"
    while True:
        ready, _, _ = select.select([out], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            ended = "wall"
            break
        chunk = os.read(out, 65536)
        if not chunk:
            break
        told += chunk
    os.close(out)
    if ended == "wall":
        end_session(pid)
    _, wait_status, used = os.wait4(pid, 0)
    if os.WIFSIGNALED(wait_status) and ended == "itself":
        ended = "signal {}".format(os.WTERMSIG(wait_status))
    end_session(pid)
    return {"ended": ended, "cpu_s": used.ru_utime + used.ru_stime, **gather(told)}


def end_session(pid):
    """End a child and what it has started, as far as that stayed in its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def gather(told):
    """Join the child's lines; of a test's phases the failing one counts, and the last line may be torn."""
    answer = {"status": None, "tests": {}, "lines": {}}
    for line in told.decode("utf-8", "replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "status" in record or "ended" in record:
            answer.update(record)
        elif "traced" in record:
            answer["lines"][record["traced"]] = record["lines"]
        else:
            name = record.pop("test")
            if name not in answer["tests"] or answer["tests"][name]["outcome"] in ("passed", "unfinished"):
                answer["tests"][name] = record
    return answer


def main():
    """Serve until stdin ends."""
    config = json.loads(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    if config["as_module"]:
        sys.path.insert(0, os.getcwd())
    recorder = Recorder(Requests(config))
    if config["cold"]:
        tests = recorder.be_child()
    else:
        tests = config["tests"]
    status = pytest.main([*QUIET, *config["options"], *tests], plugins=[recorder])
    if recorder.out is not None:
        recorder.tell({"status": int(status)})
    os._exit(0)


if __name__ == "__main__":
    main()
