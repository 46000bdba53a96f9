"""Every action that there is comes out of the policy somewhere: none is dead (K7). And the words that most decisions bear."""

from dataclasses import replace

from support.cases import cases
from support.policy_story import (
    ISSUE,
    LADDER,
    NOW,
    ROLES,
    K,
    conflict,
    contradicted,
    decide,
    depends,
    failed,
    fails,
    passed,
    policy,
    said,
)

from noface.model.actions import NAMES, Ask, Terminal, model_of
from noface.model.history import AdviceOutcome, Topic
from noface.recovery.retry_policy import ReviewRules, RoleModels, Rung, When

ASKING = policy(roles=ROLES)
STORIES = {
    "FirstAttempt": decide(),
    "RetrySame": decide(conflict()),
    "RetryWithFeedback": decide(*fails(1)),
    "AddContext": decide(failed(K.AGENT_CONFUSION)),
    "Escalate": decide(*fails(2)),
    "ThinkLonger": decide(*fails(3), policy=policy(ladder=(*LADDER[:1], Rung("big", 2, 5, think=True)))),
    "ReduceScope": decide(failed(K.TIMEOUT)),
    "SwitchModel": decide(failed(K.NETWORK), policy=policy(alternatives=("twin",))),
    "BreakDown": decide(*fails(2, kind=K.TIMEOUT), policy=ASKING),
    "CallResolver": decide(failed(K.BOUNDARY_VIOLATION), policy=ASKING),
    "Diagnose": decide(failed(K.UNKNOWN), policy=ASKING),
    "Reflect": decide(*fails(1), policy=policy(reflect=True)),
    "Review": decide(passed(), policy=policy(roles=RoleModels(reviewer="critic"), review=ReviewRules(When.ALWAYS))),
    "WaitUntil": decide(failed(K.RATE_LIMITED, retry_at=NOW + 5)),
    "AwaitIssues": decide(depends("5"), said(Topic.DEPENDENCY, needs=("5",))),
    "Skip": decide(
        failed(K.UNKNOWN),
        said(Topic.DIAGNOSIS, strategy="skip_and_continue"),
        policy=policy(roles=ROLES, allow_skip=True),
    ),
    "RequestApproval": decide(
        passed(), issue=replace(ISSUE, labels=("risky",)), policy=policy(approval_labels=("risky",))
    ),
    "Block": decide(*fails(5)),
    "Land": decide(passed()),
}
TOPICS = {
    Topic.DIAGNOSIS: decide(failed(K.UNKNOWN), policy=ASKING),
    Topic.REFLECTION: decide(*fails(1), policy=policy(reflect=True)),
    Topic.CLARIFICATION: decide(failed(K.AGENT_REFUSED), policy=ASKING),
    Topic.BOUNDARY: decide(failed(K.GATE_TAMPERING), policy=ASKING),
    Topic.MERGE_CONFLICT: decide(conflict(), conflict(), policy=ASKING),
    Topic.DEPENDENCY: decide(depends("5")),
    Topic.ARCHITECT: decide(*fails(2), *fails(1, "big"), policy=ASKING),
    Topic.BREAKDOWN: decide(*fails(2, kind=K.TIMEOUT), policy=ASKING),
    Topic.REVIEW: STORIES["Review"],
    Topic.CHANGED_TESTS: decide(contradicted(), policy=policy(review=ReviewRules(judge="wise"))),
    Topic.MISSING: decide(*fails(2), said(Topic.BREAKDOWN, outcome=AdviceOutcome.PARTS_LANDED), policy=ASKING),
}


def test_every_action_is_produced_by_a_story():
    assert set(NAMES) == set(STORIES)


@cases("name", STORIES)
def test_a_story_produces_the_action_that_it_is_named_after(name):
    action = STORIES[name]
    assert action.name == name
    assert action.reason


def test_every_topic_is_asked_about_somewhere():
    assert set(TOPICS) == set(Topic)
    for topic, action in TOPICS.items():
        assert isinstance(action, Ask), topic
        assert action.topic is topic


def test_whatever_runs_a_worker_or_asks_somebody_names_the_model():
    named = {name for name, action in STORIES.items() if model_of(action)}
    assert named == {name for name, action in STORIES.items() if not isinstance(action, Terminal)}
