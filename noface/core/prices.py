"""What a run cost where its agent tells only tokens (codex, gemini, a run cut off): an estimate from the prices."""

from dataclasses import replace

from noface.core.worker_run import ModelSpec, Usage

CACHED_SHARE = 0.1
"""What input read from a provider's cache costs, in parts of the price of input: most list prices say a tenth."""

TOKENS_MAX = 10**12
"""A count beyond this is nonsense, whatever an agent prints: it would not fit where counts are kept."""

COST_MAX_USD = 10_000.0
"""A cost beyond this is nonsense, too: it would keep every later run from starting."""

_PER_MTOK = 1e-6


def priced(usage: Usage, model: ModelSpec) -> Usage:
    """Return what a run used with its cost filled in from its tokens, where the agent told none.

    A cost of nothing for tokens that were used yields to prices that a person has set: the agent knows none.
    The cost stays unknown (None) where the model's prices are, or where one of the two counts is. Nonsensical amounts
    are dropped.
    """
    usage = replace(
        usage,
        cost_usd=_sane_cost(usage.cost_usd),
        tokens_in=_sane(usage.tokens_in),
        tokens_out=_sane(usage.tokens_out),
        tokens_cached=_sane(usage.tokens_cached),
    )
    cost = _cost(usage, model)
    told = usage.cost_usd is not None and not (usage.cost_usd == 0 and model.own_prices)
    return usage if cost is None or told else replace(usage, cost_usd=cost, priced=True)


def summed(one: Usage, other: Usage) -> Usage:
    """Return what two runs used together; an amount that neither told stays unknown. The session is the latter's."""
    return Usage(
        cost_usd=_sum(one.cost_usd, other.cost_usd),
        tokens_in=_whole(one.tokens_in, other.tokens_in),
        tokens_out=_whole(one.tokens_out, other.tokens_out),
        session_id=other.session_id or one.session_id,
        tokens_cached=_whole(one.tokens_cached, other.tokens_cached),
        priced=one.priced or other.priced,
    )


def _sum(one: float | None, other: float | None) -> float | None:
    return one if other is None else other if one is None else one + other


def _whole(one: int | None, other: int | None) -> int | None:
    return one if other is None else other if one is None else one + other


def _cost(usage: Usage, model: ModelSpec) -> float | None:
    price_in, price_out = model.usd_per_mtok_in, model.usd_per_mtok_out
    if price_in is None or price_out is None or usage.tokens_in is None or usage.tokens_out is None:
        return None
    cached = min(usage.tokens_cached or 0, usage.tokens_in)
    read = usage.tokens_in - cached + CACHED_SHARE * cached
    return _PER_MTOK * (read * price_in + usage.tokens_out * price_out)


def _sane_cost(cost: float | None) -> float | None:
    return cost if cost is not None and 0 <= cost <= COST_MAX_USD else None


def _sane(count: int | None) -> int | None:
    return count if count is not None and 0 <= count <= TOKENS_MAX else None
