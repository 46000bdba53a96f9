"""Short names for the kinds a rule table speaks of."""

from noface.core.taxonomy import FailureKind

SYNTAX = FailureKind.SYNTAX_ERROR
RUNTIME = FailureKind.RUNTIME_ERROR
TEST = FailureKind.TEST_FAILURE
LINT = FailureKind.LINT_FAILURE
NONE = FailureKind.NO_TESTS
TIME = FailureKind.TIMEOUT
ENV = FailureKind.ENVIRONMENT
