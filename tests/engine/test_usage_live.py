"""What a worker uses while it works: counted however the run ends, held against every limit, and shown (law 12)."""

import json
import os
import signal
import tracemalloc
from datetime import UTC, datetime

import pytest
from support.cases import first_ones
from support.spending import (
    USED_USD,
    answer,
    configure,
    ended_while_it_spends,
    fed,
    lines,
    only_attempt,
    program,
    result,
    spends_and_hangs,
)

from noface.agents.claude import ClaudeAgent
from noface.agents.codex import CodexAgent
from noface.agents.command import CommandReader
from noface.attempt.worker.agent_watch import PATIENCE_S, PATIENCE_WITH_OWN_LIMIT_S, CostLimit
from noface.extras.mini.agent import MiniAgent
from noface.model.attempt import AttemptOrder
from noface.model.budget import summed
from noface.model.issue import Issue
from noface.model.worker_run import ModelSpec, Session, Usage

THREAD = "01a1f99b-d584-70b0-8d2c-252f2bbcce93"
BEGAN = datetime.fromtimestamp(int(THREAD[:8] + THREAD[9:13], 16) / 1000, UTC)


def record(read, written, kind="token_usage_record", thread=THREAD):
    counts = {"input_tokens": read, "cached_input_tokens": 0, "output_tokens": written}
    payload = {"thread_id": thread, "thread_token_usage": counts}
    if kind == "token_count":
        payload = {"type": kind, "info": {"total_token_usage": counts}}
    return {"type": kind if kind == "token_usage_record" else "event_msg", "payload": payload}


def rollout(home, day=BEGAN, thread=THREAD):
    return home / "sessions" / f"{day:%Y/%m/%d}" / f"rollout-2026-11-20T15-38-22-{thread}.jsonl"


# However a run ends


def test_what_a_run_used_counts_when_a_person_interrupts_noface(project):
    program(project, "claude", spends_and_hangs())
    configure(project)
    assert ended_while_it_spends(project, signal.SIGINT) == 130
    attempt = only_attempt(project)
    assert (attempt["outcome"], attempt["charged"]) == ("INTERRUPTED", False)
    assert attempt["cost_usd"] == pytest.approx(USED_USD)


def test_what_a_run_used_counts_when_noface_is_killed(project):
    program(project, "claude", spends_and_hangs())
    configure(project)
    assert ended_while_it_spends(project, signal.SIGKILL) == -9
    (project.folder / "go").touch()
    project.run()
    interrupted, passed = project.attempts("1")
    assert (interrupted["outcome"], interrupted["charged"]) == ("INTERRUPTED", False)
    assert interrupted["cost_usd"] == pytest.approx(USED_USD)
    assert "its cost is an estimate: priced from tokens" in interrupted["notes"]
    assert (passed["outcome"], passed["cost_usd"]) == ("PASSED", 0.5)
    assert project.shown("show", "1")["cost_usd"] == pytest.approx(USED_USD + 0.5)


@pytest.mark.parametrize("ended_by", first_ones([signal.SIGKILL, signal.SIGINT]))
def test_what_a_question_used_counts_when_it_is_cut_short(project, ended_by):
    program(project, "claude", spends_and_hangs("reflection", edit="bad"))
    configure(project, attempts=3, retry="reflect = true\nmax_cost_usd = 3.0")
    ended_while_it_spends(project, ended_by, "1/ask-1-reflection")
    (project.folder / "go").touch()
    project.run(code=3)
    shown = project.shown("show", "1")
    (cut,) = shown["asked"]
    assert (cut["outcome"], cut["cost_usd"]) == ("INTERRUPTED", pytest.approx(USED_USD))
    assert "$0.40 of the issue's $3.00 are left" in shown["reason"]
    assert "it was cut short, and is asked again" in project.noface("show", "1").stdout


# Limits


