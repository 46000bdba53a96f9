"""The questions under way, in threads; each holds a worker's slot. Only the loop's thread records the answers."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from noface.core.actions import Ask
from noface.core.breaker import tripped
from noface.core.history import Advice, AdviceOutcome, Topic
from noface.core.issue import Issue, IssueState
from noface.core.masked_records import masked_issue
from noface.core.overrun import ENDS_MAX, EndedFor, Overrun
from noface.core.review_rules import rejection
from noface.core.taxonomy import FailureKind, IssueStatus
from noface.core.worker_run import Usage
from noface.loop.asking import Answer, Question, ask, question_usage
from noface.loop.context import RunContext
from noface.loop.own_answers import check_dependencies, split
from noface.loop.question_prompts import make_question
from noface.system.failpoints import hit
from noface.system.supervise import Canceller


@dataclass(frozen=True, slots=True)
class Answered:
    """Message to the loop: a question is settled. `broken` is what broke noface itself."""

    question: Question
    answer: Answer | None
    broken: BaseException | None = None


class Consultations:
    """Starts and stops questions. What it starts ends with an Answered in the inbox."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._pool = ThreadPoolExecutor(context.settings.workers, thread_name_prefix="question")
        self._cancels: dict[str, Canceller] = {}
        self._over: dict[str, Overrun] = {}
        self._open: dict[str, Question] = {}

    @property
    def issues(self) -> frozenset[str]:
        """The issues something is being asked about."""
        return frozenset(self._open)

    @property
    def models(self) -> frozenset[str]:
        """The models being asked."""
        return frozenset(question.model.name for question in self._open.values())

    def own(self, issue: Issue, action: Ask, state: IssueState) -> bool:
        """Answer a question that needs no model; False where it does."""
        if action.model:
            return False
        context, topic, now = self._context, action.topic, self._context.clock.now()
        past = context.reader.past(issue.id)
        after = past[-1].number
        question = context.questions.asked(
            now, issue.id, topic, after=after, epoch=state.epoch, model="", run_id=context.run_id, directory=""
        )
        if topic is Topic.DEPENDENCY:
            self._record(question, issue, check_dependencies(context, issue, past[-1], state.epoch), ())
        else:
            self._record(question, issue, *split(context, issue, past, state.epoch))
        return True

    def begin(self, issue: Issue, action: Ask, state: IssueState, slot: int) -> None:
        """Ask a model, in a slot."""
        context, topic = self._context, action.topic
        question = make_question(context, issue, topic, action.model, slot, state)
        self._open[issue.id] = question
        self._cancels[issue.id] = Canceller()
        reason = f"asks {action.model}: {topic.value.replace('_', ' ')}"
        context.journal.status(context.clock.now(), issue.id, IssueStatus.RUNNING, reason)
        self._pool.submit(self._ask, question, self._cancels[issue.id])

    def _ask(self, question: Question, cancel: Canceller) -> None:
        ended = Answered(question, None)
        try:
            ended = Answered(question, ask(question, self._context.shop, cancel, self._context.inbox.put))
        except Exception as error:  # noqa: BLE001 - whatever broke, the loop must hear of it and end the run
            ended = Answered(question, None, error)
        finally:
            self._context.inbox.put(ended)

    def ended(self, message: Answered) -> int:
        """Record an answer; return the slot the question held."""
        context, question, answer = self._context, message.question, message.answer
        self._open.pop(question.issue.id, None)
        self._cancels.pop(question.issue.id, None)
        over = self._over.pop(question.issue.id, None)
        now = context.clock.now()
        if answer is None:
            used = question_usage(context.shop, question.model, question.directory)
            answer, over = Answer(question, None, used=used), None
        advice, children = answer.advice, answer.children
        if advice is None and over is not None:
            advice = self._too_dear(question, answer.used, over)
        if advice is None:
            mark, why = (over.mark, over.note) if over is not None else ("", "")
            context.questions.cut_short(now, question.id, answer.used, cause=why, mark=mark)
            context.journal.status(now, question.issue.id, IssueStatus.READY, f"{why or 'interrupted'}; asks again")
            return question.slot
        if answer.away:
            self._rest(question, answer, now)
        if question.topic is Topic.BREAKDOWN and advice.outcome is not AdviceOutcome.ADVISED:
            instead, children = split(context, question.issue, context.reader.past(question.issue.id), question.epoch)
            why = f"the planner's answer was of no use ({advice.cause})"
            if instead.outcome is AdviceOutcome.ADVISED:
                context.journal.event(now, "planner_failed", question.issue.id, message=why)
                advice = replace(instead, cost_usd=advice.cost_usd, tokens=advice.tokens)  # it was asked, and paid
        self._record(question.id, question.issue, advice, children)
        return question.slot

    def _too_dear(self, question: Question, used: Usage, over: Overrun) -> Advice | None:
        """Return an answer of no use where asking once more would end the same way, None where it may not."""
        topic, after, epoch = question.topic, question.after, question.epoch
        times = self._context.questions.ends_at_run(question.issue.id, topic, after=after, epoch=epoch) + 1
        again = over.ended_for is EndedFor.WITH_RUN or (over.ended_for is EndedFor.RUN and times < ENDS_MAX)
        if again:
            return None
        cause = over.note if over.ended_for is EndedFor.ISSUE else f"{over.note}; it was ended {times} times"
        outcome, model = AdviceOutcome.UNUSABLE, question.model.name
        return Advice(topic, after, outcome, epoch, model, cause=cause, cost_usd=used.cost_usd, tokens=used.tokens)

    def _record(self, question: int, issue: Issue, advice: Advice, children: tuple[Issue, ...]) -> None:
        """Record an answer with all that follows from it for the issue: a crash leaves all of it, or the question."""
        context, now = self._context, self._context.clock.now()
        with context.questions.together():
            context.questions.answered(now, question, issue.id, advice)
            if advice.topic is Topic.REVIEW and advice.strategy == "request_changes":
                context.journal.attempt_overruled(now, issue.id, advice.after, rejection(advice))
            if children:
                parts = tuple(masked_issue(child, context.shop.masker) for child in children)
                context.questions.add_children(now, issue.id, parts)
                names = ", ".join(child.id for child in children)
                context.journal.status(now, issue.id, IssueStatus.EPIC, f"divided into {names}")
            else:
                shown = f"{advice.topic.value.replace('_', ' ')}: {advice.strategy or advice.outcome.lower()}"
                context.journal.status(now, issue.id, IssueStatus.READY, shown)
        hit("answer_recorded")

    def _rest(self, question: Question, answer: Answer, now: float) -> None:
        """Let everybody know that the model's provider is away; the issue goes on without the answer."""
        context, model = self._context, question.model.name
        policy = context.settings.policy
        before = context.reader.waits().get(model)
        until = answer.retry_at or now + policy.backoff_base_s
        kind, reason = FailureKind.OVERLOADED, f"{model}: {answer.advice.cause if answer.advice else ''}"
        rules = context.settings.breaker
        context.journal.wait(
            tripped(
                before, model, started_at=question.asked_at, now=now, until=until, kind=kind, reason=reason, rules=rules
            )
        )

    @property
    def endable(self) -> tuple[Question, ...]:
        """The questions under way that nobody has ended."""
        return tuple(each for name, each in self._open.items() if not self._cancels[name].cancelled)

    def end(self, issue_id: str, over: Overrun) -> None:
        """End what is being asked about an issue, for money. Reviewing what has passed is due whatever it has cost."""
        question = self._open.get(issue_id)
        due = question is not None and question.topic is Topic.REVIEW and over.ended_for is EndedFor.ISSUE
        if question is not None and not due and not self._cancels[issue_id].cancelled:
            self._over[issue_id] = over
            self._cancels[issue_id].cancel()

    def stop(self, *, urgent: bool) -> None:
        """End what is being asked; the next run asks again."""
        for cancel in self._cancels.values():
            cancel.cancel(urgent=urgent)

    def close(self) -> None:
        """End what is being asked, and wait for it."""
        self.stop(urgent=False)
        self._pool.shutdown(wait=True)
