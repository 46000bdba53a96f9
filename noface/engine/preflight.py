"""What must hold before any work is paid for: agents installed, gates green on main (or their failures known)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from noface.attempt.disk import disk_full_error, main_without_room
from noface.attempt.gate_session import CutShort
from noface.attempt.gating import Gating, Ran, main_task
from noface.attempt.libraries import with_own_library
from noface.attempt.prepare import INCOMPLETE, SETUP_FAILED
from noface.diagnosis.known_causes import final_error
from noface.diagnosis.missing_library import library_of
from noface.engine.context import RunContext
from noface.engine.gate_networks import remember_networks, tell_networks, widened, with_known_networks
from noface.engine.isolation_checks import Lack, lacks, leaks, reach_out, setup_lacks
from noface.engine.readiness import box_findings, model_findings
from noface.errors import BaselineRedError, UsageError
from noface.gates.run import OTHERS_SERVER, names_suffice
from noface.git.plumbing import Plumbing
from noface.model.failure import CHANGED_FILES, SETUP_PASSING, Failure
from noface.model.finding import refusal
from noface.model.gate import GateKind, GateResult, GateSpec
from noface.model.quoting import to_the_point
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.process.supervise import Canceller

_MAY_FIX = "With `fixes = true` in its [[gates]] entry it may change files of the work, once main is as it wants it."
_SETTLED = (IssueStatus.MERGED, IssueStatus.SKIPPED, IssueStatus.APPROVAL, IssueStatus.REVIEW)
_COMMAND_MAX = 120


def preflight(context: RunContext, cancel: Canceller) -> tuple[GateResult, ...]:
    """Run the gates on main; known results count only if a run that was cut off goes on, or nothing is to do.

    Raises UsageError (agents), DiskFullError, BaselineRedError.
    """
    settings, policy = context.settings, context.settings.policy
    workers = tuple(rung.model for rung in policy.ladder)
    unbound = box_findings(settings.models, workers, asdict(policy.roles), context.env.sandbox.bubblewrap)
    if error := refusal((*model_findings(settings.models, policy.models), *unbound)):
        raise error
    known = {name: each.content_hash for name, each in context.reader.states().items() if each.status in _SETTLED}
    anything_to_do = any(known.get(issue.id) != issue.content_hash for issue in context.tracker.backlog().issues)
    fresh = anything_to_do and not context.reader.cut_off_before(context.run_id)
    try:
        gated = check_baseline(context, cancel, anew=fresh)
    except CutShort:
        raise KeyboardInterrupt from None
    tell_networks(context)
    if full := main_without_room(context.env, gated.failure, *(r.failure for r in gated.results if r.gate.hard)):
        raise disk_full_error(full)
    if gated.failure is not None:
        lack = setup_lacks(context, gated.failure, cancel) if gated.failure.rule == SETUP_FAILED else None
        raise _not_set_up(gated.failure, lack)
    red = [result for result in gated.results if result.gate.hard and result.failure is not None]
    if strangers := [each for each in red if each.failure is not None and each.failure.rule == OTHERS_SERVER]:
        raise _red(strangers)
    if reaching := reach_out(context, red, cancel):
        raise _leaking([result.gate for result in red if result.gate.name in reaching], _REACHES)
    if lacking := lacks(context, red, cancel) if red else {}:
        raise _lacking([result for result in red if result.gate.name in lacking], lacking)
    green = tuple(result.gate for result in gated.results if result.failure is None)
    if leaking := leaks(context, green, cancel) if fresh else ():
        raise _leaking(leaking, _STAYS_GREEN)
    if not context.settings.only_new:
        if red:
            raise _red(_with_own_library(context.env.plumbing, red))
        return gated.results
    if unreadable := [result for result in red if not _by_names(result)]:
        raise _red(_with_own_library(context.env.plumbing, unreadable), only_new=True)
    context.known = tuple((result.gate.name, result.failing_tests) for result in gated.results)
    return gated.results


def announce_tests(context: RunContext, results: tuple[GateResult, ...]) -> None:
    """Tell that main passes, gate by gate, with how many tests each says it ran."""
    ran = []
    for result in results:
        tests = f" ({result.tests_run:,} tests)" if result.tests_run else ""
        ran.append(f"{result.gate.name}{' (red as it was)' if result.failure is not None else tests}")
    context.announce("main_passes", None, {"gates": ran})


def _with_own_library(plumbing: Plumbing, red: list[GateResult]) -> list[GateResult]:
    return [replace(each, failure=with_own_library(plumbing, each.tree, each.failure)) for each in red if each.failure]


_REACHES = "passes on main only with your checkout within its reach"
_STAYS_GREEN = (
    "stays green with every source file of the project broken: it tests something else than the workspace, or no test"
    " uses the sources"
)


def _leaking(leaking: Sequence[GateSpec], what: str) -> UsageError:
    lines = [f"gate {gate.name} (`{gate.command}`) {what}." for gate in leaking]
    lines.append(
        "Usual ways: an editable install or a copy outside the workspace, a link, a variable such as PYTHONPATH."
    )
    rightly = " A gate that rightly stays green (of documents, say) has canary = false." if what == _STAYS_GREEN else ""
    return UsageError(
        "A gate does not judge the work.\n" + "\n".join(lines),
        "Have [project] setup make an environment in the workspace, and the gate use it, as `noface init` writes it:"
        f" `python -m venv .venv && .venv/bin/pip install -e .`, and `.venv/bin/python -m pytest`.{rightly}"
        " To run all the same: [run] allow_leaky_gates = true.",
    )


def _not_set_up(failure: Failure, lack: Lack | None) -> BaselineRedError:
    if failure.rule == INCOMPLETE:
        return BaselineRedError(f"BASELINE_RED: {failure.message}.", "Run again when that is done.")
    lines = [f"BASELINE_RED: the workspace for main's gates cannot be made ready: {failure.message}"]
    lines += [f"  {line}" for line in failure.evidence]
    passing = failure.rule == SETUP_PASSING
    hint = "Run again once that is over." if passing else "Correct [project] setup, or what it needs, and run again."
    if lack is not None:
        hint = f"It works {_surroundings(lack)}: {lack.remedy(setup=True)}."
    return BaselineRedError("\n".join(lines), hint)


def _surroundings(lack: Lack) -> str:
    return "outside the sandbox" if lack.sandbox else "with variables that it is not given"


def _by_names(result: GateResult) -> bool:
    kind, rule = (result.failure.kind, result.failure.rule) if result.failure is not None else (None, "")
    return names_suffice(kind, rule, result.exit_code, result.failing_tests)


def _red(red: list[GateResult], *, only_new: bool = False) -> BaselineRedError:
    lines = []
    for result in red:
        failure = result.failure
        if failure is None:
            continue
        where = f" at {failure.location}" if failure.location else ""
        lines.append(f"gate {_named(result)}: {failure.kind}: {failure.message}{where}")
        lines += [f"  failing: {test}" for test in result.failing_tests[:10]]
        lines += _logs(result)
    return BaselineRedError(
        "BASELINE_RED: main is red before any work was done.\n" + "\n".join(lines), way_out(red, only_new=only_new)
    )


def _named(result: GateResult) -> str:
    return f"{result.gate.name} (`{to_the_point(result.gate.command, _COMMAND_MAX)}`)"


def _logs(result: GateResult) -> list[str]:
    out = Path(result.stdout_log)
    written = [log for log in (out, out.with_suffix(".err")) if log.is_file() and log.stat().st_size]
    return [f"  log: {log}" for log in written or (out,)]


def _lacking(red: list[GateResult], lacking: Mapping[str, Lack]) -> BaselineRedError:
    lines, remedies = [], []
    for result in red:
        lack = lacking[result.gate.name]
        message = result.failure.message if result.failure is not None else ""
        lines += [f"gate {_named(result)} passes on main only {_surroundings(lack)}: {message}", *_logs(result)]
        remedies.append(f"{result.gate.name}: {lack.remedy()}")
    return BaselineRedError(
        "main is green, but not in the surroundings that gates get.\n" + "\n".join(lines),
        "Agents' code runs in gates, so they get little by themselves. For " + "; ".join(remedies) + ".",
    )


def way_out(red: list[GateResult], *, only_new: bool) -> str:
    """Say what helps: main's own failures differ from new ones only if the gates name them."""
    names = ", ".join(result.gate.name for result in red)
    if only_new:
        why = f"{names} names no failing tests, so noface cannot distinguish new failures from old ones"
        return f"Make main green first: {why}."
    failures = [result.failure for result in red if result.failure is not None]
    if any(failure.rule == OTHERS_SERVER for failure in failures):
        return "Run again once that server is gone, or is named."
    if any(failure.rule == CHANGED_FILES for failure in failures):
        return "Commit what the gate writes; or have it only check. " + _MAY_FIX
    if any(library_of(failure.signature) for failure in failures):
        return "Do what it says there of the project's own module, and run again."
    if failures and all(failure.kind is FailureKind.ENVIRONMENT for failure in failures):
        if all(final_error((failure.message,)) for failure in failures):
            return "What is said there may pass: run again once it has, or have `[project] setup` fetch what is needed."
        return "Install what is missing, or have `[project] setup` make it in each workspace (`noface config example`)."
    if not all(_by_names(result) for result in red):
        return f"Make main green first, or correct the command of {names}."
    return "Make main green first; or let only new failures count: `noface run --allow-red`."


