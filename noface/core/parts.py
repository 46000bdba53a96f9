"""The backlog with the parts of what was broken down: issues that no tracker knows (N9)."""

from noface.core.issue import Issue


def with_parts(issues: tuple[Issue, ...], parts: tuple[Issue, ...]) -> tuple[Issue, ...]:
    """Return the issues, each followed by its parts, those by theirs; parts of issues that are gone are left out.

    An issue of the tracker that bears a part's id takes its place.
    """
    listed = {issue.id for issue in issues}
    by_parent: dict[str, list[Issue]] = {}
    for part in parts:
        if part.parent is not None and part.id not in listed:
            by_parent.setdefault(part.parent, []).append(part)
    if not by_parent:
        return issues
    found: list[Issue] = []
    pending = list(reversed(issues))
    while pending:
        issue = pending.pop()
        found.append(issue)
        pending += reversed(by_parent.pop(issue.id, []))
    return tuple(found)
