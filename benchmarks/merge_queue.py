"""The merge queue against one gate after another, with real runs: what lands, and how long that takes.

Gates and agents sleep, so that slots are not bound by the machine's cores. A few issues break each other: each passes
alone, and the second of a pair is red beside the first.

    .venv/bin/python benchmarks/merge_queue.py [--red 0.05] [--issues 48] [--workers 16] [--gate 3] [--agent 5] [--runs 1]

Of several runs the median counts.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def make_backlog(repo: Path, given: argparse.Namespace) -> None:
    """Make a repository with its issues: as many pairs break each other as make `red` of the candidates red."""
    dice = random.Random(1)
    chosen = dice.sample(range(1, given.issues + 1), 2 * round(given.red * given.issues))
    pairs = [chosen[place : place + 2] for place in range(0, len(chosen), 2)]
    red = " || ".join(f"{{ test -e x-{one} && test -e x-{other}; }}" for one, other in pairs) or "false"
    command, gate = f"sleep {given.agent}; echo > x-$NOFACE_ISSUE_ID", f"sleep {given.gate}; ! {{ {red}; }}"
    (repo / "issues").mkdir(parents=True)
    (repo / "noface.toml").write_text(
        f'[[gates]]\nname = "g"\ncommand = {json.dumps(gate)}\n[models.m]\nagent = "command"\n'
        f'command = {json.dumps(command)}\n[retry]\ndefault_model = "m"\nmax_total_attempts = 1\n[sandbox]\nkind = "none"\n'
        f'[run]\nworkers = {given.workers}\nslots_dir = "{repo.parent / "slots"}"\n'
    )
    for number in range(1, given.issues + 1):
        (repo / "issues" / f"{number}-x.md").write_text(f"# Issue {number}\n\nDo it.\n")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for args in (("init", "-q", "-b", "main"), ("add", "-A"), (*identity, "commit", "-qm", "start")):
        subprocess.run(["git", *args], cwd=repo, check=True)


def landed(given: argparse.Namespace) -> tuple[int, float]:
    """Return how many landed, and the seconds from the start of the first attempt to the last landing."""
    with tempfile.TemporaryDirectory() as name:
        repo = Path(name) / "repo"
        make_backlog(repo, given)
        run = [sys.executable, "-m", "noface", "run", "--json"]
        done = subprocess.run(run, cwd=repo, capture_output=True, text=True, check=False)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        merged = [event["at"] for event in events if event["event"] == "issue_merged"]
        began = min(event["at"] for event in events if event["event"] == "attempt_started")
    return len(merged), max(merged) - began


def merge_queue(given: argparse.Namespace) -> None:
    """Print how fast the queue lands, as ratio to one gate after another."""
    rates = []
    for _ in range(given.runs):
        number, seconds = landed(given)
        rates.append(number / seconds)
        print(f"{given.red:.0%} red: {number} landed in {seconds:.0f} s", flush=True)
    print(f"the merge queue: {statistics.median(rates) * given.gate:.2f}x of one gate after another")
    print(f"the workers themselves pass at most {given.workers / (given.gate + given.agent) * given.gate:.1f}x")


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("red", 0.05), ("gate", 3.0), ("agent", 5.0)):
        parser.add_argument(f"--{name}", type=float, default=default)
    for name, default in (("issues", 48), ("workers", 16), ("runs", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args(words)


if __name__ == "__main__":
    merge_queue(arguments(sys.argv[1:]))
