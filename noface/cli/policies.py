"""Turns the configuration's `[retry]`, `[roles]`, `[recovery]`, `[breakdown]` and `[approval]` into a policy."""

from noface.config.presets import PRESETS
from noface.config.settings import Config
from noface.core.breaker import BreakerRules
from noface.core.ladder import Rung
from noface.core.retry_policy import BreakdownRules, Policy, Roles
from noface.core.review_rules import ReviewRules, When
from noface.core.taxonomy import Category, FailureKind, Strategy


def policy(config: Config, model: str | None = None) -> Policy:
    """Return the policy in force; `model` from the command line takes the first rung's place."""
    retry, recovery, breakdown = config.retry, config.recovery, config.breakdown
    return Policy(
        ladder=_ladder(config, model),
        tiers=tuple((name, entry.tier) for name, entry in config.models.items()),
        attempts_max=retry.max_total_attempts,
        block_after=retry.block_after,
        issue_cost_usd_max=retry.max_cost_usd,
        issue_tokens_max=retry.max_tokens,
        transient_retries=retry.transient_retries,
        backoff_base_s=retry.backoff_base,
        backoff_max_s=retry.backoff_max,
        alternatives=tuple(name for name in config.models if name in retry.models or name not in PRESETS),
        strategies=tuple((FailureKind(kind), Strategy(name)) for kind, name in retry.strategies.items()),
        roles=Roles(**config.roles.model_dump()) if recovery.enabled else Roles(reviewer=config.roles.reviewer),
        reflect=retry.reflect and recovery.enabled,
        strategies_max=recovery.max_strategies,
        diagnose_after=recovery.diagnose_after,
        allow_skip=recovery.allow_skip,
        breakdown=BreakdownRules(
            breakdown.enabled and recovery.enabled,
            breakdown.after_timeouts,
            breakdown.after_attempts,
            breakdown.files,
            breakdown.lines,
            breakdown.max_children,
            breakdown.max_depth,
        ),
        approval_paths=tuple(config.approval.paths),
        approval_labels=tuple(config.approval.labels),
        review=ReviewRules(
            When(config.review.when),
            tuple(config.review.paths),
            tuple(config.review.labels),
            config.review.files,
            config.review.lines,
            config.review.confidence,
            config.review.rounds,
        ),
    )


def breaker_rules(config: Config) -> BreakerRules:
    """Return when a model's circuit breaker opens, and for how long."""
    return BreakerRules(config.retry.breaker_after, config.retry.breaker_wait)


def _ladder(config: Config, model: str | None) -> tuple[Rung, ...]:
    """Return the rungs of `[[retry.ladder]]`, or those that `[retry]` makes (N11, L5).

    By default: `default_model`, then `escalation_model` once, then the same thinking longer, as long as the cap
    allows.
    """
    retry, models = config.retry, config.models
    if retry.ladder:
        rungs = [
            Rung(rung.model, models[rung.model].tier, rung.attempts, rung.think, _kinds(tuple(rung.answers)))
            for rung in retry.ladder
        ]
        if model is None or model == rungs[0].model:
            return tuple(rungs)
        first = Rung(model, models[model].tier, rungs[0].times)
        return (first, *(rung for rung in rungs if rung.model != model and rung.tier >= first.tier))
    first_model = model or retry.default_model
    rest = retry.max_total_attempts
    rungs = [Rung(first_model, models[first_model].tier, retry.escalate_after_attempts)]
    strongest = rungs[0]
    if retry.escalation_model is not None and retry.escalation_model != first_model:
        strongest = Rung(retry.escalation_model, models[retry.escalation_model].tier, 1 if retry.think else rest)
        rungs.append(strongest)
    if retry.think:
        rungs.append(Rung(strongest.model, strongest.tier, rest, think=True))
    return tuple(rungs)


def _kinds(names: tuple[str, ...]) -> tuple[FailureKind, ...]:
    """Return the kinds that names of kinds and categories stand for."""
    categories = {category.value for category in Category}
    found = [
        kind
        for name in names
        for kind in FailureKind
        if kind.value == name or (name in categories and kind.category == name)
    ]
    return tuple(dict.fromkeys(found))
