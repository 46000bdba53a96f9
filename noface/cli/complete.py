"""Answers a shell's Tab: what the scripts of `noface --show-completion` ask by the variable _NOFACE_COMPLETE.

A person is in the middle of a line: whatever goes wrong, nothing is printed but candidates. What is shown beside them,
such as an issue's title, may be anybody's text, and zsh evaluates the answer: so noface words the answers itself.
"""

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from noface.ui.text import clean

if TYPE_CHECKING:
    import typer

_VARIABLE = "_NOFACE_COMPLETE"
_SHELLS = {"complete_bash": "bash", "complete_zsh": "zsh", "complete_fish": "fish"}
_FILES_MAX = 500


class TypedLine(NamedTuple):
    """A command line up to the cursor: the whole words behind `noface`, and the one that is begun."""

    words: tuple[str, ...]
    begun: str

    @property
    def verb(self) -> str | None:
        """The verb, if it is a whole word."""
        return next((word for word in self.words if not word.startswith("-")), None)


class Word(NamedTuple):
    """A word that can stand at the cursor; `hint` is shown beside it where the shell can."""

    value: str
    hint: str = ""


def asked_shell() -> str | None:
    """Return the shell that asks for candidates, None if noface is to work."""
    return _SHELLS.get(os.environ.get(_VARIABLE, ""))


def answer(shell: str, build: "Callable[[str | None], typer.Typer]") -> int:
    """Print the candidates for the line that the shell tells of; return the exit code that it expects."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    line_answer: tuple[list[Word], bool] = ([], False)
    with suppress(Exception):
        line = _bash_line() if shell == "bash" else _typed_line(os.environ.get("_TYPER_COMPLETE_ARGS", ""))
        line_answer = _candidates(line, build)
    candidates, files = line_answer
    if shell == "fish" and os.environ.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return int(not (candidates or files))
    text = {"bash": _for_bash, "zsh": _for_zsh, "fish": _for_fish}[shell](candidates, files=files)
    sys.stdout.write(text)
    sys.stdout.flush()
    return 0


def _bash_line() -> TypedLine:
    """Return the line that bash tells of. It makes a word of the sign in `--option=value`."""
    words, at = os.environ["COMP_WORDS"].split("\n"), int(os.environ["COMP_CWORD"])
    whole = [_unquoted(word) for word in words[1:at] if word != "="]
    begun = words[at] if at < len(words) else ""
    return TypedLine(tuple(whole), "" if begun == "=" else _unquoted(begun))


def _typed_line(text: str) -> TypedLine:
    """Return the line that zsh and fish tell of, which ends at the cursor."""
    words = _split(text)[1:]
    begun = words.pop() if words and not text[-1:].isspace() else ""
    return TypedLine(tuple(words), begun)


def _split(text: str) -> list[str]:
    """Return a line's words; quotes that are still open end where it does."""
    for end in ("", "'", '"'):
        with suppress(ValueError):
            return shlex.split(text + end)
    return text.split()


def _unquoted(word: str) -> str:
    return next(iter(_split(word)), "")


def _candidates(line: TypedLine, build: "Callable[[str | None], typer.Typer]") -> tuple[list[Word], bool]:
    """Return the candidates, and whether files can stand there."""
    from typer._completion_classes import BashComplete
    from typer.main import get_command

    completion = BashComplete(get_command(build(line.verb)), {}, "noface", _VARIABLE)
    option, sign, _ = line.begun.partition("=")
    before = option + sign if sign and option.startswith("-") and _asks_whole_words() else ""
    items = completion.get_completions(list(line.words), line.begun)
    candidates = [Word(before + str(item.value), clean(item.help or "")) for item in items if item.type == "plain"]
    takes_value = bool(line.words) and line.words[-1].startswith("-")
    return candidates, not candidates and (takes_value or "/" in line.begun)


def _asks_whole_words() -> bool:
    return "COMP_WORDS" not in os.environ


def _for_bash(candidates: Sequence[Word], *, files: bool) -> str:
    """One value a line; without any, bash's `-o default` offers files."""
    del files
    return "\n".join(each.value for each in candidates)


def _for_zsh(candidates: Sequence[Word], *, files: bool) -> str:
    """Return code: `eval` gets it in one line, each text quoted whole."""
    if not candidates:
        return "_files" if files else ":"
    rows = [each.value.replace(":", "\\:") + (f":{each.hint}" if each.hint else "") for each in candidates]
    listed = " ".join(shlex.quote(text) for text in rows)
    return f"local -a noface_candidates; noface_candidates=({listed}); _describe -V noface noface_candidates"


def _for_fish(candidates: Sequence[Word], *, files: bool) -> str:
    """One value a line, with its hint behind a tab; its script asks for no files, so they are listed here."""
    if files and not candidates:
        return "\n".join(_files(_typed_line(os.environ.get("_TYPER_COMPLETE_ARGS", "")).begun))
    return "\n".join(f"{each.value}\t{each.hint}" if each.hint else each.value for each in candidates)


def _files(begun: str) -> list[str]:
    folder, slash, name = begun.rpartition("/")
    paths: list[str] = []
    with suppress(OSError), os.scandir(folder + slash or ".") as entries:
        fitting = (each for each in entries if each.name.startswith(name) and each.name.isprintable())
        paths = [folder + slash + each.name + ("/" if each.is_dir() else "") for each in islice(fitting, _FILES_MAX)]
    return sorted(paths)
