"""Streams that are damaged, huge, newer than the adapters or meant for a person, and programs that ask one."""

import json
import tracemalloc

import pytest
from support.agent_recordings import CLIS, run
from support.cases import cases

from noface.agents.base import AGENTS, ANSWER_MAX, LINE_BYTES_MAX, EventKind, TextTail
from noface.agents.json_stream import JsonReader, asks

JSON_CLIS = tuple(cli for cli in CLIS if isinstance(AGENTS[cli].reader(), JsonReader))


def judged(cli, stdout, exit_code=0, stderr=""):
    reader = AGENTS[cli].reader()
    reader.feed(stdout)
    return reader.verdict(exit_code, stderr)


def success(cli):
    return run(cli, "success").stdout


@pytest.mark.parametrize("cli", CLIS)
def test_50_mb_on_one_line_take_little_memory_and_the_rest_is_read(cli):
    reader = AGENTS[cli].reader()
    piece = b"x" * (1 << 20)
    tracemalloc.start()
    for _ in range(50):
        reader.feed(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * LINE_BYTES_MAX
    reader.feed(b"\n" + success(cli))
    assert reader.verdict(0, "").error is None


@cases("cli", CLIS)
@cases(
    "noise",
    [b"not JSON\n", b'{"type": "assis\n', b"\0\0\n", b"\xff\xfe\xc3(\n", b"\x1b[31mred\x1b[0m\n", b"\x1b]0;title\x07\n",
     b"\x1b[" * 5_000 + b"\n", b"\r\r\n", "\u2028\u0085\n".encode(), b"[]\nnull\n3\n"],
)  # fmt: skip
def test_noise_before_and_after_the_run_changes_nothing(cli, noise):
    plain = judged(cli, success(cli))
    assert judged(cli, noise + success(cli)).error is None
    after = judged(cli, success(cli) + noise)
    assert (after.error, after.usage) == (None, plain.usage)


@pytest.mark.parametrize("cli", CLIS)
def test_a_stream_that_is_none_at_all_is_a_crash_that_is_named(cli):
    for stdout in (b"", b"hello\nworld\n", b"\0" * 1000, b"{" * 100_000, b'{"type": "resu'):
        verdict = judged(cli, stdout, 1, "")
        assert verdict.error.kind == "AGENT_CRASH"
        assert verdict.error.message
        assert not verdict.finished


@pytest.mark.parametrize("cli", JSON_CLIS)
def test_a_stream_cut_in_the_middle_of_its_last_line_is_no_success(cli):
    verdict = judged(cli, success(cli).rstrip()[:-20], 0)
    assert verdict.error.kind == "AGENT_CRASH"


@pytest.mark.parametrize("cli", JSON_CLIS)
def test_events_of_a_newer_version_are_passed_over(cli):
    newer = [
        {"type": "brand.new", "payload": {"error": "usage limit reached"}},
        {"type": "system", "subtype": "something_else", "error": {"code": 429}},
        {"type": "item.completed", "item": {"type": "hologram", "text": "x"}},
        {"type": "tool_result_v2", "status": "error"},
        {"kind": "no type at all"},
        {"type": {"nested": True}},
    ]
    noise = b"".join(json.dumps(entry).encode() + b"\n" for entry in newer)
    old, new = (AGENTS[cli].reader() for _ in range(2))
    assert old.feed(success(cli)) == new.feed(noise + success(cli))
    assert old.verdict(0, "") == new.verdict(0, "")


def test_a_stream_that_broke_off_between_two_events_is_no_success_of_claude_s():
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "I will", "stop_reason": None}
    verdict = judged("claude", json.dumps(result).encode())
    assert (verdict.error.kind, verdict.error.rule, verdict.error.charged) == ("NETWORK", "claude-broke-off", False)


