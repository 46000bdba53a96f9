"""How a model's answer becomes a tool call of the agent that asked."""

import json
import shlex
from dataclasses import dataclass
from itertools import count
from typing import Any

from scenario import Answer

_NUMBERS = count(1)
_BY_SCHEMA = "StructuredOutput"
"""The tool by which Claude Code has an answer made by a schema."""
_SCRIPT = "exec"
"""The tool of Codex's gpt-6 models, which runs JavaScript that calls all others."""
_SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


@dataclass(frozen=True)
class Move:
    """Prose, and a tool call where `tool` names one: with arguments, or with a script of JavaScript."""

    text: str
    tool: str = ""
    given: dict[str, Any] | None = None
    script: str = ""


def identity(prefix: str) -> str:
    return f"{prefix}_test{next(_NUMBERS):06d}"


def move(answer: Answer, tools: set[str], closing: str, asked: str = "SEARCH/REPLACE") -> Move:
    """Return what the answer is in terms of the tools on offer.

    Without tools an edit is aider's edit block, or the whole file where that is `asked`, with what there is to say
    after it. Where no tool can do it, the
    model goes on to its closing words.
    """
    if answer.call:
        return Move("I will do it now.", answer.call, answer.given)
    if answer.json and _BY_SCHEMA in tools:
        return Move("I will answer now.", _BY_SCHEMA, answer.json)
    only_bash = tools == {"bash"}  # mini-swe-agent ends its runs by a command
    if answer.say and not answer.edit:
        submit = f"{_SUBMIT}; printf '%s\\n' {shlex.quote(answer.say)}"
        return Move("I am done.", "bash", {"command": submit}) if only_bash else Move(answer.say)
    if answer.edit and not tools and "SEARCH/REPLACE" not in asked:
        return Move(f"{answer.edit}\n```\n{answer.text}\n```\n\n{answer.say}")
    if answer.edit and not tools:
        block = f"<<<<<<< SEARCH\n{answer.search}=======\n{answer.text}\n>>>>>>> REPLACE"
        return Move(f"{answer.edit}\n```\n{block}\n```\n\n{answer.say}")
    if _SCRIPT in tools:
        return Move("I will do it now.", _SCRIPT, script=script(answer))
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


def script(answer: Answer) -> str:
    """Return the JavaScript that carries out an answer: an edit as a patch, a command until it has ended."""
    if answer.edit:
        patch = f"*** Begin Patch\n*** Add File: {answer.edit}\n+{answer.text}\n*** End Patch\n"
        return f"text(await tools.apply_patch({json.dumps(patch)}));"
    return (
        f"let r = await tools.exec_command({{cmd: {json.dumps(answer.run)}, yield_time_ms: 30000}});\n"
        "let said = r.output;\n"
        "while (r.session_id !== undefined) {\n"
        "  r = await tools.write_stdin({session_id: r.session_id, yield_time_ms: 300000});\n"
        "  said += r.output;\n"
        "}\n"
        "text(said);"
    )


def waiting(what: str, number: str) -> Move:
    """Return the call of Codex that waits for a script or a process that still runs."""
    if what == "Script":
        return Move("It is still running.", "wait", {"cell_id": number, "yield_time_ms": 300_000})
    given = {"session_id": int(number), "chars": "", "yield_time_ms": 300_000}
    return Move("It is still running.", "write_stdin", given)
