"""Which gates a change may excuse itself from."""

from support.cases import cases

from noface.engine.excused import measures
from noface.model.gate import GateKind, GateSpec


@cases(
    ("command", "kind", "measured"),
    [
        ("pytest --cov=shop --cov-fail-under=90", GateKind.TEST, True),
        ("npx c8 --check-coverage node --test", GateKind.TEST, True),
        ("python -m unittest discover -s tests", GateKind.TEST, False),
        ("pytest --cov", GateKind.LINT, False),
    ],
)
def test_a_test_gate_that_measures_coverage_is_told_from_one_that_does_not(command, kind, measured):
    assert measures(GateSpec("x", command, kind)) is measured
