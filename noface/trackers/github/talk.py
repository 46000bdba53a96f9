"""What noface says on GitHub's issues, and what it hears there. What is so already is not sent.

It says little: one label for the state, one comment that is edited in place, and that an issue is closed. An edit tells
nobody: so a question is a new comment, which mentions who is to answer. Who is heard sees eyes.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from noface.forge import parse
from noface.forge.github import show_eyes
from noface.forge.rest import MISSING, Client, RefusedError
from noface.model.publication import ACCOUNT, APPROVED, COMMANDS, Heard, Notice
from noface.trackers.github.issue import OWN_LABELS
from noface.trackers.github.refresh import Refresh
from noface.trackers.issue_body import uncommented

MARKER = "<!-- noface:issue"
HEARD_CHARS_MAX = 20_000
EARLIER_CHARS_MAX = 6_000
COMMENT_CHARS_MAX = 65_000
"""GitHub takes 65,536."""
MOVED = "moved"
"""What the hidden line says instead of a question if a later comment says more."""

_NOTHING = "-"
_HEAD = re.compile(r"<!-- noface:issue (?P<clone>[0-9a-f]{1,32}) (?P<asks>[0-9a-z-]{1,32}) -->\n?")
_EARLIER = "\n\n<details><summary>What noface said here before</summary>\n\n"
_EARLIER_END = "\n\n</details>"
_COMMAND = re.compile(r"/noface(?![\w-])[ \t]*:?[ \t]*", re.IGNORECASE)
_WORD = re.compile(rf"({'|'.join(COMMANDS)})\b[ \t]*:?[ \t]*", re.IGNORECASE)
_OF_OTHERS = re.compile(r"/[a-z][\w-]*", re.IGNORECASE)
"""A command for another program, such as `/lgtm`; or for noface, without its name."""
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*(?:\[bot\])?(?:/[A-Za-z0-9][\w.-]*)?")
_ANYBODY = re.compile(r"(?<![\w`/@.-])@[A-Za-z0-9]")
_FENCE = re.compile(r"[ ]{0,3}(?:```|~~~)")
_QUOTED_CHARS_MIN = 8
"""A quoted line that is shorter may stand anywhere."""


@dataclass(frozen=True, slots=True)
class Own:
    """A comment of noface's: who wrote it, what it asks and says, and what another clone had said before."""

    id: int
    body: str
    clone: str
    asks: str
    text: str
    earlier: str
    url: str = ""

    @property
    def moved(self) -> bool:
        return self.asks == MOVED


def own_of(entry: object) -> Own | None:
    """Read a comment of noface's account; None for one that is not noface's."""
    number, body = parse.number(entry, "id"), parse.text(entry, "body").replace("\r\n", "\n")
    head = _HEAD.match(body)
    if head is None or not number:
        return None
    text, _, earlier = body[head.end() :].partition(_EARLIER)
    asks = head["asks"]
    return Own(
        number,
        body,
        head["clone"],
        "" if asks == _NOTHING else asks,
        text.strip(),
        earlier.removesuffix(_EARLIER_END).strip(),
        parse.text(entry, "html_url"),
    )


def asks_key(asks: str) -> str:
    return hashlib.sha256(asks.encode()).hexdigest()[:12] if asks else ""


def body_of(text: str, clone: str, asks: str, earlier: str = "") -> str:
    """Return the text of a comment with its hidden line, no longer than GitHub takes."""
    body = f"{MARKER} {clone} {asks or _NOTHING} -->\n{text}"
    cut = earlier if len(earlier) <= EARLIER_CHARS_MAX else f"{earlier[:EARLIER_CHARS_MAX]} …"
    folded = f"{_EARLIER}{cut}{_EARLIER_END}" if earlier else ""
    if len(body) + len(folded) > COMMENT_CHARS_MAX:
        folded = ""
    if len(body) > COMMENT_CHARS_MAX:
        body = body[:COMMENT_CHARS_MAX] + "\n\n… cut here; `noface blocked` and `noface show` tell all of it."
    return body + folded


def moved_body(url: str, clone: str) -> str:
    return body_of(f"noface's word on this is now [in a newer comment]({url}).", clone, MOVED)


def earlier_of(own: Own, clone: str, asks: str = "") -> str:
    """Return what is kept below what this clone says now: another clone's words, and what was asked and is no more."""
    if own.moved:
        return own.earlier
    asked = "\n".join(line for line in own.text.split("\n") if line.startswith(">")) if own.asks and not asks else ""
    return "\n\n---\n\n".join(filter(None, (asked if own.clone == clone else own.text, own.earlier)))


def mention(login: str) -> str:
    name = login.removeprefix("@")
    return f"@{name}" if _LOGIN.fullmatch(name) and not name.endswith("[bot]") else ""


