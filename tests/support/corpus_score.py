"""The recordings of real gate runs, and how well the classifier reads them. Run as a script it prints the figures.

gates.jsonl.xz: runs on tiny projects with one injected fault each; the label comes from the fault.
more_gates.jsonl.xz: runs of other tools, recorded the same way, to see formats the first set does not have.
runner_gates.jsonl.xz: test runners, shells and build tools that neither has, each with runs of no tests, of own and of
third-party parts that are missing, of crashes, and passing runs with frightening words.
tool_gates.jsonl.xz: linters, checkers of configuration, assertion libraries, diffs and hand-written tests, most of them
known to no rule when they were recorded; `aside` marks a third of the tools, which no rule was made for (docs/gates.md).
verdicts.tsv: kind, rule and place of each run's verdict as they stand; `corpus_score.py --write` renews it.
"""

import json
import lzma
import re
import sys
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from noface.diagnosis.evidence import GateEvidence, GateVerdict
from noface.diagnosis.gate import classify
from noface.gates.report import parse_report

CORPUS = Path(__file__).parents[1] / "corpus"
GIVEN = "gates.jsonl.xz"
MORE = "more_gates.jsonl.xz"
RUNNERS = "runner_gates.jsonl.xz"
TOOLS = "tool_gates.jsonl.xz"
RECORDINGS = (GIVEN, MORE, RUNNERS, TOOLS)
VERDICTS = CORPUS / "verdicts.tsv"


def decoded(text: str) -> str:
    """Bytes that are not UTF-8 were kept as surrogates; noface reads them as U+FFFD."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@cache
def load(name: str) -> tuple[dict[str, Any], ...]:
    lines = lzma.decompress((CORPUS / name).read_bytes()).decode().splitlines()
    return tuple(json.loads(line) for line in lines)


def evidence_of(record: dict[str, Any]) -> GateEvidence:
    report, _ = parse_report(record["report"].encode()) if record["report"] else (None, "")
    return GateEvidence(
        command=record["command"],
        exit_code=record["exit_code"],
        stdout=decoded(record["stdout"]),
        stderr=decoded(record["stderr"]),
        seconds=record["seconds"],
        limit_s=record["limit_s"],
        repo_files=tuple(record["repo_files"]),
        report=report,
    )


@cache
def verdicts(name: str) -> tuple[GateVerdict, ...]:
    return tuple(classify(evidence_of(record)) for record in load(name))


def verdict_lines() -> list[str]:
    """Kind, rule and place of every verdict, one line a recording."""
    return [
        "\t".join([record["id"], class_of(verdict), verdict.rule, verdict.location or "-"])
        for name in RECORDINGS
        for record, verdict in zip(load(name), verdicts(name), strict=True)
    ]


def class_of(verdict: GateVerdict) -> str:
    return verdict.kind.value if verdict.kind else "PASS"


@dataclass
class Tally:
    """So many of so many."""

    right: int = 0
    of: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, good: bool, what: str) -> None:
        self.right, self.of = self.right + good, self.of + 1
        if not good:
            self.wrong.append(what)

    @property
    def share(self) -> float:
        return self.right / self.of if self.of else 1.0

    def __str__(self) -> str:
        return f"{self.right}/{self.of} = {100 * self.share:.1f} %"


@dataclass
class Score:
    """The figures, and the rules that decided. `lenient` counts a class that a person might choose as right, too."""

    strict: Tally = field(default_factory=Tally)
    lenient: Tally = field(default_factory=Tally)
    traps: Tally = field(default_factory=Tally)
    location: Tally = field(default_factory=Tally)
    failing: Tally = field(default_factory=Tally)
    key_line: Tally = field(default_factory=Tally)


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;:?]*[A-Za-z]", "", text)).strip()


def same_place(got: str | None, want: str) -> bool:
    file, _, line = (got or "").rpartition(":")
    want_file, _, want_line = want.rpartition(":")
    return file.rsplit("/", 1)[-1] == want_file.rsplit("/", 1)[-1] and line == want_line


def score(name: str) -> Score:
    result = Score()
    for record, verdict in zip(load(name), verdicts(name), strict=True):
        label, ident = record["label"], record["id"]
        good = class_of(verdict) == label["class"]
        result.strict.add(good, f"{ident}: {label['class']} read as {class_of(verdict)} by {verdict.rule}")
        result.lenient.add(good or class_of(verdict) in label["accept"], ident)
        if label["trap"]:
            result.traps.add(good, ident)
        if label["location_in_output"]:
            result.location.add(same_place(verdict.location, label["location"]), f"{ident}: {verdict.location}")
        if label["failing_tests"]:
            found = all(any(test in name for name in verdict.failing_tests) for test in label["failing_tests"])
            exact = found and len(verdict.failing_tests) == len(label["failing_tests"])
            result.failing.add(exact, f"{ident}: {verdict.failing_tests}")
        if label["key_line"]:
            got, want = plain(verdict.key_line), plain(label["key_line"])
            result.key_line.add(bool(got) and (got in want or want in got), f"{ident}: {got[:80]}")
    return result


def main() -> None:
    if "--write" in sys.argv:
        VERDICTS.write_text("\n".join(verdict_lines()) + "\n", "utf-8")
        return
    for name in RECORDINGS:
        started = time.perf_counter()
        figures = score(name)
        seconds = time.perf_counter() - started
        print(f"{name}: {figures.strict} strict, {figures.lenient} lenient, {figures.traps} traps,")
        print(
            f"  {figures.location} locations, {figures.failing} failing tests, {figures.key_line} decisive lines; {figures.strict.of / seconds:.0f} gates a second"
        )
        for wrong in figures.strict.wrong:
            print(f"  wrong: {wrong}")
    noise = "[worker 0] step 17: retrying request, error=none status=ok elapsed=7ms\n" * 280_000
    started = time.perf_counter()
    classify(GateEvidence("make test", 1, noise, "", 1.0))
    print(f"throughput: {len(noise) / 1e6 / (time.perf_counter() - started):.0f} MB a second")


if __name__ == "__main__":
    main()
