"""The one rule for another machine that does not answer, or refuses: when it is asked again, and how often that is told."""

import pytest

from noface.engine.outages import Outage
from noface.errors import ForgeAwayError, ForgeError, RemoteError, SigningError

NOW = 1000.0


class Hand:
    time = NOW

    def now(self):
        return self.time


@pytest.fixture
def told():
    return []


@pytest.fixture
def outage(told):
    return Outage(Hand(), (1.0, 60.0), (600.0,), lambda error, until, issue: told.append((error.reason, until, issue)))


@pytest.mark.parametrize(
    ("error", "until"),
    [
        (RemoteError("no route", passing=True), NOW + 1),
        (SigningError("the key is locked"), NOW + 1),
        (ForgeAwayError("a limit", NOW + 3600), NOW + 3600),
        (ForgeAwayError("a limit that is over", NOW - 5), NOW + 1),
        (ForgeError("not allowed"), NOW + 600),
        (RemoteError("no permission"), NOW + 600),
    ],
)
def test_it_is_asked_again_when_it_has_said_and_not_before_a_pause(outage, error, until):
    outage.met(error)
    assert outage.until == until


def test_the_pauses_of_an_outage_grow_until_it_is_over(outage, told):
    error = RemoteError("no route", passing=True)
    pauses = []
    for _ in range(3):
        outage.met(error)
        pauses.append(outage.until - NOW)
    assert pauses == [1, 60, 60]
    assert told == [("no route.", NOW + 1, None)]
    assert outage.over()
    assert not outage.over()
    outage.met(error)
    assert outage.until == NOW + 1
    assert len(told) == 2


def test_a_refusal_is_told_once_a_run_whatever_comes_between(outage, told):
    refusal = ForgeError("not allowed.", "Give the token more.")
    outage.met(refusal)
    outage.over()
    outage.met(refusal)
    outage.refused(ForgeError("not allowed either.", "Give the token more."), "7")
    assert told == [("not allowed. Give the token more.", NOW + 600, None)]
    outage.refused(ForgeError("locked.", "Unlock it."), "8")
    assert told[1:] == [("locked. Unlock it.", NOW + 600, "8")]


def test_an_issue_is_told_again_what_refuses_it_once_an_outage_has_stood_between(told):
    outage = Outage(Hand(), (1.0,), (600.0,), lambda error, *_: told.append(error.reason), each_reason=True)
    large = ForgeError("too large")
    for error in (large, large, RemoteError("no route", passing=True), large, large):
        outage.met(error)
    assert told == ["too large.", "no route.", "too large."]


def test_a_refusal_is_no_outage_that_could_be_over(outage):
    outage.met(ForgeError("not allowed"))
    assert not outage.passing
    assert not outage.over()


def test_what_an_issue_waits_for_is_told_with_each_reason_and_when_it_takes_long(told):
    outage = Outage(
        Hand(), (1.0, 4.0, 60.0), (600.0,), lambda error, until, _: told.append((error.reason, until)), each_reason=True
    )
    for words in ("no route", "no name", "no name", "no name", "no name"):
        outage.met(RemoteError(words, passing=True))
    assert told == [("no route.", NOW + 1), ("no name.", NOW + 4), ("no name.", NOW + 60)]
