"""Proposes `[[failure_hints]]` from failures that several issues had (N16).

1. Failures whose cause lies in the worker's hands are grouped by signature; what a hint with a pattern speaks to
   already is left out.
2. A group from `least` issues or more gets the most general pattern (`candidates`) that is found in failures of
   `least` issues, and in others only if their message says the same and the kind is the same.
3. The language is one that all of the group's failures concern.
4. The text says what mended it in two issues or more: lines that both added, else files that both changed. Where each
   issue was mended in a way of its own there is no proposal: what helped one is no advice for all. Where none has
   been mended yet the text says that somebody must write it.

What a worker wrote stands in quotation marks in a draft, on one line and bounded: a person reads it before it becomes
advice.

A pattern is what a message has in common with the same failure elsewhere. Numbers, paths, ids and what stands in quotes
change from one failure to the next; the words between them stay. The candidates for a message are, in this order: its
longest pieces without anything that changes, as literal text; the whole message as a regular expression in which all
that changes is left open; the whole message with what is the same in all the messages given. Candidates that say
little (`AssertionError:`, or `is not there`) are left out of the first two.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from noface.knowledge.fixes import Fix, in_workers_hands
from noface.knowledge.hints import Found, HintRule, Search, holds, searched_text
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.patterns import file_of, language_of
from noface.model.quoting import one_line, some
from noface.model.taxonomy import INTERRUPTED, PASSED, FailureKind

PROPOSALS_MAX = 20
FAILURES_MAX = 2000
"""How many failures are looked at: the newest."""

_PATHS_MAX, _SHARED_LINES_MAX = 5, 3
_LINE_MAX = 120
_LINE_LETTERS_MIN = 6
"""A line of fewer letters ("return", "}") is common to any two changes."""


Needle = tuple[str, bool]
"""Something to look for: literal text, or, if the second is true, a regular expression."""


@dataclass(frozen=True, slots=True)
class PastFailure:
    """A recorded failure; `touched` are the files that its attempt changed.

    `passed_by` is the attempt of the same issue that passed after it, None while none has.
    """

    issue: Issue
    number: int
    failure: Failure
    touched: tuple[str, ...] = ()
    passed_by: int | None = None

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from others: issue and attempt."""
        return self.issue.id, self.number


FixOf = Callable[[PastFailure], Fix]
"""Returns what the attempt that passed after a failure has and the failed one has not."""


@dataclass(frozen=True, slots=True)
class HintProposal:
    """A rule that a person may take over. `failures` led to it, `would_match` are all that it matches.

    `draft` is True if nobody knows yet what its text should say.
    """

    rule: HintRule
    kind: FailureKind
    failures: tuple[PastFailure, ...]
    would_match: tuple[PastFailure, ...]
    draft: bool

    @property
    def issues(self) -> tuple[str, ...]:
        """The ids of the issues whose failures led to it."""
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
    failures: tuple[PastFailure, ...], rules: tuple[HintRule, ...], search: Search, fix_of: FixOf, least: int = 2
) -> tuple[HintProposal, ...]:
    """Return proposals for failures of `least` issues or more, the commonest first; see the module's rules."""
    looked_at = failures[-FAILURES_MAX:]
    open_ones = [past for past in looked_at if in_workers_hands(past.failure) and not _spoken_to(past, rules, search)]
    groups: dict[tuple[str, str], list[PastFailure]] = {}
    for past in open_ones:
        name = past.failure.signature or first_line(past.failure.message_alone)
        groups.setdefault((past.failure.kind, name), []).append(past)
    wanted = sorted((group for group in groups.values() if _issues(group) >= least), key=len, reverse=True)
    proposals: list[HintProposal] = []
    covered: set[tuple[str, int]] = set()
    for group in wanted:
        # A proposal made before may match these as well: two hints for one failure would say the same twice.
        rest = [past for past in group if past.key not in covered]
        proposal = _proposal(rest, looked_at, search, fix_of, least) if _issues(rest) >= least else None
        if proposal is not None:
            proposals.append(proposal)
            covered.update(past.key for past in proposal.would_match)
        if len(proposals) == PROPOSALS_MAX:
            break
    return tuple(proposals)


def _issues(failures: Iterable[PastFailure]) -> int:
    return len({past.issue.id for past in failures})


def would_match(rule: HintRule, failures: Iterable[PastFailure], search: Search) -> tuple[PastFailure, ...]:
    """Return the failures that a rule matches."""
    return tuple(past for past in failures if holds(rule, past.issue, past.failure, past.touched, search).matched)


