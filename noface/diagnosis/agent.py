"""Names a worker's failure: evidence in, verdict out. Pure and total: no input raises.

In order: what it hung on and who ended it, the CLI's typed error, its own word that it finished, standard error, the
exit code. Prose decides nothing: only if the diff is empty, last words tell a question or a refusal from mere talk.
"""

import re
from dataclasses import replace

from noface.data import Patterns
from noface.diagnosis.agent_errors import (
    AgentError,
    AgentEvidence,
    AgentVerdict,
    Match,
    Resource,
    amounts_in,
    decisive,
    first_words,
    matches,
    rules_of,
    starting_rules,
    why_lost,
)
from noface.diagnosis.reset_times import WallClock, limit_end, retry_after
from noface.diagnosis.text import signature_of
from noface.model.failure import WORKER, Failure
from noface.model.quoting import to_the_point
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import EndedBy

_LINE_MAX = 500
_EXCERPT_MAX = 2_000
_ENDS = {
    EndedBy.TIMEOUT: (FailureKind.TIMEOUT, "ended at its time limit"),
    EndedBy.IDLE: (FailureKind.TIMEOUT, "ended after a long time without a sign of life"),
    EndedBy.BUDGET: (FailureKind.RESOURCE_EXHAUSTED, "ended at its cost limit"),
}


def classify(evidence: AgentEvidence, clock: WallClock) -> AgentVerdict:
    """Return the verdict on one worker run; `clock` is needed for reset times such as "4:30 PM"."""
    if evidence.error is None and not evidence.finished and evidence.retrying is not None:
        waited = _by_error(evidence, evidence.retrying, clock)
        if waited.kind is not None and waited.kind.category is Category.TRANSIENT:
            return waited  # it hung on its provider: the limit that ended it only ended the wait
    if evidence.ended_by is not EndedBy.ITSELF:
        kind, how = _ENDS.get(evidence.ended_by, (FailureKind.AGENT_CRASH, evidence.ended_by))
        message, rule = f"the worker was {how}", f"{evidence.agent}-ended-{evidence.ended_by}"
        excerpt, signature = evidence.last_words[-_EXCERPT_MAX:], signature_of(kind, rule, ())
        return AgentVerdict(kind, message, rule, evidence=(message,), excerpt=excerpt, signature=signature, by=WORKER)
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
    """Return the failure of a run whose diff is empty: its error, unless that only says so, or what its words mean."""
    if error is not None and not _only_talks(agent, error.rule):
        return error
    verdict = _by_words(agent, last_words, None)
    return verdict.failed_as(verdict.kind or FailureKind.NO_DIFF)


def asked_by_program(agent: str, words: str) -> Failure | None:
    """Return the failure of a plain program that changed nothing and ends with a question about its work, else None."""
    rows = [row.strip() for row in words[-_WORDS_MAX:].splitlines() if not _WORDS["choice"].match(row)]
    last = rows[-1] if rows else ""
    spoken = _WORDS["to_person"].search(last) or _WORDS["unclear"].search(last)
    if not spoken or _WORDS["from_program"].search(last) or meaning_of(last).kind is FailureKind.NO_DIFF:
        return None
    return _by_words(agent, last, None).failure


def _only_talks(agent: str, rule: str) -> bool:
    return any(rule == f"{agent}-{known.name}" for known in rules_of(agent) if known.talk)


def _by_error(evidence: AgentEvidence, error: AgentError, clock: WallClock) -> AgentVerdict:
    matched = matches(rules_of(evidence.agent), error)
    winner = decisive(matched, error)
    line = _line(error.message) or _last_line(evidence.stderr)
    line = line or f"{evidence.agent} ended with an error it did not name"
    if winner is None:
        return _verdict(evidence, FailureKind.AGENT_CRASH, "unknown-error", line, error)
    lost = [match for match in matched if match is not winner]
    verdict = _verdict(evidence, winner.rule.kind, winner.rule.name, line, error, winner)
    also = tuple((f"{evidence.agent}-{match.rule.name}", match.text[:300], why_lost(match, winner)) for match in lost)
    by_header = retry_after(dict(error.headers), clock) if error.headers else None
    retry_at = limit_end((error.resets_at, by_header), (error.message, error.details), clock)
    transient = winner.rule.kind.category is Category.TRANSIENT
    return replace(verdict, also_matched=also, retry_at=retry_at if transient else None)


def _verdict(
    evidence: AgentEvidence, kind: FailureKind, name: str, line: str, error: AgentError, match: Match | None = None
) -> AgentVerdict:
    resource = match.rule.resource if match else None
    usage, limit = _amounts(evidence, error, resource) if resource else (None, None)
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
        usage=usage,
        limit=limit,
    )


def _amounts(evidence: AgentEvidence, error: AgentError, resource: Resource) -> tuple[float | None, float | None]:
    """Return usage and limit of what ran out: as the error words them, else as the stream tells them."""
    usage, limit = amounts_in((error.message, error.details, evidence.stderr))
    used = evidence.usage.cost_usd if resource is Resource.BUDGET else None
    known_usage, known_limit = evidence.amounts.get(resource, (used, None))
    return usage if usage is not None else known_usage, limit if limit is not None else known_limit