def heard_of(
    issue_id: str,
    own_id: int,
    author: str,
    body: str,
    url: str = "",
    *,
    login: str = "",
    own_texts: Collection[str] = (),
) -> Heard | None:
    """Read a comment: quotations and hidden parts are left out; None if nothing is left, or it is for another program.

    `login` is noface's own, `own_texts` the texts of its comments: who quotes one of their lines answers them.
    """
    lines: list[str] = []
    quoted: list[str] = []
    commented = False
    for line in body[: 4 * HEARD_CHARS_MAX].replace("\r\n", "\n").replace("\0", "").split("\n"):
        visible, commented = uncommented(line, commented)
        (quoted if visible.lstrip().startswith(">") else lines).append(visible)
    kept = "\n".join(lines).strip()
    if not kept:
        return None
    begins = _COMMAND.match(kept)
    if begins is None and _OF_OTHERS.match(kept):
        return None
    rest = kept[begins.end() :] if begins else kept
    word = _WORD.match(rest) if begins else None
    command = word[1].lower() if word else ""
    text = (rest[word.end() :] if word else rest).strip()
    addressed = bool(begins) or _mentions(kept, login) or (_quotes(quoted, own_texts) and not _ANYBODY.search(kept))
    return Heard(issue_id, own_id, author, text[:HEARD_CHARS_MAX], command, url, addressed)


def _mentions(text: str, login: str) -> bool:
    name = login.removesuffix("[bot]").lower()
    if not name:
        return False
    wanted = re.compile(rf"(?<![\w`/@.-])@{re.escape(name)}(?![\w-])")
    fenced = False
    for line in text.lower().split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and wanted.search(line):
            return True
    return False


def _quotes(quoted: Collection[str], comments: Collection[str]) -> bool:
    wanted = {_bare(line) for text in comments for line in text.split("\n")}
    return any(len(line) >= _QUOTED_CHARS_MIN and line in wanted for line in map(_bare, quoted))


def _bare(line: str) -> str:
    """Return the letters and digits of a line: mail programs and GitHub quote with other marks."""
    return "".join(filter(str.isalnum, line)).lower()


STATES = {
    "running": ("running", "1d76db", "noface is at work on it"),
    "landing": ("running", "1d76db", "noface is at work on it"),
    "blocked": ("blocked", "d93f0b", "noface needs an answer: see its comment"),
    "approval": ("blocked", "d93f0b", "noface needs an answer: see its comment"),
    "review": ("review", "0e8a16", "its pull request is open"),
}
"""The label, its colour and what it means, by the status of the issue; other states have no label."""
GONE = "gone"
_APPROVAL = "approval"
_APPROVES = ("0e8a16", "says yes to what noface asks")

_INVALID = 422


def say(refresh: Refresh, notice: Notice, comment: int | None) -> int | None:
    """Carry out what is said of an issue that is there; return the comment's id. Raises ForgeError."""
    number, copy = int(notice.issue_id), refresh.copy
    talk = _Talk(refresh, number)
    talk.label(notice.state)
    if notice.text:
        comment = talk.comment(notice, comment)
    known = copy.issues.get(number)
    if notice.closes and (known is None or known.open):
        refresh.client.patch(refresh.client.repo("issues", number), {"state": "closed", "state_reason": "completed"})
        if known is not None:
            copy.issues[number] = replace(known, open=False)
    return comment


