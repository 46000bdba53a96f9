"""What a worker run leaves behind, and the rules about agents' errors (agent_errors.toml, agents.toml).

A code outranks a status, a status words; words win only if they say more exactly what the code says roughly.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from functools import cache
from typing import Any

from noface.data import Patterns, table
from noface.diagnosis.evidence import Lost
from noface.diagnosis.text import strip_codes
from noface.model.codec import view
from noface.model.failure import NO_ANSWER, Failure
from noface.model.quoting import one_line
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import EndedBy, Usage


class Resource(StrEnum):
    """What a worker ran out of."""

    TURNS = "turns"
    CONTEXT = "context"
    OUTPUT = "output"
    BUDGET = "budget"
    MEMORY = "memory"


Amounts = Mapping[Resource, tuple[float | None, float | None]]
"""Of each resource how much was used and how much there was; None if that is not known."""


@dataclass(frozen=True, slots=True)
class AgentError:
    """The error a run ended with, as the CLI's own error channel told it; one that was overcome is none.

    `codes` are names that the CLI or its provider gave it, the most telling first; `status` the HTTP status;
    `details` what the provider answered, if the CLI quotes it. `resets_at` is when to come back, in epoch seconds;
    a CLI that says in how many seconds gives them as a header: `headers=(("retry-after", "30"),)`.
    """

    message: str = ""
    codes: tuple[str, ...] = ()
    status: int | None = None
    details: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    resets_at: float | None = None


_PROVIDER = Patterns("provider")


def error_in(words: str) -> AgentError:
    status, named = _PROVIDER["status"].search(words), _PROVIDER["error"].match(words)
    number = (status["status"] or status["plain"]) if status is not None else None
    return AgentError(words, (named["name"],) if named is not None else (), int(number) if number else None)


_ENDING = Patterns("ending")
ENDING_LINES_MAX = 80
_CODE_INDENT = " " * 4
_GROUP = re.compile(r"^\s{2,8}\| ")
"""What Python puts before the lines of an exception in a group."""


def telling_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the last lines of a program that may tell its error, the last first: an error object with its members."""
    telling: list[str] = []
    for line in (_GROUP.sub("", each, count=1) for each in reversed(lines[-ENDING_LINES_MAX:])):
        if _ENDING["member"].match(line):
            telling.append(line.strip())
        elif not line.startswith((_CODE_INDENT, "\t")) and not _ENDING["after"].match(line):
            return (*telling, line.strip())
    return tuple(telling)


def announces_error(words: str) -> bool:
    """True if a line of a program that ended well begins as an error of a provider's does."""
    return _PROVIDER["announced"].match(words) is not None


def is_of_the_work(words: str) -> bool:
    """True if a line with a provider's error is the work's: of a test, a compiler, or a report of work done."""
    return _PROVIDER["of_the_work"].search(words) is not None


@dataclass(frozen=True, slots=True)
class AgentEvidence:
    """One worker run. `finished` is True if the CLI itself said that the work ended well.

    `last_words` is the agent's prose: it is looked at only if nothing was changed. `changed` is None as long as
    nobody has looked at the diff. `exit_code` is negative for a signal, None if it is not known. `retrying` is
    what the CLI was still trying to overcome when the run ended. `amounts` are those that the stream tells.
    """

    agent: str
    exit_code: int | None
    stderr: str = ""
    error: AgentError | None = None
    retrying: AgentError | None = None
    finished: bool = False
    last_words: str = ""
    changed: bool | None = None
    ended_by: EndedBy = EndedBy.ITSELF
    usage: Usage = field(default_factory=Usage)
    amounts: Amounts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentVerdict:
    """What a worker run means. `kind` is None if it ended well. `retry_at` is epoch seconds."""

    kind: FailureKind | None
    message: str
    rule: str
    key_line: str = ""
    evidence: tuple[str, ...] = ()
    excerpt: str = ""
    signature: str = ""
    also_matched: tuple[Lost, ...] = ()
    retry_at: float | None = None
    resource: Resource | None = None
    questions: tuple[str, ...] = ()
    usage: float | None = None
    limit: float | None = None
    by: str = ""

    @property
    def failure(self) -> Failure | None:
        return None if self.kind is None else self.failed_as(self.kind)

    def failed_as(self, kind: FailureKind) -> Failure:
        charged = not kind.category.external
        failure = view(Failure, self, kind=kind, charged=charged, resource=self.resource or "")
        # The CLI has told the limit in most messages, with commas or without.
        untold = self.limit and not re.search(rf"\b{self.limit:.0f}\b", self.message.replace(",", ""))
        return replace(failure, message=f"{self.message} ({failure.ran_out})") if untold else failure


NOT_UNDERSTOOD = "not-understood"
"""The code of a program that ended well and printed nothing of what noface knows: another program, or a newer one."""

ASKS = "asks-at-terminal"
"""The code of a program that ended in the middle of a question to a keyboard."""

_TEXT_MAX = 20_000


class Strength(IntEnum):
    """What a rule matched by."""

    WORDS = 1
    STATUS = 2
    CODE = 3


@dataclass(frozen=True, slots=True)
class AgentRule:
    """A rule, which matches by a code, by a status or by its words; agent_errors.toml says what the fields are."""

    name: str
    kind: FailureKind
    codes: frozenset[str] = frozenset()
    statuses: frozenset[int] = frozenset()
    words: str = ""
    resource: Resource | None = None
    refines: frozenset[FailureKind] = frozenset()
    only_without_status: bool = False
    talk: bool = False
    example: str = ""
    recording: str = ""


