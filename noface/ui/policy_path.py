"""The page of `noface policy --kind KIND`: one kind of failure step by step."""

from collections.abc import Iterator

from noface.model.actions import Ask, Block, RequestApproval, Skip, WaitUntil, action_instruction, model_of, thinks
from noface.model.history import Topic
from noface.model.request import PersonRequest
from noface.model.taxonomy import FailureKind
from noface.prompts.data import Situation, situation_for
from noface.recovery.blocked import approval_request, block_request
from noface.recovery.policy_table import (
    Repeats,
    SimulatedIssue,
    SimulatedStep,
    terminal,
)
from noface.ui.page import paint, painted
from noface.ui.policy import PolicyView, head, issue_document, step_document
from noface.ui.text import clean, duration, hanging

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
    """Return what `noface policy --kind KIND --json` prints; `person` is null where the path asks nobody.

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
