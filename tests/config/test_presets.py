"""The presets, and the keys of noface.toml about prices and budgets."""

import pytest

from noface.agents.base import AGENTS
from noface.cli.policy_records import model_specs, policy
from noface.config.load import parse
from noface.config.presets import presets
from noface.config.problems import InvalidConfigError


def config(text=""):
    return parse(text, "noface.toml")


def test_every_agent_that_has_a_login_of_its_own_has_presets():
    assert {str(preset["agent"]) for preset in presets().values()} == AGENTS.keys() - {"command", "scripted"}


@pytest.mark.parametrize("name", presets())
def test_a_preset_needs_no_further_key(name, tmp_path):
    spec = model_specs(config(f'[retry]\ndefault_model = "{name}"\n'), tmp_path)[name]
    assert AGENTS[spec.agent].program(spec) == spec.agent
    assert spec.model
    assert spec.tier in (1, 2, 3)
    assert (spec.timeout_s, spec.idle_timeout_s) == (3600.0, 600.0)
    assert spec.usd_per_mtok_in is not None


@pytest.mark.parametrize("agent", ["opencode", "aider", "mini", "gemini"])
def test_every_agent_has_something_to_escalate_to(agent):
    assert len({preset["tier"] for preset in presets().values() if preset["agent"] == agent}) > 1


def test_a_preset_that_nobody_named_never_stands_in():
    chosen = policy(config('[retry]\ndefault_model = "gpt-codex"\nescalation_model = "gpt-codex-max"\n'))
    assert chosen.alternatives == ("gpt-codex", "gpt-codex-max")
    assert chosen.stand_ins("gpt-codex") == ()


def test_prices_and_budgets_reach_the_parts_that_need_them(tmp_path):
    read = config(
        "[run]\nmax_tokens = 5000\n[retry]\ndefault_model = 'm'\nmax_tokens = 700\nmax_cost_usd = 3\n"
        "[models.m]\nagent = 'codex'\nmodel = 'x'\nusd_per_mtok_in = 1.5\nusd_per_mtok_out = 6\n"
    )
    spec = model_specs(read, tmp_path)["m"]
    assert (spec.usd_per_mtok_in, spec.usd_per_mtok_out) == (1.5, 6.0)
    chosen = policy(read)
    assert (chosen.budget.usd, chosen.budget.tokens) == (3.0, 700)
    assert read.run.max_tokens == 5000


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("[run]\nmax_tokens = 0\n", "run.max_tokens", "not below 1"),
        ("[run]\nmax_tokens = 1.5\n", "run.max_tokens", "expected"),
        ("[retry]\ndefault_model = 'claude-opus'\nmax_tokens = -1\n", "retry.max_tokens", "not below 1"),
        ("[models.claude-opus]\nusd_per_mtok_in = -1\nusd_per_mtok_out = 1\n", "usd_per_mtok_in", "not below 0"),
        ("[models.claude-opus]\nusd_per_mtok_in = nan\nusd_per_mtok_out = 1\n", "usd_per_mtok_in", "expected"),
        ("[models.claude-opus]\nusd_per_mtok_in = 1\n", "usd_per_mtok_out", "needed together with usd_per_mtok_in"),
        ("[models.claude-opus]\nusd_per_mtok_out = 1\n", "usd_per_mtok_in", "needed together with usd_per_mtok_out"),
    ],
)
def test_a_wrong_price_or_budget_is_refused_with_what_was_expected(text, key, said):
    with pytest.raises(InvalidConfigError) as caught:
        config(text)
    assert key in caught.value.message
    assert said in caught.value.message
