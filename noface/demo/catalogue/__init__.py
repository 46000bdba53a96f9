"""The bugs that sample projects are made of. The worker never imports this package; a test says so."""

from noface.demo.catalogue.bug import Bug, BugClass
from noface.demo.catalogue.dependent import DEPENDENT
from noface.demo.catalogue.feedback import FEEDBACK
from noface.demo.catalogue.one_edit_things import ONE_EDIT_THINGS
from noface.demo.catalogue.one_edit_values import ONE_EDIT_VALUES
from noface.demo.catalogue.out_of_reach import OUT_OF_REACH
from noface.demo.catalogue.second_tier import SECOND_TIER

CATALOGUE: tuple[Bug, ...] = (*ONE_EDIT_VALUES, *ONE_EDIT_THINGS, *FEEDBACK, *SECOND_TIER, *DEPENDENT, *OUT_OF_REACH)

__all__ = ["CATALOGUE", "Bug", "BugClass"]
