"""The recordings: what the classifier must get right, as shares (the issue's own thresholds)."""

from dataclasses import replace

import pytest
from support.corpus_score import (
    GIVEN,
    MORE,
    RECORDINGS,
    RUNNERS,
    TOOLS,
    VERDICTS,
    evidence_of,
    load,
    plain,
    score,
    verdict_lines,
    verdicts,
)

from noface.diagnosis.gate import WIDTH_MAX, classify
from noface.diagnosis.known_causes import access_refused_of, known_cause
from noface.model.failure import Failure
from noface.model.quoting import to_the_point


def test_at_least_97_percent_of_the_given_recordings_are_named_rightly():
    strict = score(GIVEN).strict
    assert strict.of == 279
    assert strict.share >= 0.97, strict.wrong


def test_at_least_95_percent_of_the_traps_are_seen_through():
    traps = score(GIVEN).traps
    assert traps.of >= 30
    assert traps.share >= 0.95, traps.wrong


def test_the_location_is_right_in_90_percent_where_the_output_names_one():
    location = score(GIVEN).location
    assert location.of >= 100
    assert location.share >= 0.90, location.wrong


def test_failing_test_names_are_exact_in_90_percent_of_the_cases_that_have_them():
    failing = score(GIVEN).failing
    assert failing.of >= 60
    assert failing.share >= 0.90, failing.wrong


def test_tools_outside_the_given_recordings_are_named_as_well():
    figures = score(MORE)
    assert figures.strict.of >= 190
    assert figures.strict.share >= 0.97, figures.strict.wrong
    assert figures.failing.share >= 0.90, figures.failing.wrong


def test_runners_outside_the_given_recordings_are_named_as_well():
    figures = score(RUNNERS)
    assert figures.strict.of >= 585
    assert figures.strict.share >= 0.93, figures.strict.wrong
    assert figures.lenient.share >= 0.98, figures.lenient.wrong
    assert figures.traps.of >= 30
    assert figures.traps.share >= 0.97, figures.traps.wrong
    assert figures.location.of >= 90
    assert figures.location.share >= 0.90, figures.location.wrong


def test_tools_that_no_rule_was_made_for_are_read_by_what_their_gates_are_for():
    figures = score(TOOLS)
    assert figures.strict.of == 525
    assert figures.strict.share >= 0.93, figures.strict.wrong
    assert figures.lenient.share >= 0.97, figures.lenient.wrong
    assert figures.traps.share >= 0.95, figures.traps.wrong


def test_of_1465_red_recordings_none_is_taken_for_a_refused_login_and_no_worker_is_told_a_wrong_cause():
    """What goes to a person at once is certain; what a worker is told is missing there, or did not answer."""
    told = {}
    red = [
        (record, verdict)
        for name in RECORDINGS
        for record, verdict in zip(load(name), verdicts(name), strict=True)
        if verdict.kind is not None
    ]
    for record, verdict in red:
        message, evidence, tests = verdict.message, verdict.evidence, verdict.failing_tests
        failure = Failure(verdict.kind, message, verdict.rule, evidence=evidence, failing_tests=tests, gate="g")
        failure = replace(failure, excerpt=verdict.excerpt)
        assert access_refused_of(failure) is None, record["id"]
        if (known := known_cause(failure)) is not None:
            told[record["id"]] = (record["label"]["class"], known.line)
    others = {name: line for name, (kind, line) in told.items() if kind not in ("ENVIRONMENT", "SYNTAX_ERROR")}
    assert (len(red), len(told)) == (1465, 52)
    assert others == {
        "run-shell-dash-cat-missing": "grep: data/rows.csv: No such file or directory",
        "shell-shunit2-cmdnotfound": "tests/t.sh: line 1: cartool: command not found",
    }


def test_the_decisive_line_is_the_one_a_person_would_name_in_four_of_five():
    assert score(GIVEN).key_line.share >= 0.80, score(GIVEN).key_line.wrong


def test_kind_rule_and_place_of_every_verdict_are_as_recorded():
    assert verdict_lines() == VERDICTS.read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_verdict_can_be_explained_and_stays_small(name):
    for record, verdict in zip(load(name), verdicts(name), strict=True):
        assert verdict.rule, record["id"]
        assert len(verdict.excerpt.splitlines()) <= 40, record["id"]
        assert len(verdict.message) <= 400, record["id"]
        if verdict.kind is None:
            continue
        assert len(verdict.signature) == 16, record["id"]
        if verdict.key_line.strip():
            assert verdict.evidence, record["id"]
            assert plain(to_the_point(verdict.key_line, WIDTH_MAX)) in plain(verdict.excerpt), record["id"]


def test_a_runtime_error_with_frames_has_its_stack_trace():
    by_id = {record["id"]: verdict for record, verdict in zip(load(GIVEN), verdicts(GIVEN), strict=True)}
    assert "at shop.Cart.total" in by_id["java-junit5-oom-heap"].stack_trace
    assert "at addLine" in by_id["js-node-throw"].stack_trace
    assert "shop/inventory.py" in by_id["python-unittest-exception"].stack_trace


def test_without_the_file_list_most_verdicts_stay_the_same():
    from dataclasses import replace

    same = total = 0
    for record, verdict in zip(load(GIVEN), verdicts(GIVEN), strict=True):
        bare = classify(replace(evidence_of(record), repo_files=None))
        same, total = same + (bare.kind == verdict.kind), total + 1
    assert same / total >= 0.96
