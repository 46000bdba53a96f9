"""All scenarios, by kind of failure in the order in which they are shown.

A worker looks for its own scenario only, so a kind's module is imported when it is asked for.
"""

from importlib import import_module

from noface.selftest.scenario import Scenario

_MODULES = {
    "SYNTAX_ERROR": "code",
    "RUNTIME_ERROR": "code",
    "TEST_FAILURE": "tests",
    "LINT_FAILURE": "style",
    "NO_TESTS": "tests",
    "NO_DIFF": "style",
    "REVIEW_REJECTED": "reviews",
    "OUTPUT_FORMAT": "agents",
    "AGENT_CRASH": "agents",
    "MERGE_CONFLICT": "moves",
    "AGENT_CONFUSION": "gaps",
    "AGENT_REFUSED": "gaps",
    "TIMEOUT": "size",
    "RESOURCE_EXHAUSTED": "size",
    "BOUNDARY_VIOLATION": "limits",
    "GATE_TAMPERING": "limits",
    "RATE_LIMITED": "provider",
    "OVERLOADED": "provider",
    "NETWORK": "provider",
    "AUTH": "provider",
    "MISCONFIGURED": "provider",
    "ENVIRONMENT": "provider",
    "NO_PROGRESS": "stuck",
    "UNKNOWN": "stuck",
}
"""Kind → module of this package, which has the scenarios under the name of the kind."""

KINDS: tuple[str, ...] = tuple(_MODULES)


def of_kind(kind: str) -> tuple[Scenario, ...]:
    """Return the scenarios of a kind; raises KeyError where there is no such kind."""
    module = import_module(f"noface.selftest.catalogue.{_MODULES[kind]}")
    found: tuple[Scenario, ...] = getattr(module, kind)
    return found


def find(scenario: str) -> Scenario:
    """Return the scenario called so; raises KeyError where there is none."""
    kind = scenario.rpartition("-")[0].replace("-", "_").upper()
    for one in of_kind(kind):
        if one.id == scenario:
            return one
    raise KeyError(scenario)


def chosen(kinds: tuple[str, ...] = ()) -> tuple[Scenario, ...]:
    """Return the scenarios of some kinds (all where none is named), with those that they depend on."""
    wanted = [scenario for kind in KINDS if not kinds or kind in kinds for scenario in of_kind(kind)]
    ids = {scenario.id for scenario in wanted}
    return (*(find(needed) for one in wanted for needed in one.depends_on if needed not in ids), *wanted)
