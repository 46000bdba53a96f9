"""The schemas that are published, by name: what other programs read from noface, and what it reads from a worker."""

from collections.abc import Callable, Mapping
from pkgutil import resolve_name

from noface.ui import contracts, events
from noface.ui.blocked import BlockedDocument
from noface.ui.fsck import FsckDocument
from noface.ui.page import paint
from noface.ui.schema import Schema, document, first
from noface.ui.status import Status
from noface.ui.story import Story
from noface.ui.text import hanging

SCHEMAS: Mapping[str, tuple[str, Callable[[], Schema]]] = {
    "order": ("the JSON file $NOFACE_ORDER_FILE that a worker gets", contracts.order_schema),
    "report": ("the JSON that a worker may print at its end", contracts.report_schema),
    "events": ("what `noface run --json` prints: one event a line", events.schema),
    "status": ("where every issue stands: `noface status --json`", lambda: first(Status)),
    "blocked": ("what needs a person: `noface blocked --json`", lambda: first(BlockedDocument)),
    "show": ("the story of an issue: `noface show ID --json`", lambda: first(Story)),
    "night": (
        "a night on one page: `noface report --json`",
        lambda: first(resolve_name("noface.report.night:Night")),  # of a room above this one
    ),
    "fsck": ("the findings of `noface tools fsck --json`", lambda: first(FsckDocument)),
    "error": ("what a command with --json prints if it fails", contracts.error_schema),
}
"""What each describes, in half a line, and what makes it."""


def list_of_schemas() -> list[dict[str, str]]:
    return [{"name": name, "describes": describes} for name, (describes, _) in SCHEMAS.items()]


def schemas_page(listed: Mapping[str, list[dict[str, str]]], width: int) -> list[str]:
    """Return the lines of that list."""
    cells = max(map(len, SCHEMAS)) + 2
    lines = []
    for each in listed["schemas"]:
        first_line, *more = hanging(each["describes"], width - cells)
        lines += [f"{paint(each['name'], 'title')}{' ' * (cells - len(each['name']))}{first_line}"]
        lines += [f"{' ' * cells}{line}" for line in more]
    return lines


def published(name: str) -> Schema:
    """Return the schema of that name as a document of its own (draft 2020-12); each call makes a new one."""
    return document(name, SCHEMAS[name][1]())
