"""Proposes `[[failure_hints]]` from failures that several issues had (N16).

The pattern is the longest part of the message that never changes; if failures of other kinds have that too, the whole
message with what changes left open. The text says which lines mended it in two issues or more; without such there is no
proposal, or a draft if nobody has mended it. What a worker wrote is quoted: a person reads it before it is advice.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from noface.data import table
from noface.diagnosis.text import signature_of
from noface.knowledge.fixes import Fix, in_workers_hands
from noface.knowledge.hints import HintRule, Search, explain
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.quoting import one_line, some
from noface.model.taxonomy import INTERRUPTED, PASSED

PROPOSALS_MAX = 20
FAILURES_MAX = 2000
"""How many failures are looked at: the newest."""
MESSAGE_CHARS_MAX = 400
_ISSUES_MIN, _ISSUES_MAX, _SHARED_LINES_MAX = 2, 5, 3
_LINE_MAX = 120
_LETTERS_OF_A_LINE = 6
"""A line of fewer letters ("return", "}") is common to any two changes."""
_WORDS_MIN, _TELLING_MIN, _LETTERS_MIN, _EXACT_LETTERS_MIN = 3, 2, 10, 3
_CHANGING = re.compile(
    r"""(?<!\w)(?:'[^'\n]{0,200}'|"[^"\n]{0,200}"|`[^`\n]{0,200}`|‘[^’\n]{0,200}’)(?!\w)"""  # what stands in quotes
    r"|(?<![\w.])[\w.~-]{0,80}(?:/[\w.@+~-]{1,80}){1,20}/?"  # paths
    r"|\b0x[0-9a-fA-F]{1,32}\b|\b(?=[a-f]{0,64}\d)[0-9a-f]{8,64}\b"  # ids
    r"|\d{1,40}(?:[.,:]\d{1,40}){0,20}|[^ -~\w]{1,100}"  # numbers, and characters that hardly anybody types
)
"""What changes from one failure to the next."""
_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]|()])")


@dataclass(frozen=True, slots=True)
class PastFailure:
    """A failure, the files `touched`, and the attempt of its issue that passed after it, None without one."""

    issue: Issue
    number: int
    failure: Failure
    touched: tuple[str, ...] = ()
    passed_by: int | None = None

    @property
    def key(self) -> tuple[str, int]:
        return self.issue.id, self.number


FixOf = Callable[[PastFailure], Fix]
"""Returns what the attempt that passed after a failure has and the failed one has not."""


@dataclass(frozen=True, slots=True)
class HintProposal:
    """A rule that a person may take over; `draft` if nobody knows yet what its text should say."""

    rule: HintRule
    failures: tuple[PastFailure, ...]
    would_match: tuple[PastFailure, ...]
    draft: bool

    @property
    def issues(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(past.issue.id for past in self.failures))


def past_failures(issue: Issue, attempts: tuple[PastAttempt, ...]) -> tuple[PastFailure, ...]:
    """Return an issue's failures of all epochs, each with the attempt after it that passed."""
    failures: list[PastFailure] = []
    passed_by: int | None = None
    for attempt in reversed(attempts):
        if attempt.outcome == PASSED:
            passed_by = attempt.number
        elif attempt.failure is not None and attempt.outcome != INTERRUPTED:
            failures.append(PastFailure(issue, attempt.number, attempt.failure, attempt.changed, passed_by))
    return tuple(reversed(failures))


def propose(
    failures: tuple[PastFailure, ...], rules: tuple[HintRule, ...], search: Search, fix_of: FixOf
) -> tuple[HintProposal, ...]:
    """Return proposals for failures of two issues or more, the commonest first; see the module's rules."""
    looked_at = failures[-FAILURES_MAX:]
    # A hint for a label or a language alone does not look at the error.
    speaking = tuple(rule for rule in rules if rule.error_pattern or rule.error_regex)
    covered = {past.key for rule in speaking for past in would_match(rule, looked_at, search)}
    groups: dict[tuple[str, str], list[PastFailure]] = {}
    for past in looked_at:
        if past.key not in covered and in_workers_hands(past.failure):
            own, named = past.failure.signature, past.failure.failing_tests
            line = _CHANGING.sub("", first_line(_error_of(past)))
            name = signature_of(past.failure.kind, line, ()) if named or not own else own
            groups.setdefault((past.failure.kind, name), []).append(past)
    proposals: list[HintProposal] = []
    for group in sorted(groups.values(), key=len, reverse=True):
        if len(proposals) == PROPOSALS_MAX:
            break
        # A proposal made before may match these as well: two hints for one failure would say the same twice.
        rest = [past for past in group if past.key not in covered]
        proposal = _proposal(rest, looked_at, search, fix_of) if _issues(rest) >= _ISSUES_MIN else None
        if proposal is not None:
            proposals.append(proposal)
            covered.update(past.key for past in proposal.would_match)
    return tuple(proposals)


