"""Which commands an issue on a code host may name as its `accept`: those that the project's gates have already.

noface runs `accept` by a shell, and an issue's body is written by anyone. So commands are taken as words only: a gate's
own program, and sub-command if it has one, with further arguments, which are quoted anew.
"""

import re
import shlex
from collections.abc import Iterable
from functools import cache

from noface.data import table
from noface.model.command_line import apart
from noface.model.listed import IssueFault
from noface.model.quoting import literal
from noface.recovery.breakdown_rules import after_runner

_SHELL = re.compile(r"[;&|<>$`\\\n\r(){}*?~#!]")
_FILE_OR_SETTING = re.compile(r"[/.=]")
_SHELLS = frozenset({"bash", "dash", "fish", "ksh", "sh", "zsh"})
_FORMS_LISTED_MAX = 6


def taken_accept(command: str, gates: Iterable[str]) -> str | None:
    """Return the command as it may be run, None if it has the form of no gate's command."""
    known = tuple(gates)
    if command in known:
        return command
    for gate in known:
        variables, _ = apart(gate)
        form, words = gate_form(gate), _words(command.removeprefix(variables))
        if form and words[: len(form)] == form:
            return variables + shlex.join(words)
        if form and (start := _start(form, words)) is not None:
            return variables + shlex.join(form + words[start:])
    return None


def _start(form: tuple[str, ...], words: tuple[str, ...]) -> int | None:
    after = after_runner(words) if after_runner(form) is not None else None
    if after is None:
        same = _names(words[: len(form)]) == _names(form)
        return len(form) if same and words else None
    return after if _runner(words[:after]) == _runner(form) else None


def _names(words: tuple[str, ...]) -> tuple[str, ...]:
    return (words[0].rpartition("/")[2], *words[1:]) if words else ()


def _runner(form: tuple[str, ...]) -> tuple[str, ...]:
    last = form[-1].rpartition("/")[2]
    return (last,) if last in table("runners")["names"] else (form[-2].rpartition("/")[2], last)


def refused_accept(command: str, gates: Iterable[str]) -> tuple[str, str]:
    """Word problem and hint for a command that is not taken."""
    forms = dict.fromkeys(f"`{shlex.join(form)} …`" for gate in gates if (form := gate_form(gate)))
    listed = ", ".join(list(forms)[:_FORMS_LISTED_MAX])
    can = f"Commands of this project's gates are taken, with other arguments: {listed}." if listed else ""
    why = "no command of an issue's text is run unless a gate of noface.toml begins like it"
    if _SHELL.search(command):
        why += ", and it holds characters that are the shell's"
    return f"accept {literal(command)} is left out: {why}", can or "Add a gate to noface.toml that begins like it."


def part_accepted(
    commands: Iterable[str], gates: tuple[str, ...], source: str, own_id: str
) -> tuple[tuple[str, ...], list[IssueFault]]:
    """Part the commands that are taken from warnings about those that are not."""
    accepted: dict[str, None] = {}
    warnings = []
    for command in dict.fromkeys(commands):
        allowed = taken_accept(command, gates)
        if allowed is not None:
            accepted[allowed] = None
        else:
            warnings.append(IssueFault(source, *refused_accept(command, gates), own_id))
    return tuple(accepted), warnings


@cache
def gate_form(gate: str) -> tuple[str, ...]:
    """Return the words that a gate's command and its like begin with; () for a command that is more than one.

    Behind a runner of tests come tests and options; of other programs the words before the first option or file count.
    """
    words = _words(apart(gate)[1])
    if not words:
        return ()
    if (after := after_runner(words)) is not None:
        return words[:after]
    starters = _SHELLS.union(table("programs")["wrappers"])
    form = words[:1]
    for word in words[1:]:
        starts = form[-1].rpartition("/")[2] in starters  # what it starts says what it does
        if word != "-m" and word.startswith("-"):
            return () if starts else form
        if not starts and _FILE_OR_SETTING.search(word):
            return form
        form += (word,)
    return form if form[-1].rpartition("/")[2] not in starters else ()


def _words(command: str) -> tuple[str, ...]:
    if _SHELL.search(command) or not command.isprintable():
        return ()
    if "'" not in command and '"' not in command:
        return tuple(command.split())
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()
