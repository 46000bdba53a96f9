"""The document and the page of `noface policy`: the ladder, and what follows each kind of failure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

from noface.model.actions import (
    ASK_NAMES,
    Action,
    Ask,
    AwaitIssues,
    Block,
    Land,
    Mode,
    RequestApproval,
    RunWorker,
    Skip,
    WaitUntil,
    action_text,
    model_of,
    thinks,
)
from noface.model.history import Topic
from noface.model.request import PersonRequest
from noface.model.taxonomy import FailureKind
from noface.recovery.blocked import approval_request, block_request
from noface.recovery.policy_table import Repeats, Row, SimulatedIssue, SimulatedStep, course, table, terminal
from noface.recovery.replay import OtherDecision
from noface.recovery.retry_policy import Policy
from noface.ui.page import paint, painted
from noface.ui.text import clean, count, duration, hanging


def policy_document(name: str, policy: Policy) -> dict[str, object]:
    """Return what `noface policy --json` prints of the policy of a file. Durations are seconds."""
    return {
        "file": name,
        "ladder": policy.ladder,
        "policy": [
            {
                "kinds": row.kinds,
                "same_each_time": row.repeats is not None,
                "steps": [step_document(step) for step in row.steps],
            }
            for row in table(policy)
        ],
    }


def step_document(step: SimulatedStep) -> dict[str, object]:
    """Return a step of a path: after `after` failed attempts, this is done."""
    action = step.action
    return {
        "after": step.after,
        "action": action.name,
        "model": model_of(action) or None,
        "tier": step.tier,
        "think": thinks(action),
        # Where asking has a name of its own, that says the topic: the document leaves it null.
        "topic": action.topic if isinstance(action, Ask) and action.topic not in ASK_NAMES else None,
        "wait_s": step.wait_s,
        "charged": step.charged,
        "reason": action.reason,
    }


_LEGEND = (
    ("feedback", "the prompt says what failed and where to begin"),
    ("context", "the prompt answers what the worker did not know"),
    ("smaller", "the order to do less, and finish it"),
    ("↑", "a stronger model starts afresh and knows what was tried"),
    ("thinks", "extended thinking, with everything learned so far"),
    ("again", "nothing is charged, since the worker is not to blame; after a merge conflict it works alone"),
    ("wait", "waits at most this long, or until the time that the provider names; nothing is charged"),
    ("…", "the waits go on, for all issues together, until the run ends after [retry] outage_max"),
    ("instead", "a model of the same tier works meanwhile"),
    ("divide", "smaller issues do the work; if they cannot, this issue continues"),
    ("BLOCK", "it waits for you; see noface blocked"),
    ("ASK YOU", "it waits for noface approve or noface reject"),
    ("SKIP", "it is left undone"),
)


def policy_page(name: str, policy: Policy, width: int) -> list[str]:
    """Return the lines of the page."""
    rows = table(policy)
    used = [model_of(step.action) for row in rows for step in row.steps]
    grid = _table_lines(rows, short_names(tuple(dict.fromkeys(model for model in used if model))), width)
    legend = [(word, meaning) for word, meaning in _LEGEND if word in "\n".join(grid)]
    return [
        *(paint(line, "title") for line in hanging(f"The retry policy of {name}", width)),
        *("", paint("Ladder", "title"), *_ladder_lines(policy, width)),
        "",
        *(paint(line, "title") for line in hanging("What follows each kind of failure, if every attempt fails", width)),
        *grid,
        "",
        *(paint(line, "quiet") for word, text in legend for line in hanging(text, width, f"  {word:<8}  ")),
        *("", paint("One kind step by step: noface policy --kind TEST_FAILURE", "quiet")),
    ]


def _ladder_lines(policy: Policy, width: int) -> Iterator[str]:
    longest = max(len(clean(rung.model)) for rung in policy.ladder)
    for number, rung in enumerate(policy.ladder, 1):
        facts = (
            f"tier {rung.tier}",
            "to the end" if number == len(policy.ladder) else count(rung.times, "attempt"),
            f"{rung.candidates} at once" if rung.candidates > 1 else "",
            "thinks longer" if rung.think else "",
            f"answers {', '.join(rung.answers)}" if rung.answers else "",
        )
        text = " · ".join(fact for fact in facts if fact)
        yield from hanging(text, width, f"  {number}  {clean(rung.model):<{longest}}  ", rest=" " * 7)


_ASKED = {
    Topic.CLARIFICATION: "ask planner",
    Topic.ARCHITECT: "ask architect",
    Topic.DEPENDENCY: "look at needs",
    Topic.DIAGNOSIS: "diagnose",
    Topic.REFLECTION: "reflect",
    Topic.REVIEW: "review",
    Topic.CHANGED_TESTS: "review tests",
    Topic.BREAKDOWN: "divide",
    Topic.MISSING: "look for the rest",
}


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Return what models are called in the table: claude-sonnet is sonnet if every model is a claude."""
    parted = {model: model.partition("-") for model in models}
    heads = {head for head, _, _ in parted.values()}
    if len(heads) == 1 and all(rest[:1].isalpha() for _, _, rest in parted.values()):
        return {model: rest for model, (_, _, rest) in parted.items()}
    return {model: model for model in models}


