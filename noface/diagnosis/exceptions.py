"""Which kind of failure an exception is, by its type and message, and whose a missing module is.

A missing module is the project's own (the change is wrong) or a third party's (the environment is). In a log the two
look alike; the project's file list tells them apart. Without one, only a relative path is proof.
"""

import re

from noface.data import Patterns
from noface.diagnosis.context import Repo
from noface.model.taxonomy import FailureKind

_EXCEPTION = Patterns("exception")

_ROOT_AND_OWNER = 2
_SEPARATORS = re.compile(r"::|[./\\]")


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
    if _EXCEPTION["public_root"].fullmatch(parts[0]) and len(parts) > _ROOT_AND_OWNER:
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
    return bool(_EXCEPTION["assertion"].search(exc))


def exception_kind(exc: str, message: str, repo: Repo, *, loading: bool = True) -> FailureKind:
    """Return the kind that an exception's type, and for system errors its message, stands for.

    `loading` is False where the exception was raised by code that runs: a SyntaxError of eval() is no broken file.
    """
    if _EXCEPTION["timeout"].search(exc) or ("imeout" in exc and _EXCEPTION["timed_out_test"].match(message)):
        return FailureKind.TIMEOUT
    if is_assertion(exc):
        return FailureKind.TEST_FAILURE
    missing = _EXCEPTION["missing_module"].search(message[:1000])
    if missing:
        name = next(value for value in missing.groups() if value)
        return dependency_kind(name, repo, foreign=FailureKind.ENVIRONMENT, own=FailureKind.RUNTIME_ERROR)
    if _EXCEPTION["syntax"].search(exc):
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
        return exc.startswith("java.net.") is False or bool(_EXCEPTION["system_message"].search(f"{exc} {message}"))
    if not _EXCEPTION["system"].search(exc) or not _EXCEPTION["system_message"].search(message[:2000]):
        return False
    return not _EXCEPTION["generic"].search(exc) or bool(_EXCEPTION["errno"].search(message[:2000]))
