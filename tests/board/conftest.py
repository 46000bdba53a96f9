"""The board of a usual night, in the process."""

import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from noface.extras.board.app import Board
from noface.extras.board.pages import Pages
from noface.extras.board.peers import Peer
from noface.trackers.files import FilesTracker

PORT = 8123
ORIGIN = f"http://127.0.0.1:{PORT}"


class Person:
    """Somebody with a browser: `get` and `post` below the folder of their session."""

    def __init__(self, board: Board, lines: list[str]) -> None:
        self.board, self.lines = board, lines
        self.client = TestClient(board.app, base_url=ORIGIN, client=("127.0.0.1", 50_000), follow_redirects=False)
        came = self.client.get("/enter", params={"token": board.sessions.token(time.time())})
        assert came.status_code == 303, came.text
        self.base = came.headers["location"].rstrip("/")
        self.client.cookies.clear()
        self.cookie = came.headers["set-cookie"].split(";")[0]

    def get(self, path: str = "/", **params: str):
        return self.client.get(f"{self.base}{path}", params=params, headers={"cookie": self.cookie})

    def post(self, path: str, headers: dict[str, str] | None = None, **fields: object):
        given = {"cookie": self.cookie, "origin": ORIGIN, "sec-fetch-site": "same-origin", **(headers or {})}
        return self.client.post(f"{self.base}{path}", data=fields, headers=given)

    def seen(self, story, issue: str) -> dict[str, object]:
        row, newest = story.reader.issue(issue), next(reversed(story.reader.attempts(issue)), None)
        commit = newest.commit_id or "" if newest else ""
        return {"id": issue, "status": row.status, "attempt": newest.number if newest else 0, "commit": commit}

    def decide(self, story, issue: str, verb: str, note: str = "", **other: object):
        return self.post("/decide", **{**self.seen(story, issue), "verb": verb, "note": note, **other})


@pytest.fixture
def board_of(project):
    """Make a board of the project; with the options of a board."""

    def made(story, whose=lambda *_: Peer.OTHER, **options: bool) -> Person:
        @contextmanager
        def opened():
            yield SimpleNamespace(
                location=SimpleNamespace(root=project.path),
                database=story.database,
                reader=story.reader,
                journal=story.journal,
                questions=story.questions,
                issue=lambda row: FilesTracker(story.root, "issues").read(row.source),
                exists=True,
            )

        lines: list[str] = []
        return Person(
            Board(opened, Pages("shop", **options), PORT, project.state, lines.append, whose=whose, **options), lines
        )

    return made


@pytest.fixture
def person(night, board_of):
    return board_of(night)
