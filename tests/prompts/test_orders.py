"""The orders that one prompt gives: over all actions, kinds of failure, starts and advice no two contradict (S6, N6)."""

import re
from itertools import product

from support.policy_story import failed, history_of, said

from noface.engine.prompt_context import built_in
from noface.engine.worker_prompt import orders_of
from noface.model.actions import Mode
from noface.model.failure import PriorFailure
from noface.model.gate import GateSpec
from noface.model.history import Topic
from noface.model.issue import Issue
from noface.model.start import StartPoint, StartReason
from noface.model.taxonomy import FailureKind, reaches_workers
from noface.prompts.data import PromptData, situation_for
from noface.prompts.render import render

KEEP = (
    "start over", "preserving working parts", "Keep what was not objected to", "leave it as it is", "Make them again",
    "Make again what was right",
)  # fmt: skip
ANEW = (
    "another approach", "the other way", "leads nowhere", "none of them again", "Do not make that change again",
    "brings the other back",
)  # fmt: skip
MORE = ("you have more time", "complete it", "Take the points one by one", "Compare at least two")
CONTRADICTIONS = [*product(KEEP, ANEW), ("only answer again", "Think it through"), *product(("Do less",), MORE[1:])]
TIME = [*product(("finish early",), MORE)]

STARTS = (StartReason.BEST_SO_FAR, StartReason.TAMPERED, StartReason.WORSE_THAN_MAIN, StartReason.CUT_OFF)
MODES = [mode for mode in Mode if mode is not Mode.FIRST]
OF_ATTEMPTS = set(FailureKind) - {FailureKind.NO_PROGRESS}
KINDS = [kind for kind in FailureKind if kind in OF_ATTEMPTS and reaches_workers(kind, charged=kind == "ENVIRONMENT")]
DIAGNOSIS = said(Topic.DIAGNOSIS, strategy="alternative_approach", cause="odd", text="Another approach: go round it.")
ARCHITECT = said(Topic.ARCHITECT, text="Leave out both.")
TEMPLATES = built_in()


def attempts(kind, how):
    """The attempts before: one, two that made the same change, or four that went round in a circle."""
    if how == "circle":
        return [failed(kind, said=said, diff=said, message=said) for said in "abab"]
    return [failed(kind, said="a", diff="x") for _ in range(2 if how == "same" else 1)]


def prompt_of(mode, kind, reason, how, advice):
    history = history_of(*attempts(kind, how), *advice)
    last = history.attempts[-1]
    start = StartPoint(reason, last.number, "c")
    orders = orders_of(history, mode.value, start, last)
    earlier = tuple(
        PriorFailure(a.number, a.model, a.outcome, "it failed", "src/a.py:3", "E  assert 1 == 2", command="pytest")
        for a in history.attempts
    )
    data = PromptData(
        Issue("7", "Seven"), (GateSpec("unit", "pytest"),), earlier=earlier, start=start,
        instruction=orders.instruction, strategy=orders.strategy, another_way=orders.another_way,
    )  # fmt: skip
    return render(situation_for(mode.value, kind.value), TEMPLATES, data, 50_000).text


def test_no_prompt_gives_two_orders_that_contradict_each_other():
    found = {}
    for mode, kind, reason in product(MODES, KINDS, STARTS):
        for how, advice in product(("once", "same", "circle"), ((), (DIAGNOSIS,), (ARCHITECT,))):
            if (how == "circle" or advice == (ARCHITECT,)) and kind is not FailureKind.TEST_FAILURE:
                continue  # neither depends on the kind
            text = prompt_of(mode, kind, reason, how, advice)
            for one, other in (*CONTRADICTIONS, *TIME):
                if one in text and other in text:
                    found.setdefault((one, other), []).append((mode.value, kind.value, reason.value, how, len(advice)))
    assert not found, {pair: (len(where), where[0]) for pair, where in found.items()}


def test_a_file_that_does_not_parse_is_mended_where_it_is_by_the_ordered_sentence():
    for mode in (Mode.FEEDBACK, Mode.ESCALATE, Mode.THINK, Mode.CONTEXT):
        text = prompt_of(mode, FailureKind.SYNTAX_ERROR, StartReason.BEST_SO_FAR, "once", ())
        ordered = r"failed with: SYNTAX_ERROR.*\. Fix that specific problem while preserving working parts\.\n"
        assert re.search(ordered, text), mode
        assert ("Your previous attempt failed with: " in text) is (mode is not Mode.ESCALATE)


def test_another_approach_is_an_order_and_takes_the_place_of_what_contradicts_it():
    for advice in (DIAGNOSIS, ARCHITECT):
        text = prompt_of(Mode.FEEDBACK, FailureKind.TEST_FAILURE, StartReason.BEST_SO_FAR, "once", (advice,))
        assert "take the other way that is described below" in text
        assert "failed with: TEST_FAILURE" in text
        assert not [kept for kept in (*KEEP, "Look at `src/a.py:3` first") if kept in text]