def test_codex_s_log_tells_when_it_will_try_again():
    entry = {
        "type": "error",
        "message": "Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)",
    }
    waits = (
        "2026-11-21T12:42:51.986032Z  WARN codex_core::responses_retry: stream disconnected - retrying sampling request "
        "(1/5 in {}s)... turn_id=x retries=1 max_retries=5 sampling_error=last status: 429\n"
    )
    stdout = json.dumps(entry).encode() + b"\n"
    at = 1_795_264_971.986032
    error = judged("codex", stdout, None, waits.format("1.5") + waits.format("3599.999817239")).error
    assert (error.kind, error.retry_at) == ("RATE_LIMITED", pytest.approx(at + 3600, abs=1))
    for odd in ("1.2.3", "9" * 20, "", "-1"):
        assert judged("codex", stdout, None, waits.format(odd)).error.kind == "RATE_LIMITED"
    assert judged("codex", stdout, None, waits.replace("2026-11-21", "2026-99-99").format("5")).error.retry_at is None
    assert judged("codex", success("codex"), 0, waits.format("3600")).error is None


@pytest.mark.parametrize("cli", ["aider", "mini"])
def test_a_report_in_one_long_line_is_kept_whole(cli):
    report = json.dumps({"status": "done", "summary": "x" * 10_000})
    said = {
        "aider": f"Repo-map: disabled\nDone. {report}\n\nTokens: 1.2k sent, 40 received.\n",
        "mini": f"mini-swe-agent (step 1, $0.00):\nDone.\n\nExit:\nDone. {report}\n\nSaved trajectory to 'x'\n",
    }[cli]
    assert judged(cli, said.encode()).answer.endswith(report)


def test_a_tail_keeps_the_newest_lines_within_its_bound():
    tail = TextTail()
    for number in range(10_000):
        tail.append(f"{number} " + "x" * 100)
    assert len(tail.text) <= ANSWER_MAX
    assert tail.lines[-1].startswith("9999 ")
    tail.append("y" * (2 * ANSWER_MAX))
    assert tail.text == "y" * ANSWER_MAX
    tail.clear()
    assert tail.text == ""


def test_retries_of_aider_s_are_no_sign_of_life():
    lines = [
        "litellm.RateLimitError: 429",
        "The API provider has rate limited you. Try again later or check your quotas.",
        "Retrying in 0.5 seconds...",
    ]
    events = AGENTS["aider"].reader().feed("\n".join([*lines, ""]).encode())
    assert [event.kind for event in events] == [EventKind.RETRY] * 3
    assert not any(event.alive for event in events)
    assert not any(AGENTS[cli].reader().any_output_is_life for cli in CLIS)


# Questions to a keyboard

QUESTIONS = [
    "Do you trust the files in this folder? [y/N] ", "Continue? (yes/no): ", "Overwrite (y/N)?", "Password: ",
    "Press Enter to continue...", "\x1b[1mProceed\x1b[0m (Y)", "Enter your API key: ", "Press any key",
]  # fmt: skip
NO_QUESTIONS = ["Done.", "What should I do?", "see (y/n) in the text", "ok [y/N] done", "", "token: abcdef", "100%"]


@cases("cli", [*CLIS, "command"])
@cases("question", QUESTIONS)
def test_a_program_that_ends_in_a_question_to_a_keyboard_is_misconfigured(cli, question):
    error = judged(cli, f"Welcome!\n{question}".encode(), 1).error
    assert (error.kind, error.rule, error.charged) == ("MISCONFIGURED", f"{cli}-asks-at-terminal", False)
    assert "asks at the terminal" in error.message


@pytest.mark.parametrize("text", NO_QUESTIONS)
def test_other_words_at_the_end_are_no_question(text):
    assert not asks(text)
    assert judged("claude", text.encode(), 1, "boom").error.kind == "AGENT_CRASH"


@pytest.mark.parametrize("cli", CLIS)
def test_a_question_on_a_line_of_its_own_or_after_a_success_is_none(cli):
    assert judged(cli, b"Continue? [y/N] \nno\n", 1).error.rule != f"{cli}-asks-at-terminal"
    assert judged(cli, success(cli) + b"Continue? [y/N] ", 0).error is None


@pytest.mark.parametrize("cli", JSON_CLIS)
@pytest.mark.parametrize(
    ("output", "said"),
    [(b"hello I am not it\nbye\n", '"hello I am not it"'), (b"x" * (5 << 20) + b"\n", "a line too long to read")],
)
def test_a_program_that_ends_well_and_says_nothing_known_is_a_wrong_program(cli, output, said):
    verdict = judged(cli, output)
    assert verdict.error.kind == "MISCONFIGURED"
    assert not verdict.error.charged
    assert f"{cli} printed nothing that noface understands; it began with {said}" in verdict.error.message
