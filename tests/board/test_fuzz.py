"""Whatever is asked of the board, it answers as its guard wants, and never with a fault of its own."""

import asyncio

from noface.extras.board.guard import HEADERS

PLACES = (
    "/é/",
    "/\ufffd/",
    "/a\0b/",
    "*",
    "",
    "//",
    "/" + "a" * 5000 + "/",
    "/../../",
    "/static/é",
    "/static/../é",
    "/é/issue",
)
ASKED = (b"", b"id=%FF", b"id=" + b"a" * 5000, b"attempt=%D9%A3", b"token=%C3%A9", b"\xff=\xff")
METHODS = ("GET", "POST", "PUT", "HEAD", "OPTIONS", "É")


def answered(person, method, path, query, body=b""):
    """Ask the application itself: a client would put a path into order first."""
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query, "root_path": "", "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8123), "headers": [(b"host", b"127.0.0.1:8123"), (b"cookie", person.cookie.encode()),
        (b"origin", b"http://127.0.0.1:8123"), (b"sec-fetch-site", b"same-origin")],
    }  # fmt: skip
    told = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        told.append(message)

    asyncio.run(asyncio.wait_for(person.board.app(scope, receive, send), 20))
    return told[0]["status"], {name.decode(): value.decode() for name, value in told[0]["headers"]}


def test_every_route_answers_strange_words_with_the_headers_of_the_guard(person):
    routes = [route.path.replace("/{folder}", person.base) for route in person.board.app.app.routes]
    for path in (*PLACES, *(route for route in routes if not route.endswith("/events"))):
        for query in ASKED:
            for method in METHODS:
                status, headers = answered(person, method, path, query, b"id=\xff&verb=%FF&note=" + b"x" * 300)
                assert status < 500, (method, path, query)
                assert HEADERS.items() <= {name.title(): value for name, value in headers.items()}.items(), (
                    method,
                    path,
                )
