"""What `noface init --github` tells: what a run reads and sends, what its token must be allowed, what is ready."""

from dataclasses import dataclass

from noface.ui.doctor import Point, State, check_rows, checks_document
from noface.ui.page import paint
from noface.ui.text import hanging, pad

_ROOM = 9


@dataclass(frozen=True, slots=True)
class Ready:
    """How far a repository on GitHub is ready; `made_label`: its label was made just now."""

    repository: str
    host: str
    label: str
    checks: tuple[Point, ...]
    made_label: bool = False

    @property
    def issue_step(self) -> str:
        """The step that gives noface something to do."""
        return f"Give an issue the label {self.label}: https://{self.host}/{self.repository}/issues"


def github_lines(ready: Ready, width: int) -> list[str]:
    """Return the part of the page that is about GitHub."""
    lines = [
        "",
        paint(f"{ready.repository} on {ready.host}: what `noface run` does there, and nothing before it", "title"),
    ]
    rows = (
        ("reads", f"open issues with the label {ready.label}, and answers, of people with write access; the issues"),
        ("", "of others as they are when such people set the label"),
        ("pushes", "branches noface/<id>, and claims below refs/noface/claims; never main"),
        ("writes", "one pull request an issue, its labels, one comment on it that is edited in place, and questions"),
    )
    for verb, what in rows:
        lines += hanging(what, width, f"  {pad(verb, _ROOM)}", " " * (_ROOM + 2))
    lines += ["", "Its token needs: contents, issues, pull requests: read and write;"]
    lines += ["  actions, commit statuses: read.", ""]
    lines += [f"Made the label {ready.label}.", ""] if ready.made_label else []
    return [*lines, *check_rows(ready.checks, width)]


def github_document(ready: Ready) -> dict[str, object]:
    """Return the same for scripts."""
    return {
        "repository": ready.repository,
        "host": ready.host,
        "label": ready.label,
        "made_label": ready.made_label,
        "ready": all(each.state is not State.BAD for each in ready.checks),
        "checks": checks_document(ready.checks),
    }
