"""What the adapters read of every recorded run of the real CLIs, to the last event, cent and token."""

import json

import pytest
from support.agent_golden import VERDICTS, judge, read, stored
from support.agent_recordings import CLIS, evidence, run, runs
from support.cases import cases

GOLDEN = stored()
JUDGED = stored(VERDICTS)
EVERY = [each for cli in CLIS for each in runs(cli)]
SONNET_USD = (3e-6, 15e-6)
GPT4O_USD = (2.5e-6, 10e-6)


@cases("each", EVERY, ids=lambda each: f"{each.cli}-{each.name}")
def test_events_cost_tokens_session_and_verdict_are_read_exactly(each):
    assert read(each) == GOLDEN[each.cli][each.name]
    assert judge(each) == JUDGED[each.cli][each.name]


def test_every_recording_has_its_stored_reading():
    renew = "run: PYTHONPATH=tests python -m support.agent_golden"
    recorded = {(each.cli, each.name) for each in EVERY}
    for golden in (GOLDEN, JUDGED):
        assert {(cli, name) for cli in golden for name in golden[cli]} == recorded, renew


@cases("each", [each for each in EVERY if each.cli == "claude"], ids=lambda each: each.name)
def test_claude_s_cost_is_that_of_the_tokens_read(each):
    usage = evidence(each).usage
    if usage.cost_usd is not None and each.name not in ("model_alias", "sse_overloaded"):  # those asked other models
        expected = usage.tokens_in * SONNET_USD[0] + usage.tokens_out * SONNET_USD[1]
        assert usage.cost_usd == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("cli", ["codex", "gemini", "opencode"])
def test_tokens_are_those_the_stream_adds_up_to(cli):
    def numbers(value, name):
        if isinstance(value, dict):
            own = [value[name]] if isinstance(value.get(name), int) else []
            return own + [each for item in value.values() for each in numbers(item, name)]
        return []

    name = {"codex": "output_tokens", "gemini": "output_tokens", "opencode": "output"}[cli]
    entries = [json.loads(line) for line in run(cli, "success").stdout.splitlines()]
    counts = [number for entry in entries for number in numbers(entry, name)]
    told = counts[:1] if cli == "gemini" else counts  # gemini repeats them for each model
    assert evidence(run(cli, "success")).usage.tokens_out == sum(told)


def test_a_session_is_the_one_its_every_line_names():
    for each in runs("claude"):
        named = {json.loads(line).get("session_id") for line in each.stdout.splitlines() if line.startswith(b'{"type"')}
        named.discard(None)
        if named:
            assert {evidence(each).usage.session_id} == named
