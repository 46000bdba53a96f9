"""Clocks."""

import time

import pytest

from noface.system.clock import Clock, ManualClock, SystemClock


def test_system_clock_is_the_machine_s():
    clock: Clock = SystemClock()
    assert time.time() <= clock.now() <= time.time() + 60
    before = clock.monotonic()
    clock.sleep(0.01)
    clock.sleep(-1)
    assert clock.monotonic() >= before + 0.01


def test_sleeping_moves_a_manual_clock():
    clock: Clock = ManualClock(now=500.0)
    clock.sleep(3600)
    clock.sleep(-5)
    assert (clock.now(), clock.monotonic()) == (4100.0, 3600.0)


def test_manual_clock_stands_still_between():
    clock = ManualClock()
    assert clock.now() == clock.now()
    clock.advance(2.5)
    assert clock.monotonic() == 2.5


def test_time_does_not_go_back_but_the_wall_clock_may_jump():
    clock = ManualClock(now=500.0)
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(-1)
    clock.set_now(100.0)
    assert (clock.now(), clock.monotonic()) == (100.0, 0.0)
