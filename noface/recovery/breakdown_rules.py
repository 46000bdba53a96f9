"""The rules that the parts of a breakdown must keep; `recovery/breakdown.py` lists them. Each fault is one sentence.

noface runs `accept` by a shell, and what a model writes may come from a file that it read. So a command of a model is
taken only as words, quoted anew: one that the project has already, or one of its test runners with other tests.
"""

import re
import shlex
from dataclasses import dataclass

from noface.data import pattern, table
from noface.model.command_line import apart
from noface.model.issue import Issue
from noface.model.patterns import is_file_name, path_problem, within
from noface.model.quoting import literal

_TEST = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./:\[\]@,+-]*")
_SHELL = re.compile(r"[;&|<>$`\\\n(){}*?~#!]")
_FORMS_LISTED_MAX = 5


@dataclass(frozen=True, slots=True)
class AcceptForms:
    """The commands of the project's gates and of the issue; with `drop` what is refused is left out, and no fault."""

    known: tuple[str, ...] = ()
    drop: bool = False

    def allowed(self, command: str) -> str | None:
        """Return the command as it may be run, None if it may not."""
        if command in self.known:
            return command
        if not command.isprintable():
            return None
        for known in self.known:
            variables, rest = apart(known)
            start, words = _runner(rest), _words(command.removeprefix(variables))
            tests = words[len(start) :]
            if start and words[: len(start)] == start and tests and all(map(_is_test, tests)):
                return variables + shlex.join(words)
        return None

    @property
    def listed(self) -> str:
        forms = [f"`{command}`" for command in self.known]
        forms += [f"`{shlex.join(start)} TESTS`" for command in self.known if (start := _runner(apart(command)[1]))]
        names = list(dict.fromkeys(forms))[: 2 * _FORMS_LISTED_MAX]
        return ", ".join(names) if names else "none: leave accept empty, the project's gates judge the part"


def _runner(command: str) -> tuple[str, ...]:
    """Return the words of a command up to the tests it runs; () if other tests cannot be given to it."""
    runners = table("runners")
    words = () if _SHELL.search(command) else _words(command)
    after = after_runner(words)
    if after is None:
        return ()
    end = len(words)
    while end > after and _is_test(words[end - 1]) and words[end - 1] not in runners["subcommands"]:
        end -= 1
    # The last word before them may be a flag that takes the first of them as its value.
    if end < len(words) and end > after and not pattern("runners", "flags", "alone").fullmatch(words[end - 1]):
        return words[:end] if words[end - 1] in runners["subcommands"] else words[: end + 1]
    return words[:end]


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


def after_runner(words: tuple[str, ...]) -> int | None:
    """Return the place behind the words that name a test runner, None if none is known."""
    runners = table("runners")
    for place, word in enumerate(words):
        name = word.rpartition("/")[2]
        if name in runners["names"]:
            return place + 1
        if [name, *words[place + 1 : place + 2]] in runners["pairs"]:
            return place + 2
    return None


def _is_test(word: str) -> bool:
    return _TEST.fullmatch(word) is not None and "//" not in word and ".." not in re.split(r"[/:]", word)


_SHOWN_PATHS_MAX = 5
_ALWAYS_GREEN = re.compile(r"(?:(?:true|:|echo|printf|exit 0)(?:\s[^;&|]*)?|\[ 1 \])")


@dataclass(frozen=True, slots=True)
class Proposed:
    """A part as the planner proposed it, stripped. `covers` are places in the parent's accept commands."""

    key: str
    title: str
    body: str
    paths: tuple[str, ...]
    accept: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    covers: frozenset[int] = frozenset()


def part_faults(part: Proposed, parent: Issue) -> tuple[str, ...]:
    """Return what is wrong with a part by itself, beyond what the schema of the answer asks for."""
    name = f"part {literal(part.key)}"
    faults = [f"{name}: a title of printable characters is expected"] if not part.title.isprintable() else []
    faults += [f"{name}: {fault}" for path in part.paths if (fault := _path_fault(path, parent))]
    if _text(part.title, part.body) == _text(parent.title, parent.body):
        faults.append(f"{name} has the text of the issue itself; a part must ask for less")
    faults += [f"{name}: {fault}" for command in part.accept if (fault := _command_fault(command))]
    return tuple(faults)


def graph_faults(parts: tuple[Proposed, ...]) -> tuple[str, ...]:
    """Return what is wrong with keys, dependencies and repetitions."""
    keys = [part.key for part in parts]
    twice = dict.fromkeys(key for key in keys if keys.count(key) > 1)
    if twice:
        return tuple(f"the key {literal(key)} stands for more than one part" for key in twice)
    faults = []
    for part in parts:
        strange = [key for key in part.depends_on if key not in keys]
        if strange:
            known = ", ".join(literal(key) for key in keys)
            faults.append(
                f"part {literal(part.key)}: depends_on names {literal(strange[0])}, which is no part ({known})"
            )
    if not faults and (waiting := _in_a_cycle(parts)):
        faults.append(f"the parts {', '.join(literal(key) for key in waiting)} wait for each other; break the cycle")
    return tuple(faults)


def acceptance_faults(parts: tuple[Proposed, ...], parent: Issue) -> tuple[str, ...]:
    covered = frozenset().union(*(part.covers for part in parts))
    lacking = (place for place in range(len(parent.accept)) if place not in covered)
    return tuple(f"no part covers accept command {place}: {literal(parent.accept[place])}" for place in lacking)


def form_faults(parts: tuple[Proposed, ...], forms: AcceptForms) -> tuple[str, ...]:
    refused = [(part, command) for part in parts for command in part.accept if forms.allowed(command) is None]
    return tuple(
        f"part {literal(part.key)}: the accept command {literal(command)} is not the project's; allowed: {forms.listed}"
        for part, command in refused
    )


def size_faults(parts: tuple[Proposed, ...]) -> tuple[str, ...]:
    """Return the parts that are no smaller than the whole: what holds the paths of all others holds all there is."""
    whole = {path for part in parts for path in part.paths}
    if len(whole) == 1 and is_file_name(next(iter(whole))):
        return ()
    faults = []
    for place, part in enumerate(parts):
        rest = {path for other in parts[:place] + parts[place + 1 :] for path in other.paths}
        if all(any(within(path, own) for own in part.paths) for path in rest):
            faults.append(
                f"the paths of part {literal(part.key)} hold those of all other parts; give each part files of its own"
            )
    return tuple(faults)


def _path_fault(path: str, parent: Issue) -> str | None:
    problem = path_problem(path)
    if problem is not None or not parent.paths or any(within(path, pattern) for pattern in parent.paths):
        return problem
    allowed = ", ".join(literal(pattern) for pattern in parent.paths[:_SHOWN_PATHS_MAX])
    return f"the path {literal(path)} is not within the issue's paths ({allowed})"


def _command_fault(command: str) -> str | None:
    if not command.isprintable() or not command:
        return "an accept command must be one line of printable text"
    if _ALWAYS_GREEN.fullmatch(command):
        return f"the accept command {literal(command)} can never fail, so it proves nothing"
    return None


def _text(title: str, body: str) -> tuple[str, str]:
    return " ".join(title.split()).casefold(), " ".join(body.split()).casefold()


def _in_a_cycle(parts: tuple[Proposed, ...]) -> list[str]:
    waiting = {part.key: set(part.depends_on) for part in parts}
    while free := [key for key, needs in waiting.items() if not needs]:
        for key in free:
            del waiting[key]
        for needs in waiting.values():
            needs.difference_update(free)
    return list(waiting)
