"""`noface config`: check noface.toml, show what it means, change a value, describe its keys."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from noface.cli.verb import ConfigFile, VerbResult, answers, grouped
from noface.errors import EXIT_USAGE, ConfigError, UsageError

if TYPE_CHECKING:
    from noface.config.sections import Config
    from noface.model.finding import Finding

_HIDDEN = "(hidden)"


@answers("The problems as JSON.")
def check(config: ConfigFile = None) -> VerbResult:
    """Report all problems of noface.toml and of what it names, or that there are none.

    Exit code 0: all is there; 2: `noface run` would not start; 3: something else needs you. Gates are not run.
    """
    from noface.config.load import load_at
    from noface.model.finding import exit_code_of
    from noface.ui.page import finding_lines
    from noface.ui.text import count, hanging

    path = _find(config)
    try:
        loaded = load_at(path, config)
        loaded.require_gates()
    except ConfigError as error:
        return _refused(path, error)
    findings = _findings(loaded, explicit=config is not None)
    code = exit_code_of(findings)
    models = ", then ".join(loaded.retry.models)
    gates = ", ".join(gate.name for gate in loaded.gates)
    verdict = "can be read" if code else "is fine"
    text = f"{config or path.name} {verdict}: {count(len(loaded.gates), 'gate')} ({gates}); models {models}"
    document = {"file": str(path), "ok": not code, "problems": [], "findings": findings}
    lines = lambda _, width: [*hanging(text, width, rest="  "), *finding_lines(findings, width)]  # noqa: E731
    return VerbResult(document, lines, code)


def _refused(path: Path, error: ConfigError) -> VerbResult:
    from noface.config.problems import InvalidConfigError

    problems: list[dict[str, object]] = [{"line": None, "key": "", "message": error.message}]
    if isinstance(error, InvalidConfigError):
        problems = [{"line": each.line, "key": each.key, "message": each.message} for each in error.problems]

    def refuse(*_: object) -> NoReturn:
        raise error

    return VerbResult({"file": str(path), "ok": False, "problems": problems, "findings": []}, refuse, EXIT_USAGE)


@answers("As JSON, durations in seconds.")
def show(config: ConfigFile = None) -> VerbResult:
    """Show the configuration in effect: defaults and presets filled in. Values in `env`, and addresses, are hidden."""
    from noface.config.load import load_at
    from noface.model.quoting import printable_lines

    path = _find(config)
    effective = load_at(path, config).effective()
    for model in effective["models"].values():
        model["env"] = dict.fromkeys(model.get("env", {}), _HIDDEN)
    for key in ("urls", "answers"):
        effective["notify"][key] = [_HIDDEN] * len(effective["notify"][key])

    def lines(*_: object) -> list[str]:
        import tomli_w

        return [f"# {path} with its defaults", *printable_lines(tomli_w.dumps(_without_none(effective))).splitlines()]

    return VerbResult({"file": str(path), "config": effective}, lines)


def schema() -> None:
    """Print the JSON Schema of noface.toml, for editors."""
    import json

    from noface.config.describe import json_schema
    from noface.ui import page

    page.show([json.dumps(json_schema(), indent=2)])


@answers("What was set, as JSON.")
def set_value(
    pairs: list[str] = typer.Argument(
        ..., metavar="KEY VALUE...", help="Keys are dotted, such as retry.max_total_attempts; values are TOML or text."
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Change values, all of them or none, and keep everything else, comments included.

    A table is set as a whole: noface config set models.fast '{ agent = "command", command = "./fast" }'
    """
    from noface.config import edit
    from noface.config.load import read
    from noface.ui.text import clean

    if len(pairs) % 2:
        raise UsageError(f"{pairs[-1]} has no value", "Give each KEY its VALUE; put a value with blanks in quotes.")
    values = list(zip(pairs[::2], pairs[1::2], strict=True))
    path = _find(config)
    before = read(path)
    after = edit.set_values(before, values, str(config or path.name))
    changed = after != before
    if changed:
        replace_file(path, after)
    key, value = values[0]
    document = {"file": str(path), "key": key, "value": value, "changed": changed, "values": dict(values)}
    return VerbResult(
        document,
        lambda *_: [
            f"{f'Set {key} in' if changed else f'{key} was so already in'} {path.name}: {clean(value)}"
            for key, value in values
        ],
    )


def replace_file(path: Path, text: str) -> None:
    """Replace a configuration file in one step, or not at all; of a symlink the target. Raises ConfigError."""
    from noface.process.files import write_atomic

    target = Path(os.path.realpath(path))
    try:
        write_atomic(target, text)
    except OSError as error:
        raise ConfigError(
            f"cannot write {path}: {error.strerror}", f"nothing was changed; noface needs to write in {target.parent}"
        ) from error


@answers("The path as JSON.")
def path(config: ConfigFile = None) -> VerbResult:
    """Print the path of the configuration."""
    file = str(_find(config))
    return VerbResult({"path": file}, lambda *_: [file])


def example() -> None:
    """Print noface.toml.example: every key, with what it is for."""
    from noface.config.describe import render
    from noface.ui import page

    page.show(render().rstrip("\n").split("\n"))


group = partial(
    grouped,
    "Check, show or change noface.toml and its hints.",
    {"check": check, "show": show, "set": set_value, "path": path, "schema": schema, "example": example},
)


def _find(config: Path | None) -> Path:
    from noface.config.load import find
    from noface.git.locate import locate

    return find(Path.cwd() if config is not None else locate(Path.cwd()).root, config)


def _without_none(value: Any) -> Any:
    """TOML has no null: what is unset is left out."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value


def _findings(config: "Config", *, explicit: bool) -> "tuple[Finding, ...]":
    from noface.cli.findings import accept_findings, config_findings, open_issues, repository_of
    from noface.git.locate import locate

    try:
        root = locate(Path.cwd()).root
    except UsageError:
        if not explicit:
            raise
        return config_findings(config, None, Path.cwd())
    repository, refusals = repository_of(root, config)
    told = accept_findings(config, repository, open_issues(config, repository)) if repository is not None else ()
    return (*refusals, *config_findings(config, repository, root), *told)
