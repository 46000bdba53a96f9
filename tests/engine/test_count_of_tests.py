"""What a run says of main's gates: how far one is."""

import re

import pytest


@pytest.mark.thorough
def test_a_long_gate_of_main_says_how_far_it_is(project):
    project.config(gate="echo half; test -e b.txt || sleep 6; echo whole")
    project.issue(1)
    project.commit()
    assert re.search(r"gate check of main goes on after \d+\.\ds: half", project.run())
