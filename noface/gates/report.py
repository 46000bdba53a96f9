"""Reads a gate's JUnit XML report, if it wrote one during this run."""

from pathlib import Path

from noface.core.classify.evidence import TestReport


def read_report(path: Path, started_at: float) -> tuple[TestReport | None, str]:
    """Return the report and a note; no report where the file is missing, older than the gate's start, or no XML."""
    try:
        if path.stat().st_mtime < started_at:
            return None, f"{path.name} is older than this run and was ignored"
    except OSError:
        return None, f"{path.name} was not written"
    return None, ""
