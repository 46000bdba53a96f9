"""Whether a worker that prints nothing is at work, by what is seen of it."""

import pytest

from noface.agents.base import OpenCall, ToolProcesses
from noface.attempt.worker.agent_watch import SilentWork, silent_process, silent_work
from noface.process.command import Running

TEST = OpenCall("1", "Bash npm test", "npm test")
SEARCH = OpenCall("2", "WebSearch how")
MOCHA = Running("mocha", 60.0, apart=True)
SERVER = Running("an MCP server", 900.0, apart=False)


def seen(*calls, running=(), retrying=False):
    return silent_work([(call, 65.0) for call in calls], running, retrying=retrying)


def test_a_call_that_runs_a_command_is_at_work_while_a_process_of_it_runs():
    assert seen(TEST, running=[SERVER, MOCHA]) == SilentWork("npm test", 65.0)
    assert seen(TEST, running=[Running("mocha", 66.0, apart=False)]), "one begun with it, where the session is the same"
    assert seen(TEST, running=[SERVER]) is None
    assert seen(TEST, running=[]) is None


def test_where_nobody_can_see_processes_an_open_call_is_enough():
    assert seen(TEST, running=None) == SilentWork("npm test", 65.0)


def test_a_call_without_a_process_is_at_work_unless_the_program_only_tries_its_provider_again():
    assert seen(SEARCH) == SilentWork("WebSearch how", 65.0)
    assert seen(SEARCH, retrying=True) is None
    assert seen(TEST, running=[MOCHA], retrying=True), "its process runs all the same"


def test_without_an_open_call_nothing_that_runs_shows_work():
    assert seen(running=[MOCHA]) is None, "it may be a server that was left running"


def test_where_calls_are_not_told_the_processes_of_tools_show_work():
    assert silent_process([SERVER, MOCHA], ToolProcesses.APART) == SilentWork("mocha", 60.0)
    assert silent_process([SERVER], ToolProcesses.APART) is None
    assert silent_process([SERVER], ToolProcesses.BELOW) == SilentWork("an MCP server", 900.0)
    assert silent_process([MOCHA], None) is None
    assert silent_process(None, ToolProcesses.APART) is None


@pytest.mark.parametrize(
    ("work", "said"),
    [(SilentWork("npm test", 1860.0), "`npm test` had run for 31 min"),
     (SilentWork("a\nb", 119.0, gone=True), "`a b` had run for 119 s, and its process is gone")],
)  # fmt: skip
def test_work_is_told_with_its_time(work, said):
    assert str(work) == said
