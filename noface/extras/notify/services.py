"""Where messages go and answers come from: addresses as apprise writes them, all of which are secrets.

Apprise itself runs in a process of its own (`notify/send.py`): it loads a hundred services, and no timeout of its own
holds a server that answers byte by byte. Telegram is spoken to here, since apprise has no buttons for it.
"""

import hashlib
import json
import re
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, unquote, urlencode

from noface.errors import RemoteError, UsageError
from noface.model.quoting import short
from noface.process.fed import run_fed

T = TypeVar("T")
SECONDS_MAX = 30.0
"""How long one message, or one look for answers, may take."""
TELEGRAM = "tgram"
NTFY = ("ntfy", "ntfys")
MAIL = ("mailto", "mailtos")
_ANSWER_BYTES_MAX = 1 << 20
_REASON_CHARS_MAX = 300
_ADDRESS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]{1,30})://(?P<place>[^\s?]{1,1000}+)(?:\?(?P<options>\S{0,1000}))?", re.IGNORECASE
)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_PUBLIC_HOST = re.compile(r"localhost|\[[0-9a-f:]+\]|[a-z0-9-]+(?:\.[a-z0-9-]+)++", re.IGNORECASE)
_HEARD_FROM = "Answers come from ntfys://HOST/TOPIC, or one chat of Telegram: tgram://BOT/CHAT (docs/night.md)."


