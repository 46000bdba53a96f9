"""What an answer of GitHub's API means for whoever asked: fine, come back later, or refused. Pure.

The rules are those of GitHub's pages "Rate limits for the REST API" and "Troubleshooting the REST API". Times of the
server are taken as durations by its own clock, since this machine's may be off.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from noface.model.json_record import JsonRecord, json_value

_SECONDARY = re.compile(r"secondary rate limit|abuse detection|exceeded a secondary", re.IGNORECASE)
_SECONDARY_S = 60.0
WRITE_PAUSE_S = 1.0
"""GitHub's guide asks for a second between requests that change something: bursts end in a secondary limit."""
_LIMIT_S_MAX = 3700.0
"""No limit lasts longer than its hour; a server's nonsense must not end a run for days."""
_OUTAGE_MIN_S = 5.0
_OUTAGE_BASE_S = 15.0
_OUTAGE_MAX_S = 900.0
_EXPONENT_MAX = 10
_SHOWN_MAX = 300


@dataclass(frozen=True, slots=True)
class HttpReply:
    """An answer as it came: names of headers in lower case, the body as text."""

    status: int
    headers: Mapping[str, str]
    body: str = ""

    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


@dataclass(frozen=True, slots=True)
class Away:
    """No answer now, for `wait_s`. `limit`: it is a limit, which more requests offend."""

    why: str
    wait_s: float
    limit: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Refused for good: what was asked is missing, wrong, or not allowed. `hint` says what a person can do."""

    why: str
    hint: str = ""


Verdict = Away | Refused | None
"""None: the answer is what was asked for, "as before" (304), or a redirect."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked, for messages: `what` in a person's words, such as "GET /repos/acme/shop/issues"."""

    what: str
    repository: str
    host: str
    token_from: str


def judged(reply: HttpReply, asked: Request, now: float, failures: int = 0, dice: float = 0.5) -> Verdict:
    """Return what an answer means. `failures` counts those in a row before it, `dice` is from 0 to below 1."""
    if reply.status < 400:  # noqa: PLR2004 - below are success and redirects
        return None
    if reply.status in (403, 429):
        limit = _limit(reply, now, failures)
        if limit is not None:
            return limit
    if reply.status >= 500 or reply.status in (408, 429):  # noqa: PLR2004 - the server's own failures
        wait_s = _retry_after(reply)
        why = f"{asked.host} answered {reply.status} to {asked.what}{_server_message(reply)}"
        return Away(why, wait_s if wait_s is not None else outage_wait(failures, dice))
    return _refused(reply, asked)


def judged_graphql(reply: HttpReply, asked: Request, now: float, failures: int = 0, dice: float = 0.5) -> Verdict:
    """Return what an answer of the GraphQL API means: its errors come with status 200."""
    verdict = judged(reply, asked, now, failures, dice)
    errors = JsonRecord.of(json_value(reply.body)).objects("errors")
    if verdict is not None or not errors:
        return verdict
    messages = "; ".join(error.text("message") for error in errors)[:_SHOWN_MAX]
    kinds = {error.text("type") for error in errors}
    if "RATE_LIMITED" in kinds or _SECONDARY.search(messages):
        wait_s = _reset_wait(reply, now) if "RATE_LIMITED" in kinds else _doubled(_SECONDARY_S, failures)
        return Away(f"{asked.host} asks for a pause: {messages}", wait_s, limit=True)
    if kinds == {""} and "went wrong" in messages:
        return Away(f"{asked.host} failed at {asked.what}: {messages}", outage_wait(failures, dice))
    why = f"{asked.host} refused {asked.what} for {asked.repository}: {messages}"
    return Refused(why, _permission_hint(reply, asked))


def outage_wait(failures: int, dice: float) -> float:
    return max(_OUTAGE_MIN_S, dice * min(_OUTAGE_MAX_S, _OUTAGE_BASE_S * 2.0 ** min(failures, _EXPONENT_MAX)))


