"""What has landed, what it took, and what speaks for a closer look, by the rules of data/risks.toml."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

from noface.data import table
from noface.integrity.tampering import is_code, is_test_file
from noface.model.attempt import (
    CHANGED_TESTS,
    LEFT_OUT,
    OWN_JUDGE,
    PUT_RIGHT,
    UNASKED,
    UNFINISHED,
    UNTESTED,
    brings_back,
    noted,
)
from noface.model.description import Minimum, Timestamp
from noface.model.history import Decided, Verdict
from noface.model.patterns import matches_any
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind
from noface.recovery.reported import made_up
from noface.store.overview import LandedAt
from noface.store.reader import Reader
from noface.store.records import AttemptRow, GateRun, IssueRow, QuestionRow
from noface.ui.text import clean, count, fit

_TEXT_CELLS_MAX = 60
_NAMES_MAX = 3
_ACCEPT = "accept"
"""What the names of the gates begin with that are an issue's own commands."""


class LandedIssue(NamedTuple):
    """An issue that landed, what it took, and what speaks for a closer look."""

    id: Annotated[str, "Its id."]
    title: Annotated[str, "Its title."]
    at: Annotated[float, Timestamp, "When it landed."]
    commit: Annotated[str | None, "The commit of main that holds it."]
    attempt: Annotated[int, Minimum(1), "The attempt whose work landed."]
    model: Annotated[str, "The entry of [models] that made it."]
    attempts: Annotated[int, "How many attempts were made at it."]
    files: Annotated[int, "How many files it changed."]
    lines: Annotated[int, "How many lines it added and deleted, without files that are made."]
    gates: Annotated[tuple[GateRun, ...], "The gates that ran on its work."]
    seconds: Annotated[float, "How long its attempts took together."]
    cost_usd: Annotated[float | None, "What it has cost, in dollars; null if nobody said."]
    risk: Annotated[int, "How much speaks for a closer look: the sum of the points of `reasons`."]
    reasons: Annotated[tuple[str, ...], "What speaks for it, the heaviest first."]
    note: Annotated[str, "Who let it change tests of main, and why; may be empty."]
    bring_back: Annotated[str, "The command that brings back what was left out of its work; may be empty."] = ""
    added: Annotated[int | None, "How many lines its landing added to main; null if git does not know it."] = None
    deleted: Annotated[int | None, "How many it deleted; null likewise."] = None


def landed_issue(reader: Reader, landing: LandedAt) -> LandedIssue:
    """Return an issue that landed; of one that is gone since, or of lost records, what is known."""
    row, attempts = reader.issue(landing.issue_id), reader.attempts(landing.issue_id)
    last = next((each for each in attempts if each.number == landing.number), attempts[-1] if attempts else None)
    weighed = sorted(
        _weighed(row, last, attempts, reader.questions(landing.issue_id), reader.decisions(landing.issue_id)),
        key=lambda each: -each[0],
    )
    return LandedIssue(
        id=landing.issue_id,
        title=row.title if row is not None else "",
        at=landing.at,
        commit=row.merged_commit if row is not None else None,
        attempt=max(landing.number, 1),
        model=last.model if last is not None else "",
        attempts=len(attempts),
        files=len(last.changed) if last is not None else 0,
        lines=last.lines if last is not None else 0,
        gates=last.gates if last is not None else (),
        seconds=round(sum(each.seconds or 0.0 for each in attempts), 3),
        cost_usd=row.cost_usd if row is not None else None,
        risk=sum(points for points, _ in weighed),
        reasons=tuple(words for _, words in weighed),
        note=next((text for each in reversed(attempts) if (text := noted(each.notes, CHANGED_TESTS))), "").removeprefix(
            f"{CHANGED_TESTS}: "
        ),
        bring_back=brings_back(noted(last.notes, LEFT_OUT))[1] if last is not None else "",
    )


def ranked(landed: Iterable[LandedIssue]) -> list[LandedIssue]:
    return sorted(landed, key=lambda each: (-each.risk, -each.lines, each.at))


