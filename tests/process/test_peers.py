"""Whose process holds the other end of a connection on loopback: how often that is wrong on honest ones is never."""

import os
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from noface.extras.board.peers import Peer, peer

CLIENT = """
import os, socket, sys, time
family = {"4": socket.AF_INET, "6": socket.AF_INET6}[sys.argv[2]]
made = socket.socket(family)
made.connect(("127.0.0.1" if family == socket.AF_INET else "::ffff:127.0.0.1", int(sys.argv[1])))
if sys.argv[3] == "child" and os.fork():
    made.close()
if sys.argv[3] == "half closed":
    made.shutdown(socket.SHUT_WR)
if sys.argv[3] == "gone":
    made.close()
print("ready", flush=True)
time.sleep(60)
"""


@contextmanager
def connection(how, family="4"):
    """A server's port, the client's, and the process that has connected."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        argv = [sys.executable, "-c", CLIENT, str(port), family, how]
        client = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True)
        try:
            taken, (_, far) = server.accept()
            client.stdout.readline()
            with taken:
                yield port, far, client.pid
        finally:
            os.killpg(client.pid, 9)
            client.wait()
            client.stdout.close()


@pytest.fixture
def stranger():
    process = subprocess.Popen(["sleep", "60"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.mark.parametrize("family", ["4", "6"])
@pytest.mark.parametrize("how", ["own", "child", "half closed"])
def test_a_connection_is_known_by_the_process_that_holds_it(how, family, stranger):
    with connection(how, family) as (port, far, _):
        assert peer(port, far, (os.getpid(),)) is Peer.BELOW
        assert peer(port, far, (stranger,)) is Peer.OTHER
        assert peer(port, far, ()) is Peer.OTHER, "no run is at work"


def test_a_connection_that_nobody_holds_any_more_is_nobodys(stranger):
    with connection("gone") as (port, far, _):
        assert peer(port, far, (os.getpid(),)) is Peer.GONE
    assert peer(1, 2, (stranger,)) is Peer.GONE, "there is none"


def test_a_connection_of_another_port_is_not_taken_for_it(stranger):
    with connection("own") as (port, far, _), connection("own") as (other, other_far, _):
        assert peer(port, other_far, (os.getpid(),)) is Peer.GONE
        assert peer(other, far, (os.getpid(),)) is Peer.GONE
