"""The built-in worker: search-based program repair, without a model, a key or a network.

    python -m noface.demo.worker --tier 1

It knows nothing of the issue's prose. It runs the tests that the order's accept commands name, ranks the lines they
run by suspicion (localise.py), changes the code by small edits (operators.py, wider_operators.py) and keeps the first
edit that makes those tests pass (search.py). Tests that earlier attempts broke are added to what must pass. It is
started like any other `command` worker: in a checkout, with the order in the file $NOFACE_ORDER_FILE.

It exits with 0 whether it found a patch or not, since noface judges by the diff; 2 means that it was misused.
"""

import argparse
import os
import signal
import sys
from pathlib import Path

from noface.demo.order import Order, read_order
from noface.demo.repair import Repair

EXIT_OK = 0
EXIT_MISUSED = 2


def say(line: str) -> None:
    """Print a line at once: the last one is shown live."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(argv: list[str] | None = None) -> int:
    """Read the order, repair the checkout in the working directory, and tell."""
    parser = argparse.ArgumentParser(prog="noface.demo.worker", description="Mutation-based program repair.")
    parser.add_argument("--tier", type=int, choices=(1, 2), default=1, help="1: one edit; 2: wider edits, and pairs")
    tier: int = parser.parse_args(argv).tier
    try:
        order = _order()
    except (OSError, ValueError) as problem:
        sys.stderr.write(f"{problem}\n")
        return EXIT_MISUSED
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))  # so that the scratch copy is removed
    say(f"search-based repair (no model), tier {tier}: issue {order.issue_id}, attempt {order.attempt}")
    say(Repair(order, tier, Path.cwd(), say).run())
    return EXIT_OK


def _order() -> Order:
    path = os.environ.get("NOFACE_ORDER_FILE")
    if not path:
        raise ValueError("NOFACE_ORDER_FILE is not set: noface starts this worker with its order in that file")
    return read_order(Path(path))


if __name__ == "__main__":
    sys.exit(main())
