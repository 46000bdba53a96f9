"""The schemas that are published, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from noface.views.schemas import blocked, error, events, fsck, order, report, show, status
from noface.views.schemas.parts import Schema, document


@dataclass(frozen=True, slots=True)
class Published:
    """A schema: what it describes, in half a line, and what makes it."""

    describes: str
    make: Callable[[], Schema]


SCHEMAS: Mapping[str, Published] = {
    "order": Published(order.DESCRIBES, order.schema),
    "report": Published(report.DESCRIBES, report.schema),
    "events": Published(events.DESCRIBES, events.schema),
    "status": Published(status.DESCRIBES, status.schema),
    "blocked": Published(blocked.DESCRIBES, blocked.schema),
    "show": Published(show.DESCRIBES, show.schema),
    "fsck": Published(fsck.DESCRIBES, fsck.schema),
    "error": Published(error.DESCRIBES, error.schema),
}


def published(name: str) -> Schema:
    """Return the schema of that name as a document of its own (draft 2020-12); each call makes a new one."""
    return document(name, SCHEMAS[name].make())
