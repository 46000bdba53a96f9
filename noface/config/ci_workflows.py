"""The commands that a project's continuous integration runs, read from GitHub's workflows and GitLab's jobs.

Only what is run for a change on Linux counts: not what a tag, a timetable or a person starts, what only another system
runs, or what may fail. Expressions are worked out as far as files say; what is not known counts as true.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Any

from noface import data
from noface.config.detection import table, text_of

_CI = data.table("ci")
_COMBINATIONS_MAX = 60
_DEPTH_MAX = 3
_OTHER_SYSTEM = re.compile(r"windows|macos|osx|arm|freebsd", re.IGNORECASE)
_OTHER_TOOLCHAIN = re.compile(
    r"(^|[-@/])(nightly|beta|miri|canary|experimental)\b|^(pypy|graalpy|rc|canary|tip|head)|^\d+\.\d+t$", re.IGNORECASE
)
_NIGHTLY = re.compile(r"\b(nightly|miri)\b")
_ELSEWHERE = re.compile(r"(docs?|website|site|www|\.github|examples?)/")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_TOKEN = re.compile(r"\s*('(?:[^']|'')*'|&&|\|\||==|!=|<=|>=|[!()<>,]|-?\d+(?:\.\d+)?(?![\w.])|[A-Za-z_][\w.*\[\]'-]*)")
_NO_CHECK = re.compile(_CI["jobs"]["pattern"])
_NOISE = re.compile(_CI["noise"]["pattern"])


@dataclass(frozen=True, slots=True)
class CiStep:
    """A script that a job runs: `where` names file and job, `folder` is where it runs, "" for the top.

    `other` is why it can't be taken over as it is, "" where it can.
    """

    script: str
    where: str
    folder: str = ""
    env: tuple[tuple[str, str], ...] = ()
    other: str = ""


@dataclass(slots=True)
class _Unknown:
    """The value of what files don't say."""


_UNKNOWN = _Unknown()


@dataclass(frozen=True)
class _Run:
    """What holds for the steps of a job: the values of expressions, and what is said of all its steps."""

    values: Mapping[str, object]
    where: str
    folder: str = ""
    env: Mapping[str, object] = field(default_factory=dict)
    other: str = ""


def read_steps(root: Path) -> tuple[CiStep, ...]:
    """Return what CI runs for a change, in the order of its files; nothing where there is none that can be read."""
    steps: list[CiStep] = []
    folder = root / ".github" / "workflows"
    files = sorted(path for path in folder.glob("*.y*ml") if path.is_file()) if folder.is_dir() else []
    for path in files:
        document = read_yaml(path)
        triggers = _triggers(document)
        if event := _event(triggers):
            values = {"github.event_name": event, "github.ref": "refs/heads/main", "runner.os": "Linux"}
            steps += _workflow(root, document, _Run(values, f".github/workflows/{path.name}"), 0)
    steps += _gitlab(read_yaml(root / ".gitlab-ci.yml"))
    return tuple(dict.fromkeys(steps))


def read_yaml(path: Path) -> dict[Any, Any]:
    """Return the mapping that a YAML file holds, an empty one where it holds something else."""
    text = text_of(path)
    if not text:
        return {}
    import yaml

    try:
        # Tags of other programs, such as GitLab's !reference, name nothing here.
        document = yaml.load(text, Loader=_loader())  # noqa: S506 -- it is a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc,unused-ignore]
        pass

    Loader.add_multi_constructor("", lambda *_: None)
    return Loader


def _triggers(document: Mapping[Any, Any]) -> dict[str, Any]:
    # In YAML 1.1 `on` is a truth.
    value = document.get("on", document.get(True))
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
        elsewhere = isinstance(paths, list) and all(_ELSEWHERE.match(str(path)) for path in paths)
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
    if not _holds(job.get("if"), run.values):
        return
    if isinstance(uses := job.get("uses"), str):
        inputs = {f"inputs.{key}": value for key, value in table(job, "with").items()}
        if uses.startswith("./") and depth < _DEPTH_MAX:
            called = read_yaml(root / uses.removeprefix("./"))
            yield from _workflow(
                root, called, _Run({**run.values, **_defaults(called), **inputs}, run.where), depth + 1
            )
        elif not uses.startswith("./"):
            yield CiStep("", run.where, other=f"it is the workflow {uses}, of another repository")
        return
    runner = job.get("runs-on")
    names = [runner] if isinstance(runner, str) else runner if isinstance(runner, list) else []
    if any(_OTHER_SYSTEM.search(_filled(str(name), run.values)) for name in names):
        return
    yield from _steps(root, job.get("steps"), run, depth)


def _defaults(called: Mapping[Any, Any]) -> dict[str, object]:
    inputs = table(_triggers(called), "workflow_call", "inputs") or table(called, "inputs")
    return {f"inputs.{key}": table(inputs, key).get("default", "") for key in inputs}


