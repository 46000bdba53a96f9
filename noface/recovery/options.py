"""What a person can do about an issue that waits for them, each thing with the command that does it.

A command is whole and can be copied: what it names exists where it is printed, and only a note is left to write.
"""

import re
import shlex
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from noface.data import table
from noface.model.actions import ApprovalKind, Block
from noface.model.history import History
from noface.model.issue import Issue
from noface.model.patterns import paths_in
from noface.model.request import Option, PersonRequest, RequestKind
from noface.model.taxonomy import Category, FailureKind
from noface.recovery.decided import is_for_a_person

_MORE_ATTEMPTS = 3
_FILES_MAX = 5
_NOTE = '--note "…"'
EDITOR = "${EDITOR:-vi}"
"""What begins a command that edits a file, also if a shell has no $EDITOR."""
_EDIT_CONFIG = f'{EDITOR} "$(noface config path)"'
_OF_A_MODEL = (FailureKind.AUTH, FailureKind.MISCONFIGURED)


@dataclass(frozen=True, slots=True)
class Configured:
    """What noface.toml says that a person is told of: each gate's command, and each model's agent.

    `fixes` is how each model is logged in; `ready` the models that can work, each with its login.
    """

    commands: Mapping[str, str] = field(default_factory=dict)
    agents: Mapping[str, str] = field(default_factory=dict)
    fixes: Mapping[str, str] = field(default_factory=dict)
    ready: Mapping[str, str] = field(default_factory=dict)


def asks(
    request: PersonRequest, kind: RequestKind | ApprovalKind, issue: Issue, facts: Mapping[str, object]
) -> PersonRequest:
    """Return the request with what data/requests.toml says of its kind; what is not said there stays as it is."""
    entry = table("requests")[kind.value]
    known = {"id": issue.id, "edit": edit_command(issue) if issue.source else "", **facts}

    def answerable(texts: Iterable[str]) -> bool:
        names = (name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name)
        return all(known[name] for name in names)

    steps = request.next_steps
    if "first" in entry:
        steps = (entry["first"].format_map(known), *steps[1:])
    if "steps" in entry:
        steps = tuple(step.format_map(known) for step in entry["steps"] if answerable([step]))
    request = replace(
        request,
        wants=entry.get("wants", request.wants),
        task=entry["task"].format_map(known),
        question=entry["question"].format_map(known) if "question" in entry else request.question,
        next_steps=steps,
    )
    if "options" not in entry:
        return request
    ways = [
        (str(way[0]).format_map(known), str(way[1]).format_map(known)) for way in entry["options"] if answerable(way)
    ]
    return with_options(request, ways)


def with_options(request: PersonRequest, options: Sequence[Option]) -> PersonRequest:
    texts, commands = tuple(zip(*options, strict=True)) or ((), ())
    return replace(request, options=texts, commands=commands)


def options_of_blocked(
    issue: Issue, action: Block, history: History, branch: str, configured: Configured
) -> tuple[Option, ...]:
    """Return what can be done about a blocked issue, what fits its kind first; what lies outside needs no note."""
    kind = action.kind
    strongest = max(history.attempts, key=lambda attempt: (attempt.tier, attempt.number), default=None)
    options = _for_kind(issue, kind, history, configured)
    if action.limit:
        raised = f"allow more: raise {action.limit} of [retry]; the next run goes on by itself"
        yes = ("yes: let its spending count from zero", f"noface approve {issue.id}")
        options = [(raised, _EDIT_CONFIG), yes, ("no: leave it undone", f"noface skip {issue.id}"), *options]
    if kind is FailureKind.ENVIRONMENT:
        options.append(("say how to do without what is missing", _retry(issue, _NOTE)))
    if kind.category is not Category.ENVIRONMENT:
        options.append(("answer the question, or say what the workers could not know", _retry(issue, _NOTE)))
        known = strongest is not None and (not configured.agents or strongest.model in configured.agents)
        if strongest is not None and known and kind.category is not Category.TRANSIENT:
            text = f"give it {_MORE_ATTEMPTS} more attempts with {strongest.model}, or name a stronger model"
            how = f"--model {shlex.quote(strongest.model)} --attempts {_MORE_ATTEMPTS}"
            options.append((text, _retry(issue, how)))
        if issue.source and kind is not FailureKind.BOUNDARY_VIOLATION:
            options.append(("change the issue or divide it; editing it unblocks it", edit_command(issue)))
    if all(option[1] != _retry(issue) for option in options):
        tests = any(each.failure is not None and each.failure.failing_tests for each in history.current)
        way = "correct the test on main if it is wrong, or change something else, then try it again"
        again = way if tests else "try it again unchanged, after you changed something else"
        options.append((again, _retry(issue)))
    failing = (each.failure.failing_tests for each in reversed(history.current) if each.failure is not None)
    files = paths_in("\n".join(next(filter(None, failing), ())))
    if files and not action.limit and kind.info.names_tests:
        named = " ".join(f"--path {shlex.quote(path)}" for path in files[:_FILES_MAX])
        options.append(("the test is wrong: from now on the issue may change it", f"noface approve {issue.id} {named}"))
    if branch:
        options.append(
            ("take the work over by hand", f"git switch --create by-hand-{branch.rpartition('/')[2]} {branch}")
        )
    return tuple(options)


