"""Collects what is known of an issue: the history that the policy decides from, and what prompts quote."""

import re
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from noface.data import table
from noface.data.extras import extra
from noface.diagnosis.missing_library import TO_ADD_IT
from noface.engine.context import Planning, RunContext
from noface.errors import ConfigError, GitError
from noface.git.landings import in_the_way
from noface.git.plumbing import Plumbing
from noface.git.refs import slug
from noface.integrity.inventory import file_of
from noface.model.attempt import PastAttempt
from noface.model.codec import view
from noface.model.failure import BY_YOU, REVIEWER, WORKER, Failure, PriorFailure
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue, IssueState
from noface.model.patterns import matches_any
from noface.model.protection import Protection
from noface.model.quoting import one_line
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import ModelSpec
from noface.process.files import read_regular
from noface.prompts.check import faults, suggestion, variables
from noface.prompts.context_files import context_files
from noface.prompts.data import SUFFIX, Quote, RelatedFile
from noface.prompts.render import BUILT_IN
from noface.recovery.done_already import DONE_ALREADY
from noface.store.questions import recorded_history


def history_of(context: Planning, issue: Issue, state: IssueState | None = None) -> History:
    """Return an issue's history (`state`: as it stands, if that is known); what has merged is waited for no more."""
    reader = context.reader
    history = recorded_history(reader, context.questions, issue, state or reader.state(issue.id))
    needs = {need for advice in history.advice for need in advice.needs}
    open_ones = {need for need in needs if reader.issue(need) is not None and not reader.state(need).done}
    advice = (replace(each, needs=tuple(need for need in each.needs if need in open_ones)) for each in history.advice)
    return replace(history, advice=tuple(advice))


