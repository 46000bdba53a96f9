"""Whether a run or an issue can still pay for another worker (law 12, I7). Pure; money in US dollars.

What is under way is reserved at its estimate: the model's own `max_cost_usd`, else the most that its newest runs have
used, which refuses nothing while a budget is untouched. While that is unknown, one of its runs goes first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from noface.model.quoting import in_dollars
from noface.model.worker_run import PLAIN_AGENTS, ModelSpec, Usage

_Amount = TypeVar("_Amount", int, float)
_TINY = 1e-9
_MONEY, _TOKENS = "max_cost_usd", "max_tokens"


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent; None: no limit. `owner` is "run" or "issue", for the sentences."""

    owner: str
    usd: float | None = None
    tokens: int | None = None

    @property
    def limited(self) -> bool:
        return self.usd is not None or self.tokens is not None


@dataclass(frozen=True, slots=True)
class Spent:
    """What has been used up, as far as it is known. `tokens` were read or written."""

    usd: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run of `model` may use; None: unknown. `capped`: `usd` is its own limit, not from earlier runs."""

    model: str
    usd: float | None = None
    tokens: int | None = None
    capped: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a run cannot be paid, by which key. `final` False: it may be once what is under way has ended."""

    limit: str
    reason: str
    final: bool = True


@dataclass(frozen=True, slots=True)
class Estimates:
    """What the next run of each model may use, as far as anybody knows; `peaks`: the most that its newest ones used."""

    models: Mapping[str, ModelSpec] = field(default_factory=dict)
    peaks: Mapping[str, Estimate] = field(default_factory=dict)
    thinking_factor: int = 1

    def of(self, model: str, *, think: bool = False) -> Estimate:
        """Return the estimate for a model; where it thinks longer its own limit is `thinking_factor` times as high."""
        spec, peak = self.models.get(model), self.peaks.get(model, Estimate(model))
        silent = spec is not None and spec.agent in PLAIN_AGENTS  # what never reports its use counts as nothing
        # An agent that reports tokens and no price, or the reverse, will not report the other next time.
        usd = peak.usd if peak.usd is not None else 0.0 if silent or peak.tokens is not None else None
        tokens = peak.tokens if peak.tokens is not None else 0 if silent or peak.usd is not None else None
        if spec is not None and spec.max_cost_usd is not None:
            usd = spec.max_cost_usd * (self.thinking_factor if think else 1)
            return Estimate(model, usd, tokens, capped=True)
        return Estimate(model, usd, tokens)


def can_pay(budget: Budget, spent: Spent, reserved: Sequence[Estimate], estimate: Estimate) -> Refusal | None:
    """Return why a budget cannot pay for a run, or None if it can. `reserved` is what is under way."""
    for key, limit, used, held, need, capped in (
        (_MONEY, budget.usd, spent.usd, [each.usd for each in reserved], estimate.usd, estimate.capped),
        (_TOKENS, budget.tokens, spent.tokens, [each.tokens for each in reserved], estimate.tokens, False),
    ):
        if limit is None:
            continue
        whole = f"the {budget.owner}'s {_told(key, limit)}"
        if used >= limit:
            return Refusal(key, f"{_told(key, used)} used of {whole}")
        final = _short(limit - used, held, need, lenient=not capped and not used)
        if final is None:
            continue
        if need is None:
            return Refusal(key, f"nobody knows yet what {estimate.model} uses: one run of it first", final)
        amount = f"may cost {_told(key, need)} (its {key})" if capped else f"has used up to {_told(key, need)} here"
        under_way = "" if final else f", less {_told(key, _sum_known(held))} for what is under way"
        left = f"{_told(key, limit - used)} of {whole} are left{under_way}"
        return Refusal(key, f"a run of {estimate.model} {amount}; {left}", final)
    return None


def _told(key: str, amount: float) -> str:
    return in_dollars(amount) if key == _MONEY else f"{amount:,.0f} tokens"


def _sum_known(amounts: Sequence[float | None]) -> float:
    return sum(amount for amount in amounts if amount is not None)


def _short(left: float, reserved: Sequence[float | None], need: float | None, *, lenient: bool) -> bool | None:
    """True if `need` is too much for what is left: for good (True), for now (False), or not at all (None).

    `lenient`: `need` is merely what earlier runs used, and nothing is spent yet. None in `reserved`: nothing is known.
    """
    held = _sum_known(reserved)
    if need is None:
        return False if None in reserved or held >= left else None
    if need == 0 or (held < left and need <= left - held + _TINY):
        return None
    if lenient:
        return False if reserved else None
    return need > left + _TINY


ESTIMATED = "its cost is an estimate: priced from tokens"
"""The note on an attempt whose agent told no cost."""

CACHED_SHARE = 0.1
"""What input read from a provider's cache costs, in parts of the price of input: most list prices say a tenth."""

TOKENS_MAX = 10**12
"""A count beyond this is nonsense, whatever an agent prints: it would not fit where counts are kept."""

COST_MAX_USD = 10_000.0
"""A cost beyond this is nonsense, too: it would keep every later run from starting."""

_PER_MTOK = 1e-6


def priced(usage: Usage, model: ModelSpec) -> Usage:
    """Return what a run used with its cost filled in from its tokens if the agent reports none, or none to speak of.

    The cost stays unknown (None) if the model's prices are, or one of the two counts is. Nonsensical amounts are
    dropped.
    """
    usage = replace(
        usage,
        cost_usd=sane_cost(usage.cost_usd),
        tokens_in=_sane(usage.tokens_in),
        tokens_out=_sane(usage.tokens_out),
        tokens_cached=_sane(usage.tokens_cached),
    )
    cost = _cost(usage, model)
    reported = usage.cost_usd is not None and not (usage.cost_usd == 0 and model.own_prices)
    return usage if cost is None or reported else replace(usage, cost_usd=cost, priced=True)