def _for_kind(issue: Issue, kind: FailureKind, history: History, configured: Configured) -> list[Option]:
    last = history.current[-1].model if history.current else ""
    match kind.category:
        case Category.ENVIRONMENT:
            cause = "log in" if kind is FailureKind.AUTH else "mend the cause"
            fix = configured.fixes.get(last, "") if kind is FailureKind.AUTH else ""
            how = f": {fix}" if fix else ""
            mended = [(f"{cause}{how}; the next run goes on by itself", "noface run")]
            edit = [("correct noface.toml", _EDIT_CONFIG)] if kind is FailureKind.MISCONFIGURED else []
            failure = history.current[-1].failure if history.current else None
            if issue.source and failure is not None and (failure.gate or "").startswith("accept"):
                edit = [("correct its `accept` command; editing it unblocks it", edit_command(issue))]
            of_model = kind in _OF_A_MODEL and not gate_at_fault(kind, history)
            return [*edit, *mended, *(_other_model(issue, last, configured, kind) if of_model else [])]
        case Category.TRANSIENT:
            wait = ("wait for the provider; the next run goes on by itself", "noface run")
            return [wait, *_other_model(issue, last, configured, kind)]
        case Category.BOUNDARY if kind is FailureKind.GATE_TAMPERING:
            return [("the test is wrong: correct it on main yourself, then go on", _retry(issue))]
        case Category.BOUNDARY:
            return _for_boundary(issue, history)
        case _ if right := next((a for a in reversed(history.current) if a.failure and is_for_a_person(a)), None):
            attempt = f"noface approve {issue.id} --attempt {right.number}"
            return [(f"the work of attempt {right.number} is right: let it land if the gates pass", attempt)]
        case _:
            return []


def gate_at_fault(kind: FailureKind, history: History) -> str:
    """Return the gate whose entry in noface.toml, and no model's, keeps an issue from going on; "" if none does."""
    failure = history.current[-1].failure if history.current else None
    if kind is not FailureKind.MISCONFIGURED or failure is None or failure.kind != kind:
        return ""
    return failure.gate or ""


def _for_boundary(issue: Issue, history: History) -> list[Option]:
    failure = history.current[-1].failure if history.current else None
    rule = failure.rule if failure is not None else ""
    if rule == "secret-added":
        return [("it opens nothing: name its file in [limits] test_keys, then go on", _EDIT_CONFIG)]
    if not issue.source:
        return []
    if rule in ("outside-paths", "report-boundary-violation"):
        return [("yes: add what it needs to its `paths`; that lifts the block", edit_command(issue))]
    return [("yes: say so in the issue; editing it lifts the block", edit_command(issue))]


def _other_model(issue: Issue, last: str, configured: Configured, kind: FailureKind) -> list[Option]:
    """Return the option to go on with another model that can work: of another login, or of another provider."""
    by = configured.ready if kind is FailureKind.AUTH else configured.agents
    other = next((name for name in configured.ready if by.get(name) != by.get(last)), None)
    if other is None:
        return []
    return [(f"go on with another model, such as {other}", _retry(issue, f"--model {shlex.quote(other)}"))]


def edit_command(issue: Issue) -> str:
    """Return the command by which a person edits an issue where it was written: a file, GitHub, or a line of beads."""
    if re.search(r"(?:\.jsonl|^bd):\d+$", issue.source):
        return f"bd edit {shlex.quote(issue.id)}"
    program = "gh issue edit" if "://" in issue.source else EDITOR
    return f"{program} {shlex.quote(issue.source)}"


def _retry(issue: Issue, how: str = "") -> str:
    return f"noface retry {issue.id} {how}".rstrip()