def amounts_in(texts: Iterable[str]) -> tuple[float | None, float | None]:
    found = (match for text in texts for each in _amounts() if (match := each.search(text[:_TEXT_MAX])))
    named = match.groupdict() if (match := next(found, None)) else {}
    usage, limit = (float(text.replace(",", "")) if (text := named.get(key)) else None for key in ("usage", "limit"))
    return usage, limit


@cache
def _amounts() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(entry["pattern"]) for entry in table("agent_errors")["amounts"])


@cache
def rules_of(agent: str) -> tuple[AgentRule, ...]:
    errors = table("agent_errors")
    own = table("agents").get(agent, {}).get("errors", ())
    return tuple(_rule(**entry) for entry in (*own, *errors["any_cli"], *errors["provider"]))


@cache
def starting_rules() -> tuple[AgentRule, ...]:
    return tuple(_rule(**entry) for entry in table("agent_errors")["starting"])


def _rule(
    kind: str,
    codes: Iterable[str] = (),
    statuses: Iterable[str] = (),
    words: Iterable[str] = (),
    resource: str | None = None,
    refines: Iterable[str] = (),
    **rest: Any,
) -> AgentRule:
    ranges = (text.partition("-") for text in statuses)
    return AgentRule(
        kind=FailureKind(kind),
        codes=frozenset(codes),
        statuses=frozenset(status for a, _, z in ranges for status in range(int(a), int(z or a) + 1)),
        words="|".join(words),
        resource=Resource(resource) if resource is not None else None,
        refines=frozenset(map(FailureKind, refines)),
        **rest,
    )


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that matched, by what, and the text that made it match."""

    rule: AgentRule
    strength: Strength
    text: str


def matches(rules: Iterable[AgentRule], error: AgentError) -> list[Match]:
    """Return all matches, the strongest first; among equals a more telling code comes first, then the rules' order."""
    ranked: list[tuple[int, int, Match]] = []
    text = " ".join(f"{error.message}\n{error.details}"[:_TEXT_MAX].split())
    for rule in rules:
        place = next((at for at, code in enumerate(error.codes) if code in rule.codes), None)
        if place is not None:
            ranked.append((-Strength.CODE, place, Match(rule, Strength.CODE, error.codes[place])))
        elif error.status in rule.statuses:
            ranked.append((-Strength.STATUS, 0, Match(rule, Strength.STATUS, f"HTTP status {error.status}")))
        elif rule.words and (words := _compiled(rule.words).search(text)):
            ranked.append((-Strength.WORDS, 0, Match(rule, Strength.WORDS, words[0])))
    return [match for _, _, match in sorted(ranked, key=lambda item: item[:2])]


def decisive(matched: list[Match], error: AgentError) -> Match | None:
    """Return the match that decides: the strongest, unless words refine what it says."""
    if not matched:
        return None
    first = matched[0]
    for match in matched[1:]:
        refines = first.rule.kind in match.rule.refines and match.strength is Strength.WORDS
        if refines and not (match.rule.only_without_status and error.status is not None):
            return match
    return first


def why_lost(loser: Match, winner: Match) -> str:
    how = loser.strength.name.lower()
    if loser.strength > winner.strength:
        return f"{winner.rule.name} says more exactly what {loser.rule.name} says roughly"
    if loser.strength < winner.strength:
        return f"{winner.rule.name} is stronger evidence ({winner.strength.name.lower()} over {how})"
    return f"{winner.rule.name} comes first among rules that match by {how}"


def first_words(rules: Iterable[AgentRule], text: str) -> Match | None:
    found = ((rule, match) for rule in rules if (match := _compiled(rule.words).search(text[-_TEXT_MAX:])))
    return next((Match(rule, Strength.WORDS, match[0]) for rule, match in found), None)


@cache
def _compiled(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE | re.MULTILINE)


# A web page, or half a document, where a program's provider should have answered. A proxy, a gateway or a captive
# portal speaks to people: then nobody has worked, and nobody is to blame (law 8). A page may be the work itself as
# well, so words count only if a program ended with them and has changed nothing.

_WEB = Patterns("web")
_LINE_CHARS_MAX = 400
_HEAD_CHARS = 4_000
_TITLE_CHARS = 200


def begins_page(text: str) -> bool:
    return _WEB["begins"].match(text[:_HEAD_CHARS]) is not None


def final_answer(last_lines: Iterable[str]) -> str:
    """Return the line by which a failed command's end is that of such an answer, "" if it ended otherwise."""
    lines = (strip_codes(text)[:_LINE_CHARS_MAX].strip() for text in last_lines)
    return next((one_line(line, _LINE_CHARS_MAX) for line in lines if _WEB["final"].match(line)), "")


def page_instead(output: str) -> Failure | None:
    """Return the failure of a program that ended well and printed a page whose title tells of an error or a login."""
    title = _WEB["title"].search(output[:_HEAD_CHARS]) if begins_page(output) else None
    if title is None:
        return None
    text = _WEB["tag"].sub(" ", output[title.start() : title.start() + _HEAD_CHARS])
    message = f"a web page came in place of an answer: {one_line(text, _TITLE_CHARS)}"
    signature = f"{NO_ANSWER}:{title[1].lower()}"
    return Failure(
        FailureKind.NETWORK, message, rule=NO_ANSWER, signature=signature, evidence=(message,), charged=False
    )
