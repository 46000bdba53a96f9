"""The sections of noface.toml about trying again: [retry], its ladder and strategies, and [roles]."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from noface.config.sections import Section
from noface.config.values import Duration, Items, Money, Pause, Text
from noface.core.taxonomy import Category, FailureKind, Strategy


def _words(*enums: type[StrEnum]) -> tuple[str, ...]:
    return tuple(member.value for enum in enums for member in enum)


if TYPE_CHECKING:
    KindName = str
    StrategyName = str
    AnswerName = str
else:  # as literals, so that a wrong word is answered with the nearest right one
    KindName = Literal[_words(FailureKind)]
    StrategyName = Literal[_words(Strategy)]
    AnswerName = Literal[_words(FailureKind, Category)]


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
    answers: Items[AnswerName] = Field(
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
    max_tokens: int | None = Field(
        default=None, ge=1, description="limit of one issue's tokens, read and written", examples=[5_000_000]
    )
    reflect: bool = Field(
        default=False, description="ask the worker's model before each retry why it failed and what it will do"
    )
    think: bool = Field(
        default=True, description="the last rung thinks longer; a rung of [[retry.ladder]] says so for itself"
    )
    transient_retries: int = Field(
        default=3, ge=0, description="how often a rate limit or network failure is waited out"
    )
    backoff_base: Pause = Field(default=30.0, description="the first of these waits; each next one is twice as long")
    backoff_max: Pause = Field(default=900.0, description="the longest of these waits")
    breaker_after: int = Field(
        default=5, ge=1, description="after so many such failures in a row a model is left alone, for all issues"
    )
    breaker_wait: Duration = Field(default=600.0, description="so long, then one attempt may try it again")
    strategies: Mapping[KindName, StrategyName] = Field(
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
