"""`[retry.strategies]`: whatever may be configured for a kind of failure is what happens (L14)."""

import pytest
from support.cases import cases
from support.policy_story import ALONE, NOW, ROLES, K, decide, failed, fails, policy

from noface.model.actions import Ask, Block, Mode, RequestApproval, RunWorker, Skip, WaitUntil, model_of
from noface.model.history import Topic
from noface.model.taxonomy import Category, Strategy

FIRST = {
    Strategy.FEEDBACK: RunWorker(Mode.FEEDBACK, "small", "{kind}: once more, with feedback"),
    Strategy.ESCALATE: RunWorker(Mode.ESCALATE, "big", "{kind}: next step, big"),
    Strategy.THINK: RunWorker(Mode.THINK, "small", "{kind}: small thinks longer", think=True),
    Strategy.CONTEXT: Ask(Topic.CLARIFICATION, "planner", "{kind}: ask the planner what is meant"),
    Strategy.REDUCE: RunWorker(Mode.REDUCE, "small", "{kind}: a smaller step"),
    Strategy.BREAKDOWN: Ask(
        Topic.BREAKDOWN, "planner", "[retry.strategies] {kind} = breakdown: the planner divides it"
    ),
    Strategy.DIAGNOSE: Ask(Topic.DIAGNOSIS, "doctor", "{kind}: nobody knows yet why it failed"),
    Strategy.SKIP: Skip("[retry.strategies] {kind} = skip"),
    Strategy.APPROVAL: RequestApproval(K.UNKNOWN, "[retry.strategies] {kind} = approval"),
    Strategy.BLOCK: Block(K.UNKNOWN, "[retry.strategies] {kind} = block"),
    Strategy.WAIT: WaitUntil("small", NOW + 15, "{kind}: retry 1"),
    Strategy.SWITCH: RunWorker(
        Mode.SWITCH, "twin", "{kind}: twin is of the same tier and works meanwhile", instead_of=("small", NOW + 15)
    ),
}
WORKING = [kind for kind in K if kind.category not in (Category.TRANSIENT, Category.ENVIRONMENT)]
TRANSIENT = [kind for kind in K if kind.category is Category.TRANSIENT]


def first(kind, strategy, **more):
    """The answer to the first failure of a kind where that strategy is configured."""
    rules = policy(roles=ROLES, alternatives=("twin",), strategies=((kind, strategy),), **more)
    return decide(failed(kind), policy=rules)


@cases("strategy", FIRST)
def test_a_strategy_answers_every_kind_it_is_allowed_for(strategy):
    kinds = [kind for kind in K if strategy in kind.allowed and kind.category is not Category.ENVIRONMENT]
    assert kinds
    for kind in kinds:
        action, expected = first(kind, strategy), FIRST[strategy]
        assert action.name == expected.name, kind
        assert action.reason == expected.reason.replace("{kind}", kind), kind
        assert model_of(action) == model_of(expected), kind
        assert getattr(action, "kind", kind) is kind


def test_the_resolver_is_asked_about_every_kind_that_he_may_be_configured_for():
    for kind in K:
        if Strategy.RESOLVER in kind.allowed:
            action = first(kind, Strategy.RESOLVER)
            assert action.name == "CallResolver", f"{kind} = resolver: {action.reason}"
            assert action.model == "judge"


@pytest.mark.parametrize("kind", [kind for kind in K if kind.category is Category.ENVIRONMENT])
def test_nothing_but_a_block_is_allowed_for_the_environment(kind):
    assert kind.allowed == ((Strategy.WAIT, Strategy.BLOCK) if kind is K.BASELINE_RED else (Strategy.BLOCK,))
    charged = failed(kind, charged=True)
    assert decide(charged, policy=policy(strategies=((kind, Strategy.BLOCK),))) == Block(
        kind, f"[retry.strategies] {kind} = block"
    )


def test_a_strategy_for_one_kind_leaves_the_others_alone():
    for kind in WORKING:
        others = tuple((other, Strategy.BLOCK) for other in WORKING if other is not kind)
        attempt = failed(kind)
        assert decide(attempt, policy=policy(strategies=others)) == decide(attempt), kind


def test_no_reason_names_a_configuration_that_is_not_there():
    for kind in K:
        for attempts in (fails(1, kind=kind, charged=True), fails(1, kind=kind), fails(2, kind=kind)):
            assert "[retry.strategies]" not in decide(*attempts).reason, kind


def test_without_roles_every_strategy_still_has_an_answer():
    expected = {
        Strategy.CONTEXT: "AddContext",
        Strategy.DIAGNOSE: "AddContext",
        Strategy.RESOLVER: "RetryWithFeedback",
        Strategy.BREAKDOWN: "ReduceScope",
    }
    for strategy, action in expected.items():
        given = decide(failed(K.TEST_FAILURE), policy=policy(strategies=((K.TEST_FAILURE, strategy),)))
        assert given.name == action, strategy


def test_a_ladder_of_one_rung_has_nothing_to_escalate_to():
    rules = policy(ladder=ALONE, strategies=((K.TEST_FAILURE, Strategy.ESCALATE),))
    assert decide(*fails(1), policy=rules).name == "RetryWithFeedback"
