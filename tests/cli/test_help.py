"""`--help`: every verb under its heading, every line whole at 80 columns, no name of a type where a value stands."""

import re

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from noface.cli.main import SECTIONS, VERBS, build


def helps(command=None, words=()):
    """All commands by the words that name them, with their help at 80 columns."""
    app = build(None)
    found = command if command is not None else get_command(app)
    told = CliRunner().invoke(app, [*words, "--help"], terminal_width=80).stdout
    inner = found.commands if isinstance(found, TyperGroup) else {}
    return {words: told} | {k: v for name in inner for k, v in helps(inner[name], (*words, name)).items()}


@pytest.fixture(scope="module")
def pages():
    return helps()


def test_every_verb_stands_in_a_line_under_its_heading(pages):
    overview = pages[()]
    assert [title for title in SECTIONS if f"\n{title}:\n" in overview] == list(SECTIONS)
    for title, verbs in SECTIONS.items():
        block = overview.partition(f"\n{title}:\n")[2].partition("\n\n")[0].splitlines()
        assert [line.split()[0] for line in block] == list(verbs)
        assert all(line.endswith(".") and not line.endswith("...") for line in block), "whole sentences"
    assert len(VERBS) == 1 + sum(map(len, SECTIONS.values())), "each verb once, and `tools`"
    assert "`noface tools` has the rest" in overview


def test_no_help_is_wider_than_80_columns_or_names_types(pages):
    assert len(pages) > 35
    for words, page in pages.items():
        assert page.startswith("Usage: "), words
        assert max(map(len, page.splitlines())) <= 80, words
        assert "..." not in page.partition("\nCommands:\n")[2], f"{words}: whole sentences"
        assert not re.search(r"<\w+( \w+)?>|\{\w", page), words
