"""Hears what people answer to messages, from ntfy or Telegram, and carries it out as `/noface` comments are.

Whoever knows a topic of ntfy can post to it, so a code decides there; of Telegram only the chat of the address is
heard as well. What is refused is answered with why, and changes nothing.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from noface.engine.outages import PUSH_PAUSES_S, Outage
from noface.engine.parts import RunParts
from noface.engine.stations import Station, Steps, Tick, call
from noface.errors import RemoteError
from noface.extras.notify.outbox import CODE_CHARS, Outbox
from noface.extras.notify.services import NTFY, TELEGRAM, Message, Service, carry_out, deliver, request, telegram
from noface.model.publication import COMMANDS
from noface.recovery.polling import Asked, Pace, answered, is_due
from noface.remote.tracker_answers import Listener
from noface.ui.narrate import printable

_PACE = Pace(5.0, 20.0)
"""A person waits for the word that follows; more often than ntfy.sh lets anybody ask would not help them."""
_FIRST_LOOK_S = 10.0
_ANSWERED_MAX = 5
"""So many of what one look brings are answered with a word: whoever floods a topic gets no flood back."""
_TEXT_CHARS_MAX = 10_000
_ANSWER = re.compile(
    rf"\s*+(?:/noface\s++)?+(?P<code>[a-z0-9]{{{CODE_CHARS}}})(?![\w-])[\s:,.-]*+(?P<rest>.*)",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PhoneAnswer:
    """What somebody has written. `at` is where the next look begins, `button` the press that wants an answer."""

    at: str
    author: str
    text: str
    chat: str = ""
    button: str = ""
    allowed: bool = True


def parted(text: str) -> tuple[str, str, str]:
    """Return the code of an answer, its command and its note; "" for what it does not have."""
    match = _ANSWER.match(text[:_TEXT_CHARS_MAX])
    if match is None:
        return "", "", ""
    first, _, rest = match["rest"].strip().partition(" ")
    command = first.lower().removeprefix("/")
    known = command in COMMANDS
    return match["code"].lower(), command if known else "", (rest if known else match["rest"]).strip()


def hear(service: Service, after: str) -> list[PhoneAnswer]:
    """Return what was written since the last look, oldest first. Raises RemoteError."""
    if service.scheme != TELEGRAM:
        url = f"{service.topic}/json"
        lines = request(
            service, "GET", url, params={"poll": "1", "since": after}, headers=dict(service.login)
        ).splitlines()
        heard = (_object(line) for line in lines)
        return [
            PhoneAnswer(str(each.get("id", "")), "somebody at ntfy", str(each.get("message", "")))
            for each in heard
            if each.get("event") == "message"
        ]
    asked = {"timeout": 0, "limit": 100, "allowed_updates": ["message", "callback_query"]}
    updates = telegram(service, "getUpdates", {**asked, **({"offset": int(after) + 1} if after.isdecimal() else {})})
    found = updates if isinstance(updates, list) else []
    return [_of_update(service, each) for each in found if isinstance(each, dict)]


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        read = json.loads(line)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _of_update(service: Service, update: Mapping[str, Any]) -> PhoneAnswer:
    pressed = update.get("callback_query") or {}
    post = pressed.get("message") or update.get("message") or {}
    chat = str((post.get("chat") or {}).get("id", ""))
    who = (pressed or post).get("from") or {}
    text = str(pressed.get("data") or post.get("text") or "")
    if not pressed and not parted(text)[0]:
        text = f"{_code_of(post.get('reply_to_message') or {})} {text}"  # a reply to a message about one issue
    author = printable(who.get("username") or who.get("first_name") or "somebody at Telegram", 40)
    at, button = str(update.get("update_id", "")), str(pressed.get("id") or "")
    return PhoneAnswer(at, author, text, chat, button, chat == service.path[0])


def _code_of(post: Mapping[str, Any]) -> str:
    rows = (post.get("reply_markup") or {}).get("inline_keyboard") or []
    codes = {str(button.get("callback_data", "")).partition(" ")[0] for row in rows for button in row}
    return codes.pop() if len(codes) == 1 else ""


class PhoneListener(Station):
    """Reads the answers of a run's services, and carries them out."""

    first_s = _FIRST_LOOK_S

    def __init__(self, run: RunParts, outbox: Outbox) -> None:
        self._context, self._outbox = run.context, outbox
        self._listener = Listener(run.context, run.context.publications, run.leave)

    def stories(self) -> Iterable[Steps[None]]:
        return [self._listen(each) for each in self._outbox.answers]

    def _listen(self, service: Service) -> Steps[None]:
        context, fact = self._context, f"answers:{service.key}"
        outage = Outage(context.clock, PUSH_PAUSES_S, PUSH_PAUSES_S)
        outage.tell = lambda error, _until, _issue_id: self._outbox.away(f"answers of {service.name}", error)
        back = service if service.scheme == TELEGRAM else self._outbox.of_kind(NTFY)
        asked: Asked | None = None
        since = "" if service.scheme == TELEGRAM else str(int(context.clock.now()))
        after = context.reader.fact(fact) or since
        while True:
            if context.clock.now() < outage.until or not is_due(asked, _PACE, context.clock.now()):
                yield Tick()
                continue
            try:
                heard = yield from call(partial(carry_out, service.name, partial(hear, service, after)))
            except RemoteError as error:
                outage.met(error)
                yield Tick()
                continue
            if outage.over():
                self._outbox.away(f"answers of {service.name}", None)
            asked = answered(asked, context.clock.now(), changed=bool(heard))
            words: list[tuple[PhoneAnswer, str]] = []
            for each in heard:
                with context.questions.together():
                    words.append((each, self._act_on(each)))
                    after = each.at or after
                    context.journal.fact(fact, after)
            if back is not None:
                with suppress(RemoteError):  # what was decided stands, also if they cannot be told
                    tell = partial(_answer_back, back, words[:_ANSWERED_MAX])
                    yield from call(partial(carry_out, back.name, tell))

    def _act_on(self, heard: PhoneAnswer) -> str:
        context = self._context
        if not heard.allowed:
            return "This is not the chat that noface listens to: nothing was done."
        code, command, note = parted(heard.text)
        if not code:
            return "An answer begins with the code that stands in the message: nothing was done."
        row, why = self._outbox.codes.take(code)
        if row is None:
            return f"Nothing was done: {why}."
        why = self._listener.obey(row.id, heard.author, command, note, "")
        if why:
            return f"Nothing was done: {why}"
        context.backlog_stale = True
        now = context.reader.issue(row.id)
        return f"{row.id}: {command or 'your words are kept'}; it is {now.status if now is not None else 'gone'} now."


def _answer_back(service: Service, words: Iterable[tuple[PhoneAnswer, str]]) -> None:
    for heard, word in words:
        if heard.button:
            telegram(service, "answerCallbackQuery", {"callback_query_id": heard.button, "text": word[:190]})
        if heard.chat:
            telegram(service, "sendMessage", {"chat_id": heard.chat, "text": word})
        else:
            deliver(service, Message("", word))
