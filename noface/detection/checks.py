"""What CI checks, as commands of a known kind, and which of them do the same."""

import re
from dataclasses import dataclass, field
from typing import Any

from noface.detection.detected import CI, GateKindName, Needs
from noface.detection.shell import VARIABLE, quoted

Kind = tuple[Any, str]
"""A kind of gate, "" if it is none, and the ecosystem that it runs in, "" for the shell as it is."""
_COMMANDS = tuple((each["kind"], each.get("of", ""), re.compile(each["pattern"])) for each in CI["commands"])
_NAMES = tuple((each["kind"], re.compile(each["pattern"])) for each in CI["names"])


@dataclass(frozen=True, slots=True)
class CiCheck:
    """A command that CI runs on a change: `words` without what only starts it, `of` the ecosystem it runs in."""

    words: tuple[str, ...]
    kind: GateKindName
    of: str
    where: str
    folder: str = ""
    env: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The command as the shell reads it."""
        return " ".join(quoted(word) for word in self.words)

    @property
    def name(self) -> str:
        """What a gate of it is called: the tool, and its part."""
        program, *rest = self.words
        rest = rest[1:] if rest[:1] in (["run"], ["run-script"]) else rest
        words = [program.rsplit("/", 1)[-1]]
        if program in CI["named_by_part"] and (program, *rest[:1]) != ("ruff", "check"):
            words += [word for word in rest[:1] if re.fullmatch(r"[A-Za-z][\w:-]*", word)]
        return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(words)).strip("-").lower()

    @property
    def why(self) -> str:
        """Where CI runs it."""
        return f"CI runs it ({self.where})"

    def shell(self, command: str) -> str:
        """Return a command as it runs at the top of a checkout: with the check's variables, in its folder."""
        variables = "".join(f"{name}={quoted(value)} " for name, value in self.env)
        return f"cd {quoted(self.folder)} && {variables}{command}" if self.folder else f"{variables}{command}"


@dataclass(frozen=True)
class Ci:
    """What CI checks, what it installs for that into Python's environment, and which commands were not understood."""

    checks: tuple[CiCheck, ...] = ()
    wanted: Needs = field(default_factory=Needs)
    untaken: tuple[tuple[str, str], ...] = ()  # command, and where it stands
    built: tuple[tuple[str, str], ...] = ()  # those that configure, build and test in C's manner, and where they stand

    def tests(self, of: str) -> bool:
        """True if there is a test of an ecosystem, or of the shell, which may be one of it."""
        return any(check.kind == "test" and check.of in {of, ""} for check in self.checks)


def kind_of(text: str) -> Kind | None:
    """Return kind and ecosystem of a command, kind "" if it checks nothing; None if nothing knows it."""
    return next(((kind, of) for kind, of, pattern in _COMMANDS if pattern.search(text)), None)


def kind_by_name(name: str) -> str | None:
    """Return what a script or target is by its name, "" if it checks nothing; None if its name does not say."""
    return next((kind for kind, pattern in _NAMES if pattern.search(name)), None)


def without_doubles(checks: tuple[CiCheck, ...]) -> tuple[CiCheck, ...]:
    """Leave out what another check does anyway: a build of what its tests build, the same tests with their coverage."""
    all_words = {(check.words, check.folder) for check in checks}

    def is_double(check: CiCheck) -> bool:
        words = check.words
        less = tuple(word for word in words if not word.startswith("--coverage"))
        if less != words and (less, check.folder) in all_words:
            return True
        builds = words[0] in {"cargo", "go"} and words[1:2] in (("build",), ("check",))
        return builds and ((words[0], "test", *words[2:]), check.folder) in all_words

    # The same command with other variables tries other versions, which an earlier step installs.
    plainest: dict[object, CiCheck] = {}
    for check in checks:
        known = plainest.setdefault((check.words, check.folder), check)
        if len(check.env) < len(known.env):
            plainest[check.words, check.folder] = check
    return tuple(check for check in plainest.values() if not is_double(check))


def plain_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command's words without those that only say how it prints, measures or hurries."""
    return _pytest_words(words) if words[0] == "pytest" else _quiet(words)


def looking_only(words: list[str]) -> list[str]:
    """Return the words of a tool that mends as those with which it only looks, and fails for what it would mend."""
    for option, (gone, instead) in CI["mending"].items():
        if option in words:
            # The options that only concern the mending are errors without it.
            return [*(word for word in words if word not in {option, *gone}), *instead]
    return words


def _quiet(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without what only has it say more, and without options that are empty."""
    if words[0] not in {"cargo", "go"}:
        return words
    kept = [word for word in words if not re.fullmatch(r"-vv?|--verbose|-cover(profile=.*|mode=.*)?", word)]
    return tuple(
        word
        for index, word in enumerate(kept)
        if word and not (word == "--features" and not "".join(kept[index + 1 : index + 2]))
    )


def _pytest_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return pytest's words without those that only say how it prints, measures or hurries."""
    drop, takes = CI["pytest"]["drop"], CI["pytest"]["takes"]
    kept: list[str] = []
    skip = False
    for index, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif re.match(drop, word) or "{" in word or VARIABLE.search(word):
            skip = re.match(takes, word) is not None and index + 1 < len(words) and not words[index + 1].startswith("-")
        elif word not in {".", "./"}:
            kept.append(word if word.startswith("-") else word.rstrip("/"))
    return ("pytest", "-q", *kept)
