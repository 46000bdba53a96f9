"""Tells which packages setup has installed in a workspace: in virtual environments of Python, and below node_modules.

What is installed shows which versions of tools judge a change, whichever manifest, lock file or script asked for them.
What is read here was written by installers, and may be by the change: within bounds, and nothing raises for it.
"""

import csv
import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from noface.diagnosis.missing_library import distribution_name
from noface.integrity.tools import Package
from noface.model.json_record import JsonRecord, json_value
from noface.process.files import read_regular

_METADATA_BYTES_MAX = 4 << 20
_PACKAGES_MAX = 20_000
_NODE = "node_modules"
_REQUIRED = re.compile(r"^Requires-Dist:\s*+([\w.-]++)([^\n]*+)", re.MULTILINE)
_FIELD = re.compile(r"^(Name|Version):\s*+([^\s]++)", re.MULTILINE)
_GROUP = re.compile(r"^[ \t]*+\[\s*+([^\]\s]++)\s*+\]", re.MULTILINE)
_MODULE = re.compile(r"[A-Za-z_]\w*+")


def packages_in(workspace: Path, keep: Iterable[str]) -> tuple[Package, ...]:
    """Return the packages in the kept paths of a workspace, those of a place it cannot read left out."""
    packages: list[Package] = []
    for place in (path.strip("/") for path in keep):
        for site in environments(workspace, place):
            packages += _of_node(workspace, place) if site == place else _of_python(workspace, place, site)
    return tuple(packages[:_PACKAGES_MAX])


def environments(workspace: Path, place: str) -> tuple[str, ...]:
    """Return the folders of a kept path in which packages lie; none if it is of no kind that is known here."""
    return (place,) if posixpath.basename(place) == _NODE else tuple(_sites(workspace, place))


def _sites(workspace: Path, place: str) -> Iterator[str]:
    """Yield the folders of a virtual environment in which packages lie, from the workspace on."""
    # One byte will do: the question is whether it is there.
    if read_regular(workspace / place / "pyvenv.cfg", 1) is None:
        return
    for version in names_in(workspace / place / "lib"):
        site = f"{place}/lib/{version}/site-packages"
        if version.startswith("python") and (workspace / site).is_dir():
            yield site


def _of_python(workspace: Path, place: str, site: str) -> Iterator[Package]:
    for folder in names_in(workspace / site):
        if folder.endswith(".dist-info"):
            metadata = _text(workspace / site / folder / "METADATA")
            fields = dict(_FIELD.findall(metadata.partition("\n\n")[0]))
            if "Name" in fields:
                files = tuple(_recorded(_text(workspace / site / folder / "RECORD"), place, site))
                yield Package(
                    place,
                    distribution_name(fields["Name"]),
                    fields.get("Version", ""),
                    tuple(sorted({module for file in files if (module := _module(file, site))})),
                    tuple(distribution_name(name) for name, rest in _REQUIRED.findall(metadata) if "extra" not in rest),
                    tuple(_GROUP.findall(_text(workspace / site / folder / "entry_points.txt"))),
                    files,
                    own='"file:' in _text(workspace / site / folder / "direct_url.json"),
                )


def _recorded(record: str, place: str, site: str) -> Iterator[str]:
    """Yield the files of a RECORD that lie in the environment; others are not the environment's."""
    try:
        rows = [row[0] for row in csv.reader(record.splitlines()) if row]
    except csv.Error:
        return
    for name in rows:
        path = posixpath.normpath(posixpath.join(site, name))
        if path.startswith(f"{place}/"):
            yield path


def _module(file: str, site: str) -> str:
    """Return the module, or top package, that a file belongs to; what types a package counts as the package itself."""
    if not file.startswith(f"{site}/"):
        return ""
    first, _, rest = file[len(site) + 1 :].partition("/")
    name = first if rest else first.partition(".")[0]
    name = name.removesuffix("-stubs")
    return name if _MODULE.fullmatch(name) and name != "__pycache__" and (rest or first.count(".")) else ""


def _of_node(workspace: Path, place: str) -> Iterator[Package]:
    root = _manifest(workspace / posixpath.dirname(place))
    yield Package(place, ".", "", needs=tuple(root.inside("dependencies").values), own=True)
    for name in names_in(workspace / place):
        inner = names_in(workspace / place / name) if name.startswith("@") else ()
        for each in (f"{name}/{one}" for one in inner) if name.startswith("@") else (name,):
            package = _node_package(workspace, place, each) if not each.startswith(".") else None
            if package is not None:
                yield package


def _node_package(workspace: Path, place: str, name: str) -> Package | None:
    folder = workspace / place / name
    manifest = _manifest(folder)
    if not isinstance(version := manifest.values.get("version"), str):
        return None
    needs = tuple(key for kind in ("dependencies", "peerDependencies") for key in manifest.inside(kind).values)
    programs = manifest.values.get("bin")
    bins = tuple(programs) if isinstance(programs, dict) else (name.rpartition("/")[2],) if programs else ()
    files = (f"{place}/{name}", *(f"{place}/.bin/{each}" for each in bins if "/" not in each and each != ".."))
    # The packages of a monorepo are links that lead out of node_modules.
    own = f"/{_NODE}/" not in f"{os.path.realpath(folder)}/"
    return Package(place, name, version, (_typed(name),), needs, files=files, own=own)


def _typed(name: str) -> str:
    """Return the package that a package of TypeScript's declarations is about, of another the package itself."""
    if not name.startswith("@types/"):
        return name
    scope, two, rest = name.removeprefix("@types/").partition("__")
    return f"@{scope}/{rest}" if two else scope


def _manifest(folder: Path) -> JsonRecord:
    return JsonRecord.of(json_value(_text(folder / "package.json")))


def names_in(folder: Path) -> tuple[str, ...]:
    """Return the names in a folder, in order; none of one that cannot be read."""
    try:
        return tuple(sorted(entry.name for entry in folder.iterdir()))
    except OSError:
        return ()


def _text(path: Path) -> str:
    return (read_regular(path, _METADATA_BYTES_MAX) or b"").decode("utf-8", "replace")
