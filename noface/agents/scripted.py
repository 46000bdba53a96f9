r"""A worker for tests and dry runs: a real process that plays a list of edits, exits, sleeps and outputs.

`[models.NAME] command` is the path of a TOML file; the first play that fits is the one:

    [[play]]
    issue = "7"          # "*" = any
    attempt = 1          # 0 = any
    role = "diagnosis"   # asked something rather than put to work; by default "worker"
    steps = [
      { write = "src/a.py", text = "x = 1\n" },
      { replace = "src/a.py", old = "1", new = "2" },
      { delete = "src/b.py" }, { shell = "nohup sleep 60 &" },
      { say = "done" }, { complain = "to stderr" }, { sleep = 0.5 }, { exit = 3 },
    ]
"""

import sys

from noface.agents.base import Agent, Invocation, RunPlace
from noface.agents.command import CommandReader
from noface.model.attempt import AttemptOrder
from noface.model.worker_run import ModelSpec


class ScriptedAgent(Agent):
    """Starts `noface.agents.replay_agent` on the script."""

    stream = CommandReader

    def program(self, model: ModelSpec) -> str:
        del model
        return ""

    def invocation(self, order: AttemptOrder, place: RunPlace) -> Invocation:
        """Return the command line; `-P` keeps the workspace's modules from posing as Python's own."""
        argv = (sys.executable, "-P", "-m", "noface.agents.replay_agent", order.model.command, *order.model.args)
        return Invocation(argv, place.prompt_file)


AGENT: Agent = ScriptedAgent()
