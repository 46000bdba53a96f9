"""The body of an issue on a code host or of beads: what of its Markdown counts, and nothing a person would not mean.

Front matter stands between +++ at the top, in a comment `<!-- noface`, or in a block whose info string holds noface;
lists stand below a heading of `SECTIONS`; "blocked by #7" anywhere. What is in code, quoted, hidden or struck through
says nothing. Bodies are strangers' text: all here is total and linear.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

SECTIONS = {
    "depends on": "depends_on",
    "blocked by": "depends_on",
    "dependencies": "depends_on",
    "paths": "paths",
    "files": "paths",
    "accept": "accept",
    "acceptance": "accept",
    "acceptance commands": "accept",
    "acceptance criteria": "accept",
    "acceptance tests": "accept",
}
"""Headings of any level, in any case, and what the items below one are."""

_FENCE = re.compile(r" {0,3}(?:[-*+] +)?(`{3,}|~{3,})([^`]*)$")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)")
_CODE = re.compile(r"`([^`]*)`")
_STRUCK = re.compile(r"~~[^~]*~~")
_LEADS = re.compile(r"[\s*_]*(blocked[ \t]+by|depends[ \t]+on)[\s*_:]*", re.IGNORECASE)
"""A line above a list, which is as good as a heading as far as the list goes."""
_SAYS = re.compile(r"\b(?:blocked[ \t]+by|depend(?:s|ent)?[ \t]+on)\b[ \t:*_]*", re.IGNORECASE)
_DENIED = re.compile(r"(?:\bnot|n't|\bno longer|\bnever)[ \t]+(?:been[ \t]+|be[ \t]+)?$", re.IGNORECASE)
_DENIED_CHARS = 40
_REFERENCE = re.compile(
    r"(?:https?://(?P<host>[^\s/]{1,255})/(?P<place>[\w.-]{1,100}/[\w.-]{1,100})/(?:issues|pull)/(?P<number>\d{1,10})\b"
    r"|(?P<other>[\w.-]{1,100}/[\w.-]{1,100})?\#(?P<plain>\d{1,10})\b|\bGH-(?P<gh>\d{1,10})\b)"
)
_BETWEEN = re.compile(r"(?:#[\w-]+)?[ \t]*(?:,[ \t]*(?:and\b|or\b)?|;|&|\+|\band\b|\bor\b)[ \t]*", re.IGNORECASE)
_VERDICT = re.compile(
    r"`([^`]++)`[ \t]*+(?:(?:passes|pass|succeeds|works|exits (?:with )?0|is (?:green|clean))[ \t]*+)?\.?[ \t]*+"
)
_SHELLS = {"", "sh", "bash", "shell", "console", "zsh", "text"}
_PATH_CHARS = re.compile(r"[\w@.*{}\[\],+/-]++")
_PATH_MARKS = frozenset("/.*")
"""One of these makes a word a path that stands in no code."""


@dataclass(slots=True)
class IssueBody:
    """What a body says. `depends_on` are numbers of issues, each with its repository as owner/name, "" for the same."""

    text: str = ""
    front: str | None = None
    front_line: int = 0
    problem: str = ""
    depends_on: dict[tuple[int, str], None] = field(default_factory=dict)
    paths: dict[str, None] = field(default_factory=dict)
    accept: dict[str, None] = field(default_factory=dict)


def read_body(body: str, home: str) -> IssueBody:
    """Read a body; `home` is the repository's address in a browser, such as https://github.com/acme/shop."""
    result = IssueBody()
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if "noface" in body.lower() or body.lstrip().startswith("+++"):
        lines = _without_front(lines, result)
    result.text = "\n".join(lines).strip("\n")
    section, leads = "", False
    for text, fence in _spoken(lines):
        if fence is None and (heading := _HEADING.match(text) or _LEADS.fullmatch(text)):
            section, leads = SECTIONS.get(_plain(heading[1]), ""), heading.re is _LEADS
            continue
        item = _ITEM.match(text) if fence is None else None
        if leads and item is None and text.strip():
            section, leads = "", False
        if section:
            _read_item(section, item[1] if item else text, fence, home, result)
        if fence is None:
            bare = _CODE.sub(" ", text)
            for phrase in _SAYS.finditer(bare):
                if not _DENIED.search(bare[max(0, phrase.start() - _DENIED_CHARS) : phrase.start()]):
                    _references(bare, phrase.end(), home, result)
    return result


