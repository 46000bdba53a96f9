"""The board beside a running night: how soon it answers with 2,000 issues, and what it takes from the run.

`python benchmarks/board.py [--issues 2000 --rounds 3]`. A run works through issues that take a gate each, with a page open
and without one, interleaved; the page is what a browser does with one: the stream of events, and the page fetched again
whenever one comes, and that of an issue now and then.
"""

import argparse
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import httpx2 as httpx
import psutil
from large import NOFACE, configure, make
from support.board import start_board

WORKED = 12
PAGES = 20
WORKER = "sleep 0.3; echo x > made-$NOFACE_ISSUE_ID.txt"


class Browser(threading.Thread):
    """A page of the board that stays open."""

    def __init__(self, client: httpx.Client) -> None:
        super().__init__(daemon=True)
        self.client, self.over, self.taken = client, threading.Event(), []

    def run(self) -> None:
        with suppress(httpx.RemoteProtocolError), self.client.stream("GET", "events", timeout=None) as events:
            for line in events.iter_lines():
                if self.over.is_set():
                    return
                if line.startswith("data:"):
                    self.look("")
                    if len(self.taken) % 4 == 0:
                        self.look("issue?id=14")

    def look(self, path: str) -> None:
        began = time.perf_counter()
        assert self.client.get(path).status_code == 200
        self.taken.append(time.perf_counter() - began)


def board(issues: int, rounds: int) -> None:
    """Print how soon the board answers, and how long a run takes with a page open as a ratio to one without."""
    with tempfile.TemporaryDirectory() as name:
        repo = make(Path(name), issues, 20_000, 400)
        configure(repo, Path(name) / "slots", WORKER, workers=2)
        free = [number for number in range(450, issues) if number % 5 == 0]  # those that wait for no other
        seen = start_board(repo, dict(os.environ))
        alone, beside, taken = [], [], []
        try:
            person = seen.enter()
            used = {path: processor_of(seen.process.pid, person, path) for path in ("", "issue?id=14")}
            for _ in range(rounds):
                for kind, times in (("alone", alone), ("beside", beside)):
                    page = Browser(seen.enter(seen.new_address())) if kind == "beside" else None
                    if page is not None:
                        page.start()
                    chosen = [free.pop(0) for _ in range(WORKED)]
                    times.append(run_of(repo, chosen))
                    if page is not None:
                        page.over.set()
                        taken += page.taken
        finally:
            seen.end()
        with closing(sqlite3.connect(repo / ".git" / "noface" / "state.db")) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    ratio = statistics.median(b / a for a, b in zip(alone, beside, strict=True))
    taken.sort()
    pages = f"{used['']:.0f} ms of the processor for the board, {used['issue?id=14']:.0f} for an issue"
    print(
        f"the board with {issues:,} issues: {pages}; beside a run {len(taken)} pages, median {statistics.median(taken) * 1000:.0f} "
        f"ms, 95 % within {taken[int(len(taken) * 0.95)] * 1000:.0f} ms; a run of {WORKED} issues takes {ratio:.2f}x with a page open "
        f"({rounds} interleaved pairs: {', '.join(f'{b:.1f}/{a:.1f}' for a, b in zip(alone, beside, strict=True))} s)"
    )


def processor_of(pid: int, person: httpx.Client, path: str) -> float:
    """Return the milliseconds of the processor that a page takes; the first one, which reads templates, is left out."""
    person.get(path)
    before = sum(psutil.Process(pid).cpu_times()[:2])
    for _ in range(PAGES):
        assert person.get(path).status_code == 200
    return (sum(psutil.Process(pid).cpu_times()[:2]) - before) / PAGES * 1000


def run_of(repo: Path, chosen: list[int]) -> float:
    """Return the seconds that a run takes for some issues."""
    which = [word for number in chosen for word in ("--issue", str(number))]
    began = time.perf_counter()
    done = subprocess.run([NOFACE, "run", *which], cwd=repo, capture_output=True, text=True, check=False)
    assert f"{WORKED} issues, {WORKED} attempts" in done.stdout, done.stdout[-2000:] + done.stderr
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--issues", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
    try:
        board(chosen.issues, chosen.rounds)
    finally:
        shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)


if __name__ == "__main__":
    main()
