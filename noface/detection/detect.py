"""Finds a project's own commands by the table of ecosystems. Nothing is run."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from noface import data
from noface.detection.detected import DetectedGate, DetectedSetup, Detection, Surroundings
from noface.detection.files import ci_commands, is_committed, present, text_of
from noface.detection.node import detect_node
from noface.detection.python import PROGRAMS, VENV, detect_python

_ROWS = data.table("ecosystems")["rows"]
_MANIFESTS = ("pyproject.toml", "setup.py", "package.json", *(file for row in _ROWS for file in row["files"]))
_FOLDERS_MAX = 8
_WHY = "Fetches what the gates need, once for each workspace, and again when a file of setup_inputs changes."
_ANYWHERE = Surroundings()


def detect(root: Path, surroundings: Surroundings = _ANYWHERE) -> Detection:
    """Return the gates and the setup that the project at `root` probably wants, and what its CI runs."""
    detection = _at(root, surroundings)
    if not detection.gates and not detection.setups:
        detection += _in_folders(root, surroundings)
    # What builds comes first: a red build keeps the gates after it from running.
    gates = tuple(sorted(detection.gates, key=lambda gate: gate.kind != "build"))
    notes = tuple(_missing(detection, surroundings))
    return replace(detection, gates=gates) + Detection(notes=notes, ci=ci_commands(root))


def _at(root: Path, surroundings: Surroundings) -> Detection:
    detection, known = detect_python(root, surroundings) + detect_node(root, surroundings), set()
    for row in _ROWS:
        files = [file for file in present(root, row["files"]) if is_committed(root, file)]
        if not files or row["of"] in known or not _says(root / files[0], row.get("text")):
            continue
        known.add(row["of"])
        for gate in _gates(root, row, files[0]):
            superfluous = detection.gates if gate.kind == "build" else detection.has(gate.kind)
            if row.get("last") and any(VENV in setup.keep for setup in detection.setups):
                gate = replace(gate, command=f"{PROGRAMS}{gate.command}")  # noqa: PLW2901
            if not (row.get("last") and superfluous):
                detection += Detection((gate,))
        if "setup" in row:
            inputs = (each for each in row["inputs"] if "*" in each or (root / each).is_file())
            needs = tuple(row["needs"])
            setup = DetectedSetup(row["setup"], tuple(inputs), tuple(row.get("keep", ())), _WHY, needs)
            detection += Detection(setups=(setup,))
    return detection


def _gates(root: Path, row: dict[str, Any], file: str) -> Iterator[DetectedGate]:
    for gate in row["gates"]:
        if ("file" not in gate or any(root.glob(gate["file"]))) and _says(root / file, gate.get("text")):
            why = f"{file} names it" if "text" in gate else f"{file} is there"
            yield DetectedGate(gate["name"], gate["command"], gate["kind"], why, tuple(row.get("needs", ())))


def _says(file: Path, pattern: str | None) -> bool:
    return pattern is None or re.search(pattern, text_of(file), re.MULTILINE) is not None


def _in_folders(root: Path, surroundings: Surroundings) -> Detection:
    whole = Detection()
    for folder in sorted(path for path in root.iterdir() if path.is_dir() and present(path, _MANIFESTS))[:_FOLDERS_MAX]:
        name, inner = folder.name, _at(folder, surroundings)
        if not inner.gates or not name.isprintable() or name == "issues":
            continue
        into = f"cd {quote(name)}"
        gates = [replace(gate, name=f"{name}-{gate.name}", command=f"{into} && {gate.command}") for gate in inner.gates]
        setups = []
        for setup in inner.setups:
            inputs, keep = (tuple(f"{name}/{path}" for path in paths) for paths in (setup.inputs, setup.keep))
            setups.append(replace(setup, command=f"({into} && {setup.command})", inputs=inputs, keep=keep))
        whole += Detection(tuple(gates), tuple(setups), inner.notes)
    return whole


def _missing(detection: Detection, surroundings: Surroundings) -> Iterator[str]:
    needs = [*(gate.needs for gate in detection.gates), *(setup.needs for setup in detection.setups)]
    for program in dict.fromkeys(program for each in needs for program in each):
        if not surroundings.has(program):
            yield f"{program} is not installed: the gates that need it can't pass until it is."
