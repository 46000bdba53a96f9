"""What an agent's own configuration kept its model from doing, by its typed events, and what that says of a run."""

import json

import pytest

from noface.agents.codex import CodexReader
from noface.attempt.worker.out_of_reach import denied
from noface.extras.gemini.agent import GeminiReader
from noface.model.worker_run import ModelSpec


def refused(reader, *events):
    reader.feed(b"".join(json.dumps(event).encode() + b"\n" for event in events))
    return reader.verdict(0, "").refused


def test_a_command_that_codex_declined_and_a_call_that_gemini_s_policy_denied_are_refused():
    command = {"id": "1", "type": "command_execution", "command": "sed -i a", "status": "declined"}
    assert refused(CodexReader(), {"type": "item.completed", "item": command}) == ("sed -i a",)
    call = {"type": "tool_use", "tool_name": "replace", "tool_id": "r", "parameters": {"file_path": "a.py"}}
    denial = {"type": "tool_result", "tool_id": "r", "status": "error", "error": {"type": "policy_violation"}}
    assert refused(GeminiReader(), call, denial) == ("replace a.py",)
    assert refused(GeminiReader(), call, denial | {"error": {"type": "not_found"}}) == ()


@pytest.mark.parametrize(
    ("agent", "call", "told"),
    [
        ("claude", "Write a.py", True),
        ("claude", "mcp__fs__write_file a.py", True),
        ("claude", "mcp__search__query a", False),
        ("claude", "WebFetch a", False),
        ("codex", "sed -i a", True),
    ],
)
def test_a_refusal_counts_if_what_was_refused_would_have_written(agent, call, told):
    found = denied(ModelSpec("m", agent=agent), [call])
    assert (found is not None and not found.charged and call in found.message) is told
