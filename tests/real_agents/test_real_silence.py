"""Real programs whose tool prints nothing for longer than a worker may be idle, or than a tool may."""

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
