"""The lines that show findings: grouped by what they keep from working."""

from collections.abc import Iterator, Sequence

from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_USAGE
from noface.model.finding import Finding
from noface.ui.page import advised, paint

_TITLES = {
    EXIT_USAGE: ("noface run would not start:", "bad"),
    EXIT_ATTENTION: ("This needs you:", "careful"),
    EXIT_DONE: ("Worth knowing:", "quiet"),
}


def finding_lines(findings: Sequence[Finding], width: int) -> Iterator[str]:
    """Yield the lines: each finding below what it means for a run, with what to do about it."""
    for code, (title, role) in _TITLES.items():
        group = [finding for finding in findings if finding.exit_code == code]
        if group:
            yield paint(title, role)
        for finding in group:
            yield from advised(finding.text, finding.fix, width)
