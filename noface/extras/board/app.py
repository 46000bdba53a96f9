"""The routes of the board. Every request passes the guard first, and every answer bears its headers."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode

from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from noface.cli.session import ReadSession
from noface.errors import NofaceError, UsageError
from noface.extras.board import deciding, reviews
from noface.extras.board.deciding import Displayed, Open
from noface.extras.board.events import Watcher
from noface.extras.board.guard import (
    COOKIE,
    HEADERS,
    WAY_IN,
    Denial,
    Entry,
    RequestFacts,
    Sessions,
    cookies,
    refusal,
    set_cookie,
)
from noface.extras.board.night_html import stylesheet
from noface.extras.board.pages import STATES, TABS, BoardQuery, Pages, following, needing
from noface.extras.board.peers import Peer, peer
from noface.store import decisions
from noface.ui.issues import find_issue
from noface.ui.status import latest_run

_T = TypeVar("_T")
_STATIC = Path(__file__).with_name("static")
_FILES = {path.name: path for path in _STATIC.iterdir()}
"""What may be fetched without a session: no other file is, whatever an address says."""
_BODY_BYTES_MAX = 64 * 1024
_ID_CHARS_MAX = 500
_FIELDS_MAX = 50
_NO_ADDRESS = Denial(400, "that is no address", "Letters beyond ASCII stand in it as %XX.")
_NO_SESSION = Denial(
    403,
    "there is no session here: it has ended, or this address is of another one",
    "Open the address that the terminal of `noface board` shows; Enter there shows a new one.",
)
_A_WORKER = Denial(403, "a worker of the run asks for this, and only a person decides here")
_GONE = Denial(403, "whoever asked for this has left, and nobody can tell who it was")
_ENTRIES = {
    Entry.WRONG: Denial(403, "this is not the code of this board", _NO_SESSION.hint),
    Entry.LATE: Denial(403, "this address has lapsed", "Press Enter in the terminal of `noface board` for a new one."),
    Entry.USED: Denial(
        403,
        "this address was used before, and is good once",
        "What it had opened is closed, since one of the two may be somebody else. The terminal shows a new address.",
    ),
}


class Board:
    """The pages, the sessions, and the one thread that reads and writes the state for all of them."""

    def __init__(
        self,
        open_state: Open,
        pages: Pages,
        port: int,
        folder: Path,
        tell: Callable[[str], None],
        *,
        read_only: bool = False,
        whose: Callable[[int, int, Sequence[int]], Peer] = peer,
    ) -> None:
        self._open_state = open_state
        self._pages = pages
        self._port = port
        self._tell = tell
        self._whose = whose
        self._read_only = read_only
        self._thread = ThreadPoolExecutor(1, "board")
        self._done: dict[str, str] = {}
        self._watcher = Watcher(open_state, folder, self._in_thread)
        self.sessions = Sessions()
        routes = [
            Route("/", self._way_in),
            Route("/enter", self._enter, methods=["GET", "POST"]),
            Route("/static/{name}", self._static),
            Route("/{folder}/", self._board),
            Route("/{folder}/issue", self._issue),
            Route("/{folder}/report", self._report),
            Route("/{folder}/keys", self._keys),
            Route("/{folder}/events", self._events),
            Route("/{folder}/decide", self._decide, methods=["POST"]),
            Route("/{folder}/run", self._run, methods=["POST"]),
            Route("/{folder}/comment", self._comment, methods=["POST"]),
            Route("/{folder}/review", self._review, methods=["POST"]),
            Route("/{folder}/leave", self._leave, methods=["POST"]),
        ]
        handlers: dict[Any, Any] = {NofaceError: self._failed, 404: self._unknown, 405: self._unknown}
        self.app: ASGIApp = _Guarded(Starlette(routes=routes, exception_handlers=handlers), self._refused)

    # Who may ask

    async def _refused(self, scope: Scope) -> Response | None:
        if not scope["query_string"].isascii():
            return self._page_of(_NO_ADDRESS)
        headers, path = Headers(scope=scope), str(scope["path"])
        asked = RequestFacts(
            scope["method"],
            path,
            headers.get("host", ""),
            headers.get("origin", ""),
            headers.get("sec-fetch-site", ""),
            headers.get("sec-purpose", headers.get("purpose", "")),
        )
        why = refusal(asked, self._port, read_only=self._read_only)
        folder = path.removeprefix("/").partition("/")[0]  # of `*` and of nothing as well
        if why is None and path not in WAY_IN and folder != "static":
            cookie = cookies(headers.get("cookie", "")).get(COOKIE, "")
            why = None if self.sessions.holds(folder, cookie) else _NO_SESSION
        if why is None and (asked.method == "POST" or path == "/enter"):
            why = await self._in_thread(partial(self._not_a_person, scope))
        return None if why is None else self._page_of(why)

    def _not_a_person(self, scope: Scope) -> Denial | None:
        try:
            with self._open_state() as state:
                run = latest_run(state.reader)
        except NofaceError as error:
            return Denial(503, error.message, error.hint)
        if run is None or not run.running or not scope.get("client"):
            return None
        match self._whose(self._port, scope["client"][1], (run.pid,)):
            case Peer.BELOW:
                self._tell("A worker of the run tried to open the board or to decide on it. It was refused.")
                return _A_WORKER
            case Peer.GONE:
                return _GONE
            case Peer.OTHER | Peer.UNKNOWN:
                return None

    def _page_of(self, why: Denial, base: str = "") -> Response:
        text = self._pages.render("error.html", base, message=why.message, hint=why.hint)
        return HTMLResponse(text, why.status)

    # The way in

    async def _way_in(self, request: Request) -> Response:
        del request
        return HTMLResponse(self._pages.render("enter.html", ""))

    async def _enter(self, request: Request) -> Response:
        form = await _form(request) if request.method == "POST" else request.query_params
        entry, made = self.sessions.enter(str(form.get("token", "")), time.time())
        if made is None:
            if entry is Entry.USED:
                self._tell("The address was used a second time. What it had opened is closed. Press Enter for another.")
            return self._page_of(_ENTRIES[entry])
        answer = RedirectResponse(f"/{made.folder}/", 303)
        answer.headers["Set-Cookie"] = set_cookie(made)
        return answer

    async def _static(self, request: Request) -> Response:
        if request.path_params["name"] == "night.css":
            return Response(stylesheet(), media_type="text/css")
        path = _FILES.get(request.path_params["name"])
        return FileResponse(path) if path is not None else await self._unknown(request, None)

    async def _leave(self, request: Request) -> Response:
        self.sessions.leave(request.path_params["folder"])
        return RedirectResponse("/", 303)

    # What is looked at

    async def _board(self, request: Request) -> Response:
        query = request.query_params
        state, everything = query.get("state", ""), query.get("all", "")
        wanted = BoardQuery(
            query.get("find", "")[:200],
            state if state in STATES else "",
            query.get("only") == "problems",
            everything if everything in STATES else "",
        )
        base, done = _base(request), self._done.pop(_base(request), "")
        return await self._page(lambda state: self._pages.board(state, base, wanted, done))

    async def _issue(self, request: Request) -> Response:
        query, base = request.query_params, _base(request)
        tab, number, at = query.get("tab", "story"), query.get("n", ""), query.get("comment", "")
        more: dict[str, object] = {"done": self._done.pop(base, ""), "gate": query.get("gate", "")[:200]}
        more["behind"] = query.get("behind", "")[:_ID_CHARS_MAX]
        if at.isdecimal():
            more["commenting"] = int(at[:9])
        return await self._page(
            lambda state: self._pages.issue(
                state,
                base,
                query.get("id", "")[:_ID_CHARS_MAX],
                tab if tab in TABS else "story",
                int(number[:9]) if number.isdecimal() else None,
                **more,
            )
        )

    async def _report(self, request: Request) -> Response:
        base, since = _base(request), request.query_params.get("since", "")[:40]
        return await self._page(lambda state: self._pages.report(state, base, since))

    async def _keys(self, request: Request) -> Response:
        return HTMLResponse(self._pages.render("keys.html", _base(request)))

    async def _events(self, request: Request) -> Response:
        folder, cookie = request.path_params["folder"], request.cookies.get(COOKIE, "")
        return EventSourceResponse(self._watcher.stream(lambda: self.sessions.holds(folder, cookie)))

    # What is decided

    async def _decide(self, request: Request) -> Response:
        form = await _form(request)
        return await self._done_by(
            request, form, lambda state, issue_id, seen: deciding.decide(
                state, issue_id, form.get("verb", ""), form.get("note", ""), seen
            )
        )  # fmt: skip

    async def _comment(self, request: Request) -> Response:
        form = await _form(request)

        def collect(state: ReadSession, issue_id: str, seen: Displayed) -> str:
            at = _whole(form, "at")
            reviews.comment(
                state, issue_id, reviews.LineComment(at, _whole(form, "end") or at, form.get("note", "")), seen
            )
            return ""

        return await self._done_by(request, form, collect, "diff", f"row-{_whole(form, 'at')}")

    async def _review(self, request: Request) -> Response:
        form = await _form(request)
        return await self._done_by(
            request, form, lambda state, issue_id, seen: reviews.send(state, issue_id, form.get("note", ""), seen)
        )

    async def _run(self, request: Request) -> Response:
        paused = (await _form(request)).get("do") == "pause"

        def change(state: ReadSession) -> None:
            decisions.pause(time.time(), state.journal, state.reader, paused=paused)

        await self._with_state(change)
        self._done[_base(request)] = "The run starts nothing more." if paused else "The run goes on."
        return RedirectResponse(f"{_base(request)}/", 303)

    async def _done_by(
        self,
        request: Request,
        form: dict[str, str],
        change: Callable[[ReadSession, str, Displayed], str],
        tab: str = "story",
        place: str = "",
    ) -> Response:
        """Change something of an issue and show it; if that is refused, with what was written: it is not lost."""
        base, issue_id = _base(request), form.get("id", "")[:_ID_CHARS_MAX]
        seen = Displayed(form.get("status", ""), _whole(form, "attempt"), form.get("commit", ""))

        def changed(state: ReadSession) -> tuple[str, str]:
            after = following(needing(state), find_issue(state.reader, issue_id).id)
            return change(state, issue_id, seen), after.id if after is not None else ""

        try:
            self._done[base], behind = await self._with_state(changed)
        except UsageError as error:
            kept = {"message": error.message, "hint": error.hint, "note": form.get("note", "")}
            tab = form.get("tab", tab)
            return await self._page(
                lambda state: self._pages.issue(state, base, issue_id, tab if tab in TABS else "story", None, **kept),
                409,
            )
        query = urlencode({"id": issue_id, "tab": tab, **({"behind": behind} if behind else {})})
        return RedirectResponse(f"{base}/issue?{query}{f'#{place}' if place else ''}", 303)

    # How it is carried out

    async def _page(self, make: Callable[[ReadSession], str], status: int = 200) -> Response:
        return HTMLResponse(await self._with_state(make), status)

    async def _with_state(self, use: Callable[[ReadSession], _T]) -> _T:
        def opened() -> _T:
            with self._open_state() as state:
                return use(state)

        return await self._in_thread(opened)

    async def _in_thread(self, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    async def _failed(self, request: Request, error: NofaceError) -> Response:
        status = 409 if isinstance(error, UsageError) else 503
        base = _base(request) if "folder" in request.path_params else ""
        return self._page_of(Denial(status, error.message, error.hint), base)

    async def _unknown(self, request: Request, error: object) -> Response:
        del error
        return self._page_of(Denial(404, f"the board has no page {request.url.path[:80]}"))


class _Guarded:
    """Asks the guard before anything else, and puts the headers on whatever is answered."""

    def __init__(self, app: ASGIApp, refused: Callable[[Scope], Awaitable[Response | None]]) -> None:
        self.app = app
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # a socket of another kind has nothing to say here

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = await self._refused(scope)
        await (self.app if answer is None else answer)(scope, receive, guarded)


def _base(request: Request) -> str:
    return f"/{request.path_params['folder']}"


def _whole(form: dict[str, str], name: str) -> int:
    text = form.get(name, "")[:9]
    return int(text) if text.isdecimal() else 0


async def _form(request: Request) -> dict[str, str]:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _BODY_BYTES_MAX:
            raise UsageError("what was sent is too long", f"A form has at most {_BODY_BYTES_MAX:,} bytes.")
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_FIELDS_MAX)
    except ValueError as error:
        raise UsageError("what was sent is no form of the board") from error
    return {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}
