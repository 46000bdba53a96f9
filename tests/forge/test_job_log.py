"""A job's log is cut to what failed."""

import pytest

from noface.forge.parse import failed_steps

CHECKOUT = ["##[group]Run actions/checkout@v4", "with:", "##[endgroup]", "Syncing repository: acme/shop"]
LINT = ["##[group]Run ruff check", "ruff check", "##[endgroup]", "E501 too long", "##[error]Process completed with exit code 1."]  # fmt: skip
TEST = ["##[group]Run pytest -q", "pytest -q", "##[endgroup]", "FAILED tests/test_shop.py::test_it", "##[error]Process completed with exit code 1."]  # fmt: skip
AFTER = ["Post job cleanup.", "[command]/usr/bin/git version", "Cleaning up orphan processes"]
SET_UP = ["Current runner version: '2.320.0'", "Complete job name: test"]


def stamped(lines, first="\ufeff"):
    return first + "".join(f"2026-11-22T10:00:0{n % 10}.1234567Z {line}\r\n" for n, line in enumerate(lines))


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ([*SET_UP, *CHECKOUT, *TEST, *AFTER], TEST),
        ([*SET_UP, *CHECKOUT, *LINT, *TEST, *AFTER], [*LINT, *TEST]),
        (
            [*SET_UP, *CHECKOUT, "##[error]fatal: unable to access", *AFTER],
            [*CHECKOUT, "##[error]fatal: unable to access"],
        ),
        ([*CHECKOUT, "##[error]a warning of its own", *TEST, "##[error]another"], [*TEST, "##[error]another"]),
        (
            ["##[group]Run sleep 9999", "##[error]The operation was canceled.", *AFTER],
            ["##[group]Run sleep 9999", "##[error]The operation was canceled."],
        ),
    ],
)
def test_the_steps_that_failed_stay_without_times(lines, kept):
    assert failed_steps(stamped(lines)).rstrip("\n") == "\n".join(kept)


def test_without_a_marked_line_the_whole_log_stays():
    assert failed_steps(stamped([*SET_UP, "killed"])).split() == "\n".join([*SET_UP, "killed"]).split()
    assert failed_steps("") == ""