def _limit(reply: HttpReply, now: float, failures: int) -> Away | None:
    message = JsonRecord.of(json_value(reply.body)).text("message") or reply.body[:_SHOWN_MAX]
    secondary, after_s = _SECONDARY.search(message) is not None, _retry_after(reply)
    # An answer under a secondary limit bears the headers of the primary one as well, which is not used up by that.
    if not secondary and reply.headers.get("x-ratelimit-remaining") == "0":
        limit = reply.headers.get("x-ratelimit-limit", "")
        why = f"The rate limit of {limit} requests an hour is used up" if limit else "The rate limit is used up"
        return Away(why, max(_reset_wait(reply, now), after_s or 0.0), limit=True)
    if secondary or after_s is not None or reply.status == 429:  # noqa: PLR2004 - too many requests
        wait_s = after_s if after_s is not None else _doubled(_SECONDARY_S, failures)
        return Away(f"GitHub asks for a pause{_server_message(reply)}", wait_s, limit=True)
    return None


def _doubled(seconds: float, failures: int) -> float:
    return min(_LIMIT_S_MAX, seconds * 2.0 ** min(failures, _EXPONENT_MAX))


def _reset_wait(reply: HttpReply, now: float) -> float:
    reset = _number(reply.headers.get("x-ratelimit-reset"))
    if reset is None:
        return _SECONDARY_S
    try:
        server_now = parsedate_to_datetime(reply.headers.get("date", "")).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        server_now = now
    return min(_LIMIT_S_MAX, max(1.0, reset - server_now))


def _retry_after(reply: HttpReply) -> float | None:
    seconds = _number(reply.headers.get("retry-after"))
    return None if seconds is None else min(_LIMIT_S_MAX, max(1.0, seconds))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if -1e12 < value < 1e12 else None  # noqa: PLR2004 - no infinity, no NaN


def _refused(reply: HttpReply, asked: Request) -> Refused:
    what, words, token = asked.what, _server_message(reply), f"the token from {asked.token_from}"
    match reply.status:
        case 401:
            hint = "It has ended, was revoked, or belongs to another host: make a new one (`gh auth login`)."
            return Refused(f"{asked.host} does not accept {token}{words}", hint)
        case 404:
            hint = (
                f"Is {asked.repository} the repository's name ([github] repository), and may the token see it?"
                " A fine-grained token names its repositories."
            )
            return Refused(f"{asked.host} knows nothing at {what}, or does not show it to {token}", hint)
        case 410:
            hint = "Issues and pull requests are turned on in the repository's settings, under Features."
            return Refused(f"{what} is gone, or turned off in {asked.repository}{words}", hint)
        case 403 | 451:
            return Refused(f"{asked.host} does not allow {what} with {token}{words}", _permission_hint(reply, asked))
        case _:
            return Refused(f"{asked.host} refused {what} with {reply.status}{words}")


def _permission_hint(reply: HttpReply, asked: Request) -> str:
    """Tell which permission is missing: GitHub names what would have sufficed."""
    if "required" in reply.headers.get("x-github-sso", ""):
        return "The organization wants single sign-on: authorise the token for it in GitHub's settings of tokens."
    wanted = reply.headers.get("x-accepted-github-permissions", "")
    if wanted:
        sets = wanted.replace("_", " ").replace("=", ": ").replace(",", " and ").split(";")
        return f"Give the token for {asked.repository} the permission {', or '.join(each.strip() for each in sets)}."
    return f"Give the token write access to contents, issues and pull requests of {asked.repository}."


def _server_message(reply: HttpReply) -> str:
    body = JsonRecord.of(json_value(reply.body))
    message, errors = body.text("message").strip().rstrip("."), body.values.get("errors")
    details = [_detail(error) for error in errors] if isinstance(errors, list) else []
    words = "; ".join(part for part in (message, *details) if part)
    return f": {' '.join(words.split())[:_SHOWN_MAX]}" if words else ""


def _detail(error: object) -> str:
    if not isinstance(error, dict):
        return str(error)
    named = JsonRecord(error)
    return named.text("message") or " ".join(filter(None, map(named.text, ("resource", "field", "code"))))
