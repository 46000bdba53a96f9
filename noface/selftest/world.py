"""The world around the worker: secrets, a provider with a memory, and what was drafted. The mind never looks in here.

It lies in a folder outside the project, which the gates and the program around the mind are told by the harness.
"""

import json
import os
import re
import time
from pathlib import Path

_PLACE = re.compile(r"\{(\w+)\}")
ANYONE = "*"
"""Stands for the scenario of secrets that all share."""
_CONSONANTS = "bcdfghjklmnpqrstvwxz"
_LETTERS = 8


def fresh(name: str) -> str:
    """Return a secret that begins with `name` and that nobody knows yet."""
    return f"{name}-{''.join(_CONSONANTS[byte % len(_CONSONANTS)] for byte in os.urandom(_LETTERS))}"


class World:
    """The folder of a project's world. One scenario is worked on by one worker at a time, parts aside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._secrets: dict[str, dict[str, str]] = json.loads((folder / "secrets.json").read_text())

    @staticmethod
    def make(folder: Path, secrets: dict[str, dict[str, str]], repository: Path) -> "World":
        """Write a new world with these secrets, by scenario and label, for the project in `repository`."""
        folder.mkdir(parents=True)
        (folder / "secrets.json").write_text(json.dumps(secrets))
        (folder / "repository").write_text(str(repository))
        return World(folder)

    @property
    def repository(self) -> str:
        """The project's folder, where a colleague works too."""
        return (self.folder / "repository").read_text()

    def secret(self, scenario: str, label: str) -> str:
        """Return a secret; raises KeyError where nobody made one."""
        return self._secrets[scenario][label]

    def filled(self, scenario: str, text: str) -> str:
        """Return a text with the scenario's secrets in place of their labels; other braces stay."""
        own = self._secrets.get(scenario, {})
        return _PLACE.sub(lambda found: own.get(found[1], found[0]), text)

    def drafts_file(self, scenario: str) -> Path:
        """Return the file with what workers have drafted, a line each; it need not be there."""
        return self.folder / f"drafts-{scenario}"

    def drafts(self, scenario: str) -> tuple[str, ...]:
        """Return what workers have drafted."""
        path = self.drafts_file(scenario)
        return tuple(path.read_text().split()) if path.exists() else ()

    def draft(self, scenario: str) -> str:
        """Make a draft, remember it, and return it."""
        word = fresh(f"{scenario}-draft")
        with self.drafts_file(scenario).open("a") as file:
            file.write(f"{word}\n")
        return word

    def count(self, name: str) -> int:
        """Count one more, and return how many that makes."""
        with (self.folder / f"count-{name}").open("a") as file:
            file.write(".")
            return file.tell()

    def quiet_until(self, name: str, seconds: float, times: int) -> float | None:
        """Return until when a provider that is asked just now wants quiet (epoch seconds), None where it answers.

        At first it wants `seconds` of it. Whoever asks earlier starts that anew; after `times` such spans it answers.
        """
        path, now = self.folder / f"quiet-{name}", time.time()
        try:
            left, until = path.read_text().split()
            spans = int(left) - (now >= float(until))
        except FileNotFoundError:
            spans = times
        # Whole seconds, as providers tell them, and never less than asked for.
        end = float(int(now + seconds) + 1)
        path.write_text(f"{spans} {end}")
        return end if spans > 0 else None
