"""One issue file: from its name and bytes to an Issue, or to a fault that tells everything wrong with it.

```
+++
title = "Log in with a passkey"
depends_on = [3]
+++

What is wanted, in Markdown.
```

The front matter is optional; without a `title` the first `# heading` outside code blocks is the title, and where
the text begins with it the body is what follows. A byte order mark and any line ends are accepted.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noface.core.backlog import id_problem
from noface.core.issue import Issue, IssueFault
from noface.trackers.title import clean_title, title_problem

if TYPE_CHECKING:
    from noface.trackers.front_matter import FrontMatter

BODY_BYTES_MAX = 1_048_576
FILE_BYTES_MAX = BODY_BYTES_MAX + 65_536
"""Room for the largest body, front matter and blank lines around them: a larger file is not even read."""

_FENCE_MARKER = "+++"
_NUMBERED = re.compile(r"([0-9]+)-")
_YAML_MARKER = "---"
_YAML_KEY = re.compile(r"[A-Za-z_]+[ \t]*:")
_CODE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HASH_CHARS = 16
_HEADING_INDENT_MAX = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file turned out to be: an issue or a fault, and what a person should know of a sound one."""

    found: Issue | IssueFault
    warnings: tuple[IssueFault, ...] = ()


@dataclass(frozen=True, slots=True)
class _Parts:
    """A file's text, taken apart. `front` is None without front matter; lines count from 1."""

    front: str | None
    front_line: int
    body: str


def issue_id(name: str) -> str:
    """Return the id that a file name stands for: the digits of `N-slug.md` as they are written, else the stem."""
    stem = name.removesuffix(".md")
    numbered = _NUMBERED.match(stem)
    return numbered[1] if numbered else stem


def fault(source: str, name: str, problem: str, hint: str) -> IssueFault:
    """Make a fault of the file `name`, with its id where that is usable and with a complaint where it is not."""
    own_id = issue_id(name)
    if wrong := id_problem(own_id):
        said = "; ".join(part for part in (problem, f"{wrong}; rename the file") if part)
        return IssueFault(source=source, problem=said, hint=hint)
    return IssueFault(source=source, problem=problem, hint=hint, id=own_id)


def too_large(source: str, name: str, size: int) -> IssueFault:
    """Make the fault of a file or a body of `size` bytes."""
    said = f"has {size} bytes, a body of at most {BODY_BYTES_MAX} (1 MiB) is allowed"
    return fault(source, name, said, "Put long material in files of the repository and name them in the issue.")


def read_issue(source: str, name: str, data: bytes) -> Reading:
    """Make of a file's bytes what they say; total: whatever the bytes are, the answer is a Reading."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        said = f"line {line}: not UTF-8 text (byte {data[error.start]:#04x} at offset {error.start})"
        return Reading(fault(source, name, said, "Save the file as UTF-8."))
    if (at := text.find("\0")) >= 0:
        said = f"line {text.count(chr(10), 0, at) + 1}: holds a NUL character, so it is no Markdown"
        return Reading(fault(source, name, said, "Save the file as UTF-8 text, or move it out of the folder."))
    parts = _split(text.replace("\r\n", "\n").replace("\r", "\n"))
    if isinstance(parts, str):
        return Reading(fault(source, name, parts, "Front matter is TOML between two lines of +++."))
    if (size := len(parts.body.encode())) > BODY_BYTES_MAX:
        return Reading(too_large(source, name, size))
    return _build(source, name, parts, hashlib.sha256(data).hexdigest()[:_HASH_CHARS])


def _split(text: str) -> _Parts | str:
    """Part front matter and body, or say why that cannot be done."""
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if line.strip()), 0)
    opening = lines[start].rstrip()
    rest = lines[start + 1 :]
    if opening == _YAML_MARKER and _YAML_KEY.match(rest[0] if rest else "") and _YAML_MARKER in rest:
        return f"line {start + 1}: begins with YAML front matter (---), which noface does not read"
    if opening != _FENCE_MARKER:
        return _Parts(front=None, front_line=0, body=text.strip("\n"))
    for end in range(start + 1, len(lines)):
        if lines[end].rstrip() == _FENCE_MARKER:
            front = "\n".join(lines[start + 1 : end])
            return _Parts(front=front, front_line=start + 2, body="\n".join(lines[end + 1 :]).strip("\n"))
    return f"line {start + 1}: the front matter opened by +++ is never closed"


def _build(source: str, name: str, parts: _Parts, content_hash: str) -> Reading:
    matter: FrontMatter | None = None
    problems: list[str] = []
    if parts.front is not None:
        # Only a file with front matter pays for pydantic.
        from noface.trackers.front_matter import read_front_matter

        matter, found = read_front_matter(parts.front, parts.front_line)
        problems = [str(problem) for problem in found]
    title, body = (matter.title, parts.body) if matter and matter.title else _heading(parts.body)
    # Unreadable front matter may well hold the title: its absence is then no finding.
    if title is None and (matter is not None or parts.front is None):
        problems.append('there is no title: write title = "…" between lines of +++, or begin with a heading "# …"')
    elif title is not None and (problem := title_problem(title)):
        problems.append(problem)
    if problems or title is None or id_problem(issue_id(name)):
        return Reading(fault(source, name, "; ".join(problems), f"Edit {source}."))
    issue = _issue(source, name, title, body, matter, content_hash)
    return Reading(issue, () if body.strip() else (empty_body(source, issue.id),))


def _issue(source: str, name: str, title: str, body: str, matter: "FrontMatter | None", content_hash: str) -> Issue:
    plain = Issue(id=issue_id(name), title=title, body=body, source=source, content_hash=content_hash)
    if matter is None:
        return plain
    return Issue(
        id=plain.id,
        title=title,
        body=body,
        priority=matter.priority,
        labels=tuple(dict.fromkeys(matter.labels)),
        depends_on=tuple(dict.fromkeys(matter.depends_on)),
        paths=tuple(matter.paths),
        accept=tuple(matter.accept),
        model=matter.model,
        tier=matter.tier,
        max_attempts=matter.max_attempts,
        no_escalate=matter.no_escalate,
        may_change=tuple(matter.may_change),
        source=source,
        content_hash=content_hash,
    )


def empty_body(source: str, own_id: str) -> IssueFault:
    """Make the warning about an issue without a body."""
    hint = "Say what is wanted and how one sees that it is done; a worker knows nothing but this text."
    return IssueFault(source=source, problem="the body is empty", hint=hint, id=own_id)


def _heading(body: str) -> tuple[str | None, str]:
    """Return the title in the first `# heading`, and the body, without that heading where it comes first."""
    lines = body.split("\n")
    fence = ""
    for at, line in enumerate(lines):
        if opened := _CODE_FENCE.match(line):
            marker = opened[1]
            if not fence:
                fence = marker
            elif marker.startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif not fence and (title := _heading_text(line)):
            leads = not any(before.strip() for before in lines[:at])
            return title, "\n".join(lines[at + 1 :]).strip("\n") if leads else body
    return None, body


def _heading_text(line: str) -> str:
    """Return the text of a level-one ATX heading (CommonMark 4.2), empty for any other line."""
    bare = line.lstrip(" ")
    if len(line) - len(bare) > _HEADING_INDENT_MAX or not bare.startswith(("# ", "#\t")):
        return ""
    text = bare[1:].strip()
    unclosed = text.rstrip("#")
    return clean_title(unclosed if not unclosed or unclosed[-1] in " \t" else text)
