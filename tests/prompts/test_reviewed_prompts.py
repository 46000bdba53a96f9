"""The prompts of real runs that were read as their workers read them: they stay as they were reviewed."""

import re

from support.cases import cases
from support.prompt_golden import FOLDER, names, prompt

JARGON = re.compile(r"\b(gates?|rungs?|ladder|slots?|snapshots?|signature|noface|epoch|charged)\b", re.IGNORECASE)
FIRST = re.compile(r"Run these commands until they pass\..*\n\n- `")


@cases("name", names())
def test_a_reviewed_prompt_is_as_it_was_read(name):
    assert prompt(name) == (FOLDER / f"{name}.md").read_text()


@cases("name", names())
def test_a_prompt_has_the_commands_first_and_no_words_of_noface(name):
    text = (FOLDER / f"{name}.md").read_text()
    assert FIRST.search(text.split("## ", 1)[0])
    own = re.sub(r"^(`{3,})\w*\n.*?\n\1$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    assert JARGON.findall(own) == []


@cases("name", names())
def test_a_prompt_says_one_thing_of_the_work_before_it(name):
    text = (FOLDER / f"{name}.md").read_text()
    absent = "it is not in your working directory" in text.lower() and "The changes so far" not in text
    if absent:
        for wrong in ("preserving working parts", "do not start over", "go on from there"):
            assert wrong not in text.lower()