def check_baseline(context: RunContext, cancel: Canceller, *, anew: bool) -> Ran:
    """Run the project's gates on main. `anew`: known results do not count. A cancel raises CutShort."""
    memory = context.env.memory
    gating = Gating(context.first_scope(cancel), main_task(context.env, "baseline"), with_known_networks(context))
    gating, ran = widened(context, gating, gating.run(anew=anew), _red_again)
    remember_networks(context, ran)
    if not (asked := _red_tests(ran) - memory.plain):
        return ran
    memory.plain |= asked  # it may be red only because its test runner is asked for a report
    plain = _red_again(gating, ran)
    memory.plain -= asked
    if not (green := asked - _red_tests(plain)):
        return plain
    again = _red_again(gating, ran)  # or by chance: then it is green when it is asked, too
    by_report = green & _red_tests(again)
    memory.plain |= by_report
    return plain if by_report else again


def _red_again(gating: Gating, before: Ran) -> Ran:
    """Run the gates that were red, and builds, which others need; the results of the others stay as they were."""
    known = {result.gate.name: result for result in before.results if result.failure is None}
    chosen = tuple(gate for gate in gating.gates if gate.kind is GateKind.BUILD or gate.name not in known)
    again = replace(gating, gates=chosen).run(anew=True)
    if again.failure is not None:
        return again
    known |= {result.gate.name: result for result in again.results}
    return replace(again, results=tuple(known[gate.name] for gate in gating.gates if gate.name in known))


def _red_tests(ran: Ran) -> frozenset[str]:
    red = ((result.gate, result.failure) for result in ran.results if result.failure is not None)
    return frozenset(
        gate.command for gate, failure in red if failure.rule != OTHERS_SERVER and gate.kind is GateKind.TEST
    )
