import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import cases

from noface.config.values import DURATION_MAX_S, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("1d", 86400), ("1.5h", 5400), ("0s", 0), (90, 90), (0.5, 0.5)],
)
def test_durations_are_read_as_seconds(text, seconds):
    parsed = parse_duration(text)
    assert parsed == seconds
    assert isinstance(parsed, float)


NONE = ("", "10", "10 m", "m", "30m1h", "1h1h", "-1s", "1e3s", "10m\n", "١٠m", "10minutes", "1.s", ".5s")
BEYOND = (-1, float("nan"), float("inf"), -0.001, DURATION_MAX_S + 1, "31d", 10**400)


@cases(
    ("value", "said"), [*((each, 'such as "90s"') for each in NONE), *((each, "from 0 to 30d") for each in BEYOND)], str
)
def test_what_is_no_duration_or_out_of_range_is_refused_with_what_is_one(value, said):
    with pytest.raises(ValueError, match=said):
        parse_duration(value)


@given(st.floats(min_value=0, max_value=DURATION_MAX_S))
def test_a_written_duration_reads_back_exactly(seconds):
    assert parse_duration(format_duration(seconds)) == seconds


@given(st.one_of(st.text(), st.from_regex(r"[0-9.dhms]{1,8}", fullmatch=True)))
def test_any_text_is_a_duration_in_range_or_refused(text):
    try:
        seconds = parse_duration(text)
    except ValueError:
        return
    assert 0 <= seconds <= DURATION_MAX_S


def test_whole_durations_are_written_short():
    assert [format_duration(s) for s in (0, 90, 600, 5400, 86400.0, 0.25)] == [
        "0s",
        "1m30s",
        "10m",
        "1h30m",
        "1d",
        "0.25s",
    ]
