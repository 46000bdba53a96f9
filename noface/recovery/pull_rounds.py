"""What becomes of an open pull request: it is waited for, answered, or a person is asked. Pure.

The rules, in order; the first that applies wins.

1. Merged, by whomever: the issue has landed. Closed without a merge: a person is asked.
2. Its head is a commit that noface did not push: a person owns the branch, until they retry the issue. What people
   commit by the forge's own pages goes on as part of the work, and is gated again.
3. Checks that have not ended are waited for, so that one round answers all; after `follow_checks` those that have.
4. Checks that failed, and what reviewers who may decide ask for, each once: a round. Not a worker's are checks that
   are red on the base as well, and those that failed for a cause outside the work. Rounds that are used up: a person.
5. Red checks that are no worker's, cancelled ones, and those that ask for somebody: they wait for a person.
6. It conflicts with its base, which has moved: it is proven again on the new one. That is no round.
7. Else it waits for a review, or, approved, for its merge.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from noface.model.markdown import plain
from noface.model.pull_request import Check, CheckState, PullRequest, PullReview, PullState
from noface.model.quoting import some
from noface.recovery.polling import LONGEST_S, Pace
from noface.recovery.review_words import approved, asking, labelled, only_asks, review_key

CHECKS_BEGIN_S = 90.0
"""How long after a push checks may take to appear; a pull request without any then has none."""

_NAMES_MAX = 4
_SELDOM_S = 2 * LONGEST_S


TAKEN = "taken"
"""Below an issue's refs, what a person has pushed to the branch of its pull request."""


