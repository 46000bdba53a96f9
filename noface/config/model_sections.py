"""The sections of noface.toml on models, what follows a failure, and who looks at work."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field

from noface.config.presets import AGENT_NAMES
from noface.config.prices import ListPrice, list_price
from noface.config.project_sections import SandboxKind
from noface.config.values import (
    Duration,
    Env,
    EnvPattern,
    FilledText,
    Glob,
    Items,
    Money,
    Name,
    OptionalGlob,
    OptionalPath,
    Overage,
    Pause,
    Percent,
    Regex,
    Section,
    Text,
    defaults_of,
    one_of,
    setting,
)
from noface.model.access import Permissions, Settings, Tool
from noface.model.taxonomy import Category, FailureKind, Strategy
from noface.model.worker_run import ModelSpec
from noface.recovery.retry_policy import ChangedTests, Policy, ReviewRules, RoleModels, When

ToolWord = Annotated[Tool, *one_of(Tool)]
PermissionsWord = Annotated[Permissions, *one_of(Permissions)]
_model = defaults_of(ModelSpec)
_policy = defaults_of(Policy)
_review = defaults_of(ReviewRules)
HINT_CONDITIONS = ("label", "language", "path", "error_pattern", "error_regex")
"""The keys of [[failure_hints]] that say when a hint applies; at least one must be there."""
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""US dollars for a million tokens, 0 or more."""


_MODEL_RULES: dict[str, Any] = {
    "if": {"properties": {"agent": {"const": "command"}}, "required": ["agent"]},
    "then": {"required": ["command"]},
    "dependentRequired": {"usd_per_mtok_in": ["usd_per_mtok_out"], "usd_per_mtok_out": ["usd_per_mtok_in"]},
}


class Model(Section, json_schema_extra=_MODEL_RULES):
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
        if self.usd_per_mtok_in is not None and self.usd_per_mtok_out is not None:
            return self.usd_per_mtok_in, self.usd_per_mtok_out
        return list_price(self.agent, self.model, day)


class FailureHint(Section, json_schema_extra={"anyOf": [{"required": [key]} for key in HINT_CONDITIONS]}):
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
        1, "so many workers make each attempt at once, its model and others of its tier; the best lands", ge=1, le=8
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


class Retry(Section, json_schema_extra=_one_ladder):
    """What happens after a failure."""

    default_model: Text = setting(..., "the model of the first attempts: a [models] entry or a preset", "claude-sonnet")
    escalation_model: Text | None = setting(
        None, "the stronger model that takes over; without it nothing escalates", "claude-opus"
    )
    escalate_after_attempts: int = setting(2, "charged attempts before escalation_model takes over", ge=1)
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
        None, "block an issue after so many such failures in a row; by default none is blocked for that", 3, ge=0
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
