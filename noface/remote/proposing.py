"""What is pushed and proposed for an issue: the proven commit, and the draft of its pull request."""

import os
from dataclasses import replace
from functools import partial

from noface.attempt.changes import why_held_back
from noface.attempt.environment import AttemptEnvironment
from noface.engine.context import RunContext
from noface.engine.landing.commits import landing_commit
from noface.engine.landing.stacks import is_approved
from noface.git.taken_back import began_on
from noface.model.attempt import landing_note
from noface.model.gate import Proof
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.pull_request import PullDraft
from noface.recovery.proposal import Proposal, body, place_of, title
from noface.secrets.masked_records import masked_record
from noface.store.records import PullRow

_TEMPLATE_BYTES_MAX = 65_536


def proven_commit(context: RunContext, issue: Issue, number: int, proof: Proof, tip: str) -> str:
    """Return a commit with the proven tree, on the remote's branch at `tip`: reviewers see what has changed."""
    plumbing = context.env.plumbing
    # One plain commit, and one for each answer to checks and reviews: attempts are nothing that reviewers asked for.
    # The history of a branch that began on what a person took back from main is left behind: the push replaces it.
    # So is one that holds a secret.
    lost = bool(tip) and began_on(plumbing, context.reader.mains(), tip, proof.main) is not None
    if tip and not lost and not why_held_back(context.env, tip):
        if plumbing.tree(tip) == proof.tree and plumbing.is_ancestor(proof.main, tip):
            return tip  # it shows this very work already
        merged = (proof.main,) if context.linear_branches else (tip, proof.main)  # what may hold no merge is replaced
        parents = (tip,) if plumbing.is_ancestor(proof.main, tip) else merged
    else:
        parents = (proof.main,)
    masked = masked_record(issue, context.env.masker)
    named = replace(masked, title=title(Proposal(masked, (), (), "", "", away=partial(clean, context.env))))
    return landing_commit(context, named, number, proof.tree, parents, base=parents[0])


def draft_of(context: RunContext, row: PullRow, issue: Issue) -> PullDraft:
    """Return what the pull request of an issue is to say, without secrets; `row` is what was pushed for it."""
    env, remote = context.env, context.remote
    main = (remote.main if remote is not None else env.plumbing.repository.main).removeprefix("refs/heads/")
    past = tuple(each for each in context.reader.past(issue.id) if each.number <= row.attempt)
    changed, known = past[-1].changed if past else (), context.reader.issue(issue.id)
    number = (issue.parent or issue.id) if context.settings.config.tracker.kind == "github" else None
    proposal = Proposal(
        issue=masked_record(issue, env.masker),
        attempts=past,
        gates=context.pulls.results(issue.id),
        base=row.base,
        main=main,
        number=number if number is not None and number.isdecimal() else None,
        note=landing_note(context.reader.notes(issue.id, row.attempt), here=True),
        approved=is_approved(context, issue, row.attempt),
        cost_usd=known.cost_usd if known is not None else None,
        protected=tuple(path for path in changed if matches_any(path, issue.may_change)),
        away=partial(clean, env),
        template=_template(context, row.base),
    )
    mask, auto_merge = env.masker.text, context.settings.config.landing.auto_merge
    return PullDraft(row.branch, main, mask(title(proposal)), mask(body(proposal)), auto_merge=auto_merge)


def _template(context: RunContext, base: str) -> str:
    plumbing = context.env.plumbing
    place = place_of(plumbing.paths(plumbing.tree(base))) if plumbing.resolve(base) is not None else ""
    entry = plumbing.entries(base, (place,)).get(place) if place else None
    if entry is None:
        return ""
    with plumbing.blobs() as blobs:
        return blobs.text(entry[1], _TEMPLATE_BYTES_MAX) or ""


def clean(env: AttemptEnvironment, text: str) -> str:
    """Take secrets out of a text, and the folders of this machine by each name that leads to them."""
    repository, text = env.plumbing.repository, env.masker.text(text)
    named = {
        str(env.slots_dir): "<workspaces>",
        str(repository.state_dir): "<state>",
        str(repository.common_dir): "<git>",
        str(repository.root): ".",
        os.path.expanduser("~"): "~",  # noqa: PTH111 - Path raises where there is no home
    }
    places = {os.path.realpath(place): name for place, name in named.items()} | named
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(place, places[place]) if len(place) > 1 else text
    return text
