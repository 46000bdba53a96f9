"""Simulates nights to see what `[retry] start = "learned"` lands, beside "first" and beside one who knows the chances.

A model is up to a share of the issues of a kind, the easiest (`can`); if it is, each of its tries passes with CHANCE,
so a second try after a failed one has less chance than the first. What is decided is what noface decides: `next_action`
on the attempts so far. "oracle" knows `can`, and leaves out what does not pay. Attempts cost 0.7 to 1.4 of a model's
price. Without a budget all issues are worked through; with one the night ends once it is spent.

    .venv/bin/python benchmarks/ladder.py [--nights N] [--candidates]

With `--candidates` it asks when best of several pays: hard issues, one step, one try after another or several at once.
"""

import argparse
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean

from noface.model.actions import RunWorker
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.history import History, IssueKind, Tried
from noface.model.issue import Issue
from noface.model.taxonomy import PASSED, FailureKind
from noface.recovery.learned_start import RECORD_MAX, tries_left_out
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import LadderStart, Policy, Rung

CHANCE, ISSUES, TRY_S = 0.85, 60, 600.0
TWO = (Rung("cheap", 1, 2), Rung("strong", 3, 1), Rung("strong", 3, 5, think=True))
THREE = (Rung("cheap", 1, 2), Rung("middle", 2, 2), Rung("strong", 3, 5))
TIERS = {"cheap": 1, "middle": 2, "strong": 3}
USD = {"cheap": 0.06, "middle": 0.2, "strong": 0.35}
HOW = ("first", "learned", "oracle")


@dataclass(frozen=True)
class Night:
    """`can` has, by kind of issue and model, the share that it is up to in the first half of the night and the second."""

    name: str
    can: Mapping[str, Mapping[str, tuple[float, float]]]
    ladder: tuple[Rung, ...] = TWO
    usd: Mapping[str, float] | None = None
    labelled: bool = True
    priced: bool = True


def one(cheap: float, strong: float = 0.9, middle: float = 0.7, later: float | None = None) -> dict:
    late = cheap if later is None else later
    return {"": {"cheap": (cheap, late), "middle": (middle, middle), "strong": (strong, strong)}}


TWO_KINDS = {"docs": one(0.9, 0.95)[""], "core": one(0.05, 0.85)[""]}
NIGHTS = (
    Night("cheap never passes", one(0.0)),
    Night("cheap is up to 1 in 10", one(0.1)),
    Night("cheap is up to 3 in 10", one(0.3)),
    Night("cheap is up to 6 in 10", one(0.6)),
    Night("cheap is up to 9 in 10", one(0.9)),
    Night("docs and core, labelled", TWO_KINDS),
    Night("docs and core, no labels", TWO_KINDS, labelled=False),
    Night("cheap improves midway", one(0.0, later=0.9)),
    Night("cheap gets worse midway", one(0.9, later=0.0)),
    Night("nobody is up to 8 in 10", one(0.1, 0.2)),
    Night("cheap costs as much", one(0.5), usd={**USD, "cheap": 0.3}),
    Night("cheap costs nothing", one(0.2), usd={**USD, "cheap": 0.0}),
    Night("cheap is free, never passes", one(0.0), usd={**USD, "cheap": 0.0}),
    Night("three rungs, all useful", one(0.5, middle=0.8), THREE),
    Night("three rungs, cheap fails", one(0.0, middle=0.8), THREE),
    Night("three rungs, middle fails", one(0.5, middle=0.05), THREE),
    Night("no prices are known", one(0.05), priced=False),
)


def oracle_ladder(night: Night, kind: str, *, late: bool) -> tuple[Rung, ...]:
    """Return the part of the ladder that lands most per dollar, for one who knows the chances."""
    usd, can = night.usd or USD, {model: shares[late] for model, shares in night.can[kind].items()}

    def worth(ladder: tuple[Rung, ...]) -> float:
        left, cost, able = 1.0, 0.0, dict(can)
        for model in (rung.model for rung in ladder for _ in range(min(rung.times, 3))):
            passes = able[model] * CHANCE
            left, cost = left * (1 - passes), cost + left * usd[model]
            able[model] = (able[model] - passes) / (1 - passes)
        return (1 - left) / max(cost, 1e-9)

    *lower, last = night.ladder
    times = product(*(range(rung.times, -1 if rung.model != last.model else rung.times - 1, -1) for rung in lower))
    options = [(*(replace(r, times=n) for r, n in zip(lower, each, strict=True) if n), last) for each in times]
    return max(options, key=worth)


