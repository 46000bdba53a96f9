"""What is shown of the tests that fail now and then on main."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from noface.model.description import Minimum, Timestamp
from noface.store.records import UnsteadyRow
from noface.ui.page import paint
from noface.ui.text import clean, count, hanging, moment


class ListedUnsteady(NamedTuple):
    """A test that fails now and then on main, and so counts for nobody."""

    gate: Annotated[str, "Its gate's name."]
    test: Annotated[str, "Its id; empty where the gate names no tests, and is unsteady as a whole."]
    first_at: Annotated[float, Timestamp, "Since when that is known."]
    last_at: Annotated[float, Timestamp, "When it failed last on main."]
    failed: Annotated[int, Minimum(1), "In how many runs on main it failed."]
    runs: Annotated[int, Minimum(1), "In how many runs on main it ran since."]
    steady: Annotated[int, "How often in a row it has passed there since; after enough of them it is forgotten."]
    red: Annotated[int, "How often in a row it has failed there; after enough of them it counts again."]


_UNSTEADY_SHOWN = 5


def unsteady_lines(tests: Sequence[ListedUnsteady | UnsteadyRow], now: float, width: int) -> list[str]:
    """Return what is told of the tests that fail now and then on main; nothing where there are none."""
    if not tests:
        return []
    lines = ["", paint(f"{count(len(tests), 'unsteady test')} on main, which {'counts' if len(tests) == 1 else 'count'}"
                       " for nobody", "careful")]  # fmt: skip
    for row in tests[:_UNSTEADY_SHOWN]:
        name = clean(row.test) or "the whole gate"
        failed = f"failed in {row.failed} of {count(row.runs, 'run')}, last {moment(row.last_at, now)}"
        lines += hanging(f"{name} (gate {clean(row.gate)}): {failed}", width, "  ", "    ")
    if len(tests) > _UNSTEADY_SHOWN:
        lines.append(f"  … and {len(tests) - _UNSTEADY_SHOWN} more: --json has all")
    return lines
