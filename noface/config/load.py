"""Finds noface.toml, reads it, and returns a sound Config or says everything that is wrong with it.

pydantic is imported only when a text is parsed: commands that merely look for the file stay fast.

tomllib reads values but keeps no lines, so a small scanner walks the text again and notes on which line each key
stands. The text must be TOML that tomllib accepts; then it need not check anything.
"""

import bisect
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noface.errors import ConfigError

if TYPE_CHECKING:
    from noface.config.sections import Config


def table_of(value: object) -> Mapping[str, Any]:
    """Return a table as it is, and an empty one for whatever else stands there."""
    return value if isinstance(value, Mapping) else {}


def tables_of(value: object) -> list[Mapping[str, Any]]:
    """Return the tables of an array, an empty one for each item that is none; of no array, none."""
    return [table_of(item) for item in value] if isinstance(value, list) else []


KeyPath = tuple[str | int, ...]
"""What one would index the parsed data with: ("models", "fast", "tier"), ("gates", 1, "timeout")."""

_GAP = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_KEY_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
# A multi-line string may end in up to two quotes of its own before the closing three.
_STRING = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}(?!")|\'\'\'.*?'{3,5}(?!')|"(?:\\.|[^"\\\n])*"|'[^'\n]*\'''',
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")


def line_numbers(text: str) -> dict[KeyPath, int]:
    """Return the line (from 1) of every key and array item of `text`, and of every table's header.

    A table without a header of its own has the line of the first key or header that makes it.
    """
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


def nearest_line(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of `path`, or of the innermost part of it that the text has; None if it has none."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def split_key(key: str) -> tuple[str, ...]:
    """Split a dotted key as TOML does, quotes included; raise ValueError if it is none."""
    scanner = _Scanner(key)
    parts = scanner.key()
    if scanner.at != len(key):
        raise ValueError(key)
    return parts


class _Scanner:
    """Walks the text once; `at` is where it stands, `counts` the items so far of each array of tables."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.counts: dict[KeyPath, int] = {}
        self.newlines = [match.start() for match in re.finditer("\n", text)]

    def document(self) -> None:
        table: KeyPath = ()
        self.take(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.assignment(table)
            self.take(_BLANK)

    def header(self) -> KeyPath:
        """Read `[a.b]` or `[[a.b]]` and return the path of the table that follows."""
        line, brackets = self.line(), 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        self.take(_GAP)
        parts = self.key()
        self.at += brackets
        path = self.descend((), parts[:-1], line)
        path = (*path, parts[-1])
        if brackets == 1:
            self.lines[path] = line
            return path
        self.lines.setdefault(path, line)
        self.counts[path] = self.counts.get(path, 0) + 1
        path = self.newest(path)
        self.lines[path] = line
        return path

    def descend(self, path: KeyPath, parts: tuple[str, ...], line: int) -> KeyPath:
        """Follow `parts` from `path`, noting tables that nothing has named before; return where they lead."""
        for part in parts:
            path = (*path, part)
            self.lines.setdefault(path, line)
            path = self.newest(path)
        return path

    def newest(self, path: KeyPath) -> KeyPath:
        """Return the last item of an array of tables, which is what a later header's name means; else `path`."""
        return (*path, self.counts[path] - 1) if path in self.counts else path

    def assignment(self, table: KeyPath) -> None:
        line = self.line()
        parts = self.key()
        self.at += 1  # the equals sign, where key() has stopped
        path = (*self.descend(table, parts[:-1], line), parts[-1])
        self.lines[path] = line
        self.take(_GAP)
        self.value(path)

    def value(self, path: KeyPath) -> None:
        match self.text[self.at]:
            case "[":
                self.array(path)
            case "{":
                self.inline_table(path)
            case '"' | "'":
                self.take(_STRING)
            case _:
                self.take(_SCALAR)

    def array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while self.more("]"):
            self.lines[(*path, index)] = self.line()
            self.value((*path, index))
            index += 1

    def inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self.more("}"):
            self.assignment(path)

    def more(self, closing: str) -> bool:
        """Go to the next item and return True, or step over the closing bracket and return False."""
        self.take(_BLANK)
        if self.text[self.at] == ",":
            self.at += 1
            self.take(_BLANK)
        if self.text[self.at] == closing:
            self.at += 1
            return False
        return True

    def key(self) -> tuple[str, ...]:
        """Read a dotted key and the blanks after it; raise ValueError where none stands."""
        parts: list[str] = []
        while True:
            part = self.take(_KEY_PART)
            if not part:
                raise ValueError(f"no key at character {self.at + 1}")
            parts.append(tomllib.loads(f"key = {part}")["key"] if part[0] in "\"'" else part)
            self.take(_GAP)
            if not self.text.startswith(".", self.at):
                return tuple(parts)
            self.at += 1
            self.take(_GAP)

    def take(self, pattern: re.Pattern[str]) -> str:
        """Step over what `pattern` matches here, perhaps nothing, and return it."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match.group()

    def line(self) -> int:
        return bisect.bisect_left(self.newlines, self.at) + 1


FILE_NAMES = ("noface.toml", ".noface.toml")

_AT_LINE = re.compile(r"\s*\(at line (\d+), column (\d+)\)$")
_AT_END = re.compile(r"\s*\(at end of document\)$")


def find(root: Path, explicit: Path | None) -> Path:
    """Return the configuration file: `explicit` if given, else the one at `root`, the top of the repository.

    Raise ConfigError without one, or with both noface.toml and .noface.toml.
    """
    if explicit is not None:
        if not explicit.is_file():
            raise ConfigError(f"there is no file {explicit}", "check the path given with --config")
        return explicit
    present = [root / name for name in FILE_NAMES if (root / name).exists()]
    if not present:
        raise ConfigError(
            f"there is no noface.toml in {root}",
            "run `noface init` at the top of your repository; it writes one to start with",
        )
    if len(present) > 1:
        raise ConfigError(
            f"both noface.toml and .noface.toml are in {root}",
            "keep the one you want and remove the other; noface reads only one",
        )
    return present[0]


def load(root: Path, explicit: Path | None = None) -> "Config":
    """Read the configuration of the repository at `root`; raise ConfigError with every problem at once."""
    path = find(root, explicit)
    return parse(read(path), path.name if explicit is None else str(path))


def read(path: Path) -> str:
    """Return the text of a configuration file, line ends as they are; raise ConfigError if it can't be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", "noface needs a readable file there") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text", "save the file as UTF-8, which TOML demands") from None


def parse(text: str, source: str) -> "Config":
    """Check `text` and return what it says; `source` is the file's name in messages.

    Raise ConfigError: for broken TOML with line and column, else InvalidConfigError with all problems, by line.
    """
    data = tables(text, source)
    from pydantic import ValidationError

    from noface.config.presets import with_presets
    from noface.config.problems import InvalidConfigError, from_validation, located
    from noface.config.rules import find_problems, with_default_model
    from noface.config.sections import Config

    problems = list(find_problems(data))
    models = data.get("models", {})
    filled = with_default_model(data)
    filled["models"] = with_presets(models) if isinstance(models, dict) else models
    config = None
    try:
        config = Config.model_validate(filled)
    except ValidationError as error:
        problems += from_validation(error)
    if problems or config is None:
        raise InvalidConfigError(source, located(problems, line_numbers(text)))
    return config


def tables(text: str, source: str) -> dict[str, Any]:
    """Return the raw tables of `text`; raise ConfigError with line and column if it is no TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), text, source) from None
    except RecursionError:
        raise ConfigError(f"{source}: nested too deeply", "noface.toml needs no lists within lists") from None


def _syntax_error(message: str, text: str, source: str) -> ConfigError:
    hint = "noface.toml is TOML (https://toml.io): text stands in quotes, lists in brackets"
    lines = text.split("\n")
    if match := _AT_LINE.search(message):
        line, column = int(match[1]), int(match[2])
    elif _AT_END.search(message):
        line = len(lines) if lines[-1] else max(len(lines) - 1, 1)
        column = len(lines[line - 1]) + 1
    else:
        return ConfigError(f"{source}: {message}", hint)
    what = _AT_END.sub("; the file ends too early", _AT_LINE.sub("", message))
    text_line = lines[line - 1].rstrip("\r")
    # Tabs are kept in the pointer's margin, so that it stands under the place however wide they are.
    margin = re.sub(r"[^\t]", " ", text_line[: column - 1])
    number = f"{line:>5} | "
    pointer = " " * (len(number) - 2) + "| " + margin + "^"
    return ConfigError(f"{source}:{line}:{column}: {what}\n{number}{text_line}\n{pointer}", hint)
