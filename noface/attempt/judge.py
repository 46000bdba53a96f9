"""Judges what a worker left: an ordered table of checks, the strongest evidence first (laws 1, 10, 11)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from noface.attempt.attempt import PATCH_FILE, Judging
from noface.attempt.changes import PATCH_BYTES_MAX, own_values
from noface.attempt.disk import worker_without_room
from noface.attempt.environment import put
from noface.attempt.examine import adds_secrets, examine_change, forgotten, modified, only_notes
from noface.attempt.fixes import take_fixes
from noface.attempt.gate_session import CutShort
from noface.attempt.left_out import without_files
from noface.attempt.libraries import with_library
from noface.attempt.not_in_change import TOO_BIG, TOO_MANY, left_ungated, unchanged, with_places, with_put_back
from noface.attempt.unasked import doubts_of, names_gone, new_untested, put_right, told, unasked_in
from noface.diagnosis.known_causes import of_its_provider
from noface.gates.secrets import without_secrets
from noface.git.landings import in_the_way
from noface.git.plumbing import Merge, entries_before
from noface.git.stored import Entry
from noface.git.taken_back import WorkOnMain, bring_onto
from noface.integrity.accepting import whole_scripts
from noface.integrity.asked_for import Grounds, asks_for, names_file, unfounded, words_of
from noface.integrity.diff.rules import REWRITTEN, gates_decide
from noface.integrity.form import same_but_for_form
from noface.integrity.leftovers import LEFT_IN
from noface.integrity.not_taken import with_missing
from noface.integrity.rubbish import says
from noface.integrity.tampering import ALTERED, BY_BODY, CONTRADICTED, EMPTIED, is_code, is_test_file, with_bodies
from noface.model.attempt import ABSENT, OWN_JUDGE, PUT_RIGHT, UNFINISHED, FileChange
from noface.model.failure import MADE_UP, UNCHANGED, Failure
from noface.model.gate import GateResult, GateSpec, all_hard_passed, worst
from noface.model.patch import changed_lines
from noface.model.patterns import matches_any
from noface.model.quoting import one_line, some
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import PLAIN_AGENTS, ReportStatus, WorkerReport
from noface.recovery.done_already import DISPROVEN, EVIDENCE, claim_of, disproven, done_already
from noface.recovery.partly_done import PARTLY_DONE, partly_done, rest_reported
from noface.recovery.reported import REPORT_PARTIAL, left_so, made_up, of_made_up, of_report
from noface.secrets.masked_records import masked_snapshot, named_anew

_SHOWN_MAX = 10
_LANDED_MAX = 3
_FORM_BYTES_MAX = 400_000
_FORM_TOTAL_BYTES_MAX = 10_000_000
_WHY_CHARS_MAX = 120
_GONE = "its workspace was removed while it was at work (by what clears caches?), so what it did is not all there"

Check = Callable[[Judging], Failure | None]
"""Says what speaks against an attempt, None if that is nothing; notes in the attempt what later checks need."""


def _formed(attempt: Judging) -> tuple[FileChange, ...]:
    """Return the files that a worker has laid out anew beside its work; none, if the issue asks for that."""
    change, issue, left = attempt.change, attempt.issue, _FORM_TOTAL_BYTES_MAX
    if not change.files or asks_for("form", (*words_of(issue), *issue.accept)):
        return ()
    asked, files = attempt.asked(attempt.work.agent.answer), []
    with attempt.plumbing.blobs() as blobs:
        for file in change.files:
            pair = modified(blobs, file, min(_FORM_BYTES_MAX, left // 2))
            if pair is None:
                continue
            left -= sum(map(len, pair))
            if same_but_for_form(file.path, *pair) and not (names_file(issue, file.path) or says(asked, file.path)):
                files.append(file)
    return tuple(files) if len(files) < len(change.files) else ()


def _strays(attempt: Judging) -> tuple[FileChange, ...]:
    """Return new files outside the issue's paths, none if the worker did nothing else: nobody is asked about those."""
    changes, issue = attempt.change.files, attempt.issue
    within = (*issue.paths, *issue.may_change) if issue.paths else ()
    strays = tuple(c for c in changes if within and c.status == "A" and not matches_any(c.path, within))
    return strays if len(strays) < len(changes) else ()


