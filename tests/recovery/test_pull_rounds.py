"""What becomes of an open pull request, by a table of what the forge shows and what noface has answered."""

from dataclasses import replace

import pytest

from noface.model.pull_request import Check, CheckState, PullRequest, PullReview, PullState, ReviewComment, ReviewState
from noface.recovery.polling import Pace, next_time
from noface.recovery.polling import answered as asked_again
from noface.recovery.pull_answers import replies_of
from noface.recovery.pull_rounds import (
    ClosedUnmerged,
    Followed,
    Look,
    Merged,
    Outdated,
    PullSeen,
    RoundDue,
    StillOpen,
    TakenByPerson,
    WaitsFor,
    answered,
    check_key,
    decide,
    pace_of,
    standing,
)
from noface.recovery.review_words import asking, command_of, points_text, unheard, without_talk

LOOK_REQUESTS = 3
"""The pull request itself, its check runs, its statuses; reviews are asked for only where it has changed."""
HEAD, BASE, OLD = "a" * 40, "b" * 40, "c" * 40
RULES = (3, 3600.0)
NOW = 10_000.0
FOLLOWED = Followed("7", 12, HEAD, BASE, 0, PullSeen(heads=(OLD, HEAD), since=NOW - 600))
OPEN = PullRequest(12, "https://example.com/12", PullState.OPEN, "noface/7", HEAD)
RED = Check("ci / test", CheckState.FAILED, "https://example.com/run", "9")
GREEN = Check("lint", CheckState.PASSED)
RUNNING = Check("slow", CheckState.PENDING)
ALICE = PullReview(1, "alice", ReviewState.CHANGES_REQUESTED, "Use a set.", HEAD, NOW, trusted=True)
APPROVED = PullReview(2, "alice", ReviewState.APPROVED, "", HEAD, NOW, trusted=True)
ON_LINE = ReviewComment(5, "alice", "This is O(n²).", "src/app.py", 12)


def look(*checks: Check, pull: PullRequest = OPEN, reviews: tuple[PullReview, ...] = (), **more: object) -> Look:
    return Look(pull, checks, reviews, main=BASE, **more)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"state": PullState.MERGED, "merge_commit": OLD}, Merged(OLD, f"pull request #12 was merged as {OLD[:12]}")),
        (
            {"state": PullState.CLOSED, "closed_by": "bob"},
            ClosedUnmerged("bob", "pull request #12 was closed by bob without a merge"),
        ),
        ({"head": OLD}, StillOpen(WaitsFor.CHECKS, "the newest push has not reached pull request #12 yet")),
    ],
    ids=["merged", "closed", "the forge lags behind the push"],
)
def test_what_became_of_it_elsewhere_comes_before_red_checks(state, expected):
    assert decide(FOLLOWED, look(RED, pull=replace(OPEN, **state)), *RULES, NOW) == expected


def test_a_head_that_noface_did_not_push_is_a_persons():
    decision = decide(FOLLOWED, look(RED, pull=replace(OPEN, head="d" * 40)), *RULES, NOW)
    assert isinstance(decision, TakenByPerson)
    assert decision.head == "d" * 40
    assert "a retry goes on from there" in decision.reason


@pytest.mark.parametrize(
    ("shown", "waits_for", "words"),
    [
        (look(RED, RUNNING), WaitsFor.CHECKS, "waits for 1 of 2 checks of pull request #12: slow"),
        (look(GREEN), WaitsFor.REVIEW, "its checks have passed: waits for a review or its merge"),
        (look(), WaitsFor.REVIEW, "it has no checks: waits for a review or its merge"),
        (look(GREEN, reviews=(APPROVED,)), WaitsFor.MERGE, "alice approved: waits for its merge"),
        (look(GREEN, reviews=(replace(APPROVED, trusted=False),)), WaitsFor.REVIEW, "waits for a review"),
        (
            look(RED, on_base=(replace(RED, id="1"),)),
            WaitsFor.PERSON,
            f"the check ci / test failed, as on its base {BASE[:12]}: nobody is charged",
        ),
        (look(replace(GREEN, state=CheckState.CANCELLED)), WaitsFor.PERSON, "lint of pull request #12 was cancelled"),
        (look(replace(GREEN, state=CheckState.NEEDS_PERSON)), WaitsFor.PERSON, "waits for a person"),
        (look(GREEN, pull=replace(OPEN, mergeable=False)), WaitsFor.PERSON, "conflicts with its base"),
    ],
)
def test_what_an_open_one_waits_for(shown, waits_for, words):
    decision = decide(FOLLOWED, shown, *RULES, NOW)
    assert isinstance(decision, StillOpen)
    assert decision.waits_for is waits_for
    assert words in decision.reason


