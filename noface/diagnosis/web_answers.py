"""A web page, or half a document, where a program's provider should have answered. Pure and total.

A proxy, a gateway or a captive portal speaks to people: then nobody has worked, and nobody is to blame (law 8). A page
may be the work itself as well, so words count only if a program ended with them and has changed nothing.
"""

from collections.abc import Iterable

from noface.data import Patterns
from noface.diagnosis.text import strip_codes
from noface.model.failure import NO_ANSWER, Failure
from noface.model.quoting import one_line
from noface.model.taxonomy import FailureKind

_WEB = Patterns("web")
_LINE_CHARS_MAX = 400
_HEAD_CHARS = 4_000
_TITLE_CHARS = 200


def begins_page(text: str) -> bool:
    """True if a program's output begins as a web page does."""
    return _WEB["begins"].match(text[:_HEAD_CHARS]) is not None


def final_answer(last_lines: Iterable[str]) -> str:
    """Return the line by which a failed command's end is that of such an answer, "" if it ended otherwise."""
    lines = (strip_codes(text)[:_LINE_CHARS_MAX].strip() for text in last_lines)
    return next((one_line(line, _LINE_CHARS_MAX) for line in lines if _WEB["final"].match(line)), "")


def page_instead(output: str) -> Failure | None:
    """Return the failure of a program that ended well and printed a page about an error or a login, and nothing else.

    A model may have written a page, so its title has to tell.
    """
    title = _WEB["title"].search(output[:_HEAD_CHARS]) if begins_page(output) else None
    if title is None:
        return None
    text = _WEB["tag"].sub(" ", output[title.start() : title.start() + _HEAD_CHARS])
    message = f"a web page came in place of an answer: {one_line(text, _TITLE_CHARS)}"
    signature = f"{NO_ANSWER}:{title[1].lower()}"
    return Failure(
        FailureKind.NETWORK, message, rule=NO_ANSWER, signature=signature, evidence=(message,), charged=False
    )