def _without(attempt: Judging, files: tuple[FileChange, ...], right: Mapping[str, Entry | None]) -> Judging:
    env, plumbing, main, change = attempt.env, attempt.plumbing, attempt.order.main, attempt.change
    snapshot = attempt.work.snapshot
    tree = plumbing.tree_with(snapshot.candidate_tree, {**right, **entries_before(files)})
    commit = attempt.commit(tree, snapshot.candidate)
    diff = plumbing.diff(main, tree)
    patch = diff.patch[:PATCH_BYTES_MAX]
    rest = replace(snapshot, candidate=commit, candidate_tree=tree, changes=diff.changes)
    # It may hide secrets that nobody knows any more where it is judged again.
    masked = without_files(change.masked, (*(file.path for file in files), *right))
    others = tuple(file.path for file in diff.changes if file.path not in right)
    masked += without_secrets(without_files(patch, others), env.masker, ())
    own = own_values(env, main, named_anew(rest))
    put(attempt.folder / PATCH_FILE, masked)
    change = replace(change, files=diff.changes, patch=patch, masked=masked)
    work = replace(attempt.work, snapshot=masked_snapshot(rest, env.masker, own))
    return Judging(attempt.order, attempt.scope, work, change, files)


def judge(attempt: Judging) -> Judging:
    """Return the attempt with its verdict: a failure, or the proof that lets its work land, or that a cancel ended it.

    What changes form only, what is new outside the issue's paths, and what is put right, is judged as it was where a
    gate fails without it.
    """
    strays = _strays(attempt)
    attempt.unasked = unasked_in(attempt)
    righted, right = put_right(attempt)
    files = (*strays, *(file for file in _formed(attempt) if file.path not in right))
    if not files and not right:
        return _decided(attempt)
    without = _without(attempt, files, right)
    without.unasked = tuple(one for one in attempt.unasked if one not in righted)
    without.notes = (f"{PUT_RIGHT}: {some(tuple(map(told, righted)), _SHOWN_MAX, _WHY_CHARS_MAX)}",) if righted else ()
    judged = _decided(without)
    failure = judged.failure
    if failure is not None and (failure.gate or right) and failure.charged:
        whole = _decided(attempt)
        interrupted = judged.interrupted or whole.interrupted
        needed = whole.failure is None or whole.failure.rule == LEFT_IN
        if not whole.interrupted and (needed or (strays and failure.gate)):
            put(attempt.folder / PATCH_FILE, attempt.change.masked)
            named = some((*(file.path for file in files), *right), _SHOWN_MAX)
            note = f"left out at first and needed all the same: {named}; without: {failure.message}"
            judged, whole.notes = whole, (*whole.notes, *([note] if needed else []))
        judged.interrupted = interrupted
    return judged


def _decided(attempt: Judging) -> Judging:
    if not (attempt.change.by_worker and attempt.change.files):
        attempt.nothing = unchanged(attempt)
        attempt.ungated = left_ungated(attempt, attempt.nothing)
    try:
        attempt.failure = next((failure for check in CHECKS if (failure := check(attempt)) is not None), None)
    except CutShort:
        attempt.interrupted = True
        return attempt
    if attempt.failure is None:
        attempt.proof = attempt.proving.proof if attempt.provable else None
        if (unfinished := _unfinished(attempt)) is not None:  # for whoever reads of it later
            why = one_line(unfinished.message, _WHY_CHARS_MAX)
            note = f"{UNFINISHED} ({why}); its work counts, since the issue's `accept` passes"
            attempt.notes = (*attempt.notes, note)
        changed = {change.path for change in attempt.change.files if change.old_mode != ABSENT}
        if own := changed.intersection(whole_scripts(attempt.issue.accept, words_max=_SHOWN_MAX)):
            attempt.notes = (*attempt.notes, f"{OWN_JUDGE}: {some(tuple(sorted(own)), _SHOWN_MAX)}")
    return attempt


def _disk_is_full(attempt: Judging) -> Failure | None:
    error = attempt.work.agent.error
    return worker_without_room(attempt.env, error) if error is not None else None


def _workspace_is_gone(attempt: Judging) -> Failure | None:
    if not attempt.snapshot.lost or _provider_is_away(attempt) is not None:
        return None
    return Failure(FailureKind.AGENT_CRASH, _GONE, rule="workspace-gone", signature="workspace-gone", charged=False)