def _steps(root: Path, steps: object, run: _Run, depth: int) -> Iterator[CiStep]:
    other, at = run.other, ""
    for step in steps if isinstance(steps, list) else ():
        if (
            not isinstance(step, dict)
            or step.get("continue-on-error") is True
            or not _holds(step.get("if"), run.values)
        ):
            continue
        uses, given = _filled(str(step.get("uses") or ""), run.values), table(step, "with")
        action, _, version = uses.partition("@")
        if "toolchain" in action and _NIGHTLY.search(_filled(str(given.get("toolchain") or version), run.values)):
            other = "it uses another toolchain"
        if action == "actions/checkout":
            at = _filled(str(given.get("path") or ""), run.values)
        if uses.startswith("./") and depth < _DEPTH_MAX:
            composite = _composite(root, uses.removeprefix("./"))
            values = {**run.values, **_defaults(composite), **{f"inputs.{key}": value for key, value in given.items()}}
            inner = _Run(values, run.where, run.folder, run.env, other)
            yield from _steps(root, table(composite, "runs").get("steps"), inner, depth + 1)
            continue
        script = _CI["actions"].get(action) or step.get("run")
        if action == "actions-rs/cargo":
            script = f"cargo {given.get('command', '')} {given.get('args', '')}"
        if not isinstance(script, str) or not str(step.get("shell", "bash")).startswith(("bash", "sh")):
            continue
        env = {**run.env, **table(step, "env")}
        folder = _filled(str(step.get("working-directory", run.folder)), run.values)
        folder = folder.removeprefix(at) if at else folder
        values = {**run.values, **{f"env.{key}": value for key, value in env.items()}}
        texts = ((key, _filled(str(value), values)) for key, value in env.items() if not isinstance(value, dict | list))
        kept = tuple((key, text) for key, text in texts if text and "${{" not in text and not _NOISE.match(key))
        yield CiStep(_filled(script, values).strip(), run.where, folder, kept, other)


def _composite(root: Path, folder: str) -> dict[Any, Any]:
    return read_yaml(root / folder / "action.yml") or read_yaml(root / folder / "action.yaml")


