"""Names a worker's failure: evidence in, verdict out. Pure and total: no input raises.

The order of the evidence: what it hung on and who ended the run, the CLI's typed error (code, then status, then its
words), its own word that it finished, standard error of a run that never began, the exit code. An agent's prose and
diff decide nothing (law 10); only where the diff is empty its last words tell a question, a block or a refusal from
mere talk.
"""

from dataclasses import replace

from noface.diagnosis.agent_evidence import AgentError, AgentEvidence, AgentVerdict
from noface.diagnosis.agent_rules import Match, decisive, first_words, matches, rules_of, starting_rules, why_lost
from noface.diagnosis.agent_words import meaning_of
from noface.diagnosis.evidence import AlsoMatched
from noface.diagnosis.reset_times import WallClock, reset_time, retry_after
from noface.diagnosis.text import signature_of
from noface.model.failure import Failure
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import EndedBy

_LINE_MAX = 500
_EXCERPT_MAX = 2_000


def classify(evidence: AgentEvidence, clock: WallClock) -> AgentVerdict:
    """Return the verdict on one worker run; `clock` is needed for reset times such as "4:30 PM"."""
    if evidence.error is None and not evidence.finished and evidence.retrying is not None:
        waited = _by_error(evidence, evidence.retrying, clock)
        if waited.kind is not None and waited.kind.category is Category.TRANSIENT:
            return waited  # it hung on its provider: the limit that ended it only ended the wait
    if evidence.ended_by is not EndedBy.ITSELF:
        return _interrupted(evidence)
    if evidence.error is not None:
        verdict = _by_error(evidence, evidence.error, clock)
        talked = evidence.changed is False and _only_talks(evidence.agent, verdict.rule)
        return _by_words(evidence.agent, evidence.last_words, verdict) if talked else verdict
    if evidence.finished:
        if evidence.changed is False:
            return _by_words(evidence.agent, evidence.last_words, None)
        return AgentVerdict(None, "finished", f"{evidence.agent}-finished", key_line=_line(evidence.last_words))
    return _unexplained(evidence)


def without_changes(agent: str, last_words: str, error: Failure | None = None) -> Failure:
    """Return the failure of a run whose diff is empty: its error, or what its last words mean.

    An error that only says that the agent talked instead of working is no better than its words, and gives way.
    """
    if error is not None and not _only_talks(agent, error.rule):
        return error
    failure = _by_words(agent, last_words, None).failure
    assert failure is not None  # noqa: S101 - an empty diff is never a success
    return failure


def _only_talks(agent: str, rule: str) -> bool:
    return any(rule == f"{agent}-{known.name}" for known in rules_of(agent) if known.talk)


def _by_error(evidence: AgentEvidence, error: AgentError, clock: WallClock) -> AgentVerdict:
    found = matches(rules_of(evidence.agent), error)
    winner = decisive(found, error)
    line = (
        _line(error.message) or _last_told(evidence.stderr) or f"{evidence.agent} ended with an error it did not name"
    )
    if winner is None:
        return _verdict(evidence, FailureKind.AGENT_CRASH, "unknown-error", line, error)
    lost = [match for match in found if match is not winner]
    verdict = _verdict(evidence, winner.rule.kind, winner.rule.name, line, error, winner)
    also = tuple(
        AlsoMatched(f"{evidence.agent}-{match.rule.name}", match.text[:300], why_lost(match, winner)) for match in lost
    )
    transient = winner.rule.kind.category is Category.TRANSIENT
    return replace(verdict, also_matched=also, retry_at=_retry_at(error, clock) if transient else None)


def _retry_at(error: AgentError, clock: WallClock) -> float | None:
    if error.resets_at is not None:
        return error.resets_at
    by_header = retry_after(dict(error.headers), clock) if error.headers else None
    return by_header or reset_time(error.message, clock) or reset_time(error.details, clock)


