"""The noface.toml that `noface init` writes: what was found, what is usual, and comments on what can be changed."""

from collections.abc import Iterator

from noface.config.detection import DetectedSetup, Detection, joined
from noface.config.toml_text import toml_text

_INTRO = """\
# How noface works through this project's issues. `noface config example` shows every key, with what it is for;
# whatever is left out has its default. Unknown keys are errors.
"""
_NO_GATES = """\
# No gates were found: nothing here looked like a test, a linter or a build. A gate is a command that must pass
# before work lands on main, and without one noface does not run. Say how your project is checked, for example:
#
#[[gates]]
#name = "unit"
#command = "./run-tests"
#kind = "test"
"""
_NO_TEST = """\
# No tests were found, only the gates above. Work that they can't tell from broken work will land.
"""
_GATES = """\
# Gates are commands that must pass before work lands on main. They run at the top of a fresh checkout.
"""
_REST = """\
# After two failed attempts the stronger model takes over; after five the issue waits for you.
[retry]
default_model = "claude-sonnet"
escalation_model = "claude-opus"
escalate_after_attempts = 2
max_total_attempts = 5

# How many issues are worked on at once, and when a run stops by itself.
[run]
workers = 1
#max_cost_usd = 20
#max_hours = 8

# Advice for the next attempt when a failure matches: by label, language, path, error_pattern or error_regex.
#[[failure_hints]]
#label = "migration"
#hint = "Migration issues often need schema changes first. Check schema files."
"""


def render(detection: Detection, main_branch: str) -> str:
    """Return a commented noface.toml that loads as it stands; `main_branch` "" leaves the branch open."""
    return "\n".join((_INTRO, "\n".join(_project(detection, main_branch)), "\n".join(_gates(detection)), _REST))


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


def _gates(detection: Detection) -> Iterator[str]:
    for note in detection.notes:
        yield f"# {' '.join(note.split())}"
    if not detection.gates:
        yield _NO_GATES
        return
    yield _GATES
    for gate in detection.gates:
        mark = "" if detection.usable(gate) else "#"
        yield f"# {' '.join(gate.why.split())}"
        yield f"{mark}[[gates]]"
        yield f"{mark}name = {toml_text(gate.name)}"
        yield f"{mark}command = {toml_text(gate.command)}"
        yield f"{mark}kind = {toml_text(gate.kind)}"
        yield ""
    if not any(gate.kind == "test" and detection.usable(gate) for gate in detection.gates):
        yield _NO_TEST
