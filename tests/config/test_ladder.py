"""[retry] with its ladder and its strategies, and [roles]: what they give, and every mistake named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import cases

from noface.config.load import parse
from noface.config.problems import InvalidConfigError
from noface.model.taxonomy import FailureKind, Strategy


def retry(text):
    return parse(text, "noface.toml").retry


def problems(text):
    with pytest.raises(InvalidConfigError) as caught:
        parse(text, "noface.toml")
    return [(problem.key, problem.line, problem.message) for problem in caught.value.problems]


LADDER = """\
[retry]
max_total_attempts = 6

[[retry.ladder]]
model = "claude-haiku"
attempts = 2
answers = ["TEST_FAILURE", "complexity"]

[[retry.ladder]]
model = "own"

[[retry.ladder]]
model = "claude-opus"
think = true

[models.own]
agent = "scripted"
tier = 2
"""
DEFAULT = '[retry]\ndefault_model = "claude-haiku"\n'
RUNG = '[[retry.ladder]]\nmodel = "claude-haiku"\n'


def test_the_ladder_is_read_rung_by_rung():
    rungs = [(rung.model, rung.attempts, rung.think, rung.answers) for rung in retry(LADDER).ladder]
    assert rungs == [
        ("claude-haiku", 2, False, ("TEST_FAILURE", "complexity")),
        ("own", 1, False, ()),
        ("claude-opus", 1, True, ()),
    ]


def test_default_model_is_the_first_rung_s_where_it_is_left_out():
    read = retry(LADDER)
    assert (read.default_model, read.escalation_model) == ("claude-haiku", None)


def test_the_models_of_the_ladder_are_named_once_each_in_order():
    assert retry(LADDER).models == ("claude-haiku", "own", "claude-opus")
    assert retry(DEFAULT + 'escalation_model = "claude-opus"\n').models == ("claude-haiku", "claude-opus")
    assert retry(DEFAULT).models == ("claude-haiku",)
    assert retry(DEFAULT + 'escalation_model = "claude-haiku"\n').models == ("claude-haiku",)


def test_strategies_are_read_by_kind():
    read = retry(DEFAULT + '[retry.strategies]\nTEST_FAILURE = "escalate"\nRATE_LIMITED = "wait"\n')
    assert read.strategies == {"TEST_FAILURE": "escalate", "RATE_LIMITED": "wait"}


def test_roles_name_presets_and_own_models_and_count_as_in_use():
    text = LADDER + '[roles]\nplanner = "claude-opus"\nreviewer = "claude-sonnet"\n'
    config = parse(text, "noface.toml")
    assert (config.roles.planner, config.roles.reviewer, config.roles.architect) == (
        "claude-opus",
        "claude-sonnet",
        None,
    )
    assert config.models_in_use == ("claude-haiku", "own", "claude-opus", "claude-sonnet")


# Each row is one mistake: the text, its key, its line, and words that the message must have.
MISTAKES = {
    "an empty ladder": ("[retry]\nladder = []\n", "retry.ladder", 2, ["the ladder is empty", "remove it or add a step"]),
    "a rung without a model": ("[[retry.ladder]]\nattempts = 2\n", "retry.ladder.0.model", 1, ["missing", "a preset"]),
    "a misspelt key of a rung": (RUNG + "atempts = 2\n", "retry.ladder.0.atempts", 3, ['did you mean "attempts"']),
    "a misspelt key in a line": (
        '[retry]\nladder = [\n{ model = "claude-haiku" },\n{ model = "claude-opus", thnik = true }]\n',
        "retry.ladder.1.thnik", 4, ['did you mean "think"'],
    ),
    "a key of another section": (RUNG + "workers = 2\n", "retry.ladder.0.workers", 3, ["belongs in [run]"]),
    "a key of a rung in retry": (DEFAULT + "answers = []\n", "retry.answers", 3, ["belongs in [[retry.ladder]]"]),
    "a ladder in single brackets": ("[retry.ladder]\nmodel = 'x'\n", "retry.ladder", 1, ["written [[retry.ladder]]"]),
    "a rung that is no table": ("[retry]\nladder = [\n1]\n", "retry.ladder.0", 3, ["written [[retry.ladder]]", "got 1"]),
    "an unknown model on a rung": (
        RUNG + "[[retry.ladder]]\nmodel = 'claude-opsu'\n", "retry.ladder.1.model", 4, ['did you mean "claude-opus"'],
    ),
    "a misspelt kind to answer": (
        RUNG + "answers = [\n'complexity',\n'TEST_FAILED']\n", "retry.ladder.0.answers.1", 5,
        ['there is no "TEST_FAILED"', 'did you mean "TEST_FAILURE"'],
    ),
    "a misspelt category to answer": (
        RUNG + "answers = ['complexty']\n", "retry.ladder.0.answers.0", 3, ['did you mean "complexity"'],
    ),
    "an answer like nothing": (
        RUNG + "answers = ['xyzzy']\n", "retry.ladder.0.answers.0", 3, ['one of "SYNTAX_ERROR"', '"context_gap"'],
    ),
    "a ladder that falls": (
        RUNG + "[[retry.ladder]]\nmodel = 'claude-opus'\n[[retry.ladder]]\nmodel = 'claude-sonnet'\n",
        "retry.ladder.2.model", 6, ['"claude-sonnet" has tier 2', 'tier 3 of "claude-opus"', "never down"],
    ),
    "a ladder that begins with another model": (
        DEFAULT + "[[retry.ladder]]\nmodel = 'claude-opus'\n", "retry.default_model", 2,
        ['begins with "claude-opus"', "remove default_model"],
    ),
    "a misspelt kind with a strategy": (
        DEFAULT + "[retry.strategies]\nTEST_FAILED = 'escalate'\n", "retry.strategies.TEST_FAILED", 4,
        ['unknown key; did you mean "TEST_FAILURE"'],
    ),
    "a misspelt strategy": (
        DEFAULT + "[retry.strategies]\nTIMEOUT = 'brakedown'\n", "retry.strategies.TIMEOUT", 4,
        ['one of "feedback"', 'did you mean "breakdown"'],
    ),
    "a strategy that cannot help": (
        DEFAULT + "[retry.strategies]\nTIMEOUT = 'think'\nRATE_LIMITED = 'feedback'\n",
        "retry.strategies.RATE_LIMITED", 5, ['"feedback" is not a strategy for RATE_LIMITED', "wait, switch, block"],
    ),
    "strategies that are no table": (
        DEFAULT + "strategies = 'escalate'\n", "retry.strategies", 3, ["a table", 'got "escalate"'],
    ),
    "a retry that is no table": ("retry = 3\n", "retry", 1, ["written [retry]"]),
    "a retry with only a limit": ("[retry]\nmax_total_attempts = 3\n", "retry.default_model", 1, ["missing"]),
    "an unknown model of a role": (
        "[roles]\nplanner = 'claude-sonet'\n", "roles.planner", 2, ['did you mean "claude-sonnet"', "claude-haiku"],
    ),
    "a role that nobody knows": ("[roles]\nplaner = 'claude-opus'\n", "roles.planer", 2, ['did you mean "planner"']),
}  # fmt: skip


@cases("name", MISTAKES)
def test_one_mistake_gives_one_problem_with_key_line_and_what_was_expected(name):
    text, key, line, words = MISTAKES[name]
    found = problems(text)
    assert [(place, at) for place, at, _ in found] == [(key, line)], found
    for word in words:
        assert word in found[0][2]


def test_every_pair_of_kind_and_strategy_is_either_allowed_or_refused_by_name():
    for kind in FailureKind:
        for strategy in Strategy:
            text = f'{DEFAULT}[retry.strategies]\n{kind} = "{strategy}"\n'
            if strategy in kind.allowed:
                assert retry(text).strategies == {kind: strategy}
            else:
                assert problems(text)[0][0] == f"retry.strategies.{kind}"


TIERS = st.lists(st.integers(1, 9), min_size=1, max_size=5)


@given(TIERS)
def test_exactly_the_ladders_that_never_fall_are_accepted(tiers):
    rungs = "".join(f'[[retry.ladder]]\nmodel = "m{place}"\n' for place in range(len(tiers)))
    models = "".join(f'[models.m{place}]\nagent = "scripted"\ntier = {tier}\n' for place, tier in enumerate(tiers))
    if tiers == sorted(tiers):
        assert [rung.model for rung in retry(rungs + models).ladder] == [f"m{place}" for place in range(len(tiers))]
    else:
        first = next(place for place in range(1, len(tiers)) if tiers[place] < tiers[place - 1])
        assert problems(rungs + models)[0][0] == f"retry.ladder.{first}.model"


VALUES = st.sampled_from(["3", "true", '"x"', '"claude-opus"', "[]", "[[]]", "{}", "[{}]", "[1]", "[{ model = 1 }]"])


@given(st.dictionaries(st.sampled_from(["default_model", "escalation_model", "ladder", "strategies"]), VALUES), VALUES)
def test_whatever_stands_in_retry_the_answer_is_a_config_or_a_list_of_problems(keys, roles):
    text = "[retry]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) + f"[roles]\nplanner = {roles}\n"
    try:
        outcome = parse(text, "noface.toml").retry.default_model
    except InvalidConfigError as error:
        outcome = [problem.line for problem in error.problems]
    assert outcome == "claude-opus" or all(outcome)
