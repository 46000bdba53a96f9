"""Finds out, for a failure of a gate that missed a library, who imports it and how this project would install it."""

from noface.diagnosis.missing_library import imported_at, missing_library, told
from noface.engine.attempt_environment import AttemptEnvironment
from noface.model.attempt import ABSENT, FileChange
from noface.model.failure import Failure

_FILES_MAX = 200
_SOURCE_BYTES_MAX = 1_000_000
_IMPORTS_SHOWN = 3


def with_library(env: AttemptEnvironment, changes: tuple[FileChange, ...], tree: str, failure: Failure) -> Failure:
    """Return the failure with what is known of the library that is not installed; another failure as it is.

    `changes` are those of the work, in which it is looked for; `tree` holds the manifests.
    """
    library = missing_library(failure)
    if library is None:
        return failure
    places: list[str] = []
    with env.plumbing.blobs() as blobs:
        for change in changes[:_FILES_MAX]:
            text = blobs.read(change.new_oid, _SOURCE_BYTES_MAX) if change.new_mode != ABSENT else None
            line = imported_at(library, text.decode("utf-8", "replace")) if text else None
            places += [f"{change.path}:{line}"] if line is not None else []
    places = places or ([failure.location] if failure.location else [])
    return told(failure, library, places[:_IMPORTS_SHOWN], env.plumbing.paths(tree), env.setup.command)
