"""Claude Code (seen with 2.1.197): `claude -p --output-format stream-json`, prompt on stdin.

Its own retries are bounded, so that noface's backoff rules; as root it runs only with IS_SANDBOX=1.

Its configuration folder stays the person's: their login and its renewal live there, and it keeps what runs at once
apart by session. What they share, ~/.claude.json, it writes under a lock held for a moment, each time as a new file
that takes the old one's place. Where a killed run left the lock behind, others write without it and do not wait (seen
with strace; tests/agents proves it). So a CLAUDE_CONFIG_DIR for each attempt would gain nothing, and cost the login.
Nothing of its own is written into the workspace.
"""

import os
from collections.abc import Mapping
from typing import ClassVar

from noface.agents.base import ONLY_THE_STREAM, WORKER, Agent, Invocation, Place, defaults
from noface.agents.claude_stream import ClaudeReader
from noface.core.attempt import AttemptOrder
from noface.core.worker_run import ModelSpec
from noface.system.sandbox_home import AgentHome

_READING = ("--tools", "Read,Grep,Glob", "--strict-mcp-config")  # no MCP servers either: theirs may write
_IN_PLACE = "--disallowedTools=EnterWorktree,ExitWorktree"
"""They would take its work out of the checkout. A person's own --disallowedTools are added to these."""
_THINKING = (("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "64000"), ("MAX_THINKING_TOKENS", "63999"))
"""By default it thinks with 31,999 tokens; what a model cannot take, Claude Code lowers by itself."""


class ClaudeAgent:
    """Translates orders to Claude Code's command line and its stream to events."""

    environment: ClassVar[tuple[str, ...]] = (
        "ANTHROPIC_*", "CLAUDE_*", "MAX_THINKING_TOKENS", "API_TIMEOUT_MS", "BASH_*", "MCP_*", "MAX_MCP_*",
        "DISABLE_*", "AWS_*", "GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_*",
    )  # fmt: skip
    homes: ClassVar[tuple[AgentHome, ...]] = (
        AgentHome(
            ".claude",
            variable="CLAUDE_CONFIG_DIR",
            read=(
                "settings.json", "settings.local.json", "CLAUDE.md", "agents", "commands", "hooks", "keybindings.json",
                "local", "output-styles", "plugins", "rules", "skills",
            ),
            shared=(".credentials.json",),
            copied=(".claude.json",),
            session=("projects",),
        ),
        AgentHome(".claude.json", copied=("",)),
    )  # fmt: skip
    holds_cost: ClassVar[bool] = True

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
        argv += ["--permission-mode", "bypassPermissions", _IN_PLACE]
        argv += _READING if order.role != WORKER else ()
        argv += ("--effort", "max") if order.think else ()
        env = [("CLAUDE_CODE_MAX_RETRIES", "2"), ("DISABLE_AUTOUPDATER", "1"), *(_THINKING if order.think else ())]
        if os.geteuid() == 0:
            env.append(("IS_SANDBOX", "1"))
        return Invocation((*argv, *order.model.args), place.prompt_file, defaults(order.model, *env))

    def reader(self, env: Mapping[str, str] = ONLY_THE_STREAM) -> ClaudeReader:
        """Return a reader of stream-json."""
        del env
        return ClaudeReader()


AGENT: Agent = ClaudeAgent()
