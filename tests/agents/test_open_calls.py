"""Which tool calls are open, as the streams of the agents tell it: recorded ones, and what they do not hold."""

import json

import pytest
from support.agent_recordings import CLIS, of_each, runs

from noface.agents.base import AGENTS, ToolProcesses

TOLD = {
    "claude": ("max_turns", "echo step 0"),
    "codex": ("bg_process", "/bin/bash -lc 'nohup sleep 987 >/dev/null 2>&1 & echo started'"),
    "gemini": ("sigint_bash", "sleep 987"),
}


def fed(cli, *entries):
    reader = AGENTS[cli].reader()
    for entry in entries:
        reader.feed(json.dumps(entry).encode() + b"\n")
    return reader


def used(name, call="t", parent=None, **given):
    content = [{"type": "tool_use", "id": call, "name": name, "input": given}]
    return {"type": "assistant", "parent_tool_use_id": parent, "message": {"content": content}}


def ended(call="t"):
    return {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": call}]}}


@pytest.mark.parametrize("cli", TOLD)
def test_a_recorded_command_is_open_until_its_result(cli):
    name, command = TOLD[cli]
    (run,) = (each for each in runs(cli) if each.name == name)
    reader, seen = AGENTS[cli].reader(), []
    for line in run.stdout.splitlines(keepends=True):
        reader.feed(line)
        seen.append([call.command for call in reader.open_calls])
    assert [command] in seen
    assert max(map(len, seen)) == 1
    assert seen[-1] == ([command] if cli == "gemini" else []), "that one was interrupted while it ran"


@pytest.mark.parametrize("cli", sorted(TOLD))
def test_after_a_run_that_ended_well_no_call_is_open(cli):
    for run in runs(cli):
        if run.name in ("success", "bare", "known_model", "env_dump"):
            reader = AGENTS[cli].reader()
            reader.feed(run.stdout + b"\n")
            assert reader.open_calls == (), run.name


def test_every_agent_tells_calls_or_has_processes_that_tell_of_its_tools():
    for cli in of_each("TELLS", dict.fromkeys(CLIS)):
        agent = AGENTS[cli]
        assert agent.reader().tells_calls == (cli in TOLD)
        assert agent.tool_processes in ToolProcesses


def test_files_that_claude_reads_and_writes_take_no_time_and_a_subagent_tells_of_its_own_calls():
    assert fed("claude", used("Edit", file_path="a.py"), used("Read", "u"), used("Agent", "v")).open_calls == ()
    (call,) = fed("claude", used("Agent", "v"), used("Bash", "w", parent="v", command="make")).open_calls
    assert call.command == "make"
    assert fed("claude", used("Bash", command="make"), ended()).open_calls == ()


def test_calls_of_servers_and_the_web_have_no_command():
    calls = fed(
        "claude", used("mcp__tests__run", "a", suite="all"), used("WebFetch", "b", url="https://x.y")
    ).open_calls
    assert [(call.id, call.command) for call in calls] == [("a", ""), ("b", "")]
    item = {"id": "item_1", "type": "mcp_tool_call", "server": "tests", "tool": "run"}
    assert fed("codex", {"type": "item.started", "item": item}).open_calls[0].command == ""
    assert (
        fed("codex", {"type": "item.started", "item": item}, {"type": "item.completed", "item": item}).open_calls == ()
    )


def test_calls_without_end_take_little_memory():
    reader = fed("claude", *(used("Bash", str(number), command="make") for number in range(3_000)))
    assert len(reader.open_calls) == 1_000


DONE = {"type": "result", "subtype": "success", "is_error": False}
TASK = {"type": "system", "subtype": "task_started", "task_id": "b1"}
TASK_ENDED = {"type": "system", "subtype": "task_notification", "task_id": "b1", "status": "completed"}
SAYS = {"type": "assistant", "message": {"content": [{"type": "text", "text": "More."}]}}
TURN, TURN_ENDED = {"type": "turn.started"}, {"type": "turn.completed"}


@pytest.mark.parametrize(
    ("cli", "entries", "over"),
    [
        ("claude", (SAYS, DONE), True),
        ("claude", (SAYS, DONE, SAYS), False),  # a task or a wake-up has begun another turn
        ("claude", (TASK, SAYS, DONE), False),
        ("claude", (TASK, SAYS, DONE, TASK_ENDED), True),
        ("claude", (used("Bash", command="make"),), False),
        ("codex", (TURN, {"type": "item.started", "item": {"id": "1", "type": "command_execution"}}, TURN_ENDED), True),
        ("codex", (TURN, TURN_ENDED, TURN), False),
        ("gemini", ({"type": "result", "status": "success"},), True),
        ("opencode", ({"type": "step_finish", "part": {"reason": "stop"}},), True),
        ("opencode", ({"type": "step_finish", "part": {"reason": "tool-calls"}},), False),
        ("opencode", ({"type": "step_finish", "part": {"reason": "unknown"}},), False),  # it asks again
    ],
)
def test_a_run_is_over_with_its_last_event_unless_it_awaits_what_it_has_announced(cli, entries, over):
    reader = fed(cli, *entries)
    assert (reader.ended and not reader.awaits) is over
