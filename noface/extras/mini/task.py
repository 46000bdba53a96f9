"""Runs mini-swe-agent on a prompt of any length: `python -m noface.extras.mini.task PROMPT FILES COMMAND…`.

mini takes its task as an argument, which the kernel caps at 128 KiB, or from a YAML file (FILES.task.yaml; JSON is
YAML). Its trajectory (FILES.traj.json) says how the run went exactly: the essence is printed as a line of JSON after
each step, so that it is known however the run ends.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from noface.agents.base import ANSWER_MAX
from noface.model.json_record import JsonRecord, total

SUMMARY = "mini_run"
USED = "mini_used"
_LOOK_EVERY_S = 3.0
_LAST_MAX = 3  # the last message, which tells of the end, may follow the answer and what came of it
_NOT_IN_YAML = re.compile("[\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_TRAJECTORY_BYTES_MAX = 256 * 1024 * 1024


def task(prompt: str) -> str:
    document = json.dumps({"run": {"task": prompt}}, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda bad: f"\\u{ord(bad[0]):04x}", document)


def summary(trajectory: JsonRecord) -> dict[str, object]:
    """Return how a run went: exit_status, submission, cost_usd, tokens_in, tokens_out, tokens_cached, limit and finish.

    `steps` is how often the model was asked, `step_limit` and `cost_limit` what it may take.
    `limit` is "turns" or "cost", whichever was reached; `finish` is why the last answer ended: what LiteLLM says
    of it, or "refusal" if the model refused in so many words.
    """
    info = trajectory.inside("info")
    agent = info.inside("config", "agent")
    steps, calls = agent.number("step_limit") or 0, info.inside("model_stats").number("api_calls") or 0
    return {
        "exit_status": info.text("exit_status"),
        "submission": info.text("submission")[-ANSWER_MAX:],
        **used(trajectory),
        "steps": info.inside("model_stats").whole("api_calls"),
        "step_limit": agent.whole("step_limit"),
        "cost_limit": agent.cost("cost_limit"),
        "limit": "turns" if 0 < steps <= calls else "cost",
        "finish": _finish(trajectory),
    }


def _finish(trajectory: JsonRecord) -> str:
    answers = [message.inside("extra", "response") for message in trajectory.objects("messages")]
    choices = [choice for answer in answers[-_LAST_MAX:] for choice in answer.objects("choices")]
    if not choices:
        return ""
    refused = choices[-1].inside("message", "provider_specific_fields").text("refusal")
    return "refusal" if refused else choices[-1].text("finish_reason")


def used(trajectory: JsonRecord) -> dict[str, object]:
    """Return what a run has used: cost_usd, tokens_in, tokens_out, tokens_cached; None if it is not known."""
    usages = [message.inside("extra", "response", "usage") for message in trajectory.objects("messages")]
    return {
        "cost_usd": trajectory.inside("info", "model_stats").cost("instance_cost"),
        "tokens_in": total(*(usage.whole("prompt_tokens") for usage in usages)),
        "tokens_out": total(*(usage.whole("completion_tokens") for usage in usages)),
        "tokens_cached": total(*(usage.inside("prompt_tokens_details").whole("cached_tokens") for usage in usages)),
    }


def main() -> None:
    """Write the task, run the command, print what it uses and how it went, and end as it did."""
    prompt, files, *command = sys.argv[1:]
    Path(f"{files}.task.yaml").write_text(task(Path(prompt).read_text("utf-8", "replace")), "utf-8")
    trajectory = Path(f"{files}.traj.json")
    trajectory.unlink(missing_ok=True)
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(
            ending, lambda *_: None
        )  # they reach the command as well, and what it cost is still to be printed
    code = _run(command, trajectory)
    _print(SUMMARY, summary, trajectory)
    if code < 0:
        # It has no handler that could be set back, and Python raises an error.
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


def _run(command: list[str], trajectory: Path) -> int:
    seen = 0
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait(_LOOK_EVERY_S)
            except subprocess.TimeoutExpired:
                with suppress(OSError):
                    changed = trajectory.stat().st_mtime_ns
                    if changed != seen:
                        seen = changed
                        _print(USED, used, trajectory)


def _print(name: str, essence: Callable[[JsonRecord], dict[str, object]], trajectory: Path) -> None:
    try:
        if trajectory.stat().st_size <= _TRAJECTORY_BYTES_MAX:
            essential = essence(JsonRecord.of(json.loads(trajectory.read_bytes())))
            # On a line of its own, whatever mini has left unfinished.
            sys.stdout.write(f"\n{json.dumps({name: essential})}\n")
            sys.stdout.flush()
    except (OSError, ValueError, RecursionError):
        pass  # it has left none yet, or is about to write it


if __name__ == "__main__":
    main()
