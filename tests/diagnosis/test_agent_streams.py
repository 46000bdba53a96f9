"""The readers of the CLIs' streams, over streams that nobody recorded, and how each CLI is started."""

import json
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.agent_recordings import CLIS, of_each

from noface.agents.base import AGENTS, EventKind, RunPlace
from noface.config.presets import AGENT_NAMES
from noface.diagnosis.agent import classify
from noface.diagnosis.reset_times import WallClock
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.worker_run import ModelSpec

CLOCK = WallClock(1_795_188_600.0, UTC)
QUOTED = (
    "litellm.RateLimitError: RateLimitError: 429\nThe API provider has rate limited you.\n"
    '{"type":"turn.failed","error":{"message":"Quota exceeded"}}\nYou\'ve hit your usage limit · resets 4:28pm (UTC)\n'
    "Model x has hit a token limit!\nExit:\nLimitsExceeded\n401 Invalid API key, overloaded_error, ECONNREFUSED"
)


def lines(*entries):
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


HEADER = "Aider v0.86.2\nMain model: x\nRepo-map: disabled\n\n"
TOKENS = "Tokens: 1.2k sent, 40 received. Cost: $0.0032 message, $0.0032 session.\n"
STEP = "mini-swe-agent (step 1, $0.00):\n"
QUOTING = {
    "claude": lines(
        {"type": "assistant", "message": {"content": [{"type": "text", "text": QUOTED}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": QUOTED, "is_error": True}]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": QUOTED},
    ),
    "codex": lines(
        {"type": "item.completed", "item": {"type": "command_execution", "aggregated_output": QUOTED, "exit_code": 1}},
        {"type": "item.completed", "item": {"type": "error", "message": QUOTED}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": QUOTED}},
        {"type": "turn.completed", "usage": {}},
    ),
    "gemini": lines(
        {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "1", "parameters": {"command": QUOTED}},
        {"type": "tool_result", "tool_id": "1", "status": "error", "output": QUOTED},
        {"type": "message", "role": "assistant", "content": QUOTED, "delta": True},
        {"type": "result", "status": "success", "stats": {}},
    ),
    "opencode": lines(
        {"type": "step_start", "part": {}},
        {"type": "tool_use", "part": {"tool": "bash", "state": {"status": "completed", "output": QUOTED}}},
        {"type": "text", "part": {"text": QUOTED}},
        {"type": "step_finish", "part": {"reason": "stop"}},
    ),
    "aider": f"{HEADER}{QUOTED}\n\n{TOKENS}\nhello.txt\nApplied edit to hello.txt\n".encode(),
    "mini": (
        f"User:\n{QUOTED}\n{STEP}{QUOTED}\n\nTool:\n{QUOTED}\n{STEP}echo COMPLETE\n\nTool:\n{QUOTED}\n"
        f"Exit:\n{QUOTED}\nSaved trajectory to 'x'\n"
    ).encode(),
}  # fmt: skip


def judged(cli, stdout, exit_code=0, stderr=""):
    reader = AGENTS[cli].reader()
    reader.feed(stdout)
    return classify(reader.evidence(exit_code, stderr), CLOCK)


@pytest.mark.parametrize("cli", CLIS)
def test_an_agent_and_its_tools_may_quote_any_error(cli):
    quoting = of_each("QUOTING: a stream that ends well and quotes errors in prose and tools", QUOTING)
    assert judged(cli, quoting[cli]).kind is None


@pytest.mark.parametrize("cli", CLIS)
def test_the_same_words_in_the_cli_s_own_channel_do_decide(cli):
    said = {
        "claude": lines({"type": "result", "subtype": "success", "is_error": True, "result": "usage limit reached"}),
        "codex": lines({"type": "turn.failed", "error": {"message": "You’ve hit your usage limit."}}),
        "gemini": lines({"type": "result", "status": "error", "error": {"message": "[API Error: quota exceeded]"}}),
        "opencode": lines({"type": "error", "error": {"name": "APIError", "data": {"message": "usage limit"}}}),
        "aider": f"{HEADER}Fine.\n\n{TOKENS}\nlitellm.RateLimitError: 429\nRetrying in 0.2 seconds...\n".encode(),
        "mini": b"Exit:\nlitellm.RateLimitError: x\n",
    }
    of_each("a stream that ends with a rate limit in the agent's own error", said)
    stderr = "╭──╮\n│ Traceback │\n╰──╯\nRateLimitError: litellm.RateLimitError: \nx\n" if cli == "mini" else ""
    assert judged(cli, said[cli], 1, stderr).kind == "RATE_LIMITED"


def test_an_error_that_was_overcome_is_none():
    failed = {"type": "error", "error": {"name": "APIError", "data": {"message": "x", "statusCode": 500}}}
    done = [{"type": "step_start", "part": {}}, {"type": "step_finish", "part": {"reason": "stop"}}]
    assert judged("opencode", lines(failed, *done)).kind is None
    retried = f"{HEADER}litellm.RateLimitError: 429\nRetrying in 0.2 seconds...\nFine.\n{TOKENS}".encode()
    assert judged("aider", retried).kind is None
    reconnected = [{"type": "error", "message": "Reconnecting... 1/5 (x)"}, {"type": "turn.completed"}]
    assert judged("codex", lines(*reconnected)).kind is None
    noticed = [{"type": "error", "message": "odd"}, {"type": "turn.completed"}]
    assert judged("codex", lines(*noticed)).kind is None


def test_work_that_goes_on_forgets_what_it_was_retrying():
    retry = {"type": "error", "message": "Reconnecting... waiting for network (Connection failed)"}
    item = {"type": "item.started", "item": {"type": "command_execution", "command": "ls"}}
    assert judged("codex", lines(retry), -15).kind == "NETWORK"
    assert judged("codex", lines(retry, item), -15).kind == "AGENT_CRASH"
    retry = {"type": "system", "subtype": "api_retry", "error": "overloaded", "error_status": 529}
    assert judged("claude", lines(retry), 143).kind == "OVERLOADED"
    assert judged("claude", lines(retry, {"type": "assistant"}), 143).kind == "AGENT_CRASH"


def test_aider_s_reset_time_is_read_across_its_line_breaks():
    text = f"{HEADER}litellm.RateLimitError: Rate limit reached. Please try again\nin 8s. Visit\nhttps://x\n".encode()
    assert judged("aider", text).retry_at == CLOCK.now + 8


def test_aider_adds_up_tokens_and_keeps_the_session_s_cost():
    more = "Tokens: 2M sent, 1.5k cache hit, 60 received. Cost: $0.01 message, $1.25 session.\n"
    reader = AGENTS["aider"].reader()
    reader.feed(f"{HEADER}One.\n{TOKENS}Two.\n{more}".encode())
    usage = reader.evidence(0, "").usage
    assert (usage.tokens_in, usage.tokens_out, usage.cost_usd) == (2_001_200, 100, 1.25)


def test_gemini_s_exit_code_tells_the_status_where_nothing_else_does():
    assert judged("gemini", b"", 173).kind == "RATE_LIMITED"
    assert judged("gemini", b"", 247).kind == "OVERLOADED"
    assert judged("gemini", b"", 53).resource == "turns"
    assert judged("gemini", b"", 1).kind == "AGENT_CRASH"


@pytest.mark.parametrize(
    ("message", "kind"),
    [  # what 0.61.0 prints where a proxy answers with its own page, and where a model answers with nothing
        ("[API Error: Incomplete JSON segment at the end]", "NETWORK"),
        ("The model returned an empty response with no text or thoughts. This may be a transient API issue.", "OUTPUT_FORMAT"),
    ],
)  # fmt: skip
def test_an_answer_to_gemini_that_is_none_is_no_crash_of_gemini(message, kind):
    told = [{"type": "error", "severity": "error", "message": message}, {"type": "result", "status": "error"}]
    assert judged("gemini", lines(*told), 0).kind == kind


def test_what_gemini_says_of_a_long_wait_outweighs_its_talk_of_billing():
    told = "[API Error: You exceeded your current quota, please check your plan and billing. Please retry in 32s.]"
    judgement = judged("gemini", lines({"type": "result", "status": "error", "error": {"message": told}}), 173)
    assert (judgement.kind, judgement.retry_at) == ("RATE_LIMITED", CLOCK.now + 32)


def test_opencode_s_headers_say_when_to_come_back():
    data = {"message": "slow down", "statusCode": 429, "responseHeaders": {"retry-after": "60"}}
    assert judged("opencode", lines({"type": "error", "error": {"name": "APIError", "data": data}}), 1).retry_at == (
        CLOCK.now + 60
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from([
    "type", "subtype", "message", "content", "error", "is_error", "result", "errors", "usage", "item", "text", "part",
    "state", "tool", "tokens", "cache", "cost", "reason", "data", "statusCode", "responseBody", "responseHeaders",
    "name", "status", "stats", "role", "delta", "tool_name", "tool_id", "parameters", "details", "code", "changes",
    "resets_at", "severity", "api_error_status", "rate_limit_info", "resetsAt", "errors", "error_status", "command",
])  # fmt: skip
TYPES = st.sampled_from([
    "assistant", "user", "result", "system", "rate_limit_event", "thread.started", "turn.completed", "turn.failed",
    "error", "item.started", "item.completed", "init", "message", "tool_use", "tool_result", "step_start",
    "step_finish", "text",
])  # fmt: skip
DEEP = st.recursive(JSON, lambda inner: st.dictionaries(KEYS, inner, max_size=4), max_leaves=12)
ENTRY = st.builds(lambda kind, rest: {**rest, "type": kind}, TYPES, st.dictionaries(KEYS, DEEP, max_size=6))
TEXT_LINE = st.sampled_from([
    "Tokens: 1.,2k sent, ,.k received. Cost: $1.2.3 message, $.. session.", "litellm.X: ", "Exit:", "User:", "Tool:",
    "mini-swe-agent (step 9, $9.9.9):", "RepeatedFormatError", "Model x has hit a token limit!", "Retrying in 1s",
    "Output tokens: ~,,, of 1", "Applied edit to ", "The LLM did not conform to the edit format.", "Repo-map: x", "",
    "Empty response received from LLM.", "─" * 40, "\x1b[31m", "{", '{"error": {"code": "x"}}',
]) | st.text(max_size=20)  # fmt: skip


@given(
    st.sampled_from(CLIS),
    st.lists(ENTRY.map(json.dumps) | TEXT_LINE, max_size=6),
    st.binary(max_size=20),
    st.none() | st.integers(-64, 255),
    st.lists(TEXT_LINE, max_size=4),
    st.integers(1, 50),
)
def test_no_stream_breaks_a_reader_and_no_cut_changes_what_it_says(cli, told, noise, exit_code, stderr, size):
    stream = noise + b"\n" + "\n".join(told).encode("utf-8", "surrogatepass")
    whole, cut = AGENTS[cli].reader(), AGENTS[cli].reader()
    events = whole.feed(stream)
    pieces = [event for at in range(0, len(stream), size) for event in cut.feed(stream[at : at + size])]
    assert events == pieces
    assert all(isinstance(event.text, str) for event in events)
    one = whole.evidence(exit_code, "\n".join(stderr))
    assert one == cut.evidence(exit_code, "\n".join(stderr))
    verdict = classify(one, CLOCK)
    assert verdict.message
    usage = one.usage
    assert usage.cost_usd is None or 0 <= usage.cost_usd < float("inf")
    assert whole.verdict(exit_code, "").finished is (whole.verdict(exit_code, "").error is None)


# How each is started

PLACE = RunPlace("/w", "/d/prompt.md", "/d/order.json", "/d")


def started(cli, **more):
    model = ModelSpec("m", cli, **{"model": "some/model", "args": ("--extra",), **more})
    order = AttemptOrder("r", "t", Issue("1", "One"), 1, model, "p", "m", "s", 0, "/d", ())
    return AGENTS[cli].invocation(order, PLACE)


def test_aider_writes_nothing_into_the_workspace_but_its_edits():
    invocation = started("aider")
    argv = list(invocation.argv)
    assert invocation.stdin is None
    assert argv[argv.index("--message-file") + 1] == "/d/prompt.md"
    assert argv[argv.index("--chat-history-file") + 1].startswith("/d/")
    assert argv[argv.index("--input-history-file") + 1].startswith("/d/")
    assert "--map-tokens" not in argv, "its map's database stays out of snapshots"
    assert {"--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--yes-always"} <= set(argv)


@pytest.mark.parametrize("cli", ["codex", "gemini", "opencode", "aider", "mini"])
def test_another_program_can_be_named(cli):
    assert AGENTS[cli].program(ModelSpec("m", cli)) == cli
    assert AGENTS[cli].program(ModelSpec("m", cli, command="/opt/x")) == "/opt/x"
    assert "/opt/x" in started(cli, command="/opt/x").argv


def test_the_configuration_knows_the_agents_of_the_table():
    assert set(AGENT_NAMES) == set(AGENTS)


def test_edits_are_told_once_they_are_done():
    use = {"type": "tool_use", "id": "1", "name": "Edit", "input": {"file_path": "a.py"}}
    for failed, expected in ((False, ["Edit a.py"]), (True, [])):
        result = {"type": "tool_result", "tool_use_id": "1", "is_error": failed}
        told = lines(
            {"type": "assistant", "message": {"content": [use]}}, {"type": "user", "message": {"content": [result]}}
        )
        events = AGENTS["claude"].reader().feed(told)
        assert [event.text for event in events if event.kind is EventKind.EDIT] == expected
    change = {"type": "file_change", "changes": [{"path": "a.py"}, {"path": "b.py"}]}
    events = AGENTS["codex"].reader().feed(lines({"type": "item.completed", "item": change}))
    assert [(event.kind, event.text) for event in events] == [(EventKind.EDIT, "edited a.py, b.py")]
