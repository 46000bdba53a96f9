"""Fills a repository's own template for pull requests with what noface has to say. Pure.

What the template asks for by its headings is put below them: what was done, how it was tested, which issue it is about.
Everything else stays as it is: a box that nobody has ticked tells a reviewer that nobody has vouched for it.
"""

import re
from collections.abc import Mapping

PLACES = (
    ".github/pull_request_template.md",
    "pull_request_template.md",
    "docs/pull_request_template.md",
    ".github/pull_request_template.txt",
    "pull_request_template.txt",
    "docs/pull_request_template.txt",
)
"""Where GitHub looks for it, in this order, in whatever case."""
TEMPLATE_CHARS_MAX = 20_000
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(?P<title>.*)")
_ASKS = {
    "issue": ("issue", "issues", "ticket", "tickets", "related", "fixes", "closes", "references"),
    "tests": ("test", "tests", "tested", "testing", "verification", "verified", "checks", "qa"),
    "done": ("description", "summary", "what", "changes", "change", "why", "motivation", "proposed", "overview"),
}
"""What a heading asks for, by the words in it; the first that fits."""


def place_of(paths: tuple[str, ...]) -> str:
    """Return the path of the template among a repository's files, "" if it has none, or several to choose from."""
    by_name: dict[str, str] = {}
    for path in paths:
        by_name.setdefault(path.lower(), path)
    return next((by_name[place] for place in PLACES if place in by_name), "")


def filled(template: str, parts: Mapping[str, str]) -> tuple[str, frozenset[str]]:
    """Return the template with each part below the first heading that asks for it, and which parts found a place."""
    used: set[str] = set()
    lines: list[str] = []
    fenced = False
    for line in template[:TEMPLATE_CHARS_MAX].replace("\r\n", "\n").split("\n"):
        lines.append(line)
        fenced = fenced is not line.lstrip().startswith("```")
        heading = _HEADING.fullmatch(line) if not fenced else None
        asked = _asked(heading["title"]) if heading is not None else ""
        if asked and asked not in used and parts.get(asked):
            used.add(asked)
            lines += ["", parts[asked], ""]
    return "\n".join(lines).strip(), frozenset(used)


def _asked(title: str) -> str:
    words = set(re.findall(r"[a-z]+", title[:200].lower()))
    return next((what for what, known in _ASKS.items() if words & set(known)), "")
