"""noface with a tracker on another machine, in a process of its own: `python -m support.desk_run ARGUMENT ...`.

With NOFACE_TEST_STEP_S a run goes by a fast clock (support/clocked_run).
"""

import os
import subprocess
import sys
from pathlib import Path

from noface.data.trackers import TRACKERS, TrackerEntry

TRACKERS["desk"] = TrackerEntry("a file", "support.desk:open_desk", "support.desk:desk_fingerprint", "", remote=True)

from noface.cli.main import main  # noqa: E402 - what it imports reads the table of trackers

from .desk import PLACE, Desk  # noqa: E402
from .project import Project  # noqa: E402

TABLE = '[tracker]\nkind = "desk"\n[landing]\nfetch = false\n'


def desk_of(project: Project) -> Desk:
    """Return the desk beside a project."""
    return Desk(project.folder / PLACE)


def on_desk(project: Project, *args: str, **env: str) -> "subprocess.Popen[str]":
    """Start noface on a project whose issues lie on a desk."""
    tests = str(Path(__file__).parent.parent)
    process = subprocess.Popen(
        [sys.executable, "-m", "support.desk_run", *args],
        cwd=project.path,
        env=project.environment(PYTHONPATH=tests, **env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    project.started.append(process)
    return process


def run_on_desk(project: Project, *args: str, code: int = 0, **env: str) -> str:
    """Run noface on such a project to its end; what it printed."""
    process = on_desk(project, *args, **env)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == code, f"exit {process.returncode}, not {code}\n{out}"
    return out


def clocked(step_s: str, args: list[str]) -> int:
    """Run noface by a fast clock; return its exit code."""
    from noface.cli.run_session import run_project
    from noface.cli.wiring import RunOptions

    from .clocked_run import FastClock

    here = Path.cwd()
    clock = FastClock(float(step_s), here.parent / "slept", float("inf"))
    return run_project(here, None, RunOptions(once="--once" in args), as_json="--json" in args, clock=clock)


if __name__ == "__main__":
    if step := os.environ.get("NOFACE_TEST_STEP_S"):
        sys.exit(clocked(step, sys.argv[1:]))
    main()
