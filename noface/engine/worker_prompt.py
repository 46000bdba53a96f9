"""Puts together what a worker is told: the facts of its situation, for the template of that situation (N6, L5, L7)."""

import json
from dataclasses import dataclass

from noface.data import table
from noface.diagnosis.known_causes import known_cause
from noface.engine.context import RunContext
from noface.engine.going_on import cut_off_before
from noface.engine.main_checks import recorded_on_main
from noface.engine.prompt_context import (
    ON_THE_FAILURE,
    compare_with_main,
    main_since,
    patch_of,
    prior_failures,
    quotes_of,
    related_files,
)
from noface.knowledge.hints import matched
from noface.model.actions import Mode, RunWorker, WaitUntil, action_instruction
from noface.model.attempt import HINTED, PastAttempt, failure_of
from noface.model.history import AdviceOutcome, History, Topic, Verdict
from noface.model.patch import patch_files
from noface.model.start import EarlierWork, Origin, StartPoint, StartReason
from noface.model.taxonomy import Category, DiagnosisStrategy, FailureKind, instruction_for, reaches_workers
from noface.prompts.answers.forms import schema_of
from noface.prompts.data import PromptData, Quote, Situation, situation_for
from noface.recovery.done_already import DONE_ALREADY
from noface.recovery.partly_done import PARTLY_DONE
from noface.recovery.policy_state import alternating, identical
from noface.recovery.reported import REPORT_PARTIAL
from noface.recovery.retry_policy import REJECTED_BY_PERSON, REJECTED_BY_REVIEWER
from noface.recovery.start import conflicts_of
from noface.store.reader import Reader

_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
"""The files at the top of a project in which people write what agents should know."""
_BY_PERSON = "I have committed work of my own on this issue. It is in the workspace already: build on it and finish it."


@dataclass(frozen=True, slots=True)
class Given:
    """What an order gives a worker beside the history; `protected` are patterns."""

    commit: str
    main: str
    note: str
    protected: tuple[str, ...]
    lessons: tuple[str, ...]


def prompt_data(
    context: RunContext, history: History, action: RunWorker | WaitUntil, start: StartPoint, given: Given
) -> tuple[Situation, PromptData]:
    """Return what the prompt of the attempt that `action` starts is for, and made of."""
    issue, settings = history.issue, context.settings
    failed = tuple(attempt for attempt in history.attempts if attempt.failure is not None)
    reached = tuple(attempt for attempt in failed if reaches_workers(attempt.outcome, charged=attempt.charged))
    last, last_reaching = failed[-1] if failed else None, _told(reached, start)
    reached_with = last_reaching.failure if last_reaching is not None else None
    hung = reached_with is not None and reached_with.kind is FailureKind.TIMEOUT and reached_with.gate is not None
    name = Mode.FEEDBACK.value if hung and action.name == Mode.REDUCE else action.name  # then the change loops
    situation = situation_for(name, last_reaching.outcome if last_reaching is not None else None)
    of_others = start.commit is not None and start.origin is Origin.PARTS  # no diff of one attempt tells what is there
    quoted = 0 if of_others else start.number or (last.number if last is not None else 0)
    failure, changed = (last.failure, last.changed) if last is not None else (None, ())
    hints, warnings = matched(settings.hints, issue, failure, changed, context.search)
    for warning in warnings:
        context.log_event("hint_too_slow", issue.id, message=warning)
    asked = reached_with.points if reached_with is not None else ()
    # Agents can read files, but an unsure one has missed these.
    unsure = situation is Situation.CONTEXT or any(advice.topic is Topic.CLARIFICATION for advice in history.asked)
    orders, on_main = orders_of(history, name, start, last_reaching), recorded_on_main(context.reader, issue)
    left = next((attempt for attempt in history.attempts if attempt.number == start.number), None)
    conflicts, main_patch = start.reason is StartReason.CONFLICT, ""
    if left is not None and left.main != given.main and (conflicts or start.holds):
        paths = start.without or (conflicts_of(left) if conflicts else ()) or left.changed
        main_patch = main_since(context.env.plumbing, left, given.main, paths)
    agent, plumbing = context.env.agents[settings.models[action.model].agent], context.env.plumbing
    there = tuple(name for name in _INSTRUCTIONS if name in plumbing.entries(plumbing.main(), _INSTRUCTIONS))
    patch = patch_of(context, issue, quoted) if quoted else ""
    data = PromptData(
        issue=issue,
        gates=context.gates_for(issue),
        protected=given.protected,
        earlier=prior_failures(context, issue, failed),
        told=last_reaching.number if last_reaching is not None else 0,
        start=start,
        cut_off=cut_off_before(context, history, start, given.main),
        patch=_only(patch, start.without) if start.without else patch,
        whole_patch=bool(start.without),  # it stands nowhere else in the workspace
        main_patch=main_patch,
        compare=compare_with_main(context),
        hints=hints,
        note=f"{given.note}\n{_BY_PERSON}".strip() if start.origin is Origin.PERSON else given.note,
        decided=history.decisions,
        instruction=_since_then(context.reader, history) or orders.instruction,
        strategy=orders.strategy,
        another_way=orders.another_way,
        diagnosis=(*_known(last_reaching), *quotes_of(history, ON_THE_FAILURE)),
        advice=quotes_of(history, {*Topic}.difference(ON_THE_FAILURE)),
        lessons=given.lessons,
        files=related_files(context, history, given.commit) if unsure else (),
        notes=(HINTED,) if hints else (),
        on_main=on_main.failure if on_main is not None else None,
        points=tuple(point for point in history.open_points if point not in asked),
        read_first=() if set(there) & set(agent.instructions) else there[:1],
        report_example="\n".join(map(json.dumps, schema_of("report")["examples"])),
        think=action.think,
        earlier_form=settings.earlier_form,
    )
    return situation, data


