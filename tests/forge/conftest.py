"""A scripted server for the tests of this room, and a client that asks it."""

import threading
from http.server import ThreadingHTTPServer

import pytest
from support.scripted_http import Handler, Script, StandingClock, client_of


@pytest.fixture
def serve():
    """Start a server on this machine; returns its script."""
    running = []

    def start():
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # a client that left in the middle
        server.released = threading.Event()
        server.script = Script(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        running.append((server, thread))
        return server.script

    yield start
    for server, thread in running:
        server.released.set()
        server.shutdown()
        thread.join(5)
        server.server_close()


@pytest.fixture
def script(serve):
    return serve()


@pytest.fixture
def clock():
    return StandingClock()


@pytest.fixture
def client(script, clock):
    made = client_of(script, clock)
    yield made
    made.close()
