"""Claude Code (seen with 2.1.197): `claude -p --output-format stream-json`, prompt on stdin.

Its own retries are bounded, so that noface's backoff rules; as root it runs only with IS_SANDBOX=1.

Its configuration folder stays the person's: their login and its renewal live there, it keeps what runs at once apart
by session, and it locks what it shares only for a moment. Nothing of its own is written into the workspace.
"""

import os
from typing import ClassVar

from noface.agents.base import WORKER, Invocation, Place, defaults
from noface.agents.claude_stream import ClaudeReader
from noface.core.model import AttemptOrder, ModelSpec

_READING = ("--tools", "Read,Grep,Glob", "--strict-mcp-config")  # no MCP servers either: theirs may write
_THINKING = (("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "64000"), ("MAX_THINKING_TOKENS", "63999"))
"""By default it thinks with 31,999 tokens; what a model cannot take, Claude Code lowers by itself."""


class ClaudeAgent:
    """Translates orders to Claude Code's command line and its stream to events."""

    environment: ClassVar[tuple[str, ...]] = (
        "ANTHROPIC_*", "CLAUDE_*", "MAX_THINKING_TOKENS", "API_TIMEOUT_MS", "BASH_*", "MCP_*", "MAX_MCP_*",
        "DISABLE_*", "AWS_*", "GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_*",
    )  # fmt: skip

    def program(self, model: ModelSpec) -> str:
        """Return the program: `[models.NAME] command`, or claude."""
        return model.command or "claude"

    def invocation(self, order: AttemptOrder, place: Place) -> Invocation:
        """Return the command line; permissions are bypassed, since nobody is there to be asked.

        Who is only asked something gets no tool but those that read: nothing else is offered to the model.
        """
        argv = [self.program(order.model), "-p", "--output-format", "stream-json", "--verbose"]
        if order.model.model:
            argv += ["--model", order.model.model]
        if order.model.max_cost_usd is not None:
            argv += ["--max-budget-usd", f"{order.model.max_cost_usd:g}"]
        argv += ["--permission-mode", "bypassPermissions"]
        argv += _READING if order.role != WORKER else ()
        argv += ("--effort", "max") if order.think else ()
        env = [("CLAUDE_CODE_MAX_RETRIES", "2"), ("DISABLE_AUTOUPDATER", "1"), *(_THINKING if order.think else ())]
        if os.geteuid() == 0:
            env.append(("IS_SANDBOX", "1"))
        return Invocation((*argv, *order.model.args), place.prompt_file, defaults(order.model, *env))

    def reader(self) -> ClaudeReader:
        """Return a reader of stream-json."""
        return ClaudeReader()
