"""How main stands to the remote's main, and what a run does about it. Pure.

    mode            same    ahead              behind                    diverged    remote unreachable
    merge           –       told               gated, then main follows  stops       told, goes on
    merge and push  –       stops              gated, then main follows  stops       told, goes on from what was fetched
    pull request    –       told               –                         told        told, goes on from what was fetched

With pushes and pull requests work starts from the remote's main and is proven on it: what only main has would be
published by accident. So a push stops where main is ahead, and pull requests leave such commits out. Main itself moves
by pushes and merges only to commits that contain it, and with pull requests not at all.
"""

from dataclasses import dataclass
from enum import Enum, auto

from noface.errors import DivergedError, NofaceError, UnpushedError, UsageError


class LandingMode(Enum):
    """How work leaves noface: onto main here, the same pushed at once, or as pull requests."""

    MERGE = auto()
    PUSH = auto()
    PULL_REQUEST = auto()


Apart = tuple[int, int]
"""How many commits main has that the remote's main lacks, and the other way round."""


@dataclass(frozen=True, slots=True)
class RemoteMain:
    """What asking the remote led to, in names as people write them; `apart` is None if nothing was ever fetched.

    `away` says why it could not be asked. `lacks`: it has no such branch; `head` is the one it calls its default then.
    """

    main: str
    remote: str
    remote_main: str
    apart: Apart | None = None
    away: str = ""
    hint: str = ""
    lacks: bool = False
    head: str = ""


@dataclass(frozen=True, slots=True)
class StartPlan:
    """How the run goes on. `fetched`: from the remote's main; `follows`: main moves there once it is green."""

    fetched: bool = False
    follows: bool = False
    notices: tuple[tuple[str, str], ...] = ()


def course(seen: RemoteMain | None, mode: LandingMode) -> StartPlan | NofaceError:
    """Return how the run goes on, or the error that ends it before any work. `seen` is None without a remote."""
    if seen is None:
        return StartPlan() if mode is LandingMode.MERGE else _no_remote(mode)
    if seen.lacks:
        return _lacking(seen, mode)
    notices = (("unreachable", f"{seen.away}; the run goes on with what is here"),) if seen.away else ()
    if seen.apart is None:
        if mode is LandingMode.MERGE:
            return StartPlan(notices=notices)
        return UsageError(f"{seen.away}. Nothing was ever fetched of it, so there is nothing to start from.", seen.hint)
    if seen.away and mode is LandingMode.MERGE:
        return StartPlan(notices=notices)
    return _standing(seen, seen.apart, mode, notices)


def _standing(
    seen: RemoteMain, apart: Apart, mode: LandingMode, notices: tuple[tuple[str, str], ...]
) -> StartPlan | NofaceError:
    ours, theirs = apart
    ahead = f"{seen.main} has {_commits(ours)} that {seen.remote_main} lacks"
    match mode:
        case LandingMode.PULL_REQUEST:
            without = ("ahead", f"{ahead}; they are in no pull request, and noface does not push them")
            return StartPlan(fetched=True, notices=(*notices, without) if ours else notices)
        case _ if ours and theirs:
            return DivergedError(
                f"{seen.main} and {seen.remote_main} went different ways: {seen.main} has {_commits(ours)} that"
                f" {seen.remote_main} lacks, and lacks {_commits(theirs)} of it.",
                f"Bring them together: `git pull --rebase {seen.remote} {seen.remote_main.partition('/')[2]}`, or"
                " merge. Nothing was started.",
            )
        case LandingMode.PUSH if ours:
            return UnpushedError(
                f"{ahead}: the push of a landing would take them along.",
                f"Push them yourself where they should be there: `git push {seen.remote} {seen.main}`. Or move them"
                f" aside: `git branch mine && git reset --keep {seen.remote_main}` after a `git fetch`.",
            )
        case LandingMode.PUSH | LandingMode.MERGE:
            behind = f"{seen.remote_main} has {_commits(theirs)} that {seen.main} lacks"
            if theirs:
                notices = (*notices, ("behind", f"{behind}: its gates run first, then {seen.main} follows"))
            elif ours:
                notices = (*notices, ("ahead", f"{ahead}; noface pushes nothing"))
            follows = theirs > 0
            return StartPlan(fetched=mode is LandingMode.PUSH or follows, follows=follows, notices=notices)


def _lacking(seen: RemoteMain, mode: LandingMode) -> StartPlan | NofaceError:
    branch = seen.remote_main.partition("/")[2]
    default = f"; its default branch is {seen.head}" if seen.head and seen.head != branch else ""
    text = f"{seen.remote} has no branch {branch}{default}"
    if mode is LandingMode.MERGE:
        return StartPlan(notices=(("missing", f"{text}; noface works on {seen.main} as it is here"),))
    track = (
        f" Or say which it is: `git branch --set-upstream-to={seen.remote}/{seen.head} {seen.main}`." if default else ""
    )
    return UsageError(
        f"{text}: there is nothing to start from.", f"Push it once: `git push -u {seen.remote} {seen.main}`.{track}"
    )


def _no_remote(mode: LandingMode) -> UsageError:
    key = 'how = "pull-request"' if mode is LandingMode.PULL_REQUEST else "push = true"
    return UsageError(
        f"[landing] {key} needs a git remote, and there is none, or several of which none is called origin.",
        "Add it: `git remote add origin URL`. Or name it: `noface config set landing.remote NAME`.",
    )


def _commits(number: int) -> str:
    return "1 commit" if number == 1 else f"{number} commits"
