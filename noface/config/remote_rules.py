"""The rules of noface.toml about what leaves the machine: trackers elsewhere, pushes, pull requests.

What contradicts itself is a problem, since one of two readings would send something that nobody asked for. A key that
does nothing where it stands, or lets in whoever likes to come, is a note.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from noface.config.lines import table_of
from noface.config.problems import Problem
from noface.data.trackers import TRACKERS
from noface.errors import EXIT_DONE
from noface.model.finding import Finding

if TYPE_CHECKING:
    from noface.config.sections import Config, Section

PULL_REQUEST = "pull-request"
ANYONE = "*"
_OF_PULL_REQUESTS = ("draft", "labels", "reviewers", "rounds", "follow_checks", "follow_reviews")
_OF_REMOTE_TRACKERS = ("label", "milestone", "authors", "close")
_ASK_FOR_THEM = 'write how = "pull-request"'


def remote_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the keys that contradict each other. The tables are untrusted: what has a wrong type is passed over."""
    landing, tracker = table_of(data.get("landing")), table_of(data.get("tracker"))
    how, kind = landing.get("how", "merge"), tracker.get("kind")
    if how == PULL_REQUEST and landing.get("push") is True:
        yield Problem(
            ("landing", "push"),
            'with how = "pull-request" main is never pushed; remove push, or write how = "merge" to push main itself',
        )
    if how == "merge" and landing.get("auto_merge") is True:
        yield Problem(
            ("landing", "auto_merge"), f'with how = "merge" there is no pull request; remove it, or {_ASK_FOR_THEM}'
        )
    entry = TRACKERS.get(kind) if isinstance(kind, str) else None
    if entry is not None and entry.remote and "path" in tracker:
        yield Problem(("tracker", "path"), f'kind = "{kind}" reads no files of the repository; remove path, or kind')


def remote_notes(config: "Config") -> Iterator[Finding]:
    """Yield what is worth knowing of the keys of a sound configuration: those that do nothing, and open doors."""
    landing, tracker = config.landing, config.tracker
    asks, elsewhere = landing.how == PULL_REQUEST, TRACKERS[tracker.kind].remote
    if ANYONE in tracker.authors and elsewhere:
        yield Finding(
            "[tracker] authors",
            '"*" lets anyone who can open an issue write what workers are told to do',
            "Name the people, or leave authors out: those with write access to the repository are allowed.",
            EXIT_DONE,
        )
    if not asks:
        yield from _idle("landing", landing, _OF_PULL_REQUESTS, "pull requests", _ASK_FOR_THEM)
    if not (asks or landing.push):
        yield from _idle("landing", landing, ("lease",), "a run that pushes", f"{_ASK_FOR_THEM} or push = true")
    if not elsewhere:
        wanted = 'write kind = "github"'
        yield from _idle("tracker", tracker, _OF_REMOTE_TRACKERS, "issues on GitHub", wanted)
        if not asks:
            told = f'for issues from there {wanted} in [tracker], for pull requests how = "pull-request" in [landing]'
            yield from _idle("github", config.github, tuple(type(config.github).model_fields), "GitHub", told)


def _idle(name: str, section: "Section", keys: tuple[str, ...], matter: str, wanted: str) -> Iterator[Finding]:
    there = [key for key in keys if key in section.model_fields_set]
    if there:
        does = "does" if len(there) == 1 else "do"
        yield Finding(
            f"[{name}] {', '.join(there)}", f"{does} nothing without {matter}", f"Take it out, or {wanted}.", EXIT_DONE
        )
