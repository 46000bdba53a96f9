"""Parses a changed file before any gate runs, so that a broken one costs milliseconds and is named exactly.

It must never fail a file that the project's own tools accept: what is written to be broken (test data, templates) or
in a dialect is passed over, and each parser reports only what no version of its language allows.

Python, JSON, TOML, YAML and XML are read by their parsers, others for their brackets, by tree-sitter's grammars (the
extra `syntax`). A grammar can be older than the language, and lets few projects' dialects through. So a tree with
errors alone is no finding: it must also hold a bracket that nothing closes or opens, which no version of these
languages allows. C and its kin are left out, since the preprocessor may take one of the two away.
"""

import json
import re
import sys
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any
from xml.parsers import expat

from noface.data import Patterns, table
from noface.diagnosis.text import signature_of
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind

_PATHS = Patterns("syntax_paths")

FILE_BYTES_MAX = 1_000_000
FILES_MAX = 300
TOTAL_BYTES_MAX = 20_000_000
FULLY_PARSED = frozenset(("python", "json", "toml", "yaml", "xml"))
"""Languages whose parser says for sure that a file is sound, not only that its brackets match."""
_EXCERPT_ROUND = 4
_LINE_MAX = 240
_SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """A file that does not parse: where, what the parser says, and the text for people and prompts."""

    path: str
    line: int
    message: str
    language: str
    lines: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def text(self) -> str:
        return self.lines[self.line - 1].rstrip()[:_LINE_MAX] if 0 < self.line <= len(self.lines) else ""


def language_of(path: str) -> str | None:
    """Return the language a file is to be parsed as, None if it is left to the gates, or nothing can parse it."""
    language = table("syntax")["suffixes"].get(path.rpartition(".")[2].lower())
    if language is None or _PATHS["set_aside"].search(path):
        return None
    if _PATHS["tests"].search(path) and not _PATHS["test_code"].search(path):
        return None  # data of tests may be broken on purpose
    lenient = language == "json" and _PATHS["lenient_json"].search(path) is not None
    readable = language in FULLY_PARSED or _grammar(language) is not None
    return language if readable and not lenient else None


def check(path: str, language: str, data: bytes) -> BrokenFile | None:
    """Parse a file; return what is broken. Total: no input makes it fail."""
    if language in _TEXTS:
        fault = _of_text(path, language, data)
    else:
        fault = check_python(data) if language == "python" else check_brackets(language, data)
    if fault is None:
        return None
    line, message = fault
    return BrokenFile(path, line, message, language, tuple(data.decode("utf-8", "replace").split("\n")))


def syntax_failure(broken: tuple[BrokenFile, ...]) -> Failure:
    """Return the failure for files that do not parse; the first gives the message, all are in evidence and excerpt."""
    first = broken[0]
    more = f" (and {len(broken) - 1} more file(s) that do not parse)" if len(broken) > 1 else ""
    message = f"{first.message}: {first.text.strip()}" if first.text.strip() else first.message
    return Failure(
        FailureKind.SYNTAX_ERROR,
        f"{first.place}: {message}{more}",
        rule=f"syntax.{first.language}",
        location=first.place,
        signature=signature_of(FailureKind.SYNTAX_ERROR, f"{first.path} {message}", ()),
        evidence=tuple(line for each in broken[:_SHOWN_MAX] for line in (f"{each.place}: {each.message}", each.text)),
        excerpt="\n\n".join(_excerpt(each) for each in broken[:_SHOWN_MAX]),
    )


def _excerpt(broken: BrokenFile) -> str:
    start = max(broken.line - 1 - _EXCERPT_ROUND, 0)
    lines = broken.lines[start : broken.line + _EXCERPT_ROUND]
    rows = [
        f"{'>' if number == broken.line else ' '} {number:5} | {line.rstrip()[:_LINE_MAX]}"
        for number, line in enumerate(lines, start + 1)
    ]
    return "\n".join([f"{broken.place}: {broken.message}", *rows])


_SYNTAX = Patterns("syntax")

