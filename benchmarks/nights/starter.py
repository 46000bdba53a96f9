"""Starts noface with a night's clock: `python starter.py WORLD [arguments of noface]`.

Waits are not slept through: each moves the clock that all programs of the night share. What ends a program that hangs
is measured by the monotonic clock, which stays the machine's.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nights.world import World

FASTER = 240
"""How much faster a wait goes by: the two hours of a limit in 60 steps of the loop."""
_BREATH_S = 0.002


def install(world: World) -> None:
    """Make the night's clock this process's; before noface is imported."""
    machine = time.time
    time.time = lambda: machine() + world.offset()  # type: ignore[assignment]
    from noface.process.clock import Clock

    def sleep(_clock: Clock, seconds: float) -> None:
        time.sleep(_BREATH_S)
        world.wait(seconds * FASTER)

    Clock.sleep = sleep  # type: ignore[method-assign]


def main(argv: list[str]) -> None:
    """Run noface."""
    install(World(Path(argv[0])))
    from noface.__main__ import main as noface

    sys.argv = ["noface", *argv[1:]]
    noface()


if __name__ == "__main__":
    main(sys.argv[1:])
