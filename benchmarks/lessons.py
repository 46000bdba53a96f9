"""Replays this repository's history to see whether the lessons that noface keeps would have told the worker anything.

Each small commit that changes code and tests is a failure and its mend: the tests of the commit are run on the code
before it, noface names the failure, and the commit's change of the code is what mended it. In the order of the history
each failure looks lessons up and then teaches its own, once by the rule (`knowledge.lessons.fits`) and once by words
alone, whatever part of the project they come from. A lesson is worth reading if its lines name what the mend needs and
the failure's own output does not show: `told` is the share of such identifiers that the lessons quoted name. `any` is
the same for all earlier lessons, one at a time: what a lesson picked blindly tells. Prints one JSON document.

    .venv/bin/python benchmarks/lessons.py [--commits N]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.gate import classify
from noface.knowledge.fixes import LINES_MAX, Fix, fix_of, in_workers_hands, parts_of
from noface.knowledge.lessons import Lesson, alike, failed_before, fits, lesson_of
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.taxonomy import PASSED

ROOT = Path(__file__).resolve().parents[1]
TESTS_MAX, LIMIT_S = 3, 180
ALIKE_MIN = 0.3
QUOTED_MAX = 3
IDENTIFIER = re.compile(r"[A-Za-z_]\w{3,}")


@dataclass(frozen=True)
class Case:
    """A failure of the history and what mended it. `unseen` are the mend's identifiers that the output does not show."""

    commit: str
    failure: Failure
    mend: Fix
    unseen: frozenset[str]

    @property
    def parts(self) -> tuple[str, ...]:
        """The files it concerns: an attempt at it has changed the files that its mend changes."""
        return parts_of(self.failure, self.mend.files)


def git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def commits(most: int) -> list[tuple[str, list[str]]]:
    """Return the small commits that change code and tests, oldest first, each with its test files."""
    chosen, names = [], ""
    for block in git("log", "--no-merges", "--reverse", "--format=%x00%H", "--numstat").split("\0")[1:]:
        names, _, rows = block.partition("\n")
        files = [row.split("\t") for row in rows.splitlines() if row.count("\t") == 2]
        code = [row for row in files if re.fullmatch(r"noface/.*\.py", row[2]) and row[0] != "-"]
        tests = [row[2] for row in files if re.fullmatch(r"tests/[\w/]*test_\w+\.py", row[2])]
        lines = sum(int(added) + int(removed) for added, removed, _ in code)
        if code and 0 < len(tests) <= TESTS_MAX and lines <= LINES_MAX:
            chosen.append((names, tests))
    return chosen[-most:]


def replayed(commit: str, tests: list[str], folder: Path) -> Case | None:
    """Run a commit's tests on the code before it; None where they pass, or are not there any more."""
    git("worktree", "add", "-f", "--detach", str(folder), commit)
    try:
        there = [test for test in tests if (folder / test).exists()]
        subprocess.run(["git", "checkout", "-q", f"{commit}^", "--", "noface"], cwd=folder, check=True)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *there]
        environment = os.environ | {"PYTHONPATH": f"{folder}:{folder}/tests", "NO_COLOR": "1"}
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return None
    finally:
        git("worktree", "remove", "--force", str(folder))
    if not there or done.returncode in (0, 4, 5):
        return None
    mend = fix_of("", git("diff", f"{commit}^", commit, "--", "noface"))
    verdict = classify(GateEvidence("pytest", done.returncode, done.stdout, done.stderr))
    if verdict.kind is None:
        return None
    failure = Failure(
        verdict.kind, verdict.message, rule=verdict.rule, location=verdict.location, signature=verdict.signature,
        evidence=verdict.evidence, failing_tests=verdict.failing_tests, gate="test",
    )  # fmt: skip
    needed = identifiers(mend, added_only=True)
    return Case(commit, failure, mend, needed - frozenset(IDENTIFIER.findall(done.stdout)))


def identifiers(mend: Fix, *, added_only: bool = False) -> frozenset[str]:
    return frozenset(
        name for line in mend.lines if line.added or not added_only for name in IDENTIFIER.findall(line.text)
    )


def learned(case: Case) -> Lesson | None:
    """Return what noface learns from it, as from an issue of which one attempt failed and the next passed."""
    failed = PastAttempt(1, "m", 1, case.failure.kind.value, charged=True, failure=case.failure)
    attempts = (failed, PastAttempt(2, "m", 1, PASSED, charged=True))
    lesson = lesson_of(Issue(case.commit[:12], "a commit"), attempts, case.mend)
    return None if lesson is None or failed_before(attempts) is None else lesson


def by_words(failure: Failure, lesson: Lesson, _parts: tuple[str, ...]) -> bool:
    same = bool(failure.signature) and failure.signature == lesson.signature
    return same or alike(failure, lesson) >= ALIKE_MIN


def look_ups(cases: list[Case], rule: Callable[[Failure, Lesson, tuple[str, ...]], bool]) -> dict[str, object]:
    """Return how often the rule quotes, and what its quotes tell of the mends beside a lesson picked blindly."""
    known: list[tuple[Case, Lesson]] = []
    told, blind, quotes, helped = [], [], 0, 0
    for case in cases:
        if case.unseen:
            blind += [share(case, other) for other, _ in known]
            quoted = [other for other, lesson in reversed(known) if rule(case.failure, lesson, case.parts)][:QUOTED_MAX]
            shares = [share(case, other) for other in quoted]
            quotes, told, helped = quotes + len(quoted), told + shares, helped + any(shares)
        lesson = learned(case)
        if lesson is not None:
            known.append((case, lesson))
    return {
        "lessons": len(known),
        "quotes": quotes,
        "failures_helped": helped,
        "told": round(fmean(told), 3) if told else None,
        "any": round(fmean(blind), 3) if blind else None,
    }


def share(case: Case, other: Case) -> float:
    return len(case.unseen & identifiers(other.mend)) / len(case.unseen)


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--commits", type=int, default=60, metavar="N", help="the newest N commits that fit (60)")
    chosen = commits(parser.parse_args().commits)
    cases: list[Case] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (commit, tests) in enumerate(chosen, 1):
            case = replayed(commit, tests, Path(folder, "tree"))
            said = f"{case.failure.kind}: {case.failure.message}"[:80] if case is not None else "nothing failed"
            print(f"{number}/{len(chosen)} {commit[:12]} {said}", file=sys.stderr, flush=True)
            cases += [case] if case is not None else []
    teaching = [replace(case) for case in cases if in_workers_hands(case.failure)]
    document = {
        "commits": len(chosen),
        "failures": len(cases),
        "in_the_workers_hands": len(teaching),
        "by_file_and_likeness": look_ups(cases, fits),
        "by_words_alone": look_ups(cases, by_words),
    }
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
