"""Takes scripts of shell apart into simple commands, without running anything."""

import re
import shlex
from collections.abc import Iterator

from noface.detection.files import is_inner

CONTROL = re.compile(
    r"^\s*(if|for|while|until|case|function|select)\b|<<-?\s*['\"]?\w|\$\(\(|^\s*\w+\s*\(\)", re.MULTILINE
)
ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
VARIABLE = re.compile(r"\$(?!PWD\b)[\w{(@*]|\$\{\{|\{\{|`")


def quoted(word: str) -> str:
    """Return a word as the shell reads it; globs stay globs."""
    return word if re.fullmatch(r"[\w@%+=:,./*?\[\]~-]+", word) else shlex.quote(word)


def simple_commands(line: str) -> Iterator[list[str]]:
    """Yield the simple commands of a line of shell, as words; a pipe's first command stands for it."""
    text = line.strip()
    if not text or text.startswith("#"):
        return
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        tokens = list(lexer)
    except ValueError:
        return
    words: list[str] = []
    skipping = False
    for token in [*tokens, ";"]:
        if token in {";", "&&", "||", "&", "(", ")", "|"}:
            if words:
                yield words
            words, skipping = [], token in {"|", "||"}
        elif re.fullmatch(r"[<>&]+", token):
            skipping = True
            words = words[:-1] if words and words[-1].isdigit() else words
        elif not skipping:
            words.append(token)


def joined_folder(folder: str, to: str) -> str:
    """Return where `cd` leads from a folder, "?" where files do not say."""
    if VARIABLE.search(to) or to.startswith("/"):
        return "?"
    parts: list[str] = [part for part in folder.split("/") if part]
    for part in to.split("/"):
        if part == "..":
            if not parts:
                return "?"
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def inside(folder: str) -> bool:
    """Tell whether a folder is known, and lies in the project."""
    return not folder or ("?" not in folder and "$" not in folder and is_inner(folder))


def module_words(words: list[str]) -> list[str] | None:
    """Return what `python -m` starts, None where it starts something else."""
    rest = words[1:]
    while rest and re.fullmatch(r"-[a-zA-Z]+", rest[0]):
        option = rest[0]
        if option.endswith("m"):
            return rest[1:]
        if option.endswith("c"):
            return None
        rest = rest[2:] if option[-1] in "WX" else rest[1:]
    return None
