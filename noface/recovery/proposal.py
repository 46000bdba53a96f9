"""What a pull request of noface's says: what was done, how it was proven, what it took, what to look at. Pure.

A repository's own template is filled where its headings ask for it. What workers and logs said is data: it pings
nobody, links nothing, names no place of this machine, and is bounded. The engine takes secrets out of it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from noface.integrity.tampering import is_test_file
from noface.model.attempt import UNASKED, PastAttempt, failure_of
from noface.model.gate import GateResult
from noface.model.issue import Issue
from noface.model.markdown import bounded, code, inert, plain
from noface.model.markdown import quote as quotation
from noface.model.quoting import CUT, in_dollars, short
from noface.model.taxonomy import INTERRUPTED, PASSED
from noface.model.worker_run import ReportStatus
from noface.recovery.reported import made_up

TITLE_CHARS_MAX = 200
_SUMMARY_CHARS_MAX = 4_000
_TRIED_MAX = 20
_TRIED_CHARS_MAX = 240
_POINTS_MAX = 12
_POINT_CHARS_MAX = 400
_NOTE_CHARS_MAX = 1_000
_PATHS_MAX = 10
_LARGE_LINES = 400
_LARGE_FILES = 20
_MARKER = re.compile(r"<!-- noface pull-request issue=(?P<issue>[^ >]{1,900}) attempt=(?P<attempt>[0-9]{1,9}) -->")


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is known of work that is to be proposed; the last of `attempts` is the one that is shown.

    `gates` prove it on `base`, a commit of `main`. `number` is the issue's own on the forge, if it is there; `note` is
    what its commit says, `away` takes folders of this machine out of a text, `template` is the repository's.
    """

    issue: Issue
    attempts: tuple[PastAttempt, ...]
    gates: tuple[GateResult, ...]
    base: str
    main: str
    number: str | None = None
    note: str = ""
    approved: bool = False
    cost_usd: float | None = None
    protected: tuple[str, ...] = ()
    away: Callable[[str], str] = str
    template: str = ""

    @property
    def attempt(self) -> PastAttempt:
        return self.attempts[-1]


def title(proposal: Proposal) -> str:
    text = short(proposal.away(proposal.issue.title), TITLE_CHARS_MAX) or f"Issue {proposal.issue.id}"
    return inert(text)


def marker(issue_id: str, attempt: int) -> str:
    """Return the hidden line by which noface knows a pull request for its own, where its database was lost."""
    return f"<!-- noface pull-request issue={quote(issue_id, safe='').replace('-', '%2D')} attempt={attempt} -->"


def read_marker(body: str) -> tuple[str, int] | None:
    match = _MARKER.search(body)
    return (unquote(match["issue"]), int(match["attempt"])) if match else None


def read_model(body: str, attempt: int) -> str:
    line = re.search(rf"^- {attempt} \((?P<model>[^()\n]{{1,200}})\): ", body, re.MULTILINE)
    return re.sub(r"\\(.)", r"\1", line["model"]).replace("\u200b", "") if line else ""


def body(proposal: Proposal) -> str:
    """Return the text of the pull request, as Markdown: what matters most comes first, and is left out last."""
    looks = "\n".join(f"- {point}" for point in _looks(proposal))
    own = {"issue": _issue(proposal), "done": _done(proposal), "tests": _proven(proposal)}
    form, placed = filled(proposal.template, own) if proposal.template.strip() else ("", frozenset[str]())
    parts = [
        marker(proposal.issue.id, proposal.attempt.number),
        own["issue"] if "issue" not in placed else "",
        own["done"] if "done" not in placed else "",
        form,
        f"### What to look at\n\n{looks}" if looks else "",
        f"### Gates\n\n{own['tests']}" if "tests" not in placed else "",
        f"### Attempts\n\n{_tried(proposal)}",
        f"---\n{_HOW_TO_ANSWER}",
    ]
    return bounded(parts)


_HOW_TO_ANSWER = (
    "Request changes, and noface's next run answers them here. Push to this branch, and it is yours: noface leaves it"
    " alone from then on. Close it, and noface asks what is wrong."
)


def _issue(proposal: Proposal) -> str:
    issue, number = proposal.issue, proposal.number
    if number is not None:
        return f"{'Closes' if issue.parent is None else 'Part of'} #{number}"
    source = f" ({code(proposal.away(issue.source))})" if issue.source else ""
    return f"Issue {plain(issue.id)}{source}"


def _done(proposal: Proposal) -> str:
    report = proposal.attempt.report
    if report is None or not report.summary.strip():
        return "The worker gave no account of its work."
    summary = proposal.away(report.summary)
    cut = f" {CUT}" if len(summary) > _SUMMARY_CHARS_MAX else ""
    return f"The worker says:\n\n{quotation(summary[:_SUMMARY_CHARS_MAX] + cut)}"


def _proven(proposal: Proposal) -> str:
    head = f"Each ran on the merge with {code(proposal.main)} at {proposal.base[:12]}; the hard ones passed.\n\n"
    rows = ["| gate | result | took |", "|---|---|---|"]
    rows += [f"| {plain(each.gate.name)} | {_result(each)} | {each.seconds:,.0f} s |" for each in proposal.gates]
    return head + "\n".join(rows)


