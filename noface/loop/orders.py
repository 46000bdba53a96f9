"""Makes the order for an issue's next attempt: where it starts, what it is told, what it may touch."""

import hashlib
import secrets
from dataclasses import replace
from functools import partial

from noface.core.actions import Run, WaitUntil
from noface.core.attempt import AttemptOrder
from noface.core.history import Advice, AdviceOutcome, History, Topic
from noface.core.issue import Issue
from noface.core.policy_state import best_attempt
from noface.core.worker_run import ModelSpec
from noface.git.plumbing import Plumbing, make_and_hold, with_files_of
from noface.git.refs import RefUpdate, hold_ref, slug
from noface.loop.context import RunContext
from noface.loop.learning import lessons_for
from noface.loop.material import attempt_directory, prior
from noface.loop.protected_files import protection_for
from noface.loop.scratch import scratch_of
from noface.loop.worker_prompt import Start, worker_prompt

THINKING_FACTOR = 2
"""So much more time and money has a run that thinks longer."""

_BY_PERSON = "I have committed work of my own on this issue. It is in the workspace already: build on it and finish it."


def make_order(
    context: RunContext, history: History, action: Run | WaitUntil, slot: int, note: str, accept_failing: int | None
) -> tuple[AttemptOrder, str]:
    """Return the order for the attempt that `action` starts, and the hash of its prompt.

    Writes nothing but a ref that holds the starting commit, and which lessons the prompt tells of.
    """
    issue, main = history.issue, context.shop.plumbing.main()
    protection = protection_for(context, issue, main)
    start = best_start(context, history, main, accept_failing)
    kept = with_files_of(context.shop.plumbing, main, start.commit, protection)
    if kept != start.commit:  # of before these files were protected
        context.shop.plumbing.refs.apply(RefUpdate(hold_ref(issue.id, "start"), kept))
        start = replace(start, commit=kept)
    number = context.reader.next_number(issue.id, slug(issue.id))
    think = action.think
    known = lessons_for(context, history, number)
    note = f"{note}\n{_BY_PERSON}".strip() if start.by_person else note
    prompt = worker_prompt(context, history, action, start, note, protection.patterns, known)
    for cut in prompt.cuts:
        context.journal.event(context.clock.now(), "prompt_cut", issue.id, number=number, topic=None, what=cut)
    masked = context.shop.masker.text
    text = masked(prompt.text, (*issue.paths, *protection.patterns))
    order = AttemptOrder(
        run_id=context.run_id,
        token=secrets.token_hex(12),
        issue=replace(issue, title=masked(issue.title), body=masked(issue.body)),  # it is written to disk
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
        earlier=tuple(prior(attempt) for attempt in history.attempts if attempt.failure is not None),
        known_failures=context.known,
        think=think,
        by_person=start.by_person,
        seal=secrets.token_hex(32),
    )
    return order, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _thinking(model: ModelSpec, *, think: bool) -> ModelSpec:
    """Give a model that is to think longer the time and money for it (L5)."""
    if not think:
        return model
    cost = model.max_cost_usd * THINKING_FACTOR if model.max_cost_usd is not None else None
    return replace(
        model,
        timeout_s=model.timeout_s * THINKING_FACTOR,
        idle_timeout_s=model.idle_timeout_s * THINKING_FACTOR,
        max_cost_usd=cost,
    )


def best_start(context: RunContext, told: History, main: str, accept_failing: int | None) -> Start:
    """Return where the next attempt starts. What was tried before a breakdown is on main, or has failed, by now."""
    hard = sum(gate.hard for gate in context.settings.gates)
    divided = max(
        (advice.after for advice in told.asked if advice.topic is Topic.BREAKDOWN and _divided(advice)), default=0
    )
    given = scratch_of(context, told.issue).adopted
    after = max(divided, given[0]) if given is not None else divided
    past = tuple(attempt for attempt in told.attempts if attempt.number > after)
    best = best_attempt(past, project_gates=hard, accept_failing=accept_failing)
    plumbing, issue = context.shop.plumbing, told.issue
    if best is not None and best.candidate is not None and plumbing.resolve(best.candidate) is not None:
        commit = _with_main(context, issue, best.candidate, main, f"attempt {best.number}")
        return Start(commit, best) if commit is not None else Start(main, None)
    if given is not None and given[0] >= divided:
        commit = _with_main(context, issue, given[1], main, "a person's work")
        return Start(commit, None, by_person=True) if commit is not None else Start(main, None)
    return Start(main, None)


def _with_main(context: RunContext, issue: Issue, commit: str, main: str, what: str) -> str | None:
    """Return a commit that holds `commit` and main, None where they conflict."""
    plumbing = context.shop.plumbing
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
