"""A person's own share of a login's quota: what a run leaves of it, and what it tells."""

import json
from dataclasses import replace

import pytest
from support.run_parts import run_parts
from support.scripted_http import StandingClock

from noface.agents.claude import ClaudeReader
from noface.agents.codex import _windows as codex_windows
from noface.attempt.environment import AttemptProgress
from noface.attempt.run import LocalExecutor
from noface.engine.budget_guard import RunLimits
from noface.engine.jobs import Job, JobKind, Jobs
from noface.engine.quota_guard import QuotaGuard
from noface.model.listed import Window
from noface.model.quota import Reserve, held_back, login_of
from noface.model.worker_run import ModelSpec
from noface.secrets.logins import payer
from noface.store.overview import OVERAGE

NOW = 1_000_000.0
RESET = NOW + 7_200
KEEP = Reserve({"five_hour": 0.15, "week": 0.25})


@pytest.mark.parametrize(
    ("window", "reserve", "spent_beyond", "rests_until"),
    [
        (Window("five_hour", 0.86, RESET), KEEP, 0.0, RESET),
        (Window("five_hour", 0.84, RESET), KEEP, 0.0, None),
        (Window("week", 0.75, RESET), KEEP, 0.0, RESET),
        (Window("day", 0.99, RESET), KEEP, 0.0, None),  # nothing is said of that one
        (Window("five_hour", 0.86, NOW - 1), KEEP, 0.0, None),  # it has begun anew since
        (Window("five_hour", 0.86), KEEP, 0.0, NOW + 3_600),  # nobody knows when: an hour, then one attempt asks
        (Window("five_hour", 1.0, RESET, beyond=True), Reserve(), 0.0, RESET),
        (Window("five_hour", 1.0, RESET, beyond=True), Reserve(beyond_usd=5.0), 4.9, None),
        (Window("five_hour", 1.0, RESET, beyond=True), Reserve(beyond_usd=5.0), 5.0, RESET),
        (Window("five_hour", 0.99, RESET), Reserve(), 0.0, None),
    ],
)
def test_a_login_rests_once_its_window_has_come_to_the_share_that_is_a_persons(
    window, reserve, spent_beyond, rests_until
):
    held = held_back(window, reserve, spent_beyond, NOW)
    assert (held[0] if held else None) == rests_until


def test_models_of_one_program_share_its_login_unless_they_are_given_another():
    sonnet, opus = ModelSpec("sonnet", "claude"), ModelSpec("opus", "claude")
    other = ModelSpec("work", "claude", env=(("ANTHROPIC_API_KEY", "k"),))
    assert login_of(sonnet) == login_of(opus) != login_of(other)
    assert login_of(sonnet) != login_of(ModelSpec("gpt", "codex"))


@pytest.fixture
def context(project):
    project.issue(7)
    with run_parts(project.path, StandingClock(NOW)) as parts:
        models = {
            name: ModelSpec(name, "claude", model=name, max_cost_usd=1.0) for name in ("claude-sonnet", "claude-opus")
        }
        policy = replace(parts.settings.policy, alternatives=tuple(models))
        parts.settings = replace(parts.settings, models=models, reserve=KEEP, policy=policy)
        yield parts


def heard(context, guard, jobs, *windows, model="claude-sonnet"):
    job = Job(JobKind.ATTEMPT, "7", lambda cancel: cancel.fileno(), 0, model, number=1)
    jobs._jobs.append(job)
    guard.seen(AttemptProgress("7", 1, "agent", "", quota=windows))
    jobs._jobs.remove(job)
    return job


def begun(context):
    jobs = Jobs(context.inbox, LocalExecutor(1))
    guard = QuotaGuard(context, jobs, RunLimits(context).live)
    guard.begin()
    return guard, jobs


def test_what_one_worker_hears_holds_all_models_of_the_login_and_the_next_run(context):
    guard, jobs = begun(context)
    job = heard(context, guard, jobs, Window("five_hour", 0.9, RESET))
    assert {name: wait.until for name, wait in context.reader.waits().items()} == {
        "claude-sonnet": RESET,
        "claude-opus": RESET,
    }
    assert not job.cancel.cancelled  # it began within the window
    context.settings = replace(context.settings, reserve=Reserve({"five_hour": 0.05}))
    begun(context)
    assert context.reader.waits() == {}  # who needs less for themselves runs again at once
    context.settings = replace(context.settings, reserve=KEEP)
    begun(context)
    assert set(context.reader.waits()) == {"claude-sonnet", "claude-opus"}
    context.clock.sleep(7_300)
    begun(context)
    assert context.reader.waits() == {}


