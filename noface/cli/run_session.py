"""What `noface run` does: puts a run together and takes it apart again, or shows with `--dry-run` what would start."""

import gc
import os
import queue
import secrets
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType

import typer

from noface.attempt.environment import AttemptEnvironment
from noface.attempt.run import LocalExecutor
from noface.cli.connections import Connections, connect, fetch_issues
from noface.cli.findings import (
    accept_findings,
    check_workspaces,
    config_findings,
    fault_finding,
    idle_findings,
    left_out,
)
from noface.cli.verb import VerbResult
from noface.cli.wiring import (
    RunOptions,
    allotments,
    attempt_environment,
    bubblewrap_for,
    remote_issues,
    settings,
    slots_dir,
)
from noface.config.load import load
from noface.config.problems import unknown_model
from noface.config.sections import Config
from noface.data.extras import extra
from noface.engine.context import Planning, RunContext, RunSettings
from noface.engine.dispatch import decide_each, plan_tick
from noface.engine.engine import Stop
from noface.engine.faults import is_fault, write_down
from noface.engine.outside import as_agreed
from noface.engine.run import run_session
from noface.errors import EXIT_DONE, ForgeAwayError, UsageError
from noface.git.locate import locate
from noface.git.own_objects import begin_own_objects
from noface.git.repository import Repository, discover
from noface.integrity.accepting import without_gates
from noface.integrity.unsteady import still_unsteady
from noface.model.actions import model_of
from noface.model.backlog import same_id, without_unknown_models
from noface.model.finding import exit_code_of
from noface.model.issue import IssueState
from noface.model.taxonomy import IssueStatus
from noface.process.clock import Clock
from noface.process.failpoints import hit
from noface.process.lock import RepositoryLock
from noface.process.masking import known_secrets
from noface.process.namespace import hide_memory
from noface.process.supervise import Canceller, Launcher
from noface.recovery.schedule import with_parts
from noface.remote.elsewhere import elsewhere
from noface.remote.tracker_sync import fetch_first
from noface.store.database import Database
from noface.store.journal import Announce, Journal
from noface.store.lessons import LessonStore
from noface.store.publications import Publications
from noface.store.pull_requests import PullRequests
from noface.store.questions import Questions
from noface.store.reader import Reader
from noface.trackers.base import IssueTracker, open_tracker
from noface.ui import page
from noface.ui.announcer import announcer
from noface.ui.text import hanging


def run_project(
    start: Path, config_path: Path | None, options: RunOptions, *, as_json: bool, clock: Clock | None = None
) -> int:
    """Work through the backlog of the repository around `start`; return the exit code.

    Raises UsageError, ConfigError, LockedError, BaselineRedError before anything was started.
    """
    repository, config, tracker = open_project(start, config_path, options)
    issues = remote_issues(config, tracker)
    if issues is None:
        options = replace(options, issues=named_issues(options.issues, tracker))
    make_workspaces(slots_dir(config, repository))
    hide_memory()
    with ExitStack() as stack:
        lock = stack.enter_context(RepositoryLock(repository.state_dir / "lock"))
        repository.state_dir.chmod(0o700)  # agents write there what they read, with permissions of their own
        begin_own_objects(repository)
        hit("lock_taken")
        cancel = Canceller()
        connections = connect(config, repository, clock, cancel)
        notifier = extra("notifier")(config, repository.root) if config.notify.tells else None
        if notifier is not None:
            connections = replace(connections, secrets=(*connections.secrets, *notifier.secrets))
        if issues is not None:
            if connections.github is not None:
                issues.tracker.use(connections.github)
            fetch_first(issues, clock or Clock(), config.retry.outage_max, lambda text: typer.echo(text, err=True))
            options = replace(options, issues=named_issues(options.issues, tracker))
        database = Database.open(repository.state_dir / "state.db")
        stack.callback(database.close)
        database.check()
        hit("database_ready")
        chosen = settings(config, repository, options)
        notes = [*idle_findings(config, repository.root), *left_out(config, repository.root)]
        merged = tuple(Reader(database).merged())
        notes += accept_findings(config, repository, (i for i in tracker.backlog(merged).issues if i.id not in merged))
        chosen = replace(chosen, idle=tuple(finding.text for finding in notes))
        view = stack.enter_context(announcer(as_json=as_json, reader=Reader(database)))
        context = make_context(repository, config, tracker, chosen, database, view.announce, stack, clock, connections)
        context.lock, context.issues_elsewhere = lock, issues is not None
        gc.set_threshold(50_000)
        gc.freeze()  # what was imported and read stays: no look for garbage goes through it
        others = elsewhere(issues) if notifier is None else notifier.beside(elsewhere(issues), context)
        try:
            with signals(context, cancel):
                exit_code, why = run_session(context, cancel, others)
            with _apart(context.env, "the summary"):
                view.finish(why)
        finally:
            if notifier is not None and context.reader.in_place() and not cancel.urgent:
                with _apart(context.env, "the last notices"):
                    notifier.last_words()
    return exit_code


