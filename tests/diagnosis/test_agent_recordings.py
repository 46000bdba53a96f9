"""The classifier of worker runs over everything that was recorded of the real CLIs."""

import pytest
from support.agent_recordings import CLIS, MISLABELLED, run, runs, verdict
from support.cases import cases

from noface.agents.base import AGENTS, EventKind
from noface.data import table
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


def test_one_label_is_known_to_be_wrong():
    assert len(MISLABELLED) == 1
    wrong = run("codex", "no_websocket_builtin_retries0")
    assert "Error loading config.toml" in wrong.stderr
    assert wrong.stdout == b""
    assert "reserved built-in provider IDs" in wrong.stderr
    assert (verdict(wrong).kind, verdict(wrong).rule) == ("MISCONFIGURED", "codex-bad-settings")


@cases("each", EVERY, ids=name)
@cases("chunk", [3, 1000])
def test_how_the_stream_is_cut_into_pieces_makes_no_difference(each, chunk):
    assert verdict(each, chunk) == verdict(each)


@pytest.mark.parametrize("cli", CLIS)
def test_the_events_are_the_same_however_the_stream_is_cut(cli):
    def events(stdout, size):
        reader = AGENTS[cli].reader()
        return [event for at in range(0, len(stdout), size) for event in reader.feed(stdout[at : at + size])]

    for each in runs(cli):
        stdout = each.stdout + b"\n"
        assert events(stdout, 7) == events(stdout, len(stdout)), each.name


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


@cases(
    ("cli", "name", "resource"),
    [
        ("claude", "max_turns", "turns"), ("claude", "budget", "budget"), ("claude", "context", "context"),
        ("claude", "max_tokens", "output"), ("codex", "max_tokens", "output"), ("codex", "context_failed", "context"),
        ("gemini", "max_turns", "turns"), ("gemini", "max_tokens", "output"), ("gemini", "context", "context"),
        ("opencode", "max_tokens", "output"), ("opencode", "context", "context"), ("aider", "context", "context"),
        ("aider", "max_tokens", "output"), ("mini", "step_limit", "turns"), ("mini", "cost_limit", "budget"),
        ("mini", "max_tokens", "output"), ("mini", "context", "context"), ("codex", "success", None),
    ],
)  # fmt: skip
def test_what_ran_out_is_named(cli, name, resource):
    assert verdict(run(cli, name)).resource == resource


@pytest.mark.parametrize("cli", ["aider", "claude", "codex", "gemini"])
def test_a_question_is_kept_for_whoever_answers(cli):
    judged = verdict(run(cli, "question"), changed=False)
    assert judged.kind == "AGENT_CONFUSION"
    asked = "Before I start: which file should I change, and should the greeting be in English or German?"
    assert judged.questions == (asked,)


@cases(
    ("cli", "name", "kind"),
    [
        *((cli, "bad_flag", "MISCONFIGURED") for cli in CLIS),
        ("codex", "auth_api_key_login", "AUTH"),
        ("codex", "conn_refused", "NETWORK"),  # it would reconnect for ever
        ("codex", "hang", "AGENT_CRASH"),
        ("gemini", "untrusted", "MISCONFIGURED"),
        ("gemini", "untrusted_and_gateway_auth", "AUTH"),
        ("gemini", "json_usage_limit", "RATE_LIMITED"),
        ("opencode", "truncated", "NETWORK"),
        ("aider", "no_key_unset", "AUTH"),
        ("aider", "hang_timeout5", "OVERLOADED"),
        ("aider", "sigint_hang", "AGENT_CRASH"),  # exit code 0
        ("gemini", "sigterm_group_bash", "AGENT_CRASH"),  # exit code 0
    ],
)
def test_runs_without_a_label_are_told_apart_too(cli, name, kind):
    assert verdict(run(cli, name)).kind == kind


@pytest.mark.parametrize("cli", CLIS)
def test_what_a_run_consumed_is_read(cli):
    from support.agent_recordings import evidence

    usage = evidence(run(cli, "success")).usage
    if cli != "mini":
        assert usage.tokens_in > usage.tokens_out > 0
    if table("agents")[cli].get("tells_cost", True):
        assert usage.cost_usd > 0
    if cli not in ("aider", "mini"):
        assert len(usage.session_id) > 20, f"{cli} is to be named here if its output names no session"


def test_events_tell_tools_edits_retries_and_errors():
    def kinds(cli, name):
        each = run(cli, name)
        return {event.kind for event in AGENTS[cli].reader().feed(each.stdout + b"\n")}

    assert {EventKind.TOOL, EventKind.EDIT, EventKind.TEXT} <= kinds("gemini", "success")
    assert {EventKind.TOOL, EventKind.EDIT} <= kinds("claude", "success")
    assert EventKind.EDIT in kinds("aider", "success")
    assert EventKind.RETRY in kinds("aider", "rate429")
    assert {EventKind.RETRY, EventKind.ERROR} <= kinds("codex", "truncated")
    assert EventKind.ERROR in kinds("opencode", "auth401")
    assert EventKind.ERROR not in kinds("codex", "success"), "an item of type error is a notice"


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
