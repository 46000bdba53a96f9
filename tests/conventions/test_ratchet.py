"""The code does not grow without a reason: each figure may fall, and rises only with a line that says why."""

import subprocess
import tomllib

from conventions.ratchet import FIGURES, ROOT, count, rises


def test_no_figure_is_above_its_mark():
    marks = {name: entry["at_most"] for name, entry in tomllib.loads(FIGURES.read_text()).items()}
    now = count()
    assert marks.keys() == now.keys()
    assert {name: f"{now[name]} of at most {marks[name]}" for name in now if now[name] > marks[name]} == {}


def test_a_mark_rose_only_with_a_reason():
    path = FIGURES.relative_to(ROOT).as_posix()
    git = ("git", "-C", str(ROOT))
    commits = subprocess.run(
        (*git, "log", "--format=%H", "--", path), capture_output=True, text=True, check=True
    ).stdout.split()
    stored = [
        subprocess.run((*git, "show", f"{commit}:{path}"), capture_output=True, text=True, check=True).stdout
        for commit in reversed(commits)
    ]
    assert rises([*stored, FIGURES.read_text()]) == []


def test_a_rise_is_told_and_a_reason_excuses_it():
    low, high = "[lines]\nat_most = 1\n", "[lines]\nat_most = 2\n"
    assert rises([low, high]) == ["lines: 1 -> 2"]
    assert rises([low, high + 'rose = ["1: a new verb"]\n']) == []
    assert rises([high, low]) == []
