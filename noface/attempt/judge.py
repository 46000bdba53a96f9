"""Judges what a worker left: evidence in order of strength, then the gates, then the proof (laws 1, 10, 11)."""

from collections.abc import Sequence
from dataclasses import replace

from noface.agents.command import passed_over
from noface.attempt.disk import worker_without_room
from noface.attempt.environment import AttemptEnvironment, Scope
from noface.attempt.examine import Change, adds_secrets, examine_change, forgotten, only_notes
from noface.attempt.fixes import with_fixes
from noface.attempt.form_only import formed, left_out, put_back, without
from noface.attempt.gate_session import blamed
from noface.attempt.gating import (
    Gated,
    Task,
    gate_task,
    main_is_red,
    named_tests,
    run_gates,
)
from noface.attempt.judges import gates_decide, judged_by_main
from noface.attempt.libraries import with_library
from noface.attempt.steadiness import UNSTEADY_BY_CHANGE
from noface.diagnosis.agent import asked_by_program, without_changes
from noface.diagnosis.check import PULL_QUESTION
from noface.diagnosis.known_causes import of_its_provider
from noface.diagnosis.web_answers import page_instead
from noface.git.guarded import PROTECTED, guarded
from noface.git.plumbing import Merge
from noface.git.refs import hold_ref
from noface.git.taken_back import Brought, bring
from noface.integrity.leftovers import LEFT_IN
from noface.integrity.not_taken import NOT_TAKEN, only_these, with_missing
from noface.model.attempt import AttemptOrder, Judgement, Snapshot, Work, unfinished_note
from noface.model.failure import UNCHANGED, Failure, PriorFailure
from noface.model.gate import GateResult, GateSpec, Proof, all_hard_passed, worst
from noface.model.quoting import one_line, some, speaks
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import PLAIN_AGENTS, AgentRun, ReportStatus, WorkerReport
from noface.recovery.done_already import done_already, nothing_left, says_done
from noface.recovery.partly_done import PARTLY_DONE, partly_done, said_left
from noface.recovery.reported import UNREADABLE, of_report, of_unreadable
from noface.recovery.retry_policy import TEXT_EDITED

_SHOWN_MAX = 10
_WORDS_MAX = 100
_ELSEWHERE = "worked-elsewhere"
_TOO_MANY, _TOO_BIG = _OF_FILES_LEFT_OUT = ("too-many-files", "file-too-big")
"""The worker may answer by removing what was not taken: then the same tree is left, and no gate has judged it."""
_NOT_THE_GATES = (
    FailureKind.OUTPUT_FORMAT,
    FailureKind.UNKNOWN,
    FailureKind.AGENT_CRASH,
    FailureKind.AGENT_CONFUSION,
    FailureKind.TIMEOUT,
    FailureKind.RESOURCE_EXHAUSTED,
    FailureKind.BASELINE_RED,
    FailureKind.ENVIRONMENT,
)
"""After these failures an attempt that finds the work done and changes nothing may be right: the gates decide."""
_WHY_CHARS_MAX = 120
_FIXTURES = (
    "A conftest.py may only gain fixtures with new names, without autouse, hooks and code that runs by itself; others"
    " belong into the test file that uses them"
)
_LIFTED = "a person can name the file in its paths or may_change"
_GONE = "its workspace was removed while it was at work (by what clears caches?), so what it did is not all there"


def judge(order: AttemptOrder, scope: Scope, work: Work, change: Change) -> Judgement:
    """Return the failure, or the proof that lets the work land, or that a cancel ended the judging.

    Rules read `change`, never the masked record of it; what they say has yet to be masked. What changes form only is
    judged where a gate fails without it.
    """
    files, notes = formed(order, scope.env, change)
    if not files:
        judged = _judged(order, scope, work, change)
        return replace(judged, notes=(*judged.notes, *notes))
    judged, note = _judged(order, scope, *without(order, scope.env, work, change, files)), left_out(order, files)
    failure = judged.failure
    if failure is not None and failure.gate and failure.charged:
        whole = _judged(order, scope, work, change)
        if whole.failure is None and not whole.interrupted:
            judged, note = whole, put_back(order, change, files, failure.message)
        judged = replace(judged, interrupted=judged.interrupted or whole.interrupted)
    return replace(judged, notes=(*judged.notes, *notes, note))


