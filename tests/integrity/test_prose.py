"""Notes in place of work: which changes of prose are read as a question, and which are what the issue asks for.

Of the newest 300 commits each of 26 public histories 1,434 change prose or comments alone; 4 of them would be asked about
wrongly (0.3 %: "Add Meroxa CLI", "more muttering to myself", twice "from rest to myst").
"""

import pytest

from noface.integrity.prose import ONLY_PROSE, is_prose, notes_instead
from noface.model.attempt import FileChange
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind

QUESTIONS = "# Questions\n\nShould the total include shipping?\nWhich currency is meant?\n"


def asked(title, files, body=""):
    """What is made of a change that adds a text to each of `files` (a `+` before the name: a new file)."""
    changes, patch = [], ""
    for name, text in files.items():
        path = name.removeprefix("+")
        changes.append(FileChange(path, "M", "000000" if name[0] == "+" else "100644", "100644", "0" * 40, "1" * 40))
        lines = "".join(f"+{line}\n" for line in text.splitlines())
        patch += f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,9 @@\n{lines}"
    return notes_instead(Issue("1", title, body), tuple(changes), patch)


@pytest.mark.parametrize(
    ("title", "files"),
    [
        ("The total of a cart is one too high", {"+QUESTIONS.md": QUESTIONS}),
        ("Add a --json flag", {"+NOTES.md": "I looked at the parser. The flag has to be added in two places."}),
        ("Add a --json flag", {"+docs/implementation-plan.md": "1. Parse the flag\n2. Print JSON"}),
        ("Support Python 3.13", {"src/cart.py": "# TODO: is 3.13 meant, or 3.13t?"}),
        ("Support Python 3.13", {"+src/todo.md": "Support it.", "src/cart.py": "# FIXME support"}),
        ("parse() raises on an empty file", {"README.md": "Known limit: no empty files."}),
        ("Sort the list by date", {"src/a.js": "// I am blocked: the schema of the dates is missing."}),
    ],
)
def test_notes_for_an_issue_about_behaviour_are_a_question(title, files):
    failure = asked(title, files)
    assert (failure.kind, failure.rule) == (FailureKind.AGENT_CONFUSION, ONLY_PROSE)
    assert failure.questions


def test_each_question_is_kept_and_so_is_the_whole_text():
    failure = asked("The total of a cart is one too high", {"+QUESTIONS.md": QUESTIONS})
    assert failure.questions[:2] == ("Should the total include shipping?", "Which currency is meant?")
    assert failure.message == "the worker changed prose alone, and writes: Should the total include shipping?"
    assert failure.excerpt.startswith("Questions\n\nShould the total")
    assert failure.evidence == ("QUESTIONS.md",)


@pytest.mark.parametrize(
    ("title", "body", "files"),
    [
        ("Document the flags", "", {"+docs/flags.md": "Which flags are there?"}),
        ("README: how to install", "", {"README.md": "Questions? Open an issue."}),
        ("Fix a typo", "", {"src/cart.py": "# TODO: raise"}),
        ("Add a changelog entry for 1.2", "", {"CHANGES.rst": "What is new?"}),
        ("Onboarding", "Write ONBOARDING.md for people who begin.", {"+ONBOARDING.md": "Where to begin?"}),
        ("Investigate why parse() crashes", "", {"+FINDINGS.md": "It returns too early."}),
        ("Write down the open questions", "", {"+QUESTIONS.md": QUESTIONS}),
        ("Translate the start page", "", {"+docs/de/index.md": "Wo anfangen?"}),
        ("Add a licence", "", {"+LICENSE": "MIT"}),
        ("Replace twitter.com by x.com everywhere", "", {"README.md": "Follow us on x.com"}),
        ("Do it", "", {"+README.md": "ours and theirs"}),
        ("Add Meroxa to the users", "", {"docs/users.md": "- Meroxa"}),
    ],
)
def test_prose_that_an_issue_asks_for_is_its_work(title, body, files):
    assert asked(title, files, body) is None


def test_prose_is_told_by_the_file_s_name():
    for path in ("README.md", "docs/a.rst", "CHANGELOG", "src/NOTES.md", "open-questions.txt"):
        assert is_prose(path), path
    for path in ("requirements.txt", "hello.txt", "tests/data/a.md", "prompts/fix.md", "a.py", "src/page.md"):
        assert not is_prose(path), path
