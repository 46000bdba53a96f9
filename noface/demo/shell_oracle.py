"""The general oracle: run the accept command as it stands, and read its exit code."""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from noface.demo.outcome import Outcome, Verdict

SECONDS_MAX = 20.0
SECONDS_MIN = 2.0
FACTOR = 5
MESSAGE_CHARS = 4000
_NAMED_LINE = re.compile(r"([\w./-]+\.py)\"?(?::|, line )(\d+)")


class ShellOracle:
    """Runs `command` by `bash -c` in the folder `root`; the whole command counts as one test."""

    def __init__(self, command: str, root: Path) -> None:
        self.command = command
        self._root = root
        self._seconds = SECONDS_MAX

    def run(self, *, trace: bool = False) -> Outcome:
        """Run once. With `trace`, the lines are those that the output names, as tracebacks do."""
        began = time.monotonic()
        status, output = self._execute()
        seconds = time.monotonic() - began
        if self._seconds == SECONDS_MAX:
            self._seconds = min(SECONDS_MAX, max(SECONDS_MIN, FACTOR * seconds))
        verdict = Verdict("passed" if status == 0 else "failed", output[-MESSAGE_CHARS:])
        return Outcome(
            tests={self.command: verdict},
            green=status == 0,
            cpu_s=seconds,
            ended="wall" if status is None else "itself",
            lines={self.command: self._named_lines(output)} if trace else {},
        )

    def close(self) -> None:
        """Nothing outlives a run."""

    def _execute(self) -> tuple[int | None, str]:
        env = {name: value for name, value in os.environ.items() if not name.startswith("NOFACE_")}
        process = subprocess.Popen(
            ["bash", "-c", self.command],
            cwd=self._root,
            env={**env, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=self._seconds)
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            status = None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return status, output.decode("utf-8", "replace")

    def _named_lines(self, output: str) -> dict[str, tuple[int, ...]]:
        found: dict[str, set[int]] = {}
        for name, line in _NAMED_LINE.findall(output):
            file = (self._root / name).resolve()
            if file.is_relative_to(self._root) and file.is_file():
                found.setdefault(file.relative_to(self._root).as_posix(), set()).add(int(line))
        return {path: tuple(sorted(lines)) for path, lines in found.items()}
