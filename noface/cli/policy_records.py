"""Turns the configuration into records of the models and of what happens after a failure; little is imported for it."""

from datetime import UTC, date, datetime
from pathlib import Path

from noface.config.model_sections import Model
from noface.config.presets import presets
from noface.config.project_sections import Sandbox
from noface.config.sections import Config
from noface.model.codec import view
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import PLAIN_AGENTS, ModelSpec
from noface.process.clock import Clock
from noface.recovery.retry_policy import Policy, ReviewRules, RoleModels, Rung
from noface.secrets.logins import login_id


def policy(config: Config, model: str | None = None) -> Policy:
    """Return the policy in force; `model` from the command line takes the first rung's place."""
    retry, recovery, ladder = config.retry, config.recovery, _ladder(config, model)
    askable = [rung for rung in ladder if config.models[rung.model].agent not in PLAIN_AGENTS]
    strongest = max(askable, key=lambda rung: rung.tier, default=None) if config.recovery.enabled else None
    return Policy(
        ladder=ladder,
        tiers=tuple((name, entry.tier) for name, entry in config.models.items()),
        attempts_max=retry.max_total_attempts,
        issue_cost_usd_max=retry.max_cost_usd,
        issue_tokens_max=retry.max_tokens,
        outage_max_s=retry.outage_max,
        backoff_base_s=retry.backoff_base,
        transient_retries=retry.transient_retries,
        block_after=retry.block_after,
        alternatives=tuple(name for name in config.models if name in retry.models or name not in presets()),
        strategies=tuple(retry.strategies.items()),
        roles=RoleModels(**config.roles.models) if recovery.enabled else RoleModels(reviewer=config.roles.reviewer),
        reflect=retry.reflect and recovery.enabled,
        strategies_max=recovery.max_strategies,
        allow_skip=recovery.allow_skip,
        breakdown=recovery.enabled,
        approval_paths=tuple(config.approval.paths),
        approval_labels=tuple(config.approval.labels),
        review=view(
            ReviewRules,
            config.review,
            judge=config.roles.reviewer or (strongest.model if strongest is not None else None),
        ),
        logins=tuple((name, login_id(spec)) for name, spec in model_specs(config, Path()).items()),
    )


def _ladder(config: Config, model: str | None) -> tuple[Rung, ...]:
    """Return the rungs of `[[retry.ladder]]`, or those that `[retry]` makes (N11, L5).

    By default: `default_model`, then `escalation_model` once, then the same thinking longer, as long as the cap
    allows.
    """
    retry, models = config.retry, config.models
    if retry.ladder:
        rungs = [
            Rung(
                rung.model,
                models[rung.model].tier,
                rung.attempts,
                rung.think,
                tuple(dict.fromkeys(k for each in rung.answers for k in FailureKind if each in (k, k.category))),
                candidates=rung.parallel,
            )
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
        strongest = Rung(retry.escalation_model, models[retry.escalation_model].tier, 1)
        rungs.append(strongest)
    rungs.append(Rung(strongest.model, strongest.tier, rest, think=True))
    return tuple(rungs)


def model_specs(config: Config, root: Path) -> dict[str, ModelSpec]:
    day = datetime.fromtimestamp(Clock().now(), UTC).date()
    return {name: _model_spec(name, model, root, config.sandbox, day) for name, model in config.models.items()}


def _model_spec(name: str, model: Model, root: Path, sandbox: Sandbox, day: date) -> ModelSpec:
    price_in, price_out = model.price(day) or (None, None)
    return view(
        ModelSpec,
        model,
        name=name,
        command=str(root / model.command) if model.agent == "scripted" else model.command,
        env=tuple(model.env.items()),
        timeout_s=model.timeout,
        idle_timeout_s=model.idle_timeout,
        usd_per_mtok_in=price_in,
        usd_per_mtok_out=price_out,
        own_prices=model.usd_per_mtok_in is not None,
        boxed=(model.sandbox or sandbox.kind) != "none",
        network=sandbox.for_others,
    )
