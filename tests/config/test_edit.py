import pytest
from support.cases import cases

from noface.config.edit import set_values
from noface.config.load import parse
from noface.errors import ConfigError

TEXT = """\
# Our backlog.

[retry]  # patience
default_model = "fast"   # cheap first
max_total_attempts = 5 # enough

# The gates: ask Ann before you change them.
[[gates]]
name = "unit"
command = "make test"  # all of them

[[gates]]
name = "lint.all"
command = "make lint"

# Models
[models.fast]
agent = "claude"
tier = 1

[run]
workers = 1

[models.'strong-4.1']
agent = "claude"
tier = 2
"""


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


def changed_lines(before, after):
    old, new = before.split("\n"), after.split("\n")
    return [line for line in old if line not in new], [line for line in new if line not in old]


@cases(
    ("text", "key", "value", "gone", "came"),
    [
        (TEXT, "retry.max_total_attempts", "7", ["max_total_attempts = 5 # enough"], ["max_total_attempts = 7 # enough"]),
        (TEXT, "models.fast.tier", "4", ["tier = 1"], ["tier = 4"]),
        (TEXT, "retry.default_model", "strong-4.1", ['default_model = "fast"   # cheap first'], ['default_model = "strong-4.1"   # cheap first']),
        (TEXT, "retry.default_model", '"strong-4.1"', ['default_model = "fast"   # cheap first'], ['default_model = "strong-4.1"   # cheap first']),
        (TEXT, "gates.unit.timeout", "3m", [], ['timeout = "3m"']),
        (TEXT, "gates.0.timeout", "90", [], ["timeout = 90"]),
        (TEXT, 'gates."lint.all".hard', "false", [], ["hard = false"]),
        (TEXT, 'models."strong-4.1".max_cost_usd', "2.5", [], ["max_cost_usd = 2.5"]),
        (TEXT, "landing.style", "squash", [], ["[landing]", 'style = "squash"']),
        (TEXT, "models.claude-opus.timeout", "2h", [], ["[models.claude-opus]", 'timeout = "2h"']),
        (TEXT, "models.fast.env.TOKEN", "x", [], ["[models.fast.env]", 'TOKEN = "x"']),
        (TEXT, "project.keep", '["node_modules", "dist"]', [], ["[project]", 'keep = ["node_modules", "dist"]']),
        (TEXT, "prompts.dir", "5", [], ["[prompts]", 'dir = "5"']),
        (LADDER, "retry.ladder.0.attempts", "3", [], ["attempts = 3"]),
        (LADDER, "retry.ladder.1.model", "claude-sonnet", ['model = "claude-opus"'], ['model = "claude-sonnet"']),
        (LADDER, "retry.ladder.1.answers", '["TIMEOUT"]', [], ['answers = ["TIMEOUT"]']),
        (LADDER, "retry.strategies.TIMEOUT", "breakdown", ['TIMEOUT = "reduce" # less at once'], ['TIMEOUT = "breakdown" # less at once']),
        (LADDER, "retry.strategies.TEST_FAILURE", "escalate", [], ['TEST_FAILURE = "escalate"']),
    ],
)  # fmt: skip
def test_only_the_lines_of_the_value_change(text, key, value, gone, came):
    after = set_values(text, [(key, value)])
    assert changed_lines(text, after) == (gone, came)
    parse(after, "noface.toml")
    kept = [line for line in text.split("\n") if line not in gone]
    assert [line for line in after.split("\n") if line in kept and line] == [line for line in kept if line]


def test_a_new_key_stands_in_its_table_before_the_comments_of_the_next():
    lines = set_values(TEXT, [("retry.block_after", "3")]).split("\n")
    assert lines[lines.index("block_after = 3") - 1] == "max_total_attempts = 5 # enough"
    assert lines.index("block_after = 3") < lines.index("# The gates: ask Ann before you change them.")


def test_a_value_goes_into_dotted_and_inline_tables_too():
    text = 'run.workers = 1 # one\nretry = { default_model = "claude-opus" } # best\n'
    text = set_values(text, [("run.max_hours", "8")])
    text = set_values(text, [("retry.block_after", "2")])
    config = parse(text, "noface.toml")
    assert (config.run.max_hours, config.retry.block_after) == (8.0, 2)
    assert "# one" in text
    assert "# best" in text


def test_an_empty_file_takes_a_value():
    assert parse(set_values("", [("run.workers", "3")]), "x").run.workers == 3
    assert parse(set_values("", [("models.own.agent", "scripted")]), "x").models["own"].agent == "scripted"


