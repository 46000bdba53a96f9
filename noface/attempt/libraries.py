"""Finds out, where a gate missed a library, whose it is, and how this project installs it."""

from noface.attempt.environment import AttemptEnvironment
from noface.diagnosis.missing_library import (
    is_named,
    library_failure,
    manifests,
    missing_library,
    own_library_failure,
    place_among,
)
from noface.git.plumbing import Plumbing
from noface.model.failure import Failure

_FILES_MAX = 200
_SOURCE_BYTES_MAX = 1_000_000


def with_library(env: AttemptEnvironment, tree: str, failure: Failure) -> Failure:
    """Return the failure with what is known of the library that is not installed; another failure as it is."""
    library = missing_library(failure)
    if library is None:
        return failure
    own = with_own_library(env.plumbing, tree, failure)
    if own is not failure:
        return own
    return library_failure(failure, library, env.plumbing.paths(tree), env.setup.command)


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
