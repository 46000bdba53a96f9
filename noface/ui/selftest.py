"""The page of `noface selftest`: a table of the kinds, the totals, and what went wrong."""

from collections.abc import Iterator, Mapping
from typing import Any

from noface.ui.page import paint
from noface.ui.text import clean, count, duration, hanging

Record = Mapping[str, Any]
_KIND, _OF = 19, 4
_CELLS = {"noface": 7, "feedback": 9, "plain": 6}
"""The width of a column by variant, as wide as its name and a space."""
_OUTCOMES_MAX = 8


def selftest_page(document: Record, width: int) -> list[str]:
    """Return the lines of the document of a selftest; the table takes 72 columns at most."""
    variants = tuple(document["variants"])
    lines = list(_table(document, variants, "recoverable", "recovered", "runs", "recovered", "worker runs"))
    if document["totals"]["hopeless"]:
        lines += ["", "Where nothing can help, it has to stop in time and to tell a person:", ""]
        lines += _table(document, variants, "hopeless", "stopped", "stopped_runs", "stopped in time", "worker runs")
    lines += ["", *_summary(document, width)]
    for trouble in document["troubles"]:
        lines += ["", *_trouble(trouble, width)]
    return lines


def _table(
    document: Record, variants: tuple[str, ...], of: str, good: str, cost: str, good_title: str, cost_title: str
) -> Iterator[str]:
    room = sum(_CELLS[variant] for variant in variants)
    yield paint(f"{'':{_KIND}}{'':{_OF}}  {good_title:>{room}}  {cost_title:>{room}}", "quiet")
    names = "".join(f"{variant:>{_CELLS[variant]}}" for variant in variants)
    yield paint(f"{'kind':{_KIND}}{'of':>{_OF}}  {names}  {names}", "quiet")
    for row in document["kinds"]:
        if row[of]:
            line = _row(row["kind"], row, variants, of, good, cost)
            yield line if row[good]["noface"] == row[of] else paint(line, "bad")
    if len(document["kinds"]) > 1:
        yield paint(_row("all", document["totals"], variants, of, good, cost), "title")


def _row(name: str, row: Record, variants: tuple[str, ...], of: str, good: str, cost: str) -> str:
    numbers = ("".join(f"{row[what][variant]:>{_CELLS[variant]}}" for variant in variants) for what in (good, cost))
    return f"{name:{_KIND}}{row[of]:>{_OF}}  " + "  ".join(numbers)


def _summary(document: Record, width: int) -> Iterator[str]:
    totals = document["totals"]
    summary = f"noface recovered {totals['recovered']['noface']} of {totals['recoverable']}"
    if totals["hopeless"]:
        summary += f", and stopped in time with {totals['stopped']['noface']} of {totals['hopeless']}"
    asked = count(document["asked"], "question")
    yield from hanging(f"{summary}. It put {asked} to other models. All took {duration(document['seconds'])}.", width)
    if len(document["variants"]) > 1:
        yield from hanging(
            "feedback: one model, told how its last run ended and what was printed. plain: one model, the same prompt"
            " again. Both see exit codes only; what they did not recover counts as all the runs they may have.",
            width,
        )
    for kind, why in document["left_out"].items():
        yield from hanging(f"{kind} is left out: {why}.", width)
    if document.get("kept"):
        yield from hanging(f"The projects are kept in {document['kept']}", width)


def _trouble(trouble: Record, width: int) -> Iterator[str]:
    yield paint(f"✗ {trouble['id']}: {trouble['what']}", "bad")
    outcomes = trouble["outcomes"]
    runs = ", ".join(outcomes[:_OUTCOMES_MAX]) + (" …" if len(outcomes) > _OUTCOMES_MAX else "")
    texts = (
        f"It needed: {trouble['carries']}.",
        f"{count(len(outcomes), 'run')}: {runs or 'none'}; now {trouble['status']}: {clean(trouble['reason'])}",
        *([f"Look: cd {trouble['folder']} && noface show {trouble['id']}"] if trouble.get("folder") else []),
    )
    for text in texts:
        yield from hanging(text, width, "  ", "    ")
