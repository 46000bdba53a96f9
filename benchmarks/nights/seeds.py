"""Plays generated nights: `python benchmarks/nights/seeds.py 1-300`; see docs/recovery.md."""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nights.generate import generate
from nights.judge import Left, judge
from nights.play import NOFACE, ORACLES, VARIANTS, play, unplayable

_WIDTH = 80
FAULTS = ("harm", "lost", "needless", "other")
"""What can be wrong: what must not be on main or is gone; right work that did not land; right work for which a person is
asked; and what is neither: rubbish, a reason that is not told, a cost above the bound, a run that did not end."""


def outcome(night: Mapping[str, Any], left: Left, player: str) -> dict[str, Any]:
    """Return what is wrong with a played night, by kind. Pure. A loop is not held to what it tells or costs."""
    told = player == NOFACE
    judged = judge(night, left, told=told)
    shown = {call["issue"] for call in left.calls if call.get("truth") == "right"}
    wrong: dict[str, list[str]] = {kind: [] for kind in FAULTS}
    wrong["harm"] = list(judged.harm)
    for text in judged.short:
        missing = re.match(r"issue (\w+) is not on main", text)
        asked = missing and left.issues.get(missing[1], {}).get("status") in ("blocked", "approval")
        kind = "needless" if missing and asked and missing[1] in shown else "lost" if missing else "other"
        wrong[kind].append(text)
    if told:
        wrong["other"] += [
            f"run {n} printed a traceback" for n, text in enumerate(left.outputs, 1) if "Traceback" in text
        ]
    _shown(night, left, wrong)
    unseen = [name for name in night["expect"]["unseen"] if left.merged(name)]
    return {"right": not any(wrong.values()), **wrong, "unseen": unseen, "calls": len(left.calls)}


def _shown(night: Mapping[str, Any], left: Left, wrong: dict[str, list[str]]) -> None:
    """Add what is wrong with the issues of an agent that tells itself, call by call, what it has left."""
    for name in (one["id"] for one in night.get("issue", ()) if one["truth"] == "shown"):
        told = [call["truth"] for call in left.calls if call["issue"] == name and call["kind"] == "work"]
        row = left.issues.get(name, {})
        if left.merged(name) and not ({"right", "free", "unseen"} & set(told)):
            wrong["harm"].append(f"issue {name} landed, of which its agent says: {', '.join(told)}")
        elif left.merged(name) and not left.landed[name] and "unseen" not in told:
            wrong["harm"].append(f"issue {name} landed, and main does not do what it asks: {', '.join(told)}")
        elif not left.landed[name] and "right" in told:
            kind = "needless" if row.get("status") in ("blocked", "approval") else "lost"
            wrong[kind].append(f"issue {name} is not on main, though its agent says: {', '.join(told)} ({row})")


def _one(seed: int, player: str, folder: Path, *, keep: str = "", program: str = "") -> dict[str, Any]:
    night = generate(seed, program)
    row = {"seed": seed, "player": player, "parts": night["parts"], "what": night["what"]}
    lacking = unplayable(night)
    if lacking:
        return {**row, "skipped": lacking}
    began = time.monotonic()
    place = folder / f"{seed}-{player}"
    result = outcome(night, play(night, player, seed, place), player)
    if not keep or (keep == "missed" and result["right"]):
        shutil.rmtree(place, ignore_errors=True)
    return {**row, **result, "seconds": round(time.monotonic() - began, 1)}


