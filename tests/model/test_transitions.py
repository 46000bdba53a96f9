"""The table of transitions: it names states and modules that there are, and the design document shows it."""

from support import ROOT

from noface.data import table
from noface.model.taxonomy import IssueStatus
from noface.model.transitions import NEW, unexpected
from noface.store.pull_requests import PullStep

STATES = {"issue": set(IssueStatus), "pull_request": {NEW, *PullStep}, "landing": {"intent", "landed", "dropped"}}


def test_each_state_is_one_that_there_is_and_can_be_reached():
    for of, states in STATES.items():
        rows = table("transitions")[of]
        assert {row["to"] for row in rows} | {state for row in rows for state in row["from"]} == states
        first = {"issue": "ready", "pull_request": NEW, "landing": "intent"}[of]
        reached = {first}
        for _ in states:
            reached |= {row["to"] for row in rows if reached & set(row["from"])}
        assert reached == states


def test_what_has_landed_stays_merged_and_a_state_may_stay():
    assert unexpected("issue", "7", "merged", "ready") is not None
    assert unexpected("issue", "7", "merged", "merged") is None
    assert unexpected("landing", "7", "dropped", "landed") is not None


def test_the_design_document_shows_the_table():
    page = " ".join((ROOT / "docs/design.md").read_text().split())
    for row in (row for of in STATES for row in table("transitions")[of]):
        assert f"{', '.join(row['from'])} -> {row['to']} {row['why']} ({row['by']})" in page
