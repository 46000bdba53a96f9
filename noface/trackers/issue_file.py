"""One issue file: from its name and bytes to an Issue, or to a fault that tells everything wrong with it.

It is optional TOML front matter between two lines of +++, and Markdown; without a `title` the first `# heading` outside
code is the title. Drafts of issues are written in the same form, and read back before they are.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from noface.errors import UsageError
from noface.model.backlog import id_problem, number_of, same_id, unknown_dependency
from noface.model.issue import Issue
from noface.model.listed import IssueFault
from noface.trackers.base import ISSUE_BYTES_MAX, clean_title, content_hash, title_problem, unwritable

if TYPE_CHECKING:
    from noface.trackers.front_matter import FrontMatter

SLUG_CHARS_MAX = 48


def slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return words[:SLUG_CHARS_MAX].rstrip("-") or "issue"


BODY_BYTES_MAX = 1_048_576
FILE_BYTES_MAX = ISSUE_BYTES_MAX
"""Room for the largest body, front matter and blank lines around them: a larger file is not even read."""

_FENCE_MARKER = "+++"
_NUMBERED = re.compile(r"([0-9]+)-")
_YAML_MARKER = "---"
_YAML_KEY = re.compile(r"[A-Za-z_]+[ \t]*:")
_CODE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING_INDENT_MAX = 3


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What a file turned out to be: an issue or a fault, and what a person should know of a sound one."""

    result: Issue | IssueFault
    warnings: tuple[IssueFault, ...] = ()


_Parts = tuple[str | None, int, str]
"""A file's text, taken apart: its front matter, None without any, the line where that begins, from 1, and the body."""


def issue_id(name: str) -> str:
    stem = name.removesuffix(".md")
    numbered = _NUMBERED.match(stem)
    return numbered[1] if numbered else stem


def fault(source: str, name: str, problem: str, hint: str) -> IssueFault:
    own_id = issue_id(name)
    if wrong := id_problem(own_id):
        return IssueFault(source, "; ".join(part for part in (problem, f"{wrong}; rename the file") if part), hint)
    return IssueFault(source, problem, hint, own_id)


def too_large(source: str, name: str, size: int) -> IssueFault:
    problem = f"has {size} bytes, a body of at most {BODY_BYTES_MAX} (1 MiB) is allowed"
    return fault(source, name, problem, "Put long material in files of the repository and name them in the issue.")


