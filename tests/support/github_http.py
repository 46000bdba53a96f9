"""The HTTP side of the server of the tests: from a request on loopback to an answer, each held against the description.

Every request below the API's root is authenticated, counted, checked, answered and checked again, in that order. What
does not fit the description is noted in `violations` and answered with 500, so that a client cannot live with it.
"""

import base64
import hashlib
import json
import re
import socket
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

from . import (
    git_http,
    github_rest,  # noqa: F401 - what it answers registers itself
    github_rest_pulls,
)
from .github_calls import HANDLERS, PAGE_DEFAULT, PAGE_MAX, Answer, Call, Listed
from .github_check_views import Views
from .github_limits import DOCS
from .github_openapi import answer_faults, find, request_faults
from .github_state import RefusedError, not_found

_GIT = re.compile(
    r"/(?P<owner>[^/]+)/(?P<name>[^/]+?)(?:\.git)?(?P<inner>/(?:info/refs|git-upload-pack|git-receive-pack))\Z"
)
_GRAPHQL = frozenset({"/graphql", "/api/graphql"})
_API = re.compile(r"/api/v3(?=/|\Z)")


class Listener(ThreadingHTTPServer):
    """Listens on loopback for one GitHub, in a thread of its own."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, github):
        self.github = github
        super().__init__(("127.0.0.1", 0), Handling)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.server_port}"

    def close(self):
        self.shutdown()
        self._thread.join()
        self.server_close()

    def server_bind(self):
        """Bind without asking what the machine is called, which may take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.socket.settimeout(1)  # a caller may be gone again before it is accepted, which would be waited for
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, *_client):
        """Say nothing of clients that went away; what else is raised is a fault of the server of the tests."""
        error = traceback.format_exc()
        if "BrokenPipeError" not in error and "ConnectionResetError" not in error:
            self.github.violations.append(error)


