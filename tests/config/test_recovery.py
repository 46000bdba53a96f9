"""[recovery], [prompts], [approval] and hints with a path: defaults, bounds, and what is printed."""

import pytest
from support.cases import cases

from noface.config.load import parse
from noface.config.problems import InvalidConfigError


def config(text):
    return parse(text, "noface.toml")


EVERYTHING = """\
[retry]
reflect = true
[retry.strategies]
TIMEOUT = "breakdown"
[[retry.ladder]]
model = "claude-sonnet"
attempts = 2
answers = ["correctable"]
[[retry.ladder]]
model = "claude-opus"
think = true
[roles]
planner = "claude-opus"
[recovery]
accumulation_format = "minimal"
allow_skip = true
[prompts]
dir = "./prompts/"
[approval]
paths = ["db/", "**/*.sql"]
labels = ["risky"]
[[failure_hints]]
path = "db/"
hint = "Look at the migrations first."
"""


def test_paths_of_approval_and_of_hints_are_globs_and_a_folder_means_all_below():
    read = config(EVERYTHING)
    assert read.approval.paths == ("db/**", "**/*.sql")
    assert read.failure_hints[0].path == "db/**"
    assert read.prompts.dir == "prompts"


def test_a_path_alone_is_condition_enough_for_a_hint_and_an_empty_one_is_none():
    assert config('[[failure_hints]]\npath = "*.sql"\nhint = "x"\n').failure_hints[0].path == "*.sql"
    with pytest.raises(InvalidConfigError, match="a hint needs one or more conditions"):
        config('[[failure_hints]]\npath = ""\nhint = "x"\n')


@cases(
    ("text", "key", "words"),
    [
        ("[prompts]\ndir = '/etc'\n", "prompts.dir", "inside the repository"),
        ("[prompts]\ndir = '../x'\n", "prompts.dir", "inside the repository"),
        ("[recovery]\naccumulation_format = 'note_only'\n", "recovery.accumulation_format", 'mean "notes_only"'),
        ("[recovery]\nmax_strategies = 0\n", "recovery.max_strategies", "not below 1"),
        ("[recovery]\nlearns = true\n", "recovery.learns", 'did you mean "learn"'),
        ("[approval]\npaths = ['../x']\n", "approval.paths.0", "inside the repository"),
        ("[approval]\npaths = 'x'\n", "approval.paths", "a list"),
        ("[limits]\nprompt_kb = 200\n", "limits.prompt_kb", "unknown key"),
        ("[[failure_hints]]\nhint = 'x'\npath = '/x'\n", "failure_hints.0.path", "inside the repository"),
    ],
)  # fmt: skip
def test_a_value_out_of_bounds_is_named_with_its_line(text, key, words):
    with pytest.raises(InvalidConfigError) as caught:
        config(text)
    (problem,) = caught.value.problems
    assert problem.key == key
    assert problem.line == len(text.splitlines())
    assert words in problem.message


def without_none(value):
    if isinstance(value, dict):
        return {key: without_none(item) for key, item in value.items() if item is not None}
    return [without_none(item) for item in value] if isinstance(value, list) else value


def test_the_effective_content_holds_the_ladder_and_the_strategies():
    retry = config(EVERYTHING).effective()["retry"]
    assert retry["strategies"] == {"TIMEOUT": "breakdown"}
    assert retry["ladder"] == [
        {"model": "claude-sonnet", "attempts": 2, "think": False, "parallel": 1, "answers": ["correctable"]},
        {"model": "claude-opus", "attempts": 1, "think": True, "parallel": 1, "answers": []},
    ]
    assert retry["default_model"] == "claude-sonnet"