def _without_front(lines: list[str], result: IssueBody) -> list[str]:
    start = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines[start].rstrip() == "+++":
        end = next((at for at in range(start + 1, len(lines)) if lines[at].rstrip() == "+++"), None)
        if end is None:
            result.problem = f"line {start + 1}: the front matter opened by +++ is never closed"
            return lines
        return _cut(lines, start, end, result)
    fence = ""
    for at, line in enumerate(lines):
        if opened := _FENCE.match(line):
            if fence and opened[1].startswith(fence) and not opened[2].strip():
                fence = ""
            elif not fence:
                fence = opened[1]
                if "noface" in re.split(r"[^\w-]+", opened[2].lower()):
                    rest = ((after, lines[after].strip()) for after in range(at + 1, len(lines)))
                    ends = (after for after, bare in rest if bare.startswith(fence) and not bare.strip(fence[0]))
                    return _cut(lines, at, next(ends, len(lines)), result)
        elif not fence and re.match(r" {0,3}<!--[ \t]*noface[ \t]*$", line):
            end = next((after for after in range(at + 1, len(lines)) if lines[after].strip() == "-->"), None)
            return _cut(lines, at, end if end is not None else len(lines), result)
    return lines


def _cut(lines: list[str], start: int, end: int, result: IssueBody) -> list[str]:
    inner = lines[start + 1 : end]
    marks = [at for at, line in enumerate(inner) if line.rstrip() == "+++"]
    if marks and lines[start].rstrip() != "+++":  # people write the lines of +++ inside a comment or block too
        inner = ["" if at in (marks[0], marks[-1]) else line for at, line in enumerate(inner)]
    result.front, result.front_line = "\n".join(inner), start + 2
    return [*lines[:start], *lines[end + 1 :]]


def _spoken(lines: list[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the lines that say something, each with the info string of its fenced block, None outside of one."""
    fence, info, commented, listed, blank = "", "", False, False, True
    for line in lines:
        opened = _FENCE.match(line) if not commented else None
        if opened and not fence:
            fence, info = opened[1], opened[2].strip().lower()
        elif opened and fence and opened[1].startswith(fence) and not opened[2].strip():
            fence = ""
        elif fence:
            yield line, info
        else:
            text, commented = uncommented(line, commented)
            bare = text.lstrip()
            indented = len(text) - len(bare) > 3 or text[:1] == "\t"  # noqa: PLR2004 - CommonMark's indented code
            listed = _ITEM.match(line) is not None or (listed and (indented or not bare))
            code = indented and blank and not listed
            blank = not bare or code
            if not code and not bare.startswith(">"):
                yield _STRUCK.sub(" ", text), None


def visible_text(text: str) -> str:
    lines, commented = [], False
    for line in text.split("\n"):
        kept, commented = uncommented(line, commented)
        lines.append(kept)
    return "\n".join(lines)


def uncommented(line: str, commented: bool) -> tuple[str, bool]:
    """Return the line without its comments, and whether one goes on at its end."""
    kept = []
    at = 0
    while at < len(line):
        mark = "-->" if commented else "<!--"
        place = line.find(mark, at)
        if not commented:
            kept.append(line[at:] if place < 0 else line[at:place])
        if place < 0:
            break
        at = place + len(mark)
        commented = not commented
    return "".join(kept), commented


def _plain(heading: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", heading.lower())) if len(heading) <= 80 else ""  # noqa: PLR2004 - no title is longer


def _read_item(section: str, text: str, fence: str | None, home: str, result: IssueBody) -> None:
    text = text.strip()
    if section == "depends_on" and fence is None:
        _references(text, 0, home, result)
    elif section == "paths":
        spans = _CODE.findall(text) if fence is None else []
        path = _PATH_CHARS.fullmatch(text) and _PATH_MARKS & set(text) and text.lower() not in {"n/a", "..."}
        bare = text if path else ""
        result.paths.update(dict.fromkeys(span.strip() for span in (spans or [bare]) if span.strip()))
    elif section == "accept":
        span = _VERDICT.fullmatch(text) if fence is None else None
        if span:
            result.accept[span[1].strip()] = None
        elif fence in _SHELLS and text and not text.startswith("#"):
            result.accept[text.removeprefix("$ ").strip()] = None


def _references(text: str, at: int, home: str, result: IssueBody) -> None:
    while match := _REFERENCE.match(text, at):
        number = match["number"] or match["plain"] or match["gh"]
        place = match["other"] or (f"https://{match['host']}/{match['place']}" if match["place"] else "")
        address = home.lower()
        same = place.lower() in {"", address, address.replace("http://", "https://"), "/".join(address.split("/")[-2:])}
        result.depends_on[int(number), "" if same else place.removeprefix("https://github.com/")] = None
        between = _BETWEEN.match(text, match.end())
        if between is None:
            return
        at = between.end()
