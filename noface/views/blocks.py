"""The page of `noface blocked`: for each issue what happened, what is unclear, and what a person can do (N13)."""

from collections.abc import Iterator, Sequence

from noface.views.page import paint
from noface.views.rows import Record
from noface.views.text import clean, count, hanging

_SECTIONS = (
    ("tried", "Tried"),
    ("errors", "Errors"),
    ("unclear", "Unclear"),
    ("questions", "Questions"),
    ("options", "Options"),
    ("next_steps", "What to do"),
    ("commands", "Commands"),
)


def blocked_page(blocked: Sequence[Record], width: int) -> list[str]:
    """Return the lines of the page."""
    if not blocked:
        return ["Nothing is blocked."]
    lines = [paint(f"{count(len(blocked), 'issue')} {'needs' if len(blocked) == 1 else 'need'} you.", "title")]
    for block in blocked:
        lines += ["", *_heading(block, width), *block_lines(block, width)]
    return lines


def _heading(block: Record, width: int) -> Iterator[str]:
    """Return the line that names the issue."""
    for line in hanging(block["title"], width, f"{block['id']}  "):
        yield paint(line, "blocked")


def block_lines(block: Record, width: int, leave_out: tuple[str, ...] = ()) -> Iterator[str]:
    """Return what is told of one blocked issue, without its name; `leave_out` are keys told elsewhere."""
    yield from hanging(block["summary"], width, "  ")
    for name, title in _SECTIONS:
        items = [] if name in leave_out else _unsaid(block, name)
        if not items:
            continue
        yield ""
        yield f"  {paint(title, 'title')}"
        for item in items:
            if name == "commands":
                yield f"    {clean(item)}"  # whole, for copying
            else:
                yield from hanging(item, width, "    • ")


def _unsaid(block: Record, name: str) -> list[str]:
    """Return the items of a section that no earlier section has told; JSON keeps them all."""
    earlier = {"errors": "tried", "questions": "unclear"}.get(name)
    return [item for item in block[name] if earlier is None or not any(item in said for said in block[earlier])]