def play(night: Night, how: str, seed: int, budget: float | None) -> tuple[int, float, int]:
    """Work through a backlog with the same dice for each of `how`; return what landed, dollars, and attempts."""
    landed, spent, now, record = 0, 0.0, 1e9, list[Tried]()
    policy = Policy(
        night.ladder, tuple(TIERS.items()), start=LadderStart.LEARNED if how == "learned" else LadderStart.FIRST
    )
    for number in range(ISSUES):
        dice, late = random.Random(f"{seed} {number}"), number >= ISSUES // 2
        kind, hard = dice.choice(list(night.can)), dice.random()
        rolls = {model: [dice.random() for _ in range(9)] for model in TIERS}
        used = policy
        if how == "oracle":
            known = oracle_ladder(night, kind, late=late)
            used = replace(policy, ladder=known, attempts_max=5 - tries_left_out(night.ladder, known))
        history = History(Issue(str(number), "x", labels=(kind,) if night.labelled and kind else ()))
        while budget is None or spent < budget:
            history = replace(history, record=tuple(record[-RECORD_MAX:]))
            action = next_action(history, used, now)
            if not isinstance(action, RunWorker):
                break
            begun, now, turn, model = now, now + TRY_S, f"{len(history.attempts) + 1}", action.model
            passed = hard < night.can[kind][model][late] and rolls[model].pop() < CHANCE
            price = (night.usd or USD)[model] * dice.uniform(0.7, 1.4)
            outcome = PASSED if passed else FailureKind.TEST_FAILURE.value
            record.append(Tried(str(number), 0, model, action.think, outcome, True, begun, now,
                                price if night.priced else None, IssueKind.of(history.issue)))  # fmt: skip
            spent, landed = spent + price, landed + passed
            if passed:
                break
            failure = Failure(FailureKind.TEST_FAILURE, turn, rule="r", signature=turn)
            made = PastAttempt(int(turn), model, TIERS[model], outcome, charged=True, signature=turn, patch_hash=turn,
                               failure=failure, think=action.think)  # fmt: skip
            history = replace(history, attempts=(*history.attempts, made))
    return landed, spent, len(record)


HARD_CHANCES = (0.85, 0.5, 0.25)
"""How likely a try passes at an issue that its model is up to."""
HARD_USD, ATTEMPTS_MAX = 0.35, 4


def hard_night(chance: float, many: int, seed: int, *, twin: bool) -> tuple[int, float, float]:
    """Work on hard issues, of which a model is up to half; return what landed, dollars, and hours of the issues.

    With `twin` a second model, which is up to another half, is every other candidate, or tries in its turn.
    """
    landed, dollars, hours = 0, 0.0, 0.0
    rules = Policy((Rung("strong", 3, ATTEMPTS_MAX, candidates=many),), (("strong", 3), ("twin", 3)),
                   attempts_max=ATTEMPTS_MAX, alternatives=("strong", "twin") if twin else ("strong",))  # fmt: skip
    for number in range(ISSUES):
        dice, history = random.Random(f"{seed} {number}"), History(Issue(str(number), "x"))
        able = {model: dice.random() < 0.5 for model in ("strong", "twin")}
        while isinstance(action := next_action(history, rules, 1e9), RunWorker):
            turn = len(history.attempts) + 1
            alone = "twin" if twin and turn % 2 == 0 else "strong"
            models = (action.model, *action.beside) if action.beside else (alone,)
            tries = [(dice.uniform(0.7, 1.4), able[model] and dice.random() < chance) for model in models]
            first = min((length for length, passed in tries if passed), default=None)
            dollars += sum(HARD_USD * (length if first is None else min(length, first)) for length, _ in tries)
            hours += (max(length for length, _ in tries) if first is None else first) * TRY_S / 3600
            if first is not None:
                landed += 1
                break
            failure = Failure(FailureKind.TEST_FAILURE, f"{turn}", rule="r", signature=f"{turn}")
            made = PastAttempt(turn, "strong", 3, failure.kind.value, charged=True, signature=f"{turn}",
                               patch_hash=f"{turn}", failure=failure)  # fmt: skip
            history = replace(history, attempts=(*history.attempts, made))
    return landed, dollars, hours


def print_candidates(seeds: range) -> None:
    """Print, for each chance, what one after another and several at once land, cost and take."""
    print(f"{'':34}" + "".join(f"{head:>10}" for head in (f"of {ISSUES}", "$/landed", "h/issue")))
    for chance, twin, many in product(HARD_CHANCES, (False, True), (1, 2, 3)):
        nights = [hard_night(chance, many, seed, twin=twin) for seed in seeds]
        landed, dollars, hours = (fmean(night[what] for night in nights) for what in range(3))
        name = f"{chance:.0%}, {'two models' if twin else 'one model'}, {many} at once"
        print(f"{name:34}{landed:10.1f}{dollars / landed:10.2f}{hours / ISSUES:10.2f}")


def main() -> None:
    """Print a line for each night."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nights", type=int, default=20, help="how many dice each night is played with")
    parser.add_argument("--candidates", action="store_true", help="when does best of several pay?")
    options = parser.parse_args()
    seeds = range(options.nights)
    if options.candidates:
        print_candidates(seeds)
        return
    heads = (f"landed of {ISSUES}", "dollars", "attempts", "landed for half the dollars")
    print(" " * 28 + "".join(f"{head:^24}" for head in heads) + f"\n{'':28}" + f"{'first learned  oracle  ':>24}" * 4)
    for night in NIGHTS:
        whole = {how: [play(night, how, seed, None) for seed in seeds] for how in HOW}
        half = fmean(spent for _, spent, _ in whole["first"]) / 2
        cells = [fmean(came[what] for came in whole[how]) for what in range(3) for how in HOW]
        cells += [fmean(play(night, how, seed, half)[0] for seed in seeds) for how in HOW]
        print(f"{night.name:28}" + "".join(f"{cell:8.1f}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
