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


def changed_lines(before, after):
    old, new = before.split("\n"), after.split("\n")
    return [line for line in old if line not in new], [line for line in new if line not in old]


@cases(
    ("key", "value", "gone", "came"),
    [
        ("retry.max_total_attempts", "7", ["max_total_attempts = 5 # enough"], ["max_total_attempts = 7 # enough"]),
        ("models.fast.tier", "4", ["tier = 1"], ["tier = 4"]),
        ("retry.default_model", "strong-4.1", ['default_model = "fast"   # cheap first'], ['default_model = "strong-4.1"   # cheap first']),
        ("retry.default_model", '"strong-4.1"', ['default_model = "fast"   # cheap first'], ['default_model = "strong-4.1"   # cheap first']),
        ("gates.unit.timeout", "3m", [], ['timeout = "3m"']),
        ("gates.0.timeout", "90", [], ["timeout = 90"]),
        ('gates."lint.all".hard', "false", [], ["hard = false"]),
        ('models."strong-4.1".max_cost_usd', "2.5", [], ["max_cost_usd = 2.5"]),
        ("landing.style", "squash", [], ["[landing]", 'style = "squash"']),
        ("models.claude-opus.timeout", "2h", [], ["[models.claude-opus]", 'timeout = "2h"']),
        ("models.fast.env.TOKEN", "x", [], ["[models.fast.env]", 'TOKEN = "x"']),
        ("project.keep", '["node_modules", "dist"]', [], ["[project]", 'keep = ["node_modules", "dist"]']),
        ("prompts.dir", "5", [], ["[prompts]", 'dir = "5"']),
    ],
)  # fmt: skip
def test_only_the_lines_of_the_value_change(key, value, gone, came):
    after = set_values(TEXT, [(key, value)])
    assert changed_lines(TEXT, after) == (gone, came)
    parse(after, "noface.toml")
    kept = [line for line in TEXT.split("\n") if line not in gone]
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
    ("key", "value", "message"),
    [
        ("retry.max_total_atempts", "7", 'did you mean "max_total_attempts"'),
        ("rety.max_total_attempts", "7", 'did you mean "retry"'),
        ("gates.unti.timeout", "3m", 'did you mean "unit"'),
        ("gates.9.timeout", "3m", "unit, lint.all"),
        ("gates.unit.time", "3m", 'did you mean "timeout"'),
        ("models.fast.teir", "3", 'did you mean "tier"'),
        ("retry", "3", "default_model"),
        ("gates.unit", "3", "command"),
        ("retry.max_total_attempts.x", "3", "is not a table"),
        ("re try", "3", "dotted"),
        ("retry.max_total_attempts", "0", "not below 1"),
        ("run.workers", "1\nmax_hours = 3", "whole number"),
    ],
)
def test_a_wrong_key_or_value_is_refused_with_what_was_expected(key, value, message):
    with pytest.raises(ConfigError) as caught:
        set_values(TEXT, [(key, value)])
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