class _Talk:
    def __init__(self, refresh: Refresh, number: int) -> None:
        self._refresh = refresh
        self._client, self._sync = refresh.client, refresh.sync
        self._path = self._client.repo("issues", number)
        self._number = number

    def label(self, state: str) -> None:
        """Give the issue the one label of its state, and take noface's others away."""
        name = OWN_LABELS + STATES[state][0] if state in STATES else ""
        has = self._sync.own.get(self._number, ())
        if state == _APPROVAL:
            self._make_label(APPROVED, *_APPROVES)
            has = tuple(each for each in has if each != APPROVED)  # somebody has said yes: it acts first
        if name and name not in has:
            self._make_label(name, *STATES[state][1:])
            self._client.post(f"{self._path}/labels", {"labels": [name]})
            self._know((*self._sync.own.get(self._number, ()), name))
        for other in has:
            if other != name:
                try:
                    self._client.delete(self._client.repo("issues", self._number, "labels", other))
                except RefusedError as error:
                    if error.status not in MISSING:
                        raise
                self._know(tuple(each for each in self._sync.own.get(self._number, ()) if each != other))

    def _know(self, labels: tuple[str, ...]) -> None:
        self._sync.own.pop(self._number, None)
        if labels:
            self._sync.own[self._number] = labels

    def _make_label(self, name: str, colour: str, what: str) -> None:
        if name in self._sync.labels:
            return
        try:
            self._client.post(self._client.repo("labels"), {"name": name, "color": colour, "description": what})
        except RefusedError as error:
            if error.status != _INVALID:  # it is there already
                raise
        self._sync.labels = (*self._sync.labels, name)

    def comment(self, notice: Notice, known: int | None) -> int | None:
        """Have noface's comment say it; return its id. A new question is a new comment, where the others lead."""
        text, asks = self._addressed(notice), asks_key(notice.asks)
        digest = hashlib.sha256(f"{asks}\n{text}".encode("utf-8", "replace")).hexdigest()[:16]
        if known is not None and self._sync.said.get(self._number) == f"{known} {digest}":
            return known
        own = self._read(known) if known is not None else None
        others = self._own_comments() if own is None or own.moved or (asks and own.asks != asks) else []
        own = next((each for each in reversed(others) if not each.moved), own)
        if notice.state == GONE and own is not None and own.clone != self._sync.clone:
            return own.id  # another clone has the issue by now, and it knows what became of it
        earlier = earlier_of(own, self._sync.clone, asks) if own is not None else ""
        body = body_of(text, self._sync.clone, asks or (own.asks if own is not None else ""), earlier)
        if own is None or (asks and own.asks != asks):
            written = parse.number(self._client.post(f"{self._path}/comments", {"body": body}), "id") or None
        else:
            written = own.id
            if own.body != body:
                self._client.patch(self._client.repo("issues", "comments", own.id), {"body": body})
        for each in others:
            if written is not None and each.id != written and not each.moved:
                shorter = moved_body(f"{each.url.partition('#')[0]}#issuecomment-{written}", self._sync.clone)
                self._client.patch(self._client.repo("issues", "comments", each.id), {"body": shorter})
        if written is not None:
            self._sync.said[self._number] = f"{written} {digest}"
        return written

    def _addressed(self, notice: Notice) -> str:
        """Return the text with the name of noface's account, and, if it asks, whom it is for, else the author."""
        text, login, copy = notice.text, "", self._refresh.copy
        issue, taken = copy.issues.get(self._number), copy.taken.get(self._number)
        author = taken.by if taken is not None else issue.author if issue is not None else ""
        mentioned = notice.to or (author,)
        if ACCOUNT in text or notice.asks:
            login = self._refresh.whoami()
            text = text.replace(ACCOUNT, f"`{mention(login.removesuffix('[bot]'))}`")
        names = (
            [mention(each) for each in mentioned if each.lower().removeprefix("@") != login.lower()]
            if notice.asks
            else []
        )
        people = " ".join(dict.fromkeys(filter(None, names)))
        return f"{people} {text}" if people else text

    def _read(self, comment: int) -> Own | None:
        try:
            entry = self._client.get(self._client.repo("issues", "comments", comment), keep=True).body
        except RefusedError as error:
            if error.status not in MISSING:
                raise
            return None
        return own_of(entry)

    def _own_comments(self) -> list[Own]:
        login = self._refresh.whoami().lower()
        entries = [each for each in _comments(self._client, self._path) if _author(each).lower() == login]
        return [own for own in map(own_of, entries) if own is not None]


def hear(refresh: Refresh, issue_ids: Collection[str], after: Mapping[str, int]) -> Iterator[Heard]:
    """Yield what trusted people have written later than the id in `after`, issue by issue. Raises ForgeError.

    What was heard may be lost in a kill before it is recorded: until `after` tells that it was not, it is heard again.
    """
    client, copy, sync = refresh.client, refresh.copy, refresh.sync
    for issue_id in issue_ids:
        number = int(issue_id)
        if APPROVED in sync.own.get(number, ()):
            yield from _approved(refresh, number)
        updated = sync.updated.get(number, "")
        mark = f"{updated} {after.get(issue_id, 0)}"
        if sync.heard.get(number) == mark if updated else number not in copy.issues:
            continue
        strangers: dict[str, None] = {}
        answers = 0
        try:
            entries = _comments(client, client.repo("issues", number))
        except RefusedError as error:
            if error.status not in MISSING:
                raise
            entries = []
        newest = after.get(issue_id, 0)
        login = refresh.whoami() if entries else ""
        texts = [parse.text(each, "body") for each in entries if _author(each).lower() == login.lower()]
        own = [text for text in texts if text.startswith(MARKER)]
        for entry in entries:
            own_id, author, body = parse.number(entry, "id"), _author(entry), parse.text(entry, "body")
            if own_id <= newest or body.startswith(MARKER):
                continue
            heard = heard_of(issue_id, own_id, author, body, parse.text(entry, "html_url"), login=login, own_texts=own)
            if heard is None or not heard.addressed:
                continue
            if not refresh.trusts(author):
                strangers[author] = None
                continue
            answers += 1
            show_eyes(client, "issues", own_id)
            yield heard
        copy.unheard.pop(number, None)
        if strangers:
            copy.unheard[number] = tuple(name for name in strangers if name)
        if not answers and refresh.settled(updated):
            sync.heard[number] = mark


def _approved(refresh: Refresh, number: int) -> Iterator[Heard]:
    asks, yes = OWN_LABELS + STATES[_APPROVAL][0], None
    for event in refresh.client.items(refresh.client.repo("issues", number, "events"), keep=True):
        name = parse.text(event, "label", "name").lower() if parse.text(event, "event") == "labeled" else ""
        yes = event if name == APPROVED else None if name == asks else yes
    if (login := parse.text(yes, "actor", "login")) and refresh.trusts(login):
        yield Heard(str(number), parse.number(yes, "id"), login, "", "approve", label=True)


def _comments(client: Client, path: str) -> list[Mapping[str, Any]]:
    return parse.objects(client.items(f"{path}/comments", keep=True))


def _author(entry: Mapping[str, Any]) -> str:
    return parse.text(entry, "user", "login")