def _program_was_out_of_reach(attempt: Judging) -> Failure | None:
    nothing, agent = attempt.idle, attempt.work.agent
    silent = nothing is not None and nothing.kind is FailureKind.NO_DIFF
    says_why = attempt.work.report is not None and attempt.work.report.status is ReportStatus.ALREADY_DONE
    return agent.out_of_reach if nothing is not None and (agent.error or (silent and not says_why)) else None


def _provider_is_away(attempt: Judging) -> Failure | None:
    error = attempt.work.agent.error
    if error is not None and attempt.order.model.agent in PLAIN_AGENTS:
        error = of_its_provider(error)
    return error if error is not None and error.category.external else None


def _too_many_or_too_big(attempt: Judging) -> Failure | None:
    snapshot, most, kind = attempt.snapshot, attempt.env.limits.files_max, FailureKind.LINT_FAILURE
    if not snapshot.left_out and (paths := snapshot.oversized):
        named, signature = ", ".join(paths[:_SHOWN_MAX]), f"{TOO_BIG}:{paths[0]}"
        message = f"files that are too large to land were left: {named}; delete them, or name them in .gitignore"
        return Failure(kind, message, rule=TOO_BIG, signature=signature, evidence=paths)
    if not snapshot.left_out:
        return None
    message = (
        f"{snapshot.left_out} new files were left ({some(snapshot.crowded, _SHOWN_MAX)}), more than may be there"
        f" ({most}): delete what need not be committed, or name it in .gitignore"
    )
    return Failure(kind, message, rule=TOO_MANY, signature=TOO_MANY, usage=snapshot.left_out, limit=most)


def _nothing_was_done(attempt: Judging) -> Failure | None:
    """Refuse what changes nothing; that main has it counts if every gate, `accept` and the evidence pass there."""
    nothing, agent, report = attempt.idle, attempt.work.agent, attempt.work.report
    if nothing is None:
        return None
    claim = claim_of(attempt.issue, report, agent.last_words)
    plain = nothing.kind is FailureKind.NO_DIFF and nothing.rule == UNCHANGED and agent.error is None
    plumbing, snapshot = attempt.plumbing, attempt.snapshot
    left_alone = not snapshot.protected_edits and snapshot.candidate_tree == plumbing.tree(attempt.order.main)
    if not (claim and plain and left_alone):
        return nothing
    words, evidence = claim
    main, asked = plumbing.main(), [GateSpec(EVIDENCE, evidence, canary=False)] if evidence else []
    gates = (*attempt.order.gates, *asked)
    ran = attempt.prove(plumbing.tree(main), main, commit=main, gates=gates).run_gates()
    attempt.gates, red = ran.results, worst(ran.results)
    if evidence and red is not None:
        return disproven(words, red, told=any(earlier.rule == DISPROVEN for earlier in attempt.order.earlier))
    if ran.failure is not None or not all_hard_passed(gates, ran.results):
        return nothing
    return done_already(words, evidence, main, accepted=bool(attempt.issue.accept))


def _half_is_done(attempt: Judging) -> Failure | None:
    told = _part(attempt) is not None or _own_word(attempt) is not None  # that is for the gates to say
    return _unfinished(attempt) if not attempt.issue.accept and not told else None


def _notes_in_its_place(attempt: Judging) -> Failure | None:
    return only_notes(attempt) if not attempt.issue.accept and _own_word(attempt) is None else None


def _change_breaks_a_rule(attempt: Judging) -> Failure | None:
    """Examine the change. That tests were weakened may only be suspected: then the gates have their say first."""
    failure = next(iter(examine_change(attempt, attempt.change)), None)
    if failure is not None and gates_decide(failure, attempt.issue):
        attempt.suspicion, failure = failure, None
    return failure


def _main_conflicts(attempt: Judging) -> Failure | None:
    plumbing, order, candidate = attempt.plumbing, attempt.order, attempt.snapshot.candidate
    main = plumbing.main()
    if main == order.main:
        brought = WorkOnMain(Merge(attempt.snapshot.candidate_tree, ()), candidate)
    else:
        brought = bring_onto(plumbing, main, candidate, (order.main,))
    if brought.merge.tree is None:
        paths = brought.merge.conflicts
        return conflict(paths, in_the_way(plumbing, candidate, main, paths))
    # Under "only-new", main's failing tests may be others by now: then the landing proves it against those.
    # So it does if main has lost what the work began on: the commit that may land is made there.
    attempt.provable = brought.began is None and (order.known_failures is None or main == order.main)
    attempt.proving = attempt.prove(brought.merge.tree, main)
    return None


