"""When a provider takes requests again, in every form that was seen, and in some that make no sense."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import cases

from noface.agents.json_stream import local_clock, named_zone
from noface.diagnosis.reset_times import WallClock, epoch, limit_end, reset_time, retry_after

NOW = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)
CLOCK = WallClock(NOW.timestamp(), UTC, named_zone)
BERLIN = WallClock(NOW.timestamp(), ZoneInfo("Europe/Berlin"), named_zone)


def at(*when, zone=UTC):
    return datetime(*when, tzinfo=zone).timestamp()


@cases(
    ("text", "expected"),
    [
        ("You've hit your session limit · resets 4:28pm (UTC)", at(2026, 11, 20, 16, 28)),
        ("You've hit your weekly limit · resets Nov 24, 3:15am (UTC)", at(2026, 11, 24, 3, 15)),
        ("You’ve hit your usage limit. … or try again at 4:30 PM.", at(2026, 11, 20, 16, 30)),
        ("try again at Nov 24th, 2026 3:15 AM.", at(2026, 11, 24, 3, 15)),
        ("try again at Nov\n24th, 2026\n3:15 AM.", at(2026, 11, 24, 3, 15)),
        ("try again at 4:30\u202fPM", at(2026, 11, 20, 16, 30)),
        ("Your limit will reset at 9am (America/Chicago).", at(2026, 11, 21, 15, 0)),
        ("resets at 16:45 (UTC)", at(2026, 11, 20, 16, 45)),
        ("resets 12am (UTC)", at(2026, 11, 21, 0, 0)),
        ("resets 12:30 p.m. UTC", at(2026, 11, 21, 12, 30)),
        ("resets Jan 2, 3am (UTC)", at(2027, 1, 2, 3, 0)),
        ("resets November 24 at 3:15am (UTC)", at(2026, 11, 24, 3, 15)),
        ("resets 3:29pm (UTC)", at(2026, 11, 20, 15, 29)),  # just passed: it means now
        ("resets 3:20pm (UTC)", at(2026, 11, 21, 15, 20)),  # tomorrow
        ("Claude AI usage limit reached|1795490120", 1_795_490_120),
        ("limit reached|1795490120000", 1_795_490_120),
        ('{"resets_at": 1795193196, "resets_in_seconds": 3600}', 1_795_193_196),
        ("try again at 2026-11-24T03:15:00Z", at(2026, 11, 24, 3, 15)),
        ("resets at 2026-11-24 04:15:00+01:00", at(2026, 11, 24, 3, 15)),
        ("Suggested retry after 2s.", CLOCK.now + 2),
        ("Please try again in 8s. Visit https://x", CLOCK.now + 8),
        ("Please try again in 3.5s.", CLOCK.now + 3.5),
        ("Please retry in 14h12m3.1s", CLOCK.now + 51_123.1),
        ("Please try again in 250ms.", CLOCK.now + 0.25),
        ("try again in 3 days 4 hours 5 minutes.", CLOCK.now + 273_900),
        ("try again in 1 hour and 30 minutes", CLOCK.now + 5_400),
        ("retry-after: 60", CLOCK.now + 60),
        ('"retryDelay": "34s"', CLOCK.now + 34),
    ],
)
def test_a_time_is_read_in_every_form(text, expected):
    assert reset_time(text, CLOCK) == pytest.approx(expected)


@cases(
    "text",
    [
        "", "try again later", "resets soon", "resets 9", "again at 99:99", "resets 13pm (UTC)", "resets 0am (UTC)",
        "resets Nov 31, 3am (UTC)", "resets 4:28pm (Nowhere/Land)", "resets 4:28pm (PST8)", "we met at 4:30 PM",
        "in 8s it was done", "limit reached|12345", "resets Nov 24, 2999 3am (UTC)", "again in 99999 weeks",
        "retry after 2 more attempts", "room 16:30",
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_no_time(text):
    assert reset_time(text, CLOCK) is None


HOUR = 3600.0


@cases(
    ("told", "text", "expected"),
    [
        (None, "You've hit your session limit · resets 3:18pm (UTC)", -12 * 60),  # it is over, and not tomorrow's
        (None, "5-hour limit reached · resets 11am (UTC)", -4.5 * HOUR),
        (None, "Daily limit reached, resets 3:18pm (UTC)", 24 * HOUR - 12 * 60),
        (8.3 * HOUR, "You've hit your 5-hour limit · resets 4:30pm (UTC)", HOUR),
        (8.3 * HOUR, "You've hit your five-hour limit", 5 * HOUR + 300),  # of another zone: asked at its latest end
        (2 * HOUR, "You've hit your session limit · resets 11:30pm (UTC)", 2 * HOUR),
        (100 * HOUR, "You've hit your weekly limit", 100 * HOUR),
        (8.3 * HOUR, "Rate limited", 8.3 * HOUR),
        (None, "Rate limited", None),
    ],
)
def test_what_the_words_of_a_limit_rule_out_is_not_its_end(told, text, expected):
    moment = limit_end((told and NOW.timestamp() + told, None), (text, ""), CLOCK)
    assert moment == (None if expected is None else pytest.approx(NOW.timestamp() + expected))


def test_a_time_without_a_zone_is_local():
    assert reset_time("try again at 5:00 PM", BERLIN) == at(2026, 11, 20, 16, 0)
    assert reset_time("try again at Jul 1st, 2027 5:00 PM", BERLIN) == at(2027, 7, 1, 15, 0), "summer time"


@cases(
    ("headers", "expected"),
    [
        ({"retry-after": "60"}, 60), ({"Retry-After": "1.5"}, 1.5), ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Fri, 20 Nov 2026 15:31:00 GMT"}, 60), ({"x-ratelimit-reset-tokens": "6m0s"}, 360),
        ({"x-codex-primary-reset-after-seconds": "3600"}, 3600), ({"retry-after": "soon"}, None), ({}, None),
        ({"retry-after": "Fri, 99 Nov"}, None), ({"date": "60"}, None),
    ],
)  # fmt: skip
def test_headers_tell_it_too(headers, expected):
    assert retry_after(headers, CLOCK) == (None if expected is None else CLOCK.now + expected)


def test_milliseconds_are_told_from_seconds():
    assert epoch(1_795_490_120) == epoch(1_795_490_120_000) == 1_795_490_120


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 10**9))
def test_a_time_of_day_is_its_next_occurrence(hour, minute, later):
    clock = WallClock(NOW.timestamp() + later, UTC)
    moment = reset_time(f"resets {hour:02}:{minute:02} (UTC)", clock)
    assert -300 <= moment - clock.now <= timedelta(days=1).total_seconds()
    assert datetime.fromtimestamp(moment, UTC).strftime("%H:%M") == f"{hour:02}:{minute:02}"


@given(st.text(alphabet="resta gin atry|0123456789:pmPM()UTC,Nov.hd\n", max_size=80))
def test_no_text_breaks_it(text):
    moment = reset_time("resets " + text, CLOCK)
    assert moment is None or abs(moment - CLOCK.now) <= 400 * 86_400


def test_the_wall_clock_knows_its_zone(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    assert local_clock().zone == ZoneInfo("Europe/Berlin")
    assert local_clock().now > NOW.timestamp() - 10**9
    assert named_zone("../etc/passwd") is None


@pytest.mark.parametrize(
    ("zone", "said", "at"),
    [
        ("America/Los_Angeles", "7:55 PM", "2026-11-22 19:55"),
        ("America/Los_Angeles", "Nov 23rd, 2026 7:55 AM", "2026-11-23 07:55"),
        ("America/Los_Angeles", "Jan 1st, 2027 11:55 AM", "2027-01-01 11:55"),
        ("Asia/Kolkata", "1:55 AM", "2026-11-23 01:55"),
        ("Asia/Kolkata", "Nov 26th, 2026 1:25 AM", "2026-11-26 01:25"),
        ("Pacific/Auckland", "Nov 24th, 2026 4:55 AM", "2026-11-24 04:55"),
        ("Europe/Berlin", "Mar 28th, 2027 3:30 AM", "2027-03-28 03:30"),  # an hour after the clocks went forward
        ("UTC", "Nov 25th, 2026 7:56 PM", "2026-11-25 19:56"),
    ],
)
def test_codex_s_usage_limit_ends_on_its_day_in_the_zone_of_this_machine(zone, said, at):
    """The wordings are those of Codex CLI 0.169.0, run in these zones on 22 November 2026 at 19:55 UTC."""
    here = named_zone(zone)
    clock = WallClock(datetime(2026, 11, 22, 19, 55, tzinfo=UTC).timestamp(), here, named_zone)
    text = f"You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro) or try again at {said}."
    assert reset_time(text, clock) == datetime.fromisoformat(at).replace(tzinfo=here).timestamp()