def test_a_window_of_one_model_holds_that_one(context):
    guard, jobs = begun(context)
    context.settings = replace(context.settings, reserve=Reserve({"week_opus": 0.2}))
    heard(context, guard, jobs, Window("week_opus", 0.9, RESET, "opus"))
    assert set(context.reader.waits()) == {"claude-opus"}


def test_what_would_cost_extra_ends_at_once(context):
    guard, jobs = begun(context)
    job = heard(context, guard, jobs, Window("five_hour", 1.0, RESET, beyond=True))
    assert job.cancel.cancelled
    assert set(context.reader.waits()) == {"claude-sonnet", "claude-opus"}


def test_a_person_is_asked_once_and_lets_this_run_spend_beyond_a_window(context):
    context.settings = replace(context.settings, reserve=Reserve(ask=True))
    guard, jobs = begun(context)
    job = heard(context, guard, jobs, Window("five_hour", 1.0, RESET, beyond=True))
    heard(context, guard, jobs, Window("five_hour", 1.0, RESET + 1, beyond=True))
    assert job.cancel.cancelled
    assert set(context.reader.waits()) == {"claude-sonnet", "claude-opus"}
    events = context.reader._db.rows("SELECT data FROM events WHERE kind = 'overage_asked'")
    assert len(events) == 1
    assert "noface resume --overage 5" in events[0]["data"]
    context.journal.fact(OVERAGE, "another-run 5.0")
    guard.step()
    assert context.reader.waits(), "what another run was let is not this one's"
    context.journal.fact(OVERAGE, f"{context.run_id} 5.0")
    guard.step()
    assert context.reader.waits() == {}


@pytest.mark.parametrize(
    ("model", "given", "who"),
    [
        (ModelSpec("opus", "claude"), (), "its login: a subscription, or credit"),
        (
            ModelSpec("opus", "claude"),
            ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"),
            "each call is paid (ANTHROPIC_API_KEY)",
        ),
        (ModelSpec("opus", "claude"), ("CLAUDE_CODE_OAUTH_TOKEN",), "a subscription (CLAUDE_CODE_OAUTH_TOKEN)"),
        (ModelSpec("gpt", "codex"), ("OPENAI_API_KEY",), "its login: a subscription, or credit"),
        (ModelSpec("gpt", "codex"), ("CODEX_API_KEY",), "each call is paid (CODEX_API_KEY)"),
        (
            ModelSpec("own", "aider", model="anthropic/x"),
            ("ANTHROPIC_API_KEY",),
            "each call is paid (ANTHROPIC_API_KEY)",
        ),
        (ModelSpec("sh", "command"), ("ANTHROPIC_API_KEY",), ""),
    ],
)
def test_a_run_says_who_pays_before_it_begins(model, given, who):
    assert payer(model, given) == who


@pytest.mark.parametrize(
    ("used", "credit", "beyond"),
    [
        (100.0, {"has_credits": True, "unlimited": False, "balance": "12"}, True),
        (99.0, {"has_credits": True, "unlimited": False, "balance": "12"}, False),
        (100.0, {"has_credits": False, "unlimited": False, "balance": "0"}, False),
        (100.0, None, False),
    ],
)
def test_codex_goes_on_from_credit_once_its_window_is_used_up(used, credit, beyond):
    limits = {"primary": {"used_percent": used, "window_minutes": 300, "resets_at": RESET}, "credits": credit}
    payload = {"type": "token_count", "rate_limits": limits}
    assert codex_windows(json.dumps({"type": "event_msg", "payload": payload})) == (
        Window("five_hour", used / 100, RESET, beyond=beyond),
    )


def test_the_stream_of_claude_code_tells_of_windows():
    reader = ClaudeReader()
    told = {"status": "allowed_warning", "resetsAt": RESET, "rateLimitType": "seven_day", "utilization": 0.91}
    for info in (
        told,
        {"status": "rejected", "resetsAt": RESET, "rateLimitType": "seven_day_opus"},
        {"status": "allowed", "resetsAt": RESET, "rateLimitType": "five_hour", "isUsingOverage": True},
        {"status": "allowed", "resetsAt": RESET},
    ):
        reader.feed((json.dumps({"type": "rate_limit_event", "rate_limit_info": info}) + "\n").encode())
    assert reader.quota == (
        Window("week", 0.91, RESET),
        Window("week_opus", 1.0, RESET, "opus"),
        Window("five_hour", 1.0, RESET, beyond=True),
    )
