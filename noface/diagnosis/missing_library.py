"""A library that is not installed: which one a gate missed, who imports it, and how the project adds it. Pure.

What is known stands in data/libraries.toml. Only failures of the environment are looked at: a module of the project's
own that is missing is the code's fault.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from noface.data import table
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind

MISSING_LIBRARY = "missing-library:"
"""What the signature of such a failure begins with."""
_LINES_MAX = 400
_LINE_MAX = 2_000

TO_ADD_IT = ". To add it: "
"""In the message of a missing library, what comes after this is for a person: no worker can install anything."""


@dataclass(frozen=True, slots=True)
class MissingLibrary:
    """A library as the code names it, and as its ecosystem's registry does."""

    ecosystem: str
    name: str
    package: str


def missing_library(failure: Failure) -> MissingLibrary | None:
    """Return the library that a gate missed, None where that is not what failed."""
    if failure.kind is not FailureKind.ENVIRONMENT or failure.gate is None:
        return None
    for line in _lines(failure):
        for ecosystem, known in table("libraries").items():
            for pattern in known["missing"]:
                found = re.search(pattern, line)
                if found and not found["name"].startswith(tuple(known["own"]) or ("\0",)):
                    name = found["name"]
                    return MissingLibrary(ecosystem, name, known.get("packages", {}).get(name, name))
    return None


def _lines(failure: Failure) -> Iterator[str]:
    for text in (failure.message, *failure.evidence, failure.excerpt):
        yield from (line[:_LINE_MAX] for line in text.splitlines()[:_LINES_MAX])


def imported_at(library: MissingLibrary, text: str) -> int | None:
    """Return the line of a source file, from 1, that imports the library."""
    expression = table("libraries")[library.ecosystem]["imports"].replace("{name}", re.escape(library.name))
    pattern = re.compile(expression)
    lines = enumerate(text.splitlines(), 1)
    return next((number for number, line in lines if pattern.search(line[:_LINE_MAX])), None)


def way_to_install(library: MissingLibrary, paths: Collection[str]) -> tuple[str, str]:
    """Return how a project with these files adds the library, and the command that installs it in each workspace."""
    ways: Sequence[Sequence[str]] = table("libraries")[library.ecosystem]["ways"]
    _, add, install = next(way for way in ways if not way[0] or way[0] in paths)
    return add.replace("{name}", library.package), install.replace("{name}", library.package)


def told(
    failure: Failure, library: MissingLibrary, places: Sequence[str], paths: Collection[str], setup: str
) -> Failure:
    """Return the failure with what a worker, and at last a person, needs to know of the library.

    `places` are where it is imported, as file:line; `setup` is `[project] setup`, "" where there is none.
    """
    add, install = way_to_install(library, paths)
    where = f", which {', '.join(places)} imports," if places else ""
    package = f" (the package {library.package})" if library.package != library.name else ""
    command = add if add.startswith("add ") else f"`{add}`"
    ready = (
        f"[project] setup (`{setup}`) must install it in each workspace"
        if setup
        else f'[project] setup = "{install}" in noface.toml installs it in each workspace'
    )
    return replace(
        failure,
        message=f"the library {library.name}{package}{where} is not installed{TO_ADD_IT}{command}; {ready}",
        location=places[0] if places else failure.location,
        signature=f"{MISSING_LIBRARY}{library.name}",
        evidence=tuple(dict.fromkeys((*failure.evidence, failure.message))),
    )


def library_of(signature: str) -> str:
    """Return the library that a failure's signature is about, "" where it is about none."""
    return signature.removeprefix(MISSING_LIBRARY) if signature.startswith(MISSING_LIBRARY) else ""
