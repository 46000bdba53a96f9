"""Writes the questions to other models: what they must know to answer, and the form of the answer (S2, K5, N7, N9)."""

import json
from collections.abc import Mapping
from dataclasses import replace

from noface.core.accept_forms import AcceptForms
from noface.core.answers.table import ANSWERS
from noface.core.attempt import PastAttempt
from noface.core.breakdown import BreakdownLimits
from noface.core.history import History, Topic
from noface.core.issue import Issue
from noface.core.patterns import matches_any
from noface.core.prompt_data import QuestionData
from noface.core.prompt_situation import Situation
from noface.core.prompts import render
from noface.loop.asking import Question
from noface.loop.context import RunContext
from noface.loop.learning import look_up
from noface.loop.material import attempt_directory, patch_of, prior, related_files, told_of
from noface.loop.protected_files import protection_for

_SITUATIONS = {
    Topic.DIAGNOSIS: Situation.DIAGNOSIS,
    Topic.REFLECTION: Situation.REFLECTION,
    Topic.CLARIFICATION: Situation.CLARIFICATION,
    Topic.BOUNDARY: Situation.BOUNDARY,
    Topic.MERGE_CONFLICT: Situation.CONFLICT,
    Topic.ARCHITECT: Situation.ARCHITECT,
    Topic.BREAKDOWN: Situation.BREAKDOWN,
    Topic.REVIEW: Situation.REVIEWER,
}
_OTHERS_MAX = 50


def make_question(context: RunContext, history: History, topic: Topic, model: str, slot: int, note: str) -> Question:
    """Return a question, with its row written: asking begins now."""
    issue, last = history.issue, history.current[-1]
    main = context.shop.plumbing.main()
    forms = _forms(context, issue)
    start = last.candidate if last.candidate and context.shop.plumbing.resolve(last.candidate) else main
    data = QuestionData(
        issue=issue,
        answer_example=json.dumps(ANSWERS[topic].example, indent=1),
        gates=context.gates_for(issue),
        earlier=tuple(prior(attempt) for attempt in history.attempts if attempt.failure is not None),
        patch=patch_of(context, issue, last.number),
        note=note,
        advice=told_of(history),
        lessons=tuple(lesson.advice for lesson in look_up(context, history)),
        files=related_files(context, history, start) if topic is Topic.CLARIFICATION else (),
        answer_schema=json.dumps(ANSWERS[topic].schema),
        limits=_limits(context, issue, topic, forms),
        questions=_questions(last),
        paths=_paths(issue, topic, last),
        results=gate_lines(context.reader.gates_of(issue.id, last.number)),
        others=tuple(f"{other.id}: {other.title}" for other in context.issues if other.id != issue.id)[:_OTHERS_MAX],
        earlier_form=context.settings.earlier_form,
        earlier_bytes_max=context.settings.earlier_bytes_max,
    )
    prompt = render(_SITUATIONS[topic], context.settings.templates, data, context.settings.prompt_tokens_max)
    for cut in prompt.cuts:
        context.journal.event(context.clock.now(), "prompt_cut", issue.id, number=None, topic=topic, what=cut)
    asked = len(history.advice) + 1
    directory = f"{attempt_directory(context.settings.attempts_dir, issue.id, last.number)}/ask-{asked}-{topic}"
    row = context.questions.asked(
        context.clock.now(),
        issue.id,
        topic,
        after=last.number,
        epoch=history.epoch,
        model=model,
        run_id=context.run_id,
        directory=directory,
    )
    return Question(
        id=row,
        run_id=context.run_id,
        issue=issue,
        topic=topic,
        model=context.settings.models[model],
        prompt=context.shop.masker.text(prompt.text, (*issue.paths, *data.paths)),
        main=main,
        start=start,
        slot=slot,
        directory=directory,
        after=last.number,
        epoch=history.epoch,
        limits=_bounds(context),
        asked_at=context.clock.now(),
        known_ids=known_ids(context),
        # Whatever the work may change: who judges it is not to be told how by it.
        forms=forms,
        protection=replace(protection_for(context, issue, main), may_change=()),
    )


def _forms(context: RunContext, issue: Issue) -> AcceptForms:
    commands = tuple(gate.command for gate in context.settings.gates)
    return AcceptForms((*commands, *issue.accept), any_command=context.settings.any_accept)


def _bounds(context: RunContext) -> BreakdownLimits:
    rules = context.settings.policy.breakdown
    return BreakdownLimits(children_max=rules.children_max, depth_max=rules.depth_max)


def gate_lines(gates: tuple[Mapping[str, object], ...]) -> tuple[str, ...]:
    """Return a line for each gate of an attempt, as a reviewer reads it."""
    said = {True: "passed", False: "failed"}
    return tuple(
        f"{gate['name']}: {said[bool(gate['passed'])]}"
        f"{', only when it was run again' if gate.get('flaky') else ''}{'' if gate['hard'] else ' (reported only)'}"
        for gate in gates
    )


def _limits(context: RunContext, issue: Issue, topic: Topic, forms: AcceptForms) -> tuple[str, ...]:
    if topic is not Topic.BREAKDOWN:
        return ()
    rules = context.settings.policy.breakdown
    found = [f"At least 2 and at most {rules.children_max} parts, each smaller than the issue."]
    found.append("Each part names the paths it may change, inside the repository.")
    if not forms.any_command:
        found.append(f"Accept commands that are allowed: {forms.told}.")
    if issue.paths:
        found.append(f"Only paths within: {', '.join(issue.paths)}.")
    if issue.accept:
        numbered = ", ".join(f"{number} = {command}" for number, command in enumerate(issue.accept))
        found.append(f"Together the parts' `covers` name every acceptance command of the issue: {numbered}.")
    return tuple(found)


def _questions(last: PastAttempt) -> tuple[str, ...]:
    said = last.failure.questions if last.failure is not None else ()
    reported = (*last.report.questions, *last.report.gaps) if last.report is not None else ()
    return tuple(dict.fromkeys((*said, *reported)))


def _paths(issue: Issue, topic: Topic, last: PastAttempt) -> tuple[str, ...]:
    """Return the files a question is about: those outside the issue's limits, or in conflict."""
    if topic is Topic.BOUNDARY and issue.paths:
        return tuple(path for path in last.changed if not matches_any(path, issue.paths))
    if topic is Topic.MERGE_CONFLICT and last.failure is not None:
        return last.failure.evidence
    return last.changed


def known_ids(context: RunContext) -> frozenset[str]:
    """Return every id that is taken: of issues that are or were there."""
    return frozenset(context.reader.states()) | frozenset(child.id for child in context.questions.children())