def _verdict(
    evidence: AgentEvidence,
    kind: FailureKind,
    name: str,
    line: str,
    error: AgentError,
    match: Match | None = None,
) -> AgentVerdict:
    resource = match.rule.resource if match else None
    facts = [f"exit code {evidence.exit_code}"]
    facts += [f"codes {', '.join(error.codes)}"] if error.codes else []
    facts += [f"HTTP status {error.status}"] if error.status is not None else []
    facts += [f"ran out of {resource}"] if resource else []
    return AgentVerdict(
        kind,
        line,
        f"{evidence.agent}-{name}",
        key_line=line,
        evidence=(*facts, line),
        excerpt="\n".join(text for text in (error.message.strip(), evidence.stderr.strip()) if text)[-_EXCERPT_MAX:],
        signature=signature_of(kind, line, ()),
        resource=resource,
    )


def _by_words(agent: str, last_words: str, talked: AgentVerdict | None) -> AgentVerdict:
    meaning = meaning_of(last_words)
    said = f"; its last words: {_line(meaning.line)}" if meaning.line else ""
    message = {
        FailureKind.AGENT_CONFUSION: f"the worker changed nothing and asks: {_line(meaning.line)}",
        FailureKind.AGENT_REFUSED: f"the worker refused: {_line(meaning.line)}",
    }.get(meaning.kind, f"the worker changed nothing{said}")
    lost = (AlsoMatched(talked.rule, talked.key_line, "it only says that the agent talked"),) if talked else ()
    return AgentVerdict(
        meaning.kind,
        message,
        f"{agent}-{meaning.rule}",
        key_line=meaning.line,
        evidence=("nothing was changed", *((meaning.line,) if meaning.line else ())),
        excerpt=last_words[-_EXCERPT_MAX:],
        signature=signature_of(meaning.kind, meaning.line, ()),
        also_matched=lost,
        questions=meaning.questions,
    )


def _unexplained(evidence: AgentEvidence) -> AgentVerdict:
    """Judge a run that ended without a word in its typed channel: by standard error, else by the exit code."""
    start = first_words(starting_rules(), evidence.stderr)
    code = evidence.exit_code
    how = f"ended with exit code {code}" if code is None or code >= 0 else f"died of signal {-code}"
    last = _last_told(evidence.stderr)
    kind = start.rule.kind if start else FailureKind.AGENT_CRASH
    name = start.rule.name if start else "no-result"
    line = _line(_whole_line(evidence.stderr, start.text)) if start else last
    message = line if start else f"{evidence.agent} {how} and gave no result" + (f": {last}" if last else "")
    return AgentVerdict(
        kind,
        message,
        f"{evidence.agent}-{name}",
        key_line=line,
        evidence=(f"exit code {code}", *((line,) if line else ())),
        excerpt=evidence.stderr.strip()[-_EXCERPT_MAX:],
        signature=signature_of(kind, line or how, ()),
    )


def _interrupted(evidence: AgentEvidence) -> AgentVerdict:
    match evidence.ended_by:
        case EndedBy.TIMEOUT:
            kind, message = FailureKind.TIMEOUT, "the worker was ended at its time limit"
        case EndedBy.IDLE:
            kind, message = FailureKind.TIMEOUT, "the worker was ended after a long time without a sign of life"
        case EndedBy.BUDGET:
            kind, message = FailureKind.RESOURCE_EXHAUSTED, "the worker was ended at its cost limit"
        case _:
            kind, message = FailureKind.AGENT_CRASH, f"the worker was {evidence.ended_by}"
    rule = f"{evidence.agent}-ended-{evidence.ended_by}"
    return AgentVerdict(
        kind,
        message,
        rule,
        evidence=(message,),
        excerpt=evidence.last_words[-_EXCERPT_MAX:],
        signature=signature_of(kind, rule, ()),
    )


def _line(text: str) -> str:
    return " ".join(text[: 4 * _LINE_MAX].split())[:_LINE_MAX]


def _last_told(stderr: str) -> str:
    """Return the last line of standard error that is no warning."""
    lines = [line for line in stderr[-_EXCERPT_MAX:].splitlines() if line.strip()]
    return next((_line(line) for line in reversed(lines) if not line.lower().startswith("warning")), "")


def _whole_line(text: str, part: str) -> str:
    """Return the line of `text` that holds the beginning of `part`."""
    head = part.strip().partition("\n")[0]
    return next((line for line in text.splitlines() if head in line), head)
