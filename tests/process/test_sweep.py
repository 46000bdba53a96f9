"""sweep: finding leftovers by the marker in their environment."""

import os
import subprocess
import sys
import uuid

import pytest

from noface.process.process_tree import sweep


@pytest.fixture
def value():
    return uuid.uuid4().hex


def start(*argv, **env):
    return subprocess.Popen(argv, env={"PATH": os.environ["PATH"], **env}, stdout=subprocess.PIPE)


def test_nothing_is_swept_where_nothing_carries_the_marker(value):
    assert sweep("NOFACE_STATE", value) == 0


def test_only_carriers_of_exactly_this_marker_are_killed(value):
    ours = [start("sleep", "1000", NOFACE_STATE=value) for _ in range(3)]
    others = [start("sleep", "1000", NOFACE_STATE=value + "x"), start("sleep", "1000", NOFACE_TOKEN=value)]
    try:
        assert sweep("NOFACE_STATE", value) == 3
        assert [process.wait() for process in ours] == [-9, -9, -9]
        assert [process.poll() for process in others] == [None, None]
    finally:
        for process in (*ours, *others):
            process.kill()
            process.communicate()


def test_daemons_and_programs_that_ignore_signals_are_killed(value):
    script = "trap '' INT TERM HUP; setsid bash -c 'trap \"\" TERM; sleep 1000' >/dev/null & echo up; wait"
    with start("bash", "-c", script, NOFACE_STATE=value) as process:
        process.stdout.readline()
        assert sweep("NOFACE_STATE", value) >= 2
    assert process.returncode == -9
    assert sweep("NOFACE_STATE", value) == 0


def test_sweeper_spares_itself_and_those_it_descends_from(value):
    script = f"from noface.process.process_tree import sweep; print(sweep('NOFACE_STATE', '{value}'))"
    command = f'sleep 1000 >/dev/null & "{sys.executable}" -c "{script}"; echo shell lives'
    with start("bash", "-c", command, NOFACE_STATE=value) as process:
        said, _ = process.communicate()
    assert said.decode().split("\n") == ["1", "shell lives", ""]
    assert process.returncode == 0
