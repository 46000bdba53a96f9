"""What a form of a gate's output is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """What a tool prints when it is not content, and its exit code; `green` is what it prints otherwise.

    `{clue}` stands for what the worker should have written, `{guess}` for what it wrote, `{name}` for the scenario.
    """

    red: str
    code: int = 1
    green: str = "ok\n"
