"""A model's circuit breaker: incidents are counted once, waits never get shorter (N1)."""

from hypothesis import given
from hypothesis import strategies as st

from noface.recovery.schedule import BREAKER_AFTER, BREAKER_WAIT_S, Breaker, tripped

NOW = 1_000_000.0


def trip(before=None, *, started_at=NOW - 10, now=NOW, until=NOW + 30, kind="NETWORK", reason="away"):
    """What a transient failure makes of a breaker."""
    return tripped(before, "small", started_at=started_at, now=now, until=until, kind=kind, reason=reason)


def test_the_first_failure_opens_the_breaker_for_as_long_as_the_policy_waits():
    assert trip() == Breaker("small", NOW + 30, 1, NOW, "NETWORK", "away")


def test_a_breaker_is_open_until_its_time_and_no_longer():
    breaker = trip()
    assert breaker.open(NOW + 29.9)
    assert not breaker.open(NOW + 30)


def test_failures_of_attempts_that_had_begun_before_it_was_noticed_are_one_incident():
    first = trip()
    second = trip(first, started_at=NOW - 1, now=NOW + 5, until=NOW + 20)
    assert (second.failures, second.since) == (1, NOW)


def test_a_later_failure_of_the_same_incident_that_knows_of_a_longer_wait_lengthens_it():
    second = trip(trip(), now=NOW + 5, until=NOW + 3600, kind="RATE_LIMITED", reason="resets at noon")
    assert (second.until, second.kind, second.reason) == (NOW + 3600, "RATE_LIMITED", "resets at noon")


def test_a_later_failure_of_the_same_incident_that_knows_of_no_longer_wait_leaves_the_reason_of_the_longer_one():
    first = trip(until=NOW + 3600, kind="RATE_LIMITED", reason="resets at noon")
    second = trip(first, now=NOW + 5, until=NOW + 20)
    assert (second.until, second.kind, second.reason) == (NOW + 3600, "RATE_LIMITED", "resets at noon")


def test_a_probe_that_fails_is_another_incident():
    again = trip(trip(), started_at=NOW + 31, now=NOW + 40, until=NOW + 100)
    assert (again.failures, again.since, again.until) == (2, NOW + 40, NOW + 100)


def test_after_so_many_incidents_in_a_row_the_model_rests():
    breaker, now = None, NOW
    for incident in range(1, BREAKER_AFTER + 2):
        breaker = trip(breaker, started_at=now, now=now + 1, until=now + 2)
        assert breaker.failures == incident
        rests = incident >= BREAKER_AFTER
        assert breaker.until == (now + 1 + BREAKER_WAIT_S if rests else now + 2)
        assert ("circuit breaker is open" in breaker.reason) == rests
        now = breaker.until


def test_a_wait_longer_than_the_rest_stays_as_it_is():
    worn = Breaker("small", NOW - 1, 2, NOW - 100, "NETWORK", "away")
    rested = trip(worn, started_at=NOW - 1, until=NOW + 3600, reason="resets at noon")
    assert (rested.until, rested.reason, rested.failures) == (NOW + 3600, "resets at noon", 3)


FAILURES = st.lists(
    st.tuples(st.floats(0, 100), st.floats(0, 100), st.floats(0, 5000)).map(
        lambda times: (times[0], times[0] + times[1], times[2])
    ),
    min_size=1,
    max_size=12,
)


@given(FAILURES)
def test_whatever_fails_when_the_wait_never_shrinks_and_an_incident_counts_once(failures):
    breaker, incidents = None, 0
    for started, now, wait in sorted(failures, key=lambda failure: failure[1]):
        noticed = breaker is not None and started < breaker.since
        incidents += not noticed
        before = breaker
        breaker = trip(before, started_at=started, now=now, until=now + wait)
        assert breaker.failures == incidents
        assert breaker.until >= now + wait
        assert before is None or breaker.until >= before.until
        assert before is None or breaker.since >= before.since
        if incidents >= BREAKER_AFTER and not noticed:
            assert breaker.until >= now + BREAKER_WAIT_S
