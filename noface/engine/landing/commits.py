"""The commits that leave noface: those that are to be main, and those that are pushed for pull requests.

They are by the person whose repository it is; they are signed if `[landing] sign` or that person's git says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from noface.engine.context import RunContext
from noface.engine.landing.stacks import StackedEntry
from noface.errors import SigningError, UsageError
from noface.git.landings import own_messages
from noface.git.plumbing import make_and_hold
from noface.git.refs import hold_ref
from noface.model.attempt import landing_note
from noface.model.commit_message import fitting, form_advice, subject
from noface.model.issue import Issue
from noface.process.command import Canceller
from noface.secrets.masked_records import masked_record


@dataclass(frozen=True, slots=True)
class LandingCommits:
    """The commit that is to be `main`, and each issue's `own`; `note` is what main's reflog says."""

    main: str
    own: tuple[str, ...]
    note: str


def commits_of(context: RunContext, steps: Sequence[StackedEntry], main: str) -> Callable[[Canceller], LandingCommits]:
    """Return what makes the commits that bring proven steps to `main`, in any thread: the database is read here.

    Several stand behind the second parent of one commit: on main itself stands only what is proven (law 1). Who chose
    the form of messages gets no commit of an attempt, whose messages may have another.
    """
    plain = context.settings.config.landing.each or bool(context.env.messages.form)
    issues = [masked_record(step.entry.issue, context.env.masker) for step in steps]
    messages = [_message(context, issue, step.entry.number) for issue, step in zip(issues, steps, strict=True)]

    def make(_: Canceller) -> LandingCommits:
        own: list[str] = []
        for step, issue, message in zip(steps, issues, messages, strict=True):
            below = own[-1] if own else main
            parents = (below,) if plain else (below, step.candidate)
            text = message("" if parents[1:] else below)
            own.append(_made(context, hold_ref(issue.id, "landing"), step.tree, parents, text))
        reflog = f"noface: land issue{'s' if own[1:] else ''} {', '.join(issue.id for issue in issues)}"
        if not own[1:]:
            return LandingCommits(own[0], (own[0],), reflog)
        ref, text = hold_ref(issues[-1].id, "landing-stack"), context.env.messages.stack(issues, main)
        return LandingCommits(_made(context, ref, steps[-1].tree, (main, own[-1]), text), tuple(own), reflog)

    return make


def landing_commit(
    context: RunContext, issue: Issue, number: int, tree: str, parents: tuple[str, ...], *, base: str
) -> str:
    """Make and hold the commit that lands a masked issue; `base` is named if it merges none. Raises SigningError."""
    return _made(context, hold_ref(issue.id, "landing"), tree, parents, _message(context, issue, number)(base))


def _message(context: RunContext, issue: Issue, number: int) -> Callable[[str], str]:
    note = landing_note(context.reader.notes(issue.id, number))
    return lambda base: context.env.messages.landing(issue, number, base, note)


def _made(context: RunContext, ref: str, tree: str, parents: tuple[str, ...], message: str) -> str:
    plumbing = context.env.plumbing
    make = plumbing.signed_commit if context.signs else plumbing.commit_tree
    return make_and_hold(plumbing, ref, lambda: make(tree, parents, message), str)


def settle_signing(context: RunContext) -> str:
    """Decide whether commits are signed, and try it before a worker is paid; return what a person should know of it.

    Raises UsageError if `[landing] sign` asks for what cannot be done.
    """
    plumbing, wanted = context.env.plumbing, context.settings.config.landing.sign
    context.signs = plumbing.repository.signs if wanted is None else wanted
    if not context.signs:
        return ""
    try:
        plumbing.signed_commit(plumbing.tree(plumbing.main()), (plumbing.main(),), "noface looks whether it can sign\n")
    except SigningError as error:
        if wanted:
            raise UsageError(f"[landing] sign = true: {error.message}", error.hint) from error
        context.signs = False
        return f"your git signs commits, and noface cannot: what lands is not signed. {error.message}. {error.hint}"
    return "" if wanted else "what lands is signed with your key, as your git does (commit.gpgsign; [landing] sign)"


def message_note(context: RunContext) -> str:
    """Say which form main's own commits have if those of noface have none; "" if there is nothing to say."""
    plumbing = context.env.plumbing
    written = own_messages(plumbing, plumbing.main()) if not context.env.messages.form else ()
    return (
        f'main\'s commits are like "{subject(written[0])}": {form_advice(form)}' if (form := fitting(written)) else ""
    )
