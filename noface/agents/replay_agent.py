"""Plays a script of the scripted agent in the current folder: `python -m noface.agents.replay_agent SCRIPT`."""

import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any


def steps_of(plays: list[dict[str, Any]], issue: str, attempt: int, role: str) -> list[dict[str, Any]]:
    for play in plays:
        fits = play.get("issue", "*") in ("*", issue) and play.get("attempt", 0) in (0, attempt)
        if fits and play.get("role", "worker") == role:
            return list(play.get("steps", ()))
    return []


def play(step: dict[str, Any]) -> None:
    """Do one step."""
    match step:
        case {"write": path, "text": text}:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text, "utf-8")
        case {"replace": path, "old": old, "new": new}:
            before = Path(path).read_text("utf-8")
            if old not in before:
                sys.exit(f"{path} does not contain {old!r}")
            Path(path).write_text(before.replace(old, new), "utf-8")
        case {"delete": path}:
            Path(path).unlink()
        case {"say": text}:
            print(text, flush=True)  # noqa: T201 - the script says so
        case {"complain": text}:
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - the script says so
        case {"sleep": seconds}:
            time.sleep(seconds)
        case {"shell": command}:
            subprocess.run(["bash", "-c", command], check=False)
        case {"exit": code}:
            sys.exit(code)
        case _:
            sys.exit(f"unknown step: {step}")


def main() -> None:
    script = tomllib.loads(Path(sys.argv[1]).read_text("utf-8"))
    role = os.environ.get("NOFACE_TOPIC") or "worker"
    steps = steps_of(script.get("play", []), os.environ["NOFACE_ISSUE_ID"], int(os.environ["NOFACE_ATTEMPT"]), role)
    for step in steps:
        play(step)


if __name__ == "__main__":
    main()