def look_first(landed: Iterable[LandedIssue]) -> list[LandedIssue]:
    """Return what of it a person should look at, in that order."""
    known, rules = list(landed), table("risks")
    points, words = _points(rules["untested"])
    bare = [each for each in known if words in each.reasons]
    usual = len(bare) > max(1, len(known) * rules["untested_share_max"])  # a project's habit points to none of them
    return [
        each for each in ranked(known) if each.risk - points * (usual and words in each.reasons) >= rules["look_from"]
    ]


def _weighed(
    row: IssueRow | None,
    last: AttemptRow | None,
    attempts: Sequence[AttemptRow],
    asked: Sequence[QuestionRow],
    decided: Sequence[Decided],
) -> Iterator[tuple[int, str]]:
    verdicts = [each.verdict for each in decided]
    sent_back = sum(each.answer is not None and each.answer.strategy == "request_changes" for each in asked)
    if row is not None and row.granted_paths:
        yield _rule("paths_allowed", text=some(row.granted_paths, _NAMES_MAX))
    if Verdict.REJECTED in verdicts:
        yield _rule("rejected")
    if Verdict.APPROVED in verdicts:
        yield _rule("approved")
    if sent_back:
        yield _rule("sent_back", sent_back, times=f" {sent_back} times" if sent_back > 1 else "")
    if any(each.outcome == FailureKind.MERGE_CONFLICT for each in attempts):
        yield _rule("conflict")
    if len(attempts) > 1:
        yield _rule("retries", min(len(attempts) - 1, _NAMES_MAX), times=count(len(attempts), "attempt"))
    if last is not None:
        yield from _of_work(last)


def _of_work(last: AttemptRow) -> Iterator[tuple[int, str]]:
    rules, report = table("risks"), last.report
    if what := brings_back(noted(last.notes, LEFT_OUT))[0]:
        yield _rule("left_out", text=clean(what))
    asked = [doubt for doubt in last.doubts if doubt.startswith(UNASKED)]
    if unasked := (*asked, *(note for note in last.notes if note.startswith(UNASKED))):
        yield _rule("unasked", text=fit(clean(unasked[0]), _TEXT_CELLS_MAX))
    if len(last.doubts) > len(asked) or noted(last.notes, OWN_JUDGE):
        yield _rule("judges_changed")
    told = (("tests_changed", CHANGED_TESTS), ("put_right", PUT_RIGHT), ("unfinished", UNFINISHED))
    for name, begins in (*told, ("new_untested", UNTESTED)):
        if what := noted(last.notes, begins):
            yield _rule(name, text=fit(clean(what), _TEXT_CELLS_MAX))
    flaky = tuple(gate.name for gate in last.gates if gate.passed and (gate.flaky or gate.unsteady))
    soft = tuple(gate.name for gate in last.gates if not gate.passed and not gate.hard)
    for name, gates in (("flaky", flaky), ("soft", soft)):
        if gates:
            yield _rule(name, text=some(gates, _NAMES_MAX))
    if report is not None:
        # It landed before anybody answered; what was answered is asked by an earlier attempt.
        said = (("made_up", made_up(report)), ("asked", report.asks), ("unverified", report.unverified))
        for name, texts in (*said, ("risk", report.risks), ("left", report.left)):
            if texts:
                yield _rule(name, text=fit(clean(texts[0]), _TEXT_CELLS_MAX))
    if grown := sum(last.lines >= limit for limit in rules["lines"]):
        yield _rule("size", grown, lines=count(last.lines, "line"), files=count(len(last.changed), "file"))
    code = any(is_code(path) for path in last.changed) and not any(is_test_file(path) for path in last.changed)
    own = noted(last.notes, UNTESTED) or any(gate.name.startswith(_ACCEPT) for gate in last.gates)
    if code and not own and last.lines >= rules["untested_lines"]:
        yield _rule("untested")
    for each in rules["paths"]:
        if any(matches_any(path, tuple(each["paths"])) for path in last.changed):
            yield _points(each)


def _rule(name: str, times: int = 1, /, **facts: str) -> tuple[int, str]:
    points, words = _points(table("risks")[name])
    return points * times, words.format(**facts)


def _points(entry: Mapping[str, object]) -> tuple[int, str]:
    return int(str(entry["points"])), str(entry["words"])
