"""What people write about an issue at its tracker, carried out as the commands of the same names are, or answered."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from noface.engine.context import RunContext
from noface.errors import UsageError
from noface.model.history import Verdict
from noface.model.publication import COMMANDS, Heard
from noface.model.taxonomy import IssueStatus
from noface.process.failpoints import hit
from noface.recovery.said import ASKING
from noface.store import decisions
from noface.store.publications import Publications
from noface.store.records import IssueRow

_TOLD_CHARS_MAX = 500
_ALIKE = 0.75
_AT_WORK = (IssueStatus.RUNNING, IssueStatus.LANDING)
_TO_BE_TRIED = (IssueStatus.READY, IssueStatus.WAITING)

_WHY_NOT = {
    IssueStatus.READY: "it waits for its turn and is worked on by itself",
    IssueStatus.WAITING: "it waits, and goes on by itself",
    IssueStatus.RUNNING: "a worker is on it",
    IssueStatus.LANDING: "its work has passed and is about to land",
    IssueStatus.REVIEW: "its work is in review: what becomes of it is decided at the pull request",
    IssueStatus.MERGED: "it has landed: for more work on it, open another issue",
    IssueStatus.BLOCKED: "its question is answered by no yes or no: it needs words",
    IssueStatus.APPROVAL: "what it needs is /noface approve, or /noface reject and why",
    IssueStatus.EPIC: "it was divided, and its parts do the work: to have it left alone, close it",
    IssueStatus.SKIPPED: "it is left undone: /noface retry has it worked on after all",
}
"""What stands against a command or an answer, as people at the tracker read it."""
_GONE = "it is closed, or no longer among the issues for noface: open it, or give it its label, to have it worked on"

Leave = Callable[[str, str], str]
"""Ends the work on an issue, which is left undone by what the second text says; returns why not, "" if it does."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Carries out what is heard; `leave` ends work that is under way."""

    context: RunContext
    publications: Publications
    leave: Leave

    def act_on(self, heard: Heard, *, before: bool = False) -> None:
        """Carry out what an allowed author has written, once: in the transaction that records that it was heard.

        What cannot be carried out changes nothing else; why stands in the issue's comment from then on. `before`: it
        was written before the question that is about to be put, which it therefore does not answer.
        """
        context = self.context
        known = self.publications.get(heard.issue_id)
        if known is None or (heard.id <= known.after and not heard.label):
            return
        if heard.label and (before or not self._waits(heard.issue_id)):
            return  # it was set for an earlier question, or has done what it is for
        note = context.env.masker.text(heard.text.strip())[: decisions.NOTE_CHARS_MAX]
        meant = self._meant(heard, asked=bool(known.question), before=before)
        with context.questions.together():
            if meant:
                who = {"author": heard.author, "command": heard.command, "url": heard.url}
                context.log_event("heard", heard.issue_id, text=note[:_TOLD_CHARS_MAX], **who)
            problems = [self._tried(row, heard, note, before=before) for row in meant]
            problem = " ".join(dict.fromkeys(filter(None, problems)))
            newest = known.after if heard.label else heard.id
            self.publications.heard(heard.issue_id, newest, problem, heard.author if problem else "")
        hit("answer_heard")

    def _waits(self, issue_id: str) -> bool:
        row = self.context.reader.issue(issue_id)
        parts = [part for part in self.context.reader.waiting_for_a_person() if part.parent == issue_id]
        return any(each.takes_yes for each in (*parts, *([row] if row is not None else ())))

    def obey(self, issue_id: str, author: str, command: str, text: str, url: str) -> str:
        """Carry out what was written for noface on an issue's pull request; return why not, "" if it was."""
        row = self.context.reader.issue(issue_id)
        if row is None:
            return ""
        note = self.context.env.masker.text(text.strip())[: decisions.NOTE_CHARS_MAX]
        who = {"author": author, "command": command, "url": url}
        self.context.log_event("heard", issue_id, text=note[:_TOLD_CHARS_MAX], **who)
        return self._tried(row, Heard(issue_id, 0, author, text, command, url), note, before=False)

    def _meant(self, heard: Heard, *, asked: bool, before: bool) -> list[IssueRow]:
        row = self.context.reader.issue(heard.issue_id)
        if row is None:
            return []
        parts = [part for part in self.context.reader.waiting_for_a_person() if part.parent == row.id]
        rows = parts if row.status == IssueStatus.EPIC and parts else [row]
        if heard.addressed:
            return rows
        open_ones = [each for each in rows if each.status in ASKING or (asked and each.status in _TO_BE_TRIED)]
        return [] if before else open_ones

    def _tried(self, row: IssueRow, heard: Heard, note: str, *, before: bool) -> str:
        try:
            why = self._carried_out(row, heard, note, before=before)
        except UsageError as error:
            why = error.message
        wrote = f"/noface {heard.command}" if heard.command else "to noface"
        return f"{heard.author} wrote {wrote}, but {why}." if why else ""

    def _carried_out(self, row: IssueRow, heard: Heard, note: str, *, before: bool) -> str:
        if not row.present and row.status != IssueStatus.MERGED:
            return _GONE
        match heard.command:
            case "skip":
                if row.status in (IssueStatus.MERGED, IssueStatus.EPIC):
                    return _WHY_NOT[IssueStatus(row.status)]
                if row.status in _AT_WORK and (refusal := self.leave(row.id, f"skipped by {heard.author}")):
                    return refusal
                decisions.skip(self.context.clock.now(), self.context.journal, row, heard.author)
                return ""
            case _ if before and row.status in ASKING and (heard.command or not note):
                return "that was before the question: write it again if it answers that"
            case "retry":
                status = IssueStatus(row.status)
                if status in (*_AT_WORK, IssueStatus.MERGED, IssueStatus.EPIC):
                    return _WHY_NOT[status]
                self._give_back(row, note, f"retried by {heard.author}")
                return ""
            case "approve" | "reject":
                return self._decide(row, heard.command, note, heard.author)
            case _:
                return self._answer(row, note, heard.author, before=before)

    def _decide(self, row: IssueRow, command: str, note: str, who: str) -> str:
        context, now = self.context, self.context.clock.now()
        verdict = Verdict.APPROVED if command == "approve" else Verdict.REJECTED
        if not row.takes_yes:
            decided, past = context.reader.decisions(row.id), context.reader.past(row.id)
            if decided and past and (decided[-1].verdict, decided[-1].attempt) == (verdict, past[-1].number):
                return ""  # said twice
            return _WHY_NOT[IssueStatus(row.status)]
        if verdict is Verdict.REJECTED and not note:
            return "gave no reason: the next worker would do the same again"
        case = decisions.open_case(context.reader, row, verdict)
        decisions.decide(now, context.journal, context.questions, context.reader, case, (verdict, note, who))
        return ""

    def _answer(self, row: IssueRow, note: str, who: str, *, before: bool) -> str:
        status = IssueStatus(row.status)
        if near := get_close_matches(note.lower(), COMMANDS, 1, _ALIKE):
            return f"is /noface {near[0]} meant? It did nothing"
        if status is IssueStatus.BLOCKED and not before:
            self._give_back(row, note, f"answered by {who}")
        elif status in (IssueStatus.BLOCKED, *_TO_BE_TRIED, *_AT_WORK):
            now = self.context.clock.now()
            decisions.keep_note(self.context.questions, self.context.reader, now, row, note, row.epoch)
        else:
            return _WHY_NOT[status]
        return ""

    def _give_back(self, row: IssueRow, note: str, why: str) -> None:
        problem = decisions.gone(row) or decisions.taken_back(self.context.reader, row)
        if problem is not None:
            raise problem
        context, now = self.context, self.context.clock.now()
        decisions.give_back(context.journal, context.questions, context.reader, now, row, note, why)
