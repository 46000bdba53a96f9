"""The page of a night as HTML: without script, under a strict policy, readable on a phone, by ear and on paper.

`body` is what stands between a page's head and foot, `document` a file of its own. Whatever an issue, an agent or a
test wrote is escaped, and what would steer a terminal is taken out; a link leads to http or https only.
"""

import time
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from noface.model.quoting import printable_lines
from noface.model.taxonomy import INTERRUPTED, PASSED
from noface.report import page
from noface.report.night import UNDER_WAY, Night, Span
from noface.ui.show import action_words
from noface.ui.status import counted
from noface.ui.text import clean, count, duration, moment, money

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent
_STATES = {PASSED: "passed", INTERRUPTED: "cut short", UNDER_WAY: "under way"}


@cache
def stylesheet() -> str:
    return (_FOLDER / "static" / "night.css").read_text("utf-8")


def body(night: Night, pages: str = "") -> str:
    return environment().get_template("night.html.j2").render(night=night, line=_TimeLine(night), pages=pages)


def document(night: Night) -> str:
    digest = b64encode(sha256(stylesheet().encode()).digest()).decode()
    parts = {"style": stylesheet(), "digest": digest, "body": body(night), "night": night}
    return environment().get_template("document.html.j2").render(parts)


def safe_link(address: str | None) -> str:
    text = clean(address or "")
    return text if text.lower().startswith(("http://", "https://")) else ""


def _state(outcome: str) -> str:
    return _STATES.get(outcome, "failed")


class _TimeLine:
    """Where attempts lie in the time line: its width is 1000."""

    def __init__(self, night: Night) -> None:
        self.states = {_state(span.outcome) for span in night.spans}
        self._begin, self._step = night.sum.began_at, max(night.sum.elapsed, 1.0) / 1000

    def at(self, span: Span) -> float:
        return round((span.started_at - self._begin) / self._step, 1)

    def width(self, span: Span) -> float:
        return max(round(span.seconds / self._step - 1.5, 1), 2.0)


def _stamp(at: float) -> str:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    except (OverflowError, OSError, ValueError):
        return ""


@cache
def environment() -> "Environment":
    """What makes the pages; whatever a template puts out is escaped, and cleaned of what drives a terminal."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=lambda given: (
            printable_lines(given) if isinstance(given, str) and not hasattr(given, "__html__") else given
        ),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "amount": page.amount,
        "count": count,
        "counted": counted,
        "duration": duration,
        "gates": page.gates_of,
        "link": safe_link,
        "money": money,
        "moment": moment,
        "number": "{:,}".format,
        "query": urlencode,
        "share": lambda part: f"{part:.0%}",
        "size": lambda issue: f"{page.lines_of(issue)} in {count(issue.files, 'file')}",
        "state": _state,
        "safe_markup": Markup,
        "stamp": _stamp,
    }
    made.globals |= {
        "action_words": action_words,
        "headline": page.headline,
        "summary": page.summary,
        "run_words": page.run_words,
        "look_command": page.look_command,
        "quota_words": page.quota_words,
    }
    return made