def _result(result: GateResult) -> str:
    tests = f", {result.tests_run:,} tests" if result.tests_run else ""
    if not result.passed:
        return f"failed{tests}; it is only reported"
    if result.only_known_failures:
        return f"no new failures{tests}"
    return f"passed{' when run again' if result.flaky else ''}{tests}"


def _tried(proposal: Proposal) -> str:
    attempts = [each for each in proposal.attempts if not _outside(each)]
    made = len(attempts)
    cost = in_dollars(proposal.cost_usd) if proposal.cost_usd is not None else "cost unknown"
    by = ", ".join(plain(name) for name in dict.fromkeys(each.model for each in attempts))
    head = f"{made} attempt{'s' if made != 1 else ''} with {by}, {cost}."
    if outside := len(proposal.attempts) - made:
        head += f" {outside} more ended for causes outside the work."

    def came_of(attempt: PastAttempt) -> str:
        if attempt.outcome == PASSED:
            return "passed every hard gate"
        message = short(proposal.away(failure_of(attempt).message), _TRIED_CHARS_MAX)
        return f"{plain(attempt.outcome)}: {plain(message)}"

    newest = attempts[-_TRIED_MAX:]
    return "\n".join([head, "", *(f"- {each.number} ({plain(each.model)}): {came_of(each)}" for each in newest)])


def _outside(attempt: PastAttempt) -> bool:
    passed = attempt.outcome == PASSED
    return not passed and (attempt.outcome == INTERRUPTED or failure_of(attempt).category.external)


def _looks(proposal: Proposal) -> Iterator[str]:
    work = proposal.attempt
    for said in made_up(work.report)[:_POINTS_MAX]:
        yield f"the worker says that this was not given to it: {plain(short(proposal.away(said), _POINT_CHARS_MAX))}"
    if proposal.note:
        yield plain(short(proposal.away(proposal.note), _NOTE_CHARS_MAX))
    for doubt in work.doubts[:_POINTS_MAX]:
        about = "" if doubt.startswith(UNASKED) else "it changes what judges it: "
        yield f"{about}{plain(short(proposal.away(doubt), _POINT_CHARS_MAX))}"
    if proposal.protected:
        yield f"protected files changed, as the issue allows: {_paths(proposal.protected)}"
    if tests := tuple(path for path in work.changed if is_test_file(path)):
        yield f"tests changed: {_paths(tests)}"
    files = len(work.changed)
    if files > _LARGE_FILES or work.lines > _LARGE_LINES:
        yield f"it is large: {files} files, {work.lines:,} lines"
    if flaky := [plain(result.gate.name) for result in proposal.gates if result.flaky]:
        yield f"passed only when run again: {', '.join(flaky)}"
    report = work.report
    if report is not None:
        if report.status is not ReportStatus.DONE:
            yield f"the worker calls it {report.status.value}"
        for text in report.unverified[:_POINTS_MAX]:
            yield f"the worker did not verify: {plain(short(proposal.away(text), _POINT_CHARS_MAX))}"
        for risk in report.risks[:_POINTS_MAX]:
            yield f"the worker sees a risk: {plain(short(proposal.away(risk), _POINT_CHARS_MAX))}"
    if proposal.approved:
        yield "a person has approved it for landing"


def _paths(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _PATHS_MAX} more" if len(paths) > _PATHS_MAX else ""
    return ", ".join(code(path) for path in paths[:_PATHS_MAX]) + more


PLACES = (
    ".github/pull_request_template.md",
    "pull_request_template.md",
    "docs/pull_request_template.md",
    ".github/pull_request_template.txt",
    "pull_request_template.txt",
    "docs/pull_request_template.txt",
)
"""Where GitHub looks for it, in this order, in whatever case."""
TEMPLATE_CHARS_MAX = 20_000
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(?P<title>.*)")
_ASKS = {
    "issue": ("issue", "issues", "ticket", "tickets", "related", "fixes", "closes", "references"),
    "tests": ("test", "tests", "tested", "testing", "verification", "verified", "checks", "qa"),
    "done": ("description", "summary", "what", "changes", "change", "why", "motivation", "proposed", "overview"),
}
"""What a heading asks for, by the words in it; the first that fits."""


def place_of(paths: tuple[str, ...]) -> str:
    by_name: dict[str, str] = {}
    for path in paths:
        by_name.setdefault(path.lower(), path)
    return next((by_name[place] for place in PLACES if place in by_name), "")


def filled(template: str, parts: Mapping[str, str]) -> tuple[str, frozenset[str]]:
    """Return the template with each part below the first heading that asks for it, and which parts found a place."""
    used: set[str] = set()
    lines: list[str] = []
    fenced = False
    for line in template[:TEMPLATE_CHARS_MAX].replace("\r\n", "\n").split("\n"):
        lines.append(line)
        fenced = fenced is not line.lstrip().startswith("```")
        heading = _HEADING.fullmatch(line) if not fenced else None
        asked = _asked(heading["title"]) if heading is not None else ""
        if asked and asked not in used and parts.get(asked):
            used.add(asked)
            lines += ["", parts[asked], ""]
    return "\n".join(lines).strip(), frozenset(used)


def _asked(title: str) -> str:
    words = set(re.findall(r"[a-z]+", title[:200].lower()))
    return next((what for what, known in _ASKS.items() if words & set(known)), "")
