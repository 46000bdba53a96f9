"""Runs mini-swe-agent on a prompt of any length: `python -m noface.agents.mini_task PROMPT FILES COMMAND…`.

mini takes its task as an argument, which the kernel caps at 128 KiB, or from a YAML file (FILES.task.yaml; JSON is
YAML). What it prints is rounded and wrapped; how the run went exactly stands in the trajectory it leaves
(FILES.traj.json), of which the essence is printed as one last line of JSON.
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from noface.agents.base import ANSWER_MAX
from noface.agents.typed import cost, number, table, text, total

SUMMARY = "mini_run"
_NOT_IN_YAML = re.compile("[\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_TRAJECTORY_BYTES_MAX = 256 * 1024 * 1024


def task(prompt: str) -> str:
    """Return the configuration that gives mini its task, without the characters that YAML bars from its text."""
    document = json.dumps({"run": {"task": prompt}}, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda bad: f"\\u{ord(bad[0]):04x}", document)


def summary(trajectory: dict[str, Any]) -> dict[str, Any]:
    """Return how a run went: exit_status, submission, cost_usd, tokens_in, tokens_out, tokens_cached and limit.

    `limit` is "turns" or "cost", whichever was reached.
    """
    info = table(trajectory.get("info"))
    stats, agent = table(info.get("model_stats")), table(table(info.get("config")).get("agent"))
    steps, calls = number(agent.get("step_limit")) or 0, number(stats.get("api_calls")) or 0
    messages = trajectory.get("messages")
    extras = [table(table(message).get("extra")) for message in messages] if isinstance(messages, list) else []
    usages = [table(table(extra.get("response")).get("usage")) for extra in extras]
    return {
        "exit_status": text(info.get("exit_status")),
        "submission": text(info.get("submission"))[-ANSWER_MAX:],
        "cost_usd": cost(stats.get("instance_cost")),
        "tokens_in": total(*(usage.get("prompt_tokens") for usage in usages)),
        "tokens_out": total(*(usage.get("completion_tokens") for usage in usages)),
        "tokens_cached": total(*(table(usage.get("prompt_tokens_details")).get("cached_tokens") for usage in usages)),
        "limit": "turns" if 0 < steps <= calls else "cost",
    }


def main() -> None:
    """Write the task, run the command, tell how it went, and end as it did."""
    prompt, files, *command = sys.argv[1:]
    Path(f"{files}.task.yaml").write_text(task(Path(prompt).read_text("utf-8", "replace")), "utf-8")
    trajectory = Path(f"{files}.traj.json")
    trajectory.unlink(missing_ok=True)
    for ending in (signal.SIGINT, signal.SIGTERM):  # they reach the command as well, and what it cost is still to tell
        signal.signal(ending, lambda *_: None)
    code = subprocess.run(command, check=False).returncode
    try:
        if trajectory.stat().st_size <= _TRAJECTORY_BYTES_MAX:
            told = summary(table(json.loads(trajectory.read_bytes())))
            sys.stdout.write(f"\n{json.dumps({SUMMARY: told})}\n")
            sys.stdout.flush()
    except (OSError, ValueError, RecursionError):
        pass  # it ended before it left one
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main()
