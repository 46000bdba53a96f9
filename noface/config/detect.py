"""Finds a project's own commands, and writes them into the noface.toml that `noface init` makes.

Only a handful of files at the top are looked at; nothing is run. The result is a suggestion for a person to
check: `init` runs the gates on main before it trusts them.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote

from noface import data
from noface.config.detect_node import detect_node
from noface.config.detect_python import detect_python, environment
from noface.config.detection import (
    DetectedGate,
    DetectedSetup,
    Detection,
    Surroundings,
    is_committed,
    is_inner,
    joined,
    present,
    text_of,
)
from noface.config.edit import toml_text

_CARGO_WHY = (
    "Fetches what Cargo.lock names, so that gates find it there; what they build lies in the workspace and is gone\n"
    "with its next checkout. Runs again when a file of setup_inputs changes."
)
_GO_WHY = "Downloads what the modules need, so that gates find it there; again when a file of setup_inputs changes."
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


_RULE = re.compile(r"^(?![\t #.])([^:=#\n]+?)\s*::?(?!:?=)", re.MULTILINE)

_ANYWHERE = Surroundings()


def detect(root: Path, surroundings: Surroundings = _ANYWHERE) -> Detection:
    """Look at the project at `root` and return the gates and the setup it probably wants.

    What needs a program that is not there is among them, and marked so.
    """
    detection = detect_python(root, surroundings) + detect_node(root, surroundings)
    detection += detect_native(root) + _wrapped(root)
    detection += _make(root, detection)
    return detection + _missing(detection, surroundings)


def _missing(detection: Detection, surroundings: Surroundings) -> Detection:
    needs = [*(gate.needs for gate in detection.gates), *(setup.needs for setup in detection.setups)]
    needed = dict.fromkeys(program for programs in needs for program in programs)
    missing = [program for program in needed if not surroundings.has(program)]
    notes = (f"{program} is not on PATH: what needs it is written in comments. Install it, and take the # away."
             for program in missing)  # fmt: skip
    return Detection(notes=tuple(notes), missing=frozenset(missing))


def _wrapped(root: Path) -> Detection:
    gates = []
    for entry in data.table("ecosystems")["wrapped"]:
        file = next((file for file in entry["files"] if (root / file).is_file()), None)
        if file is None:
            continue
        wrapped, program = (root / entry["wrapper"]).is_file(), entry["program"]
        start = f"./{entry['wrapper']}" if wrapped else program
        needs = () if wrapped else (program,)
        gates.append(
            DetectedGate(f"{program}-test", f"{start} {entry['arguments']}", "test", f"{file} is there", needs)
        )
    return Detection(tuple(gates))


def _make(root: Path, detection: Detection) -> Detection:
    """Take make's targets for what nothing more specific does; `check` only where there is no test at all."""
    file = next((name for name in ("GNUmakefile", "makefile", "Makefile") if (root / name).is_file()), None)
    if file is None:
        return Detection()
    first = environment(detection)
    targets = {target for match in _RULE.finditer(text_of(root / file)) for target in match[1].split()}
    gates = []
    if "lint" in targets and not detection.has("lint"):
        gates.append(DetectedGate("make-lint", f"{first}make lint", "lint", f"{file} has the target lint", ("make",)))
    test = next((target for target in ("test", "check") if target in targets), None)
    if test and not detection.has("test"):
        why = f"{file} has the target {test}"
        gates.append(DetectedGate(f"make-{test}", f"{first}make {test}", "test", why, ("make",)))
    return Detection(tuple(gates))


def render(detection: Detection, main_branch: str, *, github: bool = False) -> str:
    """Return a commented noface.toml that loads as it stands; `main_branch` "" leaves the branch open.

    With `github` issues come from there, and work becomes pull requests.
    """
    texts = data.table("config_files")["init"]
    parts = ["\n".join(_project(detection, main_branch)), "\n".join(_gates(detection, texts))]
    parts += [texts["github"]] if github else []
    return "\n".join((texts["intro"], *parts, texts["rest"]))


def _project(detection: Detection, main_branch: str) -> Iterator[str]:
    yield "[project]"
    yield f"main = {toml_text(main_branch)}" if main_branch else '#main = "main"'
    # The key can be given once, so one setup does all that can be done here.
    if setup := joined(each for each in detection.setups if detection.usable(each)):
        yield from _setup(setup, "")
    for each in detection.setups:
        if not detection.usable(each):
            yield from _setup(each, "#")
    yield ""


def _setup(setup: DetectedSetup, mark: str) -> Iterator[str]:
    yield ""
    yield from (f"# {line}" for line in setup.why.split("\n"))
    yield from _marked(f"setup = {toml_text(setup.command)}", mark)
    if setup.inputs:
        yield from _marked(f"setup_inputs = {toml_text(setup.inputs)}", mark)
    if setup.keep:
        yield from _marked(f"keep = {toml_text(setup.keep)}", mark)


def _marked(text: str, mark: str) -> Iterator[str]:
    return (f"{mark}{line}" for line in text.split("\n"))


def _gates(detection: Detection, texts: Mapping[str, str]) -> Iterator[str]:
    for note in detection.notes:
        yield f"# {' '.join(note.split())}"
    if not detection.gates:
        yield texts["no_gates"]
        return
    yield texts["gates"]
    for gate in detection.gates:
        mark = "" if detection.usable(gate) else "#"
        yield f"# {' '.join(gate.why.split())}"
        yield f"{mark}[[gates]]"
        yield f"{mark}name = {toml_text(gate.name)}"
        yield f"{mark}command = {toml_text(gate.command)}"
        yield f"{mark}kind = {toml_text(gate.kind)}"
        yield ""
    if not any(gate.kind == "test" and detection.usable(gate) for gate in detection.gates):
        yield texts["no_test"]
