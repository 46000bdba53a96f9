"""What the manifests of cargo and go say about a project's gates and its setup."""

import re
import tomllib
from pathlib import Path
from shlex import quote

from noface.config.detection import (
    DetectedGate,
    DetectedSetup,
    Detection,
    is_committed,
    is_inner,
    present,
    text_of,
)

_CARGO_WHY = (
    "Fetches what Cargo.lock names, so that gates find it there; what they build lies in the workspace and is gone\n"
    "with its next checkout. Runs again when these inputs change:"
)
_GO_WHY = "Downloads what the modules need, so that gates find it there; again when these inputs change:"
_USE = re.compile(r"^\s*(?:use\s+)?(\./?[^\s()]*)\s*(?://.*)?$", re.MULTILINE)


def detect_native(root: Path) -> Detection:
    """Return the gates of cargo and go, and what fetches their dependencies as setup."""
    return _cargo(root) + _go(root)


def _cargo(root: Path) -> Detection:
    if not (root / "Cargo.toml").is_file():
        return Detection()
    try:
        manifest = tomllib.loads(text_of(root / "Cargo.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        manifest = {}
    locked = is_committed(root, "Cargo.lock")
    words = ["cargo test"]
    words += ["--workspace"] if {"workspace", "package"} <= manifest.keys() else []
    # A target folder that all checkouts share would hold what an agent has built.
    words += ["--locked", "--target-dir target"] if locked else []
    gate = DetectedGate("cargo-test", " ".join(words), "test", "Cargo.toml is there", ("cargo",))
    configuration = present(root, (".cargo/config.toml", ".cargo/config"))
    vendored = any("vendored-sources" in text_of(root / file) for file in configuration)
    if not locked or vendored:
        return Detection((gate,))
    inputs = ("Cargo.lock", "**/Cargo.toml", *present(root, ("rust-toolchain", "rust-toolchain.toml")), *configuration)
    return Detection((gate,), (DetectedSetup("cargo fetch --locked", inputs, (), _CARGO_WHY, ("cargo",)),))


def _go(root: Path) -> Detection:
    files = present(root, ("go.mod", "go.work"))
    if not files:
        return Detection()
    places = _places(root)
    gates = (
        DetectedGate("go-test", f"go test {places}", "test", f"{files[-1]} is there", ("go",)),
        DetectedGate("go-vet", f"go vet {places}", "lint", f"{files[-1]} is there", ("go",)),
    )
    if (root / "vendor" / "modules.txt").is_file() or not (is_committed(root, "go.sum") or "go.work" in files):
        return Detection(gates)
    inputs = ("**/go.mod", "**/go.sum", *present(root, ("go.work", "go.work.sum")))
    return Detection(gates, (DetectedSetup("go mod download", inputs, (), _GO_WHY, ("go",)),))


def _places(root: Path) -> str:
    """Return the packages to test: those of each module of a go.work, which `./...` alone does not reach."""
    used = (place.rstrip("/") for place in _USE.findall(text_of(root / "go.work")))
    inner = [place for place in dict.fromkeys(used) if place == "." or is_inner(place)]
    return " ".join(quote(f"{place}/...") for place in inner) or "./..."
