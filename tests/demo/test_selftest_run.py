"""`noface selftest` end to end, on a few kinds: real repositories, real runs of noface, all three variants."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from noface.selftest.scenario import catalogue


def selftest(tmp_path: Path, *args: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NOFACE_", "GIT_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", "noface", "selftest", *args],
        cwd=tmp_path,
        env={**kept, "TMPDIR": str(tmp_path), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.mark.thorough
def test_noface_recovers_what_can_be_recovered_and_stops_in_time_with_the_rest(tmp_path):
    """One test, because the workers of xdist would each run all this for tests of their own."""
    recoverable, hopeless = 11, 2
    done = selftest(tmp_path, "--kind", "SYNTAX_ERROR", "--kind", "agent-refused", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["ok"]
    assert found["troubles"] == []
    assert found["totals"]["recovered"]["noface"] == found["totals"]["recoverable"] == recoverable
    assert found["totals"]["stopped"]["noface"] == found["totals"]["hopeless"] == hopeless
    for kind in found["kinds"]:  # more with fewer runs than either simpler loop
        recovered, runs = kind["recovered"], kind["runs"]
        assert recovered["noface"] > recovered["feedback"] >= recovered["plain"]
        assert runs["noface"] < min(runs["feedback"], runs["plain"])
    for scenario in found["scenarios"]:  # each failed at first in the way it stands for
        assert scenario["results"]["noface"]["outcomes"][0] == scenario["kind"]
    assert list(tmp_path.iterdir()) == []


def test_the_projects_can_be_kept_and_looked_into(tmp_path):
    done = selftest(tmp_path, "--kind", "AUTH", "--no-baselines", "--keep")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "stopped in time with 5 of 5" in done.stdout
    (kept,) = tmp_path.glob("noface-selftest-*")
    assert f"kept in {kept}" in " ".join(done.stdout.split())
    shown = subprocess.run(
        [sys.executable, "-m", "noface", "show", "auth-1", "--json"],
        cwd=kept / "noface/repository",
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(shown.stdout)["attempts"][0]["outcome"] == "AUTH"


def test_an_unknown_kind_is_refused_with_those_there_are(tmp_path):
    done = selftest(tmp_path, "--kind", "BAD_LUCK")
    assert done.returncode == 2
    assert "BAD_LUCK" in done.stderr
    assert all(kind in done.stderr for kind in catalogue())
