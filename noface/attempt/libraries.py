"""Finds out, where a gate missed a library, whose it is, who imports it, and how this project installs it."""

from noface.attempt.environment import AttemptEnvironment
from noface.diagnosis.missing_library import (
    imported_at,
    is_named,
    library_failure,
    manifests,
    missing_library,
    own_library_failure,
    place_among,
)
from noface.git.plumbing import Plumbing
from noface.model.attempt import ABSENT, FileChange
from noface.model.failure import Failure

_FILES_MAX = 200
_SOURCE_BYTES_MAX = 1_000_000
_IMPORTS_SHOWN = 3


def with_library(env: AttemptEnvironment, changes: tuple[FileChange, ...], tree: str, failure: Failure) -> Failure:
    """Return the failure with what is known of the library that is not installed; another failure as it is."""
    library = missing_library(failure)
    if library is None:
        return failure
    own = with_own_library(env.plumbing, tree, failure)
    if own is not failure:
        return own
    places: list[str] = []
    with env.plumbing.blobs() as blobs:
        for change in changes[:_FILES_MAX]:
            text = blobs.read(change.new_oid, _SOURCE_BYTES_MAX) if change.new_mode != ABSENT else None
            line = imported_at(library, text.decode("utf-8", "replace")) if text else None
            places += [f"{change.path}:{line}"] if line is not None else []
    places = places or ([failure.location] if failure.location else [])
    return library_failure(failure, library, places[:_IMPORTS_SHOWN], env.plumbing.paths(tree), env.setup.command)


def with_own_library(plumbing: Plumbing, tree: str, failure: Failure) -> Failure:
    """Return the failure of a gate that missed a module of the project's own, as that; another as it is."""
    library = missing_library(failure)
    if library is None:
        return failure
    paths = plumbing.paths(tree)
    texts = plumbing.texts(tree, manifests(library, paths)[:_FILES_MAX], _SOURCE_BYTES_MAX)
    if (named := next((path for path, text in texts.items() if is_named(library, path, text)), None)) is not None:
        return own_library_failure(failure, library, f"{named} names it", paths)
    place = place_among(library, paths, failure.location)
    return own_library_failure(failure, library, place, paths) if place is not None else failure
