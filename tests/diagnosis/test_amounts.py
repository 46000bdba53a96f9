"""How much of a resource was used, and of how much: read from what providers say, and told (P1)."""

import json

import pytest
from support.agent_recordings import run, verdict
from support.cases import cases

from noface.agents.codex import CodexReader
from noface.data import table
from noface.diagnosis.agent import classify
from noface.diagnosis.agent_errors import AgentError, AgentEvidence, amounts_in
from noface.diagnosis.reset_times import WallClock
from noface.extras.mini.agent import MiniReader
from noface.extras.mini.task import summary
from noface.model.failure import Failure
from noface.model.json_record import JsonRecord
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
    ("recording", "resource", "usage", "limit"),
    [
        ("claude/max_turns", "turns", 4, 3),
        ("claude/max_tokens", "output", None, 32_000),
        ("claude/context", "context", 205_213, 200_000),
        ("claude/budget", "budget", 1.2006, 0.5),
        ("gemini/context", "context", 1_050_213, 1_048_576),
        ("gemini/max_turns", "turns", 3, None),
        ("mini/step_limit", "turns", 3, None),
        ("mini/cost_limit", "budget", 1.0, None),
        ("mini/context", "context", 205_213, 128_000),
        ("opencode/context", "context", 205_213, 128_000),
        ("opencode/max_tokens", "output", 40, None),
        ("aider/context", "context", 1_920, 128_000),
        ("aider/max_tokens", "output", 4, 16_384),
        ("codex/context_failed", "context", None, None),
    ],
)
def test_what_ran_out_in_a_recorded_run_has_the_amounts_that_its_stream_knows(recording, resource, usage, limit):
    failure = verdict(run(*recording.split("/"))).failure
    assert (failure.resource, failure.limit) == (resource, limit)
    assert failure.usage == (pytest.approx(usage) if usage else None)
    assert bool(failure.ran_out) is bool(usage or limit)


def test_mini_tells_its_limits_where_its_trajectory_is_there():
    info = {"exit_status": "LimitsExceeded", "model_stats": {"api_calls": 30, "instance_cost": 0.4}}
    info["config"] = {"agent": {"step_limit": 30, "cost_limit": 3.0}}
    reader = MiniReader()
    reader.feed(json.dumps({"mini_run": summary(JsonRecord({"info": info}))}).encode() + b"\n")
    failure = reader.verdict(0, "").error
    assert failure.ran_out == "ran out of turns: 30 of 30 turns"


def test_codex_tells_its_context_from_its_log_of_the_thread(tmp_path):
    thread = "01a1f994-5124-7a23-963e-32084e1344d5"
    day = tmp_path / "sessions/2026/11/20"
    day.mkdir(parents=True)
    counts = {"input_tokens": 900_000, "output_tokens": 20}
    info = {"total_token_usage": counts, "last_token_usage": {"total_tokens": 271_000}, "model_context_window": 272_000}
    line = {"type": "event_msg", "payload": {"type": "token_count", "info": info}}
    (day / f"rollout-2026-11-20T15-00-00-{thread}.jsonl").write_text(json.dumps(line) + "\n")
    reader = CodexReader({"CODEX_HOME": str(tmp_path)})
    recorded = run("codex", "context_failed")
    reader.feed(recorded.stdout)
    failure = reader.verdict(recorded.exit_code, recorded.stderr).error
    assert failure.ran_out == "ran out of context: 271,000 of 272,000 tokens"


@pytest.mark.parametrize(
    ("resource", "usage", "limit", "told"),
    [
        ("turns", None, 30.0, "ran out of turns: its limit is 30 turns"),
        ("budget", 0.61, 0.5, "ran out of budget: $0.61 of $0.50"),
        ("output", None, 32000.0, "ran out of output: its limit is 32,000 tokens"),
        ("turns", 3.0, None, "ran out of turns: 3 turns used"),
        ("context", None, None, ""),
        ("", None, None, ""),
    ],
)
def test_what_ran_out_is_said_as_far_as_it_is_known(resource, usage, limit, told):
    failure = Failure(FailureKind.RESOURCE_EXHAUSTED, "m", "r", resource=resource, usage=usage, limit=limit)
    assert failure.ran_out == told
