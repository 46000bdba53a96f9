"""What a model is asked about a project's gates, and which of its answer, which is data, is taken."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from noface import data
from noface.detection.detected import DetectedGate, DetectedSetup, Detection, joined
from noface.detection.files import ci_files, present, text_of
from noface.prompts.answers.forms import example_of, schema_of
from noface.prompts.structured import Invalid, validate
from noface.prompts.text import code, excerpt, fenced, line

FORM = "init"
"""The name of the schema of the answer, and the role of the model."""
_FILE_BYTES_MAX = 16_000
_ALL_BYTES_MAX = 120_000
_ENDS = re.compile(r"(&&|\|\||[;\n|&])")
_NOTHING = re.compile(
    r"(?:\S*/)?(?:true|:|exit(?:\s+0)?|echo\b.*|printf\b.*|sleep\b.*|(?:python[\d.]*|perl|ruby|node)\s+-[ec]\s*(['\"]?)(?:pass|\d+)?\s*;?\1)|set\s+\+e"
)
_STARTS = re.compile(r"(?:(?:/usr)?(?:/bin/)?(?:env|command|exec|time|nice|(?:ba|da|z)?sh\s+-\w*c)\s+)+")
_SWALLOWS = re.compile(r"(?:tee|cat|head|tail|sed|awk)\b.*")
_DESTROYS = re.compile(
    r"(?:^|[\s;&|(`'\"/])(?:rm|rmdir|unlink|shred|truncate|mkfs\S*|dd|mv|sudo|su|doas)\s"
    r"|\bgit\b[^;&|\n]{0,200}?\s(?:clean|reset|checkout|restore|stash|rm|push|commit|switch|merge|rebase|config|update-ref)\b"
    r"|\s-delete\b|rmtree|\bunlink\(|os\.remove|(?:curl|wget)\b[^|]*\|\s*(?:ba|z|da)?sh\b"
)
_WORDS = re.compile(r"[^\s\"'=();&|<>]+")
_NOWHERE = ("/dev/null", "/usr/bin/env", "/dev/stdin", "/dev/stdout", "/dev/stderr")


def prompt_of(root: Path, detection: Detection) -> str:
    """Return what a model is asked about a project, whose table's proposal is `detection`."""
    setup = joined(detection.setups)
    gates = [{"name": each.name, "command": each.command, "kind": each.kind} for each in detection.gates]
    proposal = {"setup": setup and {"command": setup.command, "keep": setup.keep}, "gates": gates}
    return (
        (data.FOLDER / "proposal.md")
        .read_text("utf-8")
        .format(
            proposal=fenced(json.dumps(proposal, indent=1), "json"),
            files="\n\n".join(_files(root)) or "There are none that describe CI or tasks.",
            example=fenced(json.dumps(example_of(FORM), indent=1), "json"),
            schema=fenced(
                json.dumps({key: part for key, part in schema_of(FORM).items() if key != "examples"}), "json"
            ),
        )
    )


def _files(root: Path) -> Iterator[str]:
    room = _ALL_BYTES_MAX
    for file in (*ci_files(root), *present(root, data.table("ecosystems")["ci"]["manifests"])):
        text = excerpt(text_of(root / file), max(0, min(_FILE_BYTES_MAX, room)))
        room -= len(text)
        yield f"### {code(file)}\n\n{fenced(text)}"
        if room < 1:
            return


def read_answer(text: str, before: Detection, tracked: Collection[str]) -> Detection | Invalid:
    """Return what a model's answer proposes in place of the table's (`before`), or what is wrong with its form."""
    value = validate(text, schema_of(FORM), FORM)
    if isinstance(value, Invalid):
        return value
    setup, notes = _setup(value.get("setup"), joined(before.setups), tracked)
    gates, names = [], dict[str, int]()
    for each in value["gates"]:
        name, command = each["name"], each["command"].strip()
        names[name] = names.get(name, 0) + 1
        name = f"{name}-{names[name]}" if names[name] > 1 else name
        covers = tuple(line(covered) for covered in each.get("covers", ()))
        problem = gate_problem(command) or ""
        gates.append(DetectedGate(name, command, each["kind"], line(each["why"]), covers=covers, refused=problem))
    gates.sort(key=lambda gate: gate.kind != "build")
    left_out = tuple((line(each["what"]), line(each["why"])) for each in value.get("left_out", ()))
    notes = (*before.notes, *notes)
    return replace(before, gates=tuple(gates), setups=setup, notes=notes, left_out=left_out)


def _setup(
    value: Mapping[str, Any] | None, own: DetectedSetup | None, tracked: Collection[str]
) -> tuple[tuple[DetectedSetup, ...], tuple[str, ...]]:
    if value is None:
        return (), ()
    command, keep = value["command"].strip(), tuple(path.rstrip("/") for path in value.get("keep", ()))
    held = next((path for path in keep if any(f"{file}/".startswith(f"{path}/") for file in tracked)), "")
    problem = None if own and command == own.command else command_problem(command)
    problem = f"its keep names {held}, which main has files in" if held else problem
    glob = next((path for path in keep if "*" in path), "")
    problem = f'its keep names "{glob}": keep takes no globs' if glob else problem
    if problem:
        stays = "the table's setup stays" if own else "there is no setup"
        return ((own,) if own else ()), (f"The setup `{line(command)}` was refused: {problem}; {stays}.",)
    return (DetectedSetup(command, tuple(value.get("inputs", ())), keep, line(value["why"])),), ()


def gate_problem(command: str) -> str | None:
    """Say why a command can be no gate, None if nothing speaks against it before it runs."""
    parts = [part if at % 2 else _plain(part) for at, part in enumerate(_ENDS.split(command))]
    while (
        len(parts) > 1 and parts[-2] != "&" and (not parts[-1] or (parts[-2] == "&&" and _NOTHING.fullmatch(parts[-1])))
    ):
        parts = parts[:-2]
    piped = len(parts) > 1 and parts[-2] == "|" and _SWALLOWS.fullmatch(parts[-1]) is not None
    if not parts[-1] or _NOTHING.fullmatch(parts[-1]) or piped:
        return "it passes whatever the work is"
    return command_problem(command)


def _plain(part: str) -> str:
    bare = part.strip()
    started = _STARTS.sub("", bare, count=1)
    return started.strip("'\" ") if started != bare else bare


def command_problem(command: str) -> str | None:
    """Say why a command that a model proposes is not run, None if nothing speaks against it."""
    if found := _DESTROYS.search(command):
        words = found[0].strip(" ;&|(`'\"/")
        return f"it deletes or changes what is there ({words})"
    folders = re.findall(r"\bcd\s+([\w./-]+)", command)
    depth = sum(part not in {"", ".", ".."} for folder in folders for part in folder.split("/"))
    for word in _WORDS.findall(command):
        at_home = word.startswith(("~", "$HOME", "${HOME"))
        absolute = word.startswith("/") and word not in _NOWHERE
        if at_home or absolute or word.split("/").count("..") > depth:
            return f"{line(word)} lies outside the checkout"
    return None
