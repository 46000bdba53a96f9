"""The clock."""

import time

from support import ROOT

from noface.process.clock import Clock


def test_system_clock_is_the_machine_s():
    clock = Clock()
    assert time.time() <= clock.now() <= time.time() + 60
    before = clock.monotonic()
    clock.sleep(0.01)
    clock.sleep(-1)
    assert clock.monotonic() >= before + 0.01


def test_what_supervises_asks_no_wall_clock():
    """A wall clock that jumps must end no command early or late: durations come from the monotonic clock alone."""
    names = ("supervise", "command", "supervisor", "spawn", "fork_server", "process_tree", "namespace")
    modules = [ROOT / "noface" / "process" / f"{name}.py" for name in names]
    assert [path.name for path in modules if "time.time" in path.read_text()] == []
