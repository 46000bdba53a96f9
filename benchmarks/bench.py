"""`make bench`: noface's own costs as ratios against a floor measured in the same run. Absolute times mean little."""

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from board import board
from confinement import confinement
from floor import AGENT, GATE, run_bare, run_floor
from hosts import hosts
from large import large
from merge_queue import arguments, merge_queue
from supervision import LINES, supervision
from tracker import tracker

from noface.process.sandbox import find_bubblewrap

SIZES = {50: 25, 5_000: 12, 50_000: 4}
"""How many issues are measured in a repository of so many files."""
ROUNDS = 3
STARTS = 5
TURNS = 22


def make_repo(path: Path, files: int) -> None:
    path.mkdir(parents=True)
    for number in range(files):
        file = path / f"d{number % 50}" / f"f{number}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"file {number}\n" * 10)
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for args in (("init", "-q", "-b", "main"), ("add", "-A"), (*identity, "commit", "-qm", "start")):
        subprocess.run(["git", *args], cwd=path, check=True)
    subprocess.run(["git", "config", "gc.auto", "0"], cwd=path, check=True)
    os.sync()  # what is measured syncs as well, and would write these files out, too


def configure(
    repo: Path, slots: Path, *, issues: int, workers: int = 1, command: str = AGENT, sandbox: str = "none"
) -> None:
    (repo / "noface.toml").write_text(
        f'[[gates]]\nname = "g"\ncommand = "{GATE}"\n[models.m]\nagent = "command"\ncommand = {json.dumps(command)}\n'
        f'[retry]\ndefault_model = "m"\n[run]\nworkers = {workers}\nslots_dir = "{slots}"\n'
        f'[sandbox]\nkind = "{sandbox}"\n'
    )
    (repo / "issues").mkdir(exist_ok=True)
    for number in range(1, issues + 1):
        (repo / "issues" / f"{number}-x.md").write_text(f"# Issue {number}\n\nDo it.\n")


