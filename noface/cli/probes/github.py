"""Whether what noface needs of GitHub is there: library, remote, token, login, permissions, label. Reads only.

`noface init --github` and `noface doctor` show it; nothing here is ever the token itself. GitHub is asked at most a few
times, and an answer that does not come is a note: one can set up a project without a network.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from noface.cli.connections import talks_to_github
from noface.data.trackers import TRACKERS
from noface.errors import EXIT_USAGE, ForgeAwayError, ForgeError, RemoteError, UsageError
from noface.forge.location import Location, located
from noface.forge.token import Token, find_token
from noface.git.remote import Push, Rejected, find_remote
from noface.model.finding import Finding
from noface.process.installation import installation
from noface.ui.doctor import Point, State
from noface.ui.text import count

if TYPE_CHECKING:
    from noface.config.sections import Config
    from noface.forge.rest import Client
    from noface.git.command import Git
    from noface.git.remote import Remote
    from noface.git.remote import Token as GitToken
    from noface.git.repository import Repository

_NOT_FOUND, _FORBIDDEN = 404, 403
_MAY_WRITE = ("push", "maintain", "admin")


@dataclass(frozen=True, slots=True)
class GithubNeeds:
    """What the configuration wants of GitHub: the keys of [landing], [github] and [tracker] that say so.

    `label` is "" where issues do not come from GitHub, or by no label.
    """

    remote: str = ""
    repository: str = ""
    url: str = ""
    label: str = ""
    issues: bool = True
    pushes: bool = True
    pull_requests: bool = True

    @property
    def github(self) -> bool:
        """True if GitHub is asked, and not only a remote pushed to."""
        return self.issues or self.pull_requests


@dataclass(frozen=True, slots=True)
class Place:
    """A repository on GitHub, and the name of the git remote that says so, "" where [github] alone tells it."""

    location: Location
    remote: str = ""


def place_of(repository: "Repository", wanted: GithubNeeds) -> Place:
    """Return where a repository is on GitHub. Raises UsageError where that cannot be told, with what to do."""
    remote = find_remote(repository, wanted.remote)
    if remote is None and not wanted.repository:
        raise UsageError(
            "this repository has no git remote, so it is not known where it is on GitHub",
            "Add it: git remote add origin git@github.com:OWNER/NAME.git. A new one: gh repo create --source . --push.",
        )
    location = located(remote.url if remote is not None else "", wanted.repository, wanted.url)
    return Place(location, remote.name if remote is not None else "")


def wanted_of(config: "Config") -> GithubNeeds | None:
    """Return what a configuration wants of GitHub or of the remote; None if all stays on this machine."""
    landing, tracker, github = config.landing, config.tracker, config.github
    asks = landing.by_pull_request
    if not (talks_to_github(config) or landing.push):
        return None
    issues = TRACKERS[tracker.kind].remote
    return GithubNeeds(landing.remote, github.repository, github.url, tracker.label, issues, asks or landing.push, asks)


def github_checks(repository: "Repository", wanted: GithubNeeds) -> tuple[Point, ...]:
    """Return how far GitHub is ready for what is wanted, each with what to do where it is not."""
    here, place, token = _here(repository, wanted)
    if place is None or token is None or any(each.state is State.BAD for each in here):
        return here
    return (*here, *_answers(place.location, token, wanted))


def github_findings(repository: "Repository", wanted: GithubNeeds) -> Iterator[Finding]:
    """Yield what `noface run` would refuse before it asks GitHub anything: no library, no place, no token."""
    for each in _here(repository, wanted)[0]:
        if each.state is State.BAD:
            yield Finding("", each.text, each.fix, each.exit_code)


def _here(repository: "Repository", wanted: GithubNeeds) -> tuple[tuple[Point, ...], Place | None, Token | None]:
    """Return what this machine alone can tell, with the place and the token if they are known."""
    library = _library()
    try:
        place = place_of(repository, wanted)
    except UsageError as error:
        return (library, Point("GitHub", State.BAD, error.message, error.hint, EXIT_USAGE)), None, None
    by = f" (remote {place.remote})" if place.remote else ""
    where = Point("GitHub", State.OK, f"{place.location.repository} on {place.location.host}{by}")
    try:
        token = find_token(place.location)
    except UsageError as error:
        return (library, where, Point("token", State.BAD, error.message, error.hint, EXIT_USAGE)), place, None
    return (library, where, Point("token", State.OK, f"from {token.source}")), place, token


def client_for(location: Location, token: Token) -> "Client":
    """Return a client that asks once: a person waits for the answer."""
    from noface.forge.rest import Client
    from noface.process.clock import Clock

    return Client(location, token, Clock())


def _library() -> Point:
    if find_spec("requests") is not None:
        return Point("requests", State.OK, "is installed")
    return Point(
        "requests",
        State.BAD,
        "the library that speaks to GitHub is not installed",
        installation().bringing("github"),
        EXIT_USAGE,
    )


def _answers(location: Location, token: Token, wanted: GithubNeeds) -> Iterator[Point]:
    """Ask GitHub who we are, what we may, and what is there."""
    client = client_for(location, token)
    try:
        yield _login(client)
        yield from _repository(client, wanted)
        if wanted.issues and wanted.label:
            yield _label(client, wanted.label)
    except ForgeAwayError as error:
        yield Point("login", State.NOTE, f"GitHub did not answer: {error.message}", "Try again: noface doctor")
    except ForgeError as error:
        yield Point("login", State.BAD, error.message, error.hint)
    finally:
        client.close()


def _login(client: "Client") -> Point:
    from noface.forge.parse import text
    from noface.forge.rest import RefusedError

    try:
        login = text(client.get("/user").body, "login")
    except RefusedError as error:
        if error.status != _FORBIDDEN:
            raise
        return Point("login", State.OK, "a workflow's or an app's token, which belongs to no person")
    return Point("login", State.OK, f"the token belongs to {login}")


def _repository(client: "Client", wanted: GithubNeeds) -> Iterator[Point]:
    from noface.forge.parse import table
    from noface.forge.rest import RefusedError

    name = client.location.repository
    try:
        there = table(client.get(client.repo()).body)
    except RefusedError as error:
        if error.status != _NOT_FOUND:
            raise
        yield Point(
            "access",
            State.BAD,
            f"{name} is not there, or this token does not see it",
            "Give the token access to it, or correct [github] repository.",
        )
        return
    allowed = table(there, "permissions")
    if allowed and not any(allowed.get(word) for word in _MAY_WRITE):
        advice = "Ask its owner for write access, or work in a fork."
        yield Point("access", State.BAD, f"who has this token may read {name}, not write to it", advice)
    else:
        yield Point("access", State.OK, f"may write to {name}; what the token itself allows shows when it is used")
    if there.get("archived"):
        yield Point("access", State.BAD, f"{name} is archived: nothing can be written to it", "Take it out of there.")
    if wanted.issues and there.get("has_issues") is False:
        on = f"Switch them on: https://{client.location.host}/{name}/settings"
        yield Point("issues", State.BAD, f"issues are switched off in {name}", on)


def _label(client: "Client", label: str) -> Point:
    from noface.forge.rest import RefusedError

    try:
        client.get(client.repo("labels", label))
    except RefusedError as error:
        if error.status != _NOT_FOUND:
            raise
        make = f"Make it, and give it to issues: gh label create {label!r}, or on the page of labels."
        return Point("label", State.BAD, f"there is no label {label} yet, so no issue can have it", make)
    return Point("label", State.OK, f"{label} is there")


def make_label(location: Location, label: str) -> bool:
    """Make the label that says which issues are worked on; False if it was there. Raises NofaceError."""
    from noface.forge.rest import RefusedError

    client = client_for(location, find_token(location))
    try:
        client.get(client.repo("labels", label))
    except RefusedError as error:
        if error.status != _NOT_FOUND:
            raise
        fields = {"name": label, "color": "0e8a16", "description": "noface may work on it"}
        client.post(client.repo("labels"), fields)
        return True
    finally:
        client.close()
    return False


def remote_checks(repository: "Repository", wanted: GithubNeeds) -> Iterator[Point]:
    """Yield how main stands against the remote's, and whether a push would be let in. Sends nothing but questions."""
    try:
        remote = find_remote(repository, wanted.remote, _token_of(repository, wanted))
    except UsageError as error:
        yield Point("remote", State.BAD, error.message, error.hint, EXIT_USAGE)
        return
    if remote is None:
        return
    try:
        there = remote.read(remote.main).refs.get(remote.main)
    except RemoteError as error:
        yield Point("remote", State.NOTE if error.passing else State.BAD, error.message, error.hint)
        return
    if there is None:
        advice = f"Push it once yourself: git push -u {remote.name} {repository.main_name}"
        yield Point("remote", State.BAD, f"{remote.main_name} is not there", advice)
        return
    yield _stand(repository, remote, there)
    if wanted.pushes:
        yield _push(repository, remote)