def open_project(start: Path, config_path: Path | None, options: RunOptions) -> tuple[Repository, Config, IssueTracker]:
    """Find repository, configuration and tracker, and check the command line against them."""
    try:
        root = locate(start).root
    except UsageError:
        root = discover(start).root  # it knows other ways, and its message is better
    config = load(root, config_path)
    repository = discover(start, config.project.main)
    config.require_gates()
    if options.model is not None and options.model not in config.models:
        raise unknown_model(options.model, config.models)
    tracker = open_tracker(config.tracker_settings, repository.root, repository.state_dir)
    check_workspaces(slots_dir(config, repository), repository.root)
    return repository, config, tracker


def named_issues(wanted: Sequence[str], tracker: IssueTracker) -> tuple[str, ...]:
    ids = {same_id(issue.id): issue.id for issue in tracker.backlog().issues} if wanted else {}
    unknown = [name for name in wanted if same_id(name.removeprefix("#")) not in ids]
    if unknown:
        raise UsageError(f"--issue {unknown[0]}: there is no such issue, or it is faulty.", "See `noface issues`.")
    return tuple(ids[same_id(name.removeprefix("#"))] for name in wanted)


def make_workspaces(folder: Path) -> None:
    """Make the folder of the workspaces. Raises UsageError if that cannot be done."""
    hint = "Make it writable, or set [run] slots_dir to another folder."
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The workspaces cannot be made in {folder}: {error.strerror}.", hint) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"The workspaces cannot be made in {folder}: it cannot be written.", hint)


