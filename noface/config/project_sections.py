"""The sections of noface.toml on the project, its gates, and what a run and a worker may take."""

from typing import Annotated, Literal

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
    OptionalHostPath,
    OptionalPath,
    Section,
    Service,
    Size,
    Text,
    defaults_of,
    one_of,
    setting,
)
from noface.integrity.diff.rules import DiffLimits
from noface.model.access import Network
from noface.model.gate import GateSpec
from noface.model.protection import default_protected
from noface.model.taxonomy import gate_kinds

MB = 1_000_000
SandboxKind = Literal["auto", "bubblewrap", "none"]
GateNetwork = Annotated[Network, *one_of(Network)]
_GATE_FAILURES = tuple(kind.value for kind in gate_kinds())
GateFailure = Annotated[str, *one_of(_GATE_FAILURES)]
"""The kinds of the failure taxonomy that a gate can fail with."""
_gate = defaults_of(GateSpec)
_diff = defaults_of(DiffLimits)


class Project(Section):
    """The project and how a fresh checkout of it is made ready for work."""

    main: Branch = setting("", "the branch that work lands on; by default the one checked out", "main")
    setup: Text = setting(
        "", "shell command run once for all workspaces, and again when a file of setup_inputs changed", "npm ci"
    )
    setup_inputs: Items[Glob] = setting((), "the files (paths or globs) that setup depends on", ["package-lock.json"])
    keep: Items[InnerPath] = setting(
        (), "paths that setup makes and that survive cleaning a workspace", ["node_modules"]
    )
    setup_timeout: Duration = setting(600.0, "time limit of setup")
    setup_env_pass: Items[EnvPattern] = setting(
        (),
        "variables of noface's environment that setup gets beside the usual; * stands for any letters",
        ["NPM_TOKEN"],
    )


class Run(Section):
    """One run of noface: how wide, how long, at what cost."""

    workers: int = setting(
        1,
        "how many issues are worked on at once (1 to 64); 0: none here, as long as a host of [executor] is there",
        ge=0,
        le=64,
    )
    max_cost_usd: Money | None = setting(None, "stop the run at this cost, in US dollars", 20.0)
    max_tokens: int | None = setting(None, "stop the run at this many tokens, read and written", 20_000_000, ge=1)
    max_hours: float | None = setting(None, "stop the run after this many hours", 8, gt=0, allow_inf_nan=False)
    slots_dir: OptionalHostPath = setting(
        "", "where workspaces lie, outside the repository; by default in the user's cache folder", "~/noface-slots"
    )
    allow_leaky_gates: bool = setting(
        False, "true: run with gates that reach your checkout or test something else than the workspace"
    )
    gates_at_once: int | None = setting(
        None,
        "how many gates run at once, of workers and of landings; by default as the cores and main's gates allow",
        4,
        ge=1,
    )
    baseline: Literal["require-green", "only-new"] = setting(
        "require-green", 'what main must be: "require-green", or "only-new" to accept tests that fail on main already'
    )


class Gate(Section):
    """A command that work must pass before it lands; run by bash at the top of a checkout."""

    name: Name = setting(..., "a unique name, of letters, digits, - _ .", "unit")
    command: Command = setting(..., "the shell command; exit code 0 means passed", "python -m pytest -q")
    kind: Literal["build", "lint", "test"] = setting(
        "test", '"build", "lint" or "test"; only what a build leaves is there for later gates'
    )
    hard: bool = setting(_gate["hard"], "true: must pass; false: only reported")
    timeout: Duration = setting(_gate["timeout_s"], "time limit of one run")
    retries: int | None = setting(
        None,
        "how often (0 to 3) a failing run is repeated, and any pass counts; by default a hard test gate's failing tests"
        " run once more, and pass only where main shows that they are unsteady",
        1,
        ge=0,
        le=3,
    )
    fixes: bool = setting(
        _gate["fixes"],
        "true: what it changes on the work (a formatter, `--fix`, documents made of sources) becomes part of the work,"
        " and all gates run again; false: a gate that changes files fails",
    )
    alone: bool = setting(
        _gate["alone"],
        "true: no other gate runs beside it, since it needs a port, a file or a database that only one can have",
    )
    report: OptionalPath = setting(
        "", "the JUnit XML file that the command writes, inside the repository", "report.xml"
    )
    env_pass: Items[EnvPattern] = setting(
        (),
        "variables of noface's environment that it gets beside the usual; * stands for any letters",
        ["DATABASE_URL"],
    )
    sandbox: SandboxKind | None = setting(None, "the sandbox it runs in; by default that of [sandbox]", "none")
    canary: bool = setting(
        _gate["canary"], "true: noface proves once that it turns red where the project's sources are broken"
    )


