"""All scenarios, by kind of failure in the order in which they are shown. REVIEW_REJECTED is not among them."""

from noface.selftest.catalogue.agents import AGENT_CRASH, OUTPUT_FORMAT
from noface.selftest.catalogue.code import RUNTIME_ERROR, SYNTAX_ERROR
from noface.selftest.catalogue.gaps import AGENT_CONFUSION, AGENT_REFUSED
from noface.selftest.catalogue.limits import BOUNDARY_VIOLATION, GATE_TAMPERING
from noface.selftest.catalogue.moves import MERGE_CONFLICT
from noface.selftest.catalogue.provider import AUTH, ENVIRONMENT, MISCONFIGURED, NETWORK, OVERLOADED, RATE_LIMITED
from noface.selftest.catalogue.size import RESOURCE_EXHAUSTED, TIMEOUT
from noface.selftest.catalogue.stuck import NO_PROGRESS, UNKNOWN
from noface.selftest.catalogue.style import LINT_FAILURE, NO_DIFF
from noface.selftest.catalogue.tests import NO_TESTS, TEST_FAILURE
from noface.selftest.scenario import Scenario

_FAMILIES = (
    SYNTAX_ERROR, RUNTIME_ERROR, TEST_FAILURE, LINT_FAILURE, NO_TESTS, NO_DIFF, OUTPUT_FORMAT, AGENT_CRASH,
    MERGE_CONFLICT, AGENT_CONFUSION, AGENT_REFUSED, TIMEOUT, RESOURCE_EXHAUSTED, BOUNDARY_VIOLATION, GATE_TAMPERING,
    RATE_LIMITED, OVERLOADED, NETWORK, AUTH, MISCONFIGURED, ENVIRONMENT, NO_PROGRESS, UNKNOWN,
)  # fmt: skip
ALL: tuple[Scenario, ...] = tuple(scenario for members in _FAMILIES for scenario in members)
KINDS: tuple[str, ...] = tuple(dict.fromkeys(scenario.kind for scenario in ALL))
_BY_ID = {scenario.id: scenario for scenario in ALL}


def find(scenario: str) -> Scenario:
    """Return the scenario called so; raises KeyError where there is none."""
    return _BY_ID[scenario]


def of_kinds(kinds: tuple[str, ...]) -> tuple[Scenario, ...]:
    """Return the scenarios of some kinds (all where none is named), with those they depend on."""
    wanted = [scenario for scenario in ALL if not kinds or scenario.kind in kinds]
    ids = {scenario.id for scenario in wanted} | {needed for scenario in wanted for needed in scenario.depends_on}
    return tuple(scenario for scenario in ALL if scenario.id in ids)
