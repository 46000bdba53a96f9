"""Who works on an issue: what keeps a machine from it, how long, and what is held beyond a run."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest

from noface.model.taxonomy import IssueStatus
from noface.recovery.claims import KEPT_S, Claim, change, obstacle, purpose, read, reason, successor, written

LEASE = 1800.0
THEIRS = Claim("7", "theirs", "atlas", "r1", 1000.0, 1000.0 + LEASE)
MINE = Claim("7", "mine", "here", "r2", 1200.0, 1200.0 + LEASE)


def test_a_claim_keeps_others_off_until_its_lease_has_been_over_for_a_while():
    assert obstacle(None, MINE, 0.0) is None
    assert obstacle(THEIRS, THEIRS, 1100.0) is None  # of a run before this one
    for now in (1000.0, 1000.0 + LEASE, 1000.0 + 1.5 * LEASE):
        assert obstacle(THEIRS, MINE, now) == THEIRS
    assert obstacle(THEIRS, MINE, 1001.0 + 1.5 * LEASE) is None


def test_what_outlasts_runs_is_taken_over_by_the_clone_whose_state_was_lost_and_by_whom_a_person_gives_it_to():
    kept = replace(THEIRS, why="its pull request is open", until=1000.0 + KEPT_S, clone="here")
    mine = replace(MINE, clone="here")
    assert obstacle(kept, mine, 2000.0, began=1500.0) is None
    assert obstacle(kept, mine, 2000.0, began=900.0) == kept  # a clone with the same place on another machine
    assert obstacle(kept, replace(mine, clone="there"), 2000.0, began=1500.0) == kept
    assert obstacle(replace(kept, clone=""), replace(mine, clone=""), 2000.0, began=1500.0) is not None
    assert obstacle(kept, replace(mine, clone="there"), 2000.0, taken_over=True) is None
    at_work = replace(kept, why="")
    assert obstacle(at_work, mine, 2000.0, began=1500.0, taken_over=True) == at_work


def test_a_claim_made_anew_has_the_next_token():
    assert successor(None, MINE).token == 1
    assert successor(replace(THEIRS, token=4), MINE).token == 5


def test_a_claim_is_read_as_it_was_written():
    assert read(written(THEIRS), "7", 0.0) == THEIRS
    assert read(written(THEIRS).replace("{", '{"new": 1, ', 1), "7", 0.0) == THEIRS


@pytest.mark.parametrize(
    "message", ["", "[]", "{}", "hello", '{"since": "x"}', written(THEIRS).replace("1000.0", '"x"')]
)
def test_a_claim_that_cannot_be_read_is_somebody_s_for_a_day(message):
    found = read(message, "7", 5000.0)
    assert obstacle(found, MINE, 5000.0 + 3600) == found
    assert obstacle(found, MINE, 5000.0 + 30 * 3600) is None


NOW = 1_800_000_000.0
STRANGE = {
    "no number": {"until": float("nan")},
    "no end": {"until": float("inf")},
    "before all time": {"since": float("-inf")},
    "a year without a date": {"until": 1e300},
    "below zero": {"since": -1e18, "until": -1e17},
    "a time that is a list": {"since": [1.0]},
    "a token without end": {"token": float("inf")},
    "a token of many digits": {"token": 10**4000},
    "nested without end": {"why": "NESTED"},
    "no text": {"machine": {"a": 1}},
    "half a character": {"machine": "a\ud800b"},
    "codes of a terminal": {"machine": "\x1b[2Jatlas\n\n@team", "why": "\x07"},
    "for ever": {"since": NOW, "until": 2e11},
    "from the future": {"since": 1.9e11, "until": 2e11},
}


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("made_at", [NOW, 0.0, 1.8e19, float("nan")])
def test_a_claim_that_a_stranger_wrote_keeps_nobody_for_long_and_breaks_nothing(name, made_at):
    message = json.dumps({**asdict(THEIRS), "since": NOW, "until": NOW + LEASE, **STRANGE[name]})
    found = read(message.replace('"NESTED"', "[" * 16_000), "7", made_at)
    assert datetime.fromtimestamp(found.until, UTC)
    assert f"{found.machine}{found.why}{found.holder}".isprintable()
    assert obstacle(found, MINE, NOW + 46 * 86_400.0) is None
    mine = successor(found, MINE)
    assert read(written(mine), "7", NOW) == mine
    reason(found, "").encode()


def test_a_claim_is_renewed_well_before_its_end_and_not_at_every_look():
    assert change(MINE, "", 1200.0 + 0.3 * LEASE, LEASE) == MINE
    renewed = change(MINE, "", 1200.0 + 0.4 * LEASE, LEASE)
    assert (renewed.since, renewed.until) == (1200.0 + 0.4 * LEASE, 1200.0 + 1.4 * LEASE)
    assert change(MINE, None, 1200.0, LEASE) is None


@pytest.mark.parametrize("status", IssueStatus)
def test_what_only_one_clone_knows_stays_claimed_beyond_the_run_and_the_rest_is_given_back(status):
    kept = {IssueStatus.REVIEW, IssueStatus.EPIC, IssueStatus.BLOCKED, IssueStatus.APPROVAL}
    why = purpose(status, ending=True)
    assert bool(why) is (status in kept | {IssueStatus.LANDING})
    done = {IssueStatus.MERGED, IssueStatus.SKIPPED}
    assert (purpose(status) is None) is (status in done)
    if status in kept:
        long = change(MINE, why, 1300.0, LEASE)
        assert long.until == 1300.0 + KEPT_S
        assert change(long, why, 1400.0, LEASE) == long
        assert change(long, "", 1400.0, LEASE).until == 1400.0 + LEASE
        assert why in reason(long, "03:12")
    assert reason(THEIRS, "03:12") == "claimed by atlas until 03:12"
