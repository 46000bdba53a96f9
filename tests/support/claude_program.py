"""A program that poses as Claude Code and keeps sessions as it does; it plays a script of the scripted agent.

A session is a file below ~/.claude/projects, in a folder named after the folder it was begun in; `--resume ID` goes on
with it, and ends with Claude Code's words where it is not there. Instead of asking a model it prints the whole
conversation that it would have sent, as a line of type "asked". `limit` in place of a step ends the run at a usage
limit that is over in that many seconds, `too_long` at a request that the model does not take, with these words; `answer` is JSON that it ends with, as its structured output where it is given
a schema. With OLD in its environment it knows no schemas, and notes each time it was given one in ~/refused.
"""

import json
import os
import re
import sys
import time
import tomllib
import uuid
from pathlib import Path

from noface.agents.replay_agent import play, steps_of

_USAGE = {"input_tokens": 1000, "output_tokens": 50}
_LIMIT = "You've hit your session limit"


def claude(project, *plays, sandbox="none", extra="", **env):
    """Have the models be a program that poses as Claude Code.

    `extra` is added to noface.toml, `env` to its environment.
    """
    program = project.folder / "bin/claude"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P {__file__} "$@"\n')
    program.chmod(0o755)
    project.play(*plays)
    project.config(sandbox=sandbox)
    head, _, tail = (project.path / "noface.toml").read_text().partition("[models.small]")
    tail = tail[tail.index("[retry]") :].replace('escalation_model = "big"\n', "")
    shown = f'show = ["{project.script}", "{__file__}"]'
    given = ", ".join(f'{name} = "{value}"' for name, value in {"SCRIPT": project.script, **env}.items())
    entry = f'agent = "claude"\ncommand = "{program}"\nenv = {{ {given} }}\n'
    project.write(
        "noface.toml", f"{head}[models.small]\n{entry}\n" + tail.replace("[sandbox]\n", f"[sandbox]\n{shown}\n") + extra
    )
    project.issue(1, "Write two files", "Write half.txt and b.txt.")
    project.commit("an issue")


def line(session: str, **entry: object) -> None:
    print(json.dumps({**entry, "session_id": session}), flush=True)


def opened(resume: str) -> Path | None:
    """Return the file of the session to go on with, or of a new one; None where it is not there."""
    folder = Path.home() / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(Path.cwd()))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{resume or uuid.uuid4()}.jsonl"
    return file if not resume or file.exists() else None


def spent(session: str, seconds: float) -> int:
    info = {"status": "rejected", "resetsAt": int(time.time() + seconds), "rateLimitType": "five_hour"}
    line(session, type="rate_limit_event", rate_limit_info=info)
    line(session, type="assistant", message={"content": [{"type": "text", "text": _LIMIT}]}, error="rate_limit")
    line(session, type="result", subtype="success", is_error=True, api_error_status=429, result=_LIMIT)
    return 1


def refused(session: str, words: str) -> int:
    said = [{"type": "text", "text": words}]
    line(session, type="assistant", message={"content": said}, error="invalid_request")
    line(session, type="result", subtype="success", is_error=True, api_error_status=400, result=words)
    return 1


def main() -> int:
    if "--version" in sys.argv:
        print("2.1.197")
        return 0
    schema = json.loads(sys.argv[sys.argv.index("--json-schema") + 1]) if "--json-schema" in sys.argv else None
    if schema is not None and "OLD" in os.environ:
        with (Path(os.environ["OLD"]) / "refused").open("a") as notes:
            notes.write("once more\n")
        print("error: unknown option '--json-schema'", file=sys.stderr)
        return 1
    resume = sys.argv[sys.argv.index("--resume") + 1] if "--resume" in sys.argv else ""
    file = opened(resume)
    if file is None:
        error = f"No conversation found with session ID: {resume}"
        line(resume, type="result", subtype="error_during_execution", is_error=True, errors=[error])
        return 1
    session = file.stem

    def remember(role: str, text: str) -> None:
        with file.open("a") as log:
            log.write(json.dumps({"role": role, "content": text}) + "\n")

    line(session, type="system", subtype="init")
    remember("user", sys.stdin.read())
    line(session, type="asked", messages=[json.loads(entry) for entry in file.read_text().splitlines()], schema=schema)
    script = tomllib.loads(Path(os.environ["SCRIPT"]).read_text("utf-8"))
    ended = {"result": "Done."}
    issue, attempt, role = (os.environ[f"NOFACE_{name}"] for name in ("ISSUE_ID", "ATTEMPT", "TOPIC"))
    for step in steps_of(script["play"], issue, int(attempt), role or "worker"):
        run = {"name": "Bash", "input": {"command": step["shell"]}} if "shell" in step else None
        content = [{"type": "tool_use", "id": "t", **(run or {"name": "Write", "input": {"file_path": str(step)}})}]
        line(session, type="assistant", message={"id": "m", "content": content, "usage": _USAGE})
        remember("assistant", f"I do {step}")
        if "limit" in step:
            return spent(session, step["limit"])
        if "too_long" in step:
            return refused(session, step["too_long"])
        if "answer" not in step:
            play(step)
            line(session, type="user", message={"content": [{"type": "tool_result", "tool_use_id": "t"}]})
        elif schema is not None:
            ended = {"result": "Done.", "structured_output": json.loads(step["answer"])}
        else:
            ended = {"result": f"I have looked.\n```json\n{step['answer']}\n```"}
    line(session, type="result", subtype="success", is_error=False, usage=_USAGE, total_cost_usd=0.01, **ended)
    return 0


if __name__ == "__main__":
    sys.exit(main())
