"""The world around the worker: secrets, a provider with a memory, and what was drafted. The mind never looks in here.

It lies in a folder outside the project, which the gates and the program around the mind are told by the harness.
"""

import json
import re
import time
from pathlib import Path

_PLACE = re.compile(r"\{(\w+)\}")
ANYONE = "*"
"""Stands for the scenario of secrets that all share."""


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

    def draft(self, scenario: str, word: str) -> None:
        """Remember what a worker has drafted."""
        with (self.folder / f"drafts-{scenario}").open("a") as file:
            file.write(f"{word}\n")

    def drafts(self, scenario: str) -> tuple[str, ...]:
        """Return what was drafted, in all attempts."""
        try:
            return tuple((self.folder / f"drafts-{scenario}").read_text().split())
        except FileNotFoundError:
            return ()

    def count(self, name: str) -> int:
        """Count one more, and return how many that makes."""
        with (self.folder / f"count-{name}").open("a") as file:
            file.write(".")
            return file.tell()

    def quiet_until(self, name: str, seconds: float, times: int) -> float | None:
        """Return until when a thing that was asked just now wants to be left alone (epoch seconds), None if it answers.

        The first time it wants `seconds` of quiet. Whoever asks earlier starts that anew; after `times` such spans it
        answers for good.
        """
        path = self.folder / f"quiet-{name}"
        now = time.time()
        try:
            left, until = path.read_text().split()
        except FileNotFoundError:
            left, until = str(times), "0"
        if int(left) == times and until == "0":
            spans = times
        elif now < float(until):
            spans = int(left)
        else:
            spans = int(left) - 1
        if spans <= 0:
            path.write_text("0 0")
            return None
        # Whole seconds, as providers tell them, and never less than asked for.
        end = float(int(now + seconds) + 1)
        path.write_text(f"{spans} {end}")
        return end
