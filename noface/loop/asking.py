"""Asks a model about an issue, between two attempts: runs it on a prompt, validates what it answers (L11, L12, P6).

The model works in a slot like a worker does, so that it can read the project; what it changes there is thrown away.
A malformed answer gets one immediate reminder that names what is wrong with it.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from noface.core.accept_forms import AcceptForms
from noface.core.answers.table import ANSWERS
from noface.core.attempt import AttemptOrder
from noface.core.breakdown import BreakdownLimits, PlanFault, left_out, plan_children
from noface.core.history import Advice, AdviceOutcome, Topic
from noface.core.issue import Issue
from noface.core.masking import Masker
from noface.core.prices import summed
from noface.core.protection import Protection
from noface.core.structured import Invalid, reminder, validate
from noface.core.taxonomy import Category
from noface.core.worker_run import AgentRun, EndedBy, ModelSpec, Usage
from noface.git.plumbing import with_files_of
from noface.git.refs import RefUpdate, hold_ref
from noface.git.workspace import give_git
from noface.loop.agent_run import run_agent
from noface.loop.boxes import fresh_place
from noface.loop.lost_usage import lost_usage
from noface.loop.order_file import order_document
from noface.loop.own_files import put
from noface.loop.prepare import prepare
from noface.loop.workshop import Progress, Tell, Workshop
from noface.system.failpoints import hit
from noface.system.files import real_folder
from noface.system.supervise import Canceller

_ORIGINAL_MAX = 4000
_AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Question:
    """All that asking needs. `id` is its row; `known_ids` and `limits` matter to a breakdown alone.

    `forms` are the accept commands that a breakdown may name. `protection` names the
    files that the model reads from main, and never from the work it is asked about.
    """

    id: int
    run_id: str
    issue: Issue
    topic: Topic
    model: ModelSpec
    prompt: str
    main: str
    start: str
    slot: int
    directory: str
    after: int
    epoch: int
    limits: BreakdownLimits
    asked_at: float = 0.0
    known_ids: frozenset[str] = frozenset()
    protection: Protection = field(default_factory=Protection)
    forms: AcceptForms = field(default_factory=AcceptForms)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question; `advice` None where it was cut short. `children` are a breakdown's.

    `away`: the model's provider was; `retry_at` is its reset time where it gave one. `used` is what asking took, also
    where it was cut short.
    """

    question: Question
    advice: Advice | None
    children: tuple[Issue, ...] = ()
    away: bool = False
    retry_at: float | None = None
    used: Usage = field(default_factory=Usage)


def ask(question: Question, shop: Workshop, cancel: Canceller, tell: Tell) -> Answer:
    """Ask, and once more where the answer is malformed. Raises only where noface, git or the disk fails."""
    for log in logs_of(question.directory):
        log.unlink(missing_ok=True)  # of a run that was killed while it asked the same
    answer, fault = _once(question, shop, cancel, tell)
    if fault is None or answer.advice is None or cancel.cancelled:
        return answer
    form = ANSWERS[question.topic]
    again = replace(
        question,
        prompt=f"{question.prompt}\n\n{reminder(fault, question.topic.value, form.schema)}",
        directory=f"{question.directory}/{_AGAIN}",
        forms=replace(question.forms, drop=True),
    )
    second, _ = _once(again, shop, cancel, _telling(tell, answer.used))
    return replace(_paid(second, answer.used), question=question)


def logs_of(directory: str) -> tuple[Path, Path]:
    """Return the logs of a question's one or two runs, of which the first is always made first."""
    return Path(directory, "agent.log"), Path(directory, _AGAIN, "agent.log")


def question_usage(shop: Workshop, model: ModelSpec, directory: str) -> Usage:
    """Return what a question's runs had used that noface did not see the end of."""
    first, again = (lost_usage(shop, model, log) for log in logs_of(directory))
    return summed(first, again)


def _telling(tell: Tell, before: Usage) -> Tell:
    """Return what tells of a question's second run, with what the first has used."""

    def told(message: object) -> None:
        tell(replace(message, used=summed(before, message.used)) if isinstance(message, Progress) else message)

    return told


