"""Adds the output of a gate to the corpus of gate runs, with the verdict that a person gives it.

    PYTHONPATH=tests python -m support.corpus_case license-check-forbidden LINT_FAILURE \\
        --command "license-check" --exit-code 1 --stdout out.txt --key-line "license-check: FORBIDDEN GPL-3.0"

It says how noface reads the case, which may be wrong yet; `corpus_score.py --write` then renews verdicts.tsv.
"""

import argparse
import json
import lzma
from pathlib import Path
from typing import Any

from noface.diagnosis.gate import classify
from noface.model.taxonomy import FailureKind

from .corpus_score import CORPUS, MORE, RECORDINGS, class_of, evidence_of, load


def appended(packed: bytes, record: dict[str, Any]) -> bytes:
    lines = lzma.decompress(packed).decode().rstrip("\n")
    return lzma.compress(f"{lines}\n{json.dumps(record, sort_keys=True)}\n".encode(), preset=9 | lzma.PRESET_EXTREME)


def record_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the record of a case: what was run, what it printed, and the label."""
    text = {name: path.read_bytes().decode("utf-8", "surrogateescape") for name, path in given.files if path}
    label = {
        "class": given.kind,
        "accept": given.accept,
        "location": given.location,
        "location_in_output": True if given.location else None,
        "failing_tests": given.failing_test,
        "key_line": given.key_line,
        "lang": given.id.partition("-")[0],
        "tool": given.command.split()[0],
        "trap": given.trap,
    }
    return {
        "id": given.id,
        "command": given.command,
        "exit_code": given.exit_code,
        "stdout": text.get("stdout", ""),
        "stderr": text.get("stderr", ""),
        "report": text.get("report"),
        "repo_files": given.repo_file,
        "seconds": given.seconds,
        "limit_s": given.limit_s,
        "label": label,
    }


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="Add a gate's output to tests/corpus.")
    parser.add_argument("id", help="a new name, such as go-vet-unused: language or family, tool, what it shows")
    parser.add_argument("kind", choices=["PASS", *FailureKind], help="what it is; PASS where the gate was green")
    parser.add_argument("--command", required=True)
    parser.add_argument("--exit-code", type=int, required=True)
    for name in ("stdout", "stderr", "report"):
        parser.add_argument(f"--{name}", type=Path, help="a file; a report is JUnit XML")
    parser.add_argument("--repo-file", action="append", default=[], help="a path of the project; for each one")
    parser.add_argument("--location", help="FILE:LINE, where the output names the place to mend")
    parser.add_argument("--failing-test", action="append", default=[], help="a failing test's name; for each one")
    parser.add_argument("--key-line", help="the line that says it")
    parser.add_argument("--accept", action="append", default=[], help="another kind that a person might say")
    parser.add_argument("--trap", action="store_true", help="the output has words that mislead")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--limit-s", type=int, default=90)
    given = parser.parse_args(words)
    given.files = [(name, getattr(given, name)) for name in ("stdout", "stderr", "report")]
    if given.id in {record["id"] for name in RECORDINGS for record in load(name)}:
        parser.error(f"{given.id} is in the corpus already")
    return given


if __name__ == "__main__":
    record = record_of(arguments())
    file = CORPUS / MORE
    file.write_bytes(appended(file.read_bytes(), record))
    verdict = classify(evidence_of(record))
    print(
        f"{record['id']} is added. noface says {class_of(verdict)} by {verdict.rule}, {verdict.location or 'no place'}."
    )
