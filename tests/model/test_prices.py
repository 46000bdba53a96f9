"""What a run's tokens cost where its agent tells no price."""

import math
from dataclasses import replace
from datetime import date

import pytest

from noface.agents.base import AGENTS
from noface.config.load import parse
from noface.config.presets import presets
from noface.config.prices import list_price, price_on
from noface.data import table
from noface.engine.readiness import price_findings
from noface.model.budget import TOKENS_MAX, priced
from noface.model.worker_run import ModelSpec, Usage

DAY = date(2026, 11, 22)
MODEL = ModelSpec("m", "codex", usd_per_mtok_in=2.0, usd_per_mtok_out=10.0)


def entry(text):
    return parse(f"[models.m]\nagent = 'codex'\n{text}\n", "noface.toml").models["m"]


def test_tokens_without_a_cost_are_priced_and_marked_so():
    usage = priced(Usage(tokens_in=1_000_000, tokens_out=100_000, session_id="s"), MODEL)
    assert usage == Usage(pytest.approx(3.0), 1_000_000, 100_000, "s", priced=True)


def test_what_an_agent_says_it_cost_stands():
    usage = Usage(0.25, 1_000_000, 1_000_000)
    assert priced(usage, MODEL) == usage


def test_a_cost_of_nothing_yields_to_prices_that_a_person_has_set():
    own = replace(MODEL, own_prices=True)
    assert priced(Usage(0.0, 1_000_000, 0), own).cost_usd == pytest.approx(2.0)
    assert priced(Usage(0.0, 0, 0), own).cost_usd == 0.0
    assert priced(Usage(0.5, 1_000_000, 0), own).cost_usd == 0.5


@pytest.mark.parametrize("cost", [1e9, math.inf, -1.0])
def test_a_cost_that_no_run_can_have_is_not_believed(cost):
    assert priced(Usage(cost), MODEL).cost_usd is None
    assert priced(Usage(cost, 1_000_000, 0), MODEL).cost_usd == pytest.approx(2.0)


@pytest.mark.parametrize("line", ["Tokens: 1 sent, 1 received. Cost: $1 message, $1000000000 session.",
                                  "Tokens: 1 sent, 1 received. Cost: $1 message, $" + "9" * 400 + " session.",
                                  "Tokens: 9999999M sent, 9999999M received."])  # fmt: skip
def test_an_absurd_line_in_aider_s_output_does_not_undo_what_was_told_before(line):
    reader = AGENTS["aider"].reader()
    reader.feed(b"Tokens: 10k sent, 1k received. Cost: $4.01 message, $4.01 session.\n" + line.encode() + b"\n")
    used = reader.used()
    assert (used.cost_usd, used.tokens_in) == (4.01, pytest.approx(10_000, abs=1))


def test_input_from_the_cache_costs_a_tenth():
    usage = priced(Usage(tokens_in=1_000_000, tokens_out=0, tokens_cached=900_000), MODEL)
    assert usage.cost_usd == pytest.approx(0.2 + 0.18)


@pytest.mark.parametrize(
    ("usage", "model"),
    [
        (Usage(tokens_in=10, tokens_out=5), ModelSpec("m", "codex")),
        (Usage(tokens_in=10, tokens_out=5), ModelSpec("m", "codex", usd_per_mtok_in=2.0)),
        (Usage(tokens_in=10), MODEL),
        (Usage(tokens_out=10), MODEL),
        (Usage(), MODEL),
    ],
    ids=["no price", "half a price", "no output count", "no input count", "no counts"],
)
def test_what_cannot_be_known_stays_unknown(usage, model):
    assert priced(usage, model).cost_usd is None
    assert not priced(usage, model).priced


@pytest.mark.parametrize("count", [10**400, TOKENS_MAX + 1, -5])
def test_a_nonsensical_count_is_dropped_and_prices_nothing(count):
    assert priced(Usage(tokens_in=count, tokens_out=5), MODEL) == Usage(tokens_out=5)


def test_the_price_list_knows_every_preset_by_whatever_way_it_is_reached():
    models = parse("", "noface.toml").models
    assert {name for name in presets() if models[name].price(DAY) is None} == set()
    assert models["aider-opus"].price(DAY) == (5.0, 25.0)


def test_a_price_that_changes_is_that_of_the_day():
    entry = [{"in": 1, "out": 5, "until": date(2026, 12, 31)}, {"in": 2, "out": 9, "from": date(2027, 1, 1)}]
    assert price_on(entry, date(2026, 12, 31)) == (1, 5)
    assert price_on(entry, date(2027, 1, 1)) == (2, 9)
    assert price_on(entry[1:], DAY) is None, "nobody knows it before"
    assert price_on({"in": 1, "out": 5}, DAY) == (1, 5)


def test_a_name_that_an_agent_has_for_a_model_means_that_of_no_other_agent():
    for agent, aliases in table("prices")["aliases"].items():
        for alias, model in aliases.items():
            assert list_price(agent, alias, DAY) == list_price(agent, model, DAY)
            assert list_price(agent, alias, DAY) is not None
            assert list_price("scripted", alias, DAY) is None


def test_a_limit_in_dollars_that_cannot_hold_a_model_is_told():
    specs = {"x": ModelSpec("x", "codex", "gpt-99"), "y": MODEL, "z": ModelSpec("z", "claude")}
    (found,) = price_findings(specs, ["x", "y", "z", "x"], 5.0, None)
    assert found.exit_code == 0
    assert found.text == (
        "model x: [run] max_cost_usd cannot hold it: codex tells only tokens, and nobody knows its price"
    )
    assert price_findings(specs, ["x"], None, None) == ()
    assert (
        "[models.x] max_cost_usd"
        in price_findings({"x": replace(specs["x"], max_cost_usd=1.0)}, ["x"], None, 2.0)[0].what
    )


def test_an_own_price_stands_before_the_list():
    own = entry("model = 'gpt-6-astra'\nusd_per_mtok_in = 1\nusd_per_mtok_out = 2.5")
    assert own.price(DAY) == (1.0, 2.5)


def test_nobody_knows_what_an_unlisted_model_costs():
    assert entry("model = 'gpt-1'").price(DAY) is None
    assert entry("").price(DAY) is None
