"""What is shown of the tests that fail now and then on main."""

from collections.abc import Sequence

from noface.model.listed import UnsteadyTest
from noface.ui.page import paint
from noface.ui.text import clean, count, hanging, moment

_UNSTEADY_SHOWN = 5


def unsteady_lines(tests: Sequence[UnsteadyTest], now: float, width: int) -> list[str]:
    """Return what is told of the tests that fail now and then on main; nothing if there are none."""
    if not tests:
        return []
    lines = ["", paint(f"{count(len(tests), 'unsteady test')} on main, which {'counts' if len(tests) == 1 else 'count'}"
                       " for nobody", "careful")]  # fmt: skip
    for row in tests[:_UNSTEADY_SHOWN]:
        name = clean(row.test) or "the whole gate"
        failed = f"failed in {row.failed} of {count(row.runs, 'run')}, last {moment(row.at, now)}"
        lines += hanging(f"{name} (gate {clean(row.gate)}): {failed}", width, "  ", "    ")
    if len(tests) > _UNSTEADY_SHOWN:
        lines.append(f"  … and {len(tests) - _UNSTEADY_SHOWN} more: --json has all")
    return lines
