"""Writes what was detected into the noface.toml that `noface init` makes."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from noface import data
from noface.config.edit import toml_text
from noface.detection.detected import Detection, joined

_MODELS = ("claude-sonnet", "claude-opus")
_WIDTH_MAX = 108
_CI_MAX = 40


def render(
    detection: Detection, main_branch: str, *, github: bool = False, models: Sequence[str] = _MODELS, worker: str = ""
) -> str:
    """Return a commented noface.toml that loads as it stands; `main_branch` "" leaves the branch open."""
    texts = data.table("config_files")["init"]
    parts = ["\n".join(_project(detection, main_branch)), "\n".join(_gates(detection, texts))]
    parts += [texts["github"]] if github else []
    parts += [texts["worker"].format(command=toml_text(worker)).replace("{{", "{").replace("}}", "}")] if worker else []
    names = [toml_text(name) for name in (("worker",) if worker else models)]
    default, stronger = names[0], names[-1]
    parts.append(texts["two_models" if len(names) > 1 else "one_model"].format(default=default, stronger=stronger))
    return "\n".join((texts["intro"], *parts, texts["rest"].lstrip("\n")))


def _project(detection: Detection, main_branch: str) -> Iterator[str]:
    yield "[project]"
    yield f"main = {toml_text(main_branch)}" if main_branch else '#main = "main"'
    # The key can be given once, so one setup does all.
    if setup := joined(detection.setups):
        yield ""
        yield from (f"# {line}" for line in setup.why.split("\n"))
        yield f"setup = {toml_text(setup.command)}"
        if setup.inputs:
            yield f"setup_inputs = {toml_text(setup.inputs)}"
        if setup.keep:
            yield f"keep = {toml_text(setup.keep)}"
    yield ""


def _comment(text: str) -> Iterator[str]:
    lines = textwrap.wrap(text, _WIDTH_MAX, break_long_words=False, break_on_hyphens=False)
    return (f"# {'  ' if index else ''}{line}" for index, line in enumerate(lines))


def _gates(detection: Detection, texts: Mapping[str, str]) -> Iterator[str]:
    for note in detection.notes:
        yield from _comment(note)
    if detection.ci:
        yield "# CI runs these. Add as gates what must hold and no gate below checks."
        for command, _ in detection.ci[:_CI_MAX]:
            yield f"#   {command if command.isprintable() else ascii(command)}"
    if detection.notes or detection.ci:
        yield ""
    if not any(not gate.refused for gate in detection.gates):
        yield texts["no_gates"]
    else:
        yield texts["gates"]
    for gate in detection.gates:
        mark = "#" if gate.refused else ""
        yield from _comment(gate.why + (f"; it is no gate: {gate.refused}" if gate.refused else ""))
        for command in gate.covers:
            yield from _comment(f"CI: {command}")
        yield f"{mark}[[gates]]"
        yield f"{mark}name = {toml_text(gate.name)}"
        yield f"{mark}command = {toml_text(gate.command)}".replace("\n", f"\n{mark}")
        yield f"{mark}kind = {toml_text(gate.kind)}"
        yield ""
    if detection.gates and not detection.has("test"):
        yield texts["no_test"]
