"""What is asked of and told to a tracker next."""

from noface.model.publication import Publication
from noface.recovery.polling import Asked, Pace, refused
from noface.recovery.said import CALM_S, Standing, Worked, digest, notice_of
from noface.recovery.tracker_round import SAID_AT_ONCE_MAX, Candidate, next_round

NOW = 10_000.0
JUST = Asked(NOW)


def candidate(issue_id="7", *, published=None, **standing):
    stands = Standing(issue_id=issue_id, **standing)
    published = Publication(issue_id, **(published or {}))
    return Candidate(stands, notice_of(stands, str), published)


def as_told(known, **changed):
    """The same issue, once its tracker has been told how it stands."""
    told = {"digest": digest(known.notice), "comment": 1, "at": NOW, "after": 5, "question": known.standing.question}
    return candidate(published=told, **{"status": known.standing.status, **changed})


def due(*candidates, asked=JUST, heard=True, last=False, **more):
    return next_round(candidates, asked, Pace(), NOW, heard=heard, last=last, **more)


def test_what_was_never_told_is_told_and_nothing_is_asked_twice_within_a_minute():
    found = due(candidate(status="running"))
    assert [said.state for said, _ in found.says] == ["running"]
    assert not found.refresh
    assert not due(as_told(candidate(status="running")))


def test_before_a_question_is_put_what_was_written_until_then_is_looked_up():
    asks = candidate(status="blocked", published={"after": 3})
    found = due(asks)
    assert [standing.issue_id for standing in found.marks] == ["7"]
    assert found.refresh  # else what was written since the last one would be taken for an answer
    assert found.says == found.hears == ()
    assert found.after == {"7": 3}
    marked = candidate(status="blocked", published={"after": 4, "question": asks.standing.question})
    assert [said.state for said, _ in due(marked).says] == ["blocked"]


def test_answers_are_looked_up_with_each_refresh_and_once_at_the_beginning():
    asked = as_told(candidate(status="blocked"))
    assert due(asked, asked=None).hears == ("7",)
    assert due(asked, heard=False).hears == ("7",)
    assert due(asked).hears == ()


def test_each_issue_that_was_spoken_of_is_listened_to_in_every_state():
    running, asked, new = (
        as_told(candidate(status="running")),
        candidate("8", status="blocked"),
        candidate("9", status="running"),
    )
    found = due(running, asked, new, asked=None, settled={"3": 44})
    assert (found.hears, found.after["3"], found.after["7"]) == (("7", "3"), 44, 5)
    assert due(running, settled={"3": 44}).hears == ()


def test_the_next_attempt_is_told_after_a_while_and_at_the_end_at_once():
    known = as_told(candidate(status="running"), attempts=(Worked(1, "small", 0.0, "TIMEOUT"),))
    assert not due(known)
    assert due(known, last=True).says
    later = next_round([known], Asked(NOW + CALM_S), Pace(), NOW + CALM_S, heard=True)
    assert later.says


def test_a_tracker_that_is_away_is_told_and_asked_nothing_also_at_the_end():
    away = refused(JUST, NOW, NOW + 60)
    assert not due(candidate(status="merged"), asked=away, heard=False)
    assert not due(candidate(status="merged"), asked=away, last=True)


def test_many_are_told_a_few_at_a_time():
    found = due(*(candidate(str(number), status="running") for number in range(50)))
    assert len(found.says) == SAID_AT_ONCE_MAX