def _paid(answer: Answer, usage: Usage) -> Answer:
    """Add what a run used to what an answer cost."""
    used = summed(answer.used, usage)
    advice = answer.advice
    if advice is not None:
        advice = replace(advice, cost_usd=used.cost_usd, tokens=used.tokens)
    return replace(answer, advice=advice, used=used)


def _once(question: Question, shop: Workshop, cancel: Canceller, tell: Tell) -> tuple[Answer, Invalid | None]:
    order = _order(question, shop.masker)
    tell(Progress(question.issue.id, question.after, "workspace", f"asks {question.model.name}: {question.topic}"))
    slot = shop.agent_slot(question.slot)
    start = with_files_of(shop.plumbing, question.main, question.start, question.protection)
    if start != question.start:
        shop.plumbing.refs.apply(RefUpdate(hold_ref(question.issue.id, "asked"), start))
    failure = prepare(shop, slot, start, order.token, cancel)
    if failure is not None:
        return _without(question, AdviceOutcome.UNAVAILABLE, failure.message), None
    give_git(slot, question.issue.id, start)
    directory = real_folder(Path(question.directory), shop.plumbing.repository.state_dir)
    place = fresh_place(slot.path, directory)
    put(directory / "prompt.md", question.prompt)
    put(directory / "order.json", json.dumps(order_document(order), indent=1))
    hit("question_asked")
    run = run_agent(order, shop, place, cancel, tell)
    hit("question_answered")
    if run.ended_by is EndedBy.CANCELLED:
        return Answer(question, None, used=run.usage), None
    answer, fault = _read(question, run)
    return _paid(answer, run.usage), fault


def _order(question: Question, masker: Masker) -> AttemptOrder:
    issue = question.issue
    return AttemptOrder(
        run_id=question.run_id,
        token=secrets.token_hex(12),
        issue=replace(issue, title=masker.text(issue.title), body=masker.text(issue.body)),  # it is written to disk
        number=question.after,
        model=question.model,
        prompt=question.prompt,
        main=question.main,
        start=question.start,
        slot=question.slot,
        directory=question.directory,
        gates=(),
        role=question.topic.value,
    )


def _read(question: Question, run: AgentRun) -> tuple[Answer, Invalid | None]:
    error = run.error
    found = validate(run.answer, ANSWERS[question.topic].schema, question.topic.value)
    if isinstance(found, Invalid):
        if error is not None:
            away = error.category.external
            outcome = AdviceOutcome.UNAVAILABLE if away else AdviceOutcome.UNUSABLE
            waits = error.category is Category.TRANSIENT
            return replace(_without(question, outcome, error.message), away=waits, retry_at=error.retry_at), None
        return _without(question, AdviceOutcome.UNUSABLE, found.violation), found
    form = ANSWERS[question.topic]
    if question.topic is Topic.BREAKDOWN or form.read is None:
        return _divided(question, found.value)
    advice = form.read(found.value, after=question.after, epoch=question.epoch, model=question.model.name)
    return Answer(question, advice), None


def _divided(question: Question, value: Mapping[str, Any]) -> tuple[Answer, Invalid | None]:
    planned = plan_children(question.issue, value, question.limits, question.known_ids, question.forms)
    if isinstance(planned, PlanFault):
        fault = planned.invalid(json.dumps(value)[:_ORIGINAL_MAX]) if planned.mendable else None
        return _without(question, AdviceOutcome.UNUSABLE, planned.violation), fault
    text = f"divided into {', '.join(child.id for child in planned)}"
    if refused := left_out(value, question.forms):
        text += f"; accept commands that are none of the project's were left out: {', '.join(refused)}"
    advice = Advice(
        Topic.BREAKDOWN,
        question.after,
        epoch=question.epoch,
        model=question.model.name,
        text=text,
    )
    return Answer(question, advice, planned), None


def _without(question: Question, outcome: AdviceOutcome, why: str) -> Answer:
    advice = Advice(question.topic, question.after, outcome, question.epoch, question.model.name, cause=why)
    return Answer(question, advice)