def _error_of(past: PastFailure) -> str:
    """Return what went wrong without the test that met it: another issue may meet the same in another test."""
    text = past.failure.message_alone
    named = next((test for test in past.failure.failing_tests if text.startswith(test)), "")
    return text.removeprefix(named).partition(": ")[2] if named else text


def _issues(failures: Iterable[PastFailure]) -> int:
    return len({past.issue.id for past in failures})


def would_match(rule: HintRule, failures: Iterable[PastFailure], search: Search) -> tuple[PastFailure, ...]:
    return tuple(past for past in failures if explain(rule, past.issue, past.failure, past.touched, search).matched)


def _proposal(
    group: list[PastFailure], all_failures: tuple[PastFailure, ...], search: Search, fix_of: FixOf
) -> HintProposal | None:
    chosen, own = None, group
    for candidate in candidates(tuple(map(_error_of, group))):
        matches = would_match(candidate, all_failures, search)
        of_group = [past for past in group if past in matches]
        if _issues(of_group) >= _ISSUES_MIN:
            chosen, own = candidate, of_group
            if all(past.failure.kind is group[0].failure.kind for past in matches):
                break
    if chosen is None:
        return None
    mended = {past.issue.id: past for past in own if past.passed_by is not None}
    fixes = {issue_id: fix_of(past) for issue_id, past in mended.items()}
    text = _shared(fixes)
    if fixes and not text:
        return None
    where = some(tuple(dict.fromkeys(past.issue.id for past in own)), _ISSUES_MAX)
    hint = text or f"This has failed {len(own)} times, in issues {where}. Describe what to do here."
    rule = replace(chosen, hint=hint)
    return HintProposal(rule, tuple(own), would_match(rule, all_failures, search), not text)


def _shared(fixes: dict[str, Fix]) -> str:
    added = {
        issue_id: dict.fromkeys(" ".join(line.text.split()) for line in fix.lines if not line.removed)
        for issue_id, fix in fixes.items()
    }
    counted = Counter(
        text for lines in added.values() for text in lines if sum(map(str.isalpha, text)) >= _LETTERS_OF_A_LINE
    )
    lines = [text for text, times in counted.most_common(_SHARED_LINES_MAX) if times > 1]
    if not lines:
        return ""
    having = tuple(issue_id for issue_id, own in added.items() if not own.keys().isdisjoint(lines))
    quoted = "; ".join(f'"{one_line(text, _LINE_MAX)}"' for text in lines)
    return f"Issues {some(having, _ISSUES_MAX)} passed once they had this as well: {quoted}"


def candidates(messages: tuple[str, ...]) -> Iterator[HintRule]:
    """Yield the patterns for the first message, the more general first; the others tell what changes."""
    line = first_line(messages[0]) if messages else ""
    longest = max((piece.strip() for piece in _CHANGING.split(line)), key=len)
    words = re.findall(r"[^\W\d_]{2,}", longest)
    telling = [word for word in words if not is_common(word)]
    if len(words) >= _WORDS_MIN and len(telling) >= _TELLING_MIN and sum(map(len, telling)) >= _LETTERS_MIN:
        yield HintRule("", error_pattern=longest)
    if sum(map(str.isalpha, line)) < _EXACT_LETTERS_MIN:
        return
    changing = _CHANGING.findall(line)
    others = [_CHANGING.findall(first_line(message)) for message in messages[1:]]
    same = {at for at, text in enumerate(changing) if all(other[at : at + 1] == [text] for other in others)}
    same = {at for at in same if changing[at].isascii()}
    if len(same) == len(changing):
        yield HintRule("", error_pattern=line)
    else:
        yield HintRule("", error_regex=_expression(line, same))


def _expression(line: str, staying: set[int]) -> str:
    text, at = "", 0
    for number, match in enumerate(_CHANGING.finditer(line)):
        kept = _SPECIAL.sub(r"\\\1", match[0]) if number in staying else ".+?"
        text += _SPECIAL.sub(r"\\\1", line[at : match.start()]) + kept
        at = match.end()
    return text + _SPECIAL.sub(r"\\\1", line[at:])


def is_common(word: str) -> bool:
    return word.lower() in table("stop_words")["common"].split()


def first_line(message: str) -> str:
    line = next((line for line in message[: MESSAGE_CHARS_MAX * 4].splitlines() if line.strip()), "")
    return line.strip()[:MESSAGE_CHARS_MAX].strip()
