"""The rules of noface.toml about what leaves the machine: trackers elsewhere, pushes, pull requests.

What contradicts itself is a problem, since one of two readings would send something that nobody asked for. A key that
does nothing where it stands, or lets in whoever likes to come, is a note.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from noface.config.idle_settings import Idle, idle
from noface.config.lines import table_of
from noface.config.problems import Problem
from noface.data.trackers import TRACKERS
from noface.errors import EXIT_DONE
from noface.model.finding import Finding

if TYPE_CHECKING:
    from noface.config.sections import Config

PULL_REQUEST = "pull-request"
ANYONE = "*"
_OF_PULL_REQUESTS = ("draft", "labels", "reviewers", "rounds", "follow_checks", "follow_reviews")
_OF_REMOTE_TRACKERS = ("label", "milestone", "authors", "answers", "notify", "close")
_NO_PUSH = "without a run that pushes"
_ASK_FOR_THEM = 'write how = "pull-request"'
_MERGE_HERE = 'write how = "merge"'


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
    wanted, keys = 'write kind = "github"', tuple(type(config.github).model_fields)
    told = f'for issues from there {wanted} in [tracker], for pull requests how = "pull-request" in [landing]'
    no_push = not (asks or landing.push)
    yield from idle(
        (
            Idle("landing", landing, _OF_PULL_REQUESTS, not asks, "without pull requests", _ASK_FOR_THEM),
            Idle(
                "landing", landing, ("style",), asks, "beside pull requests, which have one plain commit", _MERGE_HERE
            ),
            Idle("landing", landing, ("lease",), no_push, _NO_PUSH, f"{_ASK_FOR_THEM} or push = true"),
            Idle("tracker", tracker, _OF_REMOTE_TRACKERS, not elsewhere, "without issues on GitHub", wanted),
            Idle("github", config.github, keys, not (elsewhere or asks), "without GitHub", told),
        )
    )