_NAME = "noface-examined-source"
_PEP_701 = (3, 12)
_PYTHON_2 = re.compile(r"#!.*python ?2")


def check_python(source: bytes) -> tuple[int, str] | None:
    """Return line and message of what makes the source no Python; None if it is, or may be. Never runs it."""
    # The compiler warns of odd but valid code: that is the linter's business, and must not reach the screen.
    warnings.filterwarnings("ignore", module=_NAME)
    try:
        compile(source, f"{_NAME}.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        return _judged(source, error)
    except ValueError as error:  # NUL characters, in some versions
        return (1, str(error)) if "null bytes" in str(error) else None
    except (RecursionError, MemoryError, OverflowError):
        return None
    return None


def _judged(source: bytes, error: SyntaxError) -> tuple[int, str] | None:
    message, number = error.msg, error.lineno or 1
    lines = source.decode("utf-8", "replace").split("\n")
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    if _SYNTAX["python_2"].search(message) or _SYNTAX["newer"].search(message) or _PYTHON_2.match(lines[0]):
        return None
    # A newer statement that spans lines has its error put beside it.
    around = lines[max(number - 2, 0) : number + 1]
    if _SYNTAX["older_line"].search(line) or any(map(_SYNTAX["newer_line"].search, around)):
        return None
    # A later version lets more stand in an f-string.
    if sys.version_info < _PEP_701 and ("f-string" in message or _SYNTAX["f_string"].search(line)):
        return None
    return number, message


# tomllib takes the square of the parts of a dotted key, PyYAML that of the depth of brackets.
_KEY_PARTS_MAX = 1_000
_XML_MEANT = frozenset((11, 18, 21, 26))
"""Undefined entities, and encodings and entities of other files (expat.h)."""
_DEPTH_MAX = 500


def _of_text(path: str, language: str, data: bytes) -> tuple[int, str] | None:
    """Return line and message of what makes a file none of its language; of what readers differ on, nothing."""
    try:
        text = data.decode("utf-8-sig")
        return None if _SYNTAX["template"].search(text) else _TEXTS[language](path, text)
    except (ValueError, RecursionError):  # another encoding, huge numbers, deep nesting
        return None


def check_json(path: str, text: str) -> tuple[int, str] | None:
    """Return line and message of what makes a text no JSON; comments and trailing commas may be meant."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        meant = not text.strip() or (not _SYNTAX["strict_json"].search(path) and _lenient(text))
        return None if meant else (error.lineno, error.msg)
    return None


def _lenient(text: str) -> bool:
    """True if it is JSON with comments or trailing commas, or several values one after the other."""
    text = _SYNTAX["json_comment"].sub(lambda match: match[1] or (" " if match[2] is None else "/"), text)
    text = _SYNTAX["json_last_comma"].sub(lambda match: match[1] or "", text)
    decoder, at = json.JSONDecoder(), 0
    try:
        while begins := re.compile(r"\S").search(text, at):
            at = decoder.raw_decode(text, begins.start())[1]
    except (ValueError, RecursionError):
        return False
    return True


def parse_toml(text: str) -> Mapping[str, Any]:
    """Parse TOML in a time that is in proportion to its length; raises TOMLDecodeError, or RecursionError."""
    long = next((match for match in _SYNTAX["dotted"].finditer(text) if match[0].count(".") > _KEY_PARTS_MAX), None)
    if long is not None:
        line = text.count("\n", 0, long.start()) + 1
        raise tomllib.TOMLDecodeError(f"A key of more than {_KEY_PARTS_MAX} parts (at line {line}, column 1)")
    return tomllib.loads(text)


def check_xml(_path: str, text: str) -> tuple[int, str] | None:
    """Return line and message of what makes a text no XML; what stands for an entity may be defined elsewhere."""
    parser = expat.ParserCreate()
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        known = text.strip() and error.code not in _XML_MEANT
        return (error.lineno, expat.ErrorString(error.code)) if known else None
    return None


def check_toml(_path: str, text: str) -> tuple[int, str] | None:
    """Return line and message of what makes a text no TOML, in version 1.0 as in 1.1."""
    try:
        parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        match = _SYNTAX["toml_place"].match(str(error))
        lines = text.split("\n")
        line = int(match["line"]) if match and match["line"] else len(lines)
        # 1.1 has inline tables over several lines, \e and \x escapes, times without seconds.
        newer = _SYNTAX["toml_newer"].search("\n".join(_statement(lines, line)))
        return None if newer else (line, match["message"] if match else str(error))
    return None


def _statement(lines: list[str], number: int) -> list[str]:
    """Return the lines up to `number` from where its statement must have begun: a blank line or a table's header."""
    start = number - 1
    while start > 0 and lines[start].strip() and not lines[start].startswith("["):
        start -= 1
    return lines[start:number]


def check_yaml(_path: str, text: str) -> tuple[int, str] | None:
    """Return line and message of what makes a text no YAML."""
    import yaml

    try:
        # Events only: nothing is constructed, aliases are not expanded, tags mean nothing.
        for _ in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if not _is_deep(text) else ():
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = " ".join(str(part) for part in (error.context, error.problem) if part)
        return (mark.line + 1, message) if mark is not None and _SYNTAX["yaml_sure"].search(message) else None
    except yaml.YAMLError:
        return None
    return None


def _is_deep(text: str) -> bool:
    depth = 0
    for bracket in re.findall(r"[\[{\]}]", text):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        if depth > _DEPTH_MAX:
            return True
    return False


_TEXTS = {"json": check_json, "toml": check_toml, "yaml": check_yaml, "xml": check_xml}
_CLOSED_BY = {"(": ")", "[": "]", "{": "}", "${": "}"}
_CLOSERS = frozenset(_CLOSED_BY.values())
_FLOW_WITHIN = 2_000
NODES_MAX = 100_000
"""Of a larger tree, which takes seconds, nothing is said: programs write such files, and a gate reads them anyway."""


def check_brackets(language: str, data: bytes) -> tuple[int, str] | None:
    grammar = _grammar(language)
    # Flow writes types into JavaScript, which its grammar does not know.
    if grammar is None or (language == "javascript" and b"@flow" in data[:_FLOW_WITHIN]):
        return None
    root = import_module("tree_sitter").Parser(grammar).parse(data).root_node
    return _unmatched(root, data) if root.has_error else None


@cache
def _grammar(language: str) -> Any:
    """Return a language's grammar, None if the extra is not installed, or its parts do not fit each other."""
    package, function = table("syntax")["grammars"][language]
    try:
        library: Any = import_module("tree_sitter")
        return library.Language(getattr(import_module(package), function)())
    except (ImportError, AttributeError, ValueError, TypeError):
        return None


def _unmatched(root: Any, data: bytes) -> tuple[int, str] | None:
    open_ones: list[tuple[str, int]] = []
    marks = _marks(root, data) if root.descendant_count <= NODES_MAX else []
    for mark, line in marks:
        if mark not in _CLOSERS:
            open_ones.append((mark, line))
        elif not open_ones:
            return line, f"unmatched '{mark}'"
        else:
            opened, at = open_ones.pop()
            if _CLOSED_BY[opened] != mark:
                return line, f"closing '{mark}' does not match opening '{opened}' on line {at}"
    if open_ones:
        mark, line = open_ones[-1]
        return line, f"'{mark}' was never closed"
    return None


def _marks(root: Any, data: bytes) -> list[tuple[str, int]]:
    marks: list[tuple[str, int]] = []
    cursor = root.walk()
    while True:
        node = cursor.node
        if node.child_count == 0 and not node.is_missing:
            line = node.start_point[0] + 1
            if node.type in _CLOSED_BY or node.type in _CLOSERS:
                marks.append((node.type, line))
            elif node.type == "ERROR":  # what the grammar could not even cut into tokens
                text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
                marks += [(mark, line) for mark in text if mark in _CLOSED_BY or mark in _CLOSERS]
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return marks
