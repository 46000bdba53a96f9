"""Makes the order for an issue's next attempt: where it starts, its prompt, which files it may change (N6, L5, L7)."""

import secrets
from dataclasses import replace
from pathlib import Path

from noface.attempt.gate_session import REPEATS_MAX
from noface.attempt.protected_files import named_instructions, named_programs
from noface.engine.context import RunContext
from noface.engine.going_on import finished_before, next_session
from noface.engine.lessons import lessons_for
from noface.engine.main_checks import recorded_on_main
from noface.engine.prompt_context import attempt_directory, files_given, prior_failures
from noface.engine.start_commits import next_start
from noface.engine.worker_prompt import Given, prompt_data
from noface.git.guarded import with_files_of
from noface.git.refs import RefUpdate, hold_ref, slug
from noface.git.submodules import submodules, unasked
from noface.integrity.accepting import its_work
from noface.integrity.named_files import named_paths, run_scripts
from noface.integrity.tampering import is_test_file
from noface.model.actions import RunWorker, WaitUntil
from noface.model.attempt import AttemptOrder
from noface.model.history import History
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.protection import Protection, asked_paths, protection_of
from noface.model.start import Origin, StartReason
from noface.model.taxonomy import PASSED
from noface.model.worker_run import THINKING_FACTOR
from noface.process.files import is_folder
from noface.prompts.data import Situation
from noface.prompts.render import render
from noface.recovery.start import refused_in_places

_DIGITS_MAX = 6


def make_order(
    context: RunContext,
    history: History,
    action: RunWorker | WaitUntil,
    slot: int,
    note: str,
    accept_failing: int | None,
) -> AttemptOrder:
    """Return the order for the attempt that `action` starts. A ref holds its start."""
    issue, main = history.issue, context.env.plumbing.main()
    protection = protection_for(context, issue, main)
    commit, start = next_start(context, history, main, accept_failing)
    kept = with_files_of(context.env.plumbing, main, commit, protection)
    if kept != commit:  # an older commit, in which these files may differ
        context.env.plumbing.refs.apply(RefUpdate(hold_ref(issue.id, "start"), kept))
    number = max(context.reader.next_number(issue.id, slug(issue.id)), _newest_kept(context, issue.id) + 1)
    think = action.think
    known = lessons_for(context, history, number)
    plumbing = context.env.plumbing
    inner = submodules(plumbing.repository, main) if plumbing.has_links(main) else ()
    closed = [f"{one.path}/**" for one in unasked(inner, lambda path: matches_any(path, asked_paths(issue)))]
    given = Given(kept, main, note, (*protection.patterns, *closed), known)
    situation, data = prompt_data(context, history, action, start, given)
    masked = context.env.masker.text

    def text_of(situation: Situation) -> str:
        prompt = render(situation, context.settings.templates, data)
        for cut in prompt.cuts:
            context.log_event("prompt_cut", issue.id, number=number, topic=None, what=cut)
        return masked(prompt.text, (*issue.paths, *protection.patterns))

    text, model = text_of(situation), context.settings.models[action.model]
    if think:
        cost = model.max_cost_usd * THINKING_FACTOR if model.max_cost_usd is not None else None
        timeout_s, idle_s = model.timeout_s * THINKING_FACTOR, model.idle_timeout_s * THINKING_FACTOR
        model = replace(model, timeout_s=timeout_s, idle_timeout_s=idle_s, max_cost_usd=cost)
    finished = finished_before(context, history, start)
    notes = (f"the work of attempt {finished[0]} was judged again; no worker was called",) if finished else ()
    session = next_session(context, history, start, model, slot, think=think) if finished is None else None
    if session is not None:
        session = replace(session, prompt=text_of(Situation.RESUME))
    changed = history.current[-1].changed if history.current else ()
    held = next((past for past in history.attempts if past.number == start.holds), None)
    change_files, read_files = files_given(context, history, model, kept, protection, changed)
    return AttemptOrder(
        run_id=context.run_id,
        token=secrets.token_hex(12),
        issue=replace(issue, title=masked(issue.title), body=masked(issue.body)),  # it lies on disk
        number=number,
        model=model,
        prompt=text,
        main=main,
        start=kept,
        slot=slot,
        directory=attempt_directory(context.settings.attempts_dir, issue.id, number),
        gates=context.gates_for(issue),
        protected=protection.patterns,
        may_change=protection.may_change,
        any_case=protection.any_case,
        earlier=prior_failures(context, issue, history.attempts),
        known_failures=context.known,
        think=think,
        by_person=start.origin is Origin.PERSON,
        seal=secrets.token_hex(32),
        session=session,
        unjudged=start.reason is StartReason.CUT_OFF
        or (held is not None and (held.outcome == PASSED or refused_in_places(held) is not None)),
        repeats=max(REPEATS_MAX - context.reader.repeats(issue.id, history.epoch), 0),
        notes=tuple(map(masked, (*data.notes, *notes))),
        owner=tuple(map(masked, filter(None, (note, *(each.note for each in history.decisions))))),
        files=change_files,
        files_to_read=read_files,
        finished=finished,
    )


def _newest_kept(context: RunContext, issue_id: str) -> int:
    refs = context.env.plumbing.references(hold_ref(issue_id, "").rstrip("/"))
    orders = Path(context.settings.attempts_dir, slug(issue_id)).glob("*/order.json")
    folders = (order.parent for order in orders if order.is_file() and not order.is_symlink())
    names = (*(ref.rpartition("/")[2] for ref in refs), *(folder.name for folder in folders if is_folder(folder)))
    return max((int(name) for name in names if name.isdecimal() and len(name) <= _DIGITS_MAX), default=0)


def protection_for(context: RunContext, issue: Issue, main: str) -> Protection:
    plumbing = context.env.plumbing
    repository = plumbing.repository
    listed = context.settings.protected + named_instructions(plumbing, main) + named_programs(plumbing, main)
    if repository.hooks:
        listed += (repository.hooks,)
    return protection_of(issue, listed, _judges(context, issue, main), any_case=repository.any_case)


def _judges(context: RunContext, issue: Issue, main: str) -> tuple[str, ...]:
    """Return the files that judge work, or do it: they are protected (law 11).

    These are what `accept` names and the issue is not about (of a folder only the test files), and the scripts that
    gates and workers are. A test file for tests that main does not have is for the worker to write.
    """
    settings, plumbing = context.settings, context.env.plumbing
    on_main = recorded_on_main(context.reader, issue)
    accept = tuple(path for path in named_paths(issue.accept) if not its_work(path, issue))
    unwritten = on_main.unwritten if on_main is not None else ()
    to_write = (*unwritten, *(f"{path}/**" for path in unwritten))
    commands = tuple(gate.command for gate in settings.gates) + tuple(m.command for m in settings.models.values())
    scripts = run_scripts(commands)
    if not accept and not scripts:
        return ()
    folders, named = tuple(f"{path}/" for path in accept), {*accept, *scripts}
    paths = plumbing.entries(main, tuple(sorted(named)))
    judging = (p for p in paths if p in named or (is_test_file(p) and p.startswith(folders)))
    return tuple(sorted(p for p in judging if not (is_test_file(p) and matches_any(p, to_write))))
