"""Adding an agent takes its adapter and its table in agents.toml, and nothing else of noface/."""

import json
import os
import shutil
import subprocess
import sys

from support import ROOT

from noface.agents.base import AGENTS

ADAPTER = """
from noface.agents.base import Agent, Invocation
from noface.agents.command import CommandReader


class NewAgent(Agent):
    name = "new"
    stream = CommandReader

    def invocation(self, order, place):
        return Invocation((self.program(order.model), *order.model.args), place.prompt_file)


AGENT: Agent = NewAgent()
"""
TABLE = """
[new]
install = "pipx install new-agent"
environment = ["NEW_*"]
tells_cost = false
presets = [{ name = "new-fast", model = "fast-1", tier = 1 }]
provider = "openai"

[new.login]
keys = ["NEW_KEY"]
files = [".new"]
fix = "run `new login`"

[[new.errors]]
name = "tired"
kind = "RATE_LIMITED"
codes = ["E_TIRED"]
example = "E_TIRED"
"""
LOOK = """
import json
from pathlib import Path

from noface.agents.base import AGENTS
from noface.cli.probes.models import login_of
from noface.config.load import parse
from noface.diagnosis.agent import classify
from noface.diagnosis.agent_errors import AgentError, AgentEvidence
from noface.diagnosis.reset_times import WallClock
from noface.secrets.environment import providers_of

config = parse('[retry]\\ndefault_model = "new-fast"\\n[models.mine]\\nagent = "new"\\n', "noface.toml")
verdict = classify(AgentEvidence("new", 1, error=AgentError("", ("E_TIRED",))), WallClock(0.0))
print(json.dumps({
    "agents": list(AGENTS),
    "environment": AGENTS["new"].environment,
    "reader": type(AGENTS["new"].reader()).__name__,
    "preset": [config.models["new-fast"].agent, config.models["new-fast"].model, config.models["mine"].agent],
    "verdict": [verdict.kind, verdict.rule],
    "login": login_of("new", "fast-1", {"NEW_KEY": "x"}, Path("/")).seen,
    "providers": list(providers_of("new", "fast-1", {})),
}))
"""


def test_a_new_agent_is_an_adapter_and_an_entry_of_the_registry(tmp_path):
    package = tmp_path / "noface"
    shutil.copytree(ROOT / "noface", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "agents" / "new.py").write_text(ADAPTER, "utf-8")
    with (package / "data" / "agents.toml").open("a", encoding="utf-8") as registry:
        registry.write(TABLE)
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "environment": ["NEW_*"],
        "agents": [*AGENTS, "new"],
        "reader": "CommandReader",
        "preset": ["new", "fast-1", "new"],
        "verdict": ["RATE_LIMITED", "new-tired"],
        "login": ["NEW_KEY"],
        "providers": ["openai"],
    }
