"""Asks other models about issues between two attempts. Only the loop's thread records the answers.

What noface knows it answers itself: whether dependencies are merged (K5), how a diff divides (N9).
"""

from dataclasses import replace

from noface.engine.asking import Answer, Question, ask, known_ids, make_question, question_usage, record_question
from noface.engine.changed_tests import answered_before, contested, let_by_configuration
from noface.engine.context import RunContext
from noface.engine.jobs import Job, JobKind, Jobs
from noface.engine.lessons import remembered
from noface.engine.outages import answers_again
from noface.engine.prompt_context import history_of, landed_parts
from noface.engine.stations import Stations, Steps
from noface.git.plumbing import Plumbing
from noface.model.actions import Ask
from noface.model.attempt import CHANGED_TESTS, PastAttempt
from noface.model.budget import ENDS_MAX, Allowance, EndedFor, Overrun
from noface.model.history import ASKED_FOR, Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue, IssueState
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.model.worker_run import Usage
from noface.process.failpoints import hit
from noface.process.supervise import Canceller
from noface.recovery.breakdown import as_named
from noface.recovery.breakdown_files import TouchedFiles, rest_of, split_by_files
from noface.recovery.closing import left_by, missing
from noface.recovery.policy_state import excused, parts_named
from noface.recovery.retry_policy import CHILDREN_MAX, rejection
from noface.recovery.schedule import waited_for
from noface.secrets.masked_records import masked_record


def check_dependencies(context: RunContext, issue: Issue, last: PastAttempt, epoch: int) -> Advice:
    """Check the issues that the worker's report names: the open ones among them come first."""
    named = last.report.needs if last.report is not None else ()
    states, issues = context.reader.states(), {issue.id: issue for issue in context.issues}
    known = [needed for needed in dict.fromkeys(named) if needed in states and needed != issue.id]
    # Two issues that wait for each other, near or far, would never end.
    in_turn = {needed for needed in known if needed in issues and issue.id in waited_for(issues[needed], issues)}
    open_ones = tuple(needed for needed in known if not states[needed].done and needed not in in_turn)
    merged = [needed for needed in known if states[needed].done]
    lines = [f"Issue {needed} is merged: its work is in your checkout." for needed in merged]
    lines += [f"There is no issue {needed}." for needed in named if needed not in states]
    if not named:
        lines.append("The report names no issue to wait for. Every dependency that is known is merged.")
    text = "\n".join(lines)
    return Advice(Topic.DEPENDENCY, last.number, epoch=epoch, strategy="recheck", text=text, needs=open_ones)


def split(
    context: RunContext, issue: Issue, past: tuple[PastAttempt, ...], epoch: int
) -> tuple[Advice, tuple[Issue, ...]]:
    """Divide an issue by the files of its largest diff, and what is not in them, or by what is missing at last."""
    last, known = past[-1].number, known_ids(context)
    before = landed_parts(context, issue)
    history = history_of(context, issue)
    by = "by files"
    if children := as_named(issue, parts_named(history), known):
        by = "as named"
    elif lacking := missing(history):
        children = rest_of(issue, before, (lacking,), known)
    else:
        tried = tuple(attempt for attempt in past if attempt.epoch == epoch)
        touched = _touched(context.env.plumbing, max(tried, key=lambda one: len(one.changed)))
        left = left_by(tried)
        children = split_by_files(issue, touched, CHILDREN_MAX - bool(left), known, least=1 if left else 2)
        children += rest_of(issue, (*before, *children), left, known) if children and left else ()
    if not children:
        why = "the diff does not divide into parts"
        return Advice(Topic.BREAKDOWN, last, AdviceOutcome.UNUSABLE, epoch, cause=why), ()
    names = ", ".join(child.id for child in children)
    return Advice(Topic.BREAKDOWN, last, epoch=epoch, strategy=by, text=f"divided into {names}"), children


_HEAD_BYTES = 8_000


def _touched(plumbing: Plumbing, attempt: PastAttempt) -> TouchedFiles:
    commit = plumbing.resolve(attempt.candidate) if attempt.candidate is not None else None
    if commit is None:
        return attempt.changed, ()
    ours, mains = (plumbing.entries(tree, attempt.changed) for tree in (commit, plumbing.main()))
    differing = [path for path in attempt.changed if ours.get(path) != mains.get(path)]
    no_work = {path for path in differing if path not in ours or ours[path][1:] == mains.get(path, ("", ""))[1:]}
    work = tuple(path for path in differing if path not in no_work)
    with plumbing.blobs() as blobs:
        regular = [path for path in work if ours[path][0].startswith("100")]
        no_work |= {path for path in regular if b"\0" in b"".join(blobs.chunks(ours[path][1], _HEAD_BYTES))}
    return tuple(path for path in work if path not in no_work), tuple(sorted(no_work))


