"""Finds noface.toml, reads it, and returns a sound Config or says everything that is wrong with it."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noface.config.lines import Layout
from noface.errors import ConfigError

if TYPE_CHECKING:
    from noface.config.sections import Config


FILE_NAMES = ("noface.toml", ".noface.toml")

_AT_LINE = re.compile(r"\s*\(at line (\d+), column (\d+)\)$")
_AT_END = re.compile(r"\s*\(at end of document\)$")


def find(root: Path, explicit: Path | None) -> Path:
    """Return `explicit` if given, else the configuration at `root`, the top of the repository. Raise ConfigError."""
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
    return load_at(find(root, explicit), explicit)


def load_at(path: Path, explicit: Path | None = None) -> "Config":
    return parse(read(path), path.name if explicit is None else str(path))


def name_of(root: Path, explicit: Path | None) -> str:
    return find(root, explicit).name if explicit is None else str(explicit)


def load_tables(root: Path, explicit: Path | None) -> Mapping[str, Any]:
    path = find(root, explicit)
    return tables(read(path), str(path))


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
        raise InvalidConfigError(source, located(problems, Layout(text).lines))
    return config


def tables(text: str, source: str) -> Mapping[str, Any]:
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
    return ConfigError(f"{source}:{line}:{column}: {what}\n{line:>5} | {text_line}", hint)
