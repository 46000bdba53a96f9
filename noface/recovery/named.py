"""What an issue names, and which of it parts or changes do not hold. Pure.

A statement, an entry of a list or a sentence, is held where the names that it uses all stand in what is there, and so
do most of its other words. That is no proof, and is used only if a miss costs little.
"""

import re
from collections.abc import Iterable

from noface.integrity.asked_for import meanings
from noface.model.issue import Issue

_TEXT_CHARS_MAX = 40_000
_STATEMENTS_MAX = 100
_FENCE = re.compile(r"^ {0,3}+(`{3,}+|~{3,}+).*?(?:^ {0,3}+\1[`~]*+[ \t\r]*+$|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?(?P<text>\S.*)$")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|[=-]{3,}\s*$|<!--)")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[^a-z])")
_NAME = re.compile(r"[./:-]{0,9}\w++(?:[./:-]{1,9}\w++)*+")
_SPECIAL = re.compile(r"\w[./_:-]\w|\d|[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_CODE = re.compile(r"`([^`\n]{1,200})`")
_PATHS = "diff --git "
_FILE = re.compile(r"[\w/-]\.[A-Za-z]\w{0,5}(?![\w(/.])")
_SHARE = 0.6
"""So much of a statement's other words must stand where its names do."""


def entries(text: str) -> tuple[str, ...]:
    """Return the entries of a text's lists, each with the lines that go on with it; not those that are ticked off."""
    return tuple(entry for entry, listed in _statements(text) if listed)


def statements(issue: Issue) -> tuple[str, ...]:
    """Return all that an issue says: entries of lists and sentences, but for those that lead up to a list or code."""
    return tuple(statement for statement, _ in _statements(issue.body)) or (issue.title,)


def _statements(text: str) -> tuple[tuple[str, bool], ...]:
    result: list[tuple[str, bool]] = []
    block: list[str] = []
    listed = ticked = False

    def end() -> None:
        words = " ".join(" ".join(block).split())
        parts = [words] if listed else _SENTENCE.split(words)
        result.extend((part, listed) for part in parts if not ticked and re.search(r"\w", part) and part[-1] != ":")
        block.clear()

    for line in _FENCE.sub("\n", text[:_TEXT_CHARS_MAX]).splitlines():
        entry = _ENTRY.match(line)
        if entry is None and line.strip() and not _HEADING.match(line):
            block.append(line)
            continue
        end()
        listed = entry is not None
        ticked = entry is not None and (entry["box"] or " ") != " "
        block.extend([entry["text"]] if entry is not None else [])
    end()
    return tuple(result[:_STATEMENTS_MAX])


def names(text: str) -> frozenset[str]:
    code = {word for span in _CODE.findall(text) for word in _NAME.findall(span) if len(word) > 1}
    special = {word for word in _NAME.findall(text) if _SPECIAL.search(word)}
    return frozenset(word.strip("./:-").lower() for word in code | special)


def not_held(statements: Iterable[str], held: str) -> tuple[str, ...]:
    text, words = held.lower(), meanings((held,))
    return tuple(each for each in statements if not _holds(text, words, each))


def evident(issue: Issue, changes: str) -> bool:
    """True if changes evidently hold all that an issue says: each statement, and a path that it names."""
    wishes = statements(issue)
    return all(_files(each, changes) for each in wishes) and not not_held(wishes, changes)


def untouched(statements: Iterable[str], changes: str) -> tuple[str, ...]:
    """Return the statements that changes do not hold, and of whose files not all are changed."""
    missed = not_held(statements, changes)
    return tuple(each for each in missed if len(_files(each, changes)) < max(1, len(_FILE.findall(each))))


def _files(statement: str, changes: str) -> list[str]:
    paths = "\n".join(line for line in changes.splitlines() if line.startswith(_PATHS)).lower()
    return [name for name in names(statement) if _stands(name, paths)]


def changed_text(patch: str) -> str:
    lines = (line[1:] if line[:1] in "+-" else line for line in patch.splitlines() if not line.startswith((" ", "@@")))
    return "\n".join(lines)


def _holds(text: str, words: frozenset[str], statement: str) -> bool:
    wanted, named = meanings((statement,)), names(statement)
    held = all(_stands(name, text) for name in named) and len(wanted & words) >= _SHARE * len(wanted)
    return held and bool(wanted or named)


def _stands(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None
