"""The pages of `noface config policy --kind KIND` and of `noface config policy replay`.

One kind of failure step by step, and the recorded decisions that another policy would take otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence

from noface.model.actions import Ask, Block, RequestApproval, Skip, WaitUntil, action_instruction, model_of, thinks
from noface.model.history import Topic
from noface.model.quoting import in_dollars
from noface.model.request import PersonRequest
from noface.model.taxonomy import FailureKind
from noface.prompts.data import Situation, situation_for
from noface.recovery.blocked import approval_request, block_request
from noface.recovery.policy_table import (
    ComparedDecision,
    DecisionPoint,
    Repeats,
    SimulatedIssue,
    SimulatedStep,
    Spared,
    terminal,
)
from noface.ui.page import paint, painted
from noface.ui.policy import PolicyView, head, issue_document, step_document
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
    Topic.MISSING: "what of the issue is missing, now that its parts have landed",
    Topic.CHANGED_TESTS: "whether the issue asks for the changed tests, and which sentence of it does",
}
_LIKE = {
    Repeats.NOTHING: "each time in another way, with another diff",
    Repeats.FAILURE: "each time in the same way, with another diff",
    Repeats.DIFF: "each time in the same way, with the same diff",
}


def path_document(view: PolicyView, kind: FailureKind) -> dict[str, object]:
    """Return what `noface config policy --kind KIND --json` prints; `person` is null where the path asks nobody.

    A step has the template of its prompt, and `carries`: what that tells the worker, or what a question asks for.
    """
    made = view.course(kind)
    end = _ending(made)
    of_request = ("kind", "question", "next_steps", "options", "commands")
    return {
        "file": view.name,
        "issue": issue_document(view),
        "kind": kind,
        "category": kind.category,
        "strategy": view.policy.strategy(kind),
        "simulated": {"kind": made.trouble.kind, "in_common": made.trouble.repeats},
        "policy": [
            {**step_document(step), "prompt": _situation(step, made), "carries": _carries(step, made)}
            for step in made.steps
        ],
        "finite": terminal(made.steps[-1].action),
        "person": None if end is None else {name: getattr(end, name) for name in of_request},
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
        longest = duration(view.policy.outage_max_s)
        rest = f" for all issues together; after {longest} the run ends (exit code 4), and the next one goes on"
        lines += hanging(f"… and so on{rest if made.steps[-1].more else ''}", width, _INDENT)
    return lines + _instruction_lines(made, width) + _ending_lines(made, width)


def _step_lines(step: SimulatedStep, made: SimulatedIssue, width: int) -> Iterator[str]:
    action = step.action
    if terminal(action):
        yield from painted(hanging(_outcome(step), width, "  =  "), "bad")
        yield from hanging(action.reason, width, _INDENT)
        return
    model = clean(model_of(action))
    tier = f" (tier {step.tier})" if step.tier is not None else ""
    if isinstance(action, Ask):
        asked = f"asks {model}{tier}" if model else "noface itself"
        yield from painted(hanging(f"{action.name}: {asked}", width, "  ·  "), "active")
        yield from hanging(action.reason, width, _INDENT)
        yield from painted(hanging(f"wanted: {_carries(step, made)}", width, _INDENT), "quiet")
        return
    facts = [f"waits at most {duration(step.wait_s)}" if isinstance(action, WaitUntil) else ""]
    facts += ["extended thinking" if thinks(action) else "", "" if step.charged else "not charged"]
    more = "".join(f", {fact}" for fact in facts if fact)
    number = f"{step.after + 1:>3}  "
    yield from painted(hanging(f"{action.name}: {model}{tier}{more}", width, number), "title")
    yield from hanging(action.reason, width, _INDENT)
    yield from painted(hanging(f"prompt: {_carries(step, made)}", width, _INDENT), "quiet")


def _outcome(step: SimulatedStep) -> str:
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


def _situation(step: SimulatedStep, made: SimulatedIssue) -> str | None:
    """Return the prompt template of an attempt, None if a step starts none."""
    if terminal(step.action) or isinstance(step.action, Ask):
        return None
    return situation_for(step.action.name, made.trouble.kind if step.after else None).template


def _carries(step: SimulatedStep, made: SimulatedIssue) -> str:
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


def _instruction_lines(made: SimulatedIssue, width: int) -> list[str]:
    """Quote what the workers are told beside the facts: about the kind, and with each strategy."""
    kind = made.trouble.kind
    used = dict.fromkeys(step.action.name for step in made.steps)
    own = "" if kind.category.external else kind.info.instruction  # what is not charged reaches no worker
    texts = [(kind.value, own)] + [(name, action_instruction(name)) for name in used]
    lines = [line for name, text in texts if text for line in hanging(f'{name}: "{text}"', width, "  ", "    ")]
    return ["", paint("What the worker is told", "title"), *lines] if lines else []


def _ending(made: SimulatedIssue) -> PersonRequest | None:
    """Return what `noface blocked` would ask of a person for an issue that came to this end."""
    issue, action = made.history.issue, made.steps[-1].action
    match action:
        case Block():
            return block_request(issue, action, made.history, "")
        case RequestApproval():
            return approval_request(issue, action, made.history, "")
        case _:
            return None


def _ending_lines(made: SimulatedIssue, width: int) -> list[str]:
    end = _ending(made)
    if end is None:
        return []
    lines = ["", paint("What `noface blocked` shows then", "title")]
    lines += hanging("what was tried, each error, what the workers found unclear, and the question:", width, "  ")
    lines += hanging(end.question, width, "    ")
    for option, command in zip(end.options, end.commands, strict=True):
        lines += hanging(option, width, "  • ")
        lines += [paint(f"      {clean(command)}", "quiet")]
    return lines


def replay_document(
    name: str, decisions: Sequence[DecisionPoint], less: Sequence[Spared], *, everything: bool
) -> dict[str, object]:
    """Return what `noface config policy replay --json` prints; `everything`: with the decisions that are the same."""
    return {
        "file": name,
        "decisions": len(decisions),
        "differ": sum(decision.differs for decision in decisions),
        "replay": [
            {
                "issue": decision.issue_id,
                "epoch": decision.epoch,
                "attempt": decision.attempt,
                "outcome": decision.outcome or None,
                "differs": decision.differs,
                "recorded": decision.recorded,
                "now": decision.now,
            }
            for decision in decisions
            if everything or decision.differs
        ],
        "spared": less,
    }


def replay_page(
    name: str,
    decisions: Sequence[DecisionPoint],
    less: Sequence[Spared],
    titles: Mapping[str, str],
    width: int,
    *,
    everything: bool,
) -> list[str]:
    """Return the lines of the page; `titles` are those of the issues by id."""
    differ = sum(decision.differs for decision in decisions)
    if not decisions:
        return hanging(f"Nothing recorded yet: there is no decision to ask {name} about.", width)
    lines: list[str] = []
    issue_id = None
    for decision in (each for each in decisions if everything or each.differs):
        if decision.issue_id != issue_id:
            issue_id = decision.issue_id
            title = hanging(titles.get(issue_id, ""), width, f"{clean(issue_id)}  ", rows_max=1)
            lines += ["", *(paint(line, "title") for line in title or [clean(issue_id)])]
        lines += _decision(decision, width)
    if less:
        lines += ["", paint("What the first of them in each issue would have spared", "title")]
        lines += [row for each in less for row in hanging(_less([each]), width, f"  {clean(each.issue)}  ")]
        lines += hanging(f"{_less(less)}, if the rest had gone as it went", width, "  in all  ")
    total = f"{count(len(decisions), 'decision')}, {differ or 'none'} would differ under {name}."
    lines = [*lines[1:], *([""] if lines else []), *hanging(total, width)]
    if differ:
        note = "Each decision is made again on the attempts as they were; nobody knows what it would have led to."
        lines += painted(hanging(note, width), "quiet")
    return lines


def _less(spared: Sequence[Spared]) -> str:
    lost = sum(each.passed for each in spared)
    what = f"{count(sum(each.attempts for each in spared), 'attempt')}, {in_dollars(sum(s.cost_usd for s in spared))}"
    return f"{what}; {'it' if len(spared) == 1 else f'{lost} of them'} had passed" if lost else what


def _decision(decision: DecisionPoint, width: int) -> Iterator[str]:
    when = "at first" if decision.attempt is None else f"after attempt {decision.attempt}"
    epoch = f" ({_given_back(decision.epoch)})" if decision.epoch and decision.attempt is None else ""
    outcome = f": {clean(decision.outcome)}" if decision.outcome else ""
    was, now = _answer(decision.recorded), _answer(decision.now)
    yield f"  {when}{epoch}{outcome}"
    if not decision.differs:
        yield from painted(hanging(f"{was}, as before", width, "    "), "quiet")
        return
    yield from painted(hanging(f"{was} → {now}", width, "    "), "careful")
    yield from hanging(decision.now.reason, width, "    ")


def _given_back(times: int) -> str:
    return "given back" if times == 1 else f"given back {times} times"


def _answer(answer: ComparedDecision) -> str:
    asked = "".join(f"ask: {topic.replace('_', ' ')}, then " for topic in answer.asked)
    thinking = " thinking" if answer.think else ""
    return f"{asked}{answer.action}" + (f" {answer.model}{thinking}" if answer.model else "")
