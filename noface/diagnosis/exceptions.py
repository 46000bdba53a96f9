"""Which kind of failure an exception is, by its type and message, and whose a missing module is.

A missing module is the project's own (the change is wrong) or a third party's (the environment is). In a log the two
look alike; the project's file list tells them apart. Without one, only a relative path is proof.
"""

# ruff: noqa: E501 - a pattern is kept in one piece

import re
from dataclasses import dataclass
from functools import cache

from noface.data import table
from noface.diagnosis.context import Repo
from noface.model.taxonomy import FailureKind

_PUBLIC_ROOT = re.compile(r"com|org|net|io|de|edu|gov|dev|jp|cn|uk|fr|me|ch|eu|co|github|gitlab")
_ROOT_AND_OWNER = 2
_SEPARATORS = re.compile(r"::|[./\\]")
_ERRNO = re.compile(
    r"\[(?:Errno|WinError|SSL)\b|^(?:connect |listen |bind |getaddrinfo |open |spawn |mkdir |unlink |write |read |ENOSPC|E[A-Z]{4,})"
    r"|(?:open|mkdir|listen tcp|dial tcp|write|read|lookup) \S+.*: |@ (?:rb_sysopen|dir_)|SQLSTATE|: E[A-Z]{4,}\b|\(E[A-Z]{4,}\)"
    r"|java\.net|\(No space left|\(Permission denied\)|\(Connection refused"
)
_TIMED_OUT_TEST = re.compile(
    r"^(?:Timeout >?[\d.]+s?\b|\S+\(\) timed out after|test timed out after|execution timed out after"
    r"|Timeout of [\d.]+ ?ms exceeded|Exceeded timeout of \d+|Test timed out in \d+)"
)
_MISSING_MODULE = re.compile(
    r"No module named '?(?P<py>[\w.]+)'?|^Cannot find (?:module|package) '(?P<js>[^'\n]+)'"
    r"|^cannot load such file -- (?P<rb>\S+)|Can't locate (?P<pl>[\w/]+)\.pm in @INC|^module '(?P<lua>[\w./-]+)' not found"
    r"|there is no package called [‘'](?P<r>[\w.]+)[’']|Package (?P<jl>\w+) not found in current path"
    r"|Could not locate \S+?, (?P<clj>[\w/]+)\.clj\S* or \S+ on classpath"
)


@dataclass(frozen=True, slots=True)
class _Types:
    """The expressions of data/exceptions.toml."""

    assertion: re.Pattern[str]
    syntax: re.Pattern[str]
    timeout: re.Pattern[str]
    system: re.Pattern[str]
    generic: re.Pattern[str]
    system_messages: re.Pattern[str]


@cache
def _types() -> _Types:
    data = table("exceptions")

    def named(kind: str, separators: str) -> re.Pattern[str]:
        return re.compile(rf"(?:^|[{separators}])(?:{'|'.join(data[kind])})$")

    return _Types(
        assertion=named("assertion", r".:\\/"),
        syntax=named("syntax", r".:\\/"),
        timeout=named("timeout", ".:"),
        system=named("system", r".:\\"),
        generic=named("generic", r".:\\"),
        system_messages=re.compile("|".join(data["system_messages"])),
    )


def is_own_module(name: str, repo: Repo) -> bool:
    """Tell whether a module, package, header or file of this name would be the project's own."""
    bare = name.strip("'\"`‘’“”")
    if bare.startswith(("./", "../", "/repo/", "@/", "~/", "#")) or (
        bare.startswith("/") and "node_modules" not in bare
    ):
        return True
    if not repo.known or not bare:
        return False
    if bare in repo.files or bare.rsplit("/", 1)[-1] in repo.by_name:
        return True
    if bare.startswith("@"):
        return False
    parts = [part for part in _SEPARATORS.split(bare) if part]
    if not parts:
        return False
    if _PUBLIC_ROOT.fullmatch(parts[0]) and len(parts) > _ROOT_AND_OWNER:
        return _holds_folder(f"{parts[0]}/{parts[1]}/", repo)
    candidates = {parts[0], parts[0].lower(), parts[0].replace("-", "_"), _snake(parts[0])}
    return bool(candidates & repo.stems)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _holds_folder(folder: str, repo: Repo) -> bool:
    return any(f"/{folder}" in f"/{path}" for path in repo.files)


def dependency_kind(name: str, repo: Repo, *, foreign: FailureKind, own: FailureKind) -> FailureKind:
    """`own` where the missing thing is the project's, `foreign` where it is somebody else's."""
    return own if is_own_module(name, repo) else foreign


def is_assertion(exc: str) -> bool:
    """Tell whether a type is that of a failed expectation."""
    return bool(_types().assertion.search(exc))


def exception_kind(exc: str, message: str, repo: Repo, *, loading: bool = True) -> FailureKind:
    """Return the kind that an exception's type, and for system errors its message, stands for.

    `loading` is False where the exception was raised by code that runs: a SyntaxError of eval() is no broken file.
    """
    if _types().timeout.search(exc) or ("imeout" in exc and _TIMED_OUT_TEST.match(message)):
        return FailureKind.TIMEOUT
    if is_assertion(exc):
        return FailureKind.TEST_FAILURE
    missing = _MISSING_MODULE.search(message[:1000])
    if missing:
        name = next(value for value in missing.groups() if value)
        return dependency_kind(name, repo, foreign=FailureKind.ENVIRONMENT, own=FailureKind.RUNTIME_ERROR)
    if _types().syntax.search(exc):
        return FailureKind.SYNTAX_ERROR if loading else FailureKind.RUNTIME_ERROR
    if is_environment(exc, message):
        return FailureKind.ENVIRONMENT
    return FailureKind.RUNTIME_ERROR


def is_environment(exc: str, message: str) -> bool:
    """Tell whether the system, not the code, is what an exception complains about (disk, network, permissions)."""
    if exc.startswith(("Errno::", "java.net.")) and exc.rsplit("::", 1)[-1].rsplit(".", 1)[-1] not in {
        "ENOENT",
        "EPIPE",
    }:
        return exc.startswith("java.net.") is False or bool(_types().system_messages.search(f"{exc} {message}"))
    if not _types().system.search(exc) or not _types().system_messages.search(message[:2000]):
        return False
    return not _types().generic.search(exc) or bool(_ERRNO.search(message[:2000]))