def read_issue(source: str, name: str, data: bytes) -> ParsedFile:
    """Make of a file's bytes what they say; total: whatever the bytes are, the answer is a ParsedFile."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"line {line}: not UTF-8 text (byte {data[error.start]:#04x} at offset {error.start})"
        return ParsedFile(fault(source, name, problem, "Save the file as UTF-8."))
    if (at := text.find("\0")) >= 0:
        problem = f"line {text.count(chr(10), 0, at) + 1}: holds a NUL character, so it is no Markdown"
        return ParsedFile(fault(source, name, problem, "Save the file as UTF-8 text, or move it out of the folder."))
    parts = _split(text.replace("\r\n", "\n").replace("\r", "\n"))
    if isinstance(parts, str):
        return ParsedFile(fault(source, name, parts, "Front matter is TOML between two lines of +++."))
    if (size := len(parts[2].encode())) > BODY_BYTES_MAX:
        return ParsedFile(too_large(source, name, size))
    return _build(source, name, parts, content_hash(data))


def _split(text: str) -> _Parts | str:
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if line.strip()), 0)
    opening = lines[start].rstrip()
    rest = lines[start + 1 :]
    if opening == _YAML_MARKER and _YAML_KEY.match(rest[0] if rest else "") and _YAML_MARKER in rest:
        return f"line {start + 1}: begins with YAML front matter (---), which noface does not read"
    if opening != _FENCE_MARKER:
        return None, 0, text.strip("\n")
    for end in range(start + 1, len(lines)):
        if lines[end].rstrip() == _FENCE_MARKER:
            front = "\n".join(lines[start + 1 : end])
            return front, start + 2, "\n".join(lines[end + 1 :]).strip("\n")
    return f"line {start + 1}: the front matter opened by +++ is never closed"


def _build(source: str, name: str, parts: _Parts, digest: str) -> ParsedFile:
    matter: FrontMatter | None = None
    problems: list[str] = []
    front, front_line, text = parts
    if front is not None:
        # Only a file with front matter pays for pydantic.
        from noface.trackers.front_matter import read_front_matter

        matter, problems = read_front_matter(front, front_line)
    title, body = (matter.title, text) if matter and matter.title else _heading(text)
    # Unreadable front matter may well hold the title: its absence is then no finding.
    if title is None and (matter is not None or front is None):
        problems.append('there is no title: write title = "…" between lines of +++, or begin with a heading "# …"')
    elif title is not None and (problem := title_problem(title)):
        problems.append(problem)
    if problems or title is None or id_problem(issue_id(name)):
        return ParsedFile(fault(source, name, "; ".join(problems), f"Edit {source}."))
    issue = Issue(issue_id(name), title, body, source=source, content_hash=digest)
    if matter is not None:
        issue = matter.apply_to(issue)
    return ParsedFile(issue, () if body.strip() else (empty_body(source, issue.id),))


def empty_body(source: str, own_id: str) -> IssueFault:
    hint = "Say what is wanted and how one sees that it is done; a worker knows nothing but this text."
    return IssueFault(source=source, problem="the body is empty", hint=hint, id=own_id)


def _heading(body: str) -> tuple[str | None, str]:
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
    bare = line.lstrip(" ")
    if len(line) - len(bare) > _HEADING_INDENT_MAX or not bare.startswith(("# ", "#\t")):
        return ""
    text = bare[1:].strip()
    unclosed = text.rstrip("#")
    return clean_title(unclosed if not unclosed or unclosed[-1] in " \t" else text)


# Drafts of issues: whether one would be sound, which number it gets, and how it is written down.

DEFAULT_WIDTH = 3
"""Digits of the first number of a backlog without numbers: 001."""


def checked_draft(draft: Issue, known: Collection[str]) -> Issue:
    """Return the draft as it is stored: its dependencies by their ids in `known`, its text cleaned.

    Raises UsageError naming everything wrong with it.
    """
    from noface.trackers.front_matter import validate

    matter, wrong_keys = validate(_values(draft))
    problems = [problem for _, problem in wrong_keys]
    if unwritable(draft.body):
        problems.append("the body holds characters that no text file can (NUL or half of a surrogate pair)")
    by_id = {same_id(name): name for name in known}
    for name in draft.depends_on:
        if same_id(name.strip()) not in by_id:
            problem, hint = unknown_dependency(name, known)
            problems.append(f"{problem} ({hint.rstrip('.')})")
    if matter is None or matter.title is None or problems:
        raise _refusal("; ".join(problems))
    checked = replace(
        draft,
        title=matter.title,
        body=draft.body.replace("\r\n", "\n").replace("\r", "\n").strip("\n"),
        labels=matter.labels,
        depends_on=tuple(dict.fromkeys(by_id[same_id(name)] for name in matter.depends_on)),
        paths=matter.paths,
        accept=matter.accept,
        model=matter.model,
    )
    # Whatever rule a reader has, a draft that passes here will be read back.
    outcome = read_issue("the draft", "1-draft.md", rendered(checked)).result
    if isinstance(outcome, IssueFault):
        raise _refusal(outcome.problem)
    return checked


def rendered(draft: Issue) -> bytes:
    import tomli_w

    body = f"\n{draft.body}\n" if draft.body else ""
    return f"+++\n{tomli_w.dumps(_values(draft))}+++\n{body}".encode()


def next_id(used: Iterable[str]) -> str:
    """Return the number above all numeric ids of `used`, padded with zeros as they are.

    Raises UsageError if that number is too long for an id.
    """
    numbers = [name for name in used if number_of(name) is not None and id_problem(name) is None]
    padded = [len(name) for name in numbers if name.startswith("0") and len(name) > 1]
    width = max(padded, default=1) if numbers else DEFAULT_WIDTH
    following = str(max(map(int, numbers), default=0) + 1).zfill(width)
    if problem := id_problem(following):
        raise UsageError(
            f"there is no number left: {problem}", "Give the issue with the largest number a name instead."
        )
    return following


def _refusal(problems: str) -> UsageError:
    return UsageError(f"this issue cannot be added: {problems}", "Nothing was written. Correct it and add it again.")


def _values(draft: Issue) -> dict[str, object]:
    defaults = asdict(Issue("", draft.title))
    changed = {key: value for key, value in asdict(draft).items() if key != "body" and value != defaults[key]}
    lists = {key: list(value) if isinstance(value, tuple) else value for key, value in changed.items()}
    return {"title": draft.title, **lists}
