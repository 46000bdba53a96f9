"""What `make test` leaves out, each suite's last line together at the end.

`make test-nightly` runs all that needs no network, `make test-agents` what installs from npm and PyPI; SUITES="ways soak" chooses.
A suite that fails does not keep the others from running; the exit code is 1 then.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SEEDS = os.environ.get("SEEDS", "9001-9012")
"""A sample of nights that are drawn by a seed; the thirty that are written down are played by `make nights`."""
NIGHTLY = {
    "thorough": ("-m", "pytest", "-q", "-n", "3", "--dist", "worksteal", "-m", "thorough"),
    "mutants": ("tests/mutants/mutants.py",),
    "ways": ("tests/ways/run.py",),
    "browser": ("tests/browser/run.py", "--if-there"),
    "nights": ("benchmarks/nights/seeds.py", SEEDS, "--players", "noface", "--jobs", "2"),
    "soak": ("tests/soak/soak.py", "--seconds", os.environ.get("SECONDS", "600")),
}
AGENTS = {
    "agents": ("tests/real_agents/run.py",),
    "runners": ("tests/runners/run.py",),
    "ecosystems": ("tests/ecosystems/run.py",),
}
SUITES = {**NIGHTLY, **AGENTS}


def main(chosen: list[str]) -> int:
    """Run the suites, each with its output as it comes, and print how each one ended."""
    unknown = [name for name in chosen if name not in SUITES]
    if unknown or not chosen:
        print(f"no suite is called {', '.join(unknown)}; there are {', '.join(SUITES)}", file=sys.stderr)
        return 2
    ended = {name: _run(name) for name in chosen}
    print()
    for name, (code, seconds, last) in ended.items():
        print(f"  {'passed' if code == 0 else 'FAILED'}  {name:<10}  {seconds:>5.0f} s  {last}")
    return int(any(code for code, _, _ in ended.values()))


def _run(name: str) -> tuple[int, float, str]:
    """Return exit code, seconds and last line of a suite."""
    print(f"\n{name}: python {' '.join(SUITES[name])}", flush=True)
    began, last = time.monotonic(), ""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    argv = [sys.executable, *SUITES[name]]
    with subprocess.Popen(
        argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, errors="replace"
    ) as suite:
        for line in suite.stdout or ():
            print(line, end="", flush=True)
            last = line.strip() or last
    return suite.returncode, time.monotonic() - began, last


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
