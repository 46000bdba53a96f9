"""The sections of noface.toml, and the whole of it as one frozen value.

The first line of each docstring and every description end up in noface.toml.example and in the JSON Schema.
`load.parse` makes the value: it also checks across sections.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from noface.config.presets import AGENT_NAMES
from noface.config.values import (
    Branch,
    Command,
    Duration,
    Env,
    EnvPattern,
    FilledRegex,
    FilledText,
    Glob,
    HostPath,
    InnerPath,
    Items,
    Money,
    Name,
    OptionalGlob,
    OptionalPath,
    Pause,
    Regex,
    SlotsDir,
    Text,
    default_of,
    one_of,
)
from noface.core.classify.diff import DiffLimits
from noface.core.gate import GateSpec
from noface.core.protection import default_protected
from noface.core.retry_policy import BreakdownRules, Policy
from noface.core.review_rules import ReviewRules
from noface.core.schedule import BreakerRules
from noface.core.taxonomy import Category, FailureKind, Strategy
from noface.core.worker_run import ModelSpec
from noface.data.trackers import DEFAULT_PLACE, DEFAULT_TRACKER, TRACKERS
from noface.errors import ConfigError


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
    hard: bool = Field(default=default_of(GateSpec, "hard"), description="true: must pass; false: only reported")
    timeout: Duration = Field(default=default_of(GateSpec, "timeout_s"), description="time limit of one run")
    retries: int = Field(
        default=default_of(GateSpec, "retries"),
        ge=0,
        le=3,
        description="run it again so often (0 to 3) where it fails; passing then marks it as flaky, which is shown",
    )
    fixes: bool = Field(
        default=default_of(GateSpec, "fixes"),
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
        default=default_of(GateSpec, "canary"),
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

    kind: Annotated[str, *one_of({name: name for name in TRACKERS})] = Field(
        default=DEFAULT_TRACKER, description="; ".join(f'"{name}": {entry.what}' for name, entry in TRACKERS.items())
    )
    path: InnerPath = Field(default=DEFAULT_PLACE, description="the folder of the issue files, inside the repository")


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
        default=default_of(DiffLimits, "files_max"),
        ge=1,
        description="a change of more files fails; lock files and build output don't count",
    )
    max_changed_lines: int = Field(
        default=default_of(DiffLimits, "lines_max"),
        ge=1,
        description="a change of more lines (added and deleted) fails; generated files don't count",
    )
    max_files: int = Field(default=100_000, ge=1, description="how many files a worker may leave in a workspace")
    log_mb: int = Field(default=200, ge=1, description="how much of one output is kept, in MB")


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

    agent: Annotated[str, *one_of({name: name for name in AGENT_NAMES})] = Field(
        description=f"the program that runs it: {', '.join(AGENT_NAMES[:-1])} or {AGENT_NAMES[-1]}",
        examples=["claude"],
    )
    model: Text = Field(default="", description="the model's name as the agent knows it", examples=["claude-haiku-4-5"])
    tier: int = Field(
        default=default_of(ModelSpec, "tier"),
        ge=1,
        le=9,
        description="its strength, 1 to 9; escalation goes up, never down",
    )
    command: Text = Field(
        default="", description='the shell command of agent "command", required there', examples=["./scripts/agent.sh"]
    )
    args: Items[Text] = Field(default=(), description="further arguments for the agent", examples=[["--verbose"]])
    env: Env = Field(
        default_factory=dict,
        description="environment variables for the agent",
        examples=[{"MAX_THINKING_TOKENS": "8000"}],
    )
    env_pass: Items[EnvPattern] = Field(
        default=(),
        description="further variables of noface's environment that the agent gets; * stands for any letters",
        examples=[["MY_KEY", "AWS_*"]],
    )
    sandbox: SandboxKind | None = Field(
        default=None, description="the sandbox it runs in; by default that of [sandbox]", examples=["none"]
    )
    network: Network = Field(
        default="on", description='whether it reaches the network in the sandbox: "on" or "off"', examples=["off"]
    )
    timeout: Duration = Field(default=default_of(ModelSpec, "timeout_s"), description="time limit of one attempt")
    idle_timeout: Duration = Field(
        default=default_of(ModelSpec, "idle_timeout_s"),
        description="an attempt without any output for this long is ended",
    )
    max_cost_usd: Money | None = Field(
        default=None, description="cost limit of one attempt, in US dollars", examples=[2.0]
    )
    usd_per_mtok_in: Price | None = Field(
        default=None,
        description="price of a million input tokens, for an agent that tells no cost; by default the list price",
        examples=[2.0],
    )
    usd_per_mtok_out: Price | None = Field(
        default=None, description="price of a million output tokens; needed beside the other", examples=[10.0]
    )


class FailureHint(Section, json_schema_extra=_some_condition):
    """Advice for the next attempt when a failure matches all its conditions, of which it needs one or more."""

    label: Text = Field(default="", description="condition: the issue has this label", examples=["migration"])
    language: Text = Field(
        default="", description="condition: the failing file is in this language", examples=["elixir"]
    )
    path: OptionalGlob = Field(
        default="", description="condition: the failing attempt touched such a file (a glob)", examples=["db/**"]
    )
    error_pattern: Text = Field(
        default="", description="condition: the error contains this literal text", examples=["** (MatchError)"]
    )
    error_regex: Regex = Field(
        default="", description="condition: the error matches this regular expression", examples=["KeyError: '\\w+_id'"]
    )
    hint: FilledText = Field(
        description="what the next attempt is told",
        examples=["Migration issues often need schema changes first. Check schema files."],
    )


Kind = Annotated[FailureKind, *one_of({member.value: member for member in FailureKind})]
Answer = Annotated[FailureKind | Category, *one_of({member.value: member for member in (*FailureKind, *Category)})]
"""What a rung of the ladder may answer: one kind, or all of a category."""


def _one_ladder(schema: dict[str, Any]) -> None:
    # The loader fills default_model in from the ladder, so its model alone would demand it always.
    del schema["required"]
    schema["anyOf"] = [{"required": ["default_model"]}, {"required": ["ladder"]}]
    schema["not"] = {"required": ["ladder", "escalation_model"]}


class LadderRung(Section):
    """A rung of the ladder; the rungs, in their order, replace default_model and escalation_model."""

    model: Text = Field(description="its model: a [models] entry or a preset", examples=["claude-sonnet"])
    attempts: int = Field(default=1, ge=1, description="so many attempts, then the next rung")
    think: bool = Field(default=False, description="ask for extended thinking")
    answers: Items[Answer] = Field(
        default=(),
        description="the failure kinds and categories it answers; by default all",
        examples=[["TEST_FAILURE", "complexity"]],
    )


class Retry(Section, json_schema_extra=_one_ladder):
    """What happens after a failure."""

    default_model: Text = Field(
        description="the model of the first attempts: a [models] entry or a preset", examples=["claude-sonnet"]
    )
    escalation_model: Text | None = Field(
        default=None,
        description="the stronger model that takes over; without it nothing escalates",
        examples=["claude-opus"],
    )
    escalate_after_attempts: int = Field(default=2, ge=1, description="so many failed attempts, then escalation_model")
    max_total_attempts: int = Field(
        default=default_of(Policy, "attempts_max"),
        ge=1,
        description="so many attempts an issue in all, then it is blocked",
    )
    block_after: int | None = Field(
        default=None,
        ge=1,
        description="block after so many equal failures in a row; by default max_total_attempts",
        examples=[3],
    )
    max_cost_usd: Money | None = Field(
        default=None, description="cost limit of one issue, in US dollars", examples=[5.0]
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="limit of one issue's tokens, read and written", examples=[5_000_000]
    )
    reflect: bool = Field(
        default=default_of(Policy, "reflect"),
        description="ask the worker's model before each retry why it failed and what it will do",
    )
    think: bool = Field(
        default=True, description="the last rung thinks longer; a rung of [[retry.ladder]] says so for itself"
    )
    transient_retries: int = Field(
        default=default_of(Policy, "transient_retries"),
        ge=0,
        description="how often a rate limit or network failure is waited out",
    )
    backoff_base: Pause = Field(
        default=default_of(Policy, "backoff_base_s"),
        description="the first of these waits; each next one is twice as long",
    )
    backoff_max: Pause = Field(default=default_of(Policy, "backoff_max_s"), description="the longest of these waits")
    breaker_after: int = Field(
        default=default_of(BreakerRules, "after"),
        ge=1,
        description="after so many such failures in a row a model is left alone, for all issues",
    )
    breaker_wait: Duration = Field(
        default=default_of(BreakerRules, "wait_s"), description="so long, then one attempt may try it again"
    )
    strategies: Mapping[Kind, Annotated[Strategy, *one_of({member.value: member for member in Strategy})]] = Field(
        default_factory=dict,
        description=f"how a kind of failure is answered, in place of the default: {', '.join(Strategy)}",
        examples=[{"TEST_FAILURE": "escalate"}],
    )
    ladder: Items[LadderRung] = Field(
        default=(), json_schema_extra={"minItems": 1}, description="the rungs, the weakest model first"
    )

    @property
    def models(self) -> tuple[str, ...]:
        """The models of the ladder, the weakest first, without repeats."""
        rungs = tuple(rung.model for rung in self.ladder)
        named = rungs or (self.default_model, self.escalation_model)
        return tuple(dict.fromkeys(name for name in named if name is not None))


class Roles(Section):
    """Which model does what besides working; a role left out is done without one, or not at all."""

    planner: Text | None = Field(
        default=None, description="breaks an issue down, answers a worker's questions", examples=["claude-opus"]
    )
    diagnoser: Text | None = Field(
        default=None, description="says why attempts failed, and what would help", examples=["claude-opus"]
    )
    resolver: Text | None = Field(
        default=None, description="judges whether an issue may change more than it was given", examples=["claude-opus"]
    )
    architect: Text | None = Field(
        default=None, description="advises after repeated failures of the same kind", examples=["claude-opus"]
    )
    reviewer: Text | None = Field(
        default=None, description="reviews work whose gates pass, before it lands", examples=["claude-opus"]
    )


class Recovery(Section):
    """How far recovery goes, and what it remembers."""

    enabled: bool = Field(default=True, description="false: the ladder alone; nobody is asked, nothing is broken down")
    max_strategies: int = Field(
        default=default_of(Policy, "strategies_max"),
        ge=1,
        description="give up after so many different recovery strategies have failed",
    )
    diagnose_after: int = Field(
        default=default_of(Policy, "diagnose_after"),
        ge=1,
        description="ask the diagnoser once the same failure came so often in a row; after an UNKNOWN one at once",
    )
    learn: bool = Field(default=True, description="remember recoveries that worked, and look them up")
    allow_skip: bool = Field(
        default=default_of(Policy, "allow_skip"),
        description="a diagnosis may skip the issue; otherwise it is blocked with that advice",
    )
    model_accept: Literal["forms", "any"] = Field(
        default="forms",
        description=(
            'accept commands that a planner gives a part: "forms", only those of the gates and of the issue, on other '
            'tests; "any", whatever it writes is run by the shell'
        ),
    )
    accumulation_format: Literal["notes_only", "minimal", "full_output"] = Field(
        default="notes_only",
        description='what a prompt tells of earlier attempts: "notes_only", "minimal" or "full_output"',
    )
    accumulation_kb: int = Field(default=20, ge=1, description="the most of it, in KB; what is left out is marked")


class Breakdown(Section):
    """When an issue is broken down into smaller ones."""

    enabled: bool = Field(default=default_of(BreakdownRules, "enabled"), description="false: never by itself")
    after_timeouts: int = Field(
        default=default_of(BreakdownRules, "after_timeouts"), ge=1, description="after so many timeouts"
    )
    after_attempts: int = Field(
        default=default_of(BreakdownRules, "after_attempts"),
        ge=1,
        description="after so many failed attempts whose change was too big",
    )
    files: int = Field(
        default=default_of(BreakdownRules, "files"), ge=1, description="a change of more files is too big"
    )
    lines: int = Field(
        default=default_of(BreakdownRules, "lines"), ge=1, description="a change of more lines is too big"
    )
    max_children: int = Field(
        default=default_of(BreakdownRules, "children_max"),
        ge=2,
        le=50,
        description="at most so many smaller issues (2 to 50)",
    )
    max_depth: int = Field(
        default=default_of(BreakdownRules, "depth_max"),
        ge=1,
        le=5,
        description="how often a part may be broken down again (1 to 5)",
    )


class Prompts(Section):
    """What workers are told."""

    dir: OptionalPath = Field(
        default="",
        description="folder inside the repository with templates *.md.j2 that override the built-in ones",
        examples=["prompts"],
    )
    max_tokens: int = Field(default=50_000, ge=1000, description="the longest prompt, in tokens")


class Approval(Section):
    """What a person must approve before it lands, with `noface approve`."""

    paths: Items[Glob] = Field(
        default=(), description="globs: a change that touches such a file", examples=[["migrations/**"]]
    )
    labels: Items[Text] = Field(default=(), description="the work of an issue with such a label", examples=[["risky"]])


class Review(Section):
    """When work that passed is shown to `[roles] reviewer` before it lands."""

    when: Literal["always", "risky", "never"] = Field(
        default="risky", description='"always", "risky" (large, untested, unsure, or named below) or "never"'
    )
    paths: Items[Glob] = Field(
        default=(), description="globs: a change that touches such a file is risky", examples=[["src/auth/**"]]
    )
    labels: Items[Text] = Field(default=(), description="an issue with such a label is risky", examples=[["security"]])
    files: int = Field(default=default_of(ReviewRules, "files"), ge=1, description="a change of more files is risky")
    lines: int = Field(default=default_of(ReviewRules, "lines"), ge=1, description="a change of more lines is risky")
    confidence: float = Field(
        default=default_of(ReviewRules, "confidence"),
        ge=0,
        le=1,
        description="work whose worker reports less confidence (0 to 1) is risky",
    )
    rounds: int = Field(
        default=default_of(ReviewRules, "rounds_max"),
        ge=1,
        le=20,
        description="so many rejections, then a person is asked (1 to 20)",
    )


GATE_EXAMPLE = '[[gates]]\nname = "unit"\ncommand = "python -m pytest -q"\nkind = "test"'


class Config(Section):
    """The configuration of noface, read from noface.toml at the top of a repository."""

    project: Project = Field(default_factory=Project)
    run: Run = Field(default_factory=Run)
    gates: Items[Gate] = ()
    gate_rules: Items[GateRule] = ()
    models: Mapping[str, Model] = Field(description="the presets and the entries of [models], by name")
    retry: Retry
    roles: Roles = Field(default_factory=Roles)
    recovery: Recovery = Field(default_factory=Recovery)
    breakdown: Breakdown = Field(default_factory=Breakdown)
    review: Review = Field(default_factory=Review)
    approval: Approval = Field(default_factory=Approval)
    failure_hints: Items[FailureHint] = ()
    prompts: Prompts = Field(default_factory=Prompts)
    tracker: Tracker = Field(default_factory=Tracker)
    sandbox: Sandbox = Field(default_factory=Sandbox)
    protect: Protect = Field(default_factory=Protect)
    landing: Landing = Field(default_factory=Landing)
    limits: Limits = Field(default_factory=Limits)

    @property
    def models_in_use(self) -> tuple[str, ...]:
        """The models that the ladder and the roles name, in this order, without repeats."""
        named = (*self.retry.models, *self.roles.model_dump().values())
        return tuple(dict.fromkeys(name for name in named if name is not None))

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
                "there are no gates, so no work could be proved and nothing would ever land",
                f"add the command that tells whether your project works to noface.toml, for example:\n\n{GATE_EXAMPLE}",
            )
        if not any(gate.hard for gate in self.gates):
            names = ", ".join(gate.name for gate in self.gates)
            raise ConfigError(
                f"no gate is hard ({names}), so nothing would keep broken work off main",
                f"remove `hard = false` from one of them, or add a hard one, for example:\n\n{GATE_EXAMPLE}",
            )
