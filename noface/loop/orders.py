"""Makes the order for an issue's next attempt: where it starts, what it is told, what it may touch."""

import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path

from noface.core.best import best_attempt
from noface.core.hints import matching
from noface.core.model import AttemptOrder, Issue, PastAttempt, PriorFailure
from noface.core.named_files import named_paths, run_scripts
from noface.core.prompts import INSTRUCTIONS, PromptData, render
from noface.core.tampering import is_test_file
from noface.git.refs import RefUpdate
from noface.git.repo import hold_ref, slug
from noface.loop.context import RunContext
from noface.loop.pattern_search import search

_PATCH_CHARS_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class Start:
    """Where an attempt starts: a commit, and the attempt it holds (None: main as it is)."""

    commit: str
    best: PastAttempt | None


def make_order(
    context: RunContext, issue: Issue, model: str, slot: int, note: str, accept_failing: int | None
) -> tuple[AttemptOrder, str]:
    """Return the order and the hash of its prompt. Writes nothing but a ref that holds the starting commit."""
    past = context.reader.past(issue.id)
    main = context.shop.plumbing.main()
    start = _start(context, issue, past, main, accept_failing)
    number = context.reader.next_number(issue.id)
    directory = attempt_directory(context.settings.attempts_dir, issue.id, number)
    protected = context.settings.protected + _judges(context, issue, main)
    earlier = tuple(_prior(attempt) for attempt in past if attempt.failure is not None)
    gates = context.gates_for(issue.accept)
    prompt = _prompt(context, issue, past, earlier, start, note, protected)
    order = AttemptOrder(
        run_id=context.run_id,
        token=secrets.token_hex(12),
        issue=issue,
        number=number,
        model=context.settings.models[model],
        prompt=prompt,
        main=main,
        start=start.commit,
        slot=slot,
        directory=directory,
        gates=gates,
        protected=protected,
        earlier=earlier,
        known_failures=context.known,
    )
    return order, hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:16]


def attempt_directory(attempts_dir: str, issue_id: str, number: int) -> str:
    """Return the folder of an attempt's logs and records."""
    return str(Path(attempts_dir) / slug(issue_id) / str(number))


def _start(
    context: RunContext, issue: Issue, past: tuple[PastAttempt, ...], main: str, accept_failing: int | None
) -> Start:
    hard = sum(gate.hard for gate in context.settings.gates)
    best = best_attempt(past, project_gates=hard, accept_failing=accept_failing)
    plumbing = context.shop.plumbing
    if best is None or best.candidate is None or plumbing.resolve(best.candidate) is None:
        return Start(main, None)
    if plumbing.is_ancestor(main, best.candidate):
        return Start(best.candidate, best)
    merge = plumbing.merge(main, best.candidate)
    if merge.tree is None:
        return Start(main, None)
    message = f"Merge main into attempt {best.number} of issue {issue.id}\n"
    commit = plumbing.commit_tree(merge.tree, (best.candidate, main), message)
    plumbing.refs.apply(RefUpdate(hold_ref(issue.id, "start"), commit))
    return Start(commit, best)


def _judges(context: RunContext, issue: Issue, main: str) -> tuple[str, ...]:
    """Return the files by which work is judged, or done: they are protected (law 11).

    What `accept` names, and of a folder it names the test files (`pytest src` must not protect the sources); and the
    scripts that gates and workers are, run by themselves or by a shell.
    """
    settings, plumbing = context.settings, context.shop.plumbing
    accept = named_paths(issue.accept)
    commands = tuple(gate.command for gate in settings.gates) + tuple(m.command for m in settings.models.values())
    scripts = run_scripts(commands)
    if not accept and not scripts:
        return ()
    found = plumbing.entries(main, tuple(sorted({*accept, *scripts})))
    return tuple(sorted(p for p in found if p in accept or p in scripts or (is_test_file(p) and _below(p, accept))))


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _prior(attempt: PastAttempt) -> PriorFailure:
    failure = attempt.failure
    assert failure is not None  # noqa: S101 - the caller filtered
    return PriorFailure(
        number=attempt.number,
        model=attempt.model,
        kind=attempt.outcome,
        message=failure.message,
        location=failure.location,
        excerpt=failure.excerpt,
        failing_tests=failure.failing_tests,
        rule=failure.rule,
    )


def _prompt(
    context: RunContext,
    issue: Issue,
    past: tuple[PastAttempt, ...],
    earlier: tuple[PriorFailure, ...],
    start: Start,
    note: str,
    protected: tuple[str, ...],
) -> str:
    last = next((attempt for attempt in reversed(past) if attempt.failure is not None), None)
    shown = start.best or last
    patch = _patch(context, issue, shown.number) if shown is not None else ""
    touched = tuple(sorted({line[6:] for line in patch.splitlines() if line.startswith("+++ b/")}))
    failure = last.failure if last is not None else None
    data = PromptData(
        issue=issue,
        gates=context.gates_for(issue.accept),
        protected=protected,
        earlier=earlier,
        best=next((prior for prior in earlier if start.best and prior.number == start.best.number), None),
        patch=patch,
        hints=matching(context.settings.hints, issue, failure, touched, search),
        note=note,
        instruction=INSTRUCTIONS.get(last.outcome, "") if last is not None else "",
        chars_max=context.settings.prompt_chars_max,
    )
    return render(context.settings.template, data)


def _patch(context: RunContext, issue: Issue, number: int) -> str:
    path = Path(attempt_directory(context.settings.attempts_dir, issue.id, number)) / "diff.patch"
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_PATCH_CHARS_MAX)
    except OSError:
        return ""
