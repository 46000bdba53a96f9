"""How a model's answer becomes a tool call of the agent that asked."""

import shlex
from dataclasses import dataclass
from itertools import count
from typing import Any

from scenario import Answer

_NUMBERS = count(1)
_BY_SCHEMA = "StructuredOutput"
"""The tool by which Claude Code has an answer made by a schema."""
_SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


@dataclass(frozen=True)
class Move:
    """Prose, and a tool call where `tool` names one."""

    text: str
    tool: str = ""
    given: dict[str, Any] | None = None


def identity(prefix: str) -> str:
    """Return an id nothing else has."""
    return f"{prefix}_test{next(_NUMBERS):06d}"


def move(answer: Answer, tools: set[str], closing: str) -> Move:
    """Return what the answer is in terms of the tools on offer.

    Without tools an edit is aider's edit block, with what there is to say after it. Where no tool can do it, the
    model goes on to its closing words.
    """
    if answer.json and _BY_SCHEMA in tools:
        return Move("I will answer now.", _BY_SCHEMA, answer.json)
    only_bash = tools == {"bash"}  # mini-swe-agent ends its runs by a command
    if answer.say and not answer.edit:
        submit = f"{_SUBMIT}; printf '%s\\n' {shlex.quote(answer.say)}"
        return Move("I am done.", "bash", {"command": submit}) if only_bash else Move(answer.say)
    if answer.edit and not tools:
        return Move(f"{answer.edit}\n```\n<<<<<<< SEARCH\n=======\n{answer.text}\n>>>>>>> REPLACE\n```\n\n{answer.say}")
    command = answer.run or f"printf '%s\\n' {shlex.quote(answer.text)} > {shlex.quote(answer.edit)}"
    for name, key, more in (
        ("Bash", "command", {"description": "run it"}),
        ("bash", "command", {}),
        ("exec_command", "cmd", {}),
        ("shell_command", "command", {}),
        ("run_shell_command", "command", {}),
    ):
        if name in tools:
            return Move("I will do it now.", name, {key: command, **more})
    return Move(closing or "I have no tool to do it with.")
