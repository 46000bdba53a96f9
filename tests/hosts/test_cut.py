"""A host in a network of its own, whose cable is pulled: both sides know soon, and the host leaves nothing running."""

import os
import time

import pytest
from support.cable import cable, ip
from support.home_scheduler import home_scheduler
from support.processes import alive, wait_for
from support.ssh_ground import NOFACE, Sshd

from noface.extras.hosts.ssh import SshHost

__all__ = ["cable"]  # a fixture
KNOWN_WITHIN_S = 15


@pytest.mark.thorough
def test_a_cut_is_known_on_both_sides_within_fifteen_seconds(tmp_path, token, cable):
    network, near, address = cable
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "NOFACE_TOKEN": token}
    sshd = Sshd(tmp_path / "sshd", environment, address=address)
    sshd.start("ip", "netns", "exec", network)
    with home_scheduler() as home:
        host = SshHost(sshd.host, home.member, command=NOFACE, ssh=sshd.ssh)
        host.start()
        time.sleep(3)
        assert host.alive()
        assert home.ask(os.getpid) in alive(token)
        ip("link", "set", near, "down")
        began = time.monotonic()
        wait_for(lambda: not host.alive(), KNOWN_WITHIN_S)
        wait_for(lambda: alive(token) == [], KNOWN_WITHIN_S - (time.monotonic() - began))
        assert "was cut" in host.why
        host.close()
        assert host.worker_name not in home.names()
    sshd.stop()
