"""The sections of noface.toml, and the whole of it as one frozen value.

The first line of each docstring and every description end up in noface.toml.example and in the JSON Schema.
`load.parse` makes the value: it also checks across sections.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from noface.config.presets import AGENT_NAMES
from noface.config.prices import ListPrice, list_price
from noface.config.values import (
    Branch,
    ClusterAddress,
    Command,
    Duration,
    Env,
    EnvPattern,
    FilledRegex,
    FilledText,
    Glob,
    HostName,
    HostPath,
    Hours,
    InnerPath,
    Items,
    Money,
    Name,
    OptionalGlob,
    OptionalHostPath,
    OptionalPath,
    Overage,
    Pause,
    Percent,
    Regex,
    Service,
    Size,
    SlotsDir,
    Text,
    defaults_of,
    one_of,
    setting,
)
from noface.data.trackers import (
    DEFAULT_LABEL,
    DEFAULT_TRACKER,
    TRACKERS,
    TrackerSettings,
    tracker_settings,
)
from noface.errors import ConfigError
from noface.integrity.diff.rules import DiffLimits
from noface.model.access import Permissions, Settings, Tool
from noface.model.gate import GateSpec
from noface.model.network import Network
from noface.model.protection import default_protected
from noface.model.taxonomy import Category, FailureKind, Strategy, gate_kinds
from noface.model.worker_run import ModelSpec
from noface.recovery.retry_policy import (
    ChangedTests,
    Policy,
    ReviewRules,
    RoleModels,
    When,
)

MB = 1_000_000


class Section(BaseModel):
    """A table of noface.toml: unknown keys are errors, types are TOML's own, nothing changes afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


SandboxKind = Literal["auto", "bubblewrap", "none"]
GateNetwork = Annotated[Network, *one_of(Network)]
WorkerNetwork = Annotated[Network, *one_of((Network.ON, Network.OWN, Network.OFF))]
_GATE_FAILURES = tuple(kind.value for kind in gate_kinds())
GateFailure = Annotated[str, *one_of(_GATE_FAILURES)]
"""The kinds of the failure taxonomy that a gate can fail with."""

ToolWord = Annotated[Tool, *one_of(Tool)]
PermissionsWord = Annotated[Permissions, *one_of(Permissions)]

