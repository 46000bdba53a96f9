"""Reads as much of a Makefile as tells whether a target still does what it did; of any build file whether it grows."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_TARGETS = re.compile(r"[^:=#]++(?=:)")
_NEEDS = re.compile(r"::?(?!=)\s*+(?P<needs>[^;#]*+)(?:;(?P<recipe>.*))?")
_VARIABLE = re.compile(r"(?:export\s+|override\s+)*(?P<name>[\w.-]+)\s*(?:[:?+!]|::)?=\s*(?P<value>.*)")
_USED = re.compile(r"\$[({](?P<name>[\w.-]+)[)}]")
_STEERING = ("SHELL", ".SHELLFLAGS", "MAKEFLAGS")
_RULES_MAX = 5_000


@dataclass(slots=True)
class Makefile:
    """Targets with what they need and do, and the variables; `first` is what a bare `make` builds."""

    rules: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    first: str = ""

    def weakened_in(self, other: "Makefile", goals: Iterable[str]) -> list[str]:
        """Return what the goals, and all they need, no longer do in `other`; what is added is no matter."""
        changes: list[str] = []
        seen: set[str] = set()
        used: set[str] = set(_STEERING)
        waiting = list(goals)
        if not waiting:
            return changes
        if ".IGNORE" in other.rules and ".IGNORE" not in self.rules:
            changes.append("errors are ignored now (.IGNORE)")
        while waiting:
            target = waiting.pop(0)
            if target in seen or target not in self.rules:
                continue
            seen.add(target)
            needs, recipe = self.rules[target]
            waiting += needs
            used |= _variables_of([*needs, *recipe])
            if target not in other.rules:
                changes.append(f"the target {target}, which a gate calls, was removed")
            elif not _within(recipe, other.rules[target][1]) or not set(needs) <= set(other.rules[target][0]):
                changes.append(f"the target {target}, which a gate calls, was changed")
        changes += [
            f"the variable {name}, which a gate's target uses, was changed"
            for name in sorted(self._reached(used))
            if self.variables.get(name) != other.variables.get(name)
        ]
        return changes

    def _reached(self, names: set[str]) -> set[str]:
        """Return the names and those that their values use in turn."""
        reached: set[str] = set()
        waiting = set(names)
        while waiting:
            name = waiting.pop()
            reached.add(name)
            waiting |= _variables_of([self.variables.get(name, "")]) - reached
        return reached


def read_makefile(text: str) -> Makefile:
    """Read a Makefile's plain rules and variables; conditionals and included files are not followed."""
    made = Makefile()
    current: list[str] = []
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").split("\n"):
        if line.startswith("\t"):
            for target in current:
                made.rules[target][1].append(" ".join(line.split()))
            continue
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        variable = _VARIABLE.fullmatch(line.strip())
        if variable:
            current = []
            made.variables[variable["name"]] = (
                made.variables.get(variable["name"], "") + f" {variable['value'].strip()}"
            )
            continue
        head = _TARGETS.match(line) if not line[0].isspace() else None
        rule = _NEEDS.fullmatch(line.rstrip(), head.end()) if head else None
        current = head[0].removesuffix("&").split() if head and rule and len(made.rules) < _RULES_MAX else []
        for target in current:
            needs, recipe = made.rules.setdefault(target, ([], []))
            needs += (rule["needs"] if rule else "").replace("|", " ").split()
            if rule and rule["recipe"]:
                recipe.append(" ".join(rule["recipe"].split()))
            if not made.first and not target.startswith(".") and "%" not in target:
                made.first = target
    return made


def _variables_of(texts: Iterable[str]) -> set[str]:
    return {match["name"] for text in texts for match in _USED.finditer(text)}


def _within(old: list[str], new: list[str]) -> bool:
    """True if all old lines are among the new ones, in their order."""
    rest = iter(new)
    return all(line in rest for line in old)


_PART = re.compile(r"[\w./+-]+|\S")
_COMPARES = re.compile(r"\b(?:e?grep|diff|cmp|test|expr)\b|\[")
_SOURCE = re.compile(r"[\w./+-]+\.(?:c|cc|cpp|cxx|h|hh|hpp|m|mm|o|obj|s|S|asm|f90|go|rs|java|kt|swift|pyx)|[,'\"\\]")


def only_adds_sources(old: str, new: str) -> bool:
    """True if a build file builds what it did and more sources besides: its lines are longer by their names only.

    A recipe that compares is none of these lines.
    """
    rest = iter(new.split("\n"))
    for line in old.split("\n"):
        grown = next((each for each in rest if each == line or not _extends("", each)), None)
        if grown is None or not (grown == line or _extends(line, grown)):
            return False
    return all(_extends("", line) for line in rest)


def _extends(line: str, grown: str) -> bool:
    """True if a line begins like another and says what it does, but for names of sources."""
    compares = grown.startswith("\t") and _COMPARES.search(grown)
    if compares or (line and len(line) - len(line.lstrip()) != len(grown) - len(grown.lstrip())):
        return False
    wanted = iter(_PART.findall(line))
    need = next(wanted, None)
    for part in _PART.findall(grown):
        if part == need:
            need = next(wanted, None)
        elif not _SOURCE.fullmatch(part):
            return False
    return need is None