def _combinations(matrix: Mapping[str, Any], values: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Yield the values of expressions for each combination of a matrix that runs with tools that are released."""
    axes = {
        key: options
        for key, options in matrix.items()
        if isinstance(options, list) and key not in {"include", "exclude"}
    }
    made = (
        [dict(zip(axes, options, strict=True)) for options in islice(product(*axes.values()), _COMBINATIONS_MAX)]
        if axes
        else []
    )
    excluded = (
        [each for each in matrix.get("exclude") or () if isinstance(each, dict)]
        if isinstance(matrix.get("exclude"), list)
        else []
    )
    made = [each for each in made if not any(gone.items() <= each.items() for gone in excluded)]
    more = matrix.get("include")
    for extra in more if isinstance(more, list) else ():
        if not isinstance(extra, dict):
            continue
        fitting = [each for each in made if all(each.get(key) == extra[key] for key in extra.keys() & axes.keys())]
        if fitting and axes and extra.keys() & axes.keys():
            for each in fitting:
                each.update(extra)
        else:
            made.append(dict(extra))
    released = [each for each in made if not any(_OTHER_TOOLCHAIN.search(str(value)) for value in each.values())]
    for each in released or made or [{}]:
        yield {**values, **dict(_flat("matrix", each))}


def _flat(name: str, value: object) -> Iterator[tuple[str, object]]:
    yield name, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}", inner)


# Expressions


def _holds(condition: object, values: Mapping[str, object]) -> bool:
    if condition is None:
        return True
    text = str(condition).strip()
    inner = _EXPRESSION.fullmatch(text)
    value = evaluate(inner[1] if inner else text, values) if "${{" not in text or inner else _UNKNOWN
    return value is _UNKNOWN or bool(value)


def _filled(text: str, values: Mapping[str, object]) -> str:
    """Return a text with its expressions worked out; what is not known stays as it is."""

    def worked_out(match: re.Match[str]) -> str:
        value = evaluate(match[1], values)
        if value is None:
            return ""
        return (
            match[0]
            if isinstance(value, _Unknown | dict | list)
            else str(value).lower()
            if isinstance(value, bool)
            else str(value)
        )

    return _EXPRESSION.sub(worked_out, text)


def evaluate(text: str, values: Mapping[str, object]) -> object:
    """Return what an expression of GitHub's is worth, as far as `values` say."""
    tokens = [match[1] for match in _TOKEN.finditer(text)]
    if "".join(tokens) != re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", text):
        return _UNKNOWN
    try:
        value, rest = _either(tokens, values)
    except (IndexError, RecursionError):
        return _UNKNOWN
    return _UNKNOWN if rest else value


def _either(tokens: list[str], values: Mapping[str, object]) -> tuple[object, list[str]]:
    value, rest = _both(tokens, values)
    while rest[:1] == ["||"]:
        other, rest = _both(rest[1:], values)
        value = value if value is not _UNKNOWN and value else _UNKNOWN if value is _UNKNOWN and not other else other
    return value, rest


def _both(tokens: list[str], values: Mapping[str, object]) -> tuple[object, list[str]]:
    value, rest = _comparison(tokens, values)
    while rest[:1] == ["&&"]:
        other, rest = _comparison(rest[1:], values)
        if value is _UNKNOWN:
            value = False if other is not _UNKNOWN and not other else _UNKNOWN
        elif value:
            value = other
    return value, rest


def _comparison(tokens: list[str], values: Mapping[str, object]) -> tuple[object, list[str]]:
    left, rest = _operand(tokens, values)
    if rest[:1] not in (["=="], ["!="]):
        return (_UNKNOWN, []) if rest[:1] in (["<"], [">"], ["<="], [">="]) else (left, rest)
    right, after = _operand(rest[1:], values)
    if _UNKNOWN in (left, right):
        return _UNKNOWN, after
    same = str("" if left is None else left).lower() == str("" if right is None else right).lower()
    return same == (rest[0] == "=="), after


def _operand(tokens: list[str], values: Mapping[str, object]) -> tuple[object, list[str]]:
    first, *rest = tokens
    if first == "!":
        value, rest = _operand(rest, values)
        return (_UNKNOWN if value is _UNKNOWN else not value), rest
    if first == "(":
        value, rest = _either(rest, values)
        return value, rest[1:]
    if first.startswith("'"):
        return first[1:-1].replace("''", "'"), rest
    if rest[:1] == ["("]:
        return _call(first.lower(), rest[1:], values)
    if first in {"true", "false"}:
        return first == "true", rest
    if first == "null":
        return None, rest
    if first.startswith(("matrix.", "inputs.")) and first not in values:
        return None, rest  # a matrix leaves out what a combination does not have
    return values.get(first, first if first[0].isdigit() else _UNKNOWN), rest


def _call(name: str, tokens: list[str], values: Mapping[str, object]) -> tuple[object, list[str]]:
    arguments: list[object] = []
    rest = tokens
    while rest[0] != ")":
        value, rest = _either(rest, values)
        arguments.append(value)
        rest = rest[1:] if rest[0] == "," else rest
    rest = rest[1:]
    if name in {"always", "success"}:
        return True, rest
    if name in {"failure", "cancelled"}:
        return False, rest
    if _UNKNOWN in arguments:
        return _UNKNOWN, rest
    words = ["" if value is None else str(value) for value in arguments]
    match name, words:
        case "startswith", [text, start]:
            return text.lower().startswith(start.lower()), rest
        case "endswith", [text, end]:
            return text.lower().endswith(end.lower()), rest
        case "contains", [text, part] if not isinstance(arguments[0], list):
            return part.lower() in text.lower(), rest
        case "format", [form, *parts]:
            return re.sub(r"\{(\d+)\}", lambda m: parts[int(m[1])] if int(m[1]) < len(parts) else "", form), rest
        case _:
            return _UNKNOWN, rest


# GitLab

_NO_JOBS = frozenset(
    (
        "default",
        "include",
        "stages",
        "variables",
        "workflow",
        "image",
        "services",
        "cache",
        "before_script",
        "after_script",
        "pages",
    )
)


def _gitlab(document: Mapping[Any, Any]) -> Iterator[CiStep]:
    for name, job in document.items():
        if not isinstance(job, dict) or str(name).startswith(".") or name in _NO_JOBS:
            continue
        above = document.get(job["extends"]) if isinstance(job.get("extends"), str) else None
        whole = {**(above if isinstance(above, dict) else {}), **job}
        only = str(whole.get("only") or "")
        if (
            whole.get("allow_failure") is True
            or whole.get("when") in {"manual", "delayed"}
            or only in {"tags", "['tags']"}
        ):
            continue
        variables = {**table(document, "variables"), **table(whole, "variables")}
        env = tuple(
            (key, str(value))
            for key, value in variables.items()
            if not isinstance(value, dict) and "$" not in str(value) and not _NOISE.match(key)
        )
        scripts = (whole.get(key, document.get(key)) for key in ("before_script", "script"))
        lines = [line for script in scripts for line in _lines(script)]
        yield CiStep("\n".join(lines), f".gitlab-ci.yml, job {name}", env=env)


def _lines(script: object) -> Iterable[str]:
    items = [script] if isinstance(script, str) else script if isinstance(script, list) else []
    return [item for item in items if isinstance(item, str)]
