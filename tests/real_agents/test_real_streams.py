"""Answers that end in the middle: told from a finished run, and charged to nobody; a program that asks for ever is ended."""

import pytest
from scenario import Answer, Scenario

EDIT = Answer(edit="b.txt", text="done")
LONG = Answer(say="I have written b.txt, and it holds the word that was asked for. Now I will look at what else")


@pytest.mark.row("stream cut off")
@pytest.mark.parametrize(("cli", "fault"), [("opencode", "truncate"), ("opencode", "lost")])
def test_an_answer_that_breaks_off_after_the_edit_is_no_end_of_the_work(real, cli, fault):
    real.play(Scenario("breaks off", (EDIT, LONG), fault=fault, fails_from=2))
    real.config(cli, idle=100)
    attempt, printed = real.run()
    assert (attempt["outcome"], attempt["charged"]) == ("NETWORK", False), printed
    assert "b.txt" in real.kept()
    assert len(real.model.requests) < 30, "each of them is paid for"


@pytest.mark.row("stream cut off")
@pytest.mark.parametrize("fault", ["truncate", "unended", "lost"])
@pytest.mark.parametrize("cli", ["gemini"])
def test_a_first_answer_that_breaks_off_is_told(real, cli, fault):
    real.play(Scenario("breaks off", (LONG,), fault=fault))
    real.config(cli, idle=100)
    attempt, printed = real.run()
    assert (attempt["outcome"], attempt["charged"]) == ("NETWORK", False), printed


@pytest.mark.parametrize("fault", ["truncate", "unended", "lost"])
@pytest.mark.parametrize("cli", ["gemini"])
def test_an_answer_to_a_tool_s_result_that_stops_without_an_end_is_one_to_gemini_cli_and_the_gates_judge(
    real, cli, fault
):
    """Gemini CLI 0.61.0 wants no reason of an end there, and neither its stream nor its files show that one lacks."""
    real.play(Scenario("breaks off", (EDIT, LONG), fault=fault, fails_from=2))
    real.config(cli)
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed


@pytest.mark.row("stream cut off")
@pytest.mark.parametrize("cli", ["opencode"])
def test_a_program_that_asks_again_for_ever_is_ended_after_a_few_answers(real, cli):
    real.play("truncated")
    real.config(cli, idle=100)
    attempt, printed = real.run()
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("NETWORK", "opencode-answer-broke-off"), printed
    assert attempt["seconds"] < 60


@pytest.mark.parametrize(
    ("ends", "kind", "resource"),
    [
        ("SAFETY", "AGENT_REFUSED", ""),
        ("RECITATION", "AGENT_REFUSED", ""),
        ("OTHER", "AGENT_REFUSED", ""),
        ("MAX_TOKENS", "RESOURCE_EXHAUSTED", "output"),
        ("MALFORMED_FUNCTION_CALL", "OUTPUT_FORMAT", ""),
    ],
)
@pytest.mark.parametrize("cli", ["gemini"])
def test_an_answer_that_its_provider_cuts_off_says_why(real, cli, ends, kind, resource):
    real.play(Scenario("ends", (Answer(ends=ends),)))
    _, verdict = real.started(cli, "Write b.txt.")
    assert (verdict.error.kind, verdict.resource) == (kind, resource), verdict


@pytest.mark.parametrize(("ends", "kind"), [("content_filter", "AGENT_REFUSED"), ("length", "RESOURCE_EXHAUSTED")])
@pytest.mark.parametrize("cli", ["opencode"])
def test_a_reason_that_the_model_s_answer_ended_for_is_told(real, cli, ends, kind):
    real.play(Scenario("ends", (Answer(say="I will not", ends=ends),)))
    _, verdict = real.started(cli, "Write b.txt.")
    assert verdict.error.kind == kind, verdict


@pytest.mark.row("model unknown")
@pytest.mark.parametrize("cli", ["gemini", "opencode"])
def test_a_model_that_the_provider_does_not_know_is_a_wrong_configuration(real, cli):
    real.play("model_unknown")
    _, verdict = real.started(cli, "Write b.txt.")
    assert verdict.error.kind == "MISCONFIGURED", verdict