def _judged(order: AttemptOrder, scope: Scope, work: Work, change: Change) -> Judgement:
    env, judged = scope.env, Judgement(work.snapshot)
    nothing = None if change.by_worker and change.files else _unchanged(order, work)
    left = nothing is not None and _left_ungated(order, work, change, nothing)
    early = _before_gates(order, env, work, change, None if left else nothing)
    suspicion = early if early is not None and gates_decide(early, order) else None
    if early is not None and suspicion is None:
        agent = work.agent
        done = says_done(work.report, agent.last_words) or nothing_left(order.issue, work.report, agent.last_words)
        done = done if early is nothing and agent.error is None else ""
        return _nothing_to_do(order, scope, judged, early, done) if done else replace(judged, failure=early)
    main = env.plumbing.main()
    brought = _brought(env, main, order, work.snapshot)
    tree = brought.merge.tree
    if tree is None:
        return replace(judged, failure=conflict(brought.merge.conflicts))
    scope.progress(order.issue.id, order.number, "gate", "running the gates")
    gated = run_gates(scope, gate_task(order, tree, work.snapshot.candidate, main), order.gates)
    if gated is not None and gated.fixed:
        judged, gated = with_fixes(order, scope, judged, main, gated)
    if gated is None:
        return replace(judged, interrupted=True)
    judged = replace(judged, gates=gated.results, notes=(*judged.notes, *_flaky(gated.results)))
    task = gate_task(order, gated.tree, judged.snapshot.candidate, main)
    failure = _after_gates(order, work, gated)
    if failure is None and (part := _part(order, work)) is not None:
        return replace(judged, failure=partly_done(part, gated.results) or _unfinished(work))
    if failure is None:
        # Under "only-new", main's failing tests may be others by now: then the landing proves it against those.
        # So it does if main has lost what the work began on: the commit that may land is made there.
        proven = brought.began is None and (order.known_failures is None or main == order.main)
        proof = proof_of(env, task, gated) if proven else None
        judged = judged_by_main(order, scope, replace(judged, proof=proof), task, suspicion)
        if judged.failure is None and not judged.interrupted and (told := forgotten(order, env, change)) is not None:
            return replace(judged, failure=told, proof=None)
        return _told(judged, _unfinished(work))
    missing = with_missing(failure, work.snapshot.not_taken, work.snapshot.aside, order.issue.paths)
    failure = missing or failure
    failed = worst(gated.results)
    if failed is not None and task.known is None:
        failure = _beside_main(scope, task, failed, order.gates, failure)
    if scope.cancel.cancelled:
        return replace(judged, interrupted=True)  # whether main fails as well was not seen
    if failure.charged:
        told = nothing or only_notes(order, env, change)
        told = told if failure.kind is not FailureKind.ENVIRONMENT else None  # what is missing tells more
        failure = told or missing or _with_places(failure, work.snapshot)
        failure = _with_put_back(order, env, failure, work.snapshot)
    return replace(judged, failure=with_library(env, judged.snapshot.changes, gated.tree, failure))


def _beside_main(
    scope: Scope, task: Task, failed: GateResult, gates: tuple[GateSpec, ...], failure: Failure
) -> Failure:
    """Return main's own failure at the gate that failed, if it has one; what only the change lacks is charged to it.

    Where that was not asked before: a person may have moved main to a commit that no gate has run on.
    """
    env = scope.env
    key = env.key(env.plumbing.tree(task.main), failed.gate)
    unknown = failure.kind is FailureKind.ENVIRONMENT and key not in env.memo
    on_main = main_is_red(scope, task, failed, gates) if failure.charged or unknown else None
    if on_main is not None:
        return on_main
    return blamed(failure, task.main) if unknown and key in env.gate_facts.main_green else failure


def _nothing_to_do(order: AttemptOrder, scope: Scope, judged: Judgement, nothing: Failure, words: str) -> Judgement:
    """Judge the finding that there is nothing to do: it counts where every gate, and `accept`, passes on main."""
    plumbing, main = scope.env.plumbing, scope.env.plumbing.main()
    plain = nothing.kind is FailureKind.NO_DIFF and nothing.rule == UNCHANGED
    if not plain or judged.snapshot.candidate_tree != plumbing.tree(order.main) or judged.snapshot.protected_edits:
        return replace(judged, failure=nothing)
    gated = run_gates(scope, gate_task(order, plumbing.tree(main), main, main), order.gates)
    if gated is None:
        return replace(judged, interrupted=True)
    judged = replace(judged, gates=gated.results)
    if gated.failure is not None or not all_hard_passed(order.gates, gated.results):
        return replace(judged, failure=nothing)
    return replace(judged, failure=done_already(words, main, accepted=bool(order.issue.accept)))


