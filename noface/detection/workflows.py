"""The commands that a project's continuous integration runs: those of GitHub's workflows, and of GitLab's jobs.

Only what is run for a change on Linux counts: not what a tag, a timetable or a person starts, what only another system
runs, or what may fail. Expressions are worked out as far as files say; what is not known counts as true.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Any

from noface.detection.detected import CI, NOISE, CiStep
from noface.detection.expressions import filled, holds
from noface.detection.files import table, texts, yaml_of

_COMBINATIONS_MAX = 60
_DEPTH_MAX = 3
_OTHER_SYSTEM = re.compile(r"windows|macos|osx|arm|freebsd", re.IGNORECASE)
_OTHER_TOOLCHAIN = re.compile(
    r"(^|[-@/])(nightly|beta|miri|canary|experimental)\b|^(pypy|graalpy|rc|canary|tip|head)|^\d+\.\d+t$", re.IGNORECASE
)
_NIGHTLY = re.compile(r"\b(nightly|miri)\b")
_ELSEWHERE = re.compile(r"(docs?|website|site|www|\.github|examples?)/")
_NO_CHECK = re.compile(CI["jobs"]["pattern"])


@dataclass(frozen=True)
class _Run:
    """What holds for the steps of a job: the values of expressions, and what is said of all its steps."""

    values: Mapping[str, object]
    where: str
    folder: str = ""
    env: Mapping[str, object] = field(default_factory=dict)
    other: str = ""


def read_steps(root: Path) -> tuple[CiStep, ...]:
    """Return what CI runs for a change, in the order of its files; nothing if there is none that can be read."""
    steps: list[CiStep] = []
    folder = root / ".github" / "workflows"
    files = sorted(path for path in folder.glob("*.y*ml") if path.is_file()) if folder.is_dir() else []
    for path in files:
        document = yaml_of(path)
        triggers = _triggers(document)
        if event := _event(triggers):
            values = {"github.event_name": event, "github.ref": "refs/heads/main", "runner.os": "Linux"}
            steps += _workflow(root, document, _Run(values, f".github/workflows/{path.name}"), 0)
    steps += gitlab_steps(root)
    return tuple(dict.fromkeys(steps))


def _triggers(document: Mapping[Any, Any]) -> dict[str, Any]:
    value = document.get("on")
    if isinstance(value, str):
        return {value: None}
    if isinstance(value, list):
        return dict.fromkeys(map(str, value))
    return value if isinstance(value, dict) else {}


def _event(triggers: Mapping[str, Any]) -> str:
    """Return the event for which a workflow checks changes of code, "" if for none."""
    for event in ("push", "pull_request", "pull_request_target", "merge_group"):
        if event not in triggers:
            continue
        only = table(triggers, event)
        paths = only.get("paths")
        # A workflow for changes of the documentation alone checks no code.
        elsewhere = isinstance(paths, list) and all(_ELSEWHERE.match(str(path)) for path in paths)
        # With tags and without branches it runs for releases alone.
        tags = event == "push" and "tags" in only and not {"branches", "branches-ignore"} & only.keys()
        if not tags and not elsewhere:
            return event
    return ""


def _workflow(root: Path, document: Mapping[Any, Any], run: _Run, depth: int) -> Iterator[CiStep]:
    for name, job in table(document, "jobs").items():
        if not isinstance(job, dict) or job.get("continue-on-error") is True:
            continue
        if _NO_CHECK.search(str(name)) or _NO_CHECK.match(run.where.rpartition("/")[2]):
            continue
        for values in islice(_combinations(table(job, "strategy", "matrix"), run.values), _COMBINATIONS_MAX):
            env = {**run.env, **table(document, "env"), **table(job, "env")}
            folder = table(job, "defaults", "run").get("working-directory", run.folder)
            yield from _job(root, job, _Run(values, f"{run.where}, job {name}", str(folder), env), depth)


def _job(root: Path, job: dict[str, Any], run: _Run, depth: int) -> Iterator[CiStep]:
    if not holds(job.get("if"), run.values):
        return
    if isinstance(uses := job.get("uses"), str):
        inputs = {f"inputs.{key}": value for key, value in table(job, "with").items()}
        if uses.startswith("./") and depth < _DEPTH_MAX:
            called = yaml_of(root / uses.removeprefix("./"))
            yield from _workflow(
                root, called, _Run({**run.values, **_defaults(called), **inputs}, run.where), depth + 1
            )
        elif not uses.startswith("./"):
            yield CiStep("", run.where, other=uses)
        return
    runner = job.get("runs-on")
    names = [runner] if isinstance(runner, str) else runner if isinstance(runner, list) else []
    if any(_OTHER_SYSTEM.search(filled(str(name), run.values)) for name in names):
        return
    yield from _steps(root, job.get("steps"), run, depth)


def _defaults(called: Mapping[Any, Any]) -> dict[str, object]:
    inputs = table(_triggers(called), "workflow_call", "inputs") or table(called, "inputs")
    return {f"inputs.{key}": table(inputs, key).get("default", "") for key in inputs}


def _steps(root: Path, steps: object, run: _Run, depth: int) -> Iterator[CiStep]:
    other, at = run.other, ""
    for step in steps if isinstance(steps, list) else ():
        if not isinstance(step, dict) or step.get("continue-on-error") is True or not holds(step.get("if"), run.values):
            continue
        uses, given = filled(str(step.get("uses") or ""), run.values), table(step, "with")
        action, _, version = uses.partition("@")
        if "toolchain" in action and _NIGHTLY.search(filled(str(given.get("toolchain") or version), run.values)):
            other = "it uses another toolchain"
        if action == "actions/checkout":
            at = filled(str(given.get("path") or ""), run.values)
        if uses.startswith("./") and depth < _DEPTH_MAX:
            place = root / uses.removeprefix("./")
            composite = yaml_of(place / "action.yml") or yaml_of(place / "action.yaml")
            values = {**run.values, **_defaults(composite), **{f"inputs.{key}": value for key, value in given.items()}}
            inner = _Run(values, run.where, run.folder, run.env, other)
            yield from _steps(root, table(composite, "runs").get("steps"), inner, depth + 1)
            continue
        script = CI["actions"].get(action) or step.get("run")
        if action == "actions-rs/cargo":
            script = f"cargo {given.get('command', '')} {given.get('args', '')}"
        if not isinstance(script, str) or not str(step.get("shell", "bash")).startswith(("bash", "sh")):
            continue
        env = {**run.env, **table(step, "env")}
        folder = filled(str(step.get("working-directory", run.folder)), run.values)
        # A checkout into a folder is the top of the repository: here that folder does not exist.
        folder = folder.removeprefix(at) if at else folder
        values = {**run.values, **{f"env.{key}": value for key, value in env.items()}}
        plain = {key: filled(_text(value), values) for key, value in env.items() if not isinstance(value, dict | list)}
        kept = tuple((key, text) for key, text in plain.items() if text and "${{" not in text and not NOISE.match(key))
        yield CiStep(filled(script, values).strip(), run.where, folder, kept, other)


def _text(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _combinations(matrix: Mapping[str, Any], values: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Yield the values of expressions for each combination of a matrix that runs with tools that are released."""
    axes = {
        key: options
        for key, options in matrix.items()
        if isinstance(options, list) and key not in {"include", "exclude"}
    }
    options = islice(product(*axes.values()), _COMBINATIONS_MAX if axes else 0)
    made = [dict(zip(axes, chosen, strict=True)) for chosen in options]
    made = [each for each in made if not any(gone.items() <= each.items() for gone in _entries(matrix, "exclude"))]
    for extra in _entries(matrix, "include"):
        fitting = [each for each in made if all(each.get(key) == extra[key] for key in extra.keys() & axes.keys())]
        if fitting and axes and extra.keys() & axes.keys():
            for each in fitting:
                each.update(extra)
        else:
            made.append(dict(extra))
    released = [each for each in made if not any(_OTHER_TOOLCHAIN.search(str(value)) for value in each.values())]
    # Of a matrix of pre-releases alone these are better than nothing; a job without a matrix runs once.
    for each in released or made or [{}]:
        yield {**values, **dict(_flat("matrix", each))}


