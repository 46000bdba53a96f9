"""The sections of noface.toml about those who do the work: models, and hints for them."""

from typing import Annotated, Any

from pydantic import Field

from noface.config.presets import AgentName
from noface.config.sections import Network, SandboxKind, Section
from noface.config.values import Duration, Env, EnvPattern, FilledText, Items, Money, OptionalGlob, Regex, Text

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

    agent: AgentName = Field(
        description="the program that runs it: claude, codex, gemini, opencode, aider, mini, command or scripted",
        examples=["claude"],
    )
    model: Text = Field(default="", description="the model's name as the agent knows it", examples=["claude-haiku-4-5"])
    tier: int = Field(default=1, ge=1, le=9, description="its strength, 1 to 9; escalation goes up, never down")
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
    timeout: Duration = Field(default=1800.0, description="time limit of one attempt")
    idle_timeout: Duration = Field(default=300.0, description="an attempt without any output for this long is ended")
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
