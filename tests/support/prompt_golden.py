"""Renews the reviewed prompts: `PYTHONPATH=tests python -m support.prompt_golden`. Read their diff before you commit it.

In tests/prompts/reviewed, NAME.json is the situation and the data that a run of noface gave its prompt, NAME.md the
prompt that a person has read as the worker does. What has its default, or is protected as usual, is left out.
"""

import json
from pathlib import Path

from noface.engine.prompt_context import built_in
from noface.model.codec import decode
from noface.prompts.data import PromptData, Situation
from noface.prompts.render import render

FOLDER = Path(__file__).parent.parent / "prompts" / "reviewed"
TOKENS_MAX = 50_000


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def prompt(name: str) -> str:
    given = json.loads((FOLDER / f"{name}.json").read_text())
    usual = {"protected": (FOLDER / "protected.txt").read_text().splitlines()}
    situation = Situation(given["situation"])
    data = decode(PromptData, given["data"] if situation.asks else usual | given["data"])
    return render(situation, built_in(), data, TOKENS_MAX).text


if __name__ == "__main__":
    for name in names():
        (FOLDER / f"{name}.md").write_text(prompt(name))
