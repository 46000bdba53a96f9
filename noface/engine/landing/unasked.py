"""The landings of a run that nobody let change tests: what they did to tests is looked at again."""

from itertools import takewhile

from noface.engine.context import RunContext
from noface.git.plumbing import Plumbing
from noface.integrity.judges import Part, lifted, part_of
from noface.integrity.tampering import is_code
from noface.model.attempt import ABSENT
from noface.store.reader import OpenLanding


def change_of(context: RunContext, landing: OpenLanding) -> tuple[str, str]:
    """Return the commits before and after an issue's own work, where it landed alone or with others.

    It is asked of each landing of a run for each order, each entry of the queue and each stack: git is asked once.
    """
    if landing.id not in context.changes_landed:
        context.changes_landed[landing.id] = _change_of(context.env.plumbing, landing)
    return context.changes_landed[landing.id]


def _change_of(plumbing: Plumbing, landing: OpenLanding) -> tuple[str, str]:
    alone = plumbing.first_parents(landing.old, landing.new) == (landing.new,)
    if alone and not plumbing.may_land_several(landing.new):
        return landing.old, landing.new
    landings = plumbing.landings(f"{landing.old}..{landing.new}")
    own = next((each for each in landings if each.issue == landing.issue_id), None)
    if own is None or own.commit == landing.new:
        return landing.old, landing.new
    return own.parents[0], own.commit


def unasked_landings(context: RunContext) -> tuple[tuple[str, str], ...]:
    """Return the landings of this run that nobody let change tests, the first first: the commits before and after each.

    What a run did that was cut off belongs to the one that goes on.
    """
    issues, plumbing, result = {issue.id: issue for issue in context.issues}, context.env.plumbing, []
    for landing in context.reader.unasked_in_run():
        before, after = change_of(context, landing)
        issue = issues.get(landing.issue_id)
        named = issue is not None and (issue.paths or issue.may_change)
        paths = [change.path for change in plumbing.changes(before, after)] if named else []
        if issue is None or not any(part_of(path) is Part.TEST and lifted(path, issue) for path in paths):
            result.append((before, after))
    return tuple(result)


def rewritten_beside(context: RunContext, issue_id: str, number: int) -> bool:
    """True if landings that nobody let change tests did so while an attempt was under way, which knew of none.

    Data counts as well, since it may be what a test expects.
    """
    plumbing, began = context.env.plumbing, context.reader.began_on(issue_id, number)

    def is_since(pair: tuple[str, str]) -> bool:
        # What descends from where it began was not there yet: mostly that is near, and costs no process.
        after = pair[1]
        return after != began and (plumbing.is_near(began, after) or not plumbing.is_ancestor(after, began))

    # From the newest back: what one holds that was there already, those before it hold as well.
    beside = takewhile(is_since, reversed(unasked_landings(context)))
    old = (change.path for pair in beside for change in plumbing.changes(*pair) if change.old_mode != ABSENT)
    return any(part_of(path) is Part.TEST or not is_code(path) for path in old)
