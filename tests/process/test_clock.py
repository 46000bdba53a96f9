"""The clock."""

import time

from noface.process.clock import Clock


def test_system_clock_is_the_machine_s():
    clock = Clock()
    assert time.time() <= clock.now() <= time.time() + 60
    before = clock.monotonic()
    clock.sleep(0.01)
    clock.sleep(-1)
    assert clock.monotonic() >= before + 0.01
