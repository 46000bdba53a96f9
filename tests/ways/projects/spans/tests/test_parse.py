import pytest

from spans.parse import parse


def test_pages_and_spans():
    assert parse("1-4,7") == [(1, 4), (7, 7)]


def test_blanks_do_not_matter():
    assert parse(" 1-4 , 7 ") == [(1, 4), (7, 7)]


def test_a_reversed_span_is_an_error():
    with pytest.raises(ValueError, match="ends before it begins"):
        parse("1,5-2")


def test_letters_are_an_error():
    with pytest.raises(ValueError):
        parse("a-b")
