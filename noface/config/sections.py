"""The sections of noface.toml that say what the project is and how a run treats it.

The first line of each docstring and every description end up in noface.toml.example and in the JSON Schema.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from noface.config.values import (
    Branch,
    Command,
    Duration,
    EnvPattern,
    FilledRegex,
    FilledText,
    Glob,
    HostPath,
    InnerPath,
    Items,
    Money,
    Name,
    OptionalPath,
    SlotsDir,
    Text,
)
from noface.core.protection import default_protected


class Section(BaseModel):
    """A table of noface.toml: unknown keys are errors, types are TOML's own, nothing changes afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


SandboxKind = Literal["auto", "bubblewrap", "none"]
Network = Literal["on", "off"]
GateFailure = Literal[
    "SYNTAX_ERROR", "RUNTIME_ERROR", "TEST_FAILURE", "LINT_FAILURE", "NO_TESTS", "TIMEOUT", "ENVIRONMENT"
]
"""The kinds of the failure taxonomy that a gate can fail with."""


class Project(Section):
    """The project and how a fresh checkout of it is made ready for work."""

    name: Text = Field(
        default="", description="what the project is called; by default its folder's name", examples=["shop"]
    )
    main: Branch = Field(
        default="", description="the branch that work lands on; by default the one checked out", examples=["main"]
    )
    setup: Text = Field(
        default="",
        description="shell command run in a new workspace, and again when a file of setup_inputs changed",
        examples=["npm ci"],
    )
    setup_inputs: Items[Glob] = Field(
        default=(), description="the files (paths or globs) that setup depends on", examples=[["package-lock.json"]]
    )
    keep: Items[InnerPath] = Field(
        default=(),
        description="paths that setup makes and that survive cleaning a workspace",
        examples=[["node_modules"]],
    )
    setup_timeout: Duration = Field(default=600.0, description="time limit of setup")
    setup_env_pass: Items[EnvPattern] = Field(
        default=(),
        description="variables of noface's environment that setup gets beside the usual; * stands for any letters",
        examples=[["NPM_TOKEN"]],
    )
    setup_sandbox: SandboxKind | None = Field(
        default=None, description="the sandbox setup runs in; by default that of [sandbox]", examples=["none"]
    )


class Run(Section):
    """One run of noface: how wide, how long, at what cost."""

    workers: int = Field(default=1, ge=1, le=64, description="how many issues are worked on at once (1 to 64)")
    max_cost_usd: Money | None = Field(
        default=None, description="stop the run at this cost, in US dollars", examples=[20.0]
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="stop the run at so many tokens, read and written", examples=[20_000_000]
    )
    max_hours: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="stop the run after so many hours", examples=[8]
    )
    max_iterations: int | None = Field(
        default=None, ge=1, description="stop the run after so many attempts", examples=[100]
    )
    slots_dir: SlotsDir = Field(
        default="",
        description="where workspaces lie, outside the repository; by default in the user's cache folder",
        examples=["~/noface-slots"],
    )
    allow_leaky_gates: bool = Field(
        default=False,
        description="true: run with gates that reach your checkout or test something else than the workspace",
    )
    baseline: Literal["require-green", "only-new"] = Field(
        default="require-green",
        description='what main must be: "require-green", or "only-new" to accept tests that fail on main already',
    )


class Gate(Section):
    """A command that work must pass before it lands; run by bash at the top of a checkout."""

    name: Name = Field(description="a unique name, of letters, digits, - _ .", examples=["unit"])
    command: Command = Field(
        description="the shell command; exit code 0 means passed", examples=["python -m pytest -q"]
    )
    kind: Literal["build", "lint", "test"] = Field(
        default="test", description='"build", "lint" or "test"; only what a build leaves is there for later gates'
    )
    hard: bool = Field(default=True, description="true: must pass; false: only reported")
    timeout: Duration = Field(default=600.0, description="time limit of one run")
    retries: int = Field(
        default=0,
        ge=0,
        le=3,
        description="run it again so often (0 to 3) where it fails; passing then marks it as flaky, which is shown",
    )
    fixes: bool = Field(
        default=False,
        description="true: what it changes in files of the work (a formatter, `--fix`) becomes part of the work, and"
        " all gates run again; false: a gate that changes files fails",
    )
    report: OptionalPath = Field(
        default="",
        description="the JUnit XML file that the command writes, inside the repository",
        examples=["report.xml"],
    )
    env_pass: Items[EnvPattern] = Field(
        default=(),
        description="variables of noface's environment that it gets beside the usual; * stands for any letters",
        examples=[["DATABASE_URL"]],
    )
    sandbox: SandboxKind | None = Field(
        default=None, description="the sandbox it runs in; by default that of [sandbox]", examples=["none"]
    )
    canary: bool = Field(
        default=True,
        description="true: noface proves once that it turns red where the project's sources are broken",
    )
    canary_reason: Text = Field(
        default="",
        description="why it rightly stays green then; needed with canary = false",
        examples=["checks the docs"],
    )
    network: Network | None = Field(
        default=None,
        description='whether it reaches the network in the sandbox: "on" or "off"; by default as [sandbox] says',
        examples=["off"],
    )