class GateRule(Section):
    """A pattern that names a failure of this project's gates; it explains a red gate and never makes it green."""

    name: Name = setting(
        ..., "a unique name, shown as project:NAME by `noface show` and `noface tools classify`", "db-away"
    )
    kind: GateFailure = setting(
        ..., f"what the failure is: {', '.join(_GATE_FAILURES[:-1])} or {_GATE_FAILURES[-1]}", "ENVIRONMENT"
    )
    pattern: FilledRegex = setting(
        ...,
        "a regular expression that a line of its output matches; groups file and line give the place",
        "^db: no route to \\S+",
    )
    example: FilledText = setting(..., "such a line; the pattern is tried on it", "db: no route to 10.0.0.7")
    even_in_tests: bool = setting(False, "true: it counts also where tests ran and failed, and wins over what they say")


class Sandbox(Section):
    """What agents, gates and setup may read, write and reach; docs/safety.md tells more."""

    kind: SandboxKind = setting(
        "auto", '"auto": bubblewrap where it works; "bubblewrap": nothing runs without it; "none": no sandbox'
    )
    network: GateNetwork = setting(
        Network.AUTO,
        'what gates reach of the network: "auto": a loopback of their own, and the outside if main is green with it'
        ' only; "own": both, agents and setup too; "off": the loopback alone; "on": the machine\'s, as agents have',
    )
    services: Items[Service] = setting(
        (),
        "servers on this machine that gates are meant to use: ports, or Unix sockets",
        ["localhost:5432", "/run/postgresql/.s.PGSQL.5432"],
    )
    show: Items[HostPath] = setting(
        (), "places that are hidden otherwise and can be read all the same", ["~/.npmrc.d", "/run/secrets.d"]
    )
    write: Items[HostPath] = setting((), "places outside the workspace that can be written", ["~/.cache/bazel"])
    hide: Items[HostPath] = setting((), "further places that cannot be read", ["~/work/customers"])
    wrap: Items[Text] = setting(
        (),
        "a command line put before every command in place of the sandbox, such as a container engine's; "
        "{workspace}, {attempt}, {session} and {tmp} stand for folders that it has to pass on",
        ["podman", "run", "--rm", "-i", "-v", "{workspace}:{workspace}", "-w", "{workspace}", "ci-image"],
    )
    processes: Literal["auto", "subreaper"] = setting(
        "auto",
        'outside the sandbox: "auto": a PID namespace for each command where that works; "subreaper": none, for setuid'
        " programs and rootless containers",
    )

    @property
    def for_others(self) -> Network:
        return Network.OWN if self.network is Network.OWN else Network.ON


class Protect(Section):
    """Paths whose edits by a worker are undone before the gates run."""

    extra: Items[Glob] = setting(
        (), "globs beside the built-in list (CI definitions, test runners' configuration)", ["scripts/check.sh"]
    )

    @property
    def patterns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(default_protected() + self.extra))


class Limits(Section):
    """Upper bounds on what a worker may leave behind."""

    max_changed_files: int = setting(
        _diff["files_max"], "a change of more files fails; lock files and build output don't count", ge=1
    )
    max_changed_lines: int = setting(
        _diff["lines_max"], "a change of more lines (added and deleted) fails; generated files don't count", ge=1
    )
    wanted: Items[Glob] = setting(
        (), "files that are never left out as rubbish, and whose lines are never called forgotten", ["logs/sample.log"]
    )
    test_keys: Items[Glob] = setting(
        (), "files that may hold keys, since these open nothing; in all others no key lands", ["tests/keys/**"]
    )
    memory_max: Size | None = setting(
        None,
        "how much memory the programs of one worker or gate may use together, or each of them if this system lets "
        "noface make no control group",
        "8GB",
    )


class Keep(Section):
    """How long noface keeps what merged issues leave behind; of all others it keeps all work."""

    logs_days: int = setting(60, "the files of an attempt but report.json: so many days after it has ended", ge=1)