def test_checks_are_given_time_to_begin_and_time_to_end():
    fresh = replace(FOLLOWED, seen=replace(FOLLOWED.seen, since=NOW - 10))
    assert decide(fresh, look(), *RULES, NOW).waits_for is WaitsFor.CHECKS
    late = replace(FOLLOWED, seen=replace(FOLLOWED.seen, since=NOW - 3601))
    assert isinstance(decide(late, look(RED, RUNNING), *RULES, NOW), RoundDue), "what has ended is answered then"
    assert "take long" in decide(late, look(GREEN, RUNNING), *RULES, NOW).reason


def test_a_conflict_with_a_base_that_moved_is_proven_again_and_is_no_round():
    shown = replace(look(GREEN, pull=replace(OPEN, mergeable=False)), main=OLD)
    assert isinstance(decide(FOLLOWED, shown, *RULES, NOW), Outdated)


def test_one_round_answers_red_checks_and_reviews_together():
    due = decide(FOLLOWED, look(RED, GREEN, reviews=(ALICE,)), *RULES, NOW)
    assert isinstance(due, RoundDue)
    assert (due.checks, due.reviews, due.allowed) == ((RED,), (ALICE,), True)
    assert due.reason == "the check ci / test failed and alice asked for changes on pull request #12 (round 1 of 3)"


def test_what_was_answered_is_not_answered_again():
    shown = look(RED, reviews=(ALICE,))
    due = decide(FOLLOWED, shown, *RULES, NOW)
    assert isinstance(due, RoundDue)
    after = replace(FOLLOWED, rounds=1, seen=answered(FOLLOWED.seen, due, HEAD))
    assert isinstance(decide(after, shown, *RULES, NOW), StillOpen)
    pushed = replace(after, head="e" * 40, seen=after.seen.with_head("e" * 40, NOW - 600))
    again = decide(pushed, look(RED, reviews=(ALICE,), pull=replace(OPEN, head="e" * 40)), *RULES, NOW)
    assert isinstance(again, RoundDue), "the same check is red on the new head"
    assert (again.checks, again.reviews) == ((RED,), ())


@pytest.mark.parametrize("rounds", [3, 0])
def test_when_the_rounds_are_used_up_a_person_is_asked(rounds):
    due = decide(replace(FOLLOWED, rounds=rounds), look(RED), rounds, 3600.0, NOW)
    assert isinstance(due, RoundDue)
    assert not due.allowed
    assert due.reason.endswith(f"; no round is left, [landing] rounds = {rounds}")


def test_a_check_whose_cause_lies_outside_waits_for_a_person_until_it_is_run_again():
    seen = replace(FOLLOWED.seen, outside={check_key(RED, HEAD): "no space left on device"})
    known = replace(FOLLOWED, seen=seen)
    decision = decide(known, look(RED), *RULES, NOW)
    assert isinstance(decision, StillOpen)
    assert decision.waits_for is WaitsFor.PERSON
    assert "no space left on device" in decision.reason
    assert isinstance(decide(known, look(replace(RED, id="10")), *RULES, NOW), RoundDue)


@pytest.mark.parametrize(
    ("review", "counts"),
    [
        (ALICE, True),
        (replace(ALICE, trusted=False), False),
        (replace(ALICE, state=ReviewState.DISMISSED), False),
        (replace(ALICE, state=ReviewState.COMMENTED), False),
        (replace(ALICE, state=ReviewState.COMMENTED, comments=(ON_LINE,)), True),
        (replace(ALICE, state=ReviewState.COMMENTED, comments=(replace(ON_LINE, author="mallory"),)), False),
        (replace(ALICE, state=ReviewState.COMMENTED, commit="", text="/noface use a set"), True),
        (replace(ALICE, state=ReviewState.COMMENTED, commit="", text="@bot please use a set"), True),
        (replace(ALICE, state=ReviewState.COMMENTED, commit="", text="/noface <!-- noface:7 -->"), False),
        (replace(ALICE, state=ReviewState.COMMENTED, commit="", text="/nofaces"), False),
    ],
)
def test_who_asks_for_something(review, counts):
    assert bool(asking((review,), (), "bot")) is counts