@dataclass(frozen=True, slots=True)
class Service:
    """Where messages go, or answers come from. `name` is what people are shown of it; all else may be a secret."""

    scheme: str
    name: str
    url: str = field(repr=False)
    user: str = field(repr=False)
    host: str = field(repr=False)
    path: tuple[str, ...] = field(repr=False)
    options: Mapping[str, str] = field(repr=False)

    @property
    def key(self) -> str:
        return hashlib.sha256(self.url.encode()).hexdigest()[:16]

    @property
    def topic(self) -> str:
        server, topic = (self.host, self.path[0]) if self.path else ("ntfy.sh", self.host)
        return f"{'https' if self.scheme == 'ntfys' or not self.path else 'http'}://{server}/{topic}"

    @property
    def login(self) -> Mapping[str, str]:
        basic = f"Basic {b64encode(self.user.encode()).decode()}"
        return {"Authorization": basic if ":" in self.user else f"Bearer {self.user}"} if self.user else {}


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent. `buttons` are labels with what they answer; `quiet_until` is when nobody is to be woken before."""

    title: str
    body: str
    buttons: tuple[tuple[str, str], ...] = ()
    quiet_until: float | None = None


def services(addresses: Iterable[str], environment: Mapping[str, str], *, heard: bool = False) -> tuple[Service, ...]:
    """Return the services of `[notify]`; `$NAME` stands for a variable. `heard`: answers come from there."""
    made = []
    for address in addresses:
        variable = _VARIABLE.fullmatch(address.strip())
        name = f"${variable[1]}" if variable is not None else "an address"
        url = (environment.get(variable[1], "") if variable is not None else address).strip()
        if not url:
            raise UsageError(f"[notify]: the variable {name} is not set", "Set it where noface is started.")
        match = _ADDRESS.fullmatch(url)
        if match is None:
            raise UsageError(f"[notify]: {name} is no address such as ntfys://TOPIC", "docs/night.md has examples.")
        scheme, (place, *path) = match["scheme"].lower(), match["place"].split("/")
        user, _, host = place.rpartition("@")
        public = host if _PUBLIC_HOST.fullmatch(re.sub(r":\d+$", "", host)) else "…"
        parts = unquote(user), host, tuple(map(unquote, filter(None, path))), dict(parse_qsl(match["options"] or ""))
        made.append(Service(scheme, f"{scheme}://{public}", url, *parts))
    for service in made if heard else ():
        if service.scheme not in (*NTFY, TELEGRAM):
            raise UsageError(f"[notify] answers: nothing can be heard from {service.name}", _HEARD_FROM)
        if service.scheme == TELEGRAM and not re.fullmatch(r"-?\d{1,20}", "".join(service.path[:1])):
            raise UsageError("[notify] answers: the address of Telegram names no chat by its number", _HEARD_FROM)
    if made and find_spec("apprise") is None:
        raise UsageError(
            "[notify] needs the library apprise, which is not installed", "pip install 'noface-loop[notify]'"
        )
    return tuple(made)


def secrets_in(known: Iterable[Service]) -> tuple[tuple[str, str], ...]:
    pieces = []
    for service in known:
        private = service.name.endswith("…")
        named = (*service.user.split(":"), *service.path, *service.options.values(), service.host if private else "")
        pieces += [("NOTIFY_SECRET", service.url), *(("NOTIFY_SECRET", piece) for piece in named if piece)]
    return tuple(pieces)


def carry_out(name: str, function: Callable[[], T], _cancel: object = None) -> T:
    """Do something with a service; what surprises in its answers is its own failure, and ends no run."""
    try:
        return function()
    except RemoteError:
        raise
    except Exception as error:
        raise RemoteError(f"{name}: its answer cannot be read ({type(error).__name__})", passing=True) from error


def deliver(service: Service, message: Message, answers: Service | None = None) -> None:
    """Send a message; buttons post their answer to `answers`. Raises RemoteError if it was not taken in time."""
    if service.scheme == TELEGRAM and service.path:
        _to_telegram(service, message)
        return
    more: dict[str, str] = {}
    if service.scheme in NTFY and message.quiet_until is not None:
        more["delay"] = str(int(message.quiet_until))
    if service.scheme in NTFY and message.buttons and answers is not None:
        common = {"action": "http", "url": answers.topic, "method": "POST", "headers": answers.login, "clear": True}
        more["actions"] = json.dumps([{**common, "label": label, "body": text} for label, text in message.buttons])
    url = service.url + ("&" if "?" in service.url else "?") + urlencode(more, quote_via=quote) if more else service.url
    letter = json.dumps({"url": url, "title": message.title, "body": message.body})
    code, output = run_fed((sys.executable, "-P", "-m", "noface.extras.notify.send"), letter, SECONDS_MAX)
    if code != 0:
        why = output.strip() or (f"no answer in {SECONDS_MAX:g} s" if code is None else f"exit code {code}")
        raise RemoteError(f"{service.name}: {short(why, _REASON_CHARS_MAX)}", passing=True)


def _to_telegram(service: Service, message: Message) -> None:
    rows: dict[str, list[dict[str, str]]] = {}
    for label, answer in message.buttons:
        rows.setdefault(answer.partition(" ")[0], []).append({"text": label, "callback_data": answer})
    text = f"{message.title}\n\n{message.body}" if message.title else message.body
    content: dict[str, object] = {"chat_id": service.path[0], "text": text, "disable_web_page_preview": True}
    content["disable_notification"] = message.quiet_until is not None
    if rows:
        content["reply_markup"] = {"inline_keyboard": list(rows.values())}
    telegram(service, "sendMessage", content)


def telegram(service: Service, method: str, content: Mapping[str, object]) -> Any:
    """Call a method of Telegram's; return its result. Raises RemoteError."""
    base = service.options.get("api", "https://api.telegram.org").rstrip("/")
    url = f"{base}/bot{service.host.removeprefix('bot')}/{method}"
    answer = json.loads(request(service, "POST", url, json=content))
    if not isinstance(answer, dict) or not answer.get("ok"):
        raise RemoteError(f"{service.name}: its answer is none of Telegram's", passing=True)
    return answer.get("result")


def request(service: Service, method: str, url: str, **what: Any) -> bytes:
    """Make a request of HTTP; return what it brought, within limits of time and size. Raises RemoteError."""
    import requests

    from noface.forge.transport import within

    def ask() -> tuple[int, bytes]:
        with (
            requests.Session() as session,
            session.request(method, url, timeout=SECONDS_MAX, allow_redirects=False, stream=True, **what) as answer,
        ):
            return answer.status_code, bytes(answer.raw.read(_ANSWER_BYTES_MAX + 1, decode_content=True))

    try:
        status, content = within(SECONDS_MAX, ask)
    except (requests.RequestException, OSError, ValueError) as error:
        raise RemoteError(f"{service.name}: {_cause(error)}", passing=True) from None
    if len(content) > _ANSWER_BYTES_MAX:
        raise RemoteError(f"{service.name}: its answer is longer than any of such a service", passing=True)
    if status != requests.codes.ok:
        words = short(content.decode("utf-8", "replace"), _REASON_CHARS_MAX)
        raise RemoteError(f"{service.name}: it answers {status}: {words}", passing=True)
    return content


def _cause(error: BaseException) -> str:
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return short(getattr(error, "strerror", None) or type(error).__name__, _REASON_CHARS_MAX)
