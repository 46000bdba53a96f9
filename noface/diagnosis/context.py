"""What a gate's command line and the tools it started tell: which programs ran, and whose files are whose."""

import re
from dataclasses import dataclass, replace
from functools import cache

from noface.data import Patterns, table
from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.text import Log
from noface.model.gate import GateKind

_SPLIT = re.compile(r"[;&|()\n]+|\$\(|`")
_ASSIGN = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")
_ECHO = re.compile(r"^(?:> |\$ |\+{1,3} |\[[\w ./-]+\] \$ |[\w-]+: commands\[\d+\]> )(?P<command>\S.*)$")
_RUNTIME_VERSION = re.compile(r"^(python|ruby|node|php|perl|lua|pypy)[\d.]+$")
_ECHO_LINES_MAX = 2_000
_WITH_SUBCOMMANDS = ("cargo", "go", "mix", "git", "dotnet", "deno", "bun")


@cache
def known_tools(kind: str) -> frozenset[str]:
    return frozenset(table("programs")[kind])


@dataclass(frozen=True, slots=True)
class Context:
    """The gate as the rules see it."""

    command: str
    tools: frozenset[str]
    exit_code: int | None
    kind: GateKind | None
    repo: "Repo"
    named_files: frozenset[str]

    @property
    def lints(self) -> bool:
        return self.kind is GateKind.LINT or bool(self.tools & known_tools("linters"))


@dataclass(frozen=True, slots=True)
class Repo:
    """The project's own names, of its files if they are `known`; packages below its Go `modules` are its own."""

    known: bool
    files: frozenset[str]
    by_name: dict[str, tuple[str, ...]]
    stems: frozenset[str]
    modules: frozenset[str] = frozenset()


def repo_of(files: tuple[str, ...] | None) -> Repo:
    """Index the project's files by base name, and every folder and file stem in it."""
    if files is None:
        return Repo(known=False, files=frozenset(), by_name={}, stems=frozenset())
    clean = [path.strip().removeprefix("./") for path in files if path.strip()]
    names: dict[str, tuple[str, ...]] = {}
    stems: set[str] = set()
    for path in clean:
        parts = path.split("/")
        names[parts[-1]] = (*names.get(parts[-1], ()), path)
        stems.update(parts[:-1])
        # Of "a.test.js" as of "a.d.ts" an import says "a".
        stems.add(parts[-1].split(".")[0])
    return Repo(known=True, files=frozenset(clean), by_name=names, stems=frozenset(stems))


def programs(command: str) -> set[str]:
    """Return the programs a command line starts, by base name, looking through wrappers such as `npx`."""
    names: set[str] = set()
    for part in _SPLIT.split(command[:20_000]):
        words = part.split()
        at = 0
        for _ in range(6):
            while at < len(words) and (
                _ASSIGN.match(words[at]) or (words[at].startswith("-") and words[at] != "-m") or words[at].isdigit()
            ):
                at += 1
            if at >= len(words):
                break
            name = words[at].strip("'\"").rsplit("/", 1)[-1]
            names.add(name)
            if name not in known_tools("wrappers") and not _RUNTIME_VERSION.match(name):
                first = next((word for word in words[at + 1 :] if not word.startswith(("-", "+"))), "")
                names |= {f"{name} {first}", *({first} if name in _WITH_SUBCOMMANDS else ())}
                break
            at += 1
    return names


_GO = Patterns("go")
_ROOT_AND_OWNER = 2
_HOSTS_OF_OWNERS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})


def _go_modules(log: Log) -> frozenset[str]:
    """Return the module of each Go package that the output reports on: host, name, and on public hosts the owner."""
    if "\t" not in log.text and "# " not in log.text:
        return frozenset()
    modules = set()
    for match in _GO["package"].finditer(log.text):
        parts = match["package"].split("/")
        length = _ROOT_AND_OWNER + (parts[0] in _HOSTS_OF_OWNERS)
        if len(parts) >= length:
            modules.add("/".join(parts[:length]))
    return frozenset(modules)


def context_of(evidence: GateEvidence, log: Log) -> Context:
    """Gather what the rules may ask about a gate."""
    echoed = (match["command"] for line in log.lines[:_ECHO_LINES_MAX] if (match := _ECHO.match(line)))
    return Context(
        command=evidence.command,
        tools=frozenset(programs(evidence.command).union(*(programs(command[:400]) for command in echoed))),
        exit_code=evidence.exit_code,
        kind=evidence.kind,
        repo=replace(repo_of(evidence.repo_files), modules=_go_modules(log)),
        named_files=frozenset(
            word.strip("'\"").rsplit("/", 1)[-1]
            for word in evidence.command[:20_000].split()
            if "/" in word or "." in word
        ),
    )
