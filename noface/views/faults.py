"""Faulty issue files as lines: what is wrong with each, and what to do about it."""

from collections.abc import Iterator, Sequence

from noface.views.page import paint
from noface.views.rows import Record
from noface.views.text import hanging


def fault_lines(faults: Sequence[Record], width: int) -> Iterator[str]:
    """Return the lines of faults or warnings: source, problem, and the hint below."""
    for fault in faults:
        yield from hanging(f"{fault['source']}: {fault['problem']}", width, "  ", "    ")
        if fault["hint"]:
            yield from (paint(line, "quiet") for line in hanging(fault["hint"], width, "    → ", "      "))
