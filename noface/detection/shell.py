"""Takes scripts of shell apart into simple commands, without running anything.

For one combination of a matrix settled conditions are left out, and known values put in the place of variables.
"""

import re
import shlex
from collections.abc import Iterator

from noface.detection.detected import CI
from noface.detection.files import is_inner

CONTROL = re.compile(
    r"^\s*(if|for|while|until|case|function|select)\b|<<-?\s*['\"]?\w|\$\(\(|^\s*\w+\s*\(\)", re.MULTILINE
)
ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
VARIABLE = re.compile(r"\$(?!PWD\b)[\w{(@*]|\$\{\{|\{\{|`")
_NO_GLOB = {ord("*"): "\ue02a", ord("?"): "\ue03f"}
"""What stands for `*` and `?` that the shell leaves alone, so that a word says which of its own it would replace."""
_GLOB = {ord(hidden): chr(code) for code, hidden in _NO_GLOB.items()}
_ASIDE = re.compile(r"\\(.)|'([^']*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
"""What is quoted: the shell replaces no glob there."""
_FOR_LATER_STEPS = re.compile(r"\$\{?GITHUB_(ENV|OUTPUT|PATH|STATE)\b")
_NEVER_FAILS = re.compile(r"true|:|echo|printf")


def literal(word: str) -> str:
    """Return a word that no shell has replaced globs in, or ever will."""
    return word.translate(_NO_GLOB)


def plain(word: str) -> str:
    """Return a word as a program is given it."""
    return word.translate(_GLOB)


def quoted(word: str) -> str:
    """Return a word as the shell reads it; globs stay globs."""
    text = plain(word)
    return text if text == word and re.fullmatch(r"[\w@%+=:,./*?\[\]~-]+", text) else shlex.quote(text)


def simple_commands(line: str) -> Iterator[list[str]]:
    """Yield the simple commands of a line of shell that have to succeed, as words; a pipe's first stands for it.

    What `|| true` follows may fail, and what writes variables for the next steps of a job checks nothing.
    """
    text = line.strip()
    if not text or text.startswith("#"):
        return
    try:
        hidden = _ASIDE.sub(lambda match: literal(match[0]), text)
        lexer = shlex.shlex(hidden, posix=True, punctuation_chars="();<>|&")
        # Else a word would end at each `@`, `:`, `[` or `$`, which shlex does not count among its letters.
        lexer.whitespace_split = True
        parts = list(lexer)
    except ValueError:
        return
    chain: list[list[str]] = []
    words: list[str] = []
    skipping = False
    for part, after in zip([*parts, ";"], [*parts[1:], ";", ";"], strict=True):
        if part in {";", "&&", "||", "&", "(", ")", "|"}:
            chain += [words] if words else []
            words, skipping = [], part in {"|", "||"}
            if part == "||" and _NEVER_FAILS.fullmatch(after):
                # What may fail checks nothing, but where it leads the commands after it run.
                chain = [each for each in chain if each[0] in {"cd", "pushd"}]
            if part in {";", "&"}:
                # Only now it is certain that no `|| true` comes behind them.
                yield from chain
                chain = []
        elif re.fullmatch(r"[<>&]+", part):
            skipping = True
            # The 2 of `2>&1` names a stream, and shlex has made a word of it.
            words = words[:-1] if words and words[-1].isdigit() else words
            words = [] if _FOR_LATER_STEPS.match(after) else words
        elif not skipping:
            words.append(part)


def in_folder(words: list[str], folder: str) -> tuple[list[str], str]:
    """Return a command without the option that has it work in another folder, and that folder."""
    options = CI["folder_options"].get(words[0], ()) if words else ()
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in options and (equals or index + 1 < len(words)):
            rest = words[index + 1 :] if equals else words[index + 2 :]
            return [*words[:index], *rest], joined_folder(folder, value if equals else words[index + 1])
    return words, folder


def joined_folder(folder: str, to: str) -> str:
    """Return where `cd` leads from a folder, "?" if files do not say."""
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
    """True if a folder is known, and lies in the project."""
    return not folder or ("?" not in folder and "$" not in folder and is_inner(folder))


def module_words(words: list[str]) -> list[str] | None:
    """Return what `python -m` starts, None if it starts something else."""
    rest = words[1:]
    while rest and re.fullmatch(r"-[a-zA-Z]+", rest[0]):
        option = rest[0]
        if option.endswith("m"):
            return rest[1:]
        if option.endswith("c"):
            return None
        # -W and -X take the next word; all other options of Python stand alone.
        rest = rest[2:] if option[-1] in "WX" else rest[1:]
    return None


_IF = re.compile(r"^(?P<word>if|elif)\s+(?P<test>.*?)\s*(;\s*then)?$")
_ASSIGNMENT = re.compile(r"^(?:export\s+)?([A-Za-z_]\w*)=(\"[^\"$`]*\"|'[^'$`]*'|[\w./+:=-]*)$")
_USED = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def settled(script: str) -> str:
    """Return a script without conditions that compare what is written out; as it is if another one is in it."""
    lines = [line.strip() for line in script.replace("\\\n", " ").split("\n")]
    if not any(_IF.match(line) for line in lines):
        return script
    try:
        return "\n".join(_branches(lines))
    except ValueError:
        return script


def _branches(lines: list[str]) -> Iterator[str]:
    """Yield the lines that run. Raise ValueError if that can't be told."""
    # Of each condition that is open: whether its branch runs, and whether one of its branches has been decided.
    open_: list[tuple[bool, bool]] = []
    values: dict[str, str] = {}
    for line in lines:
        runs = all(branch for branch, _ in open_)
        if condition := _IF.match(line):
            decided = open_.pop()[1] if condition["word"] == "elif" and open_ else False
            outer = all(branch for branch, _ in open_)
            holds = outer and not decided and _holds(filled_in(condition["test"], values))
            open_.append((holds, decided or holds))
        elif line == "else" and open_:
            decided = open_.pop()[1]
            open_.append((not decided, True))
        elif line == "fi" and open_:
            open_.pop()
        elif runs and line != "then":
            filled = filled_in(line, values)
            values |= assigned(filled)
            yield filled
    if open_:
        raise ValueError("a condition without an end")


def assigned(line: str) -> dict[str, str]:
    """Return the variable that a line sets to what is written out there, if it does."""
    match = _ASSIGNMENT.match(line)
    return {match[1]: match[2].strip("\"'")} if match else {}


def filled_in(line: str, values: dict[str, str]) -> str:
    """Return a line with the values that are known in the place of their variables."""
    return _USED.sub(lambda match: values.get(match[1] or match[2], match[0]), line)


def _holds(test: str) -> bool:
    if re.search(r"[$`;&|(]", test):
        raise ValueError(test)
    match shlex.split(test):
        case ["[" | "[[", one, "=" | "==", other, "]" | "]]"]:
            return one == other
        case ["[" | "[[", one, "!=", other, "]" | "]]"]:
            return one != other
        case ["[" | "[[", ("-n" | "-z") as asks, one, "]" | "]]"]:
            return bool(one) == (asks == "-n")
        case _:
            raise ValueError(test)
