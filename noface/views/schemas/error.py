"""The schema of what any command with `--json` prints where it fails; `cli/main.py` makes the document."""

from noface.views.schemas.parts import Schema, first, integer, record, text

DESCRIBES = "what any command with --json prints where it fails"


def schema() -> Schema:
    """Return the schema of an error."""
    return first(
        "Why a command failed. The exit code of the command is `code`.",
        error=record(
            "The error.",
            message=text("What is wrong."),
            hint=text("What to do about it; may be empty."),
            code=integer("The exit code.", 1),
        ),
    )