def _spoken_to(past: PastFailure, rules: tuple[HintRule, ...], search: Search) -> bool:
    """True if a hint speaks to this failure: one for a label or a language alone does not look at the error."""
    speaking = (rule for rule in rules if rule.error_pattern or rule.error_regex)
    return any(holds(rule, past.issue, past.failure, past.touched, search).matched for rule in speaking)


def _proposal(
    group: list[PastFailure], all_failures: tuple[PastFailure, ...], search: Search, fix_of: FixOf, least: int
) -> HintProposal | None:
    chosen = _pattern(group, all_failures, search, least)
    if chosen is None:
        return None
    group = [past for past in group if _says(chosen, searched_text(past.failure), search)]
    fixes = _fixes(group, fix_of)
    text = _shared(fixes)
    if fixes and not text:
        return None
    rule = _rule(chosen, _language(group), text or _UNWRITTEN.format(times=len(group), where=_where(group)))
    return HintProposal(rule, group[0].failure.kind, tuple(group), would_match(rule, all_failures, search), not text)


def _pattern(
    group: list[PastFailure], all_failures: tuple[PastFailure, ...], search: Search, least: int
) -> Needle | None:
    """Return the most general pattern without strays; if all have some, the most exact."""
    own, kind = {past.key for past in group}, group[0].failure.kind
    chosen = None
    for candidate in candidates(tuple(past.failure.message_alone for past in group)):
        matches = would_match(_rule(candidate, "", ""), all_failures, search)
        others = [past for past in matches if past.key not in own]
        if _issues(past for past in matches if past.key in own) < least:
            continue
        chosen = candidate
        if not any(_stray(past, kind, candidate, search) for past in others):
            break
    return chosen


def _rule(candidate: Needle, language: str, hint: str) -> HintRule:
    text, is_regex = candidate
    return HintRule(hint, language=language, **{"error_regex" if is_regex else "error_pattern": text})


def _stray(past: PastFailure, kind: FailureKind, candidate: Needle, search: Search) -> bool:
    """True if a failure matches without being of the same sort: another kind, or a mere mention in its logs."""
    return past.failure.kind is not kind or not _says(candidate, past.failure.message, search)


def _says(candidate: Needle, text: str, search: Search) -> bool:
    wanted, is_regex = candidate
    return search(wanted, text) is Found.YES if is_regex else wanted in text


def _language(group: list[PastFailure]) -> str:
    """Return the language that all failures of a group concern: of their places first, then of the files changed."""
    places = {language_of(file_of(past.failure.location)) for past in group}
    if len(places) == 1 and (only := places.pop()):
        return only
    shared = set.intersection(*({language_of(path) for path in _concerned(past)} for past in group)) - {""}
    return shared.pop() if len(shared) == 1 else ""


def _concerned(past: PastFailure) -> tuple[str, ...]:
    return (file_of(past.failure.location), *past.touched)


_UNWRITTEN = "This has failed {times} times, in {where}. Describe what to do here."


def _where(group: Iterable[PastFailure]) -> str:
    return f"issues {some(tuple(dict.fromkeys(past.issue.id for past in group)), _PATHS_MAX)}"


def _fixes(group: list[PastFailure], fix_of: FixOf) -> dict[str, Fix]:
    """Return what mended the last failure of each issue that has passed since."""
    last = {past.issue.id: past for past in group if past.passed_by is not None}
    return {issue_id: fix_of(past) for issue_id, past in last.items()}


def _shared(fixes: dict[str, Fix]) -> str:
    """Return what mended it in two issues or more, "" if no two were mended alike."""
    lines = Counter(text for fix in fixes.values() for text in dict.fromkeys(_added(fix)))
    common = tuple(text for text, times in lines.most_common() if times > 1)[:_SHARED_LINES_MAX]
    if common:
        issues = tuple(issue_id for issue_id, fix in fixes.items() if not set(common).isdisjoint(_added(fix)))
        quoted = "; ".join(f'"{one_line(text, _LINE_MAX)}"' for text in common)
        return f"Issues {some(issues, _PATHS_MAX)} passed once they had this as well: {quoted}"
    files = Counter(path for fix in fixes.values() if fix.telling for path in fix.files)
    both = tuple(path for path, times in files.most_common() if times > 1)
    if not both:
        return ""
    issues = tuple(issue_id for issue_id, fix in fixes.items() if not set(both).isdisjoint(fix.files))
    return f"Issues {some(issues, _PATHS_MAX)} passed once they had changed {some(both, _PATHS_MAX)} as well."


def _added(fix: Fix) -> list[str]:
    return [
        " ".join(line.text.split()) for line in fix.lines if line.added and _letters(line.text) >= _LINE_LETTERS_MIN
    ]


