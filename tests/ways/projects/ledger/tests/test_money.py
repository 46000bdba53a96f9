import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger import parse_cents, show_cents


@pytest.mark.parametrize(("text", "cents"), [("12.30", 1230), ("0.5", 50), ("-3", -300)])
def test_amounts_are_read(text, cents):
    assert parse_cents(text) == cents


def test_a_third_place_is_an_error():
    with pytest.raises(ValueError):
        parse_cents("1.234")


@given(st.integers(-10**6, 10**6))
def test_what_is_written_is_read_again(cents):
    assert parse_cents(show_cents(cents)) == cents
