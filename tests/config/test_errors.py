"""Every mistake is named with its key, its line, what was expected, and the nearest valid name."""

import pytest
from support.cases import cases

from noface.config.load import parse
from noface.config.problems import InvalidConfigError
from noface.errors import EXIT_USAGE, ConfigError


def problems(text):
    with pytest.raises(InvalidConfigError) as caught:
        parse(text, "noface.toml")
    return caught.value.problems


def only(text):
    found = problems(text)
    assert len(found) == 1, found
    return found[0]


GATE = '[[gates]]\nname = "unit"\ncommand = "true"\n'
MODELS = '[retry]\ndefault_model = "a"\n[models.a]\nagent = "claude"\n'

# Each row is one mistake: the text, its key, its line, and words that the message must have.
RULE = "[[gate_rules]]\nname = 'slow'\nkind = 'TIMEOUT'\npattern = 'slow: '\nexample = 'slow: waited 9 s'\n"
MISTAKES = {
    "misspelt section": ("\n[rnu]\n", "rnu", 2, ['did you mean "run"']),
    "misspelt key": ("[run]\n\nworkerz = 3\n", "run.workerz", 3, ['did you mean "workers"']),
    "unknown key without a near one": ("[landing]\nzzz = 1\n", "landing.zzz", 2, ["unknown key", "known are: style"]),
    "key of another section": ("[run]\nsetup = 'x'\n", "run.setup", 2, ["belongs in [project]"]),
    "unknown model key": (MODELS + "teir = 3\n", "models.a.teir", 5, ['did you mean "tier"']),
    "text for a number": ("[run]\nworkers = '4'\n", "run.workers", 2, ["a whole number", 'got "4"']),
    "number too small": ("[run]\nworkers = -1\n", "run.workers", 2, ["not below 0", "got -1"]),
    "number too large": ("[run]\nworkers = 65\n", "run.workers", 2, ["not above 64"]),
    "fraction for a whole": ("[limits]\nmax_changed_files = 1.5\n", "limits.max_changed_files", 2, ["whole number", "1.5"]),
    "cost of nothing": ("[run]\nmax_cost_usd = 0\n", "run.max_cost_usd", 2, ["above 0"]),
    "cost without end": ("[run]\nmax_cost_usd = inf\n", "run.max_cost_usd", 2, ["finite"]),
    "misspelt choice": ("[landing]\nstyle = 'sqash'\n", "landing.style", 2, ['"merge" or "squash"', 'mean "squash"']),
    "wrong type for a choice": ("[landing]\nstyle = 1\n", "landing.style", 2, ['"merge" or "squash"', "got 1"]),
    "number for text": ("[project]\nsetup = 5\n", "project.setup", 2, ["text in quotes", "got 5"]),
    "text for a list": ("[project]\nkeep = 'x'\n", "project.keep", 2, ["a list", 'got "x"']),
    "number in a list": ("[project]\nkeep = [\n 'x',\n 7]\n", "project.keep.1", 4, ["text in quotes", "got 7"]),
    "text for a boolean": (GATE + "hard = 'yes'\n", "gates.0.hard", 4, ["true or false"]),
    "bad duration": (GATE + "timeout = '10 minutes'\n", "gates.0.timeout", 4, ['"90s", "10m" or "1h30m"', "10 minutes"]),
    "duration of nothing": (GATE + "timeout = 0\n", "gates.0.timeout", 4, ["above 0"]),
    "duration too long": (GATE + "timeout = '400d'\n", "gates.0.timeout", 4, ["0 to 30d"]),
    "gate without a command": ("[[gates]]\nname = 'x'\n", "gates.0.command", 1, ["missing", "shell command"]),
    "gate with an empty command": ("[[gates]]\nname = 'x'\ncommand = ' '\n", "gates.0.command", 3, ["not empty"]),
    "gate with a bad name": ("[[gates]]\nname = 'a b'\ncommand = 'x'\n", "gates.0.name", 2, ["letters, digits", "a b"]),
    "gate named like a path": ("[[gates]]\nname = '..'\ncommand = 'x'\n", "gates.0.name", 2, ["letters, digits"]),
    "two gates of one name": (GATE + GATE, "gates.1.name", 5, ["unique", "gate 1"]),
    "report outside": (GATE + "report = '../x.xml'\n", "gates.0.report", 4, ["inside the repository"]),
    "issues outside": ("[tracker]\npath = 'a/../../b'\n", "tracker.path", 2, ["inside the repository"]),
    "issues nowhere": ("[tracker]\npath = ''\n", "tracker.path", 2, ["not empty"]),
    "issues everywhere": ("[tracker]\npath = '.'\n", "tracker.path", 2, ["inside the repository"]),
    "keeping git's folder": ("[project]\nkeep = ['.git']\n", "project.keep.0", 2, ["inside the repository"]),
    "relative slots": ("[run]\nslots_dir = 'slots'\n", "run.slots_dir", 2, ["absolute"]),
    "no branch name": ("[project]\nmain = 'my main'\n", "project.main", 2, ["name of a branch"]),
    "NUL in a command": ('[[gates]]\nname = "x"\ncommand = "a\\u0000"\n', "gates.0.command", 3, ["NUL"]),
    "single brackets": ("[gates]\nname = 'x'\n", "gates", 1, ["written [[gates]]"]),
    "double brackets": ("[[run]]\nworkers = 1\n", "run", 1, ["written [run]"]),
    "models as a list": ("[[models]]\nagent = 'claude'\n", "models", 1, ["written [models.NAME]"]),
    "a gate that is no table": ("gates = [\n1]\n", "gates.0", 2, ["written [[gates]]", "got 1"]),
    "a model that is no table": ("[models]\na = 1\n", "models.a", 2, ["written [models.NAME]", "got 1"]),
    "model without an agent": ("[models.a]\ntier = 2\n", "models.a.agent", 1, ["missing", "program that runs it"]),
    "misspelt agent": ("[models.a]\nagent = 'cluade'\n", "models.a.agent", 2, ['"command"', 'did you mean "claude"']),
    "agent command without one": ("[models.a]\nagent = 'command'\n", "models.a.command", 1, ["missing", "shell command"]),
    "model with a bad name": ("[models.'a/b']\nagent = 'claude'\n", 'models."a/b"', 1, ["letters, digits"]),
    "env with a bad name": (
        "[models.a]\nagent = 'claude'\n[models.a.env]\n'A B' = 'x'\n", "models.a.env", 3, ["environment", "A B"],
    ),
    "env with a number": (
        "[models.a]\nagent = 'claude'\n[models.a.env]\nA = 1\n", "models.a.env.A", 4, ["text in quotes"],
    ),
    "retry without a model": ("\n[retry]\nblock_after = 1\n", "retry.default_model", 2, ["missing", "preset"]),
    "misspelt model": (
        "[retry]\ndefault_model = 'claude-sonet'\n", "retry.default_model", 2,
        ['did you mean "claude-sonnet"', "claude-haiku, claude-opus, claude-sonnet"],
    ),
    "escalation downwards": (
        "[retry]\ndefault_model = 'claude-opus'\nescalation_model = 'claude-haiku'\n", "retry.escalation_model", 3,
        ["tier 1", "tier 3", "expected 3 or more"],
    ),
    "several models and no retry": (
        "[models.a]\nagent = 'claude'\n[models.b]\nagent = 'claude'\n", "models.b", 3,
        ["[retry]", 'default_model = "a" or "b"'],
    ),
    "gate rule of an unknown kind": (
        RULE.replace("TIMEOUT", "TIMEOUTS"), "gate_rules.0.kind", 3, ['"SYNTAX_ERROR"', 'got "TIMEOUTS"', 'did you mean "TIMEOUT"'],
    ),
    "gate rule that is no pattern": (RULE.replace("slow: ", "slow(", 1), "gate_rules.0.pattern", 4, ["regular expression", "position"]),
    "gate rule that does not match its example": (
        RULE.replace("slow: ", "fast: ", 1), "gate_rules.0.pattern", 4, ["matches the rule's own example"],
    ),
    "gate rule that matches everything": (RULE.replace("slow: ", ".*", 1), "gate_rules.0.pattern", 4, ["matches an empty line"]),
    "gate rule without an example": (RULE[: RULE.index("example")], "gate_rules.0.example", 1, ["missing", "such a line"]),
    "two gate rules of one name": (RULE + RULE, "gate_rules.1.name", 7, ['"slow" is rule 1 already']),
    "hint without a condition": ("[[failure_hints]]\nhint = 'x'\n", "failure_hints.0", 1, ["label, language, path, error_pattern"]),
    "hint with a misspelt condition": (
        "[[failure_hints]]\nhint = 'x'\nlable = 'x'\n", "failure_hints.0.lable", 3, ['did you mean "label"'],
    ),
    "hint without advice": ("[[failure_hints]]\nlabel = 'x'\n", "failure_hints.0.hint", 1, ["missing"]),
    "hint with empty advice": ("[[failure_hints]]\nlabel = 'x'\nhint = ' '\n", "failure_hints.0.hint", 3, ["not empty"]),
    "broken regex": (
        "[[failure_hints]]\nhint = 'x'\nerror_regex = '(a'\n", "failure_hints.0.error_regex", 3,
        ["regular expression", "position", "(a"],
    ),
}  # fmt: skip