MESSAGE_CHARS_MAX = 400
_PIECES_MAX = 3
_WORDS_MIN, _TELLING_MIN, _LETTERS_MIN = 3, 2, 10
_EXACT_LETTERS_MIN = 3

_COMMON = re.compile(
    r"actual|an?|and|are|as|assert(?:ed|ion(?:error)?)?|at|be|but|by|can|cannot|code|could|did|do|does|equal|errors?"
    r"|exit|expected|failed|failures?|false|for|from|got|had|has|have|in|into|is|it|its|left|line|no|none|not|null|of"
    r"|on|one|or|received|right|so|such|that|the|then|there|this|to|true|was|were|when|which|with|would|you|your",
    re.IGNORECASE,
)
"""Words that stand in any message, so that having them in common says nothing."""

_CHANGES = (
    ("quoted", r"""(?<!\w)(?:'[^'\n]{0,200}'|"[^"\n]{0,200}"|`[^`\n]{0,200}`|‘[^’\n]{0,200}’)(?!\w)"""),
    ("path", r"(?<![\w.])[\w.~-]{0,80}(?:/[\w.@+~-]{1,80}){1,20}/?"),
    ("id", r"\b0x[0-9a-fA-F]{1,32}\b|\b(?=[a-f]{0,64}\d)[0-9a-f]{8,64}\b"),
    ("number", r"\d{1,40}(?:[.,:]\d{1,40}){0,20}"),
    ("odd", r"[^ -~\w]{1,100}"),
)
_OPEN = {
    "path": r"[^\s:]+",
    "id": r"\w+",
    "number": r"[\d.,:]+",
    "odd": r".+?",
}
_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]|()])")
_CHANGING = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _CHANGES))


_Part = tuple[str, str]
"""A stretch of a message: "" if it stays, else why it changes, and its text."""


def candidates(messages: tuple[str, ...]) -> Iterator[Needle]:
    """Yield the patterns for the first message, the most general first; the others tell what changes."""
    line = first_line(messages[0]) if messages else ""
    parts = _parts(line)
    staying = [text.strip() for kind, text in parts if not kind]
    pieces = sorted((piece for piece in staying if _telling(piece)), key=len, reverse=True)
    yield from ((piece, False) for piece in pieces[:_PIECES_MAX])
    if len(parts) > 1 and _telling(" ".join(staying)):
        yield (_expression(parts), True)
    exact = _what_differs(parts, [_parts(first_line(message)) for message in messages[1:]])
    if _letters(line) < _EXACT_LETTERS_MIN:
        return
    if not any(kind for kind, _ in exact):
        yield line, False
    elif len(parts) > 1:
        yield (_expression(exact), True)


def is_common(word: str) -> bool:
    """True if a word says nothing by itself."""
    return _COMMON.fullmatch(word) is not None


def first_line(message: str) -> str:
    """Return the first line of a message that has text, up to a limit."""
    line = next((line for line in message[: MESSAGE_CHARS_MAX * 4].splitlines() if line.strip()), "")
    return line.strip()[:MESSAGE_CHARS_MAX].strip()


def _parts(line: str) -> list[_Part]:
    parts, at = list[_Part](), 0
    for match in _CHANGING.finditer(line):
        if match.start() > at:
            parts.append(("", line[at : match.start()]))
        parts.append((str(match.lastgroup), match[0]))
        at = match.end()
    return parts + ([("", line[at:])] if at < len(line) else [])


def _what_differs(parts: list[_Part], others: list[list[_Part]]) -> list[_Part]:
    """Return `parts` with those as staying that are the same in every other message of the same build."""
    alike = [other for other in others if [kind for kind, _ in other] == [kind for kind, _ in parts]]
    return [
        (kind, text) if kind == "odd" or any(other[at][1] != text for other in alike) else ("", text)
        for at, (kind, text) in enumerate(parts)
    ]


def _expression(parts: list[_Part]) -> str:
    return "".join(_open(part) if part[0] else _SPECIAL.sub(r"\\\1", part[1]) for part in parts)


def _open(part: _Part) -> str:
    kind, text = part
    return f"{text[0]}[^{text[-1]}]*{text[-1]}" if kind == "quoted" else _OPEN[kind]


def _telling(text: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", text)
    telling = [word for word in words if not is_common(word)]
    return len(words) >= _WORDS_MIN and len(telling) >= _TELLING_MIN and sum(map(len, telling)) >= _LETTERS_MIN


def _letters(text: str) -> int:
    return sum(char.isalpha() for char in text)
