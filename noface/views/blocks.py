"""The page of `noface blocked`: for each issue what happened, what is unclear, and what a person can do (N13)."""

from collections.abc import Iterator, Sequence

from noface.views.page import paint
from noface.views.rows import Record
from noface.views.text import clean, count, hanging

_SECTIONS = (
    ("tried", "Tried"),
    ("errors", "Errors"),
    ("unclear", "Unclear"),
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
        lines += ["", *paint_heading(block, width), *block_lines(block, width)]
    return lines


def paint_heading(block: Record, width: int) -> Iterator[str]:
    """Return the line that names the issue."""
    for line in hanging(f"{block['id']}  {block['title']}", width, rest="  "):
        yield paint(line, "blocked")


def block_lines(block: Record, width: int) -> Iterator[str]:
    """Return what is told of one blocked issue, without its name."""
    yield from hanging(block["summary"], width, "  ")
    questions = [question for question in block["questions"] if question not in block["unclear"]]
    for name, title in (*_SECTIONS[:3], ("questions", "Questions"), *_SECTIONS[3:]):
        items = questions if name == "questions" else block[name]
        if not items:
            continue
        yield ""
        yield f"  {paint(title, 'title')}"
        for item in items:
            if name == "commands":
                yield f"    {clean(item)}"  # whole, for copying
            else:
                yield from hanging(item, width, "    • ")