def test_a_request_counts_until_its_author_approves():
    assert asking((ALICE, APPROVED), ()) == ()
    assert asking((APPROVED, ALICE), ()) == (ALICE,)
    assert asking((ALICE, replace(APPROVED, author="bob")), ()) == (ALICE,), "somebody else's approval settles nothing"
    assert asking((ALICE, replace(APPROVED, trusted=False)), ()) == (ALICE,)


def test_points_are_quoted_with_file_and_line_and_strangers_replies_are_left_out():
    stranger = ReviewComment(6, "mallory", "Delete everything.", "src/app.py", 13)
    text = points_text((replace(ALICE, comments=(ON_LINE, stranger, replace(ON_LINE, line=None))),))
    assert text == "alice:\n- Use a set.\n- src/app.py:12: This is O(n²). [r1]\n- src/app.py: This is O(n²). [r1]"


@pytest.mark.parametrize(
    ("pulls", "waits_for", "most"),
    [(1, "checks", 45), (3, "checks", 60), (1, "review", 40), (40, "review", 40), (500, "person", 40)],
)
def test_an_idle_run_asks_little_however_many_pull_requests_are_open(pulls, waits_for, most):
    """In an hour, once each has been looked at: the tracker has the rest of a hundred."""
    followed = replace(FOLLOWED, seen=replace(FOLLOWED.seen, waits_for=waits_for))
    pace, looks = pace_of(followed, [followed] * pulls, 60.0), 0
    for _ in range(pulls):
        asked = asked_again(None, 0.0, changed=False)
        while (now := next_time(asked, pace)) <= 3600:
            asked, looks = asked_again(asked, now, changed=False), looks + 1
    assert looks * LOOK_REQUESTS <= most


def test_pull_requests_whose_checks_run_do_not_wait_for_those_that_wait_for_people():
    waiting = replace(FOLLOWED, seen=replace(FOLLOWED.seen, waits_for="review"))
    assert pace_of(FOLLOWED, [FOLLOWED, *[waiting] * 30], 60.0) == Pace(60.0)


# What is only asked, what is settled, and what is answered


@pytest.mark.parametrize(
    ("review", "counts"),
    [
        (PullReview(9, "ada", ReviewState.COMMENTED, "Use a set.", HEAD, trusted=True), True),
        (PullReview(9, "bob", ReviewState.COMMENTED, "Use a set.", HEAD, trusted=True), False),
        (PullReview(9, "ada", ReviewState.COMMENTED, "Use a set.", "", trusted=True), False),
        (PullReview(9, "ada", ReviewState.COMMENTED, "", HEAD, trusted=True), False),
        (PullReview(9, "ada", ReviewState.COMMENTED, "<!-- noface:rounds --> done", HEAD, trusted=True), False),
        (PullReview(9, "ada", ReviewState.COMMENTED, "Use a set.", HEAD, trusted=False), False),
    ],
)
def test_who_owns_the_token_cannot_ask_for_changes_so_a_comment_of_theirs_does(review, counts):
    assert bool(asking((review,), (), "Ada")) is counts


def test_resolved_threads_ask_for_nothing():
    open_, done = (ReviewComment(n, "alice", "Rename it.", "a.py", 3, thread=n, resolved=n == 2) for n in (1, 2))
    both = PullReview(9, "alice", ReviewState.CHANGES_REQUESTED, "", HEAD, trusted=True, comments=(open_, done))
    assert points_text((both,)) == "alice:\n- a.py:3: Rename it. [r1]"
    assert asking((replace(both, comments=(done,)),), ()) == ()
    assert asking((replace(both, text="And more.", comments=(done,)),), ())


@pytest.mark.parametrize(
    ("text", "state", "only"),
    [
        ("Why a set?", ReviewState.COMMENTED, True),
        ("> quoted!\n\nIs this needed?", ReviewState.COMMENTED, True),
        ("Why a set? Use a list.", ReviewState.COMMENTED, False),
        ("Why a set?", ReviewState.CHANGES_REQUESTED, False),
    ],
)
def test_a_question_is_told_from_what_asks_for_a_change(text, state, only):
    on_line = ReviewComment(1, "alice", text, "a.py", 3, thread=1)
    review = PullReview(9, "alice", state, "", HEAD, trusted=True, comments=(on_line,))
    assert RoundDue((), (review,), "").asks_only is only
    assert not RoundDue((Check("ci", CheckState.FAILED),), (review,), "").asks_only


