from spans.merge import merge
from spans.parse import parse
from spans.show import show


def test_the_cases(cases):
    for given, expected in cases:
        assert show(merge(parse(given))) == expected


def test_nothing_is_merged_to_nothing():
    assert merge([]) == []
