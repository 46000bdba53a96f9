"""A tracker on another machine that is a JSON file: it keeps every promise of RemoteTracker, and counts its calls.

Several processes use it at once: a run of noface, and the test that plays the people who write there. `Desk` is what
those see; `DeskTracker` is what noface gets. While `away` is set, nobody is answered.
"""

import fcntl
import hashlib
import json
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from noface.data.trackers import TrackerSettings
from noface.errors import ForgeAwayError, ForgeError, UsageError
from noface.model.backlog import check
from noface.model.issue import Backlog, Issue
from noface.model.publication import Heard, Said
from noface.trackers.base import IssueDraft

WRITERS = ("alice", "bob")
"""Who may decide there; everybody else may write, and is not heard."""
PLACE = "desk.json"
COPY = "desk-copy.json"


class Desk:
    """The issues of a project on another machine, with their labels and comments, in a file beside the repository."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def open(self) -> Iterator[dict[str, Any]]:
        """Let one reader or writer have the content; what they change is kept."""
        with self._path.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            text = file.read()
            content = json.loads(text) if text else {"issues": {}, "calls": [], "away": 0.0, "next": 1, "refuse": []}
            yield content
            file.seek(0)
            file.truncate()
            file.write(json.dumps(content))

    def put(self, number: int, title: str = "", body: str = "Do it.", **more: Any) -> None:
        """Write or edit an issue with noface's label."""
        with self.open() as content:
            known = content["issues"].get(str(number), {"open": True, "state": "", "comments": [], "closed_by": ""})
            content["issues"][str(number)] = {**known, "title": title or f"Issue {number}", "body": body, **more}

    def comment(self, number: int, author: str, text: str) -> int:
        """Write a comment; its id."""
        with self.open() as content:
            return _write(content, str(number), author, text)

    def close(self, number: int, by: str = "alice") -> None:
        """Close an issue."""
        with self.open() as content:
            content["issues"][str(number)] |= {"open": False, "closed_by": by}

    def away(self, seconds: float) -> None:
        """Answer nobody for so long; 0 for back again."""
        with self.open() as content:
            content["away"] = time.time() + seconds if seconds else 0.0

    def refuse(self, *calls: str) -> None:
        """Refuse these calls."""
        with self.open() as content:
            content["refuse"] = list(calls)

    def issue(self, number: int) -> dict[str, Any]:
        """Return an issue as it is now."""
        with self.open() as content:
            return dict(content["issues"][str(number)])

    def own_comments(self, number: int) -> list[str]:
        """Return noface's comments at an issue."""
        return [each["text"] for each in self.issue(number)["comments"] if each["author"] == "noface"]

    def calls(self, name: str = "") -> list[str]:
        """Return the calls so far, all or those of a name."""
        with self.open() as content:
            return [call for call in content["calls"] if call.startswith(name)]


def _write(content: dict[str, Any], number: str, author: str, text: str) -> int:
    content["next"] += 1
    content["issues"][number]["comments"].append({"id": content["next"], "author": author, "text": text})
    return int(content["next"])


def open_desk(_settings: TrackerSettings, root: Path, state: Path) -> "DeskTracker":
    """Return the tracker for the desk beside a repository."""
    return DeskTracker(Desk(root.parent / PLACE), state / COPY)


def desk_fingerprint(_settings: TrackerSettings, _root: Path, state: Path) -> str:
    """Return a hash of the copy, "" without one."""
    path = state / COPY
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


class DeskTracker:
    """The tracker over a desk, with its copy in a file of noface's state."""

    def __init__(self, desk: Desk, copy: Path) -> None:
        self._desk = desk
        self._copy = copy

    protected = ()

    def use(self, _opened: object) -> None:
        """Nothing of a desk is opened."""

    def fingerprint(self) -> str:
        return hashlib.sha256(self._copy.read_bytes()).hexdigest() if self._copy.exists() else ""

    def backlog(self, merged: Collection[str] = ()) -> Backlog:
        if not self._copy.exists():
            raise UsageError("the issues were never fetched", "Fetch them: noface fetch")
        found = json.loads(self._copy.read_text())
        issues = [
            Issue(id=name, title=each["title"], body=each["body"], source=f"https://desk.example/{name}", content_hash=each["hash"])
            for name, each in found.items()
        ]  # fmt: skip
        return check(issues, merged=merged)

    def add(self, _draft: IssueDraft, _merged: Collection[str] = ()) -> Issue:
        raise UsageError("write it there", "")

    def refresh(self) -> bool:
        with self._called("refresh") as content:
            wanted = {
                name: {"title": i["title"], "body": i["body"], "hash": hashlib.sha256((i["title"] + i["body"]).encode()).hexdigest()}
                for name, i in content["issues"].items()
                if i["open"] and i.get("label", True)
            }  # fmt: skip
        text = json.dumps(wanted, sort_keys=True)
        changed = not self._copy.exists() or self._copy.read_text() != text
        if changed:
            self._copy.parent.mkdir(parents=True, exist_ok=True)
            self._copy.write_text(text)
        return changed

    def say(self, said: Said, _comment: int | None = None) -> int | None:
        with self._called(f"say {said.issue_id} {said.state}") as content:
            issue = content["issues"][said.issue_id]
            issue["state"] = said.state
            own = [each for each in issue["comments"] if each["author"] == "noface"]
            if said.text and own:
                own[0]["text"] = said.text
            elif said.text:
                _write(content, said.issue_id, "noface", said.text)
            if said.closes and issue["open"]:
                issue |= {"open": False, "closed_by": "noface"}
            return next((each["id"] for each in issue["comments"] if each["author"] == "noface"), None)

    def hear(self, issue_ids: Collection[str], after: Mapping[str, int]) -> tuple[Heard, ...]:
        with self._called("hear " + ",".join(issue_ids)) as content:
            return tuple(
                _heard(name, each)
                for name in issue_ids
                for each in content["issues"][name]["comments"]
                if each["author"] in WRITERS and each["id"] > after.get(name, 0)
            )

    @contextmanager
    def _called(self, call: str) -> Iterator[dict[str, Any]]:
        with self._desk.open() as content:
            content["calls"].append(call)
            away, refused = content["away"] > time.time(), call.partition(" ")[0] in content["refuse"]
            if not away and not refused:
                yield content
        if away:
            raise ForgeAwayError("desk.example answers 503", content["away"])
        if refused:
            raise ForgeError("desk.example refuses this", "Ask an owner.")


def _heard(name: str, comment: dict[str, Any]) -> Heard:
    words = comment["text"].removeprefix("/noface ").removeprefix("/")
    if words == comment["text"]:
        return Heard(name, comment["id"], comment["author"], words)
    command, _, text = words.partition(" ")
    return Heard(name, comment["id"], comment["author"], text, command)
