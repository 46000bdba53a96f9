"""`noface config policy`: what follows each kind of failure, and what another policy would have decided."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import any_issue, failure_kind, tried_issue
from noface.cli.verb import ConfigFile, VerbResult, answers, grouped, meant
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.config.sections import Config
    from noface.model.actions import NextAction
    from noface.model.history import History
    from noface.model.issue import Issue
    from noface.store.questions import Questions
    from noface.ui.policy import PolicyView

_ISSUE = typer.Option(
    None,
    "--issue",
    metavar="ID",
    help="For this issue, with its own model, limits and labels.",
    autocompletion=any_issue,
)


@answers()
def policy(
    kind: str | None = typer.Option(
        None, "--kind", metavar="KIND", help="Only this kind of failure, step by step.", autocompletion=failure_kind
    ),
    issue_id: str | None = _ISSUE,
    config: ConfigFile = None,
) -> VerbResult:
    """Show what happens after each kind of failure, attempt by attempt, until a person is asked."""
    from noface.model.taxonomy import FailureKind
    from noface.ui.policy import policy_document, policy_page
    from noface.ui.policy_path import path_document, path_page

    one = FailureKind(meant(kind, FailureKind, "failure kind", "kinds")) if kind is not None else None
    view = _view(config, issue_id)
    if one is None:
        return VerbResult(policy_document(view), lambda _, width: policy_page(view, width))
    return VerbResult(path_document(view, one), lambda _, width: path_page(view, one, width))


@answers()
def replay(
    config: Path | None = typer.Option(None, "--config", help="The policy to ask; by default that of noface.toml."),
    issue_id: str | None = typer.Option(
        None, "--issue", metavar="ID", help="Only the decisions on this issue.", autocompletion=tried_issue
    ),
    everything: bool = typer.Option(False, "--all", help="Also show decisions that would be the same."),
) -> VerbResult:
    """Show which decisions another policy would take differently.

    Every recorded decision is made again on the same attempts. It costs no tokens and changes nothing.
    """
    from noface.cli.policy_records import policy as policy_of
    from noface.cli.session import open_session
    from noface.config.load import load, name_of
    from noface.recovery.policy_table import replay as replayed
    from noface.recovery.policy_table import spared
    from noface.ui.issues import find_issue
    from noface.ui.policy_path import replay_document, replay_page

    seen = open_session()
    asked = policy_of(load(seen.location.root, config))
    name = name_of(seen.location.root, config)
    tried = seen.reader.attempted()
    # In the backlog's order; those that it has no more come last.
    ids = [row.id for row in seen.reader.issues() if row.id in tried]
    ids += [each for each in tried if each not in ids]
    if issue_id is not None:
        ids = [find_issue(seen.reader, issue_id).id]
    known, questions = _issues(seen), seen.questions
    pasts = [_past(seen, questions, known, each) for each in ids]
    made = [(past, replayed(past, recorded, asked)) for past, recorded in pasts]
    decisions = [decision for _, each in made for decision in each]
    less = [saved for past, each in made for saved in spared(past, each)]
    titles = {past.issue.id: past.issue.title for past, _ in made}
    return VerbResult(
        replay_document(name, decisions, less, everything=everything),
        lambda _, width: replay_page(name, decisions, less, titles, width, everything=everything),
    )


group = partial(grouped, "Show what follows each failure kind; replay past decisions.", {"replay": replay}, policy)


def _view(config: Path | None, issue_id: str | None) -> "PolicyView":
    """Return what the page is about. Without an issue nothing but the configuration is looked at."""
    from noface.cli.policy_records import policy as policy_of
    from noface.config.load import load, name_of
    from noface.git.locate import locate
    from noface.model.budget import Budget
    from noface.model.history import History
    from noface.recovery.policy_table import ANY_ISSUE
    from noface.ui.policy import PolicyView

    root = Path.cwd() if config is not None and issue_id is None else locate(Path.cwd()).root
    loaded = load(root, config)
    asked = policy_of(loaded)
    used = list(dict.fromkeys(rung.model for rung in asked.ladder))
    return PolicyView(
        name_of(root, config),
        asked,
        _of_issue(loaded, config, issue_id) if issue_id is not None else History(ANY_ISSUE),
        Budget("run", loaded.run.max_cost_usd, loaded.run.max_tokens),
        tuple((name, usd) for name in used if (usd := loaded.models[name].max_cost_usd) is not None),
    )


def _of_issue(loaded: "Config", config: Path | None, issue_id: str) -> "History":
    """Return an issue with what a person said when they unblocked it, and without its attempts."""
    from noface.cli.session import open_session
    from noface.model.history import History
    from noface.ui.issues import find_issue

    seen = open_session(config)
    issue_id = find_issue(seen.reader, issue_id).id
    issue = _issues(seen).get(issue_id)
    if issue is None:
        raise UsageError(
            f"issue {issue_id} is not in the backlog any more", "Its file is gone or faulty: noface issues"
        )
    state = seen.reader.states()[issue_id]
    for model in (issue.model, state.wanted_model):
        if model is not None and model not in loaded.models:
            known = ", ".join(sorted(loaded.models))
            raise UsageError(f"issue {issue_id} asks for the model {model}, which does not exist", f"Known: {known}.")
    return History(issue, model=state.wanted_model, attempts_max=state.wanted_attempts)


def _issues(seen: "ReadSession") -> "dict[str, Issue]":
    """Return the sound issues of the backlog by id, and the parts of those that were broken down."""
    from noface.cli.session import with_own_parts

    return {issue.id: issue for issue in with_own_parts(seen.backlog(), seen.database).issues}


def _past(
    seen: "ReadSession", questions: "Questions", known: "dict[str, Issue]", issue_id: str
) -> "tuple[History, tuple[NextAction, ...]]":
    """Return an issue's history, with what was decided after each of its attempts."""
    from noface.model.actions import NextAction
    from noface.model.issue import Issue
    from noface.store.questions import recorded_history

    row = seen.reader.issue(issue_id)
    issue = known.get(issue_id) or Issue(issue_id, row.title if row is not None else "")
    history = recorded_history(seen.reader, questions, issue, seen.reader.states().get(issue_id))
    actions = [each.action for each in seen.reader.attempts(issue_id) if each.outcome is not None]
    return history, tuple(each or NextAction("", "") for each in actions)