def _gates_are_red(attempt: Judging) -> Failure | None:
    """Run the gates, and take into the work what those with `fixes` write; of main's own failures main is to blame."""
    attempt.scope.progress(attempt.issue.id, attempt.order.number, "gate", "running the gates")
    attempt.proving.run_gates()
    failure = take_fixes(attempt)
    work, snapshot, ran = attempt.work, attempt.work.snapshot, attempt.proving.ran
    attempt.gates, attempt.notes = ran.results, (*attempt.notes, *_flaky(ran.results))
    if failure is None and (unproven := attempt.proving.by_gates) is not None:
        failure = (work.agent.error if unproven.of_work else None) or unproven.failure
    if failure is None:
        return None
    if (word := _own_word(attempt)) is not None:
        return left_so(word, failure)
    missing = with_missing(failure, snapshot.not_taken, snapshot.aside, attempt.issue.paths)
    failure = attempt.proving.beside_main(missing or failure).failure
    if failure.charged:
        nothing = attempt.nothing or only_notes(attempt)
        nothing = nothing if failure.kind is not FailureKind.ENVIRONMENT else None  # what is missing tells more
        failure = with_put_back(attempt, nothing or missing or with_places(failure, snapshot))
    return with_library(attempt.env, ran.tree, failure)


def _only_part_is_done(attempt: Judging) -> Failure | None:
    word = _own_word(attempt) if not attempt.issue.accept else None
    if word is not None:
        return left_so(word)
    part = _part(attempt)
    return (partly_done(part, attempt.gates) or _unfinished(attempt)) if part is not None else None


def _main_judges_otherwise(attempt: Judging) -> Failure | None:
    """Have main's judges say what they have against work whose gates are green (law 11): `JUDGES` of `judges.py`.

    Tests that go with what they test, of which the issue says nothing, are no question of its: a worker is told first.
    """
    failure = _judged_otherwise(attempt)
    if failure is None or not (gone := names_gone(attempt)):
        return failure
    message = f"{failure.message}; of what it deletes the issue says nothing: {some(gone, _SHOWN_MAX)}"
    told = any(earlier.kind == FailureKind.GATE_TAMPERING for earlier in attempt.order.earlier)
    rule = ALTERED if failure.rule in (CONTRADICTED, EMPTIED) and not told else failure.rule
    return replace(failure, message=message, rule=rule)


def _judged_otherwise(attempt: Judging) -> Failure | None:
    order, suspicion = attempt.order, attempt.suspicion
    by_body = suspicion if suspicion is not None and suspicion.rule in BY_BODY else None
    lost = by_body.failing_tests if by_body else ()
    failure = attempt.proving.judged(tuple(t for t in lost if is_code(t.partition("::")[0])))  # of data no test is one
    if failure is None and suspicion is not None and suspicion.rule == REWRITTEN and attempt.proving.fewer() == ():
        suspicion = None
    against = tuple(each for each in (failure, suspicion) if each is not None)
    if failure is not None and failure.rule in (CONTRADICTED, EMPTIED):
        if suspicion is None or by_body is not None:
            judged = with_bodies(failure, by_body)
            return _as_quoted(attempt, judged) if by_body is None else judged
        against = (replace(failure, rule=ALTERED), suspicion)  # tests were weakened as well: no question of the issue's
    warned = any(earlier.kind == FailureKind.GATE_TAMPERING for earlier in order.earlier)
    if order.issue.accept and warned:  # most can leave the tests alone; for who cannot, its own commands may want it
        attempt.doubts = tuple(each.message for each in against)
        return None
    failure = next(iter(against), None)
    return _as_quoted(attempt, failure) if failure is not None and suspicion is None else failure