def _by_words(agent: str, last_words: str, talked: AgentVerdict | None) -> AgentVerdict:
    meaning = meaning_of(last_words)
    words = f"; its last words: {_line(meaning.message)}" if meaning.message else ""
    message = {
        FailureKind.AGENT_CONFUSION: f"the worker changed nothing and asks: {_line(meaning.message)}",
        FailureKind.AGENT_REFUSED: f"the worker refused: {_line(meaning.message)}",
    }.get(meaning.kind, f"the worker changed nothing{words}")
    lost = ((talked.rule, talked.key_line, "it only says that the agent talked"),) if talked else ()
    return AgentVerdict(
        meaning.kind,
        message,
        f"{agent}-{meaning.rule}",
        key_line=meaning.message,
        evidence=("nothing was changed", *((meaning.message,) if meaning.message else ())),
        excerpt=last_words[-_EXCERPT_MAX:],
        by=WORKER,
        signature=signature_of(meaning.kind, meaning.message, ()),
        also_matched=lost,
        questions=meaning.questions,
    )


def _unexplained(evidence: AgentEvidence) -> AgentVerdict:
    start = first_words(starting_rules(), evidence.stderr)
    code = evidence.exit_code
    how = f"ended with exit code {code}" if code is None or code >= 0 else f"died of signal {-code}"
    last = _last_line(evidence.stderr)
    kind = start.rule.kind if start else FailureKind.AGENT_CRASH
    name = start.rule.name if start else "no-result"
    head = start.text.strip().partition("\n")[0] if start else ""
    line = _line(next((row for row in evidence.stderr.splitlines() if head in row), head)) if start else last
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


def _line(text: str) -> str:
    return to_the_point(" ".join(text.split()), _LINE_MAX)


def _last_line(stderr: str) -> str:
    lines = [line for line in stderr[-_EXCERPT_MAX:].splitlines() if line.strip()]
    return next((_line(line) for line in reversed(lines) if not line.lower().startswith("warning")), "")


_WORDS = Patterns("last_words")

_WORDS_MAX = 8_000
_QUESTIONS_MAX = 5
_QUESTION_CHARS_MAX = 400
_LAST_SENTENCES = 3


def meaning_of(last_words: str) -> Failure:
    """Return what an agent that changed nothing had to say; NO_DIFF if that tells nothing more.

    The message is the sentence that decided, the rule is without the agent's name.
    """
    prose = _WORDS["wrapped"].sub(" ", _WORDS["code"].sub(" ", last_words[-_WORDS_MAX:]))
    stripped = (" ".join(match[0].split()).strip("-*• ") for match in _WORDS["sentence"].finditer(prose))
    sentences = [text for text in stripped if text]
    if _WORDS["refuses"].search(prose.lstrip()[:_QUESTION_CHARS_MAX]) is not None:
        return Failure(FailureKind.AGENT_REFUSED, sentences[0] if sentences else "", "words-refuse")
    asking = (text for text in sentences if text.endswith("?") and not _WORDS["courtesy"].search(text))
    questions = tuple(dict.fromkeys(text[:_QUESTION_CHARS_MAX] for text in asking))
    late = sentences[-_LAST_SENTENCES:]
    asked = next((text for text in late if text[:_QUESTION_CHARS_MAX] in questions), "")
    questions = questions[:_QUESTIONS_MAX]
    if asked:
        return Failure(FailureKind.AGENT_CONFUSION, asked, "words-ask", questions=questions)
    request = next((text for text in late if _WORDS["asks"].search(text)), "")
    if request:
        questions = questions or (request[:_QUESTION_CHARS_MAX],)
        return Failure(FailureKind.AGENT_CONFUSION, request, "words-ask", questions=questions)
    for name, words in (("words-blocked", _WORDS["blocked"]), ("words-unclear", _WORDS["unclear"])):
        stuck = next((text for text in sentences if words.search(text)), "")
        if stuck:
            questions = questions or (stuck[:_QUESTION_CHARS_MAX],)
            return Failure(FailureKind.AGENT_CONFUSION, stuck, name, questions=questions)
    return Failure(FailureKind.NO_DIFF, sentences[-1] if sentences else "", "nothing-changed")


def invents(words: str) -> bool:
    """True if a report says that something in the work is made up: that is looked at, and decides nothing."""
    return bool(_WORDS["invented"].search(words))


def stops_mid_sentence(text: str) -> bool:
    """True if a text looks cut off: several words, and no sign that ends a sentence, a list or a code block."""
    last = text.rstrip().rpartition("\n")[2].strip()
    plain = not re.match(r"[-*#>|`\d]", last)
    return plain and len(last.split()) > 2 and bool(re.search(r"[\w,;(\[{-]\Z", last))  # noqa: PLR2004 - "All done" is whole