@cases("name", MISTAKES)
def test_one_mistake_gives_one_problem_with_key_line_and_what_was_expected(name):
    text, key, line, words = MISTAKES[name]
    problem = only(text)
    assert (problem.key, problem.line) == (key, line)
    for word in words:
        assert word in problem.message


SIX = """\
[run]
workerz = 3

[[gates]]
name = "unit"
command = "true"
timeout = "ten minutes"

[models.fast]
agent = "cluade"

[retry]
default_model = "fats"
max_total_attempts = 0

[landing]
style = "rebase"
"""


def test_six_mistakes_are_reported_at_once_in_the_order_of_their_lines():
    found = problems(SIX)
    assert [(problem.line, problem.key) for problem in found] == [
        (2, "run.workerz"),
        (7, "gates.0.timeout"),
        (10, "models.fast.agent"),
        (13, "retry.default_model"),
        (14, "retry.max_total_attempts"),
        (17, "landing.style"),
    ]


def test_the_message_lists_every_problem_and_its_place():
    with pytest.raises(ConfigError) as caught:
        parse(SIX, "conf/noface.toml")
    message = caught.value.message
    assert message.startswith("conf/noface.toml has 6 problems:\n")
    assert '  conf/noface.toml:2: run.workerz: unknown key; did you mean "workers"?' in message.split("\n")
    assert len(message.split("\n")) == 7
    assert caught.value.exit_code == EXIT_USAGE
    assert caught.value.hint


