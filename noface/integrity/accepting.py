"""What an issue's `accept` reads and misses: which of that is for its work, and what can never show that it is done.

Pure. What is missing is the machine's fault only if nothing of the issue could bring it (docs/issues.md).
"""

import posixpath
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import dropwhile

from noface.data import pattern, table
from noface.diagnosis.known_causes import final_error_of
from noface.integrity.judges import Part, part_of
from noface.integrity.named_files import called_programs, named_paths, simple_commands
from noface.model.failure import Failure
from noface.model.gate import GateSpec
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.protection import named_exactly
from noface.model.quoting import literal

_WORD = re.compile(r"[^\s'\"`‘’“”:,;()\[\]<>=]+")
_QUOTED = re.compile(r"[‘'\"`“]([^‘’'\"`“”\n]{1,200})[’'\"`”]")
_LOOPBACK = re.compile(r"\blocalhost\b|\b127(?:\.\d{1,3}){3}\b|::1\b")
_REFUSED = re.compile(r"\bECONNREFUSED\b|\b(?:Errno|os error) 111\b|[Cc]onnection refused")
_ELSEWHERE = re.compile(r"(?:[\w-]{1,63}\.){1,9}[A-Za-z]{2,20}(?::| port )\d")
_NAME = re.compile(r"[\w.+@-]+")
_INTERPRETER = re.compile(r"(?:bash|dash|sh|zsh|ksh|source|\.|node|deno|bun|ruby|perl|php|lua|Rscript|python[\d.]*)$")
_PLAIN = re.compile(r"[A-Z./]")
_LINES_MAX = 40
OUT_OF_REACH = "accept-out-of-reach"
"""The rule of an `accept` that needs a file which main has not and the issue's `paths` keep the work from making."""


def of_its_work(
    failure: Failure, on_main: Failure | None, command: str, new: Mapping[str, str], tree: Collection[str]
) -> str:
    """Say why a work is to blame for what its `accept` misses; "" if the machine may be.

    `on_main` is main's own failure at the command, `new` the lines that the change brings by path, `tree` all files.
    """
    lines = _lines(failure)
    refused = any(map(_REFUSED.search, lines)) and not any(map(_ELSEWHERE.search, lines))
    loopback = refused or any(map(_LOOPBACK.search, lines))
    if failure.rule in table("integrity")["accept"]["of_machine"] or (final_error_of(failure) and not loopback):
        return ""
    if on_main is not None and (failure.signature or failure.message) == (on_main.signature or on_main.message):
        return "main's own accept misses it as well: the work is to bring it"
    if loopback:
        return "what answers there is what the work starts"
    words, subjects = _words(failure), set(_subjects(failure))
    if (lacking := missing_paths(failure, command, tree)) or not words.isdisjoint(new):
        return f"{', '.join((*lacking, *sorted(words & new.keys()))[:2])} belongs to the checkout"
    called = set(called_programs(command))
    brought = (name for name in sorted(subjects - called) for text in new.values() if name in _WORD.findall(text))
    return f"the change calls {name}" if (name := next(brought, "")) else ""


def added(before: str, now: str) -> str:
    lines = frozenset(before.splitlines())
    return "\n".join(line for line in now.splitlines() if line not in lines)


def without_place(failure: Failure, slots: Iterable[str]) -> Failure:
    """Return the failure with paths as they are below the top of the checkout that lies at one of `slots`."""
    shorter = "|".join(re.escape(slot) for slot in slots if slot)
    message, *evidence = (re.sub(rf"(?:{shorter})/", "", text) for text in (failure.message, *failure.evidence))
    return replace(failure, message=message, evidence=tuple(evidence))


def missing_paths(failure: Failure, command: str, tree: Collection[str]) -> tuple[str, ...]:
    """Return the paths of the checkout that a failure names and the tree has not."""
    arguments = {posixpath.normpath(word) for part in simple_commands(command) for word in part[1:]}
    programs = set(called_programs(command))
    names = (word for word in sorted(_words(failure)) if word not in programs or "/" in word)
    inner = (word for word in names if ("/" in word or word in arguments) and not word.startswith(("/", "..")))
    there = {*tree, *(posixpath.dirname(path) for path in tree)}
    return tuple(word for word in inner if word not in there)


def _lines(failure: Failure) -> list[str]:
    return [line for text in (failure.message_alone, *failure.evidence) for line in text.splitlines()][:_LINES_MAX]


def _words(failure: Failure) -> set[str]:
    found = (word for line in _lines(failure) for word in _WORD.findall(line))
    words = {posixpath.normpath(word) for word in (*found, (failure.location or "").partition(":")[0]) if word}
    return {word for word in words if word not in (".", "..")}


def _subjects(failure: Failure) -> Iterator[str]:
    """Yield what deciding lines may be about: what is quoted, and what stands before the last words."""
    for line in _lines(failure):
        yield from (name for name in _QUOTED.findall(line) if _NAME.fullmatch(name))
        fields = [field.strip() for field in line.split(": ")]
        if len(fields) > 1 and _NAME.fullmatch(fields[-2]):
            yield fields[-2]


