"""What Codex's log of a thread calls an error that its stream tells by the message alone."""

import json

import pytest
from support.agent_recordings import CLOCK, run

from noface.agents.base import EventKind
from noface.agents.claude import ClaudeReader
from noface.agents.codex import CodexReader
from noface.diagnosis.agent import classify

THREAD = "01a204d2-df27-7130-9179-e3e404a3aeba"
SAID = "Something that no rule knows."


def failed(tmp_path, info, said=SAID, logged=SAID, kind="task_complete"):
    """Return the verdict on a run whose stream ends with `said` and whose log names `logged` by `info`."""
    error = {"message": logged, "codex_error_info": info}
    payload = {"type": kind, "error": error} if kind == "task_complete" else {"type": kind, **error}
    log = tmp_path / ".codex/sessions/2026/11/22" / f"rollout-2026-11-22T19-56-54-{THREAD}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(json.dumps({"type": "event_msg", "payload": payload}) + "\n")
    reader = CodexReader({"HOME": str(tmp_path)})
    for entry in ({"type": "thread.started", "thread_id": THREAD}, {"type": "turn.failed", "error": {"message": said}}):
        reader.feed(json.dumps(entry).encode() + b"\n")
    return classify(reader.evidence(1, ""), CLOCK)


@pytest.mark.parametrize(
    ("info", "kind"),
    [
        ("usage_limit_exceeded", "RATE_LIMITED"),
        ("server_overloaded", "OVERLOADED"),
        ("context_window_exceeded", "RESOURCE_EXHAUSTED"),
        ("session_budget_exceeded", "RESOURCE_EXHAUSTED"),
        ("invalid_prompt", "AGENT_REFUSED"),
        ("cyber_policy", "AGENT_REFUSED"),
        ("bio_policy", "AGENT_REFUSED"),
        ("model_not_found", "MISCONFIGURED"),
        ("unauthorized", "AUTH"),
        ("response_stream_disconnected", "NETWORK"),
        ({"http_connection_failed": {"http_status_code": 402}}, "AUTH"),
        ({"response_too_many_failed_attempts": {"http_status_code": 429}}, "RATE_LIMITED"),
        ({"http_connection_failed": {"http_status_code": None}}, "AGENT_CRASH"),
        ("other", "AGENT_CRASH"),
        (None, "AGENT_CRASH"),
    ],
)
def test_an_error_has_the_kind_of_its_name_in_the_log(tmp_path, info, kind):
    assert failed(tmp_path, info).kind == kind
    assert failed(tmp_path, info, kind="error").kind == kind


def test_the_name_of_another_error_in_the_log_says_nothing(tmp_path):
    assert failed(tmp_path, "usage_limit_exceeded", logged="Another one.").kind == "AGENT_CRASH"


def test_words_still_make_a_name_more_exact(tmp_path):
    plan = "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus."
    assert failed(tmp_path, "usage_limit_exceeded", plan, plan).kind == "AUTH"


def test_an_answer_that_is_json_is_told_in_its_own_words(tmp_path):
    answer = json.dumps({"error": {"code": "content_filter", "message": "The response was filtered."}})
    judged = failed(tmp_path, "other", answer, answer)
    assert (judged.kind, judged.message) == ("AGENT_REFUSED", "The response was filtered.")


@pytest.mark.parametrize("model", ["gpt_6_luna", "gpt_6_1_sol", "gpt_6_astra"])
def test_what_a_script_of_a_gpt_6_model_does_is_seen_as_it_was_with_older_ones(model):
    reader = CodexReader()
    events, opened = [], []
    for line in run("codex", f"success_{model}").stdout.splitlines(keepends=True):
        events += reader.feed(line)
        opened.append(tuple(call.command for call in reader.open_calls))
    kinds = [event.kind for event in events if event.kind is not EventKind.TEXT]
    assert kinds == [EventKind.EDIT, EventKind.TOOL, EventKind.RESULT]
    assert [calls for calls in opened if calls] == [("/bin/bash -lc 'cat a.txt; exit 3'",)]
    assert reader.open_calls == ()
    assert (reader.used().tokens_in, reader.used().tokens_out) == (3600, 120)


LOGGED = "2026-11-24T00:11:37.080271Z ERROR codex_core::tools::router: error="
BY_POLICY = (
    'exec_command failed: CreateProcess {{ message: "Rejected(\\"`/bin/bash -lc {}` rejected: rm -f style commands are not'
    ' permitted. Use a safer approach\\")" }}'
)


@pytest.mark.parametrize(
    ("logged", "refused"),
    [
        (
            BY_POLICY.format("'rm  -rf build'"),
            "`/bin/bash -lc 'rm  -rf build'` rejected: rm -f style commands are not permitted. Use a safer approach",
        ),
        (
            BY_POLICY.format('\\\\\\"rm -rf $HOME/x\\\\\\"'),
            '`/bin/bash -lc "rm -rf $HOME/x"` rejected: rm -f style commands are not permitted. Use a safer approach',
        ),
        (
            "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings",
            "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings",
        ),
        (
            "Exit code: 1\nWall time: 0.3 seconds\nOutput:\nFailed to write file /w/b.txt\n",
            "Failed to write file /w/b.txt",
        ),
        ("Exit code: 1\nWall time: 0.3 seconds\nOutput:\n1 test failed: request rejected\n", None),
        ("exec_command failed: timed out", None),
    ],
)
def test_what_codex_itself_refuses_is_read_of_its_log(logged, refused):
    reader = CodexReader()
    said = f"WARNING: no PATH aliases\n{LOGGED}{logged}\n"
    assert reader.verdict(0, said * 2).refused == ((refused,) if refused else ())


def test_what_claude_itself_refuses_is_in_its_result():
    denied = [{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "git  push"}}]
    reader = ClaudeReader()
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "I may not push."}
    reader.feed(json.dumps({**result, "permission_denials": denied}).encode() + b"\n")
    assert reader.verdict(0, "").refused == ("Bash git  push",)