def main() -> int:
    """Play the nights of the seeds that are wanted; exit code 1 if noface did harm in one."""
    chosen = _arguments()
    players = chosen.players.split(",")
    folder = Path(tempfile.mkdtemp(prefix="nights-", dir=chosen.folder))
    began, rows = time.monotonic(), []
    with ThreadPoolExecutor(chosen.jobs) as pool:
        plays = [
            pool.submit(_one, seed, player, folder, keep=chosen.keep, program=chosen.agent or "")
            for seed in chosen.seeds
            for player in players
        ]
        for future in as_completed(plays):
            rows.append(future.result())
            _progress(len(rows), len(plays), rows[-1])
            if chosen.log:
                with chosen.log.open("a") as log:
                    log.write(json.dumps(rows[-1]) + "\n")
    if chosen.keep:
        print(f"kept in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    rows.sort(key=lambda row: (row["seed"], players.index(row["player"])))
    print(json.dumps(rows, indent=1) if chosen.json else "\n".join(page(rows, players, time.monotonic() - began)))
    return 1 if any(row.get("harm") for row in rows if row["player"] == NOFACE) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="seeds", description="Play generated nights with noface and two loops.")
    parser.add_argument("seeds", type=seeds, help="such as 1-300, or 5,9,12-20")
    parser.add_argument("--players", default=",".join(VARIANTS), help=f"of {', '.join((*VARIANTS, *ORACLES))}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="nights at a time")
    parser.add_argument("--json", action="store_true", help="the results as JSON")
    parser.add_argument("--log", type=Path, help="a file to which each result is added at once, as JSON")
    parser.add_argument(
        "--keep",
        nargs="?",
        const="all",
        default="",
        choices=("all", "missed"),
        help="keep repositories and noface's state, of all or of what was not right, and say where",
    )
    parser.add_argument("--folder", help="where they are made; by default the system's folder for such")
    parser.add_argument("--agent", type=_program, help="a program that is the agent, in the place of habits")
    parser.add_argument("--show", action="store_true", help="print the nights as JSON, and play none")
    chosen = parser.parse_args()
    if chosen.show:
        print(json.dumps([generate(seed, chosen.agent or "") for seed in chosen.seeds], indent=1))
        sys.exit(0)
    return chosen


def _program(text: str) -> str:
    path = Path(text).resolve()
    if not path.is_file():
        raise argparse.ArgumentTypeError(
            f"{text} is no file: a Python program is wanted, see benchmarks/nights/strangers"
        )
    return str(path)


def seeds(text: str) -> list[int]:
    """Return the seeds of a text such as "1-300" or "5,9,12-20"."""
    ranges = [part.partition("-") for part in text.split(",")]
    return [seed for first, _, last in ranges for seed in range(int(first), int(last or first) + 1)]


def _progress(done: int, of: int, row: Mapping[str, Any]) -> None:
    said = (
        "skipped" if "skipped" in row else "right" if row["right"] else ", ".join(kind for kind in FAULTS if row[kind])
    )
    text = f"{done} of {of}: seed {row['seed']}, {row['player']}: {said}, {row.get('seconds', 0):.0f} s"
    live = sys.stderr.isatty()
    sys.stderr.write(f"\r{text[: _WIDTH - 1]:<{_WIDTH - 1}}" if live else f"{text}\n")
    if live and done == of:
        sys.stderr.write(f"\r{'':{_WIDTH - 1}}\r")
    sys.stderr.flush()


def page(rows: Iterable[Mapping[str, Any]], players: Iterable[str], seconds: float) -> Iterator[str]:
    """Yield the lines of the table, of the parts in which noface missed something, and of its misses."""
    played = [row for row in rows if "skipped" not in row]
    yield f"{'':12}{'right':>8}{'harm':>8}{'lost':>8}{'needless':>10}{'other':>8}{'unseen':>8}{'calls':>8}{'':2}"
    for player in players:
        own = [row for row in played if row["player"] == player]
        counts = [sum(bool(row[kind]) for row in own) for kind in (*FAULTS, "unseen")]
        right = sum(row["right"] for row in own)
        yield (
            f"{player:12}{right:>8}{counts[0]:>8}{counts[1]:>8}{counts[2]:>10}{counts[3]:>8}{counts[4]:>8}"
            f"{sum(row['calls'] for row in own):>8}"
        )
    skipped = len({row["seed"] for row in rows if "skipped" in row})
    nights = len({row["seed"] for row in played})
    yield f"{nights} nights{f', {skipped} that cannot be played here' if skipped else ''}, {seconds:.0f} s"
    yield from _parts([row for row in played if row["player"] == NOFACE])
    for row in played:
        if row["player"] == NOFACE and not row["right"]:
            yield ""
            yield from _wrapped(f"seed {row['seed']}: {row['what']}")
            for kind in FAULTS:
                for text in row[kind]:
                    yield from _wrapped(f"- {kind}: {text}", "  ")


def _parts(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what was in nights that were not right, most often first: of how many nights, how many were not."""
    seen, missed = Counter[str](), Counter[str]()
    for row in rows:
        names = [f"{kind}: {name}" for kind, names in row["parts"].items() for name in names]
        seen.update(names)
        missed.update([] if row["right"] else names)
    if missed:
        yield ""
        yield f"{'in nights that noface did not get right':50}{'missed':>8}{'played':>8}"
    for name, number in sorted(missed.items(), key=lambda item: (-item[1] / seen[item[0]], item[0])):
        yield f"  {name:48}{number:>8}{seen[name]:>8}"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=False)


if __name__ == "__main__":
    sys.exit(main())
