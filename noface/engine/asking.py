"""Asks a model about an issue, between two attempts: the question, its run, its answer (L11, L12, P6, S2, K5, N7, N9).

It works in a slot like a worker, and its changes there are dropped. A malformed answer gets one immediate reminder.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from noface.agents.base import RunPlace
from noface.attempt.attempt import Attempt
from noface.attempt.environment import AttemptEnvironment, AttemptProgress, Scope
from noface.attempt.prepare import Preparation
from noface.attempt.worker.agent_run import run_agent, settle, write_order
from noface.attempt.worker.agent_watch import lost_usage
from noface.data import table
from noface.diagnosis.agent_errors import page_instead
from noface.diagnosis.known_causes import of_its_provider
from noface.engine.changed_tests import about_tests
from noface.engine.context import RunContext
from noface.engine.lessons import look_up
from noface.engine.orders import protection_for
from noface.engine.prompt_context import (
    arguments,
    attempt_directory,
    compare_with_main,
    earlier_answers,
    files_given,
    landed_parts,
    landed_patch,
    main_since,
    patch_of,
    prior_failures,
    quotes_of,
    related_files,
)
from noface.git.guarded import with_files_of
from noface.git.refs import RefUpdate, hold_ref
from noface.git.workspace import Slot, give_git
from noface.integrity.asked_for import NOT_THERE, Grounds, stands_in, unfounded
from noface.model.actions import Ask
from noface.model.attempt import AttemptOrder, PastAttempt
from noface.model.budget import Allowance, summed
from noface.model.history import ASKED_FOR, Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.protection import Protection
from noface.model.quoting import quoted
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import AgentRun, EndedBy, ModelSpec, Usage, as_role
from noface.process.failpoints import hit
from noface.prompts.answers.forms import ANSWERS, provider_schema, without_nulls
from noface.prompts.data import PromptData, Quote, Situation
from noface.prompts.render import render
from noface.prompts.structured import QUOTED, Invalid, reminder, validate
from noface.recovery.breakdown import left_out, plan_children
from noface.recovery.breakdown_rules import AcceptForms
from noface.recovery.reported import of_invalid
from noface.recovery.resume import refusal
from noface.recovery.retry_policy import CHILDREN_MAX
from noface.recovery.start import conflicts_of
from noface.store.records import GateRun

_ORIGINAL_MAX = 4000
_QUOTED_MAX = 200
AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Question:
    """All that asking needs: `id` is its row, `order` runs its model after the attempt of that number.

    `known_ids` and `forms` (allowed commands) are a breakdown's.

    The model reads the files of `protection` from main, never from the work in question. `grounds` is what an answer on
    changed tests has to stand on.
    """

    id: int
    issue: Issue
    topic: Topic
    order: AttemptOrder
    epoch: int
    asked_at: float
    known_ids: frozenset[str]
    protection: Protection
    forms: AcceptForms
    by_option: bool = True
    grounds: Grounds | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question; `advice` None if a cancel or its allowance ended it. `away`: the provider is."""

    question: Question
    advice: Advice | None
    children: tuple[Issue, ...] = ()
    away: bool = False
    retry_at: float | None = None
    used: Usage = field(default_factory=Usage)
    at_allowance: bool = False


def ask(question: Question, scope: Scope) -> Answer:
    """Ask, and once more where the answer is malformed. Raises only if noface, git or the disk fails."""
    for log in logs_of(question.order.directory):
        log.unlink(missing_ok=True)  # of the same question in a run that was killed
    answer, fault = _once(question, scope)
    if fault is None or answer.advice is None or scope.cancel.cancelled:
        return answer
    first, text = question.order, reminder(fault, question.topic.value, ANSWERS[question.topic].schema)
    left = first.allowance.less(answer.used.cost_usd or 0.0) if first.allowance is not None else None
    order = replace(first, prompt=f"{first.prompt}\n\n{text}", directory=f"{first.directory}/{AGAIN}", allowance=left)
    order = replace(order, token=secrets.token_hex(12))
    again = replace(question, order=order, forms=replace(question.forms, drop=True), by_option=False)

    def send(message: object) -> None:
        if isinstance(message, AttemptProgress):
            message = replace(message, used=summed(answer.used, message.used))
        scope.send(message)

    second, _ = _once(again, replace(scope, send=send))
    return replace(_paid(second, answer.used), question=question)