def _entries(matrix: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    entries = matrix.get(key)
    return [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []


def _flat(name: str, value: object) -> Iterator[tuple[str, object]]:
    yield name, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}", inner)


_NO_JOBS = frozenset(CI["gitlab"]["no_jobs"])


def gitlab_steps(root: Path) -> Iterator[CiStep]:
    """Yield the script of each job."""
    document = yaml_of(root / ".gitlab-ci.yml")
    for name, job in document.items():
        if not isinstance(job, dict) or str(name).startswith(".") or name in _NO_JOBS:
            continue
        above = document.get(job["extends"]) if isinstance(job.get("extends"), str) else None
        whole = {**(above if isinstance(above, dict) else {}), **job}
        only = str(whole.get("only") or "")
        by_person, of_tags = whole.get("when") in {"manual", "delayed"}, only in {"tags", "['tags']"}
        if whole.get("allow_failure") is True or by_person or of_tags:
            continue
        variables = {**table(document, "variables"), **table(whole, "variables")}
        env = tuple(
            (key, str(value))
            for key, value in variables.items()
            if not isinstance(value, dict) and "$" not in str(value) and not NOISE.match(key)
        )
        scripts = (whole.get(key, document.get(key)) for key in ("before_script", "script"))
        lines = (line for script in scripts for line in ((script,) if isinstance(script, str) else texts(script)))
        yield CiStep("\n".join(lines), f".gitlab-ci.yml, job {name}", env=env)