def test_windows_line_ends_stay():
    after = set_values("[run]\r\nworkers = 1\r\n\r\n[landing]\r\n", [("run.workers", "2")])
    assert after == "[run]\r\nworkers = 2\r\n\r\n[landing]\r\n"


@cases(
    ("text", "key", "value", "message"),
    [
        (TEXT, "retry.max_total_atempts", "7", 'did you mean "max_total_attempts"'),
        (TEXT, "rety.max_total_attempts", "7", 'did you mean "retry"'),
        (TEXT, "gates.unti.timeout", "3m", 'did you mean "unit"'),
        (TEXT, "gates.9.timeout", "3m", "unit, lint.all"),
        (TEXT, "gates.unit.time", "3m", 'did you mean "timeout"'),
        (TEXT, "models.fast.teir", "3", 'did you mean "tier"'),
        (TEXT, "retry", "3", "default_model"),
        (TEXT, "gates.unit", "3", "command"),
        (TEXT, "retry.max_total_attempts.x", "3", "is not a table"),
        (TEXT, "re try", "3", "dotted"),
        (TEXT, "retry.max_total_attempts", "0", "not below 1"),
        (TEXT, "run.workers", "1\nmax_hours = 3", "whole number"),
        (LADDER, "retry.ladder.0.thnk", "true", "retry.ladder.0.thnk: unknown key"),
        (LADDER, "retry.ladder.2.think", "true", "[[retry.ladder]] table"),
        (LADDER, "retry.ladder", "x", "model, attempts, think, parallel, answers"),
        (LADDER, "retry.ladder.0.answers.0", "x", "cannot be set"),
        (LADDER, "retry.ladder.0.answers", '["TIMEOUTS"]', 'did you mean "TIMEOUT"'),
        (LADDER, "retry.ladder.0.model", "claude-opus-9", 'did you mean "claude-opus"'),
        (LADDER, "retry.strategies.TIMEOUTS", "reduce", 'did you mean "TIMEOUT"'),
        (LADDER, "retry.strategies.AUTH", "feedback", "not a strategy for AUTH"),
    ],
)
def test_a_wrong_key_or_value_is_refused_with_what_was_expected(text, key, value, message):
    with pytest.raises(ConfigError) as caught:
        set_values(text, [(key, value)])
    assert message in f"{caught.value.message}\n{caught.value.hint}"


def test_keys_that_need_each_other_are_set_at_once_or_not_at_all():
    pairs = [("tracker.kind", "github"), ("landing.how", "pull-request"), ("run.workers", "2")]
    config = parse(set_values(TEXT, pairs), "x")
    assert (config.tracker.kind, config.landing.how, config.run.workers) == ("github", "pull-request", 2)
    with pytest.raises(ConfigError, match="workers"):
        set_values(TEXT, [*pairs[:2], ("run.workers", "many")])


@cases(
    ("key", "value", "line"),
    [
        ("models.own", '{ agent = "command", command = "./x" }', "[models.own]"),
        ("models.fast", '{ agent = "command", command = "./x" }', 'command = "./x"'),
        ("gates.more", '{ name = "more", command = "./more" }', 'command = "./more"'),
        ("gates.unit", '{ name = "unit", command = "./unit" }', 'command = "./unit"'),
        ("run", "{ workers = 7 }", "workers = 7"),
    ],
)
def test_a_table_is_set_as_a_whole(key, value, line):
    after = set_values(TEXT, [(key, value)])
    parse(after, "x")
    assert line in after.split("\n")
    assert "# The gates: ask Ann before you change them." in after


def test_a_broken_file_is_refused_with_its_line():
    with pytest.raises(ConfigError, match=r"noface\.toml:2:"):
        set_values("[run]\nworkers 1\n", [("run.workers", "2")])


def test_a_set_can_mend_the_only_problem_of_a_file():
    assert parse(set_values("[run]\nworkers = 0\n", [("run.workers", "2")]), "x").run.workers == 2


@cases(("text", "key"), [("run = 1\n", "run.workers"), ("[project]\nkeep = ['a']\n", "project.keep.0")])
def test_what_is_no_table_is_named(text, key):
    with pytest.raises(ConfigError, match=f"{key.rpartition('.')[0]} is not a table"):
        set_values(text, [(key, "2")])


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


def test_an_array_without_items_says_how_to_add_one():
    with pytest.raises(ConfigError) as caught:
        set_values('[retry]\ndefault_model = "claude-haiku"\n', [("retry.ladder.0.think", "true")])
    assert caught.value.hint == "it is empty; to add one, write a [[retry.ladder]] table into the file"
