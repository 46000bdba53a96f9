"""What Gemini CLI and OpenCode are trying to overcome when they are ended: only standard error tells it."""

import json
from datetime import UTC, datetime

import pytest

from noface.agents.base import AGENTS, EventKind
from noface.diagnosis.agent import classify
from noface.diagnosis.reset_times import WallClock

CLOCK = WallClock(1_795_188_600.0, UTC)
WAITS = """YOLO mode is enabled. All tool calls will be automatically approved.
Attempt 1 failed: Resource has been exhausted (e.g. check quota).
Suggested retry after 42s.. Retrying after 47484ms...
"""
OVERLOADED = """Attempt 5 failed with status 503. Retrying with backoff... _ApiError: \
{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}
    at throwErrorIfNotOK (file:///x/chunk-JDPZ4CE3.js:267833:24)
  status: 503
}
"""
UNREACHED = """Attempt 1 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request
    at file:///x/chunk-JDPZ4CE3.js:267671:13
"""
INIT = {"type": "init", "session_id": "s"}
ASKED = {"type": "message", "role": "user", "content": "Do it."}
ANSWERED = {"type": "message", "role": "assistant", "content": "I will", "delta": True}
CALLED = {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "1", "parameters": {"command": "make"}}
RETURNED = {"type": "tool_result", "tool_id": "1", "status": "success", "output": "429"}

LOGGED = (
    'timestamp=2026-11-21T15:21:00.144Z level=ERROR run=761379aa message="Failed to fetch models.dev" cause="Cause([])"\n'
    'timestamp=2026-11-21T15:21:01.844Z level=ERROR run=761379aa message="stream error" providerID=test modelID=gpt-4o '
    "session.id=ses_e014 small=false agent=build mode=primary "
    'error.error="AI_APICallError: Rate limit reached for the model. Please try again in 42s."\n'
)
LOGGED_AT_MS = datetime(2026, 11, 21, 15, 21, 1, 844_000, UTC).timestamp() * 1000


def lines(*entries):
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


def ended(cli, entries, stderr):
    """Return the verdict on a run that was ended after these entries."""
    reader = AGENTS[cli].reader()
    reader.feed(lines(*entries))
    return classify(reader.evidence(-2, stderr), CLOCK)


@pytest.mark.parametrize(
    ("stderr", "rule", "retry_in"),
    [(WAITS, "gemini-quota", 42), (OVERLOADED, "gemini-overloaded", None), (UNREACHED, "gemini-network", None),
     (WAITS + OVERLOADED, "gemini-overloaded", None)],
)  # fmt: skip
def test_gemini_that_waits_for_an_answer_hung_on_what_its_last_try_failed_of(stderr, rule, retry_in):
    for entries in ([INIT, ASKED], [INIT, ASKED, CALLED, RETURNED]):
        verdict = ended("gemini", entries, stderr)
        assert verdict.rule == rule
        assert verdict.retry_at == (retry_in and CLOCK.now + retry_in)


@pytest.mark.parametrize("newest", [ANSWERED, CALLED])
def test_gemini_that_was_answered_or_runs_a_tool_overcame_what_failed(newest):
    assert ended("gemini", [INIT, ASKED, newest], WAITS).rule == "gemini-no-result"


def test_opencode_hung_on_the_last_error_of_its_log_unless_it_went_on_since():
    before = {"type": "step_start", "timestamp": LOGGED_AT_MS - 1, "part": {}}
    after = {"type": "step_start", "timestamp": LOGGED_AT_MS + 1, "part": {}}
    for entries in ([], [before]):
        verdict = ended("opencode", entries, LOGGED)
        assert (verdict.rule, verdict.retry_at) == ("opencode-rate-limit", CLOCK.now + 42)
    assert ended("opencode", [before, after], LOGGED).rule == "opencode-no-result"


@pytest.mark.parametrize("damage", ["2026-11-21T15:21:01.844Z", "level=ERROR", "small=false", "message="])
def test_a_line_of_opencode_s_log_that_says_something_else_decides_nothing(damage):
    assert ended("opencode", [], LOGGED.replace(damage, "y" * 24)).rule == "opencode-no-result"


def test_opencode_that_asks_for_the_same_answer_again_and_again_shows_no_life():
    reader = AGENTS["opencode"].reader()

    def fed(kind, **part):
        return [(event.kind, event.alive) for event in reader.feed(lines({"type": kind, "part": part}))]

    assert fed("text", text="I will") == [(EventKind.TEXT, True)]
    for _ in range(2):
        assert fed("step_finish", reason="unknown") == [(EventKind.RETRY, False)]
        assert fed("text", text="I will") == [(EventKind.RETRY, False)]
    assert fed("tool_use", tool="bash", state={}) == [(EventKind.TOOL, True)]
    assert fed("text", text="I will") == [(EventKind.TEXT, True)]
    assert classify(reader.evidence(None, ""), CLOCK).rule == "opencode-answer-broke-off"


def test_what_opencode_says_to_the_model_itself_is_not_the_model_s_last_word():
    reader = AGENTS["opencode"].reader()
    asks = "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed."
    reader.feed(lines({"type": "text", "part": {"text": "Done."}}))
    assert reader.feed(lines({"type": "text", "part": {"text": asks, "synthetic": True}})) == []
    assert reader.evidence(0, "").last_words == "Done."