def summed(one: Usage, other: Usage) -> Usage:
    """Return what two runs used together; an amount that neither reports stays unknown. The session is the latter's."""
    return Usage(
        cost_usd=_sum(one.cost_usd, other.cost_usd),
        tokens_in=_sum(one.tokens_in, other.tokens_in),
        tokens_out=_sum(one.tokens_out, other.tokens_out),
        session_id=other.session_id or one.session_id,
        tokens_cached=_sum(one.tokens_cached, other.tokens_cached),
        priced=one.priced or other.priced,
    )


def _sum(one: _Amount | None, other: _Amount | None) -> _Amount | None:
    return one if other is None else other if one is None else one + other


def _cost(usage: Usage, model: ModelSpec) -> float | None:
    price_in, price_out = model.usd_per_mtok_in, model.usd_per_mtok_out
    if price_in is None or price_out is None or usage.tokens_in is None or usage.tokens_out is None:
        return None
    cached = min(usage.tokens_cached or 0, usage.tokens_in)
    read = usage.tokens_in - cached + CACHED_SHARE * cached
    return _PER_MTOK * (read * price_in + usage.tokens_out * price_out)


def sane_cost(cost: float | None) -> float | None:
    return cost if cost is not None and 0 <= cost <= COST_MAX_USD else None


def _sane(count: int | None) -> int | None:
    return count if count is not None and 0 <= count <= TOKENS_MAX else None


ENDS_MAX = 2
"""So many attempts in a row, or runs of a question, may a run's budget end; one more would end like them."""


class EndedFor(StrEnum):
    """Whose budget ended work. WITH_RUN: other work had passed the run's before."""

    RUN = "ended-at-run-budget"
    WITH_RUN = "ended-with-run-budget"
    ISSUE = "ended-at-issue-budget"


@dataclass(frozen=True, slots=True)
class Passed:
    """A budget that is passed: whose it is ("run" or "issue"), the key that sets it, what was used, and of how much."""

    owner: str
    key: str
    used: float
    limit: float

    @property
    def of(self) -> str:
        return f"{self.key} = {_told(self.key, self.limit)}"

    @property
    def reason(self) -> str:
        return f"stopped at the limit {self.key}: {_told(self.key, self.used)} of {_told(self.key, self.limit)}"


@dataclass(frozen=True, slots=True)
class Overrun:
    """Why work was ended. `own` is what it had used itself, `kept` what other work under way may use."""

    ended_for: EndedFor
    passed: Passed
    own: float
    kept: float = 0.0

    @property
    def note(self) -> str:
        passed, key = self.passed, self.passed.key
        kept = f"; {_told(key, self.kept)} kept for other work" if self.kept else ""
        used = f"{_told(key, passed.used)} used, {_told(key, self.own)} of it here"
        return f"ended at the {passed.owner}'s {passed.of}: {used}{kept}"

    @property
    def mark(self) -> str:
        """What is kept with the work: `ended_at` and `limit_of` read it."""
        return f"{self.ended_for}: {self.passed.of}"


@dataclass(frozen=True, slots=True)
class Allowance:
    """The most that a run of a model may spend, and whose budget says so: the "model"'s, the "issue"'s, the "run"'s.

    `limit` is that budget; of it `before` was spent when the run of the model began, and `reserved` is for other work.
    """

    usd: float
    owner: str
    limit: float
    before: float = 0.0
    reserved: float = 0.0

    @property
    def of_model(self) -> bool:
        return self.owner == _MODEL

    def less(self, usd: float) -> "Allowance":
        return replace(self, usd=max(self.usd - usd, _CENT), before=self.before + usd)

    def reached(self, usd: float) -> Overrun:
        with_others = EndedFor.WITH_RUN if self.reserved else EndedFor.RUN
        used = Passed(self.owner, _MONEY, self.before + usd, self.limit)
        return Overrun(EndedFor.ISSUE if self.owner == "issue" else with_others, used, usd, self.reserved)


_MODEL = "model"
_CENT = 0.01


def allowed(
    own: float | None, issue: Budget, issue_spent: Spent, run: Budget, run_spent: Spent, reserved: float
) -> Allowance | None:
    """Return what a run of a model that has a limit of its `own` may spend, None if nothing bounds it.

    `reserved` is what other work under way in the run may use.
    """
    bounds = [Allowance(own, _MODEL, own)] if own is not None else []
    if issue.usd is not None:
        bounds.append(Allowance(issue.usd - issue_spent.usd, issue.owner, issue.usd, issue_spent.usd))
    if run.usd is not None:
        left = run.usd - run_spent.usd - reserved
        bounds.append(Allowance(left, run.owner, run.usd, run_spent.usd, reserved))
    least = min(bounds, key=lambda each: each.usd, default=None)
    return replace(least, usd=max(least.usd, _CENT)) if least is not None else None


def passed_by(budget: Budget, spent: Spent) -> Passed | None:
    if budget.usd is not None and spent.usd > budget.usd:
        return Passed(budget.owner, _MONEY, spent.usd, budget.usd)
    if budget.tokens is not None and spent.tokens > budget.tokens:
        return Passed(budget.owner, _TOKENS, spent.tokens, budget.tokens)
    return None


def overrun(ended_for: EndedFor, passed: Passed, used: Spent) -> Overrun:
    return Overrun(ended_for, passed, used.usd if passed.key == _MONEY else used.tokens)


def ended_at(mark: str) -> EndedFor | None:
    name = mark.partition(": ")[0]
    return next((each for each in EndedFor if each == name), None)


def limit_of(mark: str) -> str:
    return mark.partition(": ")[2]
