"""The prompts of real runs that were read as their workers read them: they stay as they were reviewed."""

import statistics

from support.cases import cases
from support.prompt_golden import FOLDER, names, prompt


@cases("name", names())
def test_a_reviewed_prompt_is_as_it_was_read(name):
    assert prompt(name) == (FOLDER / f"{name}.md").read_text()


def test_what_a_retry_and_a_question_take_is_bounded_in_the_median():
    """Bytes. What a first prompt has, and the form of the report, is in each of them."""
    sizes = {name: len(prompt(name).encode()) for name in names()}
    asking = {"clarification", "reviewer", "changed_tests"}
    first = {"first", "first_with_accept", "part"}
    assert statistics.median(sizes[name] for name in sizes.keys() - asking - first) <= 6_000
    assert max(sizes[name] for name in asking) <= 6_000
    assert max(sizes.values()) <= 8_000
