"""The folder that all programs of a night share: its clock, its log of calls, its dice, and what a person is asked to do.

It lies outside the repository. It is read by the agent, by the loops, by noface's starter and by the player; so it
needs the standard library alone.
"""

import fcntl
import json
import random
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_DICE = 2_000
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: str | float) -> float:
    """Return the seconds of "90s", "40m", "5h", "3d", or of a number."""
    if isinstance(text, int | float):
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)([smhd])", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is no time such as 90s, 40m, 5h or 3d")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


class World:
    """A night's folder. Its clock is the machine's plus what was waited: a wait costs no time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def make(cls, folder: Path, night: Mapping[str, Any], seed: int) -> "World":
        """Make the folder of a night, which is kept there as JSON. The dice are thrown here, by the seed."""
        folder.mkdir(parents=True)
        for name in ("asks", "counts", "dice"):
            (folder / name).mkdir()
        (folder / "night.json").write_text(json.dumps(night))
        (folder / "clock").write_text("0")
        (folder / "began").write_text(str(time.time()))
        for name in ("calls.jsonl", "notes"):
            (folder / name).touch()
        for name, sides in night.get("chances", {}).items():
            dice = random.Random(f"{seed}/{night['name']}/{name}")
            (folder / "dice" / name).write_text(
                "".join("x" if dice.randrange(sides) == 0 else "." for _ in range(_DICE))
            )
        return cls(folder)

    @property
    def night(self) -> dict[str, Any]:
        """The night as its data say it."""
        return json.loads((self.folder / "night.json").read_text())

    def offset(self) -> float:
        """Return the seconds that were waited so far."""
        return float((self.folder / "clock").read_text() or 0)

    def now(self) -> float:
        """Return the night's time in epoch seconds."""
        return time.time() + self.offset()

    def elapsed(self) -> float:
        """Return the seconds since the night began."""
        return self.now() - float((self.folder / "began").read_text())

    def wait(self, span: float) -> None:
        """Let time pass."""
        with self._locked():
            later = self.offset() + max(0.0, span)
            new = self.folder / "clock.new"
            new.write_text(str(later))
            new.replace(self.folder / "clock")

    def count(self, name: str) -> int:
        """Count one more, and return how many that makes."""
        with (self.folder / "counts" / name).open("a") as file:
            file.write(".")
            return file.tell()

    def call(self, **facts: object) -> None:
        """Log a call of the agent."""
        with self._locked(), (self.folder / "calls.jsonl").open("a") as file:
            file.write(json.dumps({"at": round(self.elapsed()), **facts}) + "\n")

    def calls(self) -> list[dict[str, Any]]:
        """Return the calls so far."""
        return [json.loads(line) for line in (self.folder / "calls.jsonl").read_text().splitlines()]

    def notes(self) -> list[str]:
        """Return what agents and persons have noted."""
        return (self.folder / "notes").read_text().splitlines()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


TOOLS = {
    # Does the usual work of an issue: a function and its test.
    "feature": """
mkdir -p shop tests
printf 'def feature_%s():\\n    return "%s"\\n' "$1" "$1" > "shop/feature_$1.py"
printf 'from shop.feature_%s import feature_%s\\n\\n\\ndef test_feature_%s():\\n    assert feature_%s() == "%s"\\n' \
  "$1" "$1" "$1" "$1" "$1" > "tests/test_feature_$1.py"
""",
    # Has the person, or fate, do what the night calls by this name, once; returns when that is done.
    "meanwhile": """
ask='@WORLD@/asks/'$1
[ -e "$ask.done" ] && exit 0
: > "$ask"
n=0
while [ ! -e "$ask.done" ] && [ $n -lt 3000 ]; do sleep 0.02; n=$((n + 1)); done
""",
    "note": "echo \"$*\" >> '@WORLD@/notes'\n",
    # Lets time pass, as if the work took so long.
    "pass": "exec @PYTHON@ -I -S '@HERE@/world.py' '@WORLD@' \"$1\"\n",
    # Fails as often as the night's dice say.
    "chance": """
printf . >> '@WORLD@/counts/'"$1"
n=$(wc -c < '@WORLD@/counts/'"$1")
[ "$(cut -c "$n" < '@WORLD@/dice/'"$1")" = . ]
""",
    # True at its call number $2 under this name.
    "nth": """
printf . >> '@WORLD@/counts/'"$1"
[ "$(wc -c < '@WORLD@/counts/'"$1")" -eq "$2" ]
""",
    # True at each second call under this name.
    "even": """
printf . >> '@WORLD@/counts/'"$1"
[ $(($(wc -c < '@WORLD@/counts/'"$1") % 2)) -eq 0 ]
""",
    # Returns once it was called $2 times under this name: workers that must have begun on the same main.
    "together": """
printf . >> '@WORLD@/counts/'"$1"
n=0
while [ "$(wc -c < '@WORLD@/counts/'"$1")" -lt "$2" ] && [ $n -lt 250 ]; do sleep 0.02; n=$((n + 1)); done
""",
    "claude": "exec @PYTHON@ -I -S -c \"import sys; sys.path.insert(0, '@ROOT@'); from nights.agent import main;"
    ' sys.exit(main(sys.argv[1:]))" \'@WORLD@\' "$@"\n',
}
"""Programs on PATH: what agents, gates and setup call."""


def write_tools(folder: Path, world: World) -> None:
    """Write the programs of a night."""
    folder.mkdir()
    here = Path(__file__).resolve().parent
    values = {"@WORLD@": str(world.folder), "@PYTHON@": sys.executable, "@HERE@": str(here), "@ROOT@": str(here.parent)}
    for name, script in {**TOOLS, **world.night.get("tools", {})}.items():
        text = re.sub("|".join(values), lambda match: values[match[0]], script.lstrip())
        (folder / name).write_text(f"#!/bin/{'sh' if name in TOOLS else 'bash'}\n{text}\n")
        (folder / name).chmod(0o755)


if __name__ == "__main__":
    World(Path(sys.argv[1])).wait(seconds(sys.argv[2]))