class Handling(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *args):
        """Write no log: `github.requests` is the log."""

    def _handle(self):
        github, parts = self.server.github, urlsplit(self.path)
        body = self._read()
        path = _API.sub("", parts.path) or "/"
        answered = self._faulty(github.fault_for(self.command, path), path, parts.query, body)
        github.noted(self.command, path, parts.query, 0 if answered is None else answered[0])
        if answered is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self._send(*answered)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = _handle  # noqa: N815

    def _read(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _send(self, status, headers, content):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status not in {204, 304}:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if status not in {204, 304} and self.command != "HEAD":
            self.wfile.write(content)
        self.wfile.flush()

    def _faulty(self, fault, path, query, body):
        """Return the answer that the client gets, None where the connection ends without one."""
        if fault is None:
            return self._answer(path, query, body)
        if fault.kind == "answer":
            content = _json({"message": fault.message, "documentation_url": DOCS})
            return fault.status, {**self.server.github.limit_headers(self.headers), **fault.headers}, content
        if fault.kind == "drop" and fault.before:
            return None
        answered = self._answer(path, query, body)
        if fault.kind == "drop":
            return None
        fault.entered.set()
        fault.gate.wait()
        return answered

    def _answer(self, path, query, body):
        github = self.server.github
        with github.lock:
            if git := _GIT.match(path):
                return self._git(git, query, body)
            if self.server is github.files:
                return github.file_answer(path, self.headers)
            return answer(github, self.command, path, query, body, self.headers)

    def _git(self, found, query, body):
        github = self.server.github
        token = github.token_of(self.headers)
        repository = github.hosted(f"{found['owner']}/{found['name']}")
        challenge = {"WWW-Authenticate": 'Basic realm="GitHub"'}
        if token is None and (self.headers.get("Authorization") or repository is None or repository.private):
            return 401, challenge, b"Invalid username or token.\n"
        write = git_http.wants_write(found["inner"], query)
        if write and token is None:
            return 401, challenge, b"Authentication required.\n"
        login = token.user.login if token else ""
        if repository is None or not repository.may(login, "read"):
            return 404, {}, b"Repository not found.\n"
        may_push = not write or (repository.may(login, "write") and token.permissions.get("contents") == "write")
        if not may_push:
            denied = f"Permission to {repository.full_name}.git denied to {login}.\n"
            return 403, {"Content-Type": "text/plain"}, denied.encode()
        given = (found["inner"], self.command, query, self.headers, body)
        answered = git_http.serve(repository.bare, *given, login)
        if write:
            repository.look()
        return answered


def _json(value):
    return json.dumps(value).encode()


def answer(github, method, path, query, body, headers):
    """Return status, headers and body of the answer to a request of the API."""
    token = github.token_of(headers)
    if token is None:
        return _refusal(RefusedError(401, "Bad credentials"), {}, None)
    resource = "graphql" if path in _GRAPHQL else "core"
    try:
        if path != "/rate_limit":
            github.limits.count(token.user, resource)
    except RefusedError as refused:
        return _refusal(refused, github.limits.headers(token.user, resource), None)
    if moved := github.moved(path, token.user.login):
        status = 301 if method == "GET" else 307
        where = {"Location": f"{github.api}{moved}", **github.limits.headers(token.user)}
        return (
            status,
            where,
            _json({"message": "Moved Permanently", "url": where["Location"], "documentation_url": DOCS}),
        )
    path = github.by_name(path)
    try:
        status, extra, content, operation = _answered(github, token, method, path, query, body)
    except RefusedError as refused:
        found = find(method, path)
        return _refusal(refused, github.limits.headers(token.user), found and found[0], github)
    except AssertionError as error:
        return _violated(github, f"{method} {path}: {error}")
    except Exception:  # noqa: BLE001 -- the test is told at its end
        return _violated(github, f"{method} {path}: {traceback.format_exc()}")
    raw = b"" if content is None else _json(content)
    extra = {"Content-Type": "application/json; charset=utf-8", **extra}
    if method == "GET" and status == 200:
        extra["ETag"] = f'W/"{hashlib.sha256(raw + repr((extra.get("Link"), token.text)).encode()).hexdigest()}"'
        if extra["ETag"] in headers.get("If-None-Match", "") or headers.get("If-None-Match") == "*":
            github.limits.free(token.user)
            return 304, {"ETag": extra["ETag"], **github.limits.headers(token.user)}, b""
    if operation is not None:
        faults = answer_faults(operation, status, content)
        if faults:
            return _violated(github, f"GitHub never answers {method} {path} so: {'; '.join(faults)}")
    return status, {**extra, **github.limits.headers(token.user, resource)}, raw


def _violated(github, what):
    github.violations.append(what)
    return 500, {"Content-Type": "application/json; charset=utf-8"}, _json({"message": what})


def _answered(github, token, method, path, query, body):
    if path in _GRAPHQL:
        return 200, {}, github_rest_pulls.graphql(github, token.user, json.loads(body)), None
    found = find(method, path)
    given = dict(parse_qsl(query, keep_blank_values=True))
    parsed = json.loads(body) if body else None
    if found is None or found[0].id not in HANDLERS:
        what = "has no such operation" if found is None else f"has {found[0].id}, the server of the tests does not"
        raise AssertionError(f"GitHub {what}; `OPERATIONS` of github_openapi_extract names those that are known")
    operation, places = found
    faults = request_faults(operation, places, given, parsed)
    if faults:
        raise AssertionError(f"noface asks wrongly: {'; '.join(faults)} ({given} {parsed})")
    call = _call(github, token, places, given, parsed)
    handler = HANDLERS[operation.id]
    if call.repository is not None:
        token.check(handler.permission)
        call.needs(handler.role)
    made = handler.answer(call)
    if isinstance(made, Answer):
        return made.status, made.headers or {}, made.body, operation
    if isinstance(made, Listed):
        named, own = f"/repos/{call.repository.full_name}", f"/repositories/{call.repository.id}"
        content, link = _page(made, given, f"{call.views.root}{path.replace(named, own, 1)}")  # GitHub links by id
        return 200, link, content, operation
    return 200, {}, made, operation


def _call(github, token, places, query, body):
    repository, views = None, None
    if "repo" in places:
        repository = github.repositories.get(f"{places['owner']}/{places['repo']}")
        if repository is None or not repository.may(token.user.login, "read"):
            raise not_found()
    known = repository or next(iter(github.repositories.values()), None)
    views = Views(known, github.api, github.web) if known else None
    return Call(github, token.user, repository, views, places, query, body)


def _page(listed, query, url):
    """Return one page of a list, and the header that says where the others are."""
    size, page = min(int(query.get("per_page", PAGE_DEFAULT)), PAGE_MAX), int(query.get("page", 1))
    items, start = listed.items, (page - 1) * size
    if "after" in query:
        after, newest_first = query["after"], query.get("direction", "desc") == "desc"
        places = [(each, listed.cursor(each)) for each in items]
        items = [each for each, place in places if place != after and (place < after) is newest_first]
        start = 0
    shown, more = items[start : start + size], start + size < len(items)
    if listed.cursor is not None:
        links = {"next": {"after": listed.cursor(shown[-1]), "page": page + 1}} if more else {}
    else:
        links = {"prev": {"page": page - 1}, "first": {"page": 1}} if page > 1 else {}
        links |= {"next": {"page": page + 1}, "last": {"page": -(-len(items) // size)}} if more else {}
    link = ", ".join(f'<{url}?{urlencode({**query, **changed})}>; rel="{rel}"' for rel, changed in links.items())
    made = [listed.show(each) for each in shown]
    content = {"total_count": len(listed.items), listed.under: made} if listed.under else made
    return content, {"Link": link} if link else {}


def _refusal(refused, headers, operation, github=None):
    body = {"message": refused.message, "documentation_url": DOCS, "status": str(refused.status)}
    if refused.errors:
        body["errors"] = refused.errors
    if operation is not None and github is not None:
        faults = answer_faults(operation, refused.status, body)
        github.violations += [f"the refusal of {operation.id}: {each}" for each in faults]
    return (
        refused.status,
        {"Content-Type": "application/json; charset=utf-8", **headers, **refused.headers},
        _json(body),
    )


def basic_password(headers):
    """Return the token of a request's Authorization header, None without one."""
    kind, _, text = (headers.get("Authorization") or "").partition(" ")
    if kind.lower() in {"bearer", "token"}:
        return text.strip()
    if kind.lower() == "basic":
        return base64.b64decode(text).decode("utf-8", "replace").partition(":")[2]
    return None
