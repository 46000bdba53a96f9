"""Makes the order for an issue's next attempt: where it starts, its prompt, which files it may change (N6, L5, L7)."""

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from functools import partial

from noface.diagnosis.known_causes import known_cause
from noface.engine.context import RunContext
from noface.engine.lessons import lessons_for
from noface.engine.outside import scratch_of
from noface.engine.prompt_context import (
    attempt_directory,
    patch_of,
    prior_failures,
    quotes_of,
    related_files,
)
from noface.engine.protected_files import protection_for
from noface.git.plumbing import Plumbing, make_and_hold, with_files_of
from noface.git.refs import RefUpdate, hold_ref, slug
from noface.knowledge.hints import matched
from noface.model.actions import Mode, Run, WaitUntil, action_instruction
from noface.model.attempt import AttemptOrder, PastAttempt
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue
from noface.model.quoting import one_line
from noface.model.start import Origin, StartPoint, StartReason
from noface.model.taxonomy import FailureKind, instruction_for
from noface.model.worker_run import ModelSpec
from noface.prompts.answers.forms import example_of
from noface.prompts.data import Prompt, PromptData, Quote, Situation, situation_for
from noface.prompts.render import render
from noface.recovery.policy_state import alternating, failure_of, identical
from noface.recovery.retry_policy import REJECTED_BY_PERSON
from noface.recovery.start import from_main, start_of


@dataclass(frozen=True, slots=True)
class Start:
    """A start that is made: the commit of the workspace, and where it comes from and why."""

    commit: str
    point: StartPoint


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
    earlier = prior_failures(failed)
    quoted = start.point.number or (last.number if last is not None else 0)
    patch = patch_of(context, issue, quoted) if quoted else ""
    previous = patch_of(context, issue, last.number) if last is not None and _besides(last, start, history) else ""
    failure, changed = (last.failure, last.changed) if last is not None else (None, ())
    matches = matched(settings.hints, issue, failure, changed, context.search)
    for warning in matches.warnings:
        context.log_event("hint_too_slow", issue.id, message=warning)
    data = PromptData(
        issue=issue,
        gates=context.gates_for(issue),
        protected=protected,
        earlier=earlier,
        start=start.point,
        patch=patch,
        previous_patch=previous,
        hints=matches.hints,
        note=note,
        rejected_note=failure.excerpt if failure is not None and failure.rule == REJECTED_BY_PERSON else "",
        instruction=_instruction(history, last),
        strategy=action_instruction(kind),
        advice=(*_known(last, kind), *quotes_of(history)),
        lessons=lessons,
        files=related_files(context, history, start.commit) if _unsure(history, situation) else (),
        report_example=json.dumps(example_of("report"), indent=1),
        think=action.think,
        earlier_form=settings.earlier_form,
        earlier_bytes_max=settings.earlier_bytes_max,
    )
    return render(situation, settings.templates, data, settings.prompt_tokens_max)


def _besides(last: PastAttempt, start: Start, history: History) -> bool:
    """Tell whether the newest failed attempt left another change than the one that the prompt quotes for the start."""
    quoted = next((attempt for attempt in history.attempts if attempt.number == start.point.number), None)
    return quoted is not None and quoted.number != last.number and quoted.patch_hash != last.patch_hash


def _instruction(history: History, last: PastAttempt | None) -> str:
    """Return what to do about the last failure; where nothing has changed, first that the same will fail again."""
    if last is None:
        return ""
    charged = tuple(attempt for attempt in history.current if attempt.charged)
    own = instruction_for(last.outcome)
    if alternating(charged):
        return f"{_circle(charged)} {own}".rstrip()
    return f"{FailureKind.NO_PROGRESS.info.instruction} {own}".rstrip() if identical(charged) > 1 else own


_CIRCLE_CHARS_MAX = 300


def _circle(charged: tuple[PastAttempt, ...]) -> str:
    """Say what two failures, or two changes, the attempts go back and forth between."""
    one, other, _, _ = charged[-4:]
    first, second = (one_line(failure_of(attempt).message, _CIRCLE_CHARS_MAX) for attempt in (one, other))
    return (
        f"The last four attempts went round in a circle: one failed with ({first}), the next with ({second}), and so on"
        " in turn. What answers the one brings the other back: find a change that answers both."
    )


def _known(last: PastAttempt | None, action: str) -> tuple[Quote, ...]:
    """Return the known cause of the last failure, where the next prompt says more (S1, S4)."""
    cause = known_cause(last.failure) if last is not None and last.failure and action == Mode.CONTEXT else None
    return (
        (Quote("What is known of failures like this", f"{cause.cause}\n{cause.advice}"),) if cause is not None else ()
    )


