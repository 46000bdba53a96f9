"""Gates that run on main for an issue: its `accept` commands before any token is spent, and an epic's own at its end.

An epic (N9, K4) is closed once its parts are merged and its gates pass on main; red makes it an issue again. If a part
cannot be done and nothing else can go on, the parent learns what failed (P8), and its ladder goes on.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from noface.attempt.gating import Ran, gates_failure, main_task, run_gates
from noface.diagnosis.known_causes import access_refused_of
from noface.diagnosis.missing_library import missing_library, place_among
from noface.engine.context import RunContext
from noface.engine.going_on import broken_files
from noface.engine.jobs import JobKind, Jobs
from noface.engine.outside import BacklogWatch
from noface.engine.stations import Stations, Steps, call
from noface.git.checkout import PersonsCheckout
from noface.git.refs import branch_name
from noface.integrity.accepting import OUT_OF_REACH, missing_paths, out_of_reach, without_place
from noface.integrity.named_files import named_paths
from noface.integrity.not_on_main import Lacking, lack_text, ways_to_commit
from noface.model.codec import decode, encode
from noface.model.failure import Failure, is_of_project
from noface.model.gate import GateKind, GateResult
from noface.model.history import AdviceOutcome, PartFailure
from noface.model.issue import Issue, IssueState
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.process.command import Canceller
from noface.recovery.done_already import GREEN_ALREADY
from noface.recovery.reported import left_in_words, subtask_in_words
from noface.recovery.requests import accept_request
from noface.recovery.schedule import waited_for
from noface.recovery.start import best_left
from noface.secrets.masked_records import masked_record
from noface.store.reader import Reader

_FACT = "accept_on_main:"


@dataclass(frozen=True, slots=True)
class AcceptOnMain:
    """`unwritten` are paths that the commands name for tests which main does not have: the worker writes them."""

    failing: int
    failure: Failure | None = None
    unwritten: tuple[str, ...] = ()


def recorded_on_main(reader: Reader, issue: Issue) -> AcceptOnMain | None:
    try:
        record = json.loads(reader.fact(f"{_FACT}{issue.id}") or "{}")
        return decode(AcceptOnMain, record) if record.get("issue") == issue.content_hash else None
    except (ValueError, TypeError, KeyError):
        return None


def fact_of(issue: Issue, result: AcceptOnMain) -> tuple[str, str]:
    return f"{_FACT}{issue.id}", json.dumps({"issue": issue.content_hash, **encode(result)})


UNCOMMITTED = "accept-uncommitted"
_FINDS_IT = "`python -m pytest` does where `pytest` does not, and so does what [project] setup has installed"
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
_NO_SUCH_TEST, _NO_TEST_CHOSEN = 4, 5
"""Exit codes of pytest, and the latter of unittest: plug-ins that print more leave them as they are."""


class AcceptChecks:
    """Knows which issues' commands are red on main before their first attempt."""

    def __init__(self, context: RunContext, jobs: Jobs, stations: Stations, watch: BacklogWatch) -> None:
        self._context, self._jobs, self._stations = context, jobs, stations
        self._watch = watch
        self._failing: dict[tuple[str, str], int] = {}

    def needed(self, issue: Issue) -> bool:
        known = (issue.id, issue.content_hash) in self._failing
        return bool(issue.accept) and not known and not self._context.reader.past(issue.id)

    def failing(self, issue: Issue) -> int | None:
        if not issue.accept:
            return None
        recorded = recorded_on_main(self._context.reader, issue)
        return self._failing.get((issue.id, issue.content_hash), recorded.failing if recorded is not None else 1)

    def begin(self, issue: Issue) -> None:
        self._stations.begin(self._check(issue, self._jobs.take_slot()))

    def _check(self, asked: Issue, slot: int) -> Steps[None]:
        check = partial(check_accept, self._context, asked, slot)
        outcome = yield from call(check, asked.id, kind=JobKind.CHECK, slot=slot)
        issue, journal, now = self._watch.issue(asked.id), self._context.journal, self._context.clock.now()
        if issue is None or outcome is None:  # people have taken it from noface, or a cancel ended the check
            return
        if isinstance(outcome, Failure):
            commit = outcome.evidence if outcome.rule == UNCOMMITTED else ()
            cannot = "" if commit or outcome.rule == OUT_OF_REACH else "its accept command cannot be run: "
            journal.blocked(now, issue.id, f"{cannot}{outcome.message}", accept_request(issue, outcome, commit))
        elif outcome.failing == 0:
            self._context.green_already.add(issue.id)
            journal.status(now, issue.id, IssueStatus.SKIPPED, GREEN_ALREADY, satisfied=True)
        else:
            self._failing[issue.id, issue.content_hash] = outcome.failing
            known = replace(outcome, failure=masked_record(outcome.failure, self._context.env.masker))
            journal.fact(*fact_of(issue, known))