def proof_of(env: AttemptEnvironment, task: Task, gated: Gated) -> Proof:
    """Return the proof that the gates have passed on the task's tree."""
    keys = tuple(env.key(gated.tree, result.gate) for result in gated.results)
    return Proof(gated.tree, task.main, task.commit, gated.results, keys)


def _unchanged(order: AttemptOrder, work: Work) -> Failure:
    agent, snapshot = work.agent, work.snapshot
    status = work.report.status if work.report is not None else ReportStatus.DONE
    if snapshot.elsewhere and agent.error is None and status is not ReportStatus.BLOCKED:
        return _worked_elsewhere(order, snapshot.elsewhere, agent.last_words)
    if snapshot.branches and agent.error is None and status is not ReportStatus.BLOCKED:
        return _committed_elsewhere(order, snapshot.branches, agent.last_words)
    if snapshot.not_taken and agent.error is None and status is not ReportStatus.BLOCKED:
        ignored = tuple(one for one in snapshot.not_taken if one.ignored)
        told = any(before.rule == NOT_TAKEN for before in order.earlier)
        if not says_done(work.report, agent.last_words) or (ignored and not told):
            return only_these(ignored or snapshot.not_taken, snapshot.aside, order.issue.paths)
    unread = of_unreadable(work.unreadable) if work.unreadable is not None and agent.error is None else None
    report = work.report
    if report is not None and report.status is ReportStatus.PARTIAL and report.questions:
        report = replace(report, status=ReportStatus.BLOCKED)  # it has done no part: what it asks keeps it from that
    return of_report(report) or unread or _nothing_changed(order, work)


def _says_nothing(nothing: Failure, work: Work) -> bool:
    """Tell whether a worker that changed nothing, and ended well, does not say why."""
    return nothing.kind is FailureKind.NO_DIFF and not says_done(work.report, work.agent.last_words)


def _left_ungated(order: AttemptOrder, work: Work, change: Change, nothing: Failure) -> bool:
    """Tell whether no gate has ever failed the work that the attempt started with and left alone, or may have wrongly.

    Then it is examined and gated like any other: nobody has examined it before. What the first attempt at a part has
    from the whole issue may be half of it: then the worker has to say that it is done. So it has where the tests that
    failed are main's: it has seen them pass. Where a reviewer only asks, words are the answer.
    """
    if any(last.rule == PULL_QUESTION for last in order.earlier[-1:]):
        return nothing.rule == UNCHANGED and bool(change.files) and bool(work.agent.last_words.strip())
    words, status = work.agent.last_words, work.report.status if work.report is not None else None
    alone = nothing.rule == UNREADABLE or (
        nothing.kind is FailureKind.NO_DIFF and nothing.rule not in (_ELSEWHERE, NOT_TAKEN)
    )
    never_gated = any(
        last.kind in _NOT_THE_GATES or last.rule in _OF_FILES_LEFT_OUT or last.rule in (TEXT_EDITED, LEFT_IN)
        for last in order.earlier[-1:]
    )
    done = status is ReportStatus.DONE or bool(says_done(work.report, words))
    of_main = any(_only_mains_tests(last) for last in order.earlier[-1:])
    return alone and bool(change.files) and (never_gated or (done and (of_main or not order.earlier)))


def _only_mains_tests(last: PriorFailure) -> bool:
    """Tell whether an attempt failed by nothing but tests in files that it left as they are."""
    files = {test.partition("::")[0] for test in last.failing_tests}
    by_itself = last.kind == FailureKind.TEST_FAILURE and last.rule != UNSTEADY_BY_CHANGE
    return by_itself and bool(files) and not files & set(last.changed)


