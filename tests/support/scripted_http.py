"""A server of a few scripted answers, and a client that asks it: for what is wrong on the way to GitHub.

What GitHub answers when all is well is the business of github_server.
"""

import json
from http.server import BaseHTTPRequestHandler

from noface.forge.location import located
from noface.forge.rest import Client
from noface.forge.token import Token
from noface.forge.transport import Transport
from noface.process.clock import Clock

TOKEN = "ghx-the-token-of-this-test"


class StandingClock(Clock):
    """A clock that only sleeps move."""

    def __init__(self, now=1_800_000_000.0):
        self.at = now

    def now(self):
        return self.at

    def monotonic(self):
        return self.at

    def sleep(self, seconds):
        self.at += max(0.0, seconds)


class Script:
    """Answers in the order in which they were given, for each path; the last is repeated."""

    def __init__(self, origin):
        self.origin = origin
        self.answers = {}
        self.asked = []

    def on(self, path, status, body=None, **headers):
        text = body if isinstance(body, bytes) else json.dumps(body if body is not None else {}).encode()
        named = {name.replace("_", "-"): str(value) for name, value in headers.items()}
        self.answers.setdefault(path, []).append((status, text, named))
        return self

    def paths(self):
        return [f"{verb} {path}" for verb, path, _, _ in self.asked]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        script = self.server.script
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        script.asked.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        listed = script.answers.get(self.path) or [(404, b'{"message": "Not Found"}', {})]
        status, text, headers = listed.pop(0) if len(listed) > 1 else listed[0]
        if "drop" in headers:
            self.wfile.write(
                b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{" if headers["drop"] == "within" else b""
            )
            self.close_connection = True
            return
        if "drips" in headers:  # a byte now and then, from the named part of the answer on
            whole = b"HTTP/1.1 200 OK\r\n" + (b"X-Much: 1\r\n" * 1000 if headers["drips"] == "head" else b"\r\n")
            self.wfile.write(whole[:20])
            for byte in whole[20:] + b" " * 10_000:
                if self.server.released.wait(0.02):
                    break
                self.wfile.write(bytes([byte]))
            self.close_connection = True
            return
        if "stall" in headers:
            self.server.released.wait(30)
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if status != 304:
            self.wfile.write(text)

    def log_message(self, *args):
        pass


for verb in ("GET", "POST", "PATCH", "PUT", "DELETE"):
    setattr(Handler, f"do_{verb}", Handler.answer)


def client_of(script, clock, read_s=30.0, whole_s=120.0, **more):
    place = located("", "acme/shop", script.origin)
    transport = Transport(place.api, TOKEN, read_s, whole_s)
    return Client(place, Token(TOKEN, "GH_TOKEN", "GH_TOKEN"), clock, transport=transport, **more)
