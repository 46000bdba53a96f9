"""Records to JSON and back."""

import dataclasses
import inspect
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cases import cases

from noface.model import attempt, failure, gate, issue, worker_run
from noface.model.codec import decode, encode
from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind

MODULES = (attempt, failure, gate, issue, worker_run)
RECORDS = list(
    dict.fromkeys(kind for each in MODULES for _, kind in inspect.getmembers(each, dataclasses.is_dataclass))
)
TEXT = st.text(max_size=6) | st.sampled_from(["\udcff", "\0", "ä", "\u2028", "1", "null"])
for scalar, strategy in ((str, TEXT), (float, st.floats(allow_nan=False))):
    st.register_type_strategy(scalar, strategy)


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=12)
@given(st.data())
def test_every_record_comes_back_as_it_was(kind, data):
    record = data.draw(st.from_type(kind))
    text = json.dumps(encode(record))
    assert text.isascii()
    assert decode(kind, json.loads(text)) == record


def test_missing_fields_take_their_defaults_and_unknown_ones_are_passed_over():
    assert decode(Issue, {"id": "1", "title": "One", "added_later": [1]}) == Issue("1", "One")


@cases(
    "value",
    [
        None,
        5,
        "text",
        [],
        {},
        {"id": "1"},
        {"id": 1, "title": "t"},
        {"id": "1", "title": None},
        {"id": "1", "title": "t", "labels": "abc"},
        {"id": "1", "title": "t", "labels": [1]},
        {"id": "1", "title": "t", "priority": "high"},
        {"id": "1", "title": "t", "priority": True},
        {"id": "1", "title": "t", "no_escalate": 1},
        {"id": "1", "title": "t", "max_attempts": 1.5},
    ],
)
def test_what_is_no_such_record_is_refused(value):
    with pytest.raises((TypeError, ValueError)):
        decode(Issue, value)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="NEVER_HEARD"):
        decode(Failure, {"kind": "NEVER_HEARD", "message": "m", "rule": "r"})


def test_records_inside_records_are_built_and_whole_numbers_are_floats_too():
    found = decode(GateResult, {"gate": {"name": "u", "command": "c"}, "tree": "t", "exit_code": 0, "seconds": 2})
    assert found.gate == GateSpec("u", "c")
    assert isinstance(found.seconds, float)


def test_pairs_keep_their_shape():
    with pytest.raises(ValueError, match="zip"):
        decode(worker_run.ModelSpec, {"name": "m", "agent": "a", "env": [["only-one"]]})


def test_enums_are_stored_by_value():
    assert encode({"kind": FailureKind.NO_DIFF, 1: ("a", frozenset({"b"}))}) == {"kind": "NO_DIFF", "1": ["a", ["b"]]}
