"""Your own agent, in plain Python: it reads its order, edits files, and ends with a report.

It does one kind of issue: sort the lines of the files named under `paths`. Put your model where `work` is.
"""

import json
import os
import sys
from pathlib import Path


def work(order: dict) -> dict:
    """Do what the order asks, in the current folder; return the report. `noface tools schema` describes both."""
    issue = order["issue"]
    files = [Path(path) for path in issue["paths"] if Path(path).is_file()]
    if not files:
        question = "Which files are to be sorted? Name them under `paths`."
        return {"status": "blocked", "blocked_reason": "unclear", "summary": "no file named", "questions": [question]}
    # The failures of earlier attempts, oldest first: here, that a word is in a file twice.
    failures = "\n".join(failure["message"] + failure["excerpt"] for failure in order["earlier"])
    for file in files:
        words = file.read_text("utf-8").split()
        if "twice" in failures:
            words = list(dict.fromkeys(words))
        file.write_text("\n".join(sorted(words)) + "\n", "utf-8")
        print(f"sorted {file}", flush=True)  # any output is a sign of life, and is shown by `noface logs ID`
    names = ", ".join(map(str, files))
    return {"status": "done", "summary": f"Sorted {names}."}


def main() -> None:
    """Read the order, work, and print the report."""
    order = json.loads(Path(os.environ["NOFACE_ORDER_FILE"]).read_text("utf-8"))
    if order["topic"]:  # only where [roles] names this agent
        sys.exit(f"I do not answer questions ({order['topic']})")
    print(f"attempt {order['attempt']} at issue {order['issue']['id']}: {order['issue']['title']}", flush=True)
    print("```json", json.dumps(work(order), indent=1), "```", sep="\n")


if __name__ == "__main__":
    main()
