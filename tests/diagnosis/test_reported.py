"""What a worker's own report makes of its attempt (L2, K5, law 10)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noface.model.taxonomy import FailureKind
from noface.model.worker_run import Asked, BlockedReason, Question, ReportStatus, WorkerReport
from noface.recovery.reported import of_report

B = BlockedReason
K = FailureKind


def blocked(reason, **more):
    return of_report(WorkerReport(ReportStatus.BLOCKED, blocked_reason=reason, **more))


def test_without_a_report_nothing_is_reported():
    assert of_report(None) is None


def test_work_that_is_partly_done_is_not_whole():
    failure = of_report(
        WorkerReport(ReportStatus.PARTIAL, "the parser is missing", questions=(Question("which dialect?"),))
    )
    assert failure.kind is K.RESOURCE_EXHAUSTED
    assert failure.message == "the worker reports that it is only partly done: the parser is missing"
    assert failure.charged
    assert failure.questions == ("which dialect?",)
    assert failure.evidence == (failure.message,)


@pytest.mark.parametrize(
    ("reason", "kind", "charged"),
    [
        (B.BOUNDARY_VIOLATION, K.BOUNDARY_VIOLATION, True),
        (B.CONTRACT_CHANGE, K.BOUNDARY_VIOLATION, True),
        (B.DEPENDENCY_ISSUE, K.AGENT_BLOCKED, False),
        (B.UNCLEAR, K.AGENT_BLOCKED, True),
    ],
)
def test_every_reason_to_be_blocked_is_a_failure_of_its_own(reason, kind, charged):
    failure = blocked(reason, summary="see 5")
    assert (failure.kind, failure.charged) == (kind, charged)
    assert failure.message == f"the worker reports that it is blocked ({reason.replace('_', ' ')}): see 5"
    assert failure.signature == f"report-{reason}"
    assert failure.rule == f"report-{reason.replace('_', '-')}"


def test_a_block_without_a_reason_is_unclear():
    assert blocked(None).signature == "report-unclear"


def test_gaps_are_evidence_and_questions_go_to_a_person():
    failure = blocked(B.UNCLEAR, gaps=("no sample file",), questions=(Question("which rate?"),))
    assert failure.evidence == (failure.message, "no sample file")
    assert failure.questions == ("which rate?",)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ({"summary": "s", "questions": (Question("q"),), "gaps": ("g",)}, "s"),
        ({"questions": (Question("q"), Question("r")), "gaps": ("g",)}, "q"),
        ({"gaps": ("g",)}, "g"),
        ({}, "it gives no reason"),
    ],
)
def test_the_message_quotes_the_first_thing_that_the_worker_said(report, said):
    assert blocked(B.UNCLEAR, **report).message.endswith(f": {said}")
    assert of_report(WorkerReport(ReportStatus.PARTIAL, **report)).message.endswith(f": {said}")


TEXTS = st.lists(st.text(max_size=20), max_size=3).map(tuple)


@settings(deadline=None)
@given(
    st.builds(
        WorkerReport,
        status=st.sampled_from(ReportStatus),
        summary=st.text(max_size=30),
        unverified=TEXTS,
        risks=TEXTS,
        gaps=TEXTS,
        questions=st.lists(st.builds(Question, st.text(max_size=20), st.sampled_from(Asked))).map(tuple),
        blocked_reason=st.none() | st.sampled_from(BlockedReason),
        needs=TEXTS,
    )
)
def test_a_report_can_only_say_that_something_is_missing(report):
    failure = of_report(report)
    assert (failure is None) == (report.status in (ReportStatus.DONE, ReportStatus.ALREADY_DONE))
    if failure is not None:
        assert failure.signature
        assert failure.retry_at is None
        assert failure.charged == (not failure.signature.endswith("dependency_issue"))