def logs_of(directory: str) -> tuple[Path, Path]:
    return Path(directory, "agent.log"), Path(directory, AGAIN, "agent.log")


def question_usage(env: AttemptEnvironment, model: ModelSpec, directory: str) -> Usage:
    first, again = (lost_usage(env, model, log) for log in logs_of(directory))
    return summed(first, again)


def _paid(answer: Answer, usage: Usage) -> Answer:
    used, advice = summed(answer.used, usage), answer.advice
    counted = replace(advice, cost_usd=used.cost_usd, tokens=used.tokens) if advice is not None else None
    return replace(answer, advice=counted, used=used)


def _once(question: Question, scope: Scope) -> tuple[Answer, Invalid | None]:
    env, issue, order = scope.env, question.issue, question.order
    form, model = ANSWERS[question.topic].schema, order.model
    takes = env.agents[model.agent].takes_schema and question.by_option and model.name not in env.without_schema
    order = replace(order, answer_schema=json.dumps(provider_schema(form)) if takes else "")
    asked = Attempt(order, scope)
    scope.progress(issue.id, order.number, "workspace", f"asks {model.name}: {question.topic}")
    slot = env.agent_slot(order.slot)
    start = with_files_of(env.plumbing, order.main, order.start, question.protection)
    if start != order.start:
        env.plumbing.refs.apply(RefUpdate(hold_ref(issue.id, "asked"), start))
    failure = Preparation(scope, slot, order.token).prepare(start)
    if failure is not None and scope.cancel.cancelled:
        return Answer(question, None), None
    if failure is not None:
        return _without(question, AdviceOutcome.UNAVAILABLE, failure.message), None
    give_git(slot, issue.id, start)
    place = write_order(asked, slot)
    hit("question_asked")
    run = _run(asked, slot, place)
    hit("question_answered")
    if run.ended_by in (EndedBy.CANCELLED, EndedBy.ALLOWANCE):
        return Answer(question, None, used=run.usage, at_allowance=run.ended_by is EndedBy.ALLOWANCE), None
    answer, fault = _read(question, run, by_schema=bool(order.answer_schema))
    return _paid(answer, run.usage), fault


def _run(asked: Attempt, slot: Slot, place: RunPlace) -> AgentRun:
    order, env = asked.order, asked.env
    run = run_agent(asked, place)
    settle(env, place.log_folder)
    refused = refusal(run) if order.answer_schema else ""
    if not refused or asked.scope.cancel.cancelled:
        return run
    asked.progress("agent", f"asked again without its schema: {refused}")
    plain = Attempt(replace(order, answer_schema=""), asked.scope)
    afresh = write_order(plain, slot)
    again = run_agent(plain, afresh)
    settle(env, afresh.log_folder)
    if again.error is None:
        env.without_schema.add(order.model.name)
    return replace(again, usage=summed(run.usage, again.usage))


def _read(question: Question, run: AgentRun, *, by_schema: bool) -> tuple[Answer, Invalid | None]:
    error = of_its_provider(run.error) if run.error is not None else page_instead(run.answer)
    form = ANSWERS[question.topic]
    text = without_nulls(run.answer, form.schema) if by_schema else run.answer
    answer = validate(text, form.schema, question.topic.value)
    if isinstance(answer, Invalid):
        if error is None or error.kind is FailureKind.OUTPUT_FORMAT:
            return _without(question, AdviceOutcome.UNUSABLE, answer), answer
        outcome = AdviceOutcome.UNAVAILABLE if error.category.external else AdviceOutcome.UNUSABLE
        away = error.category is Category.TRANSIENT
        return replace(_without(question, outcome, error.message, away=away), retry_at=error.retry_at), None
    if question.topic is Topic.BREAKDOWN or form.read is None:
        return _divided(question, answer)
    advice = form.read(answer, after=question.order.number, epoch=question.epoch, model=question.order.model.name)
    if question.grounds is not None and (advice.strategy == ASKED_FOR or advice.topic is Topic.MISSING):
        return _founded(question, question.grounds, advice)
    return Answer(question, advice), None


