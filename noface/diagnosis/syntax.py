"""Parses a changed file before any gate runs, so that a broken one costs milliseconds and is named exactly.

It must never fail a file that the project's own tools accept. What is written to be broken (test data, templates) or
in a dialect is passed over, and each parser reports only what no version of its language allows.
"""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from noface.data import Patterns
from noface.diagnosis.syntax_parsers import GRAMMARS, check_brackets, check_json, check_python, check_toml, check_yaml
from noface.diagnosis.text import signature_of
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind

_PATHS = Patterns("syntax_paths")

FILE_BYTES_MAX = 1_000_000
FILES_MAX = 300
TOTAL_BYTES_MAX = 20_000_000
FULLY_PARSED = frozenset(("python", "json", "toml", "yaml"))
"""Languages whose parser says for sure that a file is sound, not only that its brackets match."""
_LANGUAGES = {
    ".py": "python",
    ".pyi": "python",
    ".json": "json",
    ".geojson": "json",
    ".ipynb": "json",
    ".toml": "toml",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
}
# Read by tools that allow comments, trailing commas or single quotes.
_EXCERPT_ROUND = 4
_LINE_MAX = 240
_SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class Broken:
    """A file that does not parse: where, what the parser says, and the text for people and prompts."""

    path: str
    line: int
    message: str
    language: str
    lines: tuple[str, ...]

    @property
    def place(self) -> str:
        """The location as gates give it."""
        return f"{self.path}:{self.line}"

    @property
    def text(self) -> str:
        """The line itself."""
        return self.lines[self.line - 1].rstrip()[:_LINE_MAX] if 0 < self.line <= len(self.lines) else ""


def language_of(path: str) -> str | None:
    """Return the language a file is to be parsed as, None where it is left to the gates, or nothing can parse it."""
    language = _LANGUAGES.get(f".{path.rpartition('.')[2].lower()}")
    if language is None or _PATHS["set_aside"].search(path):
        return None
    if _PATHS["tests"].search(path) and not _PATHS["test_code"].search(path):
        return None  # data of tests may be broken on purpose
    lenient = language == "json" and _PATHS["lenient_json"].search(path) is not None
    return None if lenient or not _installed(language) else language


@cache
def _installed(language: str) -> bool:
    """Tell whether the parser of a language is there: some come with the extra `syntax`."""
    match language:
        case "python" | "json" | "toml":
            return True
        case "yaml":
            return find_spec("yaml") is not None
        case _:
            return find_spec("tree_sitter") is not None and find_spec(GRAMMARS[language][0]) is not None


def check(path: str, language: str, data: bytes) -> Broken | None:
    """Parse a file; return what is broken. Total: no input makes it fail."""
    match language:
        case "python":
            fault = check_python(data)
        case "json":
            fault = check_json(path, data)
        case "toml":
            fault = check_toml(data)
        case "yaml":
            fault = check_yaml(data)
        case _:
            fault = check_brackets(language, data)
    if fault is None:
        return None
    line, message = fault
    return Broken(path, line, message, language, tuple(data.decode("utf-8", "replace").split("\n")))


def syntax_failure(broken: tuple[Broken, ...]) -> Failure:
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


def _excerpt(broken: Broken) -> str:
    start = max(broken.line - 1 - _EXCERPT_ROUND, 0)
    lines = broken.lines[start : broken.line + _EXCERPT_ROUND]
    rows = [
        f"{'>' if number == broken.line else ' '} {number:5} | {line.rstrip()[:_LINE_MAX]}"
        for number, line in enumerate(lines, start + 1)
    ]
    return "\n".join([f"{broken.place}: {broken.message}", *rows])
