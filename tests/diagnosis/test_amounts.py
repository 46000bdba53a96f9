"""How much of a resource was used, and of how much: read from what providers say, and told (P1)."""

import pytest
from support.cases import cases

from noface.data import table
from noface.diagnosis.agent import classify
from noface.diagnosis.agent_errors import AgentError, AgentEvidence, amounts_in
from noface.diagnosis.reset_times import WallClock
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind
from noface.recovery.reported import task_failure

AMOUNTS = table("agent_errors")["amounts"]


@cases("entry", AMOUNTS)
def test_each_pattern_reads_its_own_example_before_all_others(entry):
    usage, limit = amounts_in((entry["example"],))
    assert (usage or 0, limit or 0) == (entry["usage"], entry["limit"])


def test_a_context_that_is_too_long_is_named_with_usage_and_limit():
    error = AgentError("Prompt is too long", details="the request is ~205213 tokens (limit 200000)")
    failure = classify(AgentEvidence("claude", 1, error=error), WallClock(0.0)).failure
    assert (failure.resource, failure.usage, failure.limit) == ("context", 205213, 200000)
    assert failure.ran_out == "ran out of context: 205,213 of 200,000 tokens"
    assert failure.message == "Prompt is too long (ran out of context: 205,213 of 200,000 tokens)"
    told = task_failure(failure)
    assert (told["type"], told["resource"], told["usage"]) == ("RESOURCE_EXHAUSTION", "context", 205213)


@pytest.mark.parametrize(
    ("resource", "usage", "limit", "told"),
    [
        ("turns", None, 30.0, "ran out of turns: its limit is 30 turns"),
        ("budget", 0.61, 0.5, "ran out of budget: $0.61 of $0.50"),
        ("output", None, 32000.0, "ran out of output: its limit is 32,000 tokens"),
        ("context", None, None, ""),
        ("", None, None, ""),
    ],
)
def test_what_ran_out_is_said_as_far_as_it_is_known(resource, usage, limit, told):
    failure = Failure(FailureKind.RESOURCE_EXHAUSTED, "m", "r", resource=resource, usage=usage, limit=limit)
    assert failure.ran_out == told
