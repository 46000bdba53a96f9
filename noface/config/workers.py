"""The sections of noface.toml about those who do the work: models, retries, hints."""

from typing import Any

from pydantic import Field

from noface.config.presets import AgentName
from noface.config.sections import Section
from noface.config.values import Duration, Env, FilledText, Items, Money, Pause, Regex, Text

HINT_CONDITIONS = ("label", "language", "error_pattern", "error_regex")
"""The keys of [[failure_hints]] that say when a hint applies; at least one must be there."""


def _command_needs_one(schema: dict[str, Any]) -> None:
    schema["if"] = {"properties": {"agent": {"const": "command"}}, "required": ["agent"]}
    schema["then"] = {"required": ["command"]}


def _some_condition(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [{"required": [key]} for key in HINT_CONDITIONS]


class Model(Section, json_schema_extra=_command_needs_one):
    """A model that issues can be given to; claude-haiku, claude-sonnet and claude-opus need no entry."""

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
    timeout: Duration = Field(default=1800.0, description="time limit of one attempt")
    idle_timeout: Duration = Field(default=300.0, description="an attempt without any output for this long is ended")
    max_cost_usd: Money | None = Field(
        default=None, description="cost limit of one attempt, in US dollars", examples=[2.0]
    )


class Retry(Section):
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
    max_total_attempts: int = Field(default=5, ge=1, description="so many attempts an issue in all, then it is blocked")
    block_after: int | None = Field(
        default=None,
        ge=1,
        description="block after so many equal failures in a row; by default max_total_attempts",
        examples=[3],
    )
    max_cost_usd: Money | None = Field(
        default=None, description="cost limit of one issue, in US dollars", examples=[5.0]
    )
    transient_retries: int = Field(
        default=3, ge=0, description="how often a rate limit or network failure is waited out"
    )
    backoff_base: Pause = Field(default=30.0, description="the first of these waits; each next one is twice as long")
    backoff_max: Pause = Field(default=900.0, description="the longest of these waits")


class FailureHint(Section, json_schema_extra=_some_condition):
    """Advice for the next attempt when a failure matches all its conditions, of which it needs one or more."""

    label: Text = Field(default="", description="condition: the issue has this label", examples=["migration"])
    language: Text = Field(
        default="", description="condition: the failing file is in this language", examples=["elixir"]
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