def test_a_long_value_is_cut_and_a_value_of_env_is_not_shown():
    assert len(only(f"[run]\nbaseline = '{'x' * 5000}'\n").message) < 200
    assert "12345678" not in only("[models.a]\nagent = 'claude'\nenv = { KEY = 12345678 }\n").message


@pytest.mark.parametrize(
    ("text", "place", "shown"),
    [
        ("[run]\nworkers 4\n", "noface.toml:2:9: Expected '=' after a key", "    2 | workers 4"),
        ("[run]\n\tworkers = \n", "noface.toml:2:12: Invalid value", "    2 | \tworkers = "),
        ("[run]\na = 'x", "noface.toml:2:7: ", "the file ends too early"),
        ("a = [1,\n2,\n", "noface.toml:2:3: ", "    2 | 2,"),
        ("[run]\n[run]\n", "noface.toml:2:5: ", "    2 | [run]"),
        ("[run]\r\nworkers 4\r\n", "noface.toml:2:9: ", "    2 | workers 4"),
    ],
)
def test_broken_toml_is_shown_with_line_column_and_text(text, place, shown):
    with pytest.raises(ConfigError) as caught:
        parse(text, "noface.toml")
    assert caught.value.message.startswith(place)
    assert shown in caught.value.message
    assert not isinstance(caught.value, InvalidConfigError)


def test_lists_nested_beyond_reason_are_refused_not_crashed_on():
    with pytest.raises(ConfigError, match="too deeply"):
        parse("a = " + "[" * 100_000, "noface.toml")
