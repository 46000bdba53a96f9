"""The classifier of worker runs over everything that was recorded of the real CLIs."""

import pytest
from support.agent_recordings import CLIS, run, runs, verdict
from support.cases import cases

from noface.agents.base import AGENTS, EventKind
from noface.model.taxonomy import Category
from noface.model.worker_run import EndedBy

EVERY = [each for cli in CLIS for each in runs(cli)]
LABELLED = [each for each in EVERY if each.expected]


def name(each):
    return f"{each.cli}-{each.name}"


@cases("each", LABELLED, ids=name)
def test_a_recorded_run_has_the_kind_of_its_label(each):
    judged = verdict(each, changed=each.edited)
    assert (judged.kind.value if judged.kind else "SUCCESS") in each.expected
    assert judged.rule.startswith(f"{each.cli}-")


@pytest.mark.parametrize("cli", CLIS)
def test_of_every_agent_a_success_and_a_failure_are_labelled(cli):
    kinds = {each.expected[0] for each in LABELLED if each.cli == cli}
    missing = f"label runs of {cli} in labels.json of its runs.tar.xz: SUCCESS, RATE_LIMITED, OVERLOADED and AUTH"
    assert kinds >= {"SUCCESS", "RATE_LIMITED", "OVERLOADED", "AUTH"}, missing


@cases("each", EVERY, ids=name)
@cases("chunk", [3, 1000])
def test_how_the_stream_is_cut_into_pieces_makes_no_difference(each, chunk):
    assert verdict(each, chunk) == verdict(each)


@cases("each", EVERY, ids=name)
def test_every_failure_says_what_decided_and_whom_to_charge(each):
    failure = verdict(each).failure
    if failure is not None:
        assert failure.message.strip()
        assert failure.signature
        assert failure.evidence
        excused = failure.category in (Category.TRANSIENT, Category.ENVIRONMENT)
        assert failure.charged is not excused


@cases("each", EVERY, ids=name)
def test_a_run_that_noface_ended_is_no_success_and_no_crash(each):
    judged = verdict(each, ended_by=EndedBy.TIMEOUT)
    assert judged.kind == "TIMEOUT" or judged.kind.category is Category.TRANSIENT


@cases(
    ("cli", "name", "at"),
    [
        ("claude", "usage_limit_oauth_weekly", 1_795_490_120),  # a typed event says when
        ("claude", "usage_limit_oauth_opus", 1_795_490_120),
        ("claude", "rate429", None),  # retry-after is printed nowhere
        ("codex", "usage_limit", 1_795_192_200),  # 4:30 PM
        ("codex", "usage_limit_3days", 1_795_490_100),  # Nov 24th, 2026 3:15 AM
        ("codex", "rate_failed", 1_795_188_603.5),  # in 3.5s
        ("aider", "rate429", 1_795_188_608),  # in 8s, wrapped at 80 columns
        ("mini", "rate429", 1_795_188_608),
        ("opencode", "usage_limit", 1_795_193_196),  # resets_at in the provider's answer
        ("gemini", "usage_limit", None),
    ],
)
def test_a_rate_limit_tells_when_to_come_back_where_the_cli_does(cli, name, at):
    assert verdict(run(cli, name)).retry_at == at


@pytest.mark.parametrize("cli", ["aider", "claude", "codex", "gemini"])
def test_a_question_is_kept_for_whoever_answers(cli):
    judged = verdict(run(cli, "question"), changed=False)
    assert judged.kind == "AGENT_CONFUSION"
    asked = "Before I start: which file should I change, and should the greeting be in English or German?"
    assert judged.questions == (asked,)


def test_the_end_of_a_limit_comes_with_its_event():
    events = AGENTS["claude"].reader().feed(run("claude", "usage_limit_oauth_weekly").stdout)
    assert next(event.resets_at for event in events if event.kind is EventKind.LIMIT) == 1_795_490_120


def test_billing_is_told_from_a_rate_limit_and_the_rule_that_lost_says_why():
    judged = verdict(run("opencode", "credit"))
    assert (judged.kind, judged.rule) == ("AUTH", "opencode-billing")
    judged = verdict(run("mini", "credit"))
    assert judged.rule == "mini-billing"
    assert [(rule, "more exactly" in why) for rule, _, why in judged.also_matched] == [("mini-rate-limit", True)]
    assert judged.failure.also_matched[0][0] == "mini-rate-limit"