def _unsure(history: History, situation: Situation) -> bool:
    """Tell whether the prompt quotes related files: agents can read files, but an unsure one has missed these."""
    return situation is Situation.CONTEXT or any(advice.topic is Topic.CLARIFICATION for advice in history.asked)


THINKING_FACTOR = 2
"""How many times the time and money a run gets that thinks longer."""

_BY_PERSON = "I have committed work of my own on this issue. It is in the workspace already: build on it and finish it."


def make_order(
    context: RunContext, history: History, action: Run | WaitUntil, slot: int, note: str, accept_failing: int | None
) -> tuple[AttemptOrder, str]:
    """Return the order for the attempt that `action` starts, and the hash of its prompt.

    Writes nothing but a ref that holds the starting commit, and which lessons the prompt quotes.
    """
    issue, main = history.issue, context.env.plumbing.main()
    protection = protection_for(context, issue, main)
    start = next_start(context, history, main, accept_failing)
    kept = with_files_of(context.env.plumbing, main, start.commit, protection)
    if kept != start.commit:  # an older commit, in which these files may differ
        context.env.plumbing.refs.apply(RefUpdate(hold_ref(issue.id, "start"), kept))
        start = replace(start, commit=kept)
    number = context.reader.next_number(issue.id, slug(issue.id))
    think = action.think
    known = lessons_for(context, history, number)
    note = f"{note}\n{_BY_PERSON}".strip() if start.point.origin is Origin.PERSON else note
    prompt = worker_prompt(context, history, action, start, note, protection.patterns, known)
    for cut in prompt.cuts:
        context.log_event("prompt_cut", issue.id, number=number, topic=None, what=cut)
    masked = context.env.masker.text
    text = masked(prompt.text, (*issue.paths, *protection.patterns))
    order = AttemptOrder(
        run_id=context.run_id,
        token=secrets.token_hex(12),
        issue=replace(issue, title=masked(issue.title), body=masked(issue.body)),  # it lies on disk
        number=number,
        model=_thinking(context.settings.models[action.model], think=think),
        prompt=text,
        main=main,
        start=start.commit,
        slot=slot,
        directory=attempt_directory(context.settings.attempts_dir, issue.id, number),
        gates=context.gates_for(issue),
        protected=protection.patterns,
        may_change=protection.may_change,
        any_case=protection.any_case,
        earlier=prior_failures(history.attempts),
        known_failures=context.known,
        think=think,
        by_person=start.point.origin is Origin.PERSON,
        seal=secrets.token_hex(32),
    )
    return order, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _thinking(model: ModelSpec, *, think: bool) -> ModelSpec:
    """Give a model that thinks longer the time and money for it (L5)."""
    if not think:
        return model
    cost = model.max_cost_usd * THINKING_FACTOR if model.max_cost_usd is not None else None
    return replace(
        model,
        timeout_s=model.timeout_s * THINKING_FACTOR,
        idle_timeout_s=model.idle_timeout_s * THINKING_FACTOR,
        max_cost_usd=cost,
    )


def next_start(context: RunContext, history: History, main: str, accept_failing: int | None) -> Start:
    """Return where the next attempt starts, with its commit made. Attempts before a breakdown do not count."""
    divided = (a.after for a in history.asked if a.topic is Topic.BREAKDOWN and _divided(a))
    given = scratch_of(context, history.issue).adopted
    point = start_of(history.attempts, accept_failing=accept_failing, divided=max(divided, default=0), by_person=given)
    if point.commit is None:
        return Start(main, point)
    if context.env.plumbing.resolve(point.commit) is None:
        return Start(main, from_main(point, StartReason.GONE))
    what = "a person's work" if point.origin is Origin.PERSON else f"attempt {point.number}"
    commit = _with_main(context, history.issue, point.commit, main, what)
    return Start(commit, point) if commit is not None else Start(main, from_main(point, StartReason.CONFLICT))


def _with_main(context: RunContext, issue: Issue, commit: str, main: str, what: str) -> str | None:
    """Return a commit that holds `commit` and main, None where they conflict."""
    plumbing = context.env.plumbing
    if plumbing.is_ancestor(main, commit):
        return commit
    message = f"Merge main into {what} of issue {issue.id}\n"
    merge = partial(_merged, plumbing, main, commit, message)
    return make_and_hold(plumbing, hold_ref(issue.id, "start"), main, merge, lambda merged: merged)


def _merged(plumbing: Plumbing, main: str, candidate: str, message: str) -> str | None:
    tree = plumbing.merge(main, candidate).tree
    return None if tree is None else plumbing.commit_tree(tree, (candidate, main), message)


def _divided(advice: Advice) -> bool:
    return advice.outcome in (AdviceOutcome.ADVISED, AdviceOutcome.PARTS_FAILED)
