"""mini-swe-agent (seen with 2.4.6): `mini -y --exit-immediately`.

How a run ended, what it cost and what it submitted stand in the trajectory that it leaves in the attempt's folder;
`mini_task` prints their essence as a last line of JSON. Its configuration folder is only read. It has no way of being
kept from editing.
"""

import sys
from collections.abc import Mapping
from typing import ClassVar

from noface.agents.base import ONLY_THE_STREAM, Agent, Invocation, Place, defaults
from noface.agents.mini_stream import MiniReader
from noface.agents.typed import LITELLM_ENVIRONMENT
from noface.core.attempt import AttemptOrder
from noface.core.worker_run import ModelSpec
from noface.system.sandbox_home import AgentHome

_ENV = (
    ("MSWEA_CONFIGURED", "true"),
    ("MSWEA_COST_TRACKING", "ignore_errors"),
    ("MSWEA_SILENT_STARTUP", "1"),
    ("MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT", "2"),
    ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
)


class MiniAgent:
    """Translates orders to mini's command line and its text to events."""

    environment: ClassVar[tuple[str, ...]] = (*LITELLM_ENVIRONMENT, "MSWEA_*")
    homes: ClassVar[tuple[AgentHome, ...]] = (AgentHome(".config/mini-swe-agent", read=("",)),)
    holds_cost: ClassVar[bool] = True

    def program(self, model: ModelSpec) -> str:
        """Return the program: `[models.NAME] command`, or mini."""
        return model.command or "mini"

    def invocation(self, order: AttemptOrder, place: Place) -> Invocation:
        """Return the command line; the prompt goes through a file of its own, since an argument may be too short."""
        files = f"{place.directory}/mini"
        told = f"{files}.traj.json"
        argv = [self.program(order.model), "-y", "--exit-immediately", "-o", told]
        argv += ["-c", "mini.yaml", "-c", f"{files}.task.yaml"]
        if order.model.model:
            argv += ["-m", order.model.model]
        if order.model.max_cost_usd is not None:
            argv += ["-l", f"{order.model.max_cost_usd:g}"]
        if order.think:
            argv += ["-c", "model.model_kwargs.reasoning_effort=high"]  # dropped where the model has no such thing
        start = (sys.executable, "-P", "-m", "noface.agents.mini_task", place.prompt_file, files)
        env = defaults(order.model, *_ENV)
        return Invocation((*start, *argv, *order.model.args), None, env, histories=(told,))

    def reader(self, env: Mapping[str, str] = ONLY_THE_STREAM) -> MiniReader:
        """Return a reader of its sections."""
        del env
        return MiniReader()


AGENT: Agent = MiniAgent()