def _before_gates(
    order: AttemptOrder, env: AttemptEnvironment, work: Work, change: Change, nothing: Failure | None
) -> Failure | None:
    """Return what speaks against the work before any gate runs; `nothing` is the failure where nothing has changed."""
    error, snapshot = work.agent.error, work.snapshot
    if error is not None and (full := worker_without_room(env, error)) is not None:
        return full
    if snapshot.lost and (error is None or not error.category.external):
        return Failure(FailureKind.AGENT_CRASH, _GONE, rule="workspace-gone", signature="workspace-gone", charged=False)
    missed = work.agent.out_of_reach if nothing is not None else None
    if missed is not None and (error is not None or (nothing is not None and _says_nothing(nothing, work))):
        return missed
    if error is not None and error.category.external:
        return error
    if snapshot.left_out:
        return _too_many(snapshot.left_out, env.limits.files_max, snapshot.crowded)
    if nothing is not None:
        return nothing
    if (secret := adds_secrets(order, env, change)) is not None:
        return secret
    unfinished = _unfinished(work)
    if unfinished is not None and not order.issue.accept and _part(order, work) is None:
        return unfinished  # only `accept` can tell half of the work from all of it, and half must not land
    if not order.issue.accept and (notes := only_notes(order, env, change)) is not None:
        return notes
    if snapshot.oversized:
        return _oversized(snapshot.oversized)
    return next(iter(examine_change(order, env, change)), None)


def _unfinished(work: Work) -> Failure | None:
    """Return why the work may be half done: the worker was ended, broke off, or says so itself."""
    unread = work.unreadable
    said = of_report(work.report) or (of_unreadable(unread) if unread and unread.unfinished else None)
    return work.agent.error or said


def _part(order: AttemptOrder, work: Work) -> WorkerReport | None:
    """Return what a worker says that did part of the issue and ended well; None where an `accept` decides.

    Who goes on with a part, of which something was left, and says nothing, has not said that it is all.
    """
    if work.agent.error is not None or order.issue.accept:
        return None
    silent = work.report is None and work.unreadable is None and not says_done(None, work.agent.last_words)
    if silent and any(earlier.rule == PARTLY_DONE for earlier in order.earlier):
        return WorkerReport(ReportStatus.PARTIAL, "it does not say whether what was left is done")
    return work.report if said_left(work.report) else None


def _told(judged: Judgement, unfinished: Failure | None) -> Judgement:
    """Note of work that passed that its worker did not finish, for whoever reads of it later."""
    if unfinished is None or judged.failure is not None or judged.interrupted:
        return judged
    why = one_line(unfinished.message, _WHY_CHARS_MAX)
    return replace(judged, notes=(*judged.notes, unfinished_note(why)))


def _brought(env: AttemptEnvironment, main: str, order: AttemptOrder, snapshot: Snapshot) -> Brought:
    """Return the work as it is on the present main."""
    if main == order.main:
        return Brought(Merge(snapshot.candidate_tree, ()), snapshot.candidate)
    ref = hold_ref(order.issue.id, f"gating-{order.slot}")
    return bring(env.plumbing, ref, main, snapshot.candidate, (order.main,))


def _after_gates(order: AttemptOrder, work: Work, gated: Gated) -> Failure | None:
    """Return what speaks against the work after the gates have run."""
    if gated.failure is not None:
        return gated.failure
    if (red := gates_failure(gated.results, order.gates)) is not None:
        return work.agent.error or red
    return missing_gates(order.gates, gated.results)


def missing_gates(gates: tuple[GateSpec, ...], results: tuple[GateResult, ...]) -> Failure | None:
    """Return the failure where a hard gate was not run."""
    if all_hard_passed(gates, results):
        return None
    return Failure(FailureKind.ENVIRONMENT, "not every hard gate was run", rule="gates-missing", charged=False)


def _flaky(results: tuple[GateResult, ...]) -> tuple[str, ...]:
    """Return a note for each gate that passed only in another run, or but for tests that are unsteady on main."""
    return tuple(
        _unsteadiness(result, result.first_failure) for result in results if result.flaky and result.first_failure
    )


def _unsteadiness(result: GateResult, first: Failure) -> str:
    if result.unsteady:
        tests = some(result.unsteady, _SHOWN_MAX)
        return f"gate {result.gate.name} passed but for {tests}: unsteady on main, so that counts for nobody"
    failed = f"gate {result.gate.name} is flaky: it failed ({first.kind}: {first.message})"
    return f"{failed} and passed when it was run again on the same tree"