def _worded(action: Action, names: Mapping[str, str]) -> str:
    match action:
        case Block():
            return "BLOCK"
        case Skip():
            return "SKIP"
        case RequestApproval():
            return "ASK YOU"
        case AwaitIssues():
            return "wait for issues"
        case Land():
            return "LAND"
        case Ask(topic=topic):
            return _ASKED.get(topic, "ask resolver")
        case RunWorker(model=model, think=think) | WaitUntil(model=model, think=think):
            mode = action.mode if isinstance(action, RunWorker) else None
            name = names.get(model, model) + (" ↑" if mode is Mode.ESCALATE else "")
            manner = "" if mode is Mode.FEEDBACK and think else action_text(action.name, "cell")
            return " ".join(text for text in (name, "thinks" if think else "", manner) if text)


def _table_lines(rows: Sequence[Row], names: Mapping[str, str], width: int) -> list[str]:
    lines: list[str] = []
    for row in rows:
        same = ": the same each time" if row.repeats is not None else ""
        lines += [*([""] if lines else []), *hanging(f"{', '.join(row.kinds)}{same}", width)]
        for line in hanging(" → ".join(_counted(row, names)), width, "  "):
            end = next((word for word in ("BLOCK", "SKIP") if line.endswith(word)), "")
            lines.append(line.removesuffix(end) + paint(end, "bad"))
    return lines


def _counted(row: Row, names: Mapping[str, str]) -> list[str]:
    runs: list[tuple[str, int]] = []
    for step in row.steps:
        wait = f"wait {duration(step.wait_s)}" if step.wait_s else ""
        text = ", ".join(part for part in (wait, _worded(step.action, names)) if part)
        if runs and runs[-1][0] == text:
            runs[-1] = (text, runs[-1][1] + 1)
        else:
            runs.append((text, 1))
    cut = [] if terminal(row.steps[-1].action) else ["…"]
    return [text if times == 1 else f"{text} ×{times}" for text, times in runs] + cut


class ReplayDocument(NamedTuple):
    """What `noface policy --replay` prints: what a policy makes of the decisions so far."""

    file: Annotated[str, "The configuration whose policy it is."]
    decisions: Annotated[int, "How many decisions were looked at."]
    otherwise: Annotated[tuple[OtherDecision, ...], "Those that it would take otherwise."]


def replay_page(document: ReplayDocument, width: int) -> list[str]:
    """Return the lines of `noface policy --replay`."""
    lines: list[str] = []
    for each in document.otherwise:
        lines += [paint(f"{clean(each.issue)} after attempt {each.attempt}: {clean(each.outcome)}", "title")]
        lines += painted(hanging(f"{clean(each.was)} → {each.would_be}", width, "  "), "careful")
        lines += [*hanging(clean(each.reason), width, "  "), ""]
    differ = len(document.otherwise) or "none"
    return [
        *lines,
        *hanging(f"{count(document.decisions, 'decision')}, {differ} would differ under {document.file}.", width),
    ]


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
