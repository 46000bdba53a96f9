"""Whose a missing module is: the project's own (the change is wrong) or a third party's (the environment is).

In a log the two look alike; the project's file list tells them apart. Without one, only a relative path is proof.
"""

import re

from noface.core.classify.context import Repo
from noface.core.taxonomy import FailureKind

_PUBLIC_ROOTS = frozenset(
    [
        "com",
        "org",
        "net",
        "io",
        "de",
        "edu",
        "gov",
        "dev",
        "jp",
        "cn",
        "uk",
        "fr",
        "me",
        "ch",
        "eu",
        "co",
        "github",
        "gitlab",
    ]
)
_ROOT_AND_OWNER = 2
_SEPARATORS = re.compile(r"::|[./\\]")


def is_own_module(name: str, repo: Repo) -> bool:
    """Whether a module, package, header or file of this name would be the project's own."""
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
    if parts[0] in _PUBLIC_ROOTS and len(parts) > _ROOT_AND_OWNER:
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
