"""What `noface init` tells: the gates it found, what CI runs, what is ready on GitHub, and what to do next."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from noface.detection.detected import Detection
from noface.model.description import Inline
from noface.ui.doctor import Point, check_rows
from noface.ui.page import paint
from noface.ui.text import clean, fit, hanging, pad

_ROOM = 9
_CI_MAX = 30


@dataclass(frozen=True, slots=True)
class Ready:
    """How far a repository on GitHub is ready; `made_label`: its label was made just now."""

    repository: str
    host: str
    label: str
    checks: tuple[Point, ...]
    made_label: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """What was written; `stayed` are the commands of the person's own gates by name, `remarks` follow the steps."""

    file: Annotated[str, "The configuration."]
    main: Annotated[str, "The branch that work lands on."]
    goes: str
    detection: Annotated[Detection, Inline]
    stayed: dict[str, str]
    backup: str = ""
    issues: str = ""
    github: Annotated[Ready | None, "How far GitHub is ready; null if it is not used."] = None
    remarks: tuple[str, ...] = ()
    asked: Annotated[dict[str, object] | None, "With --ask: the model, and what it has cost."] = None


def init_page(made: Made, width: int) -> Iterator[str]:
    """Yield the lines of the page."""
    name = made.file.rpartition("/")[2]
    yield paint(f"Wrote {name}", "title") + f" for work that {made.goes} {made.main}."
    if made.backup:
        stayed = f"Your models, gates and other settings stayed in it; the file as it was is {made.backup}."
        yield from hanging(stayed, width)
    if made.issues:
        yield f"Made {made.issues}/ for the issues."
    yield from _gates(made, width)
    yield from _ci(made.detection, width)
    for note in made.detection.notes:
        yield from ("", *hanging(note, width))
    if made.github is not None:
        yield from _github(made.github, width)
    lacks = "" if made.detection.has("test") else " and say there how your project is tested"
    label = 'noface issues add "What should be done"'
    if made.github is not None:
        page = f"https://{made.github.host}/{made.github.repository}/issues"
        label = f"Give an issue the label {made.github.label}: {page}"
    steps = (f"Look over {name}{lacks}", label, "noface run --dry-run, then noface run")
    yield from ("", "Next:", *(f"  {number}. {step}" for number, step in enumerate(steps, 1)))
    for remark in made.remarks:
        yield from ("", *hanging(remark, width))


def _gates(made: Made, width: int) -> Iterator[str]:
    gates = [gate for gate in made.detection.gates if not gate.refused]
    yield from ("", "Gates found:" if gates else "No gates found; without one noface does not run.")
    for gate in gates:
        why = f"{gate.kind}: {gate.why}"
        if (own := made.stayed.get(gate.name, gate.command)) != gate.command:
            why += f"; yours stayed: {own}"
        yield f"  {clean(gate.command)}"
        for text in (why, *(f"CI: {covered}" for covered in gate.covers)):
            yield from hanging(clean(text), width, "      ")
    refused = [gate for gate in made.detection.gates if gate.refused]
    yield from ("", "Proposed, and no gate (in comments):") if refused else ()
    for gate in refused:
        yield from (f"  {clean(gate.command)}", *hanging(clean(gate.refused), width, "      "))
    for setup in made.detection.setups:
        yield from ("", "Setup of a fresh checkout:", f"  {clean(setup.command)}")
        yield from hanging(clean(" ".join(setup.why.split())), width, "      ")


def _ci(detection: Detection, width: int) -> Iterator[str]:
    covered = {command for gate in detection.gates if not gate.refused for command in gate.covers}
    left = {what for what, _ in detection.left_out}
    more = [(command, where) for command, where in detection.ci if command not in covered | left]
    if detection.left_out:
        yield from ("", "CI does more, which no gate can:")
        for what, why in detection.left_out:
            yield from hanging(f"{clean(what)}: {clean(why)}", width, "  ", "    ")
    yield from ("", "CI runs this; compare the gates with it:") if more else ()
    before = ""
    for command, where in more[:_CI_MAX]:
        yield from () if where == before else hanging(f"{clean(where)}:", width, "  ", "    ")
        yield fit(f"    {clean(command)}", width)
        before = where
    if len(more) > _CI_MAX:
        yield f"    and {len(more) - _CI_MAX} more"


def _github(ready: Ready, width: int) -> Iterator[str]:
    title = f"{ready.repository} on {ready.host}: what `noface run` does there, and nothing before it"
    yield from ("", paint(title, "title"))
    rows = (
        ("reads", f"open issues with the label {ready.label}, and answers, of people with write access; the issues"),
        ("", "of others as they are when such people set the label"),
        ("pushes", "branches noface/<id>, and the lease refs/noface/lease; never main"),
        ("writes", "one pull request an issue, its labels, one comment on it that is edited in place, and questions"),
    )
    for verb, what in rows:
        yield from hanging(what, width, f"  {pad(verb, _ROOM)}", " " * (_ROOM + 2))
    yield from ("", "Its token needs: contents, issues, pull requests: read and write;")
    yield from ("  actions, commit statuses: read.", "")
    yield from (f"Made the label {ready.label}.", "") if ready.made_label else ()
    yield from check_rows(ready.checks, width)
