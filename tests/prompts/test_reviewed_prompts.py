"""The prompts of real runs that were read as their workers read them: they stay as they were reviewed."""

from support.cases import cases
from support.prompt_golden import FOLDER, names, prompt


@cases("name", names())
def test_a_reviewed_prompt_is_as_it_was_read(name):
    assert prompt(name) == (FOLDER / f"{name}.md").read_text()
