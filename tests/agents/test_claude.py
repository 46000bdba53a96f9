"""The claude adapter over recordings of the real program, and over streams no program should print."""

import json
import os
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import TESTS
from support.cases import cases

from noface.agents.base import AgentEvent, EventKind, RunPlace
from noface.agents.claude import ClaudeAgent
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import ModelSpec

RUNS = TESTS / "recordings" / "claude" / "runs.tar.xz"
JUDGED_BY_GIT = {"NO_DIFF", "AGENT_CONFUSION"}
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


@cases("name", sorted(LABELS))
def test_a_recorded_run_is_judged_as_its_label_says(name):
    label = LABELS[name]
    _, verdict = replay(name)
    kind = verdict.error.kind.value if verdict.error is not None else "SUCCESS"
    expected = {label["kind"], *label["accept"]}
    if expected & JUDGED_BY_GIT and not label["edited"] and verdict.error is None:
        assert verdict.finished
        return
    assert kind in expected


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bad_flag", FailureKind.MISCONFIGURED),
        ("streamjson_without_verbose", FailureKind.MISCONFIGURED),
        ("no_prompt", FailureKind.MISCONFIGURED),
        ("root_refused", FailureKind.MISCONFIGURED),
        ("structured_bad", FailureKind.OUTPUT_FORMAT),
        ("hang_timeout_ms", FailureKind.OVERLOADED),
        ("html200", FailureKind.NETWORK),
        ("resume_bad_id", FailureKind.AGENT_CRASH),
        ("sigterm_hang", FailureKind.AGENT_CRASH),
    ],
)
def test_recorded_runs_without_a_label_are_told_apart_too(name, kind):
    _, verdict = replay(name)
    assert verdict.error.kind is kind
    assert not verdict.finished


@cases("name", sorted(RECORDED))
def test_only_the_worker_s_own_failures_are_charged(name):
    _, verdict = replay(name)
    if verdict.error is not None:
        spared = verdict.error.category in (Category.TRANSIENT, Category.ENVIRONMENT)
        assert verdict.error.charged is not spared
        assert verdict.error.message
        assert verdict.error.rule.startswith("claude-")
        assert verdict.error.signature


@cases("name", ["success", "flaky", "rate429", "usage_limit_oauth_weekly", "max_turns", "refusal"])
@cases("chunk", [1, 7, 4096])
def test_how_the_stream_is_cut_into_pieces_makes_no_difference(name, chunk):
    assert replay(name, chunk) == replay(name)


def test_a_usage_limit_comes_with_its_reset_time_and_a_warning_is_no_limit():
    events, verdict = replay("usage_limit_oauth_weekly")
    assert verdict.error.retry_at == 1795490120
    assert EventKind.LIMIT in {event.kind for event in events}
    events, verdict = replay("rate_limit_warning")
    assert verdict.error is None
    assert EventKind.LIMIT not in {event.kind for event in events}


def test_usage_last_words_and_tools_are_read():
    assert replay("rate429")[0][-1] == AgentEvent(EventKind.RESULT, "error")
    events, verdict = replay("success")
    assert verdict.usage.cost_usd > 0
    assert verdict.usage.tokens_in > 0
    assert verdict.usage.tokens_out > 0
    assert verdict.usage.session_id
    assert verdict.last_words
    assert {EventKind.TEXT, EventKind.TOOL, EventKind.RESULT} <= {event.kind for event in events}


def test_a_cli_that_only_retries_shows_no_life():
    events, _ = replay("overloaded529")
    retries = [event for event in events if event.kind is EventKind.RETRY]
    assert retries
    assert not any(event.alive for event in retries)


@pytest.mark.parametrize(
    ("name", "turns", "cost_usd", "tokens"),
    [
        ("wakeups", 2, 0.0168, 4960),
        ("monitor", 4, 0.0294, 8680),
        ("agent_in_background", 2, 0.0294, 8680),
        ("second_turn_fails", 2, 0.0126, 3720),
        ("gone_on_with", 1, 0.0042, 1240),
    ],
)
def test_a_run_of_several_turns_is_what_its_results_state_together_without_what_earlier_runs_used(
    name, turns, cost_usd, tokens
):
    events, verdict = replay(name)
    assert [event.kind for event in events].count(EventKind.RESULT) == turns
    assert (verdict.usage.cost_usd, verdict.usage.tokens) == (pytest.approx(cost_usd), tokens)


def test_the_last_result_tells_how_a_run_went():
    assert replay("wakeups")[1].finished
    assert replay("second_turn_fails")[1].error.kind is FailureKind.OVERLOADED


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


def test_a_tool_that_is_switched_off_is_refused_and_the_run_goes_on():
    assert b"ScheduleWakeup is disabled for this session" in RECORDED["wakeup_refused"]["stdout"]
    assert replay("wakeup_refused")[1].finished


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


def test_words_about_limits_in_the_agent_s_prose_mean_nothing():
    prose = "I got HTTP 429 rate_limit and authentication_failed, Credit balance is too low"
    stream = lines({"type": "assistant", "message": {"content": [{"type": "text", "text": prose}]}}, RESULT)
    assert read(stream)[1].error is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["type", "subtype", "message", "content", "error", "is_error", "result", "errors", "usage", "rate_limit_info",
     "total_cost_usd", "api_error_status", "stop_reason", "session_id", "input_tokens", "resetsAt", "status"]
)  # fmt: skip
ENTRIES = st.dictionaries(KEYS, JSON | st.dictionaries(KEYS, JSON, max_size=3), max_size=6)


@given(st.sampled_from(["assistant", "result", "system", "rate_limit_event"]), ENTRIES, st.none() | st.integers(0, 255))
def test_no_stream_breaks_the_reader(kind, entry, exit_code):
    events, verdict = read(lines({**entry, "type": kind}), exit_code)
    assert all(isinstance(event.text, str) for event in events)
    assert verdict.finished is (verdict.error is None)
    usage = verdict.usage
    assert usage.cost_usd is None or 0 <= usage.cost_usd < float("inf")


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
