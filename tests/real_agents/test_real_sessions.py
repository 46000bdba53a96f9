"""The real programs go on with the session of a run that was killed: the model gets the earlier conversation."""

import json
import shutil

import pytest
from scenario import Answer, Scenario
from support.processes import wait_for

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
    assert second["resumed"] == {"session_id": first["session_id"], "attempt": 1, "refused": ""}
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
    assert SAID not in asked[-1]
    assert "Write a file b.txt that holds the word done." in asked[-1]
    assert "was cut off, through no fault of the work" in asked[-1]
