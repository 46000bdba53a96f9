"""When another machine is asked again."""

from itertools import pairwise

from noface.recovery.polling import Asked, Pace, answered, away_until, is_due, next_time, refused

HOUR = 3600.0


def calls_within(seconds, pace, changes=()):
    """The times at which a topic is asked about, where it has changed at the calls of these numbers."""
    times, asked, now = [], None, 0.0
    while (now := max(next_time(asked, pace), now)) < seconds:
        asked = answered(asked, now, changed=len(times) in changes)
        times.append(now)
    return times


def test_what_never_was_asked_about_is_asked_about_now():
    assert is_due(None, Pace(), 0.0)


def test_a_topic_that_never_changes_is_asked_about_less_and_less_often():
    times = calls_within(2 * HOUR, Pace(60.0))
    pauses = [after - before for before, after in pairwise(times)]
    assert pauses[0] == 60.0
    assert pauses == sorted(pauses)
    assert pauses[-1] == 300.0
    assert len(calls_within(HOUR, Pace(60.0))) < 16


def test_a_change_makes_the_pause_short_again():
    times = calls_within(HOUR, Pace(60.0), changes={6})
    assert times[7] - times[6] == 60.0 < times[6] - times[5]


def test_topics_that_share_a_pace_ask_no_more_often_together():
    alone = len(calls_within(24 * HOUR, Pace(60.0)))
    together = 8 * len(calls_within(24 * HOUR, Pace(60.0).shared(8)))
    assert together < 1.25 * alone  # before the pauses have grown, each is asked about a little more often


def test_one_that_is_away_is_asked_at_its_own_time_and_not_before():
    asked = refused(answered(None, 100.0, changed=False), 160.0, 1000.0)
    assert not is_due(asked, Pace(), 999.0)
    assert is_due(asked, Pace(), 1000.0)
    assert away_until([asked, None, Asked(5.0)], 200.0) == 1000.0
    assert away_until([asked], 1000.0) is None
    assert answered(asked, 1000.0, changed=False).away_until is None


def test_a_pace_slower_than_the_longest_pause_stays_as_it_is():
    assert Pace(900.0).pause(0) == Pace(900.0).pause(50) == 900.0


def test_a_clock_that_was_set_back_delays_nothing_for_long():
    assert is_due(Asked(at=10 * HOUR), Pace(), now=HOUR)
