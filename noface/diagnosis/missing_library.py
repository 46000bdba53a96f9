"""A library that is not installed: which one a gate missed, and how the project adds it. Pure."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from noface.data import table
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind

MISSING_LIBRARY = "missing-library:"
"""What the signature of such a failure begins with."""
_LINES_MAX = 400
_LINE_MAX = 2_000

_HOMES = ("src", "lib", "libs", "python", "app", "packages", "crates")
"""Folders in which a project's modules stand, besides its top."""

TO_ADD_IT = ". To add it: "
"""In the message of a missing library, what comes after this is for a person: no worker can install anything."""


@dataclass(frozen=True, slots=True)
class MissingLibrary:
    """A library as the code names it, and as its ecosystem's registry does."""

    ecosystem: str
    name: str
    package: str


def missing_library(failure: Failure) -> MissingLibrary | None:
    """Return the library that a gate missed, None if that is not what failed."""
    if failure.kind is not FailureKind.ENVIRONMENT or failure.gate is None:
        return None
    texts = (failure.message, *failure.evidence, failure.excerpt)
    for line in (line[:_LINE_MAX] for text in texts for line in text.splitlines()[:_LINES_MAX]):
        for ecosystem, known in table("libraries").items():
            for pattern in known["missing"]:
                match = re.search(pattern, line)
                if match and not match["name"].startswith(tuple(known["own"]) or ("\0",)):
                    name = match["name"]
                    return MissingLibrary(ecosystem, name, known.get("packages", {}).get(name, name))
    return None


def way_to_install(library: MissingLibrary, paths: Collection[str]) -> tuple[str, str]:
    ways: Sequence[Sequence[str]] = table("libraries")[library.ecosystem]["ways"]
    _, add, install = next(way for way in ways if not way[0] or way[0] in paths)
    return add.replace("{name}", library.package), install.replace("{name}", library.package)


def place_among(library: MissingLibrary, paths: Iterable[str], location: str | None = None) -> str | None:
    """Return the file or folder of a module of this name where modules stand, or beside or above what imports it."""
    name, suffixes = re.split(r"[/.]|::", library.name)[0], tuple(table("libraries")[library.ecosystem]["sources"])
    around = f"{(location or '').partition(':')[0].rpartition('/')[0]}/"
    for path in paths:
        folder, _, file = path.rpartition("/")
        parts = [*folder.split("/"), file.partition(".")[0]] if folder else [file.partition(".")[0]]
        at = parts.index(name) if name in parts and path.endswith(suffixes) else -1
        # Deeper down a folder may have the name by chance, as tests/fixtures/yaml has.
        if at == 0 or (at > 0 and (parts[at - 1] in _HOMES or around.startswith(f"{'/'.join(parts[:at])}/"))):
            return path if at == len(parts) - 1 else "/".join(parts[: at + 1])
    return None


def manifests(library: MissingLibrary, paths: Collection[str]) -> tuple[str, ...]:
    patterns = [re.compile(path) for path, _ in table("libraries")[library.ecosystem]["manifests"]]
    return tuple(path for path in paths if any(pattern.search(path) for pattern in patterns))


def is_named(library: MissingLibrary, path: str, manifest: str) -> bool:
    """True if a manifest names the library: then it is the project itself, or a part of it."""
    known = table("libraries")[library.ecosystem]["manifests"]
    names = [name for place, pattern in known if re.search(place, path) for name in re.findall(pattern, manifest)]
    wanted = {distribution_name(library.name), distribution_name(library.package)}
    return any(distribution_name(name) in wanted or library.name.startswith(f"{name}/") for name in names)


def distribution_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def own_library_failure(failure: Failure, library: MissingLibrary, why: str, paths: Collection[str]) -> Failure:
    """Return the failure of a library of the project's own: no registry's package of that name is meant."""
    _, install = way_to_install(library, paths)
    todo = "the gate must find it in the workspace"
    if library.package not in install:
        todo = f"[project] setup must install the project itself in each workspace (`{install}`), or the gate find it"
    where = f", which {failure.location} imports," if failure.location else ""
    message = f"{library.name}{where} is the project's own ({why}), and is not found{TO_ADD_IT}{todo}"
    return _of_library(failure, library, message, None)


def library_failure(failure: Failure, library: MissingLibrary, paths: Collection[str], setup: str) -> Failure:
    """Return the failure with what is known of the library that was missed."""
    add, install = way_to_install(library, paths)
    where = f", which {failure.location} imports," if failure.location else ""
    package = f" (the package {library.package})" if library.package != library.name else ""
    command = add if add.startswith("add ") else f"`{add}`"
    ready = f'[project] setup = "{install}" in noface.toml installs it in each workspace'
    ready = f"[project] setup (`{setup}`) must install it in each workspace" if setup else ready
    message = f"the library {library.name}{package}{where} is not installed{TO_ADD_IT}{command}; {ready}"
    return _of_library(failure, library, message, failure.location)


def _of_library(failure: Failure, library: MissingLibrary, message: str, location: str | None) -> Failure:
    evidence = tuple(dict.fromkeys((*failure.evidence, failure.message)))
    signature = f"{MISSING_LIBRARY}{library.name}"
    return replace(failure, message=message, location=location, signature=signature, evidence=evidence)


def library_of(signature: str) -> str:
    return signature.removeprefix(MISSING_LIBRARY) if signature.startswith(MISSING_LIBRARY) else ""
