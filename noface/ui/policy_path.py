"""The pages of `noface policy --kind KIND` and of `noface policy replay`.

One kind of failure step by step, and the recorded decisions that another policy would take otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence

from noface.model.actions import Ask, Block, RequestApproval, Skip, WaitUntil, action_instruction, model_of, thinks
from noface.model.history import Topic
from noface.model.taxonomy import FailureKind
from noface.prompts.data import Situation, situation_for
from noface.recovery.blocked import approval_document, block_document
from noface.recovery.policy_table import Answer, Course, Decision, Repeats, Step, terminal
from noface.ui.page import Record, paint
from noface.ui.policy import PolicyView, head, issue_record, step_record
from noface.ui.text import clean, count, duration, hanging

_INDENT = " " * 5
_CARRIES: dict[Situation, str] = {
    Situation.FIRST: "the issue, the gates, matching hints and lessons",
    Situation.RETRY: "the failure, its output and the diff; it begins at the point of failure and checks it last",
    Situation.ESCALATE: "every approach that failed, the newest failure in full, the diff",
    Situation.THINK: "everything learned so far, and four questions to answer before the first edit",
    Situation.REDUCE: "the failure, the diff, and what to leave out",
    Situation.CONTEXT: "the failure, related files, lessons, and what others have answered",
    Situation.MERGE_CONFLICT: "the files in conflict, and how to make the change again on the present main",
    Situation.REVIEW: "the points of the review, to be answered one by one",
    Situation.FORMAT_REMINDER: "what was wrong with the answer, and the form once more",
}
_ASKS: dict[Topic, str] = {
    Topic.DIAGNOSIS: "the cause, whether it can be fixed, and one of five strategies",
    Topic.REFLECTION: "why it failed, and how it will mend it",
    Topic.CLARIFICATION: "answers to the worker's questions, and the files that matter",
    Topic.BOUNDARY: "wider paths, a way within them, or a person",
    Topic.MERGE_CONFLICT: "how the two changes go together",
    Topic.DEPENDENCY: "whether what it depends on is merged; noface knows that itself",
    Topic.ARCHITECT: "another design",
    Topic.BREAKDOWN: "smaller issues that do the work; if they cannot, this issue continues",
    Topic.REVIEW: "whether the work may land",
}
_LIKE = {
    Repeats.NOTHING: "each time in another way, with another diff",
    Repeats.FAILURE: "each time in the same way, with another diff",
    Repeats.DIFF: "each time in the same way, with the same diff",
}


def path_document(view: PolicyView, kind: FailureKind) -> Record:
    """Return the document of `noface policy --kind KIND --json`."""
    made = view.course(kind)
    end = _ending(made)
    return {
        "file": view.name,
        "issue": None if view.any_issue else issue_record(view),
        "kind": kind.value,
        "category": kind.category.value,
        "strategy": view.policy.strategy(kind).value,
        "simulated": {"kind": made.trouble.kind.value, "in_common": made.trouble.repeats.value},
        "policy": [
            {**step_record(step), "prompt": _situation(step, made), "carries": _carries(step, made)}
            for step in made.steps
        ],
        "finite": terminal(made.steps[-1].action),
        "person": end,
    }


def path_page(view: PolicyView, kind: FailureKind, width: int) -> list[str]:
    """Return the lines of the page."""
    made = view.course(kind)
    own = f", as {view.name} says" if kind in dict(view.policy.strategies) else ""
    lines = [] if view.any_issue else [*head(view, width), ""]
    lines.append(f"{paint(kind.value, 'title')}  {kind.category.replace('_', ' ')}")
    lines += hanging(f"default strategy: {view.policy.strategy(kind)}{own}", width, "  ")
    like = "" if made.trouble.kind.category.external else f", {_LIKE[made.trouble.repeats]}"
    lines += [*hanging(f"if every attempt fails with {made.trouble.kind}{like}:", width, "  "), ""]
    for step in made.steps:
        lines += _step_lines(step, made, width)
    if not terminal(made.steps[-1].action):
        lines.append(f"{_INDENT}… and so on")
    return lines + _instruction_lines(made, width) + _ending_lines(made, width)


def _step_lines(step: Step, made: Course, width: int) -> Iterator[str]:
    action = step.action
    if terminal(action):
        yield from (paint(line, "bad") for line in hanging(_outcome(step), width, "  =  "))
        yield from hanging(action.reason, width, _INDENT)
        return
    model = clean(model_of(action))
    tier = f" (tier {step.tier})" if step.tier is not None else ""
    if isinstance(action, Ask):
        asked = f"asks {model}{tier}" if model else "noface itself"
        yield from (paint(line, "active") for line in hanging(f"{action.name}: {asked}", width, "  ·  "))
        yield from hanging(action.reason, width, _INDENT)
        yield from (paint(row, "quiet") for row in hanging(f"wanted: {_carries(step, made)}", width, _INDENT))
        return
    facts = [f"waits at most {duration(step.wait_s)}" if isinstance(action, WaitUntil) else ""]
    facts += ["extended thinking" if thinks(action) else "", "" if step.charged else "not charged"]
    more = "".join(f", {fact}" for fact in facts if fact)
    number = f"{step.after + 1:>3}  "
    yield from (paint(line, "title") for line in hanging(f"{action.name}: {model}{tier}{more}", width, number))
    yield from hanging(action.reason, width, _INDENT)
    yield from (paint(row, "quiet") for row in hanging(f"prompt: {_carries(step, made)}", width, _INDENT))


def _outcome(step: Step) -> str:
    tried = f"after {step.after} attempt{'s' if step.after != 1 else ''}"
    match step.action:
        case Block():
            return f"BLOCK: {tried} it waits for you"
        case Skip():
            return f"SKIP: {tried} it is left undone"
        case RequestApproval():
            return f"ASK YOU: {tried} it waits for your word"
        case action:
            return f"{action.name}: {tried}"


def _situation(step: Step, made: Course) -> str | None:
    """Return the prompt template of an attempt, None where a step starts none."""
    if terminal(step.action) or isinstance(step.action, Ask):
        return None
    return situation_for(step.action.name, made.trouble.kind if step.after else None).template


def _carries(step: Step, made: Course) -> str:
    """Return what the prompt of an attempt tells the worker, or what an asking action wants to know; else ""."""
    action = step.action
    if terminal(action):
        return ""
    if isinstance(action, Ask):
        return _ASKS[action.topic]
    if step.after and made.trouble.kind.category.external:
        return "what it would have been told anyway; of this failure it hears nothing"
    answered = [other for other in made.steps if other.after == step.after and isinstance(other.action, Ask)]
    situation = situation_for(action.name, made.trouble.kind if step.after else None)
    return ("the answer; " if answered else "") + _CARRIES[situation]


def _instruction_lines(made: Course, width: int) -> list[str]:
    """Quote what the workers are told beside the facts: about the kind, and with each strategy."""
    kind = made.trouble.kind
    used = dict.fromkeys(step.action.name for step in made.steps)
    texts = [(kind.value, kind.info.instruction)] + [(name, action_instruction(name)) for name in used]
    lines = [line for name, text in texts if text for line in hanging(f'{name}: "{text}"', width, "  ", "    ")]
    return ["", paint("What the worker is told", "title"), *lines] if lines else []


def _ending(made: Course) -> Record | None:
    """Return what `noface blocked` would show of an issue that came to this end."""
    issue, action = made.history.issue, made.steps[-1].action
    match action:
        case Block():
            document = block_document(issue, action, made.history, "")
        case RequestApproval():
            document = approval_document(issue, action, made.history, "")
        case _:
            return None
    return {name: document[name] for name in ("kind", "question", "next_steps", "options", "commands")}


def _ending_lines(made: Course, width: int) -> list[str]:
    end = _ending(made)
    if end is None:
        return []
    lines = ["", paint("What `noface blocked` shows then", "title")]
    lines += hanging("what was tried, each error, what the workers found unclear, and the question:", width, "  ")
    lines += hanging(str(end["question"]), width, "    ")
    for option, command in zip(end["options"], end["commands"], strict=True):
        lines += hanging(str(option), width, "  • ")
        lines += [paint(f"      {clean(str(command))}", "quiet")]
    return lines


def replay_document(name: str, decisions: Sequence[Decision], *, everything: bool) -> Record:
    """Return the document of `noface policy replay --json`; `replay` holds those that differ, or `everything`."""
    return {
        "file": name,
        "decisions": len(decisions),
        "differ": sum(decision.differs for decision in decisions),
        "replay": [_record(decision) for decision in _shown(decisions, everything=everything)],
    }


def replay_page(
    name: str, decisions: Sequence[Decision], titles: Mapping[str, str], width: int, *, everything: bool
) -> list[str]:
    """Return the lines of the page; `titles` are those of the issues by id."""
    if not decisions:
        return hanging(f"Nothing recorded yet: there is no decision to ask {name} about.", width)
    lines: list[str] = []
    issue_id = None
    for decision in _shown(decisions, everything=everything):
        if decision.issue_id != issue_id:
            issue_id = decision.issue_id
            title = hanging(titles.get(issue_id, ""), width, f"{clean(issue_id)}  ", rows_max=1)
            lines += ["", *(paint(line, "title") for line in title or [clean(issue_id)])]
        lines += _decision(decision, width)
    differ = sum(decision.differs for decision in decisions)
    said = f"{count(len(decisions), 'decision')}, {differ or 'none'} would differ under {name}."
    lines = [*lines[1:], *([""] if lines else []), *hanging(said, width)]
    if differ:
        note = "Each is asked about the attempts as they were; what it would have led to, nobody knows."
        lines += [paint(line, "quiet") for line in hanging(note, width)]
    return lines


def _shown(decisions: Sequence[Decision], *, everything: bool) -> list[Decision]:
    return [decision for decision in decisions if everything or decision.differs]


def _decision(decision: Decision, width: int) -> Iterator[str]:
    when = "at first" if decision.attempt is None else f"after attempt {decision.attempt}"
    epoch = f" ({_given_back(decision.epoch)})" if decision.epoch and decision.attempt is None else ""
    outcome = f": {clean(decision.outcome)}" if decision.outcome else ""
    was, now = _answer(decision.recorded), _answer(decision.now)
    yield f"  {when}{epoch}{outcome}"
    if not decision.differs:
        yield from (paint(line, "quiet") for line in hanging(f"{was}, as before", width, "    "))
        return
    yield from (paint(line, "careful") for line in hanging(f"{was} → {now}", width, "    "))
    yield from hanging(decision.now.reason, width, "    ")


def _given_back(times: int) -> str:
    return "given back" if times == 1 else f"given back {times} times"


def _answer(answer: Answer) -> str:
    asked = "".join(f"ask: {topic.replace('_', ' ')}, then " for topic in answer.asked)
    thinking = " thinking" if answer.think else ""
    return f"{asked}{answer.kind}" + (f" {answer.model}{thinking}" if answer.model else "")


def _record(decision: Decision) -> Record:
    return {
        "issue": decision.issue_id,
        "epoch": decision.epoch,
        "attempt": decision.attempt,
        "outcome": decision.outcome or None,
        "differs": decision.differs,
        "recorded": _answer_record(decision.recorded),
        "now": _answer_record(decision.now),
    }


def _answer_record(answer: Answer) -> Record:
    return {
        "action": answer.kind,
        "model": answer.model,
        "think": answer.think,
        "asked": [topic.value for topic in answer.asked],
        "reason": answer.reason,
    }
