"""The backlog that a copy of GitHub's issues makes. Pure.

Worked on are open issues with the label of the settings, whose author may write to the repository or is named in
`[tracker] authors`: an issue's text becomes a prompt. What is closed is done.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from noface.data.trackers import TrackerSettings
from noface.model.backlog import checked, number_of, part_waiting
from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault
from noface.model.publication import ANYONE
from noface.model.quoting import some
from noface.trackers.github.copy import Copy
from noface.trackers.github.issue import RemoteIssue, read_remote
from noface.trackers.issue_body import visible_text

_LISTED_MAX = 8


def wanted(remote: RemoteIssue, settings: TrackerSettings, login: str = "") -> bool:
    """True if an issue is one to work on, whoever wrote it: by its label, or since it is assigned to `login`."""
    labels = {label.lower() for label in remote.labels}
    assigned = bool(login) and login.lower() in {name.lower() for name in remote.assignees}
    return remote.open and not remote.pull and (not settings.label or settings.label.lower() in labels or assigned)


def trusted(login: str, copy: Copy, settings: TrackerSettings) -> bool:
    named = {name.lower().removeprefix("@") for name in settings.authors}
    return bool(login) and (ANYONE in named or login.lower() in named or copy.writers.get(login.lower(), False))


def worked_on(remote: RemoteIssue, copy: Copy, settings: TrackerSettings) -> RemoteIssue | None:
    if trusted(remote.author, copy, settings):
        return remote
    taken = copy.taken.get(remote.number)
    return replace(remote, title=taken.title, body=visible_text(taken.body)) if taken is not None else None


def backlog_of(copy: Copy, settings: TrackerSettings, merged: Collection[str] = ()) -> Backlog:
    """Make the backlog of a copy."""
    issues: list[Issue] = []
    faults: list[IssueFault] = []
    warnings: list[IssueFault] = []
    strangers: dict[str, list[RemoteIssue]] = {}
    aside: dict[str, str] = {}
    closed: set[str] = set()
    for remote in copy.issues.values():
        own_id = str(remote.number)
        if not remote.open:
            closed.add(own_id)
        elif not wanted(remote, settings, copy.login):
            aside[own_id] = "an open pull request" if remote.pull else f"open and not labelled {settings.label}"
        elif (given := worked_on(remote, copy, settings)) is None:
            aside[own_id] = f"open and by {_login(remote)}, whose issues are not worked on"
            strangers.setdefault(remote.author.lower(), []).append(remote)
        else:
            parsed = read_remote(given, settings.gates)
            warnings += parsed.warnings
            warnings += _frozen(remote, copy, settings)
            if isinstance(parsed.result, IssueFault):
                faults.append(parsed.result)
            else:
                issues.append(parsed.result)
    for number in {int(each) for issue in issues for name in issue.depends_on if (each := number_of(name))}:
        if number not in copy.issues and number not in copy.missing:
            aside[str(number)] = "not looked up yet"
    hint = "Close it, take the dependency out, or have it worked on: [tracker] in noface.toml says which issues are."
    sound, waiting = part_waiting(issues, aside, merged, hint)
    warnings += _stranger_warnings(strangers, copy, settings)
    warnings += _unheard(copy)
    gone = {str(number): why for number, why in copy.gone.items()}
    return replace(checked(sound, [*faults, *waiting], merged, closed), warnings=tuple(warnings), gone=gone)


def _login(remote: RemoteIssue) -> str:
    return remote.author or "an account that is gone"


def _stranger_warnings(
    strangers: dict[str, list[RemoteIssue]], copy: Copy, settings: TrackerSettings
) -> Iterable[IssueFault]:
    repository = copy.of[1] if len(copy.of) > 1 else settings.repository or "the repository"
    for login, remotes in sorted(strangers.items()):
        numbers = some(tuple(f"#{remote.number}" for remote in remotes), _LISTED_MAX)
        if login not in copy.writers:
            why = "the token may not read who can write" if copy.blind else "whose access is not looked up yet"
        else:
            why = f"who has no write access to {repository}"
        problem = f"{numbers} by {_login(remotes[0])}, {why}: not worked on, since an issue's text becomes a prompt"
        refused = tuple(
            f"#{each.number}: {copy.refused[each.number]}" for each in remotes if each.number in copy.refused
        )
        problem += f" ({some(refused, _LISTED_MAX)})" if refused else ""
        gives = f"have somebody with write access set the label {settings.label}" if settings.label else "assign it"
        hint = (
            f"To have it done as it is written now, {gives}; where you trust them with all they write:"
            f' [tracker] authors = ["{login or "NAME"}"] in noface.toml.'
        )
        yield IssueFault(remotes[0].url or f"#{remotes[0].number}", problem, hint, str(remotes[0].number))


def _frozen(remote: RemoteIssue, copy: Copy, settings: TrackerSettings) -> Iterable[IssueFault]:
    taken = None if trusted(remote.author, copy, settings) else copy.taken.get(remote.number)
    if taken is not None and (remote.title, remote.body) != (taken.title, taken.body):
        who = f"#{remote.number} by {_login(remote)}"
        problem = f"{who} was edited since {taken.by} gave it to noface: it is done as it was then"
        hint = "For the new text, take the label off and set it again."
        yield IssueFault(remote.url or f"#{remote.number}", problem, hint, str(remote.number))


def _unheard(copy: Copy) -> Iterable[IssueFault]:
    for number, logins in sorted(copy.unheard.items()):
        remote = copy.issues.get(number)
        if remote is not None and remote.open:
            problem = f"a comment by {some(logins, 3)} is not taken for an answer: they have no write access"
            hint = f'Answer yourself, or: [tracker] authors = ["{logins[0]}"] in noface.toml.'
            yield IssueFault(remote.url or f"#{number}", problem, hint, str(number))
