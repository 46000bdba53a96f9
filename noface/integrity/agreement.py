"""Whether what a green run reports of its tests agrees with how it ended and what it printed, as it does on main."""

from collections.abc import Collection

from noface.integrity.inventory import Inventory, Outcome
from noface.model.quoting import some

_SHOWN_MAX = 5
_NAME_CHARS_MAX = 200


def disagreement(main: Inventory, judged: Inventory, own: Inventory, unsteady: Collection[str] = ()) -> str:
    """Return what speaks against the reports of a change whose gate ended green, "" if all that is known agrees.

    `judged` is its run with main's tests, `own` that with its own, in which `unsteady` tests may be red. A summary that
    counts more than was reported is no disagreement: tests print summaries, too, and some count parts of tests.
    """
    red = tuple(n for n, outcome in own.tests if outcome is Outcome.FAILED and n not in unsteady)
    if red and not any(outcome is Outcome.FAILED for _, outcome in main.tests):
        return f"it ended as if no test had failed, but these did: {_few(red)}"
    if main.told and not _is_summary_short(main) and _is_summary_short(judged):
        text = f"its summary counts {_summary_count(judged)}" if judged.told else "it printed no summary"
        return f"{_wholes(judged)} tests are reported to have passed, but {text}"
    return ""


def _is_summary_short(run: Inventory) -> bool:
    return _summary_count(run) < _wholes(run)


def _summary_count(run: Inventory) -> int:
    """Return how many tests the gate printed of: a summary may be of one run of several, or of all."""
    return max((0, *run.told, sum(run.told)))


def _wholes(run: Inventory) -> int:
    names = frozenset(name for name, _ in run.tests)
    passed = (name for name, outcome in run.tests if outcome is Outcome.PASSED)
    return sum("[" not in name or name.partition("[")[0] not in names for name in passed)


def _few(names: tuple[str, ...]) -> str:
    return some(names, _SHOWN_MAX, _NAME_CHARS_MAX)
