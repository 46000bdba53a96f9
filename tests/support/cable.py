"""A network of a test's own, at the other end of a cable that can be pulled."""

import os
import shutil
import subprocess

import pytest

from support.ssh_ground import WHY_NOT


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
