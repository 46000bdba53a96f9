"""The configuration's words are the core's: it lies below the core, so only a test can say so."""

from typing import get_args

from noface.config.vocabulary import (
    KINDS,
    STRATEGIES,
    AnswerName,
    CategoryName,
    allowed_strategies,
    is_kind,
    is_strategy,
)
from noface.core.taxonomy import Category, FailureKind, Strategy


def test_the_kinds_are_those_of_the_taxonomy_in_its_order():
    assert tuple(FailureKind) == KINDS


def test_the_categories_are_those_of_the_taxonomy_in_its_order():
    assert get_args(CategoryName) == tuple(Category)


def test_the_strategies_are_those_of_the_core_in_its_order():
    assert tuple(Strategy) == STRATEGIES


def test_a_rung_may_answer_every_kind_and_every_category():
    assert get_args(AnswerName) == (*FailureKind, *Category)


def test_each_kind_allows_what_the_core_allows_and_its_default_among_that():
    for kind in FailureKind:
        assert allowed_strategies(kind.value) == kind.allowed, kind
        assert kind.info.strategy in allowed_strategies(kind.value), kind


def test_words_are_told_apart_from_what_is_none():
    assert is_kind("TIMEOUT")
    assert is_strategy("reduce")
    for other in ("timeout", "", 3, ["TIMEOUT"], {}):
        assert not is_kind(other)
        assert not is_strategy(other)
