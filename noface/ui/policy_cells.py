"""The table of `noface policy`: what is done about each kind of failure, step by step from left to right."""

from collections.abc import Mapping, Sequence

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
from noface.ui.text import duration, hanging

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


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Return what models are called in cells: claude-sonnet is sonnet if every model is a claude."""
    parted = {model: model.partition("-") for model in models}
    heads = {head for head, _, _ in parted.values()}
    if len(heads) == 1 and all(rest[:1].isalpha() for _, _, rest in parted.values()):
        return {model: rest for model, (_, _, rest) in parted.items()}
    return {model: model for model in models}


def _waiting(step: SimulatedStep) -> str:
    return f"wait {duration(step.wait_s)}" if step.wait_s else ""


def _worded(action: Action, names: Mapping[str, str]) -> str:
    match action:
        case Block():
            return "BLOCK"
        case Skip():
            return "SKIP"
        case RequestApproval():
            return "ASK YOU"
        case AwaitIssues():
            return "wait for issues"
        case Land():
            return "LAND"
        case Ask(topic=topic):
            return _ASKED.get(topic, "ask resolver")
        case RunWorker(model=model, think=think) | WaitUntil(model=model, think=think):
            mode = action.mode if isinstance(action, RunWorker) else None
            name = names.get(model, model) + (" ↑" if mode is Mode.ESCALATE else "")
            manner = "" if mode is Mode.FEEDBACK and think else cell_of(action.name)
            return " ".join(text for text in (name, "thinks" if think else "", manner) if text)


def label(row: Row) -> str:
    """Return what a row is about."""
    same = ": the same each time" if row.repeats is not None else ""
    return f"{', '.join(row.kinds)}{same}"


def table_lines(rows: Sequence[Row], names: Mapping[str, str], width: int) -> list[str]:
    """Return the table: each row's kinds, and below them its steps."""
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
        text = ", ".join(part for part in (_waiting(step), _worded(step.action, names)) if part)
        if runs and runs[-1][0] == text:
            runs[-1] = (text, runs[-1][1] + 1)
        else:
            runs.append((text, 1))
    cut = [] if terminal(row.steps[-1].action) else ["…"]
    return [text if times == 1 else f"{text} ×{times}" for text, times in runs] + cut
