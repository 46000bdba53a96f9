"""How main stands to the remote's main decides where a run starts, or why it does not."""

from dataclasses import replace

import pytest

from noface.config.place_sections import Landing
from noface.errors import DivergedError, UnpushedError, UsageError
from noface.recovery.ground import LandingMode, RemoteMain, StartPlan, course

ASKED = RemoteMain("main", "origin", "origin/main", (0, 0))
AWAY = replace(ASKED, away="origin cannot be reached: Could not resolve host", hint="Is this machine online?")
NEVER = replace(AWAY, apart=None)
PUBLISHING = (LandingMode.PUSH, LandingMode.PULL_REQUEST)


def at(ours, theirs, seen=ASKED):
    return replace(seen, apart=(ours, theirs))


def states(decided):
    assert isinstance(decided, StartPlan), decided
    return [state for state, _ in decided.notices]


def test_the_keys_decide_on_the_mode_and_a_pull_request_wins():
    assert Landing().mode is LandingMode.MERGE
    assert Landing(push=True).mode is LandingMode.PUSH
    assert Landing(push=True, how="pull-request").mode is LandingMode.PULL_REQUEST


@pytest.mark.parametrize("mode", LandingMode)
def test_where_both_are_the_same_nothing_is_told(mode):
    assert course(ASKED, mode) == StartPlan(fetched=mode is not LandingMode.MERGE)


def test_a_repository_without_a_remote_is_silent_and_cannot_publish():
    assert course(None, LandingMode.MERGE) == StartPlan()
    for mode, key in zip(PUBLISHING, ("push = true", "pull-request"), strict=True):
        refused = course(None, mode)
        assert isinstance(refused, UsageError)
        assert key in refused.message
        assert "git remote add origin" in refused.hint


def test_commits_that_the_remote_lacks_are_told_in_a_merge_and_stop_a_push():
    told = course(at(3, 0), LandingMode.MERGE)
    assert told.notices[0][1] == "main has 3 commits that origin/main lacks; noface pushes nothing"
    assert (told.fetched, told.follows) == (False, False)
    refused = course(at(1, 0), LandingMode.PUSH)
    assert isinstance(refused, UnpushedError)
    assert (refused.exit_code, "git push origin main" in refused.hint) == (3, True)
    assert refused.message.startswith("main has 1 commit that origin/main lacks")


@pytest.mark.parametrize("mode", [LandingMode.MERGE, LandingMode.PUSH])
def test_a_main_that_is_behind_follows_once_its_gates_have_passed_there(mode):
    decided = course(at(0, 2), mode)
    assert (decided.fetched, decided.follows, states(decided)) == (True, True, ["behind"])


@pytest.mark.parametrize("mode", [LandingMode.MERGE, LandingMode.PUSH])
def test_mains_that_went_different_ways_stop_the_run_with_both_counts(mode):
    refused = course(at(2, 1), mode)
    assert isinstance(refused, DivergedError)
    assert refused.exit_code == 3
    assert "2 commits" in refused.message
    assert "1 commit of it" in refused.message
    assert "git pull --rebase origin main" in refused.hint


@pytest.mark.parametrize(("ours", "theirs"), [(0, 4), (2, 0), (2, 4)])
def test_with_pull_requests_main_itself_is_left_alone_whatever_it_is(ours, theirs):
    decided = course(at(ours, theirs), LandingMode.PULL_REQUEST)
    assert (decided.fetched, decided.follows) == (True, False)
    assert states(decided) == (["ahead"] if ours else [])


def test_a_remote_that_is_away_is_told_and_never_stops_a_merge():
    for seen in (AWAY, NEVER, at(2, 2, AWAY), at(0, 2, AWAY)):
        decided = course(seen, LandingMode.MERGE)
        assert (decided.fetched, decided.follows, states(decided)) == (False, False, ["unreachable"])


@pytest.mark.parametrize("mode", PUBLISHING)
def test_what_was_fetched_before_is_worked_from_while_the_remote_is_away(mode):
    decided = course(AWAY, mode)
    assert (decided.fetched, states(decided)) == (True, ["unreachable"])
    refused = course(NEVER, mode)
    assert isinstance(refused, UsageError)
    assert refused.hint == NEVER.hint


@pytest.mark.parametrize("mode", LandingMode)
def test_a_branch_that_the_remote_lacks_is_told_with_the_one_it_has(mode):
    decided = course(replace(ASKED, apart=None, lacks=True, head="trunk"), mode)
    if mode is LandingMode.MERGE:
        assert states(decided) == ["missing"]
        assert "default branch is trunk" in decided.notices[0][1]
    else:
        assert isinstance(decided, UsageError)
        assert "git branch --set-upstream-to=origin/trunk main" in decided.hint
