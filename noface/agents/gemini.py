"""Gemini CLI (seen with 0.61.0): `gemini -o stream-json`, prompt on stdin.

~/.gemini stays the person's, since their login is renewed there; runs at once have sessions of their own in it. What
they share, the list of projects, is written under a lock held for a moment, each time as a whole; the lock of a killed
run counts for ten seconds. It has no option for extended thinking or for a limit of cost, nor one for its retries: of
ten a request, each after the wait that the provider asked for, only the idle limit makes fewer. (A file of defaults
would do it, but Gemini CLI reads one only from folders that belong to root.)
"""

from collections.abc import Mapping
from typing import ClassVar

from noface.agents.base import ONLY_THE_STREAM, WORKER, Agent, Invocation, Place
from noface.agents.gemini_stream import GeminiReader
from noface.core.attempt import AttemptOrder
from noface.core.worker_run import ModelSpec
from noface.system.sandbox_home import AgentHome


class GeminiAgent:
    """Translates orders to Gemini CLI's command line and its stream to events."""

    environment: ClassVar[tuple[str, ...]] = ("GEMINI_*", "GOOGLE_*", "CLOUDSDK_*")
    homes: ClassVar[tuple[AgentHome, ...]] = (
        AgentHome(
            ".gemini",
            read=("settings.json", "GEMINI.md", ".env", "agents", "commands", "extensions", "policies", "skills",
                  "trustedFolders.json"),
            shared=("oauth_creds.json", "google_accounts.json", "gemini-credentials.json", "mcp-oauth-tokens.json"),
            copied=("installation_id", "projects.json", "state.json", "user_id"),
            session=("tmp",),
        ),
        AgentHome(".config/gcloud", variable="CLOUDSDK_CONFIG", read=("",)),
    )  # fmt: skip
    holds_cost: ClassVar[bool] = False

    def program(self, model: ModelSpec) -> str:
        """Return the program: `[models.NAME] command`, or gemini."""
        return model.command or "gemini"

    def invocation(self, order: AttemptOrder, place: Place) -> Invocation:
        """Return the command line; it refuses a folder it was not told to trust (exit code 55).

        Who is only asked something would have to confirm each change: with nobody there to do that, the tools that
        change things are not even offered to the model. Its mode "plan" makes it write plans.
        """
        argv = [self.program(order.model), "-o", "stream-json", "--skip-trust"]
        argv += ("--yolo",) if order.role == WORKER else ("--approval-mode", "default")
        if order.model.model:
            argv += ["-m", order.model.model]
        return Invocation((*argv, *order.model.args), place.prompt_file)

    def reader(self, env: Mapping[str, str] = ONLY_THE_STREAM) -> GeminiReader:
        """Return a reader of stream-json."""
        del env
        return GeminiReader()


AGENT: Agent = GeminiAgent()