def gates_failure(results: tuple[GateResult, ...], gates: tuple[GateSpec, ...]) -> Failure | None:
    """Return the failure to report for red hard gates: the first one's, naming the others; None where all passed.

    `gates` are those that were to run: an issue's `accept` does not after a failure, and its result is not known then.
    """
    failed = worst(results)
    if failed is None or failed.failure is None:
        return None
    failure = failed.failure
    others = [r.gate.name for r in results if r.gate.hard and not r.passed and r is not failed]
    tests = tuple(dict.fromkeys(t for r in results if r.gate.hard and not r.passed for t in r.failing_tests))
    ran = {result.gate for result in results}
    unknown = [gate.name for gate in gates if gate.accept and gate not in ran]
    parts = (("also red", others), ("not run after it, so not known", unknown))
    more = "".join(f" ({what}: {', '.join(names)})" for what, names in parts if names)
    excerpts = [failure.excerpt, *_other_excerpts(failed, results)]
    return replace(
        failure,
        message=f"gate {failed.gate.name}: {named_tests(failed)}{failure.message}{more}",
        failing_tests=tests,
        excerpt="\n\n".join(text for text in excerpts if text),
    )


def _other_excerpts(failed: GateResult, results: tuple[GateResult, ...]) -> list[str]:
    return [
        f"$ {r.gate.command}\n{r.failure.excerpt}"
        for r in results
        if r is not failed and r.gate.hard and not r.passed and r.failure is not None
    ]


def _nothing_changed(order: AttemptOrder, work: Work) -> Failure:
    """Return why nothing changed: the run's error, what its last words mean, or plain NO_DIFF.

    Of a worker with a report the last words are JSON, of which people and workers read the summary.
    """
    agent, snapshot = work.agent, work.snapshot
    told = work.report.summary if work.report is not None else agent.last_words
    if order.model.agent in PLAIN_AGENTS:
        asked = asked_by_program(order.model.agent, _said(agent))
        error = of_its_provider(agent.error) if agent.error is not None else page_instead(agent.answer)
        error = error or passed_over(agent.answer or agent.last_words)
        return asked or error or _no_diff(order, snapshot, told)
    failure = without_changes(order.model.agent, agent.last_words, agent.error)
    failure = _no_diff(order, snapshot, told) if failure.kind is FailureKind.NO_DIFF else failure
    if not agent.refused:
        return failure
    refused = tuple(f"{order.model.agent} itself refused: {words}" for words in agent.refused)
    return replace(failure, message=f"{refused[-1]}; {failure.message}", evidence=(*refused, *failure.evidence))


def _said(agent: AgentRun) -> str:
    """Return what a plain program said that may be a question: what it ended with, if nothing else explains its end."""
    if agent.error is None:
        return agent.answer or agent.last_words
    silent = agent.error.rule == f"command-exit-{agent.exit_code}" and agent.error.kind is FailureKind.AGENT_CRASH
    return (agent.error.excerpt or agent.answer or agent.last_words) if silent else ""


def _no_diff(order: AttemptOrder, snapshot: Snapshot, last_words: str) -> Failure:
    taken_back = not snapshot.changes and order.start != order.main
    message = "the work is exactly what main has: nothing of it is left" if taken_back else "the worker changed nothing"
    protected = snapshot.protected_edits
    words = " ".join(line.strip() for line in last_words.splitlines() if speaks(line))
    if words:
        message += f"; its last words: {words[:_WORDS_MAX]}"
    if protected:
        message = f"the worker changed only protected files, which were put back: {', '.join(protected[:_SHOWN_MAX])}"
        message += f". {_instead(order, protected)}"
    evidence = (f"the snapshot's tree equals that of {(order.main if taken_back else order.start)[:12]}",)
    return Failure(
        FailureKind.NO_DIFF, message, rule=UNCHANGED, signature="NO_DIFF", evidence=evidence, excerpt=last_words
    )


def _worked_elsewhere(order: AttemptOrder, places: tuple[str, ...], last_words: str) -> Failure:
    """Return the failure of a worker that works in a copy of the checkout, or in a worktree of it."""
    message = (
        f"the change lies in {_places(places)}: work in the checkout itself; a folder whose files belong to the change"
        " has no .git of its own"
    )
    evidence = (f"the snapshot's tree equals that of {order.start[:12]}", *places)
    return Failure(
        FailureKind.NO_DIFF, message, rule=_ELSEWHERE, signature=_ELSEWHERE, evidence=evidence, excerpt=last_words
    )


