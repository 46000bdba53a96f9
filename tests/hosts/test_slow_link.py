"""A link of 1 Mbit/s carries orders of any size, and the lease of an attempt is renewed meanwhile."""

import os
import subprocess
import sys
import threading
import time

import pytest
from support import TESTS
from support.cable import cable
from support.ssh_ground import NOFACE, Sshd, free_port

from noface.extras.hosts.calls import call
from noface.extras.hosts.connection import HostConnection
from noface.extras.hosts.host import LEASE_S
from noface.extras.hosts.ssh import SshHost
from noface.extras.hosts.ways import Scheduler

__all__ = ["cable"]  # a fixture
BYTES_A_SECOND = 125_000
PACK = os.urandom(3_000_000)  # with ssh's own queues, 2.7 MB wait in front of what comes next


@pytest.fixture
def slow(tmp_path, token, cable):
    """An sshd behind a slow link."""
    network, _, address = cable
    inside = ["ip", "netns", "exec", network]
    sshd = Sshd(tmp_path / "sshd", {"XDG_STATE_HOME": str(tmp_path / "state"), "NOFACE_TOKEN": token}, address=address)
    sshd.start(*inside)
    port = free_port()
    relay = [
        sys.executable,
        TESTS / "support" / "slow_relay.py",
        address,
        str(port),
        str(sshd.port),
        str(BYTES_A_SECOND),
    ]
    with subprocess.Popen([*inside, *relay], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        sshd.port = port
        sshd.trust()
        sshd.configure()
        yield sshd
        process.kill()
    sshd.stop()


def slowest_look(connection, meanwhile):
    """The longest that a renewal of leases takes while something goes on, in seconds; with the result of that."""
    results, taken = [], []
    thread = threading.Thread(target=lambda: results.append(meanwhile()))
    thread.start()
    while thread.is_alive():
        began = time.monotonic()
        connection.look(())
        taken.append(time.monotonic() - began)
        time.sleep(0.5)
    return max(taken), results[0]


@pytest.mark.thorough
def test_a_slow_link_costs_no_attempt(slow, tmp_path):
    scheduler = Scheduler(tmp_path / "scheduler.log").started()
    host = SshHost(slow.host, lambda: (scheduler.port, scheduler.identity), command=NOFACE, ssh=slow.ssh)
    host.start()
    connection = HostConnection(scheduler.client, call, host.worker_name, lambda: host.why)
    try:
        order = {"text": "{}", "pack": PACK}
        work = lambda: connection.work(order, "a-project", "an-order", host.worker_name, lambda: None)  # noqa: E731
        seconds, task = slowest_look(connection, work)
        assert seconds < LEASE_S / 2
        while not task.done():
            time.sleep(0.1)
        assert host.alive()
    finally:
        host.close()
        scheduler.close()