class WaitsFor(StrEnum):
    """What an open pull request waits for."""

    CHECKS = "checks"
    REVIEW = "review"
    MERGE = "merge"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class PullSeen:
    """What noface has seen of a pull request and answered; it is kept with its row. Times are epoch seconds.

    `heads` are noface's own commits; `answered_head` and `answered` (reviews) need no other answer. `outside` are
    failed checks, by `check_key`, with a cause that is no worker's. `answering` is what the last round was for: an
    attempt after `answered_by` answers it, in `points` (label, thread or 0, path, author). `refused` are comments, by
    `review_key`.
    """

    heads: tuple[str, ...] = ()
    since: float = 0.0
    changed_at: float = 0.0
    taken: str = ""
    answered_head: str = ""
    answered: tuple[str, ...] = ()
    outside: Mapping[str, str] = field(default_factory=dict)
    failed: tuple[tuple[str, str], ...] = ()
    waits_for: str = ""
    told: str = ""
    said: str = ""
    answering: str = ""
    answered_by: int = 0
    points: tuple[tuple[str, int, str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()

    def with_head(self, head: str, now: float) -> "PullSeen":
        if head in self.heads[-1:]:
            return self
        return replace(self, heads=(*(old for old in self.heads if old != head), head), since=now, changed_at=now)


@dataclass(frozen=True, slots=True)
class Followed:
    """A pull request as noface's records have it: head and base of its proof, rounds of this epoch, its `attempt`.

    `pushed` is what noface last knew its own there, `checks` how checks stood, by `standing`.
    """

    issue_id: str
    number: int
    head: str
    base: str
    rounds: int
    seen: PullSeen
    branch: str = ""
    url: str = ""
    attempt: int = 0
    state: str = "open"
    pushed: str = ""
    checks: str = ""

    @property
    def open(self) -> bool:
        return self.state not in ("closed", "merged")


@dataclass(frozen=True, slots=True)
class Look:
    """A pull request as the forge shows it now: checks of head and base, the base as it was last fetched (`main`).

    `login` is noface's own; `unchanged` counts the looks since the pull request itself last changed.
    """

    pull: PullRequest
    checks: tuple[Check, ...] = ()
    reviews: tuple[PullReview, ...] = ()
    on_base: tuple[Check, ...] = ()
    main: str = ""
    login: str = ""
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class StillOpen:
    """Nothing is to be done but to look again."""

    waits_for: WaitsFor
    reason: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The forge has merged it, as `commit` of the base branch."""

    commit: str
    reason: str


@dataclass(frozen=True, slots=True)
class ClosedUnmerged:
    """Somebody closed it without a merge, `by` "" if that is not known."""

    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class TakenByPerson:
    """A person has pushed `head` to its branch."""

    head: str
    reason: str


@dataclass(frozen=True, slots=True)
class CommittedThere:
    """People have committed `head` to its branch by the forge's own pages."""

    head: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outdated:
    """It conflicts with its base, which has moved: it is to be proven on the new one."""

    reason: str


@dataclass(frozen=True, slots=True)
class RoundDue:
    """What is to be answered. `allowed` is False if the rounds are used up and a person is to be asked instead."""

    checks: tuple[Check, ...]
    reviews: tuple[PullReview, ...]
    reason: str
    allowed: bool = True

    @property
    def asks_only(self) -> bool:
        return not self.checks and all(map(only_asks, self.reviews))


Decision = StillOpen | Merged | ClosedUnmerged | TakenByPerson | CommittedThere | Outdated | RoundDue


def pace_of(followed: Followed, everything: Collection[Followed], poll_s: float) -> Pace:
    """Return how often to look: soon and then seldom while checks run, else only seldom; many share one's looks."""
    busy = _is_busy(followed)
    many = sum(_is_busy(other) is busy for other in everything)
    return Pace(poll_s).shared(many) if busy else Pace(max(poll_s, _SELDOM_S), max(poll_s, _SELDOM_S)).shared(many)


def _is_busy(followed: Followed) -> bool:
    return followed.state == "open" and followed.seen.waits_for in ("", WaitsFor.CHECKS)


def decide(followed: Followed, look: Look, rounds: int, follow_checks_s: float, now: float) -> Decision:
    """Decide what becomes of a pull request. Total; `now` is epoch seconds. The limits are those of `[landing]`."""
    pull = look.pull
    if pull.state is PullState.MERGED:
        return Merged(pull.merge_commit, f"pull request #{pull.number} was merged as {pull.merge_commit[:12]}")
    if pull.state is PullState.CLOSED:
        who = f" by {pull.closed_by}" if pull.closed_by else ""
        return ClosedUnmerged(pull.closed_by, f"pull request #{pull.number} was closed{who} without a merge")
    if pull.head != followed.head:
        if pull.head in (*followed.seen.heads, followed.pushed):
            return StillOpen(WaitsFor.CHECKS, f"the newest push has not reached pull request #{pull.number} yet")
        whose = f"a person has pushed to {pull.branch} ({pull.head[:12]}) and owns it; a retry goes on from there"
        return TakenByPerson(pull.head, whose)
    if (running := _running(followed, look, follow_checks_s, now)) is not None:
        return running
    due = _due(followed, look, rounds)
    return due if due is not None else _waiting(followed, look)


def of_another(decision: Decision) -> Decision:
    """Return what becomes of a pull request of which nothing tells what noface has pushed there: it is only watched."""
    match decision:
        case RoundDue(reason=reason) | Outdated(reason=reason):
            return StillOpen(WaitsFor.PERSON, f"{reason}: what noface pushed there is unknown; a retry begins anew")
        case _:
            return decision


def _running(followed: Followed, look: Look, follow_checks_s: float, now: float) -> StillOpen | None:
    since, number = followed.seen.since, look.pull.number
    if not look.checks and now < since + min(CHECKS_BEGIN_S, follow_checks_s):
        return StillOpen(WaitsFor.CHECKS, f"waits for the checks of pull request #{number} to begin")
    pending = tuple(check.name for check in look.checks if check.state is CheckState.PENDING)
    if pending and now < since + follow_checks_s:
        which = f"{len(pending)} of {len(look.checks)} checks of pull request #{number}: {some(pending, _NAMES_MAX)}"
        return StillOpen(WaitsFor.CHECKS, f"waits for {which}")
    return None


def unanswered(followed: Followed, checks: Collection[Check]) -> tuple[Check, ...]:
    if followed.seen.answered_head == followed.head:
        return ()
    known = followed.seen.outside
    return tuple(c for c in checks if c.state is CheckState.FAILED and check_key(c, followed.head) not in known)


def check_key(check: Check, head: str) -> str:
    return f"{head}:{check.id or check.name}"


def _due(followed: Followed, look: Look, most: int) -> RoundDue | None:
    red = {check.name for check in look.on_base if check.state is CheckState.FAILED}
    checks = tuple(check for check in unanswered(followed, look.checks) if check.name not in red)
    reviews = asking(look.reviews, followed.seen.answered, look.login)
    if not checks and not reviews:
        return None
    who = some(tuple(dict.fromkeys(review.author for review in reviews)), _NAMES_MAX)
    what = (_failed(checks) if checks else "", f"{who} asked for changes" if reviews else "")
    reason = f"{' and '.join(filter(None, what))} on pull request #{look.pull.number}"
    if followed.rounds >= most:
        return RoundDue(checks, reviews, f"{reason}; no round is left, [landing] rounds = {most}", allowed=False)
    return RoundDue(checks, reviews, f"{reason} (round {followed.rounds + 1} of {most})")


def _failed(checks: tuple[Check, ...]) -> str:
    return f"the check{'s' if len(checks) > 1 else ''} {some(tuple(check.name for check in checks), _NAMES_MAX)} failed"


def _waiting(followed: Followed, look: Look) -> StillOpen | Outdated:
    pull, number = look.pull, look.pull.number
    if (person := _asks_person(followed, look)) is not None:
        return person
    if pull.mergeable is False and look.main != followed.base:
        return Outdated(f"pull request #{number} conflicts with {look.main[:12]}, to which its base has moved")
    if pull.mergeable is False:
        return StillOpen(WaitsFor.PERSON, f"the forge says that pull request #{number} conflicts with its base")
    if late := tuple(check.name for check in look.checks if check.state is CheckState.PENDING):
        return StillOpen(WaitsFor.CHECKS, f"the checks of pull request #{number} take long: {some(late, _NAMES_MAX)}")
    checks = "its checks have passed" if look.checks else "it has no checks"
    if names := approved(look.reviews):
        return StillOpen(WaitsFor.MERGE, f"{checks}, {some(names, _NAMES_MAX)} approved: waits for its merge")
    return StillOpen(WaitsFor.REVIEW, f"{checks}: waits for a review or its merge")


def _asks_person(followed: Followed, look: Look) -> StillOpen | None:
    number, states = look.pull.number, (CheckState.CANCELLED, CheckState.NEEDS_PERSON)
    failed = tuple(check for check in look.checks if check.state is CheckState.FAILED)
    causes = (followed.seen.outside.get(check_key(check, followed.head)) for check in failed)
    if failed and followed.seen.answered_head == followed.head:
        why = f" on pull request #{number}"
    elif cause := next(filter(None, causes), None):
        why = f" for no fault of the work: {cause}"
    else:
        why = f", as on its base {followed.base[:12]}: nobody is charged"
    if failed:
        return StillOpen(WaitsFor.PERSON, f"{_failed(failed)}{why}")
    if asking := next((check for check in look.checks if check.state in states), None):
        word = "was cancelled: run it again" if asking.state is CheckState.CANCELLED else "waits for a person"
        return StillOpen(WaitsFor.PERSON, f"the check {some((asking.name,), 1)} of pull request #{number} {word}")
    return None


def answered(seen: PullSeen, due: RoundDue, head: str, attempt: int = 0) -> PullSeen:
    """Return `seen` with a round's checks and reviews as answered by an attempt after `attempt`."""
    keys = tuple(review_key(review) for review in due.reviews)
    failed = tuple((check.name, check.url) for check in due.checks)
    return replace(
        seen,
        answered_head=head,
        answered=tuple(dict.fromkeys(seen.answered + keys)),
        failed=failed,
        waits_for="",
        told=due.reason,
        answering=due.reason,
        answered_by=attempt,
        points=labelled(due.reviews),
    )


def still_open(seen: PullSeen, open_: StillOpen, checks: Collection[Check], now: float) -> PullSeen:
    failed = tuple((check.name, check.url) for check in checks if check.state is CheckState.FAILED)
    changed_at = seen.changed_at if seen.waits_for == open_.waits_for else now
    return replace(
        seen, failed=failed, waits_for=open_.waits_for.value, told=open_.reason, changed_at=changed_at, taken=""
    )


def standing(checks: Collection[Check]) -> str:
    """Return how checks stand, in a word: pending, failed, passed, or none."""
    states = {check.state for check in checks}
    if CheckState.PENDING in states:
        return "pending"
    if states & {CheckState.FAILED, CheckState.NEEDS_PERSON, CheckState.CANCELLED}:
        return "failed"
    return "passed" if states else "none"


def is_answered(followed: Followed) -> bool:
    """True if the pull request shows what came of its newest round."""
    seen = followed.seen
    return followed.attempt > seen.answered_by if seen.answered_by else seen.answered_head != followed.head


def round_note(followed: Followed, *, blocked: bool, working: bool) -> str:
    """Return what noface says on the pull request of its newest round, "" before the first; it is edited in place."""
    seen = followed.seen
    if not seen.answering:
        return ""
    if blocked:
        return f"noface asks a person: {plain(seen.answering)}."
    if working or not is_answered(followed):
        return f"noface works on it: {plain(seen.answering)}."
    return f"Answered by attempt {followed.attempt} with {followed.head[:12]}: {plain(seen.answering)}."