def check_accept(context: RunContext, issue: Issue, slot: int, cancel: Canceller) -> AcceptOnMain | Failure | None:
    """Run an issue's `accept` commands on main, where they should be red; a failure says why they cannot run."""
    task = main_task(context.env, f"accept/{issue.id}", issue.id, str(slot))
    paths = frozenset(context.env.plumbing.paths(task.tree))
    if why := out_of_reach(issue, paths):
        return Failure(FailureKind.ENVIRONMENT, why, rule=OUT_OF_REACH, charged=False)
    build = tuple(gate for gate in context.settings.gates if gate.kind is GateKind.BUILD)  # accept may need its output
    gates = build + context.accept_gates(issue)
    gated = run_gates(context.scope(cancel), task, gates)
    if gated is None or gated.failure is not None:
        return None if gated is None else gated.failure
    red = [result for result in gated.results if result.failure is not None and result.gate.accept]
    place = str(context.env.gate_slot(task.name).path)
    seen = (place, context.env.seen(place))
    there = {_NOT_EXECUTABLE: (), _NOT_FOUND: paths}  # a file that is no program is as good as missing
    unrunnable = next(
        (
            failure
            for each in red
            if (failure := each.failure) is not None
            and each.exit_code in there
            and not missing_paths(without_place(failure, seen), each.gate.command, there[each.exit_code])
        ),
        None,
    )
    failing = sum(max(1, len(result.failing_tests)) for result in red)
    failures = {r.gate.command: r.failure for r in red if r.failure is not None}
    lost = tuple(command for command, failure in failures.items() if failure.kind is FailureKind.ENVIRONMENT)
    uncommitted = _uncommitted(context, failures, lost, failures.values()) if red else None
    useless = uncommitted or unrunnable or _refused(red) or _without_project(red, paths)
    ran = {result.gate for result in gated.results}
    if not red and any(gate not in ran for gate in gates):  # a build that failed before them tells nothing of them
        return AcceptOnMain(1, gates_failure(gated.results, gates))
    return useless or AcceptOnMain(failing, gates_failure(tuple(red), ()), _unwritten(gated.results))


def _unwritten(results: tuple[GateResult, ...]) -> tuple[str, ...]:
    chosen, judging = set[str](), set[str]()
    for result in (result for result in results if result.gate.accept):
        failure, paths = result.failure, named_paths((result.gate.command,))
        of_python = re.search(r"\b(?:pytest|py\.test|unittest)\b", result.gate.command) is not None
        none = failure is not None and (
            failure.kind is FailureKind.NO_TESTS or (of_python and result.exit_code == _NO_TEST_CHOSEN)
        )
        told = failure is not None and of_python and result.exit_code == _NO_SUCH_TEST
        missing = "\n".join((failure.message, *failure.evidence, failure.excerpt)) if failure and told else ""
        unwritten = {path for path in paths if none or f"{path}::" in missing}
        chosen |= unwritten
        judging.update(set(paths) - unwritten)
    return tuple(sorted(chosen - judging))


def _refused(red: list[GateResult]) -> Failure | None:
    for failure in (result.failure for result in red if result.failure is not None):
        by_rule = failure.kind is FailureKind.ENVIRONMENT and is_of_project(failure.rule)
        if by_rule or access_refused_of(failure):
            return replace(failure, kind=FailureKind.ENVIRONMENT, charged=False)
    return None


def _without_project(red: list[GateResult], paths: Collection[str]) -> Failure | None:
    for failure in (each.failure for each in red if each.failure is not None):
        lacking = replace(failure, kind=FailureKind.ENVIRONMENT, charged=False)
        library = missing_library(lacking)
        place = place_among(library, sorted(paths), failure.location) if library is not None else None
        said = "\n".join((failure.message, *failure.evidence))
        within = re.search(rf"(?<![\w.]){re.escape(library.name)}[./:]\w", said) if library is not None else None
        if library is not None and place is not None and within is None:  # what it lacks within may be the work
            message = f"it does not find {library.name}, which main has ({place}): {_FINDS_IT}"
            return replace(lacking, message=message)
    return None


def _uncommitted(
    context: RunContext, commands: Iterable[str], unrunnable: tuple[str, ...], failures: Iterable[Failure] = ()
) -> Failure | None:
    checkout = PersonsCheckout(context.env.plumbing, context.tracker.protected)
    gates = (gate.command for gate in context.settings.gates)
    missed = ((library, each.location) for each in failures if (library := missing_library(each)) is not None)
    places = (place_among(library, checkout.state.new, location) for library, location in missed)
    modules = tuple(Lacking(place) for place in places if place is not None)
    things = checkout.lacking(commands, gates, named_paths(unrunnable)) or modules
    if not things:
        return None
    message = lack_text(things, checkout.state, "needs" if things is modules else "names")
    ways = ways_to_commit(things, checkout.state)
    return Failure(FailureKind.ENVIRONMENT, message, rule=UNCOMMITTED, evidence=ways, charged=False)


_STUCK = (IssueStatus.BLOCKED, IssueStatus.SKIPPED)
_OPEN = (IssueStatus.READY, IssueStatus.WAITING)
_TEXT_MAX = 6000


