"""A run of noface in a process of its own whose clock goes fast: what it waits for hours takes a moment.

`python -m support.clocked_run STEP_S [argument of noface run ...]`: each sleep of the run takes STEP_S seconds of its
time. How many seconds it has slept so far stands in the file `slept` beside the repository, where workers can read it:
a provider that is away for forty minutes is a worker that fails until 2400 stand there. A larger number that one writes
there is the time from then on. With NOFACE_TEST_KILL_AT the process kills itself once it has slept so long.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from noface.cli.run_session import run_project
from noface.cli.wiring import RunOptions
from noface.process.clock import Clock

from .project import Project


class FastClock(Clock):
    """A clock on which a sleep takes at least a step, and no time of the machine."""

    def __init__(self, step_s: float, file: Path, kill_at: float) -> None:
        self._step_s = step_s
        self._file = file
        self._kill_at = kill_at
        self._slept = float(file.read_text()) if file.exists() else 0.0
        self._file.write_text(f"{self._slept:.0f}")

    def now(self) -> float:
        self._slept = max(self._slept, float(self._file.read_text() or 0))
        return time.time() + self._slept

    def monotonic(self) -> float:
        return time.monotonic() + self._slept

    def sleep(self, seconds: float) -> None:
        self._slept += max(seconds, self._step_s)
        self._file.write_text(f"{self._slept:.0f}")
        if self._slept >= self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


def clocked(project: Project, *args: str, step_s: float = 5.0, **env: str) -> subprocess.CompletedProcess[str]:
    """Run noface on a project with a fast clock."""
    tests = str(Path(__file__).parent.parent)
    return subprocess.run(
        [sys.executable, "-m", "support.clocked_run", str(step_s), *args],
        cwd=project.path,
        env=project.environment(PYTHONPATH=tests, **env),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=180,
        check=False,
    )


def main(step_s: str, *args: str) -> int:
    """Run noface where the process is; return its exit code."""
    here = Path.cwd()
    kill_at = float(os.environ.get("NOFACE_TEST_KILL_AT", "inf"))
    clock = FastClock(float(step_s), here.parent / "slept", kill_at)
    options = RunOptions(once="--once" in args)
    return run_project(here, None, options, as_json="--json" in args, clock=clock)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
