"""A hint added to noface.toml: everything else stays as it was."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.config.edit import hint_toml, with_hint
from noface.errors import ConfigError, UsageError

BASE = """\
# Our backlog.
[[gates]]
name = "unit"  # all of them
command = "make test"
"""
HINTED = f"""{BASE}
# What we learnt.
[[failure_hints]]
label = "db"  # migrations
hint = '''
Look at the schema.
# no comment
[no.table]'''

# The run.
[run]
workers = 1
"""
NEW = {"language": "python", "error_regex": r"KeyError: '\w+'", "hint": 'Say "please".'}
WRITTEN = """\
[[failure_hints]]
language = "python"
error_regex = "KeyError: '\\\\w+'"
hint = 'Say "please".'
"""


def test_the_first_hint_goes_to_the_end():
    assert with_hint(BASE, NEW) == f"{BASE}\n{WRITTEN}"


def test_another_hint_goes_behind_the_last_and_before_what_follows():
    before, after = HINTED.split("# The run.")
    assert with_hint(HINTED, NEW) == f"{before}{WRITTEN}\n# The run.{after}"


def test_hints_that_stand_apart_stay_where_they_are():
    apart = f'{HINTED}\n[[failure_hints]]\nlabel = "b"\nhint = "y"\n# the end\n'
    assert with_hint(apart, NEW) == apart.replace("# the end", f"\n{WRITTEN}\n# the end")


def test_hints_written_as_a_list_get_another_item():
    text = f'failure_hints = [{{ label = "a", hint = "b" }}]  # few\n{BASE}'
    after = with_hint(text, NEW)
    assert tomllib.loads(after)["failure_hints"] == [{"label": "a", "hint": "b"}, NEW]
    assert after.endswith(f"  # few\n{BASE}")


def test_a_file_without_a_last_newline_gets_one():
    assert with_hint(BASE.rstrip("\n"), NEW) == f"{BASE}\n{WRITTEN}"


@pytest.mark.parametrize("text", [BASE, HINTED])
def test_the_line_ends_of_windows_stay(text):
    after = with_hint(text.replace("\n", "\r\n"), NEW)
    assert after.replace("\r\n", "\n") == with_hint(text, NEW)
    assert "\n" not in after.replace("\r\n", "")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"hint": "x"}, "Give one or more of --label, --language, --path, --error-pattern, --error-regex."),
        ({"hint": "x", "error_regex": "(a"}, "--error-regex: expected a regular expression"),
        ({"hint": "  ", "label": "a"}, "--hint: expected text that is not empty"),
        ({"hint": "x", "path": "../a"}, "--path: expected a path inside the repository"),
        ({"hint": "x\0", "label": "a"}, "--hint: expected text without NUL"),
        ({"hint": "x", "label": "\udce9"}, "--label is not UTF-8 text"),
    ],
)
def test_a_hint_that_cannot_be_used_is_refused_by_the_option_s_name(values, said):
    with pytest.raises(UsageError) as error:
        with_hint(BASE, values)
    assert said in f"{error.value.message}\n{error.value.hint}"


def test_a_file_that_is_faulty_already_is_left_alone():
    with pytest.raises(ConfigError, match="workers"):
        with_hint(f"{BASE}[run]\nworkers = 0\n", NEW)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip))
def test_any_text_comes_back_as_it_was(text):
    values = {"error_pattern": text, "hint": text}
    assert tomllib.loads(hint_toml(values))["failure_hints"] == [values]
    assert tomllib.loads(with_hint(HINTED, values))["failure_hints"][1] == values
