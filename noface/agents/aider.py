"""aider (seen with 0.86.2): `aider --message-file F`.

It keeps no login and no session; its histories go to the attempt's folder, and ~/.aider holds nothing but caches. Its
own retries cannot be bounded: they end by themselves after about 85 seconds.
"""

from collections.abc import Mapping
from typing import ClassVar

from noface.agents.aider_stream import AiderReader
from noface.agents.base import ONLY_THE_STREAM, WORKER, Agent, Invocation, Place, defaults
from noface.agents.typed import LITELLM_ENVIRONMENT
from noface.core.attempt import AttemptOrder
from noface.core.worker_run import ModelSpec
from noface.system.sandbox_home import AgentHome

_FLAGS = (
    "--yes-always", "--no-stream", "--no-pretty", "--no-fancy-input", "--no-check-update", "--no-show-release-notes",
    "--no-show-model-warnings", "--no-analytics", "--no-detect-urls", "--no-suggest-shell-commands",
    "--no-gitignore", "--no-auto-commits", "--no-dirty-commits",
    "--map-tokens", "0",  # the map is cached inside the workspace, where it would count as the worker's change
)  # fmt: skip
_COLUMNS = "20000"  # it breaks its lines, and a report in one line of JSON has to stay whole


class AiderAgent:
    """Translates orders to aider's command line and its text to events."""

    environment: ClassVar[tuple[str, ...]] = (*LITELLM_ENVIRONMENT, "AIDER_*")
    homes: ClassVar[tuple[AgentHome, ...]] = (
        AgentHome(".aider.conf.yml", read=("",)),
        AgentHome(".aider.oauth-keys.env", read=("",)),
        AgentHome(".aider", copied=("analytics.json", "installs.json")),
        AgentHome(".env", read=("",)),
    )
    holds_cost: ClassVar[bool] = False

    def program(self, model: ModelSpec) -> str:
        """Return the program: `[models.NAME] command`, or aider."""
        return model.command or "aider"

    def invocation(self, order: AttemptOrder, place: Place) -> Invocation:
        """Return the command line; histories go to the attempt's folder, wide lines keep messages whole.

        Who is only asked something gets aider's mode "ask", in which no answer is applied. What a model doesn't take
        of the two options for thinking, aider leaves out.
        """
        argv = [self.program(order.model), "--message-file", place.prompt_file]
        if order.model.model:
            argv += ["--model", order.model.model]
        chat, typed = f"{place.directory}/aider.chat.md", f"{place.directory}/aider.input"
        argv += [*_FLAGS, "--chat-history-file", chat, "--input-history-file", typed]
        argv += ["--chat-mode", "ask"] if order.role != WORKER else []
        argv += ["--reasoning-effort", "high", "--thinking-tokens", "32k"] if order.think else []
        env = defaults(order.model, ("COLUMNS", _COLUMNS), ("LITELLM_LOCAL_MODEL_COST_MAP", "True"))
        return Invocation((*argv, *order.model.args), None, env, histories=(chat, typed))

    def reader(self, env: Mapping[str, str] = ONLY_THE_STREAM) -> AiderReader:
        """Return a reader of its text."""
        del env
        return AiderReader()


AGENT: Agent = AiderAgent()