def codex(project, read, written, more=""):
    """A program that poses as codex, which tells its tokens in its log alone, and hangs."""
    home = project.folder / "codex-home"
    log = rollout(home)
    log.parent.mkdir(parents=True)
    entry = lines(record(read, written)).strip()
    started = json.dumps({"type": "thread.started", "thread_id": THREAD})
    program(project, "codex", f"echo '{started}'\necho '{entry}' > {log}\n{more}\nexec sleep 60")
    return f'env = {{ CODEX_HOME = "{home}" }}'


def test_a_run_over_its_model_s_limit_is_stopped_and_says_so(project):
    env = codex(project, 1_000_000, 10_000, "echo half > half.txt")
    configure(project, f"max_cost_usd = 1.0\n{env}", agent="codex")
    done = project.noface("run", "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert (USED_USD, 1_010_000) in {(event.get("cost_usd"), event.get("tokens")) for event in told}
    attempt = only_attempt(project)
    assert attempt["outcome"] == "RESOURCE_EXHAUSTED"
    assert attempt["failure"]["message"] == "stopped at $2.10: over max_cost_usd = $1.00 of small"
    assert attempt["task_failure"]["resource"] == "budget"
    assert attempt["cost_usd"] == pytest.approx(USED_USD)
    assert attempt["changed"] == ["half.txt"]


@pytest.mark.thorough
def test_a_run_says_that_nobody_knows_the_price_of_an_attempt(project):
    env = codex(project, 1_000_000, 10_000)
    configure(project, f'model = "gpt-99"\ntimeout = "1s"\n{env}', agent="codex")
    text = (project.path / "noface.toml").read_text()
    prices = "usd_per_mtok_in = 2.0\nusd_per_mtok_out = 10.0\n"
    assert prices in text
    project.write("noface.toml", text.replace(prices, ""))
    project.commit("no prices")
    said = " ".join(project.run("--max-cost", "1", code=3).split())
    assert "Cost so far: of 1 attempt nobody knows the price" in said


def order(max_cost_usd, *, think=False):
    model = ModelSpec("codex", "codex", max_cost_usd=max_cost_usd)
    return AttemptOrder("r", "t", Issue("1", "One"), 1, model, "", "", "", 0, "", (), think=think)


def test_a_limit_is_passed_only_where_it_stays_passed():
    limit = CostLimit(order(1.0), PATIENCE_S)
    assert limit.passed(Usage(1.0), 0.0) == ""
    assert limit.passed(Usage(1.07), 10.0) == ""
    assert limit.passed(Usage(1.07), 11.9) == ""
    assert limit.passed(Usage(1.07), 12.0) == "stopped at $1.07: over max_cost_usd = $1.00 of codex"
    assert limit.passed(Usage(0.9), 13.0) == "", "what the agent says at its end may be less than the estimate"
    assert limit.passed(Usage(1.2), 14.0) == ""


def test_a_run_over_its_limit_is_asked_for_no_further_answer():
    limit = CostLimit(order(2.0), PATIENCE_WITH_OWN_LIMIT_S)
    assert limit.passed(Usage(2.1), 0.0, answers=3) == ""
    assert limit.passed(Usage(2.2), 0.1, answers=3) == "", "more of the same answer"
    assert limit.passed(Usage(4.2), 0.2, answers=4) == "stopped at $4.20: over max_cost_usd = $2.00 of codex"


@pytest.mark.parametrize(
    ("printed", "used"),
    [
        ('{"usage": {"prompt_tokens": 7, "completion_tokens": 2}}\n' * 2, (None, 14, 4)),
        ('{"usage": {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 3}}\n', (None, 10, 2)),
        ('working\n{"usage": {"input_tokens": 7, "output_tokens": 2}, "cost_usd": 0.5}\n', (0.5, 7, 2)),
        ('{"type": "result", "total_cost_usd": 0.5, "usage": {"input_tokens": 7}}\n', (0.5, 7, None)),
        (lines({"type": "system"}, answer(70, 20), answer(70, 20), result(0.5)), (0.5, 5, 5)),
        (lines({"type": "system"}, answer(70, 20), answer(70, 20)), (None, 70, 20)),
        (
            '{"status": "done", "usage": "all of it"}\n{"cost_usd": -1}\n{"usage": [1]}\n{"usage": {"a": true}\n',
            (None,) * 3,
        ),
        ("I read 5,000 tokens for $3.00\n", (None, None, None)),
    ],
)
def test_a_plain_command_tells_what_it_used_by_the_stream_of_an_agent_or_a_line_for_each_answer(printed, used):
    reader = CommandReader()
    reader.feed(printed.encode())
    told = reader.verdict(0, "").usage
    assert (told.cost_usd, told.tokens_in, told.tokens_out) == used
    assert reader.used() == told


@pytest.mark.parametrize("used", [Usage(), Usage(tokens_in=10**9)])
def test_what_nobody_knows_the_price_of_passes_no_limit(used):
    limit = CostLimit(order(0.01), 0.0)
    assert limit.passed(used, 9.0) == ""


def test_a_limit_that_thinking_raised_is_told_as_such():
    limit = CostLimit(order(0.02, think=True), 0.0)
    assert limit.passed(Usage(0.03), 0.0) == (
        "stopped at $0.03: over max_cost_usd = $0.02 of codex, which is 2 × $0.01 since it thinks longer"
    )


# What is read of each agent


def test_each_answer_of_claude_counts_once_and_by_its_newest_line():
    reader = ClaudeAgent().reader()
    assert fed(reader, answer(100, 40)) == (None, 100, 40, 0)
    assert fed(reader, answer(100, 44)) == (None, 100, 44, 0)
    assert fed(reader, answer(200, 5, name="msg_2"), answer(100, 50)) == (None, 300, 55, 0)
    assert fed(reader, result(0.25)) == (0.25, 5, 5, None)


def test_what_claude_writes_is_estimated_until_the_answer_s_end_is_told():
    reader = ClaudeAgent().reader()
    text, tool = {"type": "text", "text": "x" * 400}, {"type": "tool_use", "input": {"content": "y" * 385}}
    assert fed(reader, answer(100, 1, ended=False, content=[text])) == (None, 100, 100, 0)
    assert fed(reader, answer(100, 1, ended=False, content=[tool])) == (None, 100, 200, 0)
    assert fed(reader, answer(100, 230)) == (None, 100, 230, 0)


@pytest.mark.parametrize(
    "message",
    [None, 3, {}, {"id": "a"}, {"id": "a", "usage": []}, {"id": 1, "usage": {"input_tokens": 5}},
     {"id": "a", "usage": {"input_tokens": "7", "output_tokens": True}}, {"id": "a", "usage": {"input_tokens": -1}},
     {"id": "a", "content": 3, "usage": {"input_tokens": 0, "output_tokens": 0}}],
)  # fmt: skip
def test_nonsense_in_claude_s_lines_uses_nothing(message):
    assert fed(ClaudeAgent().reader(), {"type": "assistant", "message": message}) == (None, None, None, None)


def test_three_thousand_answers_take_little_memory_and_all_count():
    reader = ClaudeAgent().reader()
    tracemalloc.start()
    for number in range(3):
        entries = [answer(1, 1, name=f"msg_{number}_{each}") for each in range(1000)]
        assert fed(reader, *entries)[1] == 1000 * (number + 1)
    entries = []
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 600_000


@pytest.mark.parametrize("kind", ["token_usage_record", "token_count"])
def test_codex_s_tokens_come_from_its_log_of_the_thread(tmp_path, kind):
    log = rollout(tmp_path)
    log.parent.mkdir(parents=True)
    other = record(7, 7, thread=THREAD.replace("01", "02"))
    log.write_text(
        "x" * (2 << 20) + "\n" + lines(record(1, 1, kind), record(1200, 40, kind), other) + '{"type": "token'
    )
    reader = CodexAgent().reader({"CODEX_HOME": str(tmp_path)})
    assert fed(reader) == (None, None, None, None)
    assert fed(reader, {"type": "thread.started", "thread_id": THREAD}) == (None, 1200, 40, 0)
    log.write_text(lines(record(5000, 90, kind)))
    assert fed(reader) == (None, 1200, 40, 0), "it is looked at once a second at most"
    assert reader.verdict(None, "").usage.tokens_in == 5000, "but once more at the end"
    usage = {"input_tokens": 6000, "cached_input_tokens": 100, "output_tokens": 99}
    assert fed(reader, {"type": "turn.completed", "usage": usage}) == (None, 6000, 99, 100)


def test_of_a_thread_that_codex_goes_on_with_only_this_run_counts(tmp_path):
    """Seen with 0.169.0: after a kill, `token_count` and `turn.completed` forget the last answer of the killed run."""
    log, home = rollout(tmp_path), {"CODEX_HOME": str(tmp_path)}
    log.parent.mkdir(parents=True)
    killed = [record(1200, 40), record(1200, 40, "token_count"), record(2400, 80)]
    log.write_text(lines(*killed))
    used = CodexAgent().session_usage(THREAD, home)
    assert (used.tokens_in, used.tokens_out) == (2400, 80)
    reader = CodexAgent().reader(home, Session(THREAD, 1, "", "", used))
    assert fed(reader, {"type": "thread.started", "thread_id": THREAD}) == (None, 0, 0, 0)
    log.write_text(lines(*killed, record(3600, 120), record(2400, 80, "token_count")))
    turn = {"type": "turn.completed", "usage": {"input_tokens": 2400, "output_tokens": 80}}
    fed(reader, turn)
    assert reader.verdict(0, "").usage.tokens_in == 1200
    afresh = CodexAgent().reader(home, Session("another", 1, "", "", used))
    assert fed(afresh, {"type": "thread.started", "thread_id": THREAD}, turn)[1] == 2400


def test_codex_s_home_is_below_the_person_s_by_default(tmp_path):
    log = rollout(tmp_path / ".codex")
    log.parent.mkdir(parents=True)
    log.write_text(lines(record(1200, 40)))
    reader = CodexAgent().reader({"HOME": str(tmp_path)})
    assert fed(reader, {"type": "thread.started", "thread_id": THREAD}) == (None, 1200, 40, 0)


@pytest.mark.parametrize("thread", ["", "*", "../../x", THREAD.upper(), f"{THREAD}\n", "f" * 8 + THREAD[8:]])
def test_only_a_thread_s_own_log_is_looked_for(tmp_path, thread):
    log = rollout(tmp_path)
    log.parent.mkdir(parents=True)
    log.write_text(lines(record(1200, 40)))
    reader = CodexAgent().reader({"CODEX_HOME": str(tmp_path)})
    assert fed(reader, {"type": "thread.started", "thread_id": thread}) == (None, None, None, None)


def test_a_log_of_codex_that_is_none_is_left_alone(tmp_path):
    log = rollout(tmp_path)
    log.parent.mkdir(parents=True)
    (tmp_path / "other").write_text(lines(record(1200, 40)))
    log.symlink_to(tmp_path / "other")
    reader = CodexAgent().reader({"CODEX_HOME": str(tmp_path)})
    assert fed(reader, {"type": "thread.started", "thread_id": THREAD}) == (None, None, None, None)
    log.unlink()
    os.mkfifo(log)
    assert reader.verdict(None, "").usage.tokens_in is None


def test_mini_tells_what_it_has_used_after_each_step():
    reader = MiniAgent().reader()
    reader.feed(b"mini-swe-agent (step 1, $0.02):\n")
    assert fed(reader) == (0.02, None, None, None)
    told = {"cost_usd": 0.0234, "tokens_in": 900, "tokens_out": 40, "tokens_cached": 0}
    assert fed(reader, {"mini_used": told}) == (0.0234, 900, 40, 0)
    reader.feed(b"mini-swe-agent (step 2, $0.05):\n")
    assert fed(reader) == (0.05, 900, 40, 0)
    assert reader.verdict(None, "").error is not None, "it has not finished"


def test_amounts_that_one_of_two_runs_tells_count():
    assert summed(Usage(0.5, 10, 1, "a"), Usage(None, 5, None, "b", 2, priced=True)) == Usage(0.5, 15, 1, "b", 2, True)
    assert summed(Usage(), Usage()) == Usage()