def files_given(
    context: RunContext,
    history: History,
    model: ModelSpec,
    commit: str,
    protection: Protection,
    changed: tuple[str, ...],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not context.env.agents[model.agent].wants_files:
        return (), ()
    change, read = extra("files given")(context, history, model, commit, protection, changed)
    return change, read


_OUTCOME_CHARS_MAX = 300
_PATCH_BYTES_MAX = 1_000_000
_FILES_MAX = 5
_SEARCH_SECONDS_MAX = 10.0


def attempt_directory(attempts_dir: str, issue_id: str, number: int) -> str:
    return str(Path(attempts_dir) / slug(issue_id) / str(number))


def prior_failures(context: RunContext, issue: Issue, attempts: tuple[PastAttempt, ...]) -> tuple[PriorFailure, ...]:
    """Return the failed attempts in the form that the next worker gets: it knows commands, and no names of gates."""
    gates = context.gates_for(issue)
    commands, own = {gate.name: gate.command for gate in gates}, {gate.name for gate in gates if gate.accept}
    inside = re.compile(rf"{re.escape(str(context.env.slots_dir))}/[\w.-]{{1,100}}/[^/\s]{{1,255}}/")
    return tuple(
        view(
            PriorFailure,
            failure,
            number=attempt.number,
            model=attempt.model,
            kind=attempt.outcome,
            message=inside.sub("", _without_gates(failure, commands)),
            excerpt=inside.sub("", failure.excerpt if failure.by in _QUOTED or failure.kind in _READ else ""),
            said=inside.sub("", _said(attempt, failure)),
            charged=attempt.charged,
            command=commands.get(failure.gate or "", "") or _evidence(attempt, failure),
            changed=attempt.changed if attempt.outcome != FailureKind.NO_DIFF else (),
            lines=attempt.lines,
            whose=_whose(context, failure, attempt.changed, accept=failure.gate in own),
            left=attempt.report.left if attempt.report is not None else (),
            summary=attempt.report.summary
            if attempt.report is not None
            else attempt.last_output.strip().rpartition("\n")[2],
        )
        for attempt in attempts
        if (failure := attempt.failure) is not None
    )


def _whose(context: RunContext, failure: Failure, changed: tuple[str, ...], *, accept: bool) -> str:
    """Return whose the failing tests are: the issue's, main's, or the worker's own; "" if that is not known."""
    if accept:
        return "issue"
    paths = tuple(dict.fromkeys(file_of(test) for test in failure.failing_tests))
    plumbing = context.env.plumbing
    on_main = plumbing.entries(plumbing.main(), paths) if paths else {}
    if paths and all(path in on_main for path in paths):
        return "main"
    return "own" if paths and all(path in changed and path not in on_main for path in paths) else ""


_QUOTED = ("", REVIEWER)
"""Whose words stand below a failure: what its worker put out has a place of its own, and so has a person's note."""
_READ = (FailureKind.OUTPUT_FORMAT,)
"""Of these the excerpt is the answer that could not be read, which its template shows."""


def _evidence(attempt: PastAttempt, failure: Failure) -> str:
    return attempt.report.evidence if failure.rule == DONE_ALREADY and attempt.report is not None else ""


def _said(attempt: PastAttempt, failure: Failure) -> str:
    words = attempt.last_output.strip() or (failure.excerpt.strip() if failure.by == WORKER else "")
    return words if failure.gate is None and failure.kind.info.last_output else ""


_LIMIT_OF = re.compile(r" \((?:idle_)?timeout of [^()\n]{1,100}\)")


def _without_gates(failure: Failure, commands: Mapping[str, str]) -> str:
    """Return a failure's message without the names of gates and models: commands stand for gates, the first apart."""
    message = failure.message_alone if failure.gate in commands else failure.message
    if failure.kind is FailureKind.NO_DIFF:
        message = message.partition("; its last words: ")[0]  # they stand below, in full
    return _LIMIT_OF.sub("", message.replace(BY_YOU, "taken back by a person"), count=1).partition(TO_ADD_IT)[0]


def compare_with_main(context: RunContext) -> str:
    """Return the command that shows in a workspace what is there against main (`give_git`)."""
    return f"git diff origin/{context.env.plumbing.repository.main_name}"


def patch_of(context: RunContext, issue: Issue, number: int) -> str:
    path = Path(attempt_directory(context.settings.attempts_dir, issue.id, number)) / "diff.patch"
    return (read_regular(path, _PATCH_BYTES_MAX) or b"").decode("utf-8", "replace")


_CONFLICTS_MAX = 20


def main_since(plumbing: Plumbing, left: PastAttempt, main: str, paths: tuple[str, ...]) -> str:
    """Return what main has changed in `paths` since an attempt, below the names of what brought it; "" for nothing."""
    paths = paths[:_CONFLICTS_MAX]
    try:
        patch = plumbing.patch_since(left.candidate, main, paths) if left.candidate is not None else b""
    except GitError:
        return ""  # a commit is gone
    by = in_the_way(plumbing, str(left.candidate), main, paths) if patch else ()
    return "".join((*(f"{name}\n" for name in by), patch.decode("utf-8", "replace")))


def landed_parts(context: RunContext, issue: Issue) -> tuple[Issue, ...]:
    return tuple(part for part in context.issues if part.parent == issue.id and context.reader.state(part.id).done)


def landed_patch(context: RunContext, issue: Issue) -> str:
    """Return what the parts of an issue have changed, each against main as it was before; what is gone is left out."""
    plumbing, patches = context.env.plumbing, []
    for row in (context.reader.issue(part.id) for part in landed_parts(context, issue)):
        commit = plumbing.resolve(row.merged_commit) if row is not None and row.merged_commit else None
        before = plumbing.resolve(f"{commit}^1") if commit is not None else None
        if commit is not None and before is not None:
            patches.append(plumbing.diff(before, commit).patch.decode("utf-8", "replace"))
    return "\n".join(patches)[:_PATCH_BYTES_MAX]


ON_THE_FAILURE = (Topic.DIAGNOSIS, Topic.REFLECTION, Topic.BOUNDARY, Topic.MERGE_CONFLICT)
_LASTING = (Topic.ARCHITECT, Topic.BREAKDOWN, Topic.CLARIFICATION)


def arguments(history: History) -> tuple[Quote, ...]:
    """Return what workers say of their work since a review asked for changes, without one what the last says (L7).

    It tells what was chosen where the issue leaves that open, or why a point should stay as it is.
    """
    before = history.attempts[-1].number - 1
    asked = max((a.number for a in history.attempts if a.failure is not None and a.failure.points), default=before)
    return tuple(
        Quote(f"What the worker of attempt {past.number} says of its work", past.report.summary, past.model)
        for past in history.attempts
        if past.number > asked and past.report is not None and past.report.summary
    )


def earlier_answers(history: History, topic: Topic) -> tuple[Quote, ...]:
    """Return the earlier answers on a topic, each with what came of the attempt that followed it (S5)."""
    last = history.current[-1].number if history.current and topic in ON_THE_FAILURE else 0
    usable = [a for a in history.asked if a.topic is topic and a.outcome is AdviceOutcome.ADVISED and a.after < last]
    quotes = []
    for advice in usable:
        then = next((attempt for attempt in history.current if attempt.number > advice.after), None)
        came = "no attempt followed it"
        if then is not None and then.failure is not None:
            why = one_line(then.failure.message, _OUTCOME_CHARS_MAX)
            came = f"attempt {then.number} failed with {then.outcome}: {why}"
        strategy = f" ({advice.strategy})" if advice.strategy else ""
        title = f"{_title(advice)}, after attempt {advice.after}{strategy}, which did not help: {came}"
        quotes.append(Quote(title, _text(advice), advice.model))
    return tuple(quotes)


def quotes_of(history: History, topics: Collection[Topic] = tuple(Topic)) -> tuple[Quote, ...]:
    """Return the answers since the last attempt, and earlier ones that still hold: a design, the fate of parts."""
    last = history.current[-1].number if history.current else 0
    usable = (AdviceOutcome.ADVISED, AdviceOutcome.PARTS_FAILED)
    answers = [
        a
        for a in history.asked
        if a.topic in topics and a.outcome in usable and (a.after == last or a.topic in _LASTING) and not a.points
    ]
    return tuple(Quote(_title(advice), _text(advice), advice.model) for advice in answers if _text(advice))


def _title(advice: Advice) -> str:
    remembered = advice.topic is Topic.DIAGNOSIS and not advice.model
    if remembered:
        return "The diagnosis with which the same failure was mended before"
    title: str = table("topics")["title"][advice.topic.value]
    return title


def _text(advice: Advice) -> str:
    cause = advice.cause if advice.cause not in advice.text else ""  # some texts quote the cause themselves
    return "\n".join(part for part in (cause, advice.text) if part)


def related_files(context: RunContext, history: History, commit: str) -> tuple[RelatedFile, ...]:
    """Return the files of `commit` that may help, each with why."""
    plumbing, last = context.env.plumbing, history.current[-1] if history.current else None
    named = tuple(path for advice in history.asked for path in advice.paths)
    tree = plumbing.tree(commit)
    failure = last.failure if last is not None else None
    ends = time.monotonic() + _SEARCH_SECONDS_MAX

    def search(word: str) -> frozenset[str]:
        left = ends - time.monotonic()
        return plumbing.containing(tree, word, left) if left > 0 else frozenset()

    issues = context.tracker.protected  # an issue's own file speaks of nothing but the issue
    paths = tuple(path for path in plumbing.paths(tree) if not matches_any(path, issues))
    matches = context_files(history.issue, failure, named, paths, _FILES_MAX, search)
    return tuple(
        RelatedFile(path, f"it has the words of the issue: {', '.join(words)}" if words else "it is named")
        for path, words in matches
    )


def built_in() -> dict[str, str]:
    folder = files("noface.engine").joinpath("templates")
    return {entry.name: entry.read_text("utf-8") for entry in folder.iterdir() if entry.name.endswith(SUFFIX)}


def load_templates(user_dir: Path | None) -> Mapping[str, str]:
    """Return the templates by file name; those of `user_dir` take the place of noface's, also known as "noface/NAME".

    Raises ConfigError if the folder cannot be read, a file's name is unknown, or a template is faulty.
    """
    own = built_in()
    kept = {f"{BUILT_IN}{name}": text for name, text in own.items()}
    if user_dir is None:
        return own | kept
    templates = own | kept | _read_folder(user_dir, tuple(sorted(own)))
    check_templates(templates, str(user_dir))
    return templates


def check_templates(templates: Mapping[str, str], folder: str = "") -> None:
    """Try every template on sample data; raise ConfigError that names each fault, its file and line."""
    all_faults = faults(templates)
    if not all_faults:
        return
    places, known = "", dict[str, str]()
    for fault in all_faults:
        own = fault.template.startswith(BUILT_IN) or not folder
        line = "" if fault.line is None else f":{fault.line}"
        places += f"\n  {'' if own else f'{folder}/'}{fault.template}{line}: {fault.message}"
        known |= variables(fault.template)
    lines = "".join(f"\n  {name}: {meaning}" for name, meaning in known.items())
    raise ConfigError(
        f"the prompt templates have {len(all_faults)} fault{'s' if len(all_faults) > 1 else ''}:{places}",
        f"a template can use these variables:{lines}" if lines else "compare it with noface's own",
    )


def _read_folder(folder: Path, known: tuple[str, ...]) -> dict[str, str]:
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        read = {path: path.read_bytes() for path in paths if ".j2" in path.name or f"{path.name}.j2" in known}
    except OSError as error:
        what = f"[prompts] dir: {error.filename or folder}: {error.strerror}"
        raise ConfigError(what, "make the folder, or take the key out of noface.toml") from error
    if unknown := "".join(
        f'\n  "{path.name}"{suggestion(path.name, known)}' for path in read if path.name not in known
    ):
        what = f"{folder} holds templates that noface never uses:{unknown}"
        raise ConfigError(what, f"the names are: {', '.join(known)}")
    texts = {}
    for path, content in read.items():
        try:
            texts[path.name] = content.decode("utf-8").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: byte {error.start + 1} is not UTF-8", "save it as UTF-8") from error
    return texts
