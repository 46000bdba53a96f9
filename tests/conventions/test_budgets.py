"""The house has budgets: a room grows only if another shrinks in the same commit."""

import subprocess
import tomllib

from conventions.budgets import BUDGETS, ROOT, above, count, rises


def test_no_figure_is_above_its_budget():
    assert above(count(), tomllib.loads(BUDGETS.read_text())) == []


def test_no_budget_rose_without_another_that_fell_in_the_same_commit():
    path, git = BUDGETS.relative_to(ROOT).as_posix(), ("git", "-C", str(ROOT))
    asked = (*git, "log", "--format=%H", "--", path)
    commits = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    stored = [
        subprocess.run((*git, "show", f"{commit}:{path}"), capture_output=True, text=True, check=True).stdout
        for commit in reversed(commits)
    ]
    assert rises([tomllib.loads(text) for text in (*stored, BUDGETS.read_text())]) == []
