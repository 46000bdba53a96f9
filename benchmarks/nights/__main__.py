"""Plays the nights: `python benchmarks/nights [NIGHT …]`; see docs/recovery.md."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nights.catalogue import catalogue
from nights.judge import Judged, Verdict, judge
from nights.play import NOFACE, VARIANTS, play, unplayable

_MARKS = {
    Verdict.RIGHT: ("right", "32"),
    Verdict.SHORT: ("short", "33"),
    Verdict.HARM: ("HARM", "31"),
    Verdict.SKIPPED: ("-", "2"),
}
_WIDTH = 80
_NAME = 34
_CELL = 9


def main() -> int:
    """Play the nights that are wanted; exit code 1 where noface has not got one right that is not marked as todo."""
    nights = catalogue()
    chosen = _arguments(nights)
    wanted = [night for night in nights if not chosen.night or night["name"] in chosen.night]
    variants = VARIANTS if chosen.baselines else VARIANTS[:1]
    folder = Path(tempfile.mkdtemp(prefix="nights-", dir=chosen.folder))
    began = time.monotonic()
    judged: dict[tuple[str, str], Judged] = {}
    with ThreadPoolExecutor(chosen.jobs) as pool:
        plays = {
            pool.submit(_one, night, variant, chosen.seed, folder): (night["name"], variant)
            for night in wanted
            for variant in variants
        }
        for future, key in plays.items():
            judged[key] = future.result()
            _progress(len(judged), len(plays), *key, judged[key])
    seconds = time.monotonic() - began
    if chosen.keep:
        print(f"kept in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    document = _document(wanted, variants, judged, seconds, chosen.seed)
    print(json.dumps(document, indent=1) if chosen.json else "\n".join(_page(document)))
    return 0 if document["ok"] else 1


def _arguments(nights: Iterable[Mapping[str, Any]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="nights", description="Play nights as they happen with noface and two loops.")
    names = [night["name"] for night in nights]
    parser.add_argument("night", nargs="*", choices=[[], *names], help="only these", metavar="NIGHT")
    parser.add_argument("--no-baselines", dest="baselines", action="store_false", help="noface alone")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.add_argument("--seed", type=int, default=1, help="of the dice that flaky tests throw")
    parser.add_argument("--keep", action="store_true", help="keep the repositories, and say where they are")
    parser.add_argument("--folder", help="where they are made; by default the system's folder for such")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="nights at a time")
    parser.add_argument("--list", action="store_true", help="list the nights, and play none")
    chosen = parser.parse_args()
    if chosen.list:
        for night in nights:
            print(f"{night['name']:{_NAME}} {night['what']}")
        sys.exit(0)
    return chosen


def _one(night: Mapping[str, Any], variant: str, seed: int, folder: Path) -> Judged:
    lacking = unplayable(night)
    if lacking:
        return Judged(Verdict.SKIPPED, (), (f"it cannot be played here: {lacking}",), 0)
    began = time.monotonic()
    left = play(night, variant, seed, folder / f"{night['name']}-{variant}")
    return replace(judge(night, left, told=variant == NOFACE), seconds=round(time.monotonic() - began, 1))


def _progress(done: int, of: int, night: str, variant: str, judged: Judged) -> None:
    live = sys.stderr.isatty()
    text = f"{done} of {of}: {night}, {variant}: {judged.verdict}"[: _WIDTH - 1]
    sys.stderr.write(f"\r{text:<{_WIDTH - 1}}" if live else f"{text}\n")
    if live and done == of:
        sys.stderr.write(f"\r{'':{_WIDTH - 1}}\r")
    sys.stderr.flush()


def _document(
    nights: list[dict[str, Any]], variants: Iterable[str], judged: Mapping[tuple[str, str], Judged], seconds: float,
    seed: int,
) -> dict[str, Any]:  # fmt: skip
    rows = []
    for night in nights:
        results = {
            variant: {
                "verdict": one.verdict.value, "calls": one.calls, "seconds": one.seconds, "harm": list(one.harm),
                "short": list(one.short),
            }
            for variant in variants
            for one in [judged[night["name"], variant]]
        }  # fmt: skip
        rows.append({"night": night["name"], "group": night["group"], "what": night["what"],
                     "todo": night.get("todo", ""), "results": results})  # fmt: skip
    totals = {
        variant: {
            verdict.value: sum(row["results"][variant]["verdict"] == verdict for row in rows) for verdict in Verdict
        }
        for variant in variants
    }
    fine = (Verdict.RIGHT, Verdict.SKIPPED)
    ok = all(row["todo"] or row["results"][NOFACE]["verdict"] in fine for row in rows)
    return {"schema": 1, "ok": ok, "seed": seed, "seconds": round(seconds, 1), "nights": rows, "totals": totals}


def _page(document: Mapping[str, Any]) -> Iterable[str]:
    variants = list(document["totals"])
    yield (
        f"{'':{_NAME}}"
        + "".join(f"{variant:>{_CELL}}" for variant in variants)
        + f"  {'agent calls':>{6 * len(variants) - 2}}"
    )
    group = ""
    for row in document["nights"]:
        if row["group"] != group:
            group = row["group"]
            yield _paint(group, "1")
        cells = "".join(_cell(row["results"][variant]["verdict"]) for variant in variants)
        calls = "".join(f"{row['results'][variant]['calls']:>6}" for variant in variants)
        mark = "*" if row["todo"] else " "
        yield f"{mark} {row['night']:{_NAME - 2}}{cells}{calls}"
    for verdict in Verdict:
        if not any(totals[verdict] for totals in document["totals"].values()):
            continue
        counts = "".join(f"{document['totals'][variant][verdict]:>{_CELL}}" for variant in variants)
        yield f"{verdict.value:{_NAME}}{counts}"
    yield f"{len(document['nights'])} nights, seed {document['seed']}, {document['seconds']:.0f} s"
    if any(row["todo"] for row in document["nights"]):
        yield "* is known not to be right yet"
    for row in document["nights"]:
        yield from _troubles(row)


def _troubles(row: Mapping[str, Any]) -> Iterable[str]:
    result = row["results"][NOFACE]
    problems = [*result["harm"], *result["short"]]
    if row["todo"] and not problems:
        yield from _wrapped(f"{row['night']}: is right now; take its todo out ({row['todo']})")
    if problems:
        yield ""
        yield from _wrapped(f"{row['night']}: {row['what']}")
        for problem in (*problems, *([f"todo: {row['todo']}"] if row["todo"] else [])):
            yield from _wrapped(f"- {problem}", "  ")


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=False)


def _cell(verdict: str) -> str:
    text, colour = _MARKS[Verdict(verdict)]
    return " " * (_CELL - len(text)) + _paint(text, colour)


def _paint(text: str, code: str) -> str:
    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return f"\x1b[{code}m{text}\x1b[0m" if colours else text


if __name__ == "__main__":
    sys.exit(main())