def _founded(question: Question, grounds: Grounds, advice: Advice) -> tuple[Answer, Invalid | None]:
    """Take a yes to changed tests, or a finding of what is missing, for one only if the sentences quoted bear it."""
    if advice.topic is Topic.MISSING:
        absent = (each for each in advice.points if not any(stands_in(each, text) for text in grounds.texts))
        sentence = next(absent, "")
        wrong = NOT_THERE if sentence else ""
    else:
        sentence, wrong = advice.text, unfounded(advice.text, grounds)
    if not wrong:
        return Answer(question, replace(advice, tests=grounds.tests)), None
    fault = Invalid(wrong, "string", "string", QUOTED, sentence, question.topic.value)
    return _without(question, AdviceOutcome.UNUSABLE, f"{wrong}: {quoted(sentence, _QUOTED_MAX)}"), fault


def _divided(question: Question, value: Mapping[str, Any]) -> tuple[Answer, Invalid | None]:
    planned = plan_children(question.issue, value, question.known_ids, question.forms)
    if isinstance(planned, Invalid):
        fault = replace(planned, original=json.dumps(value)[:_ORIGINAL_MAX])
        return _without(question, AdviceOutcome.UNUSABLE, fault), fault if planned.mendable else None
    text = f"divided into {', '.join(child.id for child in planned)}"
    if refused := left_out(value, question.forms):
        text += f"; accept commands that are none of the project's were left out: {', '.join(refused)}"
    advice = Advice(
        Topic.BREAKDOWN, question.order.number, epoch=question.epoch, model=question.order.model.name, text=text
    )
    return Answer(question, advice, planned), None


def _without(question: Question, outcome: AdviceOutcome, why: str | Invalid, *, away: bool = False) -> Answer:
    failure, cause = (None, why) if isinstance(why, str) else (of_invalid(why), why.violation)
    advice = Advice(
        question.topic, question.order.number, outcome, question.epoch, question.order.model.name, cause=cause
    )
    return Answer(question, replace(advice, away=away, failure=failure), away=away)


_OTHERS_MAX = 50
_OF_ITS_DIFF = (Topic.REVIEW, Topic.CHANGED_TESTS)
"""The topics whose prompt holds the whole diff, and is about nothing else."""


def make_question(
    context: RunContext, history: History, action: Ask, slot: int, note: str, allowance: Allowance | None
) -> Question:
    """Return a question, with its row written: asking begins now. `allowance` is the money that it may take."""
    topic, model = action.topic, action.model
    issue, last = history.issue, history.current[-1]
    others = tuple(f"{other.id}: {other.title}" for other in context.issues if other.id != issue.id)
    main = context.env.plumbing.main()
    forms = AcceptForms((*(gate.command for gate in context.settings.gates), *issue.accept))
    start = last.candidate if last.candidate and context.env.plumbing.resolve(last.candidate) else main
    merges = topic is Topic.MERGE_CONFLICT
    words = earlier_answers(history, topic) if topic is not Topic.REVIEW else (*arguments(history), *_doubts(last))
    data = PromptData(
        issue=issue,
        answer_example=_example(topic, issue),
        gates=context.gates_for(issue),
        earlier=prior_failures(context, issue, history.attempts),
        patch=patch_of(context, issue, last.number),
        note=note,
        decided=history.decisions,
        advice=(*words, *quotes_of(history)),
        lessons=tuple(lesson.advice for lesson in look_up(context, history)),
        files=related_files(context, history, start) if topic is Topic.CLARIFICATION else (),
        main_patch=main_since(context.env.plumbing, last, main, conflicts_of(last)) if merges else "",
        compare=compare_with_main(context),
        whole_patch=topic in (Topic.REVIEW, Topic.CHANGED_TESTS, Topic.MISSING),
        limits=_limits(issue, topic, forms),
        questions=_questions(last),
        paths=_paths(issue, topic, last),
        results=tuple(map(_result, context.reader.gates_of(issue.id, last.number))),
        points=history.open_points if topic is Topic.REVIEW else (),
        others=others[:_OTHERS_MAX] if topic not in _OF_ITS_DIFF else (),
        earlier_form=context.settings.earlier_form,
    )
    grounds = None
    if topic is Topic.CHANGED_TESTS:
        start = main  # nothing of the worker's speaks to whom is asked about it
        data, grounds = about_tests(context, history, main, data)
    if topic is Topic.MISSING:
        done = tuple(f"{part.id}: {part.title}" for part in landed_parts(context, issue))
        start, data = main, replace(data, patch=landed_patch(context, issue), paths=(), results=done)
        grounds = Grounds((issue.title, issue.body, note), (), ())
    situation = Situation(table("topics")["situation"].get(topic.value, topic.value))
    prompt = render(situation, context.settings.templates, data)
    for cut in prompt.cuts:
        context.log_event("prompt_cut", issue.id, number=None, topic=topic, what=cut)
    asked = len(history.advice) + 1
    directory = f"{attempt_directory(context.settings.attempts_dir, issue.id, last.number)}/ask-{asked}-{topic}"
    row = record_question(context, history, topic, model, directory)
    # Whatever the work may change, its files must not instruct the model that judges it.
    protection = replace(protection_for(context, issue, main), may_change=(), growing=False)
    spec = as_role(context.settings.models[model])
    change_files, read_files = files_given(context, history, spec, start, protection, data.paths)
    masked = context.env.masker.text
    order = AttemptOrder(
        run_id=context.run_id,
        token=secrets.token_hex(12),
        issue=replace(issue, title=masked(issue.title), body=masked(issue.body)),  # it is written to disk
        number=last.number,
        model=spec,
        prompt=masked(prompt.text, (*issue.paths, *data.paths)),
        main=main,
        start=start,
        slot=slot,
        directory=directory,
        gates=(),
        role=topic.role or "worker",
        topic=topic.value,
        allowance=allowance,
        files_to_read=(*change_files, *read_files),
    )
    now, ids = context.clock.now(), known_ids(context)
    return Question(row, issue, topic, order, history.epoch, now, ids, protection, forms, grounds=grounds)


