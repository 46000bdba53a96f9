"""The table of `noface config policy`: what is done about each kind of failure, a column for each attempt.

Where the columns do not fit the width, each row becomes a line that reads from left to right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noface.model.actions import (
    Action,
    Ask,
    AwaitIssues,
    Block,
    Land,
    Mode,
    RequestApproval,
    RunWorker,
    Skip,
    WaitUntil,
    cell_of,
)
from noface.model.history import Topic
from noface.recovery.policy_table import Row, SimulatedStep, terminal
from noface.ui.page import paint
from noface.ui.text import cells, duration, hanging, pad, wrapped

_LABEL = 18
"""The columns of the longest kinds, such as RESOURCE_EXHAUSTED: 80 columns leave just enough for the usual policy."""
_HEAD = "failures so far"
_ASKED = {
    Topic.CLARIFICATION: "ask planner",
    Topic.ARCHITECT: "ask architect",
    Topic.DEPENDENCY: "look at needs",
    Topic.DIAGNOSIS: "diagnose",
    Topic.REFLECTION: "reflect",
    Topic.REVIEW: "review",
    Topic.CHANGED_TESTS: "review tests",
    Topic.BREAKDOWN: "divide",
    Topic.MISSING: "look for the rest",
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A few words of a cell, and the role that colours them."""

    text: str
    role: str = ""