def run_noface(repo: Path, slots: Path, issues: int, sandbox: str = "none") -> float:
    """Return seconds per issue, from landing to landing: the first issue, which warms the workspaces up, is left out."""
    configure(repo, slots, issues=issues + 1, sandbox=sandbox)
    done = subprocess.run(
        [sys.executable, "-m", "noface", "run", "--json"], cwd=repo, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    merged = [e["at"] for e in map(json.loads, done.stdout.splitlines()) if e["event"] == "issue_merged"]
    return (merged[-1] - merged[0]) / issues


def overhead(files: int) -> None:
    """Print what an issue costs beside the floor, and how much more it costs in a sandbox; the rounds are interleaved."""
    kinds, issues = ["none", *(["bubblewrap"] if find_bubblewrap(shutil.which("bwrap")).works else [])], SIZES[files]
    floors: list[float] = []
    taken: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_repo(folder / "floor", files)
            bare = run_bare(folder / "bare", issues)
            floors.append(run_floor(folder / "floor", folder / "floor-slots", issues) - bare)
            for kind in kinds:
                make_repo(folder / kind, files)
                taken[kind].append(run_noface(folder / kind, folder / f"slots-{kind}", issues, kind) - bare)
    ratio = statistics.median(own / floor for own, floor in zip(taken["none"], floors, strict=True))
    shown = ", ".join(f"{own * 1000:.0f}/{floor * 1000:.0f}" for own, floor in zip(taken["none"], floors, strict=True))
    print(f"overhead per issue, {files} files: {ratio:.2f}x the floor (aim: 2)  ({shown} ms)")
    if len(kinds) > 1:
        more = [boxed - own for boxed, own in zip(taken["bubblewrap"], taken["none"], strict=True)]
        shown = ", ".join(f"{each * 1000:.0f}" for each in more)
        print(f"  in the sandbox: {statistics.median(more) * 1000:.0f} ms more (aim: 30)  ({shown} ms)")
    else:
        print("  in the sandbox: not measured, bubblewrap does not work here")


def first_agent(files: int) -> None:
    """Print how long `noface run` takes to its first agent, by the clock that this one reads, in a new clone each time."""
    seconds = []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as name:
            repo = Path(name) / "repo"
            make_repo(repo, files)
            configure(repo, Path(name) / "slots", issues=1, command="date +%s.%N > began.txt")
            began = time.time()
            subprocess.run([sys.executable, "-m", "noface", "run"], cwd=repo, capture_output=True, check=True)
            seconds.append(float((repo / "began.txt").read_text()) - began)
    shown = ", ".join(f"{each:.2f}" for each in seconds)
    print(f"`noface run` to its first agent, {files} files: {statistics.median(seconds):.2f} s (aim: 1)  ({shown} s)")


def status() -> None:
    with tempfile.TemporaryDirectory() as name:
        repo = Path(name) / "repo"
        make_repo(repo, 10)
        configure(repo, Path(name) / "slots", issues=1000)
        subprocess.run(
            [sys.executable, "-m", "noface", "run", "--max-iterations", "0"], cwd=repo, capture_output=True, check=False
        )
        database = sqlite3.connect(repo / ".git" / "noface" / "state.db")
        rows = ((time.time(), "r", "progress", str(n % 1000 + 1), "{}") for n in range(100_000))
        database.executemany("INSERT INTO events (at, run_id, kind, issue_id, data) VALUES (?, ?, ?, ?, ?)", rows)
        database.commit()
        database.close()
        noface = str(Path(sys.executable).with_name("noface"))
        ours, theirs = timed(repo, [noface, "status"], [sys.executable, "-c", "import typer, rich"])
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        print(
            f"status, 1,000 issues and 100,000 events: {ratio:.2f}x `import typer, rich` (aim: 1.5)  "
            f"({statistics.median(ours) * 1000:.0f}/{statistics.median(theirs) * 1000:.0f} ms)"
        )


def timed(cwd: Path, *commands: list[str]) -> list[list[float]]:
    """Return the seconds that each command took, run in turns; the first two turns do not count."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(TURNS):
        for argv, taken in zip(commands, times, strict=True):
            began = time.perf_counter()
            subprocess.run(argv, cwd=cwd, stdout=subprocess.DEVNULL, check=True)
            taken.append(time.perf_counter() - began)
    return [taken[2:] for taken in times]


def memory(workers: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        repo = Path(name) / "repo"
        make_repo(repo, 50)
        configure(
            repo, Path(name) / "slots", issues=workers, workers=workers, command="sleep 2; echo > x-$NOFACE_ISSUE_ID"
        )
        running = subprocess.Popen([sys.executable, "-m", "noface", "run"], cwd=repo, stdout=subprocess.DEVNULL)
        noface_peak = supervisors_peak = 0
        process = psutil.Process(running.pid)
        while running.poll() is None:
            try:
                own = process.memory_info().rss
                children = [c for c in process.children(recursive=True) if "fork_server" in " ".join(c.cmdline())]
                others = sum(child.memory_full_info().pss for child in children)
            except psutil.Error:
                continue
            noface_peak, supervisors_peak = max(noface_peak, own), max(supervisors_peak, others)
            time.sleep(0.02)
    print(
        f"peak memory, {workers} workers: noface {noface_peak / 1e6:.0f} MB, "
        f"its {workers} supervisors together {supervisors_peak / 1e6:.0f} MB (aim: 60 MB + 10 MB a worker)"
    )


def classifier() -> None:
    score = Path(__file__).parents[1] / "tests" / "support" / "corpus_score.py"
    subprocess.run([sys.executable, str(score)], check=True)


if __name__ == "__main__":
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
    try:
        chosen = sys.argv[1:] or [
            *(f"overhead-{files}" for files in SIZES),
            "start",
            "status",
            "memory",
            "supervision",
            "confinement",
            "tracker",
            "classifier",
            "queue",
            "large",
            "hosts",
            "board",
        ]
        for files in SIZES:
            if f"overhead-{files}" in chosen:
                overhead(files)
        if "start" in chosen:
            first_agent(5_000)
        if "queue" in chosen:
            merge_queue(arguments([]))
        if "large" in chosen:
            large((100, 2_000, 20_000), 20_000, 1_000_000, 2_000)
        if "hosts" in chosen:
            hosts()
        if "board" in chosen:
            board(2_000, 3)
        if "status" in chosen:
            status()
        if "memory" in chosen:
            memory(8)
        if "supervision" in chosen:
            for agent in LINES:
                supervision(agent)
        if "confinement" in chosen:
            confinement()
        if "tracker" in chosen:
            tracker()
        if "classifier" in chosen:
            classifier()
    finally:
        shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)
