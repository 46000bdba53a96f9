"""Real programs whose tool prints nothing for longer than a worker may be idle, or than a tool may."""

import json
import re

import pytest
from scenario import Answer, Scenario

IDLE_S = 45
SILENT = Scenario("silent", (Answer(run="test -e a.txt && sleep 80 && true"), Answer(say="Done.")))


@pytest.mark.row("long silent test", "aider")
def test_aider_s_long_silent_test_command_is_no_hang(real):
    real.play("success")
    real.config("aider", idle=IDLE_S, args=("--auto-test", "--test-cmd", "sleep 70 && true"))
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    assert attempt["seconds"] > 70


@pytest.mark.parametrize("cli", ["gemini", "opencode"])  # the others come back sooner
def test_a_silent_command_that_takes_longer_than_a_tool_may_is_named(real, cli):
    real.play(SILENT)
    real.config(cli, idle=IDLE_S)
    config = real.project.path / "noface.toml"
    config.write_text(config.read_text().replace("idle_timeout", 'tool_timeout = "50s"\nidle_timeout'))
    attempt, printed = real.run()
    failure = attempt["failure"]
    assert (attempt["outcome"], failure["rule"]) == ("TIMEOUT", "agent-tool-timeout"), printed
    said = r"no output for 50 s \(tool_timeout of real\); `.*sleep 80.*` had run for [45]\d s"
    assert re.fullmatch(said, failure["message"]), failure["message"]
    assert real.left() == []


@pytest.mark.parametrize("cli", ["claude"])
def test_claude_code_ends_such_a_command_itself_and_the_model_is_told(real, cli):
    real.play(Scenario("told", (SILENT.answers[0], Answer(edit="b.txt", text="done"), Answer(say="Done."))))
    real.config(cli, idle=IDLE_S, own='tool_timeout = "50s"')
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    assert "Command timed out after 40" in json.dumps(real.model.requests[-1])
    assert real.left() == []
