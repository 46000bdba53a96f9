"""The oracle: whether a candidate passes the tests that the order names.

Two ways to run them. A pytest command runs in a fork server under the command's own interpreter, some 20 ms a run;
anything else runs as it stands by `bash -c` in the scratch copy. Neither judges the project's whole suite: that is
noface's business, and the reason why a patch can pass here and still be kept out.
"""

import contextlib
import json
import os
import selectors
import subprocess
from pathlib import Path
from typing import Any, Protocol

from noface.demo.command import PytestCommand
from noface.demo.outcome import Outcome, Verdict

MEMORY_MB = 1024
START_SECONDS_MAX = 60.0
BASELINE_CPU_S = 5.0
HANGING_CPU_S = 0.5
CPU_S_MIN = 0.3
TRACE_FACTOR = 4
CPU_FACTOR = 8
WALL_FACTOR = 10


class OracleError(Exception):
    """The tests could not be run at all; the message says why."""


class Oracle(Protocol):
    """Something that runs tests on the scratch copy as it is now."""

    def run(self, *, trace: bool = False) -> Outcome:
        """Run; with `trace` the outcome holds the lines that each test ran."""
        ...

    def close(self) -> None:
        """End the processes."""
        ...


class PytestOracle:
    """Runs one pytest command's tests through a fork server in the folder `root`."""

    def __init__(self, command: PytestCommand, root: Path) -> None:
        self.command = command
        self._cpu_s = BASELINE_CPU_S
        self._first = True
        config = {
            "as_module": command.as_module,
            "options": command.options,
            "tests": command.tests,
            "flags": command.flags,
            "cold": False,
        }
        server = str(Path(__file__).with_name("forkserver.py"))
        argv = [*command.launcher, command.python, *command.flags, server, json.dumps(config)]
        try:
            self._server = subprocess.Popen(
                argv, cwd=root, env=_environment(command, root), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as problem:
            raise OracleError(f"cannot start {argv[0]}: {problem.strerror}") from problem
        if not self._answer(START_SECONDS_MAX).get("ready"):
            raise OracleError(f"{command.python} cannot run pytest here (is it installed there?)")

    def run(self, *, trace: bool = False) -> Outcome:
        """Run the command's tests. The first run sets the limit that later ones have: a mutant may loop for ever."""
        outcome = self.run_tests(self.command.tests, self._cpu_s * (TRACE_FACTOR if trace else 1), trace=trace)
        if self._first:
            self._first = False
            own_end = outcome.ended == "itself"
            self._cpu_s = max(CPU_S_MIN, CPU_FACTOR * outcome.cpu_s) if own_end else HANGING_CPU_S
        return outcome

    def run_tests(self, tests: tuple[str, ...], cpu_s: float, *, trace: bool) -> Outcome:
        """Run these tests within a share of processor time."""
        request = {
            "tests": tests,
            "cpu_s": cpu_s,
            "wall_s": cpu_s * WALL_FACTOR,
            "memory_mb": MEMORY_MB,
            "trace": trace,
            "keep_bytecode": self._first,
        }
        if self._server.stdin is None:
            raise OracleError("the test server has no input")
        try:
            self._server.stdin.write(json.dumps(request).encode() + b"\n")
            self._server.stdin.flush()
        except OSError as problem:
            raise OracleError("the test server has ended") from problem
        return _outcome(self._answer(cpu_s * WALL_FACTOR + START_SECONDS_MAX))

    def _answer(self, seconds: float) -> dict[str, Any]:
        stream = self._server.stdout
        if stream is None:
            raise OracleError("the test server has no output")
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            line = stream.readline() if selector.select(seconds) else b""
        if not line:
            self.close()
            raise OracleError(f"{self.command.python} -m pytest did not get as far as running tests")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the server, which ends with its input anyway."""
        self._server.kill()
        for stream in (self._server.stdin, self._server.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._server.wait()


class Several:
    """Several oracles as one: green when all are."""

    def __init__(self, oracles: list[Oracle]) -> None:
        self.oracles = oracles

    def run(self, *, trace: bool = False) -> Outcome:
        """Run all of them."""
        outcomes = [oracle.run(trace=trace) for oracle in self.oracles]
        tests: dict[str, Verdict] = {}
        for outcome in outcomes:
            for name, verdict in outcome.tests.items():
                if name not in tests or tests[name].outcome == "passed":
                    tests[name] = verdict
        return Outcome(
            tests=tests,
            green=all(outcome.green for outcome in outcomes),
            cpu_s=sum(outcome.cpu_s for outcome in outcomes),
            ended=next((o.ended for o in outcomes if o.ended != "itself"), "itself"),
            lines={name: lines for outcome in outcomes for name, lines in outcome.lines.items()},
        )

    def close(self) -> None:
        """End all of them."""
        for oracle in self.oracles:
            oracle.close()


def _environment(command: PytestCommand, root: Path) -> dict[str, str]:
    """Return the worker's environment without what noface tells the worker, plus the command's own assignments."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NOFACE_", "PYTEST_"))}
    env.update(command.env)
    if (root / "src").is_dir():
        env["PYTHONPATH"] = os.pathsep.join([str(root / "src"), *filter(None, [env.get("PYTHONPATH")])])
    return env


def _outcome(answer: dict[str, Any]) -> Outcome:
    """Join the child's lines. Of a test's phases the failing one counts; the last line may be torn."""
    tests: dict[str, Verdict] = {}
    lines: dict[str, dict[str, tuple[int, ...]]] = {}
    status = None
    for line in answer["told"].splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "traced" in record:
            lines[record["traced"]] = {path: tuple(numbers) for path, numbers in record["lines"].items()}
        elif "test" in record:
            name = record.pop("test")
            if name not in tests or tests[name].outcome in {"passed", "unfinished"}:
                tests[name] = Verdict(**record)
        else:
            status = record["status"]
    return Outcome(tests, green=status == 0, cpu_s=answer["cpu_s"], ended=answer["ended"], lines=lines)
