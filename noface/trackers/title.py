"""Titles: one printable line that stands in commit messages, tables and file names."""

import re
import unicodedata

TITLE_CHARS_MAX = 500
SLUG_CHARS_MAX = 48


def clean_title(text: str) -> str:
    """`text` without outer blanks, its tabs as spaces."""
    return text.replace("\t", " ").strip()


def title_problem(text: str) -> str | None:
    """Why a cleaned title cannot be used, or None.

    Control characters could drive the terminal that shows the title, line ends would forge trailers in commit
    messages, and lone surrogates cannot be written.
    """
    if not text:
        return "the title is empty"
    if len(text) > TITLE_CHARS_MAX:
        return f"the title has {len(text)} characters, at most {TITLE_CHARS_MAX} are allowed: put the rest in the body"
    for char in text:
        if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}:
            name = "a line end" if char in "\r\n\x85\u2028\u2029" else f"the control character {char!a}"
            return f"the title must be one line of printable text, it holds {name}"
    return None


def slug(title: str) -> str:
    """Make the part of a file name that reminds of the title: lower-case ASCII words joined by "-"."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return words[:SLUG_CHARS_MAX].rstrip("-") or "issue"
