"""What an agent's last words mean where it changed nothing: it asks, it reports itself blocked, or it refuses.

Prose is the weakest evidence there is: it is read only once the diff has shown that nothing was done.
"""

import json
import re
from dataclasses import dataclass

from noface.model.taxonomy import FailureKind

_WORDS_MAX = 8_000
_QUESTIONS_MAX = 5
_QUESTION_CHARS_MAX = 400
_LAST_SENTENCES = 3
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_WRAPPED = re.compile(r"\n(?!\s*(?:\n|[-*•#>|]|\d{1,3}[.)]))")
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]*")
_COURTESY = re.compile(
    r"anything else|(?:does|do) (?:that|this) (?:help|look|make sense)|any (?:other )?questions", re.IGNORECASE
)
_ASKS = re.compile(
    r"\b(?:please|could you|can you|kindly)\b.{0,40}"
    r"\b(?:clarify|confirm|specify|advise|tell me|provide|let me know|share)"
    r"|\b(?:i need|i require|awaiting|waiting for) (?:more |further |your |some |additional )?"
    r"(?:information|details|clarification|confirmation|input|guidance|decision|approval)"
    r"|\blet me know (?:which|what|how|whether|where|if you(?:'d| would) (?:like|prefer))",
    re.IGNORECASE,
)
_BLOCKED = re.compile(
    r"\b(?:i am|i['’]m|i was|this (?:task|issue) is|work is|status:?)\s+(?:currently |now )?blocked\b"
    r"|^\W{0,4}blocked\b\s*[:—-]"
    r"|\b(?:i )?(?:cannot|can['’]?t|could not|couldn['’]?t|am unable to|was unable to|unable to) "
    r"(?:proceed|continue|go on|complete (?:this|the) (?:task|issue))",
    re.IGNORECASE | re.MULTILINE,
)
_REFUSES = re.compile(
    r"^\W{0,4}(?:(?:i['’]m |i am )?(?:very )?(?:sorry|afraid)\b|i apologi[sz]e\b)?[,.;]?\s*(?:but |that )?"
    r"i\s?(?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|['’]m (?:unable|not able)|am (?:unable|not able))"
    r"(?: to)?\s+(?:help|assist|comply|engage|fulfil|support|participate|do that|with that)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What last words mean: a kind, the rule that found it, the sentence that decided, and what is asked."""

    kind: FailureKind
    rule: str
    line: str = ""
    questions: tuple[str, ...] = ()


def meaning_of(last_words: str) -> Meaning:
    """Return what an agent that changed nothing had to say; NO_DIFF where that tells nothing more."""
    report = _report(last_words)
    if report is not None:
        return report
    prose = _WRAPPED.sub(" ", _CODE.sub(" ", last_words[-_WORDS_MAX:]))
    sentences = [text for match in _SENTENCE.finditer(prose) if (text := " ".join(match[0].split()).strip("-*• "))]
    refusal = _REFUSES.search(prose.lstrip()[:_QUESTION_CHARS_MAX])
    if refusal is not None:
        return Meaning(FailureKind.AGENT_REFUSED, "words-refuse", sentences[0] if sentences else "")
    questions = _questions(sentences)
    late = sentences[-_LAST_SENTENCES:]
    asked = next((text for text in late if text[:_QUESTION_CHARS_MAX] in questions), "")
    questions = questions[:_QUESTIONS_MAX]
    if asked:
        return Meaning(FailureKind.AGENT_CONFUSION, "words-ask", asked, questions)
    request = next((text for text in late if _ASKS.search(text)), "")
    if request:
        return Meaning(FailureKind.AGENT_CONFUSION, "words-ask", request, questions or (request[:_QUESTION_CHARS_MAX],))
    blocked = next((text for text in sentences if _BLOCKED.search(text)), "")
    if blocked:
        said = blocked[:_QUESTION_CHARS_MAX]
        return Meaning(FailureKind.AGENT_CONFUSION, "words-blocked", blocked, questions or (said,))
    return Meaning(FailureKind.NO_DIFF, "nothing-changed", sentences[-1] if sentences else "")


def stops_mid_sentence(text: str) -> bool:
    """Tell whether a text looks cut off: several words, and no sign that ends a sentence, a list or a code block."""
    last = text.rstrip().rpartition("\n")[2].strip()
    plain = not re.match(r"[-*#>|`\d]", last)
    return plain and len(last.split()) > 2 and bool(re.search(r"[\w,;(\[{-]\Z", last))  # noqa: PLR2004 - "All done" is whole


def _questions(sentences: list[str]) -> tuple[str, ...]:
    asked = [text[:_QUESTION_CHARS_MAX] for text in sentences if text.endswith("?") and not _COURTESY.search(text)]
    return tuple(dict.fromkeys(asked))


def _report(last_words: str) -> Meaning | None:
    """Return the meaning of an agent's report, a JSON object with `status: "blocked"`; None where there is none."""
    start = last_words.find("{")
    if start < 0 or '"blocked"' not in last_words:
        return None
    try:
        report, _ = json.JSONDecoder().raw_decode(last_words[start:])
    except (ValueError, RecursionError):
        return None
    if not isinstance(report, dict) or report.get("status") != "blocked":
        return None
    given = report.get("questions")
    listed = tuple(str(item)[:_QUESTION_CHARS_MAX] for item in given) if isinstance(given, list) else ()
    said = str(report.get("message") or report.get("summary") or report.get("blocked_reason") or "blocked")
    return Meaning(
        FailureKind.AGENT_CONFUSION,
        "report-blocked",
        said[:_QUESTION_CHARS_MAX],
        listed[:_QUESTIONS_MAX] or (said[:_QUESTION_CHARS_MAX],),
    )