class Advisors:
    """Asks other models about issues, each in a slot, and records their answers."""

    def __init__(self, context: RunContext, jobs: Jobs, stations: Stations) -> None:
        self._context, self._jobs, self._stations = context, jobs, stations

    def answer_itself(self, history: History, action: Ask) -> bool:
        """Answer a question that needs no model, or whose answer is remembered; False if it needs one."""
        context, issue, last = self._context, history.issue, history.attempts[-1]
        children: tuple[Issue, ...] = ()
        answer = None
        if action.topic is Topic.DIAGNOSIS:
            answer = remembered(context, history)
        elif action.topic is Topic.DEPENDENCY:
            answer = check_dependencies(context, issue, last, history.epoch)
        elif action.topic is Topic.CHANGED_TESTS:
            known = contested(context, history) or answered_before(context, history) if action.model else None
            answer = known if action.model else let_by_configuration(history)
        elif action.model:
            return False
        else:
            answer, children = split(context, issue, history.attempts, history.epoch)
        if answer is not None:
            self._record(record_question(context, history, action.topic), issue, answer, children)
        return answer is not None

    def begin(self, history: History, action: Ask, state: IssueState, allowance: Allowance | None) -> None:
        context, slot = self._context, self._jobs.take_slot()
        question = make_question(context, history, action, slot, state.note, allowance)
        reason = f"asks {action.model}: {action.topic.value.replace('_', ' ')}"
        context.set_status(history.issue.id, IssueStatus.RUNNING, reason)
        self._stations.begin(self._ask(question))

    def _ask(self, question: Question) -> Steps[None]:
        context, issue_id, due = self._context, question.issue.id, question.topic is Topic.REVIEW

        def run(cancel: Canceller) -> Answer:
            return ask(question, context.scope(cancel))

        model, began = question.order.model.name, question.asked_at
        job = Job(JobKind.QUESTION, issue_id, run, question.order.slot, model, due=due, always=True, began_at=began)
        job.number = question.id
        try:
            answer, over = (yield job), job.over
        except Exception as error:  # noqa: BLE001 - noface itself broke: what it has cost counts, and it is asked again
            self._stations.again(job, error)
            used = question_usage(context.env, question.order.model, question.order.directory)
            answer, over = Answer(question, None, used=used), None
        context.backlog_stale = True
        now = context.clock.now()
        if over is None and answer.at_allowance and question.order.allowance is not None:
            over = question.order.allowance.reached(answer.used.cost_usd or 0.0)
        advice, children = answer.advice, answer.children
        if advice is None and over is not None:
            advice = self._too_dear(question, answer.used, over)
        if advice is None:
            mark, why = (over.mark, over.note) if over is not None else ("", "")
            context.questions.cut_short(now, question.id, answer.used, cause=why, mark=mark)
            context.journal.status(now, issue_id, IssueStatus.READY, f"{why or 'interrupted'}; asks again")
            return
        if answer.away:
            cause, until = advice.cause, answer.retry_at or now + context.settings.policy.backoff_base_s
            name, since = question.order.model.name, question.asked_at
            context.open_breaker(name, started_at=since, until=until, kind=FailureKind.OVERLOADED, reason=cause)
        elif advice.outcome is not AdviceOutcome.UNAVAILABLE:
            answers_again(context, question.order.model.name, question.asked_at)
        if question.topic is Topic.BREAKDOWN and advice.outcome is not AdviceOutcome.ADVISED:
            instead, children = split(context, question.issue, context.reader.past(question.issue.id), question.epoch)
            why = f"the planner's answer was of no use ({advice.cause})"
            if instead.outcome is AdviceOutcome.ADVISED:
                context.log_event("planner_failed", issue_id, message=why)
                advice = replace(instead, cost_usd=advice.cost_usd, tokens=advice.tokens)  # it has cost money
        self._record(question.id, question.issue, advice, children)

    def _too_dear(self, question: Question, used: Usage, over: Overrun) -> Advice | None:
        topic, after, epoch = question.topic, question.order.number, question.epoch
        times = self._context.questions.ends_at_run(question.issue.id, topic, after=after, epoch=epoch) + 1
        again = over.ended_for is EndedFor.WITH_RUN or (over.ended_for is EndedFor.RUN and times < ENDS_MAX)
        if again:
            return None
        cause = over.note if over.ended_for is EndedFor.ISSUE else f"{over.note}; it was ended {times} times"
        outcome, model = AdviceOutcome.UNUSABLE, question.order.model.name
        return Advice(topic, after, outcome, epoch, model, cause=cause, cost_usd=used.cost_usd, tokens=used.tokens)

    def _record(self, question: int, issue: Issue, advice: Advice, children: tuple[Issue, ...]) -> None:
        """Record an answer with its consequences for the issue: a crash leaves all of it, or the question."""
        context, now = self._context, self._context.clock.now()
        before = history_of(context, issue)
        with context.questions.together():
            context.questions.answered(now, question, issue.id, advice)
            if advice.topic is Topic.REVIEW and advice.strategy == "request_changes":
                context.journal.attempt_overruled(now, issue.id, advice.after, rejection(advice))
            if advice.topic is Topic.CHANGED_TESTS and advice.strategy == ASKED_FOR:
                found = f'{advice.model} finds that the issue asks for it: "{advice.text}"'
                note = f"{CHANGED_TESTS}: {found if advice.text else advice.cause}"
                context.journal.attempt_accepted(now, issue.id, advice.after, note)
            if (failure := excused(advice, before)) is not None:
                context.journal.attempt_excused(now, issue.id, advice.after, failure)
            if children:
                parts = tuple(masked_record(child, context.env.masker) for child in children)
                context.questions.add_children(now, issue.id, parts)
                names = ", ".join(child.id for child in children)
                context.journal.status(now, issue.id, IssueStatus.EPIC, f"divided into {names}")
            else:
                text = f"{advice.topic.value}: {advice.strategy or advice.outcome.lower()}".replace("_", " ")
                context.journal.status(now, issue.id, IssueStatus.READY, text)
        hit("answer_recorded")
