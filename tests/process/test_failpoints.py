"""Failpoints: each in a process of its own, since that is what they are for."""

import re
import signal
import subprocess
import sys
import time

import psutil
import pytest
from conventions.budgets import ROOT

from noface.data import table

SCRIPT = """
import sys
from noface.errors import NofaceError
from noface.process.failpoints import hit
for name in sys.argv[1:]:
    try:
        hit(name)
    except NofaceError as problem:
        print(problem.message, problem.hint, sep="|")
        raise SystemExit(problem.exit_code)
    except (RuntimeError, OSError, AssertionError) as problem:
        print(type(problem).__name__, problem)
    else:
        print(name, flush=True)
"""


def hits(failpoint, *names):
    env = {} if failpoint is None else {"NOFACE_FAILPOINT": failpoint}
    return subprocess.run([sys.executable, "-c", SCRIPT, *names], env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("unset", [None, ""])
def test_nothing_happens_where_none_is_armed(unset):
    ended = hits(unset, *table("failpoints")["run"])
    assert (ended.returncode, ended.stdout.split()) == (0, list(table("failpoints")["run"]))


def test_bare_name_kills_at_the_first_hit():
    ended = hits("run_started", "lock_taken", "run_started", "hub_made")
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "lock_taken\n")


def test_number_counts_the_hits_of_this_name_only():
    ended = hits("run_started:2", "run_started", "hub_made", "run_started", "hub_made")
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "run_started\nhub_made\n")


def test_raise_raises_once():
    ended = hits("run_started:1:raise", "run_started", "run_started")
    assert (ended.returncode, ended.stdout) == (0, "FailpointError failpoint run_started\nrun_started\n")


def test_enospc_looks_like_a_full_disk():
    assert hits("hub_made:1:enospc", "hub_made").stdout.startswith("OSError [Errno 28] No space left on device")


def test_sleep_stays_there():
    command = [sys.executable, "-c", SCRIPT, "lock_taken", "hub_made"]
    with subprocess.Popen(command, env={"NOFACE_FAILPOINT": "hub_made:1:sleep"}, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"lock_taken\n"
        deadline = time.monotonic() + 60
        while psutil.Process(process.pid).status() != psutil.STATUS_SLEEPING:
            assert time.monotonic() < deadline
        time.sleep(0.2)
        assert process.poll() is None
        process.kill()
        assert process.stdout.read() == b""


@pytest.mark.parametrize("malformed", ["no_such", "hub_made:0", "hub_made:1:explode"])
def test_malformed_variable_is_a_usage_error_that_names_what_is_valid(malformed):
    ended = hits(malformed, "lock_taken")
    assert ended.returncode == 2
    message, _, hint = ended.stdout.partition("|")
    assert message == f"NOFACE_FAILPOINT={malformed}: there is no such failpoint"
    assert all(name in hint for name in table("failpoints")["run"])


def test_each_declared_name_is_hit_somewhere_and_no_other():
    sources = (path.read_text("utf-8") for path in (ROOT / "noface").rglob("*.py"))
    named = {name for text in sources for name in re.findall(r"\bhit\(\s*\"(\w+)\"", text)}
    assert named == {name for section in table("failpoints").values() for name in section}
