"""Codex CLI (seen with 0.169.0): `codex exec --json`, prompt on stdin.

Without a network it reconnects for ever, and prints nothing else: only the idle limit ends that. Told to come back in
an hour it waits an hour, and says so in its log alone, which is therefore switched on for that one place. It bounds
its other retries itself, at five within some seconds; for the providers it brings along nobody else can.

CODEX_HOME stays the person's, and only its databases are the attempt's own (CODEX_SQLITE_HOME), so that runs at once
share no lock for longer than a moment. A home of its own would cost the login: renewing it in a copy makes the
original worthless, a login in the keyring belongs to the folder's path, and every new home fetches its plugins anew.
"""

from collections.abc import Mapping
from typing import ClassVar

from noface.agents.base import ONLY_THE_STREAM, WORKER, Agent, Invocation, Place, defaults
from noface.agents.codex_stream import CodexReader
from noface.agents.codex_usage import Rollout
from noface.core.attempt import AttemptOrder
from noface.core.worker_run import ModelSpec
from noface.system.sandbox_home import AgentHome

_LOG = "error,codex_core::responses_retry=warn"


class CodexAgent:
    """Translates orders to Codex's command line and its stream to events."""

    environment: ClassVar[tuple[str, ...]] = ("CODEX_*", "OPENAI_*", "AZURE_OPENAI_*", "RUST_LOG")
    homes: ClassVar[tuple[AgentHome, ...]] = (
        AgentHome(
            ".codex",
            variable="CODEX_HOME",
            read=("config.toml", "AGENTS.md", "AGENTS.override.md", "plugins", "prompts", "rules", "skills"),
            shared=("auth.json", ".credentials.json"),
            copied=("installation_id", "models_cache.json", "version.json"),
            session=("sessions",),
        ),
    )
    holds_cost: ClassVar[bool] = False

    def program(self, model: ModelSpec) -> str:
        """Return the program: `[models.NAME] command`, or codex."""
        return model.command or "codex"

    def invocation(self, order: AttemptOrder, place: Place) -> Invocation:
        """Return the command line; noface's own slot and sandbox bound it, nobody is there to approve.

        Who is only asked something runs in Codex's own sandbox, which lets it read everything and write nothing.
        """
        argv = [self.program(order.model), "exec", "--json", "--skip-git-repo-check"]
        argv += ("--dangerously-bypass-approvals-and-sandbox",) if order.role == WORKER else ("-s", "read-only")
        if order.model.model:
            argv += ["-m", order.model.model]
        if order.think:
            argv += ["-c", 'model_reasoning_effort="high"']
        env = defaults(order.model, ("RUST_LOG", _LOG), ("CODEX_SQLITE_HOME", f"{place.directory}/codex"))
        return Invocation((*argv, *order.model.args, "-"), place.prompt_file, env)

    def reader(self, env: Mapping[str, str] = ONLY_THE_STREAM) -> CodexReader:
        """Return a reader of its JSON lines, and of the tokens in its log of the thread."""
        return CodexReader(Rollout(env))


AGENT: Agent = CodexAgent()
