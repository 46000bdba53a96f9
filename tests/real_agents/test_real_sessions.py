"""The real programs go on with the session of a run that was cut off: the model gets the earlier conversation."""

import json
import shutil
from dataclasses import replace

import pytest
from scenario import Answer, Scenario, scenario
from support.processes import wait_for

from noface.model.worker_run import Session

CUT_OFF = Scenario("cut off", (Answer(edit="b.txt", text="done"), Answer(run="sleep 90"), Answer(say="Done.")))
REST = Scenario("the rest", (Answer(say="Done."),))
SAID = "I will do it now."
"""What the model says with each tool call (moves.py): nothing else in a request has these words."""


def killed(real, cli):
    """Kill noface once the model has had b.txt written and has a command running."""
    real.play(CUT_OFF)
    real.config(cli)
    real.issue(1)
    running = real.project.start("run", "--once")
    real.project.in_slots("b.txt")
    wait_for(lambda: SAID in json.dumps(real.model.requests))
    wait_for(lambda: "sleep 90" in (real.project.state / "attempts/1/1/agent.log").read_text() or cli == "opencode")
    running.kill()
    running.communicate()
    wait_for(lambda: not real.project.processes())
    real.model.scenario = REST
    return len(real.model.requests)


def went_on(real, before):
    """Run noface again; the two attempts, and the requests of the second as text."""
    done = real.project.noface("run", "--once")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    first, second = real.project.attempts("1")
    assert [first["outcome"], first["charged"], second["outcome"]] == ["INTERRUPTED", False, "PASSED"]
    assert (real.project.path / "b.txt").read_text() == "done\n"
    return first, second, [json.dumps(request) for request in real.model.requests[before:]]


@pytest.mark.row("kill and resume")
@pytest.mark.parametrize("cli", ["claude", "codex", "codex-5", "gemini", "opencode"])
def test_a_killed_run_goes_on_in_its_session_and_the_model_gets_the_earlier_conversation(real, cli):
    first, second, asked = went_on(real, killed(real, cli))
    assert second["resumed"] == {"session": first["session_id"], "attempt": 1, "refused": ""}
    assert second["session_id"] == first["session_id"]
    assert SAID in asked[-1]
    assert "Go on with your task" in asked[-1]
    assert (second["tokens_in"], second["tokens_out"]) == (len(asked) * REST.tokens_in, len(asked) * REST.tokens_out)


@pytest.mark.row("kill and resume")
@pytest.mark.parametrize("cli", ["claude", "codex", "codex-5", "gemini", "opencode"])
def test_a_program_that_does_not_find_the_session_begins_afresh_in_the_same_attempt(real, cli):
    before = killed(real, cli)
    shutil.rmtree(real.project.state / "attempts/1/1/session")
    for folder in (".claude", ".codex", ".gemini/tmp", ".local"):
        shutil.rmtree(real.folder / folder, ignore_errors=True)  # where there is no sandbox
    _, second, asked = went_on(real, before)
    assert second["resumed"]["refused"]
    assert asked[-1].count(SAID) <= 1, "its words are quoted, its conversation is not there"
    assert "Write a file b.txt that holds the word done." in asked[-1]
    assert "was cut off, through no fault of the work" in asked[-1]


LIMIT = replace(
    scenario("rate_limited"), answers=(Answer(edit="b.txt", text="done"), Answer(say="Done.")), fails_from=2
)
"""The provider's limit is reached after the first answer."""


@pytest.mark.parametrize("cli", ["claude", "codex", "gemini", "opencode"])
def test_a_run_that_met_a_limit_goes_on_in_its_session_and_counts_what_is_new(real, cli):
    real.play(LIMIT)
    real.config(cli)
    first, printed = real.run()
    assert (first["outcome"], first["charged"]) == ("RATE_LIMITED", False), printed
    before = len(real.model.requests)
    real.model.scenario = REST
    assert "merged" in real.project.run()
    first, second = real.project.attempts("1")
    assert second["resumed"] == {"session": first["session_id"], "attempt": 1, "refused": ""}
    asked = [json.dumps(request) for request in real.model.requests[before:]]
    assert SAID in asked[-1]
    assert (second["tokens_in"], second["tokens_out"]) == (len(asked) * REST.tokens_in, len(asked) * REST.tokens_out)
    assert real.landed() == ["b.txt"]


def session(name, verdict=None):
    return Session(name or verdict.usage.session_id, 1, "/nowhere", "Go on.")


OWN_ID = "22222222-2222-4222-8222-222222222222"


@pytest.mark.parametrize("cli", ["claude"])
def test_claude_code_goes_on_by_id_with_a_session_of_a_preset_id_and_with_the_newest_of_the_folder(real, cli):
    real.play("success")
    _, begun = real.started(cli, "Write b.txt.", args=("--session-id", OWN_ID))
    assert begun.usage.session_id == OWN_ID
    real.model.scenario = REST
    for how in ({"session": session(OWN_ID)}, {"args": ("--continue",)}):
        _, verdict = real.started(cli, "Go on.", **how)
        assert verdict.error is None
        assert verdict.usage.session_id == OWN_ID
        assert SAID in json.dumps(real.model.requests[-1])
        assert verdict.usage.tokens_in == REST.tokens_in, "not what the runs before used as well"
        assert verdict.usage.cost_usd < begun.usage.cost_usd


@pytest.mark.parametrize("cli", ["claude"])
def test_claude_code_begins_no_session_with_an_id_that_is_taken_and_says_that_it_does_not_know_one(real, cli):
    real.play(REST)
    assert real.started(cli, "Go.", args=("--session-id", OWN_ID))[1].error is None
    asked = len(real.model.requests)
    taken = real.started(cli, "Go.", args=("--session-id", OWN_ID))[1]
    assert "is already in use" in taken.error.excerpt
    unknown = real.started(cli, "Go on.", session=session("33333333-3333-4333-8333-333333333333"))[1]
    assert "No conversation found with session ID" in unknown.error.excerpt
    assert not taken.finished
    assert not unknown.finished
    assert len(real.model.requests) == asked
