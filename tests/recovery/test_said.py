"""What an issue's comment says, and when it is said again."""

from dataclasses import replace

import pytest

from noface.model.request import Failing, PersonRequest
from noface.recovery.pull_rounds import Followed, PullSeen
from noface.recovery.said import CALM_S, GONE, Standing, Worked, digest, due_at, notice_of

BEGAN = 1_795_384_800.0  # 2026-11-22 22:00 UTC


def shown(url="", **more):
    return Followed("7", 12, "h", "b", 0, PullSeen(), url=url, **more)


FIRST = Worked(1, "small", BEGAN, "TEST_FAILURE")
SECOND = Worked(2, "strong", BEGAN + 600)
QUESTION = PersonRequest(
    summary="TEST_FAILURE after 2 attempts: no more rungs",
    question="What do the workers not know that would make test_a pass? @mallory says #13",
    options=("answer it",),
    commands=('noface retry 7 --note "…"',),
    tried=("attempts 1 and 2 with small: TEST_FAILURE",),
    failing=Failing(gate="unit", location="a.py:3", message="assert 1 == 2", lines=("E  assert @all",)),
)


def said(clean=lambda text: text, **values):
    return notice_of(Standing(issue_id="7", **values), clean)


def test_a_running_issue_names_the_attempt_the_model_and_since_when():
    text = said(status="running", reason="attempt 2 with strong", attempts=(FIRST, SECOND), cost_usd=0.5).text
    assert "Attempt 2 with `strong`, begun 2026-11-22 22:10 UTC." in text
    assert "attempt 1 with `small`: TEST" in text
    assert "2 attempts, $0.50" in text


def test_a_blocked_issue_asks_its_question_first_and_says_how_to_answer():
    text = said(status="blocked", reason="no more rungs", request=QUESTION, attempts=(FIRST,)).text
    assert text.index("> What do the workers") < text.index("To answer") < text.index("assert 1 == 2")
    for way in ("`/noface` and your answer", "`/noface retry`", "`/noface skip`", "`noface retry 7 --note"):
        assert way in text


def test_what_needs_a_yes_names_both_answers():
    text = said(status="approval", reason="touches migrations", request=PersonRequest(question="May it land?")).text
    assert "`/noface approve`" in text
    assert "`/noface reject`" in text


def test_words_of_others_ping_nobody_and_link_nothing():
    text = said(status="blocked", request=QUESTION).text
    assert "@mallory" not in text
    assert "#13" not in text
    assert "```text\nE  assert @all\n```" in text


def test_nothing_leaves_that_is_to_be_cleaned():
    def clean(text):
        return text.replace("/home/ada", "~").replace("hunter2", "***")

    request = replace(QUESTION, question="Is hunter2 in /home/ada/x?")
    text = said(clean, status="blocked", reason="hunter2", request=request).text
    assert "hunter2" not in text
    assert "/home/ada" not in text


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"pushed": True}, "main was pushed"),
        ({}, "noface has not pushed it"),
        ({"pull": shown("https://github.com/acme/shop/pull/12")}, "by #12"),
    ],
)
def test_what_has_landed_says_where_and_closes_its_issue(values, words):
    landed = said(status="merged", merged_commit="a" * 40, **values)
    assert landed.closes
    assert f"landed** as {'a' * 12}" in landed.text
    assert words in landed.text


def test_work_in_review_names_its_pull_request_and_leaves_the_issue_open():
    review = said(status="review", reason="open", pull=shown(checks="pending"))
    assert "#12" in review.text
    assert not review.closes


@pytest.mark.parametrize(("status", "state"), [("running", GONE), ("blocked", GONE), ("merged", "merged")])
def test_an_issue_that_went_away_is_noface_s_no_more_unless_it_has_landed(status, state):
    assert said(status=status, present=False).state == state


def test_what_a_part_asks_is_asked_at_the_issue_that_was_divided():
    asking = Standing(issue_id="7.2", title="The key", status="blocked", request=QUESTION)
    parts = (Standing(issue_id="7.1", title="The form", status="merged"), replace(asking, epoch=1))
    standing = Standing(issue_id="7", status="epic", parts=parts)
    text = notice_of(standing, str).text
    assert standing.state == "blocked"
    assert "Part `7.2`, The key" in text
    assert "> What do the workers" in text
    assert Standing(issue_id="7", status="epic", parts=parts[:1]).question == ""
    again = replace(asking, epoch=2)
    assert Standing(issue_id="7", status="epic", parts=(again,)).question not in ("", standing.question)


def test_the_longest_of_questions_fits_a_comment():
    failing = QUESTION.failing._replace(lines=("y" * 90_000,))
    many = replace(QUESTION, tried=("x" * 5_000,) * 60, failing=failing)
    text = said(status="blocked", request=many).text
    assert len(text) < 65_000
    assert "To answer" in text


def test_it_is_said_again_only_when_it_differs():
    one = said(status="running", reason="attempt 1 with small")
    assert due_at(one, digest(one), BEGAN) is None
    assert due_at(one, "", 0.0) == 0.0


def test_attempts_that_follow_each_other_are_told_together_and_a_question_at_once():
    before = digest(said(status="running", attempts=(FIRST,)))
    assert due_at(said(status="running", attempts=(FIRST, SECOND)), before, BEGAN) == BEGAN + CALM_S
    assert due_at(said(status="blocked", request=QUESTION), before, BEGAN) == 0.0
    assert due_at(said(status="merged"), before, BEGAN) == 0.0


@pytest.mark.parametrize(
    ("state", "gone"), [("open", "review"), ("taken", "review"), ("closed", GONE), ("merged", GONE)]
)
def test_an_issue_that_was_closed_is_not_told_as_left_while_its_pull_request_may_be_merged(state, gone):
    standing = Standing(issue_id="7", status="blocked", present=False, pull=shown(state=state))
    assert standing.state == gone
    text = notice_of(standing, str).text
    assert ("lands if #12 is merged" in text, "works on this no more" in text) == (gone != GONE, gone == GONE)


def test_why_words_were_not_acted_on_is_told_to_who_wrote_them_once_for_each():
    refused = Standing(
        issue_id="7", status="merged", not_heard="ann wrote /noface retry, but", not_heard_of="ann", heard=9
    )
    said_ = notice_of(refused, str)
    assert said_.text.startswith("**Not done:** ann wrote /noface retry, but")
    assert (said_.to, said_.asks) == (("ann",), ":9")
    assert notice_of(Standing(issue_id="7", status="merged"), str).asks == ""
