"""Looks at one pull request, in a thread of its own that writes no state: it returns a decision with its evidence."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from noface.config.place_sections import Landing
from noface.diagnosis.check import cause_of, check_failure, review_failure, together
from noface.diagnosis.scan import ProjectRules
from noface.errors import ForgeAwayError, ForgeError, GitError
from noface.forge.github import Forge
from noface.gates.run import log_names
from noface.git.plumbing import Plumbing
from noface.git.refs import hold_ref
from noface.git.remote import Remote
from noface.model.failure import Failure
from noface.model.gate import GateSpec
from noface.model.pull_request import Check, CheckState, PullRequest, PullReview, PullState
from noface.process.command import Canceller
from noface.recovery.pull_answers import Reply
from noface.recovery.pull_rounds import (
    TAKEN,
    CommittedThere,
    Decision,
    Followed,
    Look,
    Merged,
    PullSeen,
    RoundDue,
    StillOpen,
    TakenByPerson,
    WaitsFor,
    check_key,
    decide,
)
from noface.recovery.review_words import first_words, points_text, unheard, without_talk, words_of
from noface.remote.web_commits import committed_there
from noface.secrets.masked_records import masked_record
from noface.secrets.masking import Masker

_LOG_CHARS_MAX = 8_000_000
_MARKER = "<!-- noface:rounds -->"


@dataclass(frozen=True, slots=True)
class PullReader:
    """What a look needs."""

    forge: Forge
    plumbing: Plumbing
    rules: Landing
    masker: Masker
    remote: Remote | None = None
    cancel: Canceller | None = None
    gate_rules: ProjectRules | None = None
    login: str = ""


@dataclass(frozen=True, slots=True)
class PullSnapshot:
    """What a look came to: `failure` is what a round answers, `look` spares the next; `refused`: it was not shown."""

    followed: Followed
    look: Look
    decision: Decision
    seen: PullSeen
    failure: Failure | None = None
    refused: bool = False


def unreadable(followed: Followed, why: str) -> PullSnapshot:
    stays = PullRequest(followed.number, followed.url, PullState.OPEN, followed.branch, followed.head)
    waits = StillOpen(WaitsFor.PERSON, f"pull request #{followed.number} cannot be read: {why}")
    return PullSnapshot(followed, Look(stays), waits, followed.seen, refused=True)


def look_at(eyes: PullReader, followed: Followed, before: Look | None, now: float, logs: Path) -> PullSnapshot:
    """Look at a pull request; `before` is the last look, `logs` the folder for logs. Raises ForgeError."""
    look = _look(eyes, followed, before)
    for review in unheard(look.reviews, followed.seen.answered):
        eyes.forge.see(review)
    followed = replace(followed, seen=followed.seen.with_head(followed.head, now))
    decision = decide(followed, look, eyes.rules.rounds, eyes.rules.follow_checks, now)
    failure: Failure | None = None
    if isinstance(decision, RoundDue):
        failures = _failures(eyes, decision.checks, look, logs)
        outside = {
            check_key(check, followed.head): cause_of(each)
            for check, each in zip(decision.checks, failures, strict=True)
            if not each.charged
        }
        if outside:
            followed = replace(followed, seen=replace(followed.seen, outside={**followed.seen.outside, **outside}))
            decision = decide(followed, look, eyes.rules.rounds, eyes.rules.follow_checks, now)
        if isinstance(decision, RoundDue):
            charged = [each for each in failures if each.charged]
            reviews = decision.reviews
            who = tuple(dict.fromkeys(review.author for review in reviews))
            words = (first_words(reviews), points_text(reviews))
            asked = review_failure(who, *words, asks_only=decision.asks_only) if reviews else None
            failure = masked_record(together(charged, asked), eyes.masker)
            for review in decision.reviews:
                if not words_of(review):  # it was seen above
                    eyes.forge.see(review)
    if isinstance(decision, Merged):
        decision = _fetched(eyes, decision)
    if isinstance(decision, TakenByPerson):
        decision = _whose(eyes, followed, decision)
    return PullSnapshot(followed, look, decision, followed.seen, failure)


def _whose(eyes: PullReader, followed: Followed, taken: TakenByPerson) -> TakenByPerson | CommittedThere | StillOpen:
    """Tell a person's push from what people commit by the forge's pages; that is known once the commit is here."""
    number = followed.number
    try:
        if eyes.remote is not None:
            eyes.remote.fetch_main(eyes.cancel)
            held = hold_ref(followed.issue_id, TAKEN)
            eyes.remote.fetch(f"+refs/heads/{followed.branch}:{held}", cancel=eyes.cancel)
    except GitError as error:
        why = f"what was committed to pull request #{number} cannot be fetched yet: {error}"
        return StillOpen(WaitsFor.CHECKS, why)
    plumbing, old = eyes.plumbing, followed.pushed or followed.head
    if committed_there(plumbing, old, taken.head, plumbing.main(), followed.url):
        return CommittedThere(taken.head, f"what was committed on pull request #{number} is proven ({taken.head[:12]})")
    return taken


def _look(eyes: PullReader, followed: Followed, before: Look | None) -> Look:
    """Ask the forge what it shows; what is as it was costs nothing of its limit."""
    pull = eyes.forge.read(followed.number)
    unchanged = before.unchanged + 1 if before is not None and before.pull == pull else 0
    look = Look(pull, main=eyes.plumbing.main(), login=eyes.login, unchanged=unchanged)
    if pull.state is PullState.MERGED:
        return look
    look = replace(look, reviews=_reviews(eyes, followed.number))
    if pull.state is not PullState.OPEN or pull.head != followed.head:
        return look
    checks = eyes.forge.checks(pull.head)
    red = any(check.state is CheckState.FAILED for check in checks)
    return replace(look, checks=checks, on_base=eyes.forge.checks(followed.base) if red else ())


def _reviews(eyes: PullReader, number: int) -> tuple[PullReview, ...]:
    mask = eyes.masker.text
    reviews = (without_talk(review, eyes.login) for review in eyes.forge.reviews(number))
    return tuple(
        replace(
            review,
            text=mask(review.text),
            comments=tuple(replace(comment, text=mask(comment.text)) for comment in review.comments),
        )
        for review in reviews
    )


def _failures(eyes: PullReader, checks: tuple[Check, ...], look: Look, logs: Path) -> list[Failure]:
    if not checks:
        return []
    files = eyes.plumbing.paths(look.pull.head)
    green = {check.name for check in look.on_base if check.state is CheckState.PASSED}
    failures = []
    for check in checks:
        log, why = _log(eyes, check)
        if log:
            logs.mkdir(parents=True, exist_ok=True)
            stdout, _ = log_names(GateSpec(check.name, ""))
            (logs / stdout).write_text(log, errors="replace")
        failure = check_failure(check, log, why, files, eyes.gate_rules, passed_on_base=check.name in green)
        failures.append(masked_record(failure, eyes.masker))
    return failures


def _log(eyes: PullReader, check: Check) -> tuple[str, str]:
    try:
        return eyes.masker.text(eyes.forge.log(check)[-_LOG_CHARS_MAX:]), ""
    except ForgeAwayError:
        raise
    except ForgeError as error:
        return "", eyes.masker.text(str(error))


def _fetched(eyes: PullReader, merged: Merged) -> Merged | StillOpen:
    """Take a merge for one once the fetched main holds it: what comes after builds on that."""
    missing = StillOpen(WaitsFor.MERGE, f"{merged.reason}; main as it was fetched does not hold that yet")
    try:
        if eyes.remote is not None:
            eyes.remote.fetch_main(eyes.cancel)
        plumbing = eyes.plumbing
        held = bool(merged.commit) and plumbing.resolve(merged.commit) is not None
        return merged if held and plumbing.is_ancestor(merged.commit, plumbing.main()) else missing
    except GitError as error:
        return replace(missing, reason=f"{missing.reason} ({error})")


def say(eyes: PullReader, followed: Followed, text: str, replies: Iterable[Reply], reviewers: tuple[str, ...]) -> None:
    """Say on a pull request what its newest round is for, in one comment that is edited in place, and answer people."""
    try:
        for thread, marker, words in replies:
            if thread:
                eyes.forge.reply(followed.number, thread, marker, words)
            else:
                eyes.forge.comment(followed.number, marker, words)
        eyes.forge.ask_again(followed.number, reviewers)
        if text:
            eyes.forge.comment(followed.number, _MARKER, f"{text}\n")
    except ForgeAwayError:
        raise
    except ForgeError:
        return  # the token may not comment: what noface pushes tells as much