def _token_of(repository: "Repository", wanted: GithubNeeds) -> "GitToken | None":
    """Return what gives git the token for GitHub if the person's own credentials are refused."""
    try:
        location = place_of(repository, wanted).location
        token = find_token(location).value
    except UsageError:
        return None
    return lambda host: token if host == location.host.partition(":")[0] else None


def _stand(repository: "Repository", remote: "Remote", there: str) -> Point:
    git, name = repository.git(), remote.main_name
    main = git.run("rev-parse", "--verify", "--quiet", repository.main).text
    if main == there:
        return Point("remote", State.OK, f"main is {name} ({remote.address})")
    if git.run("cat-file", "-e", f"{there}^{{commit}}").code != 0:
        return Point("remote", State.OK, f"{name} has commits that are not here yet; the next run fetches them")
    ahead, behind = (_count(git, each) for each in (f"{there}..{main}", f"{main}..{there}"))
    words = ((ahead, "ahead of"), (behind, "behind"))
    distance = " and ".join(f"{count(number, 'commit')} {word} {name}" for number, word in words if number)
    if not ahead:
        return Point("remote", State.OK, f"main is {distance}; work starts from {name}")
    advice = f"Push them, if work is to build on them: git push {remote.name} {repository.main_name}"
    return Point("remote", State.NOTE, f"main is {distance}: noface does not push these commits", advice)


def _count(git: "Git", span: str) -> int:
    return int(git.run("rev-list", "--count", span).text or 0)


def _push(repository: "Repository", remote: "Remote") -> Point:
    """Rehearse a push of a commit that the remote has, to a branch that it has not."""
    ref = "refs/heads/noface/doctor"
    commit = repository.git().run("rev-parse", "--verify", "--quiet", repository.main).text
    try:
        answer = remote.rehearse(Push(ref, commit, ""))
    except RemoteError as error:
        return Point("push", State.NOTE if error.passing else State.BAD, error.message, error.hint)
    if isinstance(answer, Rejected) and not answer.moved:
        return Point("push", State.BAD, f"{remote.name} takes no push: {answer.reason.line}", answer.reason.advice)
    return Point("push", State.OK, f"{remote.name} lets in pushes (--dry-run; its rules show when one is made)")
