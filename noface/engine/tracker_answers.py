"""What people write about an issue at its tracker, carried out as the commands of the same names are."""

from noface.engine.context import RunContext
from noface.errors import UsageError
from noface.model.history import Verdict
from noface.model.publication import Heard
from noface.model.taxonomy import IssueStatus
from noface.process.failpoints import hit
from noface.recovery.said import ASKING
from noface.store import decisions
from noface.store.publications import Publications
from noface.store.records import IssueRow

COMMANDS = ("approve", "reject", "retry", "skip")
_SHOWN_CHARS_MAX = 40
_TOLD_CHARS_MAX = 500


def act_on(context: RunContext, publications: Publications, heard: Heard) -> None:
    """Carry out what an allowed author has written, once: in the transaction that records that it was heard.

    What cannot be carried out changes nothing else; why stands in the issue's comment from then on.
    """
    known = publications.get(heard.issue_id)
    if known is None or heard.id <= known.heard.after:
        return
    note = context.env.masker.text(heard.text.strip())[: decisions.NOTE_CHARS_MAX]
    with context.questions.together():
        who = {"author": heard.author, "command": heard.command, "url": heard.url}
        context.log_event("heard", heard.issue_id, text=note[:_TOLD_CHARS_MAX], **who)
        problems = [_tried(context, row, heard, note) for row in _meant(context, heard.issue_id)]
        publications.heard(heard.issue_id, heard.id, " ".join(dict.fromkeys(filter(None, problems))))
    hit("answer_heard")


def _meant(context: RunContext, issue_id: str) -> list[IssueRow]:
    """Return the issue, or those of its parts that wait for an answer: the tracker does not know them."""
    row = context.reader.issue(issue_id)
    if row is None:
        return []
    if row.status != IssueStatus.EPIC:
        return [row]
    return [part for part in context.reader.waiting_for_a_person() if part.parent == issue_id]


def _tried(context: RunContext, row: IssueRow, heard: Heard, note: str) -> str:
    try:
        return _carry_out(context, row, heard, note)
    except UsageError as error:
        return f"{heard.author} wrote /{heard.command}, but {error.message}."


def _carry_out(context: RunContext, row: IssueRow, heard: Heard, note: str) -> str:
    """Carry it out; return why that is not possible, "" where it was."""
    now, journal, who = context.clock.now(), context.journal, heard.author
    if row.status not in ASKING:  # an earlier comment has answered the question already
        if not heard.command:
            context.questions.note(row.id, note)
        return ""
    approval = row.status == IssueStatus.APPROVAL
    match heard.command:
        case "approve":
            case = decisions.open_case(context.reader, context.questions, row, Verdict.APPROVED)
            decisions.approve(now, journal, context.questions, case, note, who)
        case "reject" if not note:
            return f"{who} wrote /noface reject without a reason: the next worker would do the same again."
        case "reject":
            case = decisions.open_case(context.reader, context.questions, row, Verdict.REJECTED)
            decisions.reject(now, journal, context.questions, case, note, who)
        case "retry":
            _give_back(context, row, note, f"retried by {who}")
        case "skip":
            journal.status(now, row.id, IssueStatus.SKIPPED, f"skipped by {who}")
        case "" if approval:
            return f"{who} has answered, but what is needed is /noface approve, or /noface reject and why."
        case "":
            _give_back(context, row, note, f"answered by {who}")
        case other:
            known = ", ".join(COMMANDS)
            return f"{who} wrote /noface {other[:_SHOWN_CHARS_MAX]}, which is none of {known}."
    return ""


def _give_back(context: RunContext, row: IssueRow, note: str, why: str) -> None:
    problem = decisions.no_unblocking(row) or decisions.gone(row) or decisions.taken_back(context.reader, row)
    if problem is not None:
        raise problem
    decisions.give_back(context.journal, context.reader, context.clock.now(), row, note, why)
