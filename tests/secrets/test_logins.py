"""Which entries of [models] use the same login (rule 5 of `recovery/policy.py`)."""

import pytest
from support.cases import cases

from noface.model.worker_run import ModelSpec
from noface.secrets.logins import login_fix, login_id


def spec(agent="claude", model="claude-sonnet-4-5", **more):
    return ModelSpec("name", agent, model, **more)


SAME = {
    "another model": (spec(), spec(model="claude-opus-4-5", tier=3)),
    "a setting that is no login": (spec(), spec(env=(("MAX_THINKING_TOKENS", "8000"),))),
    "the same key": (spec(env=(("ANTHROPIC_API_KEY", "k"),)), spec(env=(("ANTHROPIC_API_KEY", "k"),), timeout_s=9.0)),
    "the same provider": (spec("aider", "openai/gpt-5"), spec("aider", "openai/gpt-5-mini")),
    "the same command": (spec("command", "", command="run"), spec("command", "x", command="run")),
}
OWN = {
    "another agent": (spec(), spec("codex", "gpt-5")),
    "another key": (spec(), spec(env=(("ANTHROPIC_API_KEY", "k"),))),
    "another home": (spec(env=(("CLAUDE_CONFIG_DIR", "/a"),)), spec(env=(("CLAUDE_CONFIG_DIR", "/b"),))),
    "another address": (spec(), spec(env=(("ANTHROPIC_BASE_URL", "http://proxy"),))),
    "another cloud": (spec(), spec(env=(("CLAUDE_CODE_USE_BEDROCK", "1"),))),
    "another provider": (spec("aider", "openai/gpt-5"), spec("aider", "anthropic/claude-opus-4-5")),
    "another provider by an argument": (spec("codex", "a"), spec("codex", "a", args=("-c", "model_provider=x"))),
    "another command": (spec("command", "", command="run"), spec("command", "", command="walk")),
}


@cases("name", list(SAME))
def test_entries_that_differ_in_nothing_that_leads_to_a_login_share_it(name):
    one, other = SAME[name]
    assert login_id(one) == login_id(other)


@cases("name", list(OWN))
def test_entries_that_differ_in_a_key_a_home_or_a_provider_have_logins_of_their_own(name):
    one, other = OWN[name]
    assert login_id(one) != login_id(other)


def test_no_key_is_in_the_name_of_a_login():
    assert "sk-secret" not in login_id(spec(env=(("ANTHROPIC_API_KEY", "sk-secret"),)))


BEDROCK = (("CLAUDE_CODE_USE_BEDROCK", "1"), ("AWS_REGION", "eu-west-1"))
DEPOT = ("-c", "model_provider=house", "-c", 'model_providers.house={base_url="http://h/v1",env_key="DEPOT_KEY"}')


@pytest.mark.parametrize(
    ("spec", "fix"),
    [
        (ModelSpec("m", "claude"), "run `claude` and log in with /login, or set ANTHROPIC_API_KEY"),
        (ModelSpec("m", "claude", env=BEDROCK), "renew the login of the service to which [models.m] env lead it"),
        (
            ModelSpec("m", "claude", env=(("ANTHROPIC_BASE_URL", "http://h"), ("ANTHROPIC_AUTH_TOKEN", "t"))),
            "correct ANTHROPIC_AUTH_TOKEN, which [models.m] names",
        ),
        (ModelSpec("m", "codex"), "run `codex login`, or set CODEX_API_KEY"),
        (ModelSpec("m", "codex", args=DEPOT), "renew the login of the service to which [models.m] args lead it"),
        (ModelSpec("m", "gemini", env_pass=("GOOGLE_API_KEY",)), "correct GOOGLE_API_KEY, which [models.m] names"),
        (ModelSpec("m", "opencode", "openrouter/x/y"), "run `opencode auth login`, or set OPENROUTER_API_KEY"),
        (ModelSpec("m", "aider", "deepseek/deepseek-chat"), "set DEEPSEEK_API_KEY"),
        (ModelSpec("m", "aider", "house/x"), "set the key of the provider of house/x"),
        (ModelSpec("m", "command", command="./agent"), ""),
    ],
)
def test_how_to_log_in_is_said_of_what_a_model_really_uses(spec, fix):
    assert login_fix(spec) == fix
