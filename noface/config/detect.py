"""Find a project's own commands, for the noface.toml that `noface init` writes.

Only a handful of files at the top are looked at; nothing is run. What is found is a suggestion for a person to
check: `init` runs the gates on main before it trusts them.
"""

import re
from pathlib import Path

from noface.config.detect_node import detect_node
from noface.config.detect_python import detect_python
from noface.config.detection import DetectedGate, DetectedSetup, Detection, GateKindName, text_of

__all__ = ["DetectedGate", "DetectedSetup", "Detection", "detect"]

_RULE = re.compile(r"^(?![\t #.])([^:=#\n]+?)\s*::?(?!:?=)", re.MULTILINE)

# File → gates, for tools whose commands are the same in every project.
_CONVENTIONAL: tuple[tuple[str, tuple[tuple[str, str, GateKindName], ...]], ...] = (
    ("Cargo.toml", (("cargo-test", "cargo test", "test"),)),
    ("go.mod", (("go-test", "go test ./...", "test"), ("go-vet", "go vet ./...", "lint"))),
)
# Build file → its wrapper script, the command where there is none, and the arguments.
_WRAPPED = (
    (("build.gradle", "build.gradle.kts"), "gradlew", "gradle", "test"),
    (("pom.xml",), "mvnw", "mvn", "-B -q test"),
)


def detect(root: Path) -> Detection:
    """Look at the project at `root` and return the gates and the setup it probably wants."""
    found = detect_python(root) + detect_node(root) + _conventional(root) + _wrapped(root)
    return found + _make(root, found)


def _conventional(root: Path) -> Detection:
    return Detection(
        tuple(
            DetectedGate(name, command, kind, f"{file} is there")
            for file, gates in _CONVENTIONAL
            if (root / file).is_file()
            for name, command, kind in gates
        )
    )


def _wrapped(root: Path) -> Detection:
    gates = []
    for files, wrapper, program, arguments in _WRAPPED:
        file = next((file for file in files if (root / file).is_file()), None)
        if file is None:
            continue
        start = f"./{wrapper}" if (root / wrapper).is_file() else program
        gates.append(DetectedGate(f"{program}-test", f"{start} {arguments}", "test", f"{file} is there"))
    return Detection(tuple(gates))


def _make(root: Path, found: Detection) -> Detection:
    """Take make's targets for what nothing more specific does; `check` only where there is no test at all."""
    file = next((name for name in ("GNUmakefile", "makefile", "Makefile") if (root / name).is_file()), None)
    if file is None:
        return Detection()
    targets = {target for match in _RULE.finditer(text_of(root / file)) for target in match[1].split()}
    gates = []
    if "lint" in targets and not found.has("lint"):
        gates.append(DetectedGate("make-lint", "make lint", "lint", f"{file} has the target lint"))
    test = next((target for target in ("test", "check") if target in targets), None)
    if test and not found.has("test"):
        gates.append(DetectedGate(f"make-{test}", f"make {test}", "test", f"{file} has the target {test}"))
    return Detection(tuple(gates))
