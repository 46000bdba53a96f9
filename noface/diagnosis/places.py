"""What in a log is the project's own, by its list of files, and so which kind of failure an exception is.

A missing module is the project's own (the change is wrong) or a third party's (the environment is).
"""

import re

from noface.data import Patterns
from noface.diagnosis.context import Repo
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_PLACE = Patterns("place")
_NOTATION = Patterns("notation")

_LINE_MAX = 600


def is_own(path: str, repo: Repo) -> bool:
    if not path or _PLACE["foreign"].search(path):
        return False
    return not repo.known or resolve(path, repo) is not None


def resolve(path: str, repo: Repo) -> str | None:
    """Return the project's path for a file as a log names it, or None if the project has no such file."""
    clean = path.removeprefix("file://").replace("\\", "/").removeprefix("./")
    if not repo.known:
        return clean
    if clean in repo.files:
        return clean
    same = repo.by_name.get(clean.rsplit("/", 1)[-1], ())
    for candidate in same:
        if clean.endswith("/" + candidate) or candidate.endswith("/" + clean):
            return candidate
    if same and ("/" not in clean or ".." in clean or len(same) == 1):
        return same[0]
    return None


def places(line: str, repo: Repo) -> list[str]:
    """Return every `file:line` of the project's own that a line of output names, in the order of the line."""
    if not any(digit in line for digit in "0123456789"):
        return []
    matches: list[tuple[int, str]] = []
    short = line[:_LINE_MAX]
    for notation in _NOTATION.all():
        matches += [
            (match.start(), f"{resolve(match['file'], repo)}:{int(match['line'])}")
            for match in notation.finditer(short)
            if is_own(match["file"], repo)
        ]
    matches.sort(key=lambda pair: pair[0])
    return [place for _, place in matches]


def place_of(file: str, line: str | None, repo: Repo) -> str | None:
    """`file:line` for what a rule's own groups captured; None if the file is not the project's."""
    if not line or not is_own(file, repo):
        return None
    return f"{resolve(file, repo)}:{int(line)}"


UP_MAX = 80
DOWN_MAX = 60


def place_above(log: Log, number: int, repo: Repo, limit: int = UP_MAX) -> str | None:
    for at in range(number - 1, max(log.stream_start(number), number - limit) - 1, -1):
        own = places(log.get(at), repo)
        if own:
            return own[-1]
    return None


def place_below(log: Log, number: int, repo: Repo, limit: int = DOWN_MAX, blanks: int = 2) -> str | None:
    """Return the nearest own `file:line` below a line: most runtimes print the innermost frame first."""
    empty = 0
    for at in range(number + 1, min(log.stream_end(number), number + limit)):
        line = log.get(at)
        empty = empty + 1 if not line.strip() else 0
        if empty > blanks:
            return None
        own = places(line, repo)
        if own:
            return own[0]
    return None


def place_near(log: Log, number: int, repo: Repo) -> str | None:
    return (
        next(iter(places(log.get(number), repo)), None)
        or place_below(log, number, repo, limit=30, blanks=1)
        or place_above(log, number, repo, limit=6)
    )


_EXCEPTION = Patterns("exception")

_ROOT_AND_OWNER = 2
_SEPARATORS = re.compile(r"::|[./\\]")


def is_own_module(name: str, repo: Repo) -> bool:
    """True if a module, package, header or file of this name would be the project's own."""
    bare = name.strip("'\"`‘’“”").removeprefix("file://")
    if bare.startswith(("./", "../", "/repo/", "@/", "~/", "#")) or (
        bare.startswith("/") and "node_modules" not in bare
    ):
        return True
    if _EXCEPTION["reserved_host"].match(bare) or any(bare.startswith(f"{module}/") for module in repo.modules):
        return True
    if not repo.known or not bare:
        return False
    if bare in repo.files or bare.rsplit("/", 1)[-1] in repo.by_name:
        return True
    # A scope of npm's: no folder of the project's is called so.
    if bare.startswith("@"):
        return False
    parts = [part for part in _SEPARATORS.split(bare) if part]
    if not parts:
        return False
    if _EXCEPTION["public_root"].fullmatch(parts[0]) and len(parts) > _ROOT_AND_OWNER:
        return any(f"/{parts[0]}/{parts[1]}/" in f"/{path}" for path in repo.files)
    # Elixir and Ruby name the file of FooBar foo_bar.
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", parts[0]).lower()
    return bool({parts[0], parts[0].lower(), parts[0].replace("-", "_"), snake} & repo.stems)


def is_assertion(exc: str) -> bool:
    return bool(_EXCEPTION["assertion"].search(exc))


def exception_kind(exc: str, message: str, repo: Repo, *, loading: bool = True) -> FailureKind:
    """Return the kind that an exception's type, and for system errors its message, stands for.

    `loading` is False if code that runs raised it: a SyntaxError of eval() is no broken file.
    """
    if _EXCEPTION["timeout"].search(exc) or ("imeout" in exc and _EXCEPTION["timed_out_test"].match(message)):
        return FailureKind.TIMEOUT
    if is_assertion(exc):
        return FailureKind.TEST_FAILURE
    missing = _EXCEPTION["missing_module"].search(message[:1000])
    if missing:
        name = next(value for value in missing.groups() if value)
        return FailureKind.RUNTIME_ERROR if is_own_module(name, repo) else FailureKind.ENVIRONMENT
    if _EXCEPTION["syntax"].search(exc):
        return FailureKind.SYNTAX_ERROR if loading else FailureKind.RUNTIME_ERROR
    if is_environment(exc, message):
        return FailureKind.ENVIRONMENT
    return FailureKind.RUNTIME_ERROR


def is_environment(exc: str, message: str) -> bool:
    """True if the system, not the code, is what an exception complains about (disk, network, permissions)."""
    if exc.startswith("Errno::") and exc.rpartition("::")[2] not in {"ENOENT", "EPIPE"}:
        return True
    if exc.startswith("java.net."):
        return bool(_EXCEPTION["system_message"].search(f"{exc} {message}"))
    if not _EXCEPTION["system"].search(exc) or not _EXCEPTION["system_message"].search(message[:2000]):
        return False
    return not _EXCEPTION["generic"].search(exc) or bool(_EXCEPTION["errno"].search(message[:2000]))