class GateRule(Section):
    """A pattern that names a failure of this project's gates; it explains a red gate and never makes it green."""

    name: Name = Field(
        description="a unique name, shown as project:NAME by `noface why`, `show` and `classify`", examples=["db-away"]
    )
    kind: GateFailure = Field(
        description="what the failure is: SYNTAX_ERROR, RUNTIME_ERROR, TEST_FAILURE, LINT_FAILURE, NO_TESTS, TIMEOUT or"
        " ENVIRONMENT",
        examples=["ENVIRONMENT"],
    )
    pattern: FilledRegex = Field(
        description="a regular expression that a line of its output matches; groups file and line give the place",
        examples=["^db: no route to \\S+"],
    )
    example: FilledText = Field(
        description="such a line; the pattern is tried on it", examples=["db: no route to 10.0.0.7"]
    )
    even_in_tests: bool = Field(
        default=False, description="true: it counts also where tests ran and failed, and wins over what they say"
    )


class Sandbox(Section):
    """What agents, gates and setup may read, write and reach; docs/sandbox.md tells more."""

    kind: SandboxKind = Field(
        default="auto",
        description='"auto": bubblewrap where it works; "bubblewrap": nothing runs without it; "none": no sandbox',
    )
    network: Network = Field(
        default="on",
        description='whether gates reach the network in the sandbox: "on" or "off"; agents and setup do',
    )
    show: Items[HostPath] = Field(
        default=(),
        description="places that are hidden otherwise and can be read all the same",
        examples=[["~/.npmrc.d", "/run/postgresql"]],
    )
    write: Items[HostPath] = Field(
        default=(), description="places outside the workspace that can be written", examples=[["~/.cache/bazel"]]
    )
    hide: Items[HostPath] = Field(
        default=(), description="further places that cannot be read", examples=[["~/work/customers"]]
    )
    wrap: Items[Text] = Field(
        default=(),
        description="a command line put before every command in place of the sandbox, such as a container engine's; "
        "{workspace}, {attempt}, {session} and {tmp} stand for folders that it has to pass on",
        examples=[["podman", "run", "--rm", "-i", "-v", "{workspace}:{workspace}", "-w", "{workspace}", "ci-image"]],
    )
    processes: Literal["auto", "subreaper"] = Field(
        default="auto",
        description='outside the sandbox: "auto": a PID namespace for each command where that works; "subreaper": none',
    )


class Tracker(Section):
    """Where the issues come from."""

    kind: Literal["files"] = Field(default="files", description='"files": one Markdown file an issue')
    path: InnerPath = Field(default="issues", description="the folder of the issue files, inside the repository")


class Protect(Section):
    """Paths whose edits by a worker are undone before the gates run."""

    paths: Items[Glob] = Field(
        default=default_protected(),
        description="globs that REPLACE the built-in list (CI definitions, test runners' configuration)",
    )
    extra: Items[Glob] = Field(default=(), description="globs added to that list", examples=[["scripts/check.sh"]])

    @property
    def patterns(self) -> tuple[str, ...]:
        """Every protected glob, without repeats."""
        return tuple(dict.fromkeys(self.paths + self.extra))


class Landing(Section):
    """How proven work gets onto main."""

    style: Literal["merge", "squash"] = Field(
        default="merge", description='"merge": a merge commit; "squash": one plain commit an issue'
    )


class Limits(Section):
    """Upper bounds on what a worker may leave behind."""

    max_file_mb: int = Field(default=50, ge=1, description="files larger than this never land, in MB")
    max_binary_mb: int = Field(default=1, ge=1, description="a change that adds a larger binary file fails, in MB")
    max_changed_files: int = Field(
        default=200, ge=1, description="a change of more files fails; lock files and build output don't count"
    )
    max_changed_lines: int = Field(
        default=20_000,
        ge=1,
        description="a change of more lines (added and deleted) fails; generated files don't count",
    )
    max_files: int = Field(default=100_000, ge=1, description="how many files a worker may leave in a workspace")
    log_mb: int = Field(default=200, ge=1, description="how much of one output is kept, in MB")
