"""Starts mini-swe-agent with a prompt of any length: `python -m noface.agents.mini_task PROMPT TASK_FILE COMMAND…`.

mini takes its task as an argument, which the kernel caps at 128 KiB, or from a YAML file; JSON is YAML.
"""

import json
import os
import re
import sys
from pathlib import Path

_NOT_IN_YAML = re.compile("[\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


def task(prompt: str) -> str:
    """Return the configuration that gives mini its task, without the characters that YAML bars from its text."""
    document = json.dumps({"run": {"task": prompt}}, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda bad: f"\\u{ord(bad[0]):04x}", document)


def main() -> None:
    """Write the file and become the command."""
    prompt, file, *command = sys.argv[1:]
    Path(file).write_text(task(Path(prompt).read_text("utf-8", "replace")), "utf-8")
    os.execvp(command[0], command)  # noqa: S606 - the command is noface's own


if __name__ == "__main__":
    main()