def _doubts(last: PastAttempt) -> tuple[Quote, ...]:
    report = last.report
    if report is None:
        return ()
    parts = (
        ("Not done", report.left),
        ("Not verified", report.unverified),
        ("May be wrong", report.risks),
        ("Not given", report.gaps),
        ("Made up", report.made_up),
    )
    text = "\n".join(f"{name}: {each}" for name, texts in parts for each in texts)
    return (Quote("What its worker says may be wrong with it", text, last.model),) if text else ()


def record_question(context: RunContext, history: History, topic: Topic, model: str = "", directory: str = "") -> int:
    after, epoch, now = history.attempts[-1].number, history.epoch, context.clock.now()
    return context.questions.asked(
        now, history.issue.id, topic, after=after, epoch=epoch, model=model, run_id=context.run_id, directory=directory
    )


def _result(gate: GateRun) -> str:
    again = ", only when it was run again" if gate.flaky else ""
    return f"{gate.name}: {'passed' if gate.passed else 'failed'}{again}{'' if gate.hard else ' (reported only)'}"


def _limits(issue: Issue, topic: Topic, forms: AcceptForms) -> tuple[str, ...]:
    if topic is not Topic.BREAKDOWN:
        return ()
    lines = [
        f"At least 2 and at most {CHILDREN_MAX} parts, each smaller than the issue.",
        "Each part names the paths it may change, inside the repository.",
        f"Accept commands that are allowed: {forms.listed}.",
    ]
    if issue.paths:
        lines.append(f"Only paths within: {', '.join(issue.paths)}.")
    if issue.accept:
        numbered = ", ".join(f"{number} = {command}" for number, command in enumerate(issue.accept))
        lines.append(f"Together the parts' `covers` name every acceptance command of the issue: {numbered}.")
    return tuple(lines)


def _questions(last: PastAttempt) -> tuple[str, ...]:
    from_failure = last.failure.questions if last.failure is not None else ()
    from_report = (*last.report.asks, *last.report.gaps) if last.report is not None else ()
    return tuple(dict.fromkeys((*from_failure, *from_report)))


def _example(topic: Topic, issue: Issue) -> str:
    example = ANSWERS[topic].example
    if topic is Topic.BREAKDOWN and not issue.accept:
        parts = [{key: value for key, value in part.items() if key != "covers"} for part in example["children"]]
        example = {**example, "children": parts}
    return json.dumps(example, indent=1)


def _paths(issue: Issue, topic: Topic, last: PastAttempt) -> tuple[str, ...]:
    if topic in _OF_ITS_DIFF:
        return ()
    if topic is Topic.BOUNDARY and issue.paths:
        return tuple(path for path in last.changed if not matches_any(path, issue.paths))
    if topic is Topic.MERGE_CONFLICT and last.failure is not None:
        return last.failure.evidence
    return last.changed


def known_ids(context: RunContext) -> frozenset[str]:
    return frozenset(context.reader.states()) | frozenset(child.id for child in context.questions.children())
