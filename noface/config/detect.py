"""Find a project's own commands, for the noface.toml that `noface init` writes.

Only a handful of files at the top are looked at; nothing is run. What is found is a suggestion for a person to
check: `init` runs the gates on main before it trusts them.
"""

import re
from pathlib import Path

from noface.config.detect_native import detect_native
from noface.config.detect_node import detect_node
from noface.config.detect_python import detect_python, environment
from noface.config.detection import DetectedGate, DetectedSetup, Detection, Surroundings, text_of

__all__ = ["DetectedGate", "DetectedSetup", "Detection", "Surroundings", "detect"]

_RULE = re.compile(r"^(?![\t #.])([^:=#\n]+?)\s*::?(?!:?=)", re.MULTILINE)

_ANYWHERE = Surroundings()
# Build file → its wrapper script, the command where there is none, and the arguments.
_WRAPPED = (
    (("build.gradle", "build.gradle.kts"), "gradlew", "gradle", "test"),
    (("pom.xml",), "mvnw", "mvn", "-B -q test"),
)


def detect(root: Path, surroundings: Surroundings = _ANYWHERE) -> Detection:
    """Look at the project at `root` and return the gates and the setup it probably wants.

    What needs a program that is not there is among it, and said so.
    """
    found = detect_python(root, surroundings) + detect_node(root, surroundings) + detect_native(root) + _wrapped(root)
    found += _make(root, found)
    return found + _missing(found, surroundings)


def _missing(found: Detection, surroundings: Surroundings) -> Detection:
    needs = [*(gate.needs for gate in found.gates), *(setup.needs for setup in found.setups)]
    needed = dict.fromkeys(program for programs in needs for program in programs)
    missing = [program for program in needed if not surroundings.has(program)]
    notes = (f"{program} is not on PATH: what needs it is written in comments. Install it, and take the # away."
             for program in missing)  # fmt: skip
    return Detection(notes=tuple(notes), missing=frozenset(missing))


def _wrapped(root: Path) -> Detection:
    gates = []
    for files, wrapper, program, arguments in _WRAPPED:
        file = next((file for file in files if (root / file).is_file()), None)
        if file is None:
            continue
        wrapped = (root / wrapper).is_file()
        start = f"./{wrapper}" if wrapped else program
        needs = () if wrapped else (program,)
        gates.append(DetectedGate(f"{program}-test", f"{start} {arguments}", "test", f"{file} is there", needs))
    return Detection(tuple(gates))


def _make(root: Path, found: Detection) -> Detection:
    """Take make's targets for what nothing more specific does; `check` only where there is no test at all."""
    file = next((name for name in ("GNUmakefile", "makefile", "Makefile") if (root / name).is_file()), None)
    if file is None:
        return Detection()
    first = environment(found)
    targets = {target for match in _RULE.finditer(text_of(root / file)) for target in match[1].split()}
    gates = []
    if "lint" in targets and not found.has("lint"):
        gates.append(DetectedGate("make-lint", f"{first}make lint", "lint", f"{file} has the target lint", ("make",)))
    test = next((target for target in ("test", "check") if target in targets), None)
    if test and not found.has("test"):
        why = f"{file} has the target {test}"
        gates.append(DetectedGate(f"make-{test}", f"{first}make {test}", "test", why, ("make",)))
    return Detection(tuple(gates))
