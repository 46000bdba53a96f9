"""A host in a network of its own, whose cable is pulled: both sides know soon, and the host leaves nothing running."""

import os
import shutil
import subprocess
import time

import pytest
from support.home_scheduler import home_scheduler
from support.processes import alive, wait_for
from support.ssh_ground import NOFACE, WHY_NOT, Sshd

from noface.hosts.ssh import SshHost

KNOWN_WITHIN_S = 15


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def why_no_network():
    if WHY_NOT or os.geteuid() != 0 or shutil.which("ip") is None:
        return WHY_NOT or "networks are made by root, with ip (iproute2)"
    try:
        ip("netns", "add", f"nf-trial-{os.getpid()}")
    except subprocess.CalledProcessError as error:
        return f"no network can be made here: {error.stderr}"
    ip("netns", "del", f"nf-trial-{os.getpid()}")
    return ""


@pytest.fixture
def cable():
    """The ends of a cable, here and in a network of its own, with their addresses."""
    if why := why_no_network():
        pytest.skip(why)
    number = os.getpid() % 250
    network, near, far = f"nf{os.getpid()}", f"nfn{os.getpid()}"[:15], f"nff{os.getpid()}"[:15]
    ip("netns", "add", network)
    try:
        ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", network)
        ip("addr", "add", f"10.231.{number}.1/24", "dev", near)
        ip("link", "set", near, "up")
        for words in (("addr", "add", f"10.231.{number}.2/24", "dev", far), ("link", "set", far, "up")):
            ip("-n", network, *words)
        ip("-n", network, "link", "set", "lo", "up")
        yield network, near, f"10.231.{number}.2"
    finally:
        ip("netns", "del", network)


def test_a_cut_is_known_on_both_sides_within_fifteen_seconds(tmp_path, token, cable):
    network, near, address = cable
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "NOFACE_TOKEN": token}
    sshd = Sshd(tmp_path / "sshd", environment, address=address)
    sshd.start("ip", "netns", "exec", network)
    with home_scheduler() as home:
        host = SshHost(sshd.host, home.port, home.credentials.worker, command=NOFACE, ssh=sshd.ssh)
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
