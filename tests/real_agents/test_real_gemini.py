"""What is Gemini CLI's own: the files of its sessions tell what a run uses, while it runs and however it ends."""

import json

import pytest
from scenario import Answer, Scenario
from support.processes import wait_for

PRO_USD = (1.25e-6, 10e-6)
THINKS = Scenario("thinks", (Answer(edit="b.txt", text="done"), Answer(say="Done.")), tokens_thought=500)


def limited(real, usd):
    file = real.project.path / "noface.toml"
    file.write_text(file.read_text().replace('timeout = "150s"', f'timeout = "150s"\nmax_cost_usd = {usd}'))


@pytest.mark.parametrize("cli", ["gemini"])
@pytest.mark.row("budget, attempt")
def test_a_run_over_its_model_s_limit_is_ended_while_it_runs(real, cli):
    steps = tuple(
        Answer(run=f"sleep 0.5; echo step {number}") for number in range(60)
    )  # the same again is a loop to it
    real.play(Scenario("long", steps, tokens_in=150_000, tokens_thought=1000))
    real.config(cli)
    limited(real, 1.0)
    attempt, printed = real.run()
    assert attempt["outcome"] == "RESOURCE_EXHAUSTED", printed
    assert (attempt["failure"]["rule"], attempt["task_failure"]["resource"]) == ("agent-over-budget", "budget")
    assert 1.0 < attempt["cost_usd"] < 4.0
    asked, rest = divmod(attempt["tokens_in"], 150_000)
    assert (rest, attempt["tokens_out"]) == (0, asked * 1040)
    assert attempt["cost_usd"] == pytest.approx(attempt["tokens_in"] * PRO_USD[0] + attempt["tokens_out"] * PRO_USD[1])


@pytest.mark.parametrize("cli", ["gemini"])
def test_a_killed_run_has_its_tokens_its_price_and_what_the_model_thought(real, cli):
    real.play(Scenario("cut", (Answer(edit="b.txt", text="done"), Answer(run="sleep 90")), tokens_thought=500))
    real.config(cli)
    real.issue(1)
    running = real.project.start("run", "--once")
    log = real.project.state / "attempts/1/1/agent.log"
    wait_for(lambda: log.exists() and "sleep 90" in log.read_text())
    wait_for(lambda: len(real.model.requests) == 2)
    running.kill()
    running.communicate()
    wait_for(lambda: not real.project.processes())
    real.model.scenario = THINKS
    real.project.noface("run", "--once")
    first, second = real.project.attempts("1")
    assert (first["outcome"], first["tokens_in"], first["tokens_out"]) == ("INTERRUPTED", 2400, 1080)
    assert first["cost_usd"] == pytest.approx(2400 * PRO_USD[0] + 1080 * PRO_USD[1])
    assert second["outcome"] == "PASSED"
    asked = len(real.model.requests) - 2
    assert (second["tokens_in"], second["tokens_out"]) == (asked * 1200, asked * 540)


@pytest.mark.parametrize("cli", ["gemini"])
def test_what_the_model_thought_is_paid_for(real, cli):
    real.play(THINKS)
    real.config(cli)
    real.run()
    usage = json.loads((real.project.state / "attempts/1/1/report.json").read_text())["agent"]["usage"]
    assert (usage["tokens_in"], usage["tokens_out"]) == (2400, 1080)


@pytest.mark.parametrize("cli", ["gemini"])
def test_a_run_that_it_stops_as_a_loop_has_not_finished(real, cli):
    real.play("endless")
    real.config(cli)
    attempt, printed = real.run()
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("RESOURCE_EXHAUSTED", "gemini-loop"), printed