def make_context(
    repository: Repository,
    config: Config,
    tracker: IssueTracker,
    chosen: RunSettings,
    database: Database,
    announce: Announce,
    stack: ExitStack,
    clock: Clock | None = None,
    connections: Connections = Connections(),
) -> RunContext:
    """Put the parts of a run together; `stack` takes them apart. Without `connections` nothing leaves this machine."""
    run_id = secrets.token_hex(6)
    given = (variable for model in config.models.values() for variable in model.env.items())
    masker = known_secrets((*given, *connections.secrets))
    namespaces, memory = config.sandbox.processes == "auto", config.limits.memory_max
    launcher = stack.enter_context(Launcher(masker=masker, namespaces=namespaces, memory_max_bytes=memory))
    launcher.warm_up()
    env = attempt_environment(config, repository, launcher, bubblewrap_for(config))
    apart = allotments(repository)
    stack.callback(apart.close)
    env = replace(env, allotments=apart, clock=clock or env.clock)
    if connections.remote is not None:
        connections.remote.vet = env.plumbing.refs.vet
    stack.callback(env.plumbing.close)
    inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
    reader = Reader(database)
    for key, result in reader.newest_memo().items():
        env.memory.remember(key, result)
    for (tree, command), tests in reader.newest_tests().items():
        env.memory.keep_tests(tree, command, tests)

    def show(kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        with _apart(env, "the view"):
            hit("event_shown")
            announce(kind, issue_id, data)

    if config.executor.hosts or config.executor.address:
        executor = stack.enter_context(extra("executor")(config, repository, chosen, env, inbox.put))
    else:
        executor = LocalExecutor(chosen.workers)
    journal = Journal(database, run_id, show)
    known, commands = reader.unsteady_tests(), {gate.command for gate in chosen.gates}
    for command in known.keys() & commands:
        env.memory.note_unsteady(command, still_unsteady(known[command], env.clock.now()).values())
    if env.memory.all_unsteady().keys() != known.keys():
        journal.unsteady(env.clock.now(), "", "", (), env.memory.all_unsteady())  # those of gates that are gone
    return RunContext(
        run_id=run_id,
        settings=chosen,
        tracker=tracker,
        journal=journal,
        reader=reader,
        publications=Publications(database),
        questions=Questions(database, journal),
        lessons=LessonStore(database),
        pulls=PullRequests(database, journal),
        remote=connections.remote,
        forge=connections.github,
        env=env,
        executor=executor,
        clock=env.clock,
        announce=show,
        inbox=inbox,
    )


@contextmanager
def on_main(repository: Repository, config: Config, announce: Announce) -> Iterator[tuple[RunContext, Canceller]]:
    """Give what it takes to run commands on main as a run does. Raises LockedError while a run is at work."""
    make_workspaces(slots_dir(config, repository))
    with ExitStack() as stack:
        stack.enter_context(RepositoryLock(repository.state_dir / "lock"))
        begin_own_objects(repository)
        database = Database.open(repository.state_dir / "state.db")
        stack.callback(database.close)
        tracker = open_tracker(config.tracker_settings, repository.root, repository.state_dir)
        chosen, cancel = settings(config, repository, RunOptions()), Canceller()
        context = make_context(repository, config, tracker, chosen, database, announce, stack)
        stack.enter_context(signals(context, cancel))
        yield context, cancel


@contextmanager
def _apart(env: AttemptEnvironment, about: str) -> Iterator[None]:
    """Write down what breaks what only shows or tells: the run goes on, and ends as it would have."""
    try:
        yield
    except Exception as error:
        if not is_fault(error):
            raise
        log = write_down(env, error, about)
        with suppress(OSError):
            typer.echo(f"noface itself failed at {about}: {type(error).__name__}; the traceback is in {log}", err=True)


@contextmanager
def signals(context: RunContext, cancel: Canceller) -> Iterator[None]:
    """First Ctrl-C: finish what is quick and stop. Second: stop now. SIGTERM and SIGHUP are a first Ctrl-C.

    SIGHUP stays ignored under `nohup`. A run that a script has put in the background heeds SIGINT as well; else only
    SIGTERM would end it cleanly.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        urgent = cancel.cancelled
        cancel.cancel(urgent=urgent)
        context.inbox.put(Stop(urgent=urgent))

    under_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    numbers = (signal.SIGINT, signal.SIGTERM, *(() if under_nohup else (signal.SIGHUP,)))
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_STARTS = (IssueStatus.READY, IssueStatus.WAITING)


def plan(start: Path, config_path: Path | None, options: RunOptions) -> VerbResult:
    """Return the plan of the next tick, and what would keep it from working."""
    repository, config, tracker = open_project(start, config_path, options)
    with suppress(ForgeAwayError):
        fetch_issues(tracker, config, repository)
    options = replace(options, issues=named_issues(options.issues, tracker))
    database = Database.at(repository.state_dir / "state.db")
    reader, questions = Reader(database), Questions(database, Journal(database))
    chosen = settings(config, repository, options)
    states = dict(reader.states())
    merged = tuple(state.id for state in states.values() if state.status == "merged")
    backlog = without_unknown_models(tracker.backlog(merged), chosen.models)
    listed = with_parts(backlog.issues, questions.children())
    states |= {issue.id: IssueState(issue.id) for issue in listed if issue.id not in states}
    wanted = options.issues
    issues = tuple(as_agreed(i, states[i.id]) for i in listed if not wanted or i.id in wanted or i.parent in wanted)
    written = issues
    issues = tuple(without_gates(issue, chosen.gates) for issue in issues)
    for issue in issues:
        state = states[issue.id]
        if state.status in (IssueStatus.BLOCKED, IssueStatus.SKIPPED) and state.content_hash != issue.content_hash:
            states[issue.id] = IssueState(issue.id, epoch=state.epoch + 1)  # an edit unblocks it, as in the run
    worked = reader.worked()
    fresh = [each for each in written if states[each.id].status in _STARTS and each.id not in worked]
    told = accept_findings(config, repository, fresh)
    by_source = {each.where: each.what for each in told if each.exit_code != EXIT_DONE}
    lacking = {each.id: by_source[each.source] for each in fresh if each.source in by_source}
    issues = tuple(issue for issue in issues if issue.id not in lacking)
    planning = Planning(settings=chosen, reader=reader, questions=questions, clock=Clock())
    planned = plan_tick(planning, issues, states, len(issues))
    actions = dict(decide_each(planning, planned.start, states))
    starts = [
        {
            "id": issue.id,
            "title": issue.title,
            "model": model_of(actions[issue.id]),
            "action": actions[issue.id].name,
            "reason": actions[issue.id].reason,
            "now": position < chosen.slots,
        }
        for position, issue in enumerate(planned.start)
    ]
    waits = [{"id": w.issue_id, "reason": w.reason, "until": w.until} for w in planned.waiting]
    shut = [states[each.id] for each in issues if wanted and states[each.id].status is IssueStatus.BLOCKED]
    again = "blocked: {}; to have it tried again: noface retry {}"
    waits += [{"id": each.id, "reason": again.format(each.reason, each.id), "until": None} for each in shut]
    waits += [{"id": name, "reason": problem, "until": None} for name, problem in lacking.items()]
    faults = [{"source": f.source, "problem": f.problem} for f in backlog.faults]
    findings = (*config_findings(config, repository, repository.root), *told)
    everything = (*findings, *(fault_finding(fault) for fault in backlog.faults))
    asked = sum(states[each.id].status in (IssueStatus.BLOCKED, IssueStatus.APPROVAL) for each in issues) - len(shut)
    head = f"{len(starts)} can start ({chosen.slots} at once), {len(waits)} wait, {len(faults)} faulty"
    head += f", {asked} wait for you: noface blocked" if asked else "."

    def lines(_: object, width: int) -> Iterator[str]:
        yield head
        for item in starts:
            when, worker = "now" if item["now"] else "then", f" with {item['model']}" if item["model"] else ""
            yield from hanging(str(item["title"]), width, f"  {when:4} {item['id']}{worker}: ", "       ")
            yield from hanging(str(item["reason"]), width, "       ")
        for wait in waits:
            yield from hanging(str(wait["reason"]), width, f"  wait {wait['id']}: ", "       ")
        yield from page.finding_lines(everything, width)
        yield "Nothing was run: `noface run` tries the gates on main first, and they must pass there."

    document = {"start": starts, "waiting": waits, "faults": faults, "findings": findings}
    return VerbResult(document, lines, exit_code_of(everything))
