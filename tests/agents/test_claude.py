"""The claude adapter over recordings of the real program, and over streams no program should print."""

import json
import os
import tarfile

import pytest
from support import TESTS

from noface.agents.base import EventKind, RunPlace
from noface.agents.claude import ClaudeAgent
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import ModelSpec

RUNS = TESTS / "recordings" / "claude" / "runs.tar.xz"
"""Kinds of runs that end well for claude: that nothing was edited only the diff can tell."""


def recorded():
    with tarfile.open(RUNS) as archive:
        files = {name: archive.extractfile(name).read() for name in archive.getnames()}
    labels = json.loads(files.pop("labels.json"))
    names = sorted({name.split("/")[0] for name in files})
    runs = {name: {part: files[f"{name}/{part}"] for part in ("stdout", "stderr", "exit_code")} for name in names}
    return labels, runs


LABELS, RECORDED = recorded()


def read(stdout, exit_code=0, stderr="", *, chunk=None):
    """Feed a whole run; its events and verdict."""
    reader = ClaudeAgent().reader()
    size = chunk or max(1, len(stdout))
    events = [event for at in range(0, len(stdout), size) for event in reader.feed(stdout[at : at + size])]
    return events, reader.verdict(exit_code, stderr)


def replay(name, chunk=None):
    run = RECORDED[name]
    return read(run["stdout"], int(run["exit_code"]), run["stderr"].decode(), chunk=chunk)


def lines(*entries):
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s"}


# What was recorded


def test_a_usage_limit_comes_with_its_reset_time_and_a_warning_is_no_limit():
    events, verdict = replay("usage_limit_oauth_weekly")
    assert verdict.error.retry_at == 1795490120
    assert EventKind.LIMIT in {event.kind for event in events}
    events, verdict = replay("rate_limit_warning")
    assert verdict.error is None
    assert EventKind.LIMIT not in {event.kind for event in events}


def test_a_cli_that_only_retries_shows_no_life():
    events, _ = replay("overloaded529")
    retries = [event for event in events if event.kind is EventKind.RETRY]
    assert retries
    assert not any(event.alive for event in retries)


def test_a_turn_that_breaks_off_after_a_result_is_no_finished_run_and_what_it_used_counts():
    whole = RECORDED["second_turn_fails"]["stdout"].splitlines(keepends=True)
    at = next(index for index, line in enumerate(whole) if b'"total_cost_usd"' in line)
    answer = {
        "id": "m9",
        "content": [],
        "usage": {"input_tokens": 1000, "output_tokens": 20},
        "stop_reason": "end_turn",
    }
    cut = b"".join(whole[: at + 1]) + lines({"type": "assistant", "message": answer})
    for exit_code in (0, 143):
        _, verdict = read(cut, exit_code)
        assert not verdict.finished
        assert (verdict.usage.tokens_in, verdict.usage.tokens_out) == (4600, 140)
        assert verdict.usage.cost_usd is None, "the price list's estimate takes its place"


def test_what_a_subagent_says_after_the_last_result_begins_no_turn():
    said = {"type": "assistant", "parent_tool_use_id": "t1", "message": {"content": []}}
    assert read(lines(RESULT, said))[1].finished


def test_the_words_of_the_last_turn_that_has_any_are_the_answer():
    assert read(lines({**RESULT, "result": "The report."}, {**RESULT, "result": ""}))[1].answer == "The report."


def test_the_weekly_limit_comes_with_the_time_of_its_end():
    events, verdict = replay("weekly_limit")
    assert (verdict.error.kind, verdict.error.retry_at) == (FailureKind.RATE_LIMITED, 1_795_490_100.0)
    assert verdict.error.message == "You've hit your limit · resets Nov 24, 3:15am (UTC) (weekly limit)"
    assert "the provider's weekly limit is reached" in [event.text for event in events]


# What nobody recorded


def test_an_error_that_was_overcome_does_not_colour_the_end():
    stream = lines(
        {"type": "assistant", "error": "rate_limit", "message": {"content": []}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "Going on."}]}},
        {"type": "result", "subtype": "error_during_execution", "is_error": True},
    )
    assert read(stream, 1)[1].error.kind is FailureKind.AGENT_CRASH


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "AUTH"), (403, "AUTH"), (404, "MISCONFIGURED"), (429, "RATE_LIMITED"), (500, "OVERLOADED"), (529, "OVERLOADED"),
     (400, "AGENT_CRASH")],
)  # fmt: skip
def test_a_status_tells_where_no_error_is_named(status, kind):
    result = {"type": "result", "subtype": "success", "is_error": True, "api_error_status": status}
    assert read(lines(result), 1)[1].error.kind == kind


def test_a_reset_time_belongs_to_rate_limits_only_and_must_be_a_number():
    def ended(reset, error="rate_limit"):
        limit = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": reset}}
        said = {"type": "assistant", "error": error, "message": {"content": []}}
        return read(lines(limit, said, {**RESULT, "is_error": True, "api_error_status": 429}), 1)[1].error.retry_at

    assert ended(5000) == 5000.0
    for wrong in ("soon", None, True, float("inf"), float("nan"), 10**400, [1]):
        assert ended(wrong) is None
    assert ended(5000, "authentication_failed") is None


def test_a_cost_that_is_none_is_unknown():
    for wrong in ("1", True, float("inf"), float("nan"), -1, 10**400, {}):
        assert read(lines({**RESULT, "total_cost_usd": wrong, "usage": [1]}))[1].usage.cost_usd is None


def test_without_a_result_line_a_run_has_crashed_whatever_its_exit_code():
    for exit_code in (0, 1, 143, None):
        verdict = read(lines({"type": "system", "subtype": "init"}), exit_code, "boom")[1]
        assert verdict.error.kind is FailureKind.AGENT_CRASH
        assert not verdict.finished


# How it is started


def test_it_is_started_with_the_prompt_as_its_input_and_bounded_retries():
    model = ModelSpec("sonnet", "claude", model="claude-sonnet-4-5", args=("--max-turns", "40"))
    order = AttemptOrder("r", "t", Issue("1", "One"), 1, model, "p", "m", "s", 0, "/d", ())
    invocation = ClaudeAgent().invocation(order, RunPlace("/w", "/d/prompt.md", "/d/order.json", "/d"))
    argv = list(invocation.argv)
    assert argv[:5] == ["claude", "-p", "--output-format", "stream-json", "--verbose"]
    assert argv[argv.index("--model") + 1] == "claude-sonnet-4-5"
    assert argv[-2:] == ["--max-turns", "40"]
    assert invocation.stdin == "/d/prompt.md"
    env = dict(invocation.env)
    assert env["CLAUDE_CODE_MAX_RETRIES"] == "2"
    assert ("IS_SANDBOX" in env) is (os.geteuid() == 0)
