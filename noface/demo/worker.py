"""The demonstration's worker: a scripted stand-in for a coding agent, without a model, a key or a network.

For each bug of the catalogue it plays back its edits, wrong ones and none at all among them, by the order in the file
$NOFACE_ORDER_FILE and the checkout that it is started in.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from noface.demo.catalogue import Bug, BugClass, catalogue

EXIT_OK = 0
EXIT_MISUSED = 2
TIERS = (1, 2)


def edit_for(bug: Bug, tier: int, *, informed: bool) -> str | None:
    """Return the text to put in place of a bug, None for no change. `informed`: a broken test was named."""
    match bug.kind:
        case BugClass.OUT_OF_REACH:
            return None
        case BugClass.SECOND_TIER if tier < TIERS[-1]:
            return None
        case BugClass.FEEDBACK if not informed:
            return bug.first
        case _:
            return bug.right


def play(order: dict[str, Any], tier: int, checkout: Path) -> str:
    """Change the checkout, and return the last words. Raises KeyError and TypeError for an order that is none."""
    title = order["issue"]["title"]
    bug = next((bug for bug in catalogue() if bug.title == title), None)
    if bug is None:
        return f"no change made: the script has no issue {title!r}"
    edit = edit_for(bug, tier, informed=any(one["failing_tests"] for one in order["earlier"]))
    if edit is None:
        return f"no change made: the script of tier {tier} has no edit for it"
    path = checkout / bug.path
    text = path.read_text(encoding="utf-8")
    present = next((known for known in (bug.wrong, bug.first) if known and known in text), None)
    if present is None or present == edit:
        return f"no change made: {bug.path} holds the edit of the script already"
    path.write_text(text.replace(present, edit), encoding="utf-8")
    return f"edited {bug.path}"


def main(argv: list[str] | None = None) -> int:
    """Do one attempt in the working directory, and return the exit code."""
    parser = argparse.ArgumentParser(prog="noface.demo.worker", description="A scripted stand-in for a coding agent.")
    parser.add_argument("--tier", type=int, choices=TIERS, default=1, help="the part to play; 2 is the stronger one")
    tier: int = parser.parse_args(argv).tier
    file = os.environ.get("NOFACE_ORDER_FILE")
    if not file:
        sys.stderr.write("NOFACE_ORDER_FILE is not set: noface starts this worker with its order in that file\n")
        return EXIT_MISUSED
    try:
        order = json.loads(Path(file).read_bytes())
        sys.stdout.write(f"scripted stand-in (no model), tier {tier}: issue {order['issue']['id']}\n")
        sys.stdout.write(f"{play(order, tier, Path.cwd())}\n")
    except (OSError, ValueError, KeyError, TypeError) as problem:
        sys.stderr.write(f"not an order that this worker understands: {problem}\n")
        return EXIT_MISUSED
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
