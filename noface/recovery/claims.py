"""Who works on an issue where several machines run noface on one repository. Pure.

A claim is a ref on the remote. It is made, renewed, taken over and given back by compare-and-swap alone, so of two
machines that reach for an issue one gets it. It holds for a lease, which its run renews. Once that has ended for some
time (clocks differ), anybody may take the issue over; the token of the claim grows then, and what the earlier holder
still wants to do to the claim is refused.

Where an issue's work lies with one clone alone (in review, divided, blocked, about to land), its claim outlasts the
run.
"""

import json
import math
from dataclasses import asdict, dataclass, fields, replace

from noface.model.taxonomy import IssueStatus

UNREADABLE_S = 86_400.0
"""How long a claim that cannot be read holds after it was made: another version of noface may have made it."""
KEPT_S = 30 * 86_400.0
"""How long an issue stays claimed whose work lies with one clone: other machines know nothing of it."""
_MARGIN_SHARE = 0.5
_MARGIN_S_MIN, _MARGIN_S_MAX = 60.0, 3600.0
_AHEAD_S = 86_400.0
_CHARS_MAX = 200
_MESSAGE_CHARS_MAX = 16_384
_TOKEN_MAX = 1 << 50
_TIME_MAX = 250_000_000_000.0
"""In the year 9892: what is later has no date."""
_RENEWED_AT = 0.4
"""The share of a claim's time after which it is renewed."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim on an issue, as it stands on the remote. Times in epoch seconds, by the holder's clock.

    `holder` is one clone on one machine, whatever the run; `machine` is its name for people. `token` counts the claims
    that there were before this one. `why` says what it is held for: "" for work. `clone` is the place of the clone, the
    same if its state was lost and began anew.
    """

    issue: str
    holder: str
    machine: str
    run: str
    since: float
    until: float
    token: int = 1
    why: str = ""
    clone: str = ""

    def ended(self, now: float) -> bool:
        """True if anybody may take the issue over: the lease is over, also by a clock that is behind.

        One that begins in a future by which no clock is off holds nobody up.
        """
        if self.since > now + _AHEAD_S:
            return True
        margin = _MARGIN_SHARE * (self.until - self.since)
        return now > self.until + min(max(_MARGIN_S_MIN, margin), _MARGIN_S_MAX)


def written(claim: Claim) -> str:
    """Return a claim as the message of its commit."""
    return json.dumps(asdict(claim), sort_keys=True)


def read(message: str, issue: str, made_at: float) -> Claim:
    """Return the claim that a commit's message holds; one that cannot be read is somebody's, for a day.

    Whoever may push to the remote has written it, so nothing of it is taken on trust: no time without a date, no claim
    longer than the longest, no character that drives a terminal or that nothing can be written with.
    """
    try:
        values = json.loads(message[:_MESSAGE_CHARS_MAX])
        known = {field.name for field in fields(Claim)}
        claim = Claim(**{name: value for name, value in values.items() if name in known})
        since, until, token = _time(claim.since), _time(claim.until), int(claim.token)
        texts = {name: _text(getattr(claim, name)) for name in ("holder", "machine", "run", "why", "clone")}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        since = min(max(0.0, made_at), _TIME_MAX) if math.isfinite(made_at) else 0.0
        return Claim(issue, "", "another noface", "", since, since + UNREADABLE_S)
    until = min(until, since + KEPT_S)
    return replace(claim, issue=issue, since=since, until=until, token=token if 0 < token <= _TOKEN_MAX else 1, **texts)


def _time(value: object) -> float:
    """Return a time that has a date. Raises ValueError for another one."""
    at = float(value) if isinstance(value, int | float) else math.nan
    if not 0.0 <= at <= _TIME_MAX:
        raise ValueError(value)
    return at


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return "".join(char if char.isprintable() else " " for char in value[:_CHARS_MAX])


def obstacle(
    held: Claim | None, wanted: Claim, now: float, *, began: float = 0.0, taken_over: bool = False
) -> Claim | None:
    """Return the claim that keeps its holder from `wanted`; None if the issue is free, its own, or the lease is over.

    What outlasts runs is free, too, if a person has `taken_over` the issue here, and if this very clone held it before
    its state `began`: the one before was lost. A run that is at work keeps its claim.
    """
    if held is None or held.holder == wanted.holder or held.ended(now):
        return None
    lost = bool(held.clone) and held.clone == wanted.clone and held.since < began
    return None if held.why and (lost or taken_over) else held


_KEPT = {
    IssueStatus.REVIEW: "its pull request is open",
    IssueStatus.EPIC: "it is divided there",
    IssueStatus.BLOCKED: "it waits for a person there",
    IssueStatus.APPROVAL: "it waits for a person there",
}
_WORKED_ON = (IssueStatus.READY, IssueStatus.WAITING, IssueStatus.RUNNING, IssueStatus.LANDING)


def purpose(status: IssueStatus | None, *, ending: bool = False) -> str | None:
    """Return what an issue of this run is held for: "" for work, else why beyond the run; None if it is given back.

    `ending`: the run ends, and no work goes on.
    """
    if status in _KEPT:
        return _KEPT[status]
    if ending:
        return "its work waits to land there" if status is IssueStatus.LANDING else None
    return "" if status in _WORKED_ON else None


def change(claim: Claim, purpose: str | None, now: float, lease_s: float) -> Claim | None:
    """Return the claim as it shall stand: the same if nothing is due yet, None if it is to be given back."""
    if purpose is None:
        return None
    length = KEPT_S if purpose else lease_s
    due = claim.why != purpose or now >= claim.since + _RENEWED_AT * length
    return replace(claim, since=now, until=now + length, why=purpose) if due else claim


def successor(held: Claim | None, wanted: Claim) -> Claim:
    """Return the claim to make if another stood: with the next token."""
    return wanted if held is None else replace(wanted, token=held.token + 1)


def reason(claim: Claim, when: str) -> str:
    """Say why an issue waits for another machine; `when` is the end of the claim as people write it."""
    what = f" ({claim.why})" if claim.why else ""
    return f"claimed by {claim.machine}{what} until {when}"