def _as_quoted(attempt: Judging, failure: Failure) -> Failure:
    """Charge nobody for an expectation that was changed as a worker is told to: with the issue's sentence for it."""
    report = attempt.work.report
    if report is None or failure.rule not in (CONTRADICTED, ALTERED):
        return failure
    changed = changed_lines(attempt.change.patch.decode("utf-8", "replace"))
    altered = {each.removeprefix("altered: ") for each in failure.evidence if each.startswith("altered: ")}
    lines = tuple(line.text for line in changed if is_test_file(line.path) or line.path in altered)
    grounds = Grounds((*words_of(attempt.issue), *attempt.order.owner), (*lines, *altered), failure.failing_tests)
    sentence = next((e.sentence for e in report.changed_tests if not unfounded(e.sentence, grounds)), "")
    return replace(failure, charged=False, evidence=(*failure.evidence, sentence)) if sentence else failure


def _does_what_nobody_asked(attempt: Judging) -> Failure | None:
    """Tell a worker once what it did beyond its issue; what it does again, a person is asked about."""
    attempt.doubts, attempt.notes = (
        (*attempt.doubts, *doubts_of(attempt)),
        (*attempt.notes, *doubts_of(attempt, accepted=True), *new_untested(attempt)),
    )
    return forgotten(attempt)


def _something_is_made_up(attempt: Judging) -> Failure | None:
    """Tell a worker once that what was not given to it is to be asked for; after that a person is asked."""
    report = attempt.work.report
    told = any(earlier.rule == MADE_UP for earlier in attempt.order.earlier)
    return of_made_up(report) if report is not None and made_up(report) and not told else None


CHECKS: tuple[Check, ...] = (
    # How the worker's run ended, by what the system and the agent's typed events tell.
    _disk_is_full,
    _workspace_is_gone,
    _program_was_out_of_reach,
    _provider_is_away,
    # What it left, and what it reports of that, before anything runs.
    _too_many_or_too_big,
    _nothing_was_done,
    lambda attempt: adds_secrets(attempt, attempt.change),
    _half_is_done,
    _notes_in_its_place,
    _change_breaks_a_rule,
    # What the gates say of it on the present main, and after them main's own judges.
    _main_conflicts,
    _gates_are_red,
    _only_part_is_done,
    _main_judges_otherwise,
    _something_is_made_up,
    _does_what_nobody_asked,
)
"""What may speak against an attempt, in the order in which it is asked: the first that has something to say decides."""


def _unfinished(attempt: Judging) -> Failure | None:
    work = attempt.work
    unread, status = work.unreadable or (None, None)
    unfinished = status in (ReportStatus.PARTIAL, ReportStatus.BLOCKED, ReportStatus.TOO_LARGE)
    reported = of_report(work.report) or (unread if unfinished else None)
    return work.agent.error or reported


def _own_word(attempt: Judging) -> Failure | None:
    reported = of_report(attempt.work.report) if attempt.work.agent.error is None else None
    return reported if reported is not None and reported.rule != REPORT_PARTIAL else None


def _part(attempt: Judging) -> WorkerReport | None:
    """Return what a worker says that did part of the issue and ended well; None if an `accept` decides."""
    order, work = attempt.order, attempt.work
    if work.agent.error is not None or order.issue.accept:
        return None
    silent = work.report is None and work.unreadable is None
    if silent and any(earlier.rule == PARTLY_DONE for earlier in order.earlier):
        return WorkerReport(ReportStatus.PARTIAL, "it does not say whether what was left is done")
    return work.report if rest_reported(work.report) else None


def _flaky(results: tuple[GateResult, ...]) -> Iterator[str]:
    for result in results:
        first = result.first_failure
        if result.unsteady and result.flaky:
            tests = some(result.unsteady, _SHOWN_MAX)
            yield f"gate {result.gate.name} passed but for {tests}: unsteady on main, so that counts for nobody"
        elif result.flaky and first is not None:
            failed = f"gate {result.gate.name} is flaky: it failed ({first.kind}: {first.message})"
            yield f"{failed} and passed when it was run again on the same tree"


def conflict(paths: tuple[str, ...], by: tuple[str, ...]) -> Failure:
    names, landed = ", ".join(paths[:_SHOWN_MAX]), some(by[-_LANDED_MAX:], _LANDED_MAX)
    what = f"main moved meanwhile, and the change conflicts with it in {names}{f' ({landed})' if landed else ''}"
    rule, signature = "merge-tree-conflict", f"conflict:{names}"
    return Failure(FailureKind.MERGE_CONFLICT, what, rule=rule, signature=signature, evidence=paths, charged=False)
