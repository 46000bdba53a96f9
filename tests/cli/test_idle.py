"""What is noted of a sound configuration: limits that hold nothing, and open doors."""

import pytest

from noface.cli.findings import open_doors, silent_limits
from noface.config.load import parse

GATE = '[[gates]]\nname = "unit"\ncommand = "true"\n'
WORKER = '[models.w]\nagent = "command"\ncommand = "true"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'{WORKER}[retry]\nmax_tokens = 3\ndefault_model = "w"\n', "max_tokens: does nothing for w: a plain"),
        ("[run]\nmax_cost_usd = 3\nmax_tokens = 1000\n", ""),
        (f"{WORKER}[run]\nmax_hours = 3\n", ""),
    ],
    ids=["of a plain command", "of an agent", "of time"],
)
def test_a_limit_that_holds_no_model_is_told(text, said):
    notes = [finding.text for finding in silent_limits(parse(f"{text}{GATE}", "noface.toml"))]
    assert len(notes) == bool(said)
    assert all(said in note for note in notes)


def test_an_open_door_is_noted():
    (note,) = open_doors(parse("[tracker]\nkind = 'github'\nauthors = ['*']\n", "noface.toml"))
    assert "anyone" in note.what
