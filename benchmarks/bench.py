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
from confinement import confinement
from floor import AGENT, GATE, run_bare, run_floor
from merge_queue import arguments, merge_queue
from supervision import LINES, supervision
from tracker import tracker

ISSUES = 25
ROUNDS = 3


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


def run_noface(repo: Path, slots: Path) -> float:
    """Return seconds per issue, from the first attempt's start to the last landing, the first issue left out."""
    configure(repo, slots, issues=ISSUES + 1)
    done = subprocess.run(
        [sys.executable, "-m", "noface", "run", "--json"], cwd=repo, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    merged = [e["at"] for e in map(json.loads, done.stdout.splitlines()) if e["event"] == "issue_merged"]
    return (merged[-1] - merged[0]) / ISSUES


def overhead(files: int) -> None:
    ratios, shown = [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_repo(folder / "floor", files)
            make_repo(folder / "noface", files)
            bare = run_bare(folder / "bare", ISSUES)
            floor = run_floor(folder / "floor", folder / "floor-slots", ISSUES) - bare
            noface = run_noface(folder / "noface", folder / "slots") - bare
        ratios.append(noface / floor)
        shown.append(f"{noface * 1000:.0f}/{floor * 1000:.0f} ms")
    print(f"overhead per issue, {files} files: {statistics.median(ratios):.2f}x the floor  ({', '.join(shown)})")


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
        ours = timed([noface, "status"], repo)
        theirs = timed([sys.executable, "-c", "import typer, rich"], repo)
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        print(
            f"status, 1,000 issues and 100,000 events: {ratio:.2f}x `import typer, rich`  "
            f"({statistics.median(ours) * 1000:.0f}/{statistics.median(theirs) * 1000:.0f} ms)"
        )


def timed(argv: list[str], cwd: Path) -> list[float]:
    times = []
    for _ in range(12):
        began = time.perf_counter()
        subprocess.run(argv, cwd=cwd, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - began)
    return times[2:]


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
            "overhead",
            "status",
            "memory",
            "supervision",
            "confinement",
            "tracker",
            "classifier",
            "queue",
        ]
        if "overhead" in chosen:
            overhead(50)
            overhead(5000)
        if "queue" in chosen:
            merge_queue(arguments([]))
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