class Epics:
    """Watches the epics, for the loop's thread."""

    def __init__(self, context: RunContext, jobs: Jobs, stations: Stations) -> None:
        self._context, self._jobs, self._stations = context, jobs, stations

    def ready(self) -> list[Issue]:
        checked = self._jobs.issues(JobKind.EPIC)
        whole = (
            issue for issue, parts, states in self._open() if parts and all(states[each.id].done for each in parts)
        )
        return [issue for issue in whole if issue.id not in checked]

    def take_back(self) -> list[Issue]:
        """Give the epics whose parts cannot all be done back to the loop; return them for a decision."""
        issues = []
        for issue, parts, states in self._open():
            done = all(states[part.id].done for part in parts)
            if not done and not any(self._can_go_on(part, parts, states) for part in parts):
                self._give_up_parts(issue, parts, states)
                issues.append(issue)
        return issues

    def _open(self) -> list[tuple[Issue, tuple[Issue, ...], Mapping[str, IssueState]]]:
        context = self._context
        divided = context.reader.epics()
        if not divided:
            return []
        states = context.reader.states()
        epics, parts = (issue for issue in context.issues if issue.id in divided), defaultdict[str, list[Issue]](list)
        for each in context.issues:
            parts[each.parent or ""].append(each)
        return [(issue, tuple(parts[issue.id]), states) for issue in epics]

    @staticmethod
    def _can_go_on(part: Issue, parts: tuple[Issue, ...], states: Mapping[str, IssueState]) -> bool:
        state = states[part.id]
        if state.status not in _OPEN:
            return state.status not in _STUCK and not state.done
        failed = {each.id for each in parts if states[each.id].status in _STUCK and not states[each.id].done}
        return failed.isdisjoint(waited_for(part, {sibling.id: sibling for sibling in parts}))

    def _give_up_parts(self, issue: Issue, parts: tuple[Issue, ...], states: Mapping[str, IssueState]) -> None:
        context, now = self._context, self._context.clock.now()
        failures = tuple(self._failure(part, states[part.id]) for part in parts if states[part.id].status in _STUCK)
        done = [f"{part.id} ({part.title})" for part in parts if states[part.id].done]
        first = (
            f"It was divided into {len(parts)} parts. Merged, and not to be done again: {', '.join(done) or 'none'}."
            " What is not merged belongs to the whole again; if a part's request kept it from being done, do it another"
            " way."
        )
        text = "\n\n".join((first, *map(subtask_in_words, failures)))
        with context.questions.together():
            for part in parts:
                if not states[part.id].done:
                    reason = f"taken back: issue {issue.id} goes on without it"
                    context.journal.status(now, part.id, IssueStatus.SKIPPED, reason)
            context.questions.parts_failed(now, issue.id, text[:_TEXT_MAX], failures)
            context.journal.status(now, issue.id, IssueStatus.READY, "not all of its parts could be done")

    def _failure(self, part: Issue, state: IssueState) -> PartFailure:
        past = self._context.reader.past(part.id)
        failure = next((attempt.failure for attempt in reversed(past) if attempt.failure is not None), None)
        kind = failure.kind.value if failure is not None else state.status.value
        message = failure.message if failure is not None else state.reason
        best = best_left(past, broken_files(self._context.env.plumbing, past))
        done = f"nothing, in {len(past)} attempt(s)" if best is None else left_in_words(best, len(past))
        kept = f"; it is on the branch {branch_name(part.id)}" if best is not None else ""
        return PartFailure(masked_record(part, self._context.env.masker), kind, message, done + kept)

    def begin(self, issue: Issue) -> None:
        self._stations.begin(self._close(issue, self._jobs.take_slot()))

    def _gate(self, issue: Issue, slot: int, cancel: Canceller) -> tuple[Ran | None, str]:
        context = self._context
        task = replace(main_task(context.env, f"epics/{issue.id}", issue.id, str(slot)), known=context.known)
        return run_gates(context.scope(cancel), task, context.gates_for(issue)), task.main

    def _close(self, issue: Issue, slot: int) -> Steps[None]:
        context = self._context
        gated, main = yield from call(partial(self._gate, issue, slot), issue.id, kind=JobKind.EPIC, slot=slot)
        if gated is None:
            return
        failure = gated.failure or gates_failure(gated.results, ())
        if failure is None:
            self._complete(issue.id, main)
            return
        text = f"All parts have landed, but the issue's own gates fail on main: {failure.message}\n\n{failure.excerpt}"
        context.questions.parts_failed(context.clock.now(), issue.id, text[:_TEXT_MAX])
        context.set_status(issue.id, IssueStatus.READY, "all parts landed; its own gates are red")

    def _complete(self, issue_id: str, main: str) -> None:
        """Close an epic if its own commands show that it is whole; else the policy says who looks."""
        context, now = self._context, self._context.clock.now()
        issue = next((each for each in context.issues if each.id == issue_id), None)
        if issue is None:
            return
        looked_at = issue.accept or issue.parent is not None  # the whole that it is a part of is looked at
        if looked_at:
            context.journal.merged(now, issue_id, main, "; all its parts have landed, and its own gates pass")
            return
        with context.questions.together():
            context.questions.divided(issue_id, AdviceOutcome.PARTS_LANDED)
            context.journal.status(now, issue_id, IssueStatus.READY, "all its parts have landed; is anything missing?")
