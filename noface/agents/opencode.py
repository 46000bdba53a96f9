"""OpenCode (seen with 1.18.33): `opencode run --format json`, prompt on stdin.

Its folders stay the person's, since their login is there; its database is the attempt's own (OPENCODE_DB), so that runs
at once share none. The locks it leaves in its state folder are those of a plug-in's installation, on which no run
waits. It works in the folder that PWD names, whatever folder it is started in. Its retries print nothing: of a wait
that the provider asked for, however long, only its log tells, so the log's errors go to standard error.
"""

from collections.abc import Mapping
from typing import ClassVar

from noface.agents.base import ONLY_THE_STREAM, WORKER, Agent, Invocation, Place, defaults
from noface.agents.opencode_stream import OpencodeReader
from noface.core.attempt import AttemptOrder
from noface.core.worker_run import ModelSpec
from noface.system.sandbox_home import AgentHome

_READING = ("OPENCODE_PERMISSION", '{"edit":"deny","bash":"deny"}')
_LOG = (("OPENCODE_PRINT_LOGS", "1"), ("OPENCODE_LOG_LEVEL", "ERROR"))
_TITLE = ("--title", "noface")  # without one it asks the model for one, and does not tell what that cost


class OpencodeAgent:
    """Translates orders to OpenCode's command line and its stream to events."""

    environment: ClassVar[tuple[str, ...]] = (
        "OPENCODE_*", "*_API_KEY", "*_API_TOKEN", "*_BASE_URL", "*_API_BASE", "AWS_*", "AZURE_*", "GOOGLE_*",
    )  # fmt: skip
    homes: ClassVar[tuple[AgentHome, ...]] = (
        AgentHome(".config/opencode", read=("",)),
        AgentHome(
            ".local/share/opencode", read=("bin",), shared=("auth.json", "mcp-auth.json"), session=("storage", "log")
        ),
    )
    holds_cost: ClassVar[bool] = False

    def program(self, model: ModelSpec) -> str:
        """Return the program: `[models.NAME] command`, or opencode."""
        return model.command or "opencode"

    def invocation(self, order: AttemptOrder, place: Place) -> Invocation:
        """Return the command line; the model's name is provider/model.

        Who is only asked something is denied the tools that edit or run: they are not offered to the model then.
        """
        argv = [self.program(order.model), "run", "--format", "json", "--auto", *_TITLE]
        if order.model.model:
            argv += ["-m", order.model.model]
        if order.think:
            argv += ["--variant", "high"]  # a model without such a variant works as it always does
        env = [("PWD", place.workspace), ("OPENCODE_DISABLE_AUTOUPDATE", "1"), *_LOG]
        env.append(("OPENCODE_DB", f"{place.directory}/opencode.db"))
        env += [_READING] if order.role != WORKER else []
        return Invocation((*argv, *order.model.args), place.prompt_file, defaults(order.model, *env))

    def reader(self, env: Mapping[str, str] = ONLY_THE_STREAM) -> OpencodeReader:
        """Return a reader of its JSON lines."""
        del env
        return OpencodeReader()


AGENT: Agent = OpencodeAgent()
