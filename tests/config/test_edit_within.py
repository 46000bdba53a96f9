"""Values of the tables within a section, [[retry.ladder]] and [retry.strategies], are set like all others."""

import pytest
from support.cases import cases

from noface.config.edit import set_values
from noface.config.load import parse
from noface.errors import ConfigError


def changed_lines(before, after):
    old, new = before.split("\n"), after.split("\n")
    return [line for line in old if line not in new], [line for line in new if line not in old]


LADDER = """\
[retry]
block_after = 3 # patience

# The ladder: cheap first.
[[retry.ladder]]
model = "claude-haiku" # cheap

# then this
[[retry.ladder]]
model = "claude-opus"

# Answers of our own.
[retry.strategies]
TIMEOUT = "reduce" # less at once

# The run
[run]
workers = 1
"""


@pytest.mark.parametrize(
    ("key", "value", "gone", "came"),
    [
        ("retry.ladder.0.attempts", "3", [], ["attempts = 3"]),
        ("retry.ladder.1.model", "claude-sonnet", ['model = "claude-opus"'], ['model = "claude-sonnet"']),
        ("retry.ladder.1.answers", '["TIMEOUT"]', [], ['answers = ["TIMEOUT"]']),
        ("retry.strategies.TIMEOUT", "breakdown", ['TIMEOUT = "reduce" # less at once'], ['TIMEOUT = "breakdown" # less at once']),
        ("retry.strategies.TEST_FAILURE", "escalate", [], ['TEST_FAILURE = "escalate"']),
    ],
)  # fmt: skip
def test_values_of_tables_within_a_section_are_set_alone(key, value, gone, came):
    after = set_values(LADDER, [(key, value)])
    assert changed_lines(LADDER, after) == (gone, came)
    kept = [line for line in LADDER.split("\n") if line not in gone]
    assert [line for line in after.split("\n") if line in kept and line] == [line for line in kept if line]


def test_a_new_key_stands_before_the_tables_within_its_section_and_their_comments():
    after = set_values(LADDER, [("retry.reflect", "true")])
    assert "block_after = 3 # patience\nreflect = true\n\n# The ladder: cheap first.\n[[retry.ladder]]\n" in after


def test_a_new_table_within_a_section_stands_before_the_comments_of_the_next():
    plain = '[retry]\ndefault_model = "claude-haiku"\n\n# The run\n[run]\n'
    added = '\n[retry.strategies]\nTIMEOUT = "reduce"\n\n# The run\n[run]\n'
    assert set_values(plain, [("retry.strategies.TIMEOUT", "reduce")]) == plain.replace("\n# The run\n[run]\n", added)
    rungs = '[retry]\nblock_after = 3\n[[retry.ladder]]\nmodel = "claude-haiku"\n\n# The run\n[run]\n'
    assert set_values(rungs, [("retry.strategies.TIMEOUT", "reduce")]) == rungs.replace("\n# The run\n[run]\n", added)


def test_a_section_in_several_pieces_takes_a_key_where_its_own_keys_stand():
    pieces = '[retry]\nblock_after = 3\n\n# The run\n[run]\n\n[[retry.ladder]]\nmodel = "claude-haiku"\n'
    after = set_values(pieces, [("retry.reflect", "true")])
    assert after == pieces.replace("block_after = 3\n", "block_after = 3\nreflect = true\n")
    assert set_values(after, [("retry.reflect", "false")]) == after.replace("true", "false")
    assert set_values(pieces, [("retry.ladder.0.think", "true")]) == pieces + "think = true\n"


def test_tables_within_an_inline_table_are_inline_too():
    text = 'retry = { ladder = [{ model = "claude-haiku" }] } # all\n'
    text = set_values(text, [("retry.strategies.TIMEOUT", "reduce")])
    text = set_values(text, [("retry.ladder.0.attempts", "2")])
    read = parse(text, "noface.toml").retry
    assert (read.strategies, read.ladder[0].attempts) == ({"TIMEOUT": "reduce"}, 2)
    assert text.endswith("# all\n")


@cases(
    ("key", "value", "message"),
    [
        ("retry.ladder.0.thnk", "true", "retry.ladder.0.thnk: unknown key"),
        ("retry.ladder.2.think", "true", "[[retry.ladder]] table"),
        ("retry.ladder", "x", "model, attempts, think, parallel, answers"),
        ("retry.ladder.0.answers.0", "x", "cannot be set"),
        ("retry.ladder.0.answers", '["TIMEOUTS"]', 'did you mean "TIMEOUT"'),
        ("retry.ladder.0.model", "claude-opus-9", 'did you mean "claude-opus"'),
        ("retry.strategies.TIMEOUTS", "reduce", 'did you mean "TIMEOUT"'),
        ("retry.strategies.AUTH", "feedback", "not a strategy for AUTH"),
    ],
)
def test_a_wrong_key_or_value_within_a_section_is_refused_with_what_was_expected(key, value, message):
    with pytest.raises(ConfigError) as caught:
        set_values(LADDER, [(key, value)])
    assert message in f"{caught.value.message}\n{caught.value.hint}"


def test_an_array_without_items_says_how_to_add_one():
    with pytest.raises(ConfigError) as caught:
        set_values('[retry]\ndefault_model = "claude-haiku"\n', [("retry.ladder.0.think", "true")])
    assert caught.value.hint == "it is empty; to add one, write a [[retry.ladder]] table into the file"
