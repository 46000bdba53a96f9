"""A model provider on loopback that plays a scenario: the APIs that the agent programs speak."""

import json
import threading
import zlib
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import anthropic_api
import chat_api
import gemini_api
import responses_api
from person import VISITED
from scenario import Scenario

_STREAMED = ":streamGenerateContent"
APIS = {
    "/messages": anthropic_api,
    "/responses": responses_api,
    "/chat/completions": chat_api,
    _STREAMED: gemini_api,
    ":generateContent": gemini_api,
}
"""By how a path ends: modules with `ERRORS`, `error(status, given)`, `stream(body, scenario)`, `whole(body, scenario)`."""


@dataclass
class Model:
    """The server; `requests` are the bodies of all that asked for an answer so far, `visited` other paths (person.py)."""

    scenario: Scenario
    requests: list[dict[str, Any]] = field(default_factory=list)
    visited: list[str] = field(default_factory=list)
    port: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closing: threading.Event = field(default_factory=threading.Event)
    _server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        model = self

        class Handler(Answering):
            served = model

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def asked(self, body: dict[str, Any]) -> int:
        """Note a request; its number, from 1."""
        with self._lock:
            self.requests.append(body)
            return len(self.requests)

    def hang(self) -> None:
        self.pause(600)

    def pause(self, seconds: float) -> None:
        self._closing.wait(seconds)


class Answering(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    served: Model

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_HEAD(self) -> None:
        self._send(200, {})

    def do_GET(self) -> None:
        """Answer what is asked beside the work: lists of models are empty, anything else is not there."""
        if self.path.startswith(VISITED):
            self.served.visited.append(self.path.removeprefix(VISITED))
        if self.path.partition("?")[0].endswith("/models"):
            self._send(200, {"object": "list", "data": [], "models": []})
        else:
            self._send(404, {"error": {"type": "not_found_error", "message": "there is no such thing here"}})

    def do_POST(self) -> None:
        try:
            self._post()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _post(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        if path.endswith("/messages/count_tokens"):
            self._send(200, {"input_tokens": 1000})
            return
        if path.endswith(":countTokens"):
            self._send(200, {"totalTokens": 1000})
            return
        api = next((module for end, module in APIS.items() if path.endswith(end)), None)
        if api is None:
            self._send(404, {"error": {"type": "not_found_error", "message": f"no {path} here"}})
            return
        played = self.served.scenario.about(f"{path}\n{json.dumps(body)}")
        number = self.served.asked(body)
        self.served.pause(played.pause_s)
        fault = played.fault_at(number)
        if fault == "hang":
            self.served.hang()
            self.close_connection = True
        elif played.fails(number):
            given = dict(getattr(played, api.ERRORS))
            status = given.pop("status", played.status)
            self._send(status, api.error(status, given), played.headers)
        elif body.get("stream") or path.endswith(_STREAMED):
            self._stream(api.stream(body, played), fault)
        elif fault == "truncate":
            self._cut(json.dumps(api.whole(body, played)).encode())
        else:
            self._send(200, api.whole(body, played))

    def _body(self) -> dict[str, Any]:
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            data = b""
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            data = zlib.decompress(data, 31)
        try:
            body = json.loads(data)
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    def _head(self, status: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "request-id": "req_test", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, status: int, document: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        data = json.dumps(document).encode()
        self._head(status, "application/json", {"content-length": str(len(data)), **(headers or {})})
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: list[str], fault: str) -> None:
        self.close_connection = True
        lost = fault == "lost"  # of a body in chunks the client sees that its end is missing
        self._head(
            200, "text/event-stream", {"connection": "close"} | ({"transfer-encoding": "chunked"} if lost else {})
        )
        part = max(1, len(events) // 2)
        whole = {"truncate": part, "lost": part, "unended": len(events) - 1}.get(fault, len(events))
        for event in events[:whole]:
            data = event.encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if lost else data)
            self.wfile.flush()

    def _cut(self, data: bytes) -> None:
        self.close_connection = True
        self._head(200, "application/json", {"content-length": str(len(data))})
        self.wfile.write(data[: len(data) // 2])
