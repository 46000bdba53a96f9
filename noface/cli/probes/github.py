"""Whether what noface needs of GitHub is there: library, remote, token, login, permissions, label. Reads only.

`noface init --github` and `noface doctor` show it; nothing here is ever the token itself. GitHub is asked at most a few
times, and an answer that does not come is a note: one can set up a project without a network.
"""

from collections.abc import Iterator
from contextlib import closing, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from noface.cli.connections import TokenOfHost
from noface.errors import EXIT_USAGE, ForgeAwayError, ForgeError, RemoteError, UsageError
from noface.forge.location import Location, located
from noface.forge.token import find_token
from noface.git.remote import find_remote
from noface.model.finding import Finding
from noface.process.installation import bringing
from noface.ui.doctor import Point, State

if TYPE_CHECKING:
    from noface.config.sections import Config
    from noface.forge.rest import Client
    from noface.git.remote import Remote
    from noface.git.repository import Repository

_NOT_FOUND, _FORBIDDEN = 404, 403
_MAY_WRITE = ("push", "maintain", "admin")


def place_of(repository: "Repository", config: "Config") -> Location:
    """Return where a repository is on GitHub. Raises UsageError where that cannot be told, with what to do."""
    remote = find_remote(repository, config.landing.remote)
    if remote is None and not config.github.repository:
        raise UsageError(
            "this repository has no git remote, so it is not known where it is on GitHub",
            "Add it: git remote add origin git@github.com:OWNER/NAME.git. A new one: gh repo create --source . --push.",
        )
    return located(remote.url if remote is not None else "", config.github.repository, config.github.url)


def github_checks(repository: "Repository", config: "Config") -> Iterator[Point]:
    """Yield how far GitHub is ready for what is wanted, each with what to do where it is not."""
    here = tuple(_here(repository, config))
    yield from here
    if all(each.state is State.OK for each in here):
        from noface.forge.opened import opened

        with closing(opened(place_of(repository, config)).client) as client:
            try:
                yield from _answers(client, config)
            except ForgeAwayError as error:
                yield Point("login", State.NOTE, f"GitHub did not answer: {error.message}", "Try again: noface doctor")
            except ForgeError as error:
                yield Point("login", State.BAD, error.message, error.hint)


def github_findings(repository: "Repository", config: "Config") -> Iterator[Finding]:
    """Yield what `noface run` would refuse before it asks GitHub anything: no library, no place, no token."""
    for each in _here(repository, config):
        if each.state is State.BAD:
            yield Finding("", each.text, each.fix, each.exit_code)


def _here(repository: "Repository", config: "Config") -> Iterator[Point]:
    if find_spec("requests") is not None:
        yield Point("requests", State.OK, "is installed")
    else:
        text = "the library that speaks to GitHub is not installed"
        yield Point("requests", State.BAD, text, bringing("github"), EXIT_USAGE)
    name = "GitHub"
    try:
        location = place_of(repository, config)
        yield Point(name, State.OK, f"{location.repository} on {location.host}")
        name = "token"
        yield Point(name, State.OK, f"from {find_token(location).source}")
    except UsageError as error:
        yield Point(name, State.BAD, error.message, error.hint, EXIT_USAGE)


def _found(client: "Client", path: str, refused: int = _NOT_FOUND) -> dict[str, Any] | None:
    from noface.forge.parse import table
    from noface.forge.rest import RefusedError

    try:
        return dict(table(client.get(path).body))
    except RefusedError as error:
        if error.status != refused:
            raise
        return None


def _answers(client: "Client", config: "Config") -> Iterator[Point]:
    user, name = _found(client, "/user", _FORBIDDEN), client.location.repository
    whose = f"the token belongs to {user.get('login')}" if user else "a workflow's or an app's token"
    yield Point("login", State.OK, whose)
    there = _found(client, client.repo())
    if there is None:
        fix = "Give the token access to it, or correct [github] repository."
        yield Point("access", State.BAD, f"{name} is not there, or this token does not see it", fix)
        return
    allowed = there.get("permissions")
    if isinstance(allowed, dict) and allowed and not any(allowed.get(word) for word in _MAY_WRITE):
        fix = "Ask its owner for write access, or work in a fork."
        yield Point("access", State.BAD, f"who has this token may read {name}, not write to it", fix)
    else:
        yield Point("access", State.OK, f"may write to {name}; what the token itself allows shows when it is used")
    if there.get("archived"):
        yield Point("access", State.BAD, f"{name} is archived: nothing can be written to it", "Take it out of there.")
    issues = config.tracker.kind == "github"
    if issues and there.get("has_issues") is False:
        on = f"Switch them on: https://{client.location.host}/{name}/settings"
        yield Point("issues", State.BAD, f"issues are switched off in {name}", on)
    if issues and (label := config.tracker.label):
        if _found(client, client.repo("labels", label)) is not None:
            yield Point("label", State.OK, f"{label} is there")
        else:
            make = f"Make it, and give it to issues: gh label create {label!r}, or on the page of labels."
            yield Point("label", State.BAD, f"there is no label {label} yet, so no issue can have it", make)


def make_label(location: Location, label: str) -> bool:
    """Make the label that says which issues are worked on; False if it was there. Raises NofaceError."""
    from noface.forge.opened import opened

    with closing(opened(location).client) as client:
        if _found(client, client.repo("labels", label)) is not None:
            return False
        fields = {"name": label, "color": "0e8a16", "description": "noface may work on it"}
        client.post(client.repo("labels"), fields)
        return True


def remote_checks(repository: "Repository", config: "Config") -> Iterator[Point]:
    """Yield whether the remote has main, and whether a push would be let in. Sends nothing but questions."""
    token = TokenOfHost()
    with suppress(UsageError):
        token.location = place_of(repository, config)
    try:
        remote = find_remote(repository, config.landing.remote, token)
        there = remote.read(remote.main)[0].get(remote.main) if remote is not None else None
    except UsageError as error:
        yield Point("remote", State.BAD, error.message, error.hint, EXIT_USAGE)
        return
    except RemoteError as error:
        yield Point("remote", State.NOTE if error.passing else State.BAD, error.message, error.hint)
        return
    if remote is None:
        return
    if there is None:
        fix = f"Push it once yourself: git push -u {remote.name} {repository.main_name}"
        yield Point("remote", State.BAD, f"{remote.main_name} is not there", fix)
        return
    yield Point("remote", State.OK, f"{remote.main_name} is there ({remote.address})")
    if config.landing.by_pull_request or config.landing.push:
        yield _push(repository, remote)


def _push(repository: "Repository", remote: "Remote") -> Point:
    commit = repository.git().run("rev-parse", "--verify", "--quiet", repository.main).text
    try:
        answer = remote.push(commit, "refs/heads/noface/doctor", "", dry_run=True)
    except RemoteError as error:
        return Point("push", State.NOTE if error.passing else State.BAD, error.message, error.hint)
    if answer is not None and not answer.moved:
        return Point("push", State.BAD, f"{remote.name} takes no push: {answer.reason.line}", answer.reason.advice)
    return Point("push", State.OK, f"{remote.name} lets in pushes (--dry-run; its rules show when one is made)")
