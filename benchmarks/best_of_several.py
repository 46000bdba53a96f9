"""Simulates nights of hard issues to see when best of several pays: one try after another, or several at once.

A model is up to half of the issues; if it is, each of its tries passes with a chance. What is decided is what noface
decides: `next_action` on the attempts so far. Attempts cost 0.7 to 1.4 of a model's price.

    .venv/bin/python benchmarks/best_of_several.py [--nights N]
"""

import argparse
import random
from dataclasses import replace
from itertools import product
from statistics import fmean

from noface.model.actions import RunWorker
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.history import History
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import Policy, Rung

ISSUES, TRY_S = 60, 600.0
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


def main() -> None:
    """Print, for each chance, what one after another and several at once land, cost and take."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nights", type=int, default=20, help="how many dice each night is played with")
    seeds = range(parser.parse_args().nights)
    print(f"{'':34}" + "".join(f"{head:>10}" for head in (f"of {ISSUES}", "$/landed", "h/issue")))
    for chance, twin, many in product(HARD_CHANCES, (False, True), (1, 2, 3)):
        nights = [hard_night(chance, many, seed, twin=twin) for seed in seeds]
        landed, dollars, hours = (fmean(night[what] for night in nights) for what in range(3))
        name = f"{chance:.0%}, {'two models' if twin else 'one model'}, {many} at once"
        print(f"{name:34}{landed:10.1f}{dollars / landed:10.2f}{hours / ISSUES:10.2f}")


if __name__ == "__main__":
    main()
