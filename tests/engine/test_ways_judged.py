"""A part of the table of ways through noface itself; the suite `ways` runs all of it."""

import os
import sys
from pathlib import Path

import pytest
from support import TESTS
from support.cases import first_ones

sys.path.insert(0, str(TESTS / "ways"))

from run import judged
from table import Kind, projects

CHOSEN = {
    "spans": (
        "spans-new-test-skipped",
        "spans-bytecode",
        "spans-under-test",
        "spans-weakens-raises",
        "spans-fix-with-test",
        "spans-inputs-of-the-tests",
    ),
    "tally": (),
}
EVERY = 4
"""Of a project without chosen ways every fourth is judged."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", first_ones(reversed(CHOSEN)))
def test_what_buys_a_green_does_not_land_and_what_is_honest_does(name, monkeypatch):
    project = next(project for project in projects() if project.name == name)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    ways = tuple(way for way in project.ways if way.id in CHOSEN[name]) or project.ways[::EVERY]
    assert {way.kind for way in ways} == {Kind.CHEAT, Kind.HONEST}
    wrong = [f"{each.way.id}: {each.why}" for each in judged(project, ways, "none") if not each.right]
    assert wrong == []