def _told(reached: tuple[PastAttempt, ...], start: StartPoint) -> PastAttempt | None:
    """Return whose failure is told in full: the newest, or that of the work in the workspace if gates judged both."""
    gated = [each for each in reached if each.failure is not None and each.failure.gate is not None]
    if gated and gated[-1] is reached[-1]:
        return next((each for each in gated if each.number == start.holds), gated[-1])
    return reached[-1] if reached else None


def _only(patch: str, paths: tuple[str, ...]) -> str:
    files, rows = tuple(patch_files(patch)), patch.split("\n")
    ends = (*(file.start for file in files[1:]), len(rows))
    mine = ((file, end) for file, end in zip(files, ends, strict=True) if file.path in paths)
    return "\n".join(row for file, end in mine for row in rows[file.start : end])


def _since_then(reader: Reader, history: History) -> str:
    """Say what has come of what the last attempt waited for, in place of what to do about waiting for it (K5)."""
    last = history.attempts[-1] if history.attempts else None
    if last is None or last.failure is None or last.failure.rule == REJECTED_BY_PERSON:
        return ""
    newest = history.decisions[-1] if history.decisions and history.decisions[-1].at >= last.finished_at else None
    unclear = last.failure.category in (Category.CONTEXT_GAP, Category.BOUNDARY)
    if newest is not None and (unclear or newest.verdict is not Verdict.NOTED):
        return "The owner of this project has decided on what stopped the last attempt: go by what stands above."
    if last.epoch < history.epoch:
        return ""
    named = last.report.needs if last.report is not None else ()
    rows = [row for row in map(reader.issue, named) if row is not None and row.merged_commit]
    landed = [f"Issue {row.id}, which you needed, has landed as {str(row.merged_commit)[:12]}" for row in rows]
    return f"{'. '.join(landed)}: main has it, and so has your working directory." if landed else ""


@dataclass(frozen=True, slots=True)
class Orders:
    """What a worker is to do about the last failure, and what differently (S6). `another_way`: the old one fails."""

    instruction: str = ""
    strategy: str = ""
    another_way: bool = False


def orders_of(history: History, action: str, start: StartPoint, last: PastAttempt | None) -> Orders:
    """Return the orders for the attempt that an action starts; `last` is the last failure that workers are told of."""
    if last is None or last.failure is None:
        return Orders(strategy=_strategy(action, start, None))
    rule, words = last.failure.rule, table("orders")["beside"]
    if rule in (by_rule := table("orders")["by_rule"]) and not (rule == PARTLY_DONE and last.charged):
        return Orders(by_rule[rule], _strategy(action, start, last) if rule == DONE_ALREADY else "")
    own = instruction_for(last.outcome, by_gate=last.failure.gate is not None)
    if last.failure.points and rule != REJECTED_BY_REVIEWER:
        own = f"{own} {words['review']}"  # people asked for it on the pull request
    own = words["left_undone"] if rule in (PARTLY_DONE, REPORT_PARTIAL) else own
    charged = tuple(attempt for attempt in history.current if attempt.charged)
    redone = start.reason is StartReason.CUT_OFF or start.earlier is EarlierWork.REDO
    kept = redone or situation_for(action, last.outcome) in _ABOUT_THE_FAILURE
    stuck = "" if kept or last.outcome == FailureKind.NO_DIFF else _stuck(charged)  # there is no change to repeat
    if _way_described(history) and not kept:
        return Orders(f"{stuck} {own}".strip(), words["another_way"], another_way=True)
    guided = action == Mode.ESCALATE and bool(quotes_of(history))  # who is told a way needs no fresh look
    strategy = _strategy(action, start, last) if not guided and (not stuck or action != Mode.FEEDBACK) else ""
    return Orders(f"{stuck} {own}".strip(), strategy, another_way=bool(stuck))


_ABOUT_THE_FAILURE = (Situation.MERGE_CONFLICT, Situation.REVIEW, Situation.FORMAT_REMINDER)
"""Their templates say what to do, to the end."""


def _way_described(history: History) -> bool:
    last = history.current[-1].number if history.current else 0
    diagnosis, design = history.answer(Topic.DIAGNOSIS, last), history.answer(Topic.ARCHITECT, last)
    other = diagnosis is not None and diagnosis.strategy == DiagnosisStrategy.ALTERNATIVE
    return other or (design is not None and design.outcome is AdviceOutcome.ADVISED)


def _stuck(charged: tuple[PastAttempt, ...]) -> str:
    if alternating(charged):
        circle: str = table("orders")["beside"]["circle"]
        return circle
    return FailureKind.NO_PROGRESS.info.instruction if identical(charged) > 1 else ""


def _strategy(name: str, start: StartPoint, last: PastAttempt | None) -> str:
    """Return what to do differently this time; what is said of going on with work only if there is such work."""
    kind = FailureKind.__members__.get(last.outcome) if last is not None else None
    if name == Mode.FEEDBACK and (last is None or (kind is not None and kind.info.pointless)):
        return ""
    if last is not None and situation_for(name, last.outcome) in _ABOUT_THE_FAILURE and name != Mode.SWITCH:
        return ""
    if name == Mode.ESCALATE:
        return action_instruction(name, from_main=not start.holds and start.earlier is not EarlierWork.REDO)
    return action_instruction(name, from_main=last is None or start.holds != last.number)


def _known(last: PastAttempt | None) -> tuple[Quote, ...]:
    is_known = last is not None and last.outcome != FailureKind.MERGE_CONFLICT
    cause = known_cause(failure_of(last)) if last is not None and is_known else None
    return (Quote("What is known of failures like this", f"{cause.cause}\n{cause.advice}"),) if cause else ()
