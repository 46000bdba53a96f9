"""The page of `noface policy --kind KIND`: one kind of failure step by step."""

from collections.abc import Iterator

from noface.model.actions import Ask, Block, RequestApproval, Skip, WaitUntil, model_of, thinks
from noface.model.request import PersonRequest
from noface.model.taxonomy import FailureKind
from noface.recovery.blocked import approval_request, block_request
from noface.recovery.policy_table import Repeats, SimulatedIssue, SimulatedStep, course, terminal
from noface.recovery.retry_policy import Policy
from noface.ui.page import paint, painted
from noface.ui.policy import step_document
from noface.ui.text import clean, count, duration, hanging

_INDENT = " " * 5
_LIKE = {
    Repeats.NOTHING: "each time in another way, with another diff",
    Repeats.FAILURE: "each time in the same way, with another diff",
    Repeats.DIFF: "each time in the same way, with the same diff",
}


def path_document(name: str, policy: Policy, kind: FailureKind) -> dict[str, object]:
    """Return what `noface policy --kind KIND --json` prints; `person` is null where the path asks nobody."""
    made = course(policy, kind)
    end = _ending(made)
    of_request = ("kind", "question", "next_steps", "options", "commands")
    return {
        "file": name,
        "kind": kind,
        "category": kind.category,
        "strategy": policy.strategy(kind),
        "simulated": {"kind": made.trouble.kind, "in_common": made.trouble.repeats},
        "policy": [step_document(step) for step in made.steps],
        "finite": terminal(made.steps[-1].action),
        "person": None if end is None else {key: getattr(end, key) for key in of_request},
    }


def path_page(name: str, policy: Policy, kind: FailureKind, width: int) -> list[str]:
    """Return the lines of the page."""
    made = course(policy, kind)
    own = f", as {name} says" if kind in dict(policy.strategies) else ""
    lines = [f"{paint(kind.value, 'title')}  {kind.category.replace('_', ' ')}"]
    lines += hanging(f"default strategy: {policy.strategy(kind)}{own}", width, "  ")
    like = "" if made.trouble.kind.category.external else f", {_LIKE[made.trouble.repeats]}"
    lines += [*hanging(f"if every attempt fails with {made.trouble.kind}{like}:", width, "  "), ""]
    for step in made.steps:
        lines += _step_lines(step, width)
    if not terminal(made.steps[-1].action):
        longest = duration(policy.outage_max_s)
        rest = f" for all issues together; after {longest} the run ends (exit code 4), and the next one goes on"
        lines += hanging(f"… and so on{rest if made.steps[-1].more else ''}", width, _INDENT)
    if (end := _ending(made)) is not None:
        lines += ["", paint("What `noface blocked` shows then", "title")]
        lines += hanging("what was tried, each error, what the workers found unclear, and the question:", width, "  ")
        lines += hanging(end.question, width, "    ")
        for option, command in zip(end.options, end.commands, strict=True):
            lines += [*hanging(option, width, "  • "), paint(f"      {clean(command)}", "quiet")]
    return lines


def _step_lines(step: SimulatedStep, width: int) -> Iterator[str]:
    action = step.action
    model = clean(model_of(action))
    tier = f" (tier {step.tier})" if step.tier is not None else ""
    if terminal(action):
        yield from painted(hanging(_outcome(step), width, "  =  "), "bad")
    elif isinstance(action, Ask):
        asked = f"asks {model}{tier}" if model else "noface itself"
        yield from painted(hanging(f"{action.name}: {asked}", width, "  ·  "), "active")
    else:
        facts = [f"waits at most {duration(step.wait_s)}" if isinstance(action, WaitUntil) else ""]
        facts += ["extended thinking" if thinks(action) else "", "" if step.charged else "not charged"]
        more = "".join(f", {fact}" for fact in facts if fact)
        yield from painted(hanging(f"{action.name}: {model}{tier}{more}", width, f"{step.after + 1:>3}  "), "title")
    yield from hanging(action.reason, width, _INDENT)


def _outcome(step: SimulatedStep) -> str:
    tried = f"after {count(step.after, 'attempt')}"
    match step.action:
        case Block():
            return f"BLOCK: {tried} it waits for you"
        case Skip():
            return f"SKIP: {tried} it is left undone"
        case RequestApproval():
            return f"ASK YOU: {tried} it waits for your word"
        case action:
            return f"{action.name}: {tried}"


def _ending(made: SimulatedIssue) -> PersonRequest | None:
    issue, action = made.history.issue, made.steps[-1].action
    match action:
        case Block():
            return block_request(issue, action, made.history, "")
        case RequestApproval():
            return approval_request(issue, action, made.history, "")
        case _:
            return None
