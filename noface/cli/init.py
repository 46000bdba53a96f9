"""`noface init`: look at the repository and write a noface.toml to start with."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.config.detection import DetectedGate, DetectedSetup, Detection, Surroundings
    from noface.git.repository import Repository

_ISSUES = "issues"
_AGENT = "claude"
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:(?:a|b|rc|\.post)\d+)?$")


def init(
    force: bool = typer.Option(False, "--force", help="Replace the noface.toml that is there."),
    main: str = typer.Option("", "--main", help="The branch that work lands on; by default the one checked out."),
    as_json: bool = typer.Option(False, "--json", help="What noface detected, as JSON."),
) -> None:
    """Write a commented noface.toml and make a folder for issues.

    What the file proposes is detected in the repository.
    """
    from noface.cli.config import replace_file
    from noface.config.detect import detect, render
    from noface.config.load import FILE_NAMES
    from noface.git.repository import discover
    from noface.ui import page

    repository = discover(Path.cwd(), main)
    present = [repository.root / name for name in FILE_NAMES if (repository.root / name).exists()]
    if present and not force:
        raise UsageError(
            f"{present[0].name} is there already: {present[0]}",
            "Check it with `noface config check`, or replace it: `noface init --force`.",
        )
    target = present[0] if present else repository.root / FILE_NAMES[0]
    detection = detect(repository.root, _surroundings(repository))
    replace_file(target, render(detection, repository.main_name))
    issues = repository.root / _ISSUES
    made = not issues.exists()
    issues.mkdir(exist_ok=True)
    if as_json:
        page.show_json(_document(target, repository.main_name, detection))
    else:
        page.show(_lines(target, repository.main_name, detection, made=made, width=page.width()))


def _surroundings(repository: "Repository") -> "Surroundings":
    import shutil

    from noface.config.detection import Surroundings
    from noface.git.command import Git

    tag = Git.sealed(str(repository.common_dir)).run("describe", "--tags", "--abbrev=0", repository.main)
    version = _VERSION.search(tag.text) if tag.code == 0 else None
    return Surroundings(lambda program: shutil.which(program) is not None, version[0] if version else "")


def _document(target: Path, main: str, detection: "Detection") -> dict[str, object]:
    return {
        "file": str(target),
        "main": main,
        "gates": [
            {"name": g.name, "command": g.command, "kind": g.kind, "why": g.why, "set": detection.usable(g)}
            for g in detection.gates
        ],
        "setups": [
            {"command": s.command, "inputs": s.inputs, "keep": s.keep, "why": s.why, "set": detection.usable(s)}
            for s in detection.setups
        ],
        "notes": list(detection.notes),
    }


def _lines(target: Path, main: str, detection: "Detection", *, made: bool, width: int) -> list[str]:
    import shutil

    from noface.ui.page import paint
    from noface.ui.text import clean, hanging

    lines = [paint(f"Wrote {target.name}", "title") + f" for work that lands on {main}."]
    if made:
        lines.append(f"Made {_ISSUES}/ for the issues.")
    lines += ["", "Gates found:" if detection.gates else "No gates found; without one noface does not run."]
    for gate in detection.gates:
        why = f"{gate.kind}: {gate.why}{_in_comment(detection, gate)}"
        lines += [f"  {clean(gate.command)}", *hanging(why, width, "      ")]
    for setup in detection.setups:
        why = " ".join(setup.why.split()) + _in_comment(detection, setup)
        lines += ["", "Setup of a fresh checkout:", f"  {clean(setup.command)}", *hanging(why, width, "      ")]
    for note in detection.notes:
        lines += ["", *hanging(note, width)]
    if shutil.which(_AGENT) is None:
        lines += [
            "",
            *hanging(
                f"The default worker, the program `{_AGENT}`, is not on PATH: install it, or name "
                f"another one in {target.name} ([models]).",
                width,
            ),
        ]
    steps = [
        f"Look over {target.name}" + ("" if detection.gates else " and say there how your project is checked"),
        'noface issue add "What should be done"',
        "noface run --dry-run, then noface run",
    ]
    return [*lines, "", "Next:", *(f"  {number}. {step}" for number, step in enumerate(steps, 1))]


def _in_comment(detection: "Detection", each: "DetectedGate | DetectedSetup") -> str:
    return "" if detection.usable(each) else " (in a comment: see below)"
