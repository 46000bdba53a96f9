"""The memory of a command is bounded, and what the kernel has killed for want of it is known."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from support.processes import wait_for

from noface.process.memory import (
    FIRST_TO_DIE,
    MemoryGroup,
    MemoryWatch,
    OomKills,
    _own_groups,
    memory_problem,
    oom_kills,
)
from noface.process.supervise import Command, Launcher

MB = 1_000_000
GREEDY = "import sys; bytearray(400_000_000); print('had it')"


def run(folder, limit, *argv):
    out = folder / "out"
    with Launcher(memory_max_bytes=limit) as launcher:
        ended = launcher.run(Command(argv, str(folder), (), None, str(out), str(out), 60.0, None, 1 << 20))
    return ended, out.read_text()


@pytest.mark.parametrize(
    ("before", "now", "since"),
    [
        (OomKills("g", 1, 5), OomKills("g", 3, 9), 2),  # the neighbours' deaths do not count
        (OomKills("g", 1, 5), OomKills("g", None, 6), 1),  # the group is gone
        (OomKills("", None, None), OomKills("g", 2, 9), 0),  # nothing is known of before
        (OomKills("g", 3, 9), OomKills("g", 0, 0), 0),  # the machine was started anew
    ],
)
def test_the_group_is_asked_before_the_machine(before, now, since):
    assert now.since(before) == since


@pytest.mark.parametrize(
    ("membership", "files", "first"),
    [
        ("0::/user.slice/x.scope\n", ["user.slice/x.scope/memory.events"], "user.slice/x.scope"),
        ("0::/host/pod7\n", ["memory.events"], "."),  # a container sees its own group at the root
        ("0::/\n", [], None),  # the root group has no events
        ("4:memory:/a/b\n1:cpu:/\n0::/\n", ["memory/a/b/memory.oom_control"], "memory/a/b"),
        ("5:cpu,memory:/c\n", ["memory/c/memory.oom_control", "memory/memory.oom_control"], "memory/c"),
        ("", [], None),
    ],
)
def test_the_own_group_is_found_in_both_versions_of_control_groups(tmp_path, membership, files, first):
    root = tmp_path / "cgroup"
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("oom_kill 0\n")
    (tmp_path / "membership").write_text(membership)
    groups = _own_groups(tmp_path / "membership", root)
    assert groups[:1] == ([root / first] if first is not None else [])


def test_a_command_that_uses_more_than_its_limit_is_killed_and_the_reason_is_known(tmp_path):
    if (group := MemoryGroup.make("probe", 100 * MB)) is None:
        pytest.skip("noface may not make a control group for memory here")
    group.remove()
    before = oom_kills()
    ended, out = run(tmp_path, 100 * MB, sys.executable, "-c", GREEDY)
    assert (ended.signal, ended.out_of_memory, out) == (9, "limit", "")
    ended, out = run(tmp_path, 100 * MB, "bash", "-c", f'{sys.executable} -c "{GREEDY}"; exit $?')
    assert (ended.exit_code, ended.out_of_memory) == (137, "limit")
    there = list(group.folder.parent.glob("noface-*"))  # of other tests as well, which end
    wait_for(lambda: not any(folder.exists() for folder in there))
    ended, out = run(tmp_path, 1000 * MB, sys.executable, "-c", GREEDY)
    assert (ended.exit_code, ended.out_of_memory) == (0, "")
    assert out.endswith("had it\n")
    assert oom_kills().since(before) in (0, 2)  # version 1 counts a group's kills without those of its children


def test_without_a_group_each_process_has_the_limit_and_noface_keeps_its_own():
    before = resource.getrlimit(resource.RLIMIT_DATA)
    watch = MemoryWatch("no/such folder, so no group", 300 * MB)
    with watch.bounded():
        greedy = subprocess.run([sys.executable, "-c", GREEDY], capture_output=True, text=True, check=False)
    assert (greedy.stdout, greedy.stderr.splitlines()[-1]) == ("", "MemoryError")
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_a_command_is_killed_before_noface_where_the_machine_runs_out_of_memory(tmp_path):
    ended, out = run(tmp_path, None, "sh", "-c", "cat /proc/self/oom_score_adj")
    own = int(Path("/proc/self/oom_score_adj").read_text())
    assert (ended.exit_code, int(out)) == (0, min(1000, own + FIRST_TO_DIE))


def test_somebody_s_kill_is_not_taken_for_the_kernel_s(tmp_path):
    ended, _ = run(tmp_path, None, "sh", "-c", "kill -9 $$")
    assert (ended.signal, ended.out_of_memory) == (9, "")


def test_a_group_that_was_just_made_is_not_taken_for_one_that_a_killed_supervisor_left():
    first, second = (MemoryGroup.make(f"probe-{number}", 100 * MB) for number in (1, 2))
    if first is None or second is None:
        pytest.skip("noface may not make a control group for memory here")
    assert first.folder.exists()
    first.remove()
    second.remove()


def test_a_limit_that_no_group_can_hold_is_told():
    group = MemoryGroup.make("probe-3", 100 * MB)
    assert bool(memory_problem(100 * MB)) is (group is None)
    if group is not None:
        group.remove()