_gate = defaults_of(GateSpec)
_model = defaults_of(ModelSpec)
_policy = defaults_of(Policy)
_review = defaults_of(ReviewRules)
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
    slots_dir: SlotsDir = setting(
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
        """What agents and setup have of the network."""
        return Network.OWN if self.network is Network.OWN else Network.ON


class Tracker(Section):
    """Where the issues come from."""

    kind: Annotated[str, *one_of(TRACKERS)] = setting(
        DEFAULT_TRACKER, "; ".join(f'"{name}": {entry.what}' for name, entry in TRACKERS.items())
    )
    path: InnerPath | None = setting(
        None,
        "where the issues lie inside the repository: "
        + ", ".join(f'{entry.place} for "{name}"' for name, entry in TRACKERS.items() if entry.place),
        "issues",
    )
    label: Text = setting(DEFAULT_LABEL, 'GitHub: issues with this label are worked on; "" for all open ones')
    authors: Items[Text] = setting(
        (),
        'GitHub: who may write issues and answers beside those with write access; "*" is anyone, and unsafe',
        ["renovate[bot]"],
    )


class Github(Section):
    """The project on GitHub: where its issues and pull requests are."""

    repository: Text = setting("", "owner/name; by default what the git remote says", "acme/shop")
    url: Text = setting("", "the REST API; by default that of the remote's host", "https://github.example.com/api/v3")
    poll: Duration = setting(60.0, "how often a run looks for what people have changed")


class Protect(Section):
    """Paths whose edits by a worker are undone before the gates run."""

    extra: Items[Glob] = setting(
        (), "globs beside the built-in list (CI definitions, test runners' configuration)", ["scripts/check.sh"]
    )

    @property
    def patterns(self) -> tuple[str, ...]:
        """Every protected glob, without repeats."""
        return tuple(dict.fromkeys(default_protected() + self.extra))


class Executor(Section):
    """Other machines that carry attempts out (docs/hosts.md). Needs the extra "cluster"."""

    hosts: Items[HostName] = setting(
        (), "machines, as ssh knows them, on which attempts are carried out beside those here", ["build@bigbox"]
    )
    attempts: int = setting(4, "how many attempts there are at once on each of them", ge=1, le=64)
    command: FilledText = setting("noface", "how noface is started there", "/opt/noface/bin/noface")
    address: ClusterAddress = setting(
        "", "the scheduler of a standing dask cluster, which is one host", "tls://cluster.example:8786"
    )
    certificates: OptionalHostPath = setting(
        "", "the folder with its authority's ca.pem, and client.pem and client.key for this machine", "~/cluster"
    )

    @property
    def slots(self) -> int:
        """How many attempts there can be at once on all of them."""
        return self.attempts * (len(self.hosts) + bool(self.address))


class Landing(Section):
    """How proven work gets onto main."""

    style: Literal["merge", "squash"] = setting("merge", '"merge": a merge commit; "squash": one plain commit an issue')
    how: Literal["merge", "pull-request"] = setting(
        "merge", '"merge": onto the local main; "pull-request": pushed as a branch, with a pull request on GitHub'
    )
    push: bool = setting(False, 'with how = "merge": push main after each landing; refused where main moved there')
    remote: Text = setting("", "the git remote; by default that of main, or origin", "origin")
    sign: bool = setting(False, "sign the commits that land, or are pushed, with your own key (git's user.signingkey)")
    signoff: bool = setting(False, "sign them off (DCO): Signed-off-by with your name and address")
    auto_merge: bool = setting(False, "have GitHub merge a pull request when its checks and reviews allow it")
    rounds: int = setting(
        3, "how often red checks and reviews of a pull request are answered before a person is asked", ge=0, le=20
    )
    follow_checks: Pause = setting(
        3600.0, "how long a run with nothing else to do waits for the checks of its pull requests"
    )

    @property
    def by_pull_request(self) -> bool:
        """True if work becomes pull requests, and main is moved on the forge."""
        return self.how == "pull-request"


class Limits(Section):
    """Upper bounds on what a worker may leave behind, and on its issue's own commands."""

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


HINT_CONDITIONS = ("label", "language", "path", "error_pattern", "error_regex")
"""The keys of [[failure_hints]] that say when a hint applies; at least one must be there."""

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""US dollars for a million tokens, 0 or more."""


def _schema_rules(schema: dict[str, Any]) -> None:
    schema["if"] = {"properties": {"agent": {"const": "command"}}, "required": ["agent"]}
    schema["then"] = {"required": ["command"]}
    schema["dependentRequired"] = {"usd_per_mtok_in": ["usd_per_mtok_out"], "usd_per_mtok_out": ["usd_per_mtok_in"]}


def _some_condition(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [{"required": [key]} for key in HINT_CONDITIONS]


class Model(Section, json_schema_extra=_schema_rules):
    """A model that issues can be given to; presets such as claude-sonnet, gpt-codex and gemini-pro need no entry."""

    agent: Annotated[str, *one_of(AGENT_NAMES)] = setting(
        ..., f"the program that runs it: {', '.join(AGENT_NAMES[:-1])} or {AGENT_NAMES[-1]}", "claude"
    )
    model: Text = setting("", "the model's name as the agent knows it", "sonnet")
    tier: int = setting(_model["tier"], "its strength, 1 to 9; escalation goes up, never down", ge=1, le=9)
    command: Text = setting("", 'the shell command of agent "command", required there', "./scripts/agent.sh")
    args: Items[Text] = setting((), "further arguments for the agent", ["--verbose"])
    env: Env = setting(dict, "environment variables for the agent", {"MAX_THINKING_TOKENS": "8000"})
    env_pass: Items[EnvPattern] = setting(
        (),
        "further variables of noface's environment that the agent gets; * stands for any letters",
        ["MY_KEY", "AWS_*"],
    )
    sandbox: SandboxKind | None = setting(None, "the sandbox it runs in; by default that of [sandbox]", "none")
    timeout: Duration = setting(
        _model["timeout_s"],
        "time limit of one attempt; one that thinks longer (`think`) has twice each limit of its model",
    )
    idle_timeout: Duration = setting(
        _model["idle_timeout_s"],
        "an attempt without any output for this long is ended, unless a tool of its agent is at work",
    )
    settings: Annotated[Settings, *one_of(Settings)] = setting(
        _model["settings"],
        'whose settings of the agent act: "project", the project\'s, without hooks; "user", also the person\'s own:'
        ' hooks, MCP servers, skills, memory; "none": neither',
    )
    tools: Items[ToolWord] | None = setting(
        None, f"what the agent may use: {', '.join(Tool)}; by default all that it has", ["read", "edit", "run"]
    )
    permissions: PermissionsWord = setting(
        _model["permissions"],
        'what the agent itself lets a worker do, inside the sandbox: "full"; "workspace", write there alone;'
        ' "read-only"',
    )
    max_cost_usd: Money | None = setting(None, "cost limit of one attempt, in US dollars", 2.0)
    usd_per_mtok_in: Price | None = setting(
        None, "price of a million input tokens, for an agent that tells no cost; by default the list price", 2.0
    )
    usd_per_mtok_out: Price | None = setting(None, "price of a million output tokens; needed beside the other", 10.0)

    def price(self, day: date) -> ListPrice | None:
        """Return the model's price on a day: what noface.toml says, else the list's; None if it is unknown."""
        if self.usd_per_mtok_in is not None and self.usd_per_mtok_out is not None:
            return self.usd_per_mtok_in, self.usd_per_mtok_out
        return list_price(self.agent, self.model, day)


class FailureHint(Section, json_schema_extra=_some_condition):
    """Advice for the next attempt when a failure matches all its conditions, of which it needs one or more."""

    label: Text = setting("", "condition: the issue has this label", "migration")
    language: Text = setting("", "condition: the failing file is in this language", "elixir")
    path: OptionalGlob = setting("", "condition: a glob; the failing attempt touched a matching file", "db/**")
    error_pattern: Text = setting(
        "", "condition: the error, or its kind, contains this literal text", "** (MatchError)"
    )
    error_regex: Regex = setting(
        "", "condition: the error, or its kind, matches this regular expression", "KeyError: '\\w+_id'"
    )
    hint: FilledText = setting(
        ..., "what the next attempt is told", "Migration issues often need schema changes first. Check schema files."
    )


Kind = Annotated[FailureKind, *one_of(FailureKind)]
Answer = Annotated[FailureKind | Category, *one_of((*FailureKind, *Category))]
"""What a step of the ladder may answer: one kind, or all of a category."""


def _one_ladder(schema: dict[str, Any]) -> None:
    # The loader fills default_model in from the ladder, so its model alone would demand it always.
    del schema["required"]
    schema["anyOf"] = [{"required": ["default_model"]}, {"required": ["ladder"]}]


class LadderRung(Section):
    """A step of the ladder; the steps, in their order, replace default_model and escalation_model."""

    model: Text = setting(..., "its model: a [models] entry or a preset", "claude-sonnet")
    attempts: int = setting(1, "attempts before the next step", ge=1)
    think: bool = setting(False, "ask for extended thinking")
    parallel: int = setting(
        1,
        "so many workers make each attempt at once, its model and others of its tier; the best lands",
        ge=1,
        le=8,
    )
    answers: Items[Answer] = setting(
        (), "the failure kinds and categories it answers; by default all", ["TEST_FAILURE", "complexity"]
    )


class BudgetRules(Section):
    """What of your quota at a provider is left for you, as far as the agent's program tells of it (docs/night.md)."""

    reserve: Mapping[Name, Percent] = setting(
        dict,
        "the share of each of the provider's windows that runs leave to you: five_hour, week, week_opus, …",
        {"five_hour": "15%", "week": "25%"},
    )
    overage: Overage = setting(
        "never", 'what a run may spend beyond a window that is used up: "never", "ask" a person, or US dollars', 5.0
    )


class Notify(Section):
    """Who is told what happens in a run, and may answer (docs/night.md); needs the extra `notify`."""

    urls: Items[FilledText] = setting(
        (),
        "where messages go, as addresses of apprise; $NAME is a variable of noface's: agents can read this file",
        ["$NTFY_URL", "mailto://user:password@example.org"],
    )
    answers: Items[FilledText] = setting(
        (),
        "where answers come from: a topic of ntfy, to which its buttons post, or a chat of Telegram",
        ["$NTFY_ANSWERS", "$TELEGRAM_URL"],
    )
    quiet_hours: Hours = setting("", "nobody is woken between these times of the clock", "22:30-07:00")
    on_event: Text = setting(
        "",
        "shell command that gets each event as JSON at its standard input; it runs in your home, outside the sandbox,"
        " so its files must not lie in the repository",
        "~/bin/on-event",
    )

    @property
    def tells(self) -> bool:
        """True if somebody is told, or heard."""
        return bool(self.urls or self.answers or self.on_event)


class Retry(Section, json_schema_extra=_one_ladder):
    """What happens after a failure."""

    default_model: Text = setting(..., "the model of the first attempts: a [models] entry or a preset", "claude-sonnet")
    escalation_model: Text | None = setting(
        None, "the stronger model that takes over; without it nothing escalates", "claude-opus"
    )
    escalate_after_attempts: int = setting(2, "failed attempts before escalation_model takes over", ge=1)
    max_total_attempts: int = setting(
        _policy["attempts_max"], "attempts for one issue in all; then it is blocked", ge=1
    )
    block_after: int | None = setting(
        None, "block after this many equal failures in a row; by default max_total_attempts", 3, ge=1
    )
    max_cost_usd: Money | None = setting(None, "cost limit of one issue, in US dollars", 5.0)
    max_tokens: int | None = setting(None, "limit of one issue's tokens, read and written", 5_000_000, ge=1)
    reflect: bool = setting(
        _policy["reflect"], "ask the worker's model before each retry why it failed and what it will do"
    )
    outage_max: Duration = setting(
        _policy["outage_max_s"],
        "how long a run waits for a provider that is away (rate limits, overload, network); then it ends with exit"
        " code 4, and the next one goes on",
    )
    transient_retries: int | None = setting(
        None,
        "block an issue after so many such failures in a row; by default none is blocked for that",
        3,
        ge=0,
    )
    backoff_base: Pause = setting(
        _policy["backoff_base_s"],
        "the first wait where the provider names no time; each next one is up to twice as long",
    )
    strategies: Mapping[Kind, Annotated[Strategy, *one_of(Strategy)]] = setting(
        dict,
        f"how a kind of failure is answered, in place of the default: {', '.join(Strategy)}",
        {"TEST_FAILURE": "escalate"},
    )
    ladder: Items[LadderRung] = setting((), "the steps, the weakest model first", json_schema_extra={"minItems": 1})

    @property
    def models(self) -> tuple[str, ...]:
        """The models of the ladder, the weakest first, without repeats."""
        rungs = tuple(rung.model for rung in self.ladder)
        named = rungs or (self.default_model, self.escalation_model)
        return tuple(dict.fromkeys(name for name in named if name is not None))


ROLES = tuple(field.name for field in fields(RoleModels))
"""The keys of [roles] that name a model."""


class Roles(Section):
    """Which model does what besides working; a role left out is done without one, or not at all."""

    planner: Text | None = setting(None, "breaks an issue down, answers a worker's questions", "claude-opus")
    diagnoser: Text | None = setting(None, "says why attempts failed, and what would help", "claude-opus")
    resolver: Text | None = setting(None, "judges whether an issue may change more than it was given", "claude-opus")
    architect: Text | None = setting(None, "advises after repeated failures of the same kind", "claude-opus")
    reviewer: Text | None = setting(None, "reviews work whose gates pass, before it lands", "claude-opus")

    @property
    def models(self) -> dict[str, str | None]:
        """The model of each role, None without one."""
        return {role: getattr(self, role) for role in ROLES}


class Recovery(Section):
    """How far recovery goes, and what it remembers."""

    enabled: bool = setting(True, "false: the ladder alone; nobody is asked, nothing is broken down")
    max_strategies: int = setting(
        _policy["strategies_max"], "give up after this many different recovery strategies have failed", ge=1
    )
    learn: bool = setting(True, "remember recoveries that worked, and look them up")
    allow_skip: bool = setting(
        _policy["allow_skip"], "a diagnosis may skip the issue; otherwise it is blocked with that advice"
    )
    accumulation_format: Literal["notes_only", "minimal", "full_output"] = setting(
        "notes_only", 'what a prompt tells of earlier attempts: "notes_only", "minimal" or "full_output"'
    )


class Prompts(Section):
    """What workers are told."""

    dir: OptionalPath = setting(
        "", "folder inside the repository with templates *.md.j2 that override the built-in ones", "prompts"
    )


class Approval(Section):
    """What a person must approve before it lands, with `noface approve`."""

    paths: Items[Glob] = setting((), "globs; a change of a matching file needs approval", ["migrations/**"])
    labels: Items[Text] = setting((), "work of issues with one of these labels needs approval", ["risky"])


class Review(Section):
    """When work that passed is shown to `[roles] reviewer` before it lands."""

    when: Annotated[When, *one_of(When)] = setting(
        _review["when"],
        '"always", "risky" (large, untested, unsure, or named below) or "never"',
        title="When",  # pydantic gives enumerations none
    )
    paths: Items[Glob] = setting((), "globs; a change of a matching file is risky", ["src/auth/**"])
    labels: Items[Text] = setting((), "issues with one of these labels are risky", ["security"])
    changed_tests: Annotated[ChangedTests, *one_of(ChangedTests)] = setting(
        _review["changed_tests"],
        'whether a change may contradict main\'s tests, all of which it keeps: "ask-model", the reviewer or else the '
        'strongest model, which has to quote the sentence of the issue that asks for it; "ask-person"; "land"',
        title="ChangedTests",
    )


GATE_EXAMPLE = '[[gates]]\nname = "unit"\ncommand = "python -m pytest -q"\nkind = "test"'


class Config(Section):
    """The configuration of noface, read from noface.toml at the top of a repository."""

    project: Project = Field(default_factory=Project)
    run: Run = Field(default_factory=Run)
    gates: Items[Gate] = ()
    gate_rules: Items[GateRule] = ()
    models: Mapping[str, Model]
    retry: Retry
    budget: BudgetRules = Field(default_factory=BudgetRules)
    notify: Notify = Field(default_factory=Notify)
    roles: Roles = Field(default_factory=Roles)
    recovery: Recovery = Field(default_factory=Recovery)
    review: Review = Field(default_factory=Review)
    approval: Approval = Field(default_factory=Approval)
    failure_hints: Items[FailureHint] = ()
    prompts: Prompts = Field(default_factory=Prompts)
    tracker: Tracker = Field(default_factory=Tracker)
    github: Github = Field(default_factory=Github)
    sandbox: Sandbox = Field(default_factory=Sandbox)
    protect: Protect = Field(default_factory=Protect)
    landing: Landing = Field(default_factory=Landing)
    executor: Executor = Field(default_factory=Executor)
    limits: Limits = Field(default_factory=Limits)
    keep: Keep = Field(default_factory=Keep)

    @property
    def models_in_use(self) -> tuple[str, ...]:
        """The models that the ladder and the roles name, in this order, without repeats."""
        named = (*self.retry.models, *self.roles.models.values())
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def tracker_settings(self) -> TrackerSettings:
        """Where the issues come from, with the defaults of the tracker filled in."""
        gates = [{"command": gate.command} for gate in self.gates]
        tables = {"tracker": self.tracker.model_dump(), "github": self.github.model_dump(), "gates": gates}
        return tracker_settings(tables) or TrackerSettings(self.tracker.kind, "")

    def effective(self) -> dict[str, Any]:
        """Return everything as plain JSON values: defaults and presets filled in, durations in seconds."""
        content = self.model_dump(mode="json")
        # Written out, an empty ladder is an error; what is printed here can be read again.
        content["retry"]["ladder"] = content["retry"]["ladder"] or None
        return content

    @property
    def digest(self) -> str:
        """The SHA-256 of the effective content, in hexadecimal: comments, order and spelling don't matter."""
        text = json.dumps(self.effective(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def require_gates(self) -> None:
        """Raise ConfigError unless at least one hard gate is there: without one nothing could be proved."""
        if not self.gates:
            raise ConfigError(
                "there are no gates: nothing could be proved, so nothing would land",
                f"add the command that tells whether your project works to noface.toml, for example:\n\n{GATE_EXAMPLE}",
            )
        if not any(gate.hard for gate in self.gates):
            names = ", ".join(gate.name for gate in self.gates)
            raise ConfigError(
                f"no gate is hard ({names}), so nothing would keep broken work off main",
                f"remove `hard = false` from one of them, or add a hard one, for example:\n\n{GATE_EXAMPLE}",
            )
