"""What keeps an issue from being run: a module of its own, so that pages of lists start quickly."""

from typing import Annotated, NamedTuple


class IssueFault(NamedTuple):
    """An issue that cannot be run as written."""

    source: Annotated[str, "The file."]
    problem: Annotated[str, "What is wrong."]
    hint: Annotated[str, "What to do about it; may be empty."] = ""
    id: Annotated[str | None, "The issue's id; null if it cannot be read."] = None