def _committed_elsewhere(order: AttemptOrder, branches: tuple[str, ...], last_words: str) -> Failure:
    """Return the failure of a worker whose commits are on a branch, while the checkout is as it was."""
    named = some(branches, _SHOWN_MAX)
    message = (
        f"the checkout is as it was, though there are commits on {named}: what counts is the files of the checkout when"
        " the work ends, so leave them there; no commit is needed"
    )
    evidence = (f"the snapshot's tree equals that of {order.start[:12]}", *branches)
    return Failure(
        FailureKind.NO_DIFF, message, rule=_ELSEWHERE, signature=_ELSEWHERE, evidence=evidence, excerpt=last_words
    )


def _with_places(failure: Failure, snapshot: Snapshot) -> Failure:
    """Return a gate's failure that also names the worker's files that the gate has not seen, if there are any."""
    rubbish = [f"{one.path}, {one.why}" for one in snapshot.not_taken if not one.ignored]
    places = [_places(snapshot.elsewhere)] if snapshot.elsewhere else []
    if not rubbish and not places:
        return failure
    named = some((*places, *rubbish), _SHOWN_MAX)
    return replace(failure, message=f"{failure.message} (left out of the change: {named})")


def _with_put_back(order: AttemptOrder, env: AttemptEnvironment, failure: Failure, snapshot: Snapshot) -> Failure:
    """Return a gate's failure that first says which of the worker's edits the gate has not seen, and what to do."""
    if not snapshot.protected_edits:
        return failure
    plumbing, main = env.plumbing, order.main
    undone = guarded(plumbing, main, plumbing.changes(main, snapshot.tree), order.protection)
    why = {change.path: said for change, said in undone.items()}
    paths = sorted(snapshot.protected_edits, key=lambda path: why.get(path, PROTECTED) == PROTECTED)
    named = some(tuple(f"{path} ({why.get(path, PROTECTED)})" for path in paths), _SHOWN_MAX)
    message = f"put back to main's before the gate ran: {named}. So {failure.message}. {_instead(order, paths)}"
    return replace(failure, message=message)


def _instead(order: AttemptOrder, paths: Sequence[str]) -> str:
    """Say what a worker can do whose edits of protected files are undone."""
    fixtures = f"{_FIXTURES}. " if any(order.protection.may_grow(path) for path in paths) else ""
    return f"{fixtures}Do without the edit, or report that the issue needs it: {_LIFTED}"


def _places(places: tuple[str, ...]) -> str:
    kind = "a repository of its own" if len(places) == 1 else "repositories of their own"
    return f"{some(places, _SHOWN_MAX)}, {kind}"


def _too_many(files: int, most: int, places: tuple[str, ...]) -> Failure:
    """Return the failure of work that is too much to be taken whole: half of it must not land."""
    return Failure(
        FailureKind.LINT_FAILURE,
        f"{files} new files were left ({some(places, _SHOWN_MAX)}), more than [limits] max_files ({most}): delete what"
        " need not be committed, or name it in .gitignore",
        rule=_TOO_MANY,
        signature="too-many-files",
        usage=files,
        limit=most,
    )


def _oversized(paths: tuple[str, ...]) -> Failure:
    named = ", ".join(paths[:_SHOWN_MAX])
    message = f"files above [limits] max_file_mb were left: {named}; delete them, or name them in .gitignore"
    return Failure(
        FailureKind.LINT_FAILURE,
        message,
        rule=_TOO_BIG,
        signature=f"file-too-big:{paths[0]}",
        evidence=paths,
    )


def conflict(paths: tuple[str, ...]) -> Failure:
    """Return the failure of a merge that git cannot make; main has moved, so the worker is not charged."""
    names = ", ".join(paths[:_SHOWN_MAX])
    return Failure(
        FailureKind.MERGE_CONFLICT,
        f"main moved meanwhile, and the change conflicts with it in {names}",
        rule="merge-tree-conflict",
        signature=f"conflict:{names}",
        evidence=paths,
        charged=False,
    )
