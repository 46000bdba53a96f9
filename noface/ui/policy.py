"""The document and the page of `noface policy`: the ladder, its limits, what follows each kind of failure.

Scripts read the records: add keys, never rename.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from noface.model.actions import ASK_NAMES, Ask, model_of, thinks
from noface.model.codec import encode
from noface.model.history import History
from noface.model.taxonomy import FailureKind
from noface.recovery.policy import backoff
from noface.recovery.policy_table import ANY_ISSUE, Row, SimulatedIssue, SimulatedStep, course, table
from noface.recovery.retry_policy import Policy, Rung, When
from noface.ui.page import paint, painted
from noface.ui.policy_cells import short_names, table_lines
from noface.ui.text import clean, count, duration, hanging, money


@dataclass(frozen=True, slots=True)
class PolicyView:
    """What the page is about: the policy of the file `name`, for one issue or for any.

    `history` holds the issue and what a person said when they unblocked it; its attempts are not looked at.
    """

    name: str
    policy: Policy
    history: History = field(default_factory=lambda: History(ANY_ISSUE))

    @property
    def any_issue(self) -> bool:
        """True if it is about no issue in particular."""
        return self.history.issue is ANY_ISSUE

    @property
    def model(self) -> str | None:
        """The model that a person, or else the issue, wants it to begin with."""
        return self.history.model or self.history.issue.model

    @property
    def attempts_max(self) -> int | None:
        """The number of attempts that a person, or else the issue, allows."""
        return self.history.attempts_max or self.history.issue.max_attempts

    @property
    def ladder(self) -> tuple[Rung, ...]:
        """The rungs for the issue."""
        return self.policy.ladder_for(self.history.issue, self.history.model)

    @property
    def cap(self) -> int:
        """How many charged attempts it may have."""
        return self.policy.cap(self.history.issue, self.history.attempts_max)

    def rows(self) -> tuple[Row, ...]:
        """Return what follows on every kind of failure."""
        history = self.history
        return table(self.policy, history.issue, model=history.model, attempts_max=history.attempts_max)

    def course(self, kind: FailureKind) -> SimulatedIssue:
        """Return what follows on one kind of failure."""
        history = self.history
        return course(self.policy, kind, history.issue, model=history.model, attempts_max=history.attempts_max)

    def waits(self, most: int) -> tuple[float, ...]:
        """Return the longest waits, in seconds, before the first `most` retries of a provider that is away.

        Without a limit to the retries they end where they do not grow any more.
        """
        base, longest, retries = self.policy.backoff_base_s, self.policy.backoff_max_s, self.policy.transient_retries
        waits = [backoff(base, longest, number, 1.0) for number in range(1, min(retries or most, most) + 1)]
        if retries is None:
            waits = waits[: waits.index(waits[-1]) + 1]
        return tuple(waits) if retries != 0 else ()


_WAITS_MAX = 100


def policy_document(view: PolicyView) -> dict[str, object]:
    """Return what `noface policy --json` prints. Durations are seconds, money dollars.

    `retries` is null where only time limits how often a provider that is away is asked again; `waits_s` are the longest
    waits before that.
    """
    policy = view.policy
    return {
        "file": view.name,
        "issue": issue_document(view),
        "ladder": view.ladder,
        "max_total_attempts": view.cap,
        "block_after": policy.block_after,
        "max_cost_usd": policy.issue_cost_usd_max,
        "max_tokens": policy.issue_tokens_max,
        "transient": {
            "retries": policy.transient_retries,
            "waits_s": view.waits(_WAITS_MAX),
            "outage_max_s": policy.outage_max_s,
        },
        "roles": policy.roles,
        "reflect": policy.reflect,
        "max_strategies": policy.strategies_max,
        "review": policy.review,
        "approval": {"paths": policy.approval_paths, "labels": policy.approval_labels},
        "strategies": [
            {"kind": kind, "strategy": strategy, "default": kind.info.strategy} for kind, strategy in policy.strategies
        ],
        "policy": [
            {
                "kinds": row.kinds,
                "same_each_time": row.repeats is not None,
                "steps": [step_document(step) for step in row.steps],
            }
            for row in view.rows()
        ],
    }


def issue_document(view: PolicyView) -> dict[str, object] | None:
    """Return what the issue, and the person who unblocked it, say about its attempts; None if it is about no issue."""
    issue = view.history.issue
    return (
        None
        if view.any_issue
        else {
            "id": issue.id,
            "title": issue.title,
            "model": view.model,
            "max_attempts": view.attempts_max,
            "tier": issue.tier,
            "no_escalate": issue.no_escalate,
            "candidates": issue.candidates,
            "labels": issue.labels,
        }
    )


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


_WAITS_SHOWN = 4
_LABEL = "  {:<12}"
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


def policy_page(view: PolicyView, width: int) -> list[str]:
    """Return the lines of the page."""
    rows = view.rows()
    used = [model_of(step.action) for row in rows for step in row.steps]
    names = short_names(tuple(dict.fromkeys(name for name in used if name)))
    grid = table_lines(rows, names, width)
    lines = [*head(view, width), "", paint("Ladder", "title"), *ladder_lines(view, width)]
    lines += ["", paint("Limits", "title"), *_limits(view, width)]
    title = hanging("What follows each kind of failure, if every attempt fails", width)
    lines += ["", *(paint(line, "title") for line in title), *grid]
    lines += ["", *_legend(grid, width)]
    lines += _own_rules(view, width)
    return [*lines, "", paint("One kind step by step: noface policy --kind TEST_FAILURE", "quiet")]


def head(view: PolicyView, width: int) -> Iterator[str]:
    """Yield what the page is about."""
    issue = view.history.issue
    if view.any_issue:
        yield from painted(hanging(f"The retry policy of {view.name}", width), "title")
        return
    yield from painted(hanging(issue.title, width, f"{clean(issue.id)}  "), "title")
    own = [f"model {view.model}" if view.model else ""]
    own += [f"tier {issue.tier} and above" if issue.tier else ""]
    own += [f"at most {count(view.attempts_max, 'attempt')}" if view.attempts_max else ""]
    own += ["no escalation" if issue.no_escalate else ""]
    own += [f"{issue.candidates} candidates at once" if issue.candidates else ""]
    limits = "; ".join(part for part in own if part) or "nothing of its own"
    yield from hanging(f"{limits}; the rest is the policy of {view.name}", width, "  ")


def ladder_lines(view: PolicyView, width: int) -> Iterator[str]:
    """Yield a line for each rung; the last one repeats until the cap."""
    longest = max(len(clean(rung.model)) for rung in view.ladder)
    for number, rung in enumerate(view.ladder, 1):
        times = "to the end" if number == len(view.ladder) else count(rung.times, "attempt")
        at_once = f"{rung.candidates} at once" if rung.candidates > 1 else ""
        facts = [f"tier {rung.tier}", times, at_once, "thinks longer" if rung.think else ""]
        facts += [f"answers {', '.join(rung.answers)}" if rung.answers else ""]
        text = " · ".join(fact for fact in facts if fact)
        yield from hanging(text, width, f"  {number}  {clean(rung.model):<{longest}}  ", rest=" " * 7)


def _limits(view: PolicyView, width: int) -> Iterator[str]:
    policy = view.policy
    same = f"; the same failure {policy.block_after} times in a row blocks at once" if policy.block_after else ""
    limits = [money(policy.issue_cost_usd_max)] if policy.issue_cost_usd_max is not None else []
    limits += [count(policy.issue_tokens_max, "token")] if policy.issue_tokens_max is not None else []
    cost = "".join(f" and {limit}" for limit in limits)
    facts = [
        ("attempts", f"{view.cap} charged ones{cost} per issue, then it is blocked{same}"),
        ("provider", _provider(view)),
        (
            "strategies",
            f"after {policy.strategies_max} different failed strategies beside the ladder the issue is blocked",
        ),
        ("roles", _roles(policy)),
    ]
    for name, text in facts:
        yield from hanging(text, width, _LABEL.format(name))


def _provider(view: PolicyView) -> str:
    """Say how long, and how often, a provider is waited for that is away."""
    retries, longest = view.policy.transient_retries, duration(view.policy.outage_max_s)
    if retries == 0:
        return "no failure is waited out"
    waits = [duration(wait) for wait in view.waits(_WAITS_MAX)]
    listed = ", ".join(waits[:_WAITS_SHOWN])
    listed += f", … {waits[-1]}" if len(waits) > _WAITS_SHOWN else ""
    blocks = f"; blocked after {count(retries, 'retry', 'retries')}" if retries is not None else ""
    ends = f"; after {longest} the run ends (exit code 4)"
    return f"waited for until the time it names, else tried again after up to {listed}; not charged{blocks}{ends}"


def _roles(policy: Policy) -> str:
    """Return who is asked for what, and what nobody is asked for."""
    by_model: dict[str, list[str]] = {}
    for role, model in encode(policy.roles).items():
        by_model.setdefault(clean(model) if model else "", []).append(role)
    free = by_model.pop("", [])
    named = [f"{model}: {', '.join(roles)}" for model, roles in by_model.items()]
    return "; ".join([*named, *([f"nobody: {', '.join(free)}"] if free else [])])


def _legend(grid: list[str], width: int) -> list[str]:
    """Explain the words that are used, and no others."""
    text = "\n".join(grid)
    used = [(word, meaning) for word, meaning in _LEGEND if word in text]
    return [paint(line, "quiet") for word, meaning in used for line in hanging(meaning, width, f"  {word:<8}  ")]


def _own_rules(view: PolicyView, width: int) -> list[str]:
    policy, lines = view.policy, list[str]()
    own = [
        f"{kind}: {strategy} (by default {kind.info.strategy})"
        for kind, strategy in policy.strategies
        if strategy is not kind.info.strategy
    ]
    if own:
        lines += ["", paint("Your own strategies", "title")]
        lines += [row for text in own for row in hanging(text, width, "  ")]
    lines += ["", paint("Work that passes", "title")]
    return [*lines, *(row for text in _passing(view) for row in hanging(text, width, "  "))]


def _passing(view: PolicyView) -> Iterator[str]:
    policy = view.policy
    if policy.roles.reviewer is not None and policy.review.when is not When.NEVER:
        which = "all of it" if policy.review.when is When.ALWAYS else "what is risky"
        rounds = count(policy.review.rounds_max, "rejection")
        yield f"{clean(policy.roles.reviewer)} reviews {which}; after {rounds} a person is asked"
    if policy.approval_paths:
        yield f"needs your approval where it changes {', '.join(policy.approval_paths)}"
    mine = [label for label in view.history.issue.labels if label in policy.approval_labels]
    if mine:
        yield f'needs your approval, since the issue has the label "{mine[0]}"'
    elif policy.approval_labels:
        yield f"needs your approval where the issue is labelled {', '.join(policy.approval_labels)}"
    if not policy.approval_paths and not policy.approval_labels:
        yield "lands without asking you"
