"""Asks, before any token is spent: whether the gates are green on main, and an issue's `accept` commands red."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from noface.core.failure import Failure
from noface.core.gate import GateKind, GateResult
from noface.core.issue import Issue
from noface.core.taxonomy import FailureKind
from noface.loop.context import RunContext, accept_gates
from noface.loop.gating import Gated, Task, run_gates
from noface.loop.workshop import LANDING_SLOT
from noface.system.supervise import Canceller

UNCOMMITTED = "accept-uncommitted"
_CANNOT_RUN = (126, 127)


@dataclass(frozen=True, slots=True)
class AcceptChecked:
    """Message to the loop: `failing` tests of the issue's `accept` fail on main (0: it is satisfied already).

    `failure` says why it could not be found out; `interrupted` that it was not; `broken` what broke noface itself.
    """

    issue_id: str
    failing: int = 0
    failure: Failure | None = None
    interrupted: bool = False
    broken: BaseException | None = None


def check_baseline(context: RunContext, cancel: Canceller, *, anew: bool) -> Gated | None:
    """Run the project's gates on main's tree; None where interrupted. `anew`: also those that are known to be green."""
    plumbing = context.shop.plumbing
    main = plumbing.main()
    logs = Path(context.settings.attempts_dir).parent / "baseline"
    task = Task("", 0, "baseline", LANDING_SLOT, plumbing.tree(main), main, main, logs)
    gates, shop = context.settings.gates, context.shop
    gated = run_gates(shop, task, gates, cancel, context.inbox.put, None, anew=anew)
    asked = {result.gate.command for result in gated.results if _red_test(result)} - shop.seen.plain if gated else set()
    if not asked:
        return gated
    # It may be red only because its test runner is asked for a report.
    shop.seen.plain.update(asked)
    plain = run_gates(shop, task, gates, cancel, context.inbox.put, None, anew=True)
    if plain is not None:
        shop.seen.plain.difference_update(result.gate.command for result in plain.results if _red_test(result))
    return plain


def _red_test(result: GateResult) -> bool:
    return result.failure is not None and result.gate.kind is GateKind.TEST


def check_accept(context: RunContext, issue: Issue, slot: int, cancel: Canceller) -> AcceptChecked:
    """Run an issue's `accept` commands on main. Red is what they should be."""
    plumbing = context.shop.plumbing
    main = plumbing.main()
    logs = Path(context.settings.attempts_dir).parent / "accept" / issue.id
    task = Task(issue.id, 0, f"accept-{issue.id}", str(slot), plumbing.tree(main), main, main, logs)
    build = tuple(gate for gate in context.settings.gates if gate.kind is GateKind.BUILD)  # accept may need its output
    gates = build + accept_gates(issue.accept)
    gated = run_gates(context.shop, task, gates, cancel, context.inbox.put, None)
    if gated is None:
        return AcceptChecked(issue.id, interrupted=True)
    if gated.failure is not None:
        return AcceptChecked(issue.id, failure=gated.failure)
    red = [result for result in gated.results if result.failure is not None and result.gate.accept]
    unrunnable = next((r.failure for r in red if r.exit_code in _CANNOT_RUN), None)
    return AcceptChecked(issue.id, failing=_failing(red), failure=_uncommitted(context, red) or unrunnable)


def _uncommitted(context: RunContext, red: list[GateResult]) -> Failure | None:
    """Return that a command did not find a file which lies in the person's checkout and was never committed.

    No worker can put it there, since what `accept` names is protected.
    """
    lost = [result for result in red if result.failure is not None and result.failure.kind is FailureKind.ENVIRONMENT]
    if not lost:
        return None
    plumbing, root = context.shop.plumbing, context.shop.plumbing.repository.root
    there = set(plumbing.paths(plumbing.main()))
    for result in lost:
        for path in named_files(result.gate.command):
            if path not in there and (root / path).is_file():
                said = f"{path} is not on {plumbing.repository.main_name}: it lies uncommitted in {root}"
                return Failure(FailureKind.ENVIRONMENT, said, rule=UNCOMMITTED, charged=False)
    return None


def named_files(command: str) -> list[str]:
    """Return the words of a command that may name files of the repository; of `a.py::test_x` the file."""
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    paths = [word.partition("::")[0].removeprefix("./") for word in words]
    return [path for path in paths if path and not path.startswith(("-", "/", "../"))]


def _failing(red: list[GateResult]) -> int:
    return sum(max(1, len(result.failing_tests)) for result in red)