Cell = tuple[Phrase, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """What is done after `first` to `last` failed attempts, a cell for each row."""

    first: int
    last: int
    cells: tuple[Cell, ...]

    @property
    def head(self) -> str:
        """What stands above it."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Return what models are called in cells: claude-sonnet is sonnet if every model is a claude."""
    parted = {model: model.partition("-") for model in models}
    heads = {head for head, _, _ in parted.values()}
    if len(heads) == 1 and all(rest[:1].isalpha() for _, _, rest in parted.values()):
        return {model: rest for model, (_, _, rest) in parted.items()}
    return {model: model for model in models}


def phrases(step: SimulatedStep, names: Mapping[str, str]) -> Cell:
    """Return a step in a few words."""
    return _waiting(step) + _worded(step.action, names) + ((Phrase("…", "quiet"),) if step.more else ())


def _waiting(step: SimulatedStep) -> Cell:
    return (Phrase(f"wait {duration(step.wait_s)}", "careful"),) if step.wait_s else ()


def _worded(action: Action, names: Mapping[str, str]) -> Cell:
    match action:
        case Block():
            return (Phrase("BLOCK", "bad"),)
        case Skip():
            return (Phrase("SKIP", "bad"),)
        case RequestApproval():
            return (Phrase("ASK YOU", "careful"),)
        case AwaitIssues():
            return (Phrase("wait for issues", "careful"),)
        case Land():
            return (Phrase("LAND", "good"),)
        case Ask(topic=topic):
            return (Phrase(_ASKED.get(topic, "ask resolver"), "active"),)
        case RunWorker(model=model, think=think) | WaitUntil(model=model, think=think):
            mode = action.mode if isinstance(action, RunWorker) else None
            name = names.get(model, model) + (" ↑" if mode is Mode.ESCALATE else "")
            manner = "" if mode is Mode.FEEDBACK and think else cell_of(action.name)
            return (Phrase(name), *(Phrase(text, "quiet") for text in ("thinks" if think else "", manner) if text))


def label(row: Row) -> str:
    """Return what a row is about."""
    same = ": the same each time" if row.repeats is not None else ""
    return f"{', '.join(row.kinds)}{same}"


def columns(rows: Sequence[Row], names: Mapping[str, str]) -> list[Column]:
    """Return the columns; those that are the same for every row are one."""
    merged: list[Column] = []
    for after in range(max(step.after for row in rows for step in row.steps) + 1):
        made = tuple(_cell(row, after, names) for row in rows)
        if merged and merged[-1].cells == made and after > 1:
            merged[-1] = Column(merged[-1].first, after, made)
        else:
            merged.append(Column(after, after, made))
    return merged


def _cell(row: Row, after: int, names: Mapping[str, str]) -> Cell:
    return tuple(phrase for step in row.steps if step.after == after for phrase in phrases(step, names))


def table_lines(rows: Sequence[Row], names: Mapping[str, str], width: int) -> list[str]:
    """Return the table: with columns if they fit, else a line of arrows for each row."""
    made = columns(rows, names)
    for measure, gap in ((_whole, "  "), (_whole, " "), (_by_words, "  ")):
        widths = [max(len(column.head), *(measure(cell) for cell in column.cells)) for column in made]
        if _LABEL + sum(widths) + len(gap) * len(made) <= width:
            return _grid(rows, made, widths, gap)
    return _flow(rows, names, width)


def _whole(cell: Cell) -> int:
    return max((cells(phrase.text) for phrase in cell), default=0)


def _by_words(cell: Cell) -> int:
    return max((cells(word) for phrase in cell for word in phrase.text.split()), default=0)


def _grid(rows: Sequence[Row], made: Sequence[Column], widths: Sequence[int], gap: str) -> list[str]:
    heads = gap.join(pad(column.head, width) for column, width in zip(made, widths, strict=True))
    lines = [paint(f"{pad(_HEAD, _LABEL)}{gap}{heads}".rstrip(), "quiet")]
    for number, row in enumerate(rows):
        named = [Phrase(text) for text in _packed(row)]
        stacks = [_stack(column.cells[number], width) for column, width in zip(made, widths, strict=True)]
        if number:
            lines.append("")
        for height in range(max(len(named), *(len(stack) for stack in stacks))):
            parts = [_part(named, height, _LABEL)]
            parts += [_part(stack, height, width) for stack, width in zip(stacks, widths, strict=True)]
            lines.append(gap.join(parts).rstrip())
    return lines


def _packed(row: Row) -> list[str]:
    """Return a row's label in lines that fit its column; a comma at a line's end would be one too wide."""
    if row.repeats is not None:
        return wrapped(label(row), _LABEL)
    lines: list[str] = []
    for kind in row.kinds:
        if lines and len(lines[-1]) + len(", ") + len(kind) <= _LABEL:
            lines[-1] += f", {kind}"
        else:
            lines.append(kind)
    return lines


def _stack(cell: Cell, width: int) -> list[Phrase]:
    return [Phrase(text, phrase.role) for phrase in cell for text in wrapped(phrase.text, width)]


def _part(stack: Sequence[Phrase], height: int, width: int) -> str:
    if height >= len(stack):
        return " " * width
    return paint(stack[height].text, stack[height].role) + " " * (width - cells(stack[height].text))


def _flow(rows: Sequence[Row], names: Mapping[str, str], width: int) -> list[str]:
    lines: list[str] = []
    for row in rows:
        lines += ([""] if lines else []) + hanging(label(row), width)
        lines += [_coloured(line) for line in hanging(" → ".join(_counted(row, names)), width, "  ")]
    return lines


def _coloured(line: str) -> str:
    for end in ("BLOCK", "SKIP"):
        line = line.removesuffix(end) + paint(end, "bad") if line.endswith(end) else line
    return line


def _counted(row: Row, names: Mapping[str, str]) -> list[str]:
    """Return the steps of a row in words; several alike are one with their number."""
    runs: list[tuple[str, int]] = []
    for step in row.steps:
        text = ", ".join(
            " ".join(p.text for p in part) for part in (_waiting(step), _worded(step.action, names)) if part
        )
        if runs and runs[-1][0] == text:
            runs[-1] = (text, runs[-1][1] + 1)
        else:
            runs.append((text, 1))
    cut = [] if terminal(row.steps[-1].action) else ["…"]
    return [text if times == 1 else f"{text} ×{times}" for text, times in runs] + cut
