"""Writes a worker's prompt: what the situation calls for, from what is known of the issue (N6, L5, L7)."""

import json
from dataclasses import dataclass

from noface.core.actions import Mode, Run, WaitUntil, action_instruction
from noface.core.answers import report
from noface.core.attempt import PastAttempt
from noface.core.diagnosis import known_cause
from noface.core.hints import matched
from noface.core.history import History, Topic
from noface.core.policy_state import identical
from noface.core.prompt_data import Prompt, PromptData, Told
from noface.core.prompt_situation import Situation, situation_for
from noface.core.prompts import render
from noface.core.review_rules import REJECTED_BY_PERSON
from noface.core.taxonomy import FailureKind, instruction_for
from noface.loop.context import RunContext
from noface.loop.material import patch_of, prior, related_files, told_of


@dataclass(frozen=True, slots=True)
class Start:
    """Where an attempt starts: a commit, and the attempt it holds (None: main as it is, or what a person made)."""

    commit: str
    best: PastAttempt | None
    by_person: bool = False


def worker_prompt(
    context: RunContext,
    history: History,
    action: Run | WaitUntil,
    start: Start,
    note: str,
    protected: tuple[str, ...],
    lessons: tuple[str, ...],
) -> Prompt:
    """Return the prompt of the attempt that `action` starts."""
    issue, settings = history.issue, context.settings
    failed = tuple(attempt for attempt in history.attempts if attempt.failure is not None)
    last = failed[-1] if failed else None
    kind = action.name
    situation = situation_for(kind, last.outcome if last is not None else None)
    earlier = tuple(prior(attempt) for attempt in failed)
    shown = start.best or last
    patch = patch_of(context, issue, shown.number) if shown is not None else ""
    previous = patch_of(context, issue, last.number) if last is not None and start.best not in (None, last) else ""
    found = matched(settings.hints, issue, last.failure if last else None, last.changed if last else (), context.search)
    for warning in found.warnings:
        context.journal.event(context.clock.now(), "hint_too_slow", issue.id, message=warning)
    data = PromptData(
        issue=issue,
        gates=context.gates_for(issue),
        protected=protected,
        earlier=earlier,
        best=next((p for p in earlier if start.best is not None and p.number == start.best.number), None),
        patch=patch,
        previous_patch=previous,
        hints=found.hints,
        note=note,
        rejected_note=last.failure.excerpt if last is not None and last.failure and _by_a_person(last) else "",
        instruction=_instruction(history, last),
        strategy=action_instruction(kind),
        advice=(*_known(last, kind), *told_of(history)),
        lessons=lessons,
        files=related_files(context, history, start.commit) if _unsure(history, situation) else (),
        report_example=json.dumps(report.EXAMPLE, indent=1),
        think=action.think,
        earlier_form=settings.earlier_form,
        earlier_bytes_max=settings.earlier_bytes_max,
    )
    return render(situation, settings.templates, data, settings.prompt_tokens_max)


def _instruction(history: History, last: PastAttempt | None) -> str:
    """Return what to do about the last failure; where nothing has changed, first that the same will not do again."""
    if last is None:
        return ""
    stuck = identical(tuple(attempt for attempt in history.current if attempt.charged)) > 1
    own = instruction_for(last.outcome)
    return f"{FailureKind.NO_PROGRESS.info.instruction} {own}".rstrip() if stuck else own


def _known(last: PastAttempt | None, action: str) -> tuple[Told, ...]:
    """Return what is known of the last failure's cause, for a worker that is to be told more (S1, S4)."""
    cause = known_cause(last.failure) if last is not None and last.failure and action == Mode.CONTEXT else None
    return (Told("What is known of failures like this", f"{cause.cause}\n{cause.advice}"),) if cause is not None else ()


def _by_a_person(attempt: PastAttempt) -> bool:
    return attempt.failure is not None and attempt.failure.rule == REJECTED_BY_PERSON


def _unsure(history: History, situation: Situation) -> bool:
    """Tell whether related files are quoted: agents can read files themselves, but an unsure one did not find them."""
    return situation is Situation.CONTEXT or any(advice.topic is Topic.CLARIFICATION for advice in history.asked)
