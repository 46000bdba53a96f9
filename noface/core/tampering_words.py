"""The failures of changes that bought their green: what they altered, which tests tell, and what a worker should do."""

from noface.core.failure import Failure
from noface.core.gate import GateSpec
from noface.core.inventory import Shortfall
from noface.core.quoting import some
from noface.core.taxonomy import FailureKind

ALTERED = "judge-altered"
"""The rule of a change that is green with its own tests or settings, and red with main's."""
MISSING = "tests-missing"
"""The rule of a change on which tests that pass on main are missing."""

_SHOWN_MAX = 10
_NAME_CHARS_MAX = 200


def altered(paths: tuple[str, ...], found: Failure) -> Failure:
    """Return the failure of a change that is green only with its own `paths`; `found` is what main's versions find."""
    tests, shown = found.failing_tests, paths[:_SHOWN_MAX]
    fails = f"{_few(tests)} fail{'s' if len(tests) == 1 else ''}" if tests else f"it fails: {found.message}"
    return Failure(
        FailureKind.GATE_TAMPERING,
        f"green only with its own version of {_few(paths)}; with main's, in the gate {found.gate}, {fails}",
        rule=ALTERED,
        location=paths[0] if paths else None,
        signature=f"{ALTERED}:{','.join(sorted(tests or paths))}",
        evidence=(*(f"altered: {path}" for path in shown), *(f"fails: {test}" for test in tests[:_SHOWN_MAX])),
        excerpt=found.excerpt,
        failing_tests=tests,
        gate=found.gate,
    )


def missing(gate: GateSpec, paths: tuple[str, ...], short: Shortfall) -> Failure:
    """Return the failure of a change on which tests of main's are gone, skipped or red, though the gate is green."""
    said = [
        f"{_few(names)} {how}"
        for names, how in (
            (short.gone, "did not run"),
            (short.skipped, "skipped"),
            (short.failed, "failed"),
        )
        if names
    ]
    if short.fewer is not None:
        said.append(f"{short.fewer[1]} tests pass where {short.fewer[0]} passed on main")
    if short.broken_off and not said:
        said.append("the test run broke off before its end")
    tests = (*short.failed, *short.skipped, *short.gone)
    also = f" with main's version of {_few(paths)}" if paths else ""
    return Failure(
        FailureKind.GATE_TAMPERING,
        f"gate {gate.name} ended green{also}, but of the tests that pass on main: {'; '.join(said)}",
        rule=MISSING,
        location=paths[0] if paths else None,
        signature=f"{MISSING}:{','.join(sorted(tests)[:_SHOWN_MAX])}",
        evidence=tuple(said),
        failing_tests=tests,
        gate=gate.name,
    )


def skipped(gate: GateSpec, names: tuple[str, ...]) -> Failure:
    """Return the failure of a change whose new tests are skipped: nobody has seen that what they ask for is there."""
    return Failure(
        FailureKind.GATE_TAMPERING,
        f"gate {gate.name} ended green, but new tests are skipped: {_few(names)}",
        rule=MISSING,
        signature=f"new-tests-skipped:{','.join(names[:_SHOWN_MAX])}",
        evidence=tuple(f"skipped: {name}" for name in names[:_SHOWN_MAX]),
        failing_tests=names,
        gate=gate.name,
    )


def _few(names: tuple[str, ...]) -> str:
    return some(names, _SHOWN_MAX, _NAME_CHARS_MAX)