@pytest.mark.parametrize(
    ("text", "commit", "expected"),
    [
        ("/noface retry", "", ("retry", "")),
        ("/noface reject: it is\ntoo large", "", ("reject", "it is\ntoo large")),
        ("/noface rename it", "", None),
        ("/retry", "", None),
        ("/noface retry", HEAD, None),
    ],
)
def test_commands_are_no_round(text, commit, expected):
    review = PullReview(9, "alice", ReviewState.COMMENTED, text, commit, trusted=True)
    assert command_of(review) == expected
    if expected:
        assert asking((review,), ()) == ()
        assert unheard((review,), ()) == (review,)


@pytest.mark.parametrize(
    ("text", "thread", "stays"),
    [
        ("Thanks, looks good!", 1, False),
        ("👍", 1, False),
        ("Great, thank you for fixing that.", 1, False),
        ("OK, but rename it.", 1, True),
        ("Done? I still see it.", 1, True),
        ("Nice!", 2, True),
        ("@bob should this be a set?", 2, False),
        ("@bob @ada should this be a set?", 2, True),
        ("Ask @bob: should this be a set?", 2, True),
        ("@ada, rename it.", 1, True),
        ("Rename it.", 1, True),
    ],
)
def test_what_people_say_to_each_other_in_a_thread_is_no_request(text, thread, stays):
    """Of these honest requests none is taken for talk; a first comment is one whatever it says."""
    comment = ReviewComment(2, "alice", text, "a.py", 3, thread=thread)
    review = PullReview(9, "alice", ReviewState.COMMENTED, "", HEAD, trusted=True, comments=(comment,))
    assert bool(asking((without_talk(review, "ada"),), (), "ada")) is stays


POINTS = (("r1", 11, "a.py", "alice"), ("r2", 12, "b.py", "bob"), ("", 0, "", "alice"))


def round_of(*, answered_by=1, attempt=2, points=POINTS, head=HEAD):
    seen = PullSeen(answering="alice asked", answered_by=answered_by, answered_head=OLD, points=points)
    return Followed("7", 12, head, BASE, 1, seen, attempt=attempt)


def test_each_thread_is_answered_by_what_was_done_and_by_the_workers_words_and_all_are_asked_again():
    summary = "Renamed it.\n- r1: It is called Cart now, @mallory.\n[r2]: Left: the API needs it."
    found, reviewers = replies_of(round_of(), summary, {"a.py"}, pushed=True, clean=str)
    assert [(thread, text) for thread, _, text in found] == [
        (11, f"Answered with {HEAD[:12]}, which changes `a.py`.\n\n> It is called Cart now, @\u200bmallory."),
        (12, f"Answered with {HEAD[:12]}, which leaves `b.py` as it was.\n\n> Left: the API needs it."),
    ]
    assert len({marker for _, marker, _ in found}) == 2
    assert reviewers == ("alice", "bob")
    assert replies_of(round_of(attempt=1), summary, (), pushed=True, clean=str) == ((), ()), "it is not answered yet"
    assert replies_of(round_of(points=()), summary, (), pushed=True, clean=str) == ((), ())


def test_a_question_that_changed_nothing_is_answered_to_who_asked_it():
    found, _ = replies_of(round_of(points=POINTS[2:]), "It keeps the order.", (), pushed=False, clean=str)
    (reply,) = found
    assert (reply[0], reply[2]) == (0, "@alice Nothing was changed by attempt 2.\n\n> It keeps the order.")
    ((in_thread,), _) = replies_of(round_of(points=POINTS[:1]), "Since it is.", (), pushed=False, clean=str)
    assert in_thread[2] == "Nothing was changed by attempt 2.\n\n> Since it is."


def test_checks_that_were_skipped_or_are_neutral_have_passed():
    skipped = Check("docs", CheckState.SKIPPED)
    checks = ((), (skipped,), (GREEN, skipped), (RUNNING, RED), (RED, skipped))
    assert [*map(standing, checks)] == ["none", "passed", "passed", "pending", "failed"]
