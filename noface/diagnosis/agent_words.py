"""What an agent's last words mean where it changed nothing: it asks, it reports itself blocked, or it refuses.

Prose is the weakest evidence there is: it is read only once the diff has shown that nothing was done.
"""

import json
import re
from dataclasses import dataclass

from noface.data import Patterns
from noface.model.taxonomy import FailureKind

_WORDS = Patterns("last_words")

_WORDS_MAX = 8_000
_QUESTIONS_MAX = 5
_QUESTION_CHARS_MAX = 400
_LAST_SENTENCES = 3


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
    prose = _WORDS["wrapped"].sub(" ", _WORDS["code"].sub(" ", last_words[-_WORDS_MAX:]))
    sentences = [
        text for match in _WORDS["sentence"].finditer(prose) if (text := " ".join(match[0].split()).strip("-*• "))
    ]
    refusal = _WORDS["refuses"].search(prose.lstrip()[:_QUESTION_CHARS_MAX])
    if refusal is not None:
        return Meaning(FailureKind.AGENT_REFUSED, "words-refuse", sentences[0] if sentences else "")
    questions = _questions(sentences)
    late = sentences[-_LAST_SENTENCES:]
    asked = next((text for text in late if text[:_QUESTION_CHARS_MAX] in questions), "")
    questions = questions[:_QUESTIONS_MAX]
    if asked:
        return Meaning(FailureKind.AGENT_CONFUSION, "words-ask", asked, questions)
    request = next((text for text in late if _WORDS["asks"].search(text)), "")
    if request:
        return Meaning(FailureKind.AGENT_CONFUSION, "words-ask", request, questions or (request[:_QUESTION_CHARS_MAX],))
    blocked = next((text for text in sentences if _WORDS["blocked"].search(text)), "")
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
    asked = [
        text[:_QUESTION_CHARS_MAX] for text in sentences if text.endswith("?") and not _WORDS["courtesy"].search(text)
    ]
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