def its_work(path: str, issue: Issue) -> bool:
    """True if a file that `accept` reads is for the issue's work to change: its `paths` or its text names it.

    So it is if others judge what it holds or prints. A test judges, and so does a script that is a whole command,
    unless the title names it, or `paths` without a wildcard.
    """
    if issue.parent is not None:  # a model has written it
        return False
    if path in {name.removeprefix("./").strip("/") for name in named_exactly(issue)}:
        return True
    return not _judges(path, issue) and (is_named(path, issue) or _is_judged(path, issue.accept))


_SETS = re.compile(r"\s*[A-Za-z_]\w*=")


def _judges(path: str, issue: Issue) -> bool:
    judging = (command for command in issue.accept if not _SETS.match(command))  # who sets variables runs a product
    return _is_check(path) or (path in whole_scripts(judging) and not is_named(path, replace(issue, body="", paths=())))


def _is_judged(path: str, commands: Iterable[str]) -> bool:
    """True if all that commands do with a file is to read it, or to hand on what it prints."""
    readers, uses = table("integrity")["accept"]["readers"], []
    for command in commands:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = [*lexer]
        except ValueError:
            return False
        start = 0
        for at in (at for at, word in enumerate((*words, ";")) if not word.strip("|&;()")):
            part, end = words[start:at], (*words, ";")[at]
            if path in {word.removeprefix("./") for word in part}:
                program = part[0].rpartition("/")[2]
                runs = _INTERPRETER.match(program) is not None or part[0].removeprefix("./") == path
                uses.append(program in readers or (runs and end == "|"))
            start = at + 1
    return bool(uses) and all(uses)


def _is_check(path: str) -> bool:
    by_name = pattern("integrity", "accept", "judging", re.IGNORECASE)
    return part_of(path) is Part.TEST or by_name.search(path) is not None


def is_named(path: str, issue: Issue) -> bool:
    names = {path, path.rpartition("/")[2]}
    plain = "|".join(re.escape(name) for name in names if _PLAIN.search(name)) or "(?!)"
    quoted = "|".join(map(re.escape, names))
    named = re.compile(rf"(?<![\w/.-])(?:\./)?(?:{plain})(?![\w/]|[.-]\w)|`(?:{quoted})`")
    return matches_any(path, issue.paths) or any(map(named.search, (issue.title, issue.body)))


def whole_scripts(commands: Iterable[str], *, words_max: int = 1) -> tuple[str, ...]:
    """Return the scripts that are all of a command, with at most so many words: their exit code is its verdict."""
    scripts = []
    for command in commands:
        parts = [words for words in simple_commands(command) if words and words[0] != "cd"]
        words = parts[0] if len(parts) == 1 else []
        by_name = words[1:] if words and _INTERPRETER.match(words[0].rpartition("/")[2]) else []
        own = [*dropwhile(lambda word: word.startswith("-"), by_name)]
        own = own or (words if words and "/" in words[0] else [])
        scripts += [own[0].removeprefix("./")] if 0 < len(own) <= words_max else []
    return tuple(scripts)


def of_gates(issue: Issue, gates: Iterable[GateSpec]) -> dict[str, str]:
    """Return the commands of `accept` that are a gate's, by which gate: main passes them whatever the issue is."""
    known = {" ".join(gate.command.split()): gate.name for gate in gates if gate.hard}
    return {each: known[" ".join(each.split())] for each in issue.accept if " ".join(each.split()) in known}


def without_gates(issue: Issue, gates: Iterable[GateSpec]) -> Issue:
    """Return the issue without commands that are a gate's: it is worked on, and they run as gates."""
    known = of_gates(issue, gates) if issue.accept else {}
    return replace(issue, accept=tuple(each for each in issue.accept if each not in known)) if known else issue


def out_of_reach(issue: Issue, paths: Collection[str]) -> str:
    """Say which file `accept` needs that main has not and the issue's `paths` do not let the work make; "" if none."""
    folders = {posixpath.dirname(path) for path in paths}
    wanted = (name for name in named_paths(issue.accept) if "/" in name and posixpath.dirname(name) in folders)
    plain = (name for name in wanted if _NAME.fullmatch(name.rpartition("/")[2]) and "." in name.rpartition("/")[2])
    allowed = (*issue.paths, *issue.may_change)
    lacking = (name for name in plain if name not in paths and name not in folders and not matches_any(name, allowed))
    name = next(lacking, "") if issue.paths else ""
    return f"accept needs {name}, which main has not, and `paths` does not let the work make it" if name else ""


def notes_on(issue: Issue, gates: Iterable[GateSpec], paths: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what shows nothing, or may be in the way, of an issue's `accept`, each with what to do."""
    for command, gate in of_gates(issue, gates).items():
        what = f"accept {literal(command)} is the gate {gate}, which main passes: it shows nothing of this issue"
        yield f"{what}, and is left out", "Name a command that fails until the issue is done, or none."
    read = (path for path in named_paths(issue.accept) if path in paths and not its_work(path, issue))
    for path in read if issue.parent is None else ():
        if is_named(path, issue) and not _is_check(path):
            what = f"accept is judged by {path}, so no worker may change it, and the issue speaks of it"
            yield what, f'If it is to be changed, write it out: paths = ["{path}"], beside what else may be.'
