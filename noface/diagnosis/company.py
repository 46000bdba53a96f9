"""Whether a gate may have failed only because others ran beside it. Pure.

Words decide nothing here: they say when one more run, alone on the same files, is worth its time. What passes then has
passed; what fails then has failed by itself.
"""

import re
from functools import cache

from noface.data import table
from noface.diagnosis.text import strip_codes
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind

_TEXT_CHARS_MAX = 60_000


def company_line(failure: Failure) -> str:
    """Return the line of a gate's failure that tells of something that only one can have at a time, "" without any."""
    text = "\n".join((failure.message, *failure.evidence, failure.excerpt))[:_TEXT_CHARS_MAX]
    return next((line.strip() for line in strip_codes(text).splitlines() if _words().search(line)), "")


@cache
def _words() -> re.Pattern[str]:
    return re.compile("|".join(table("causes")["company_words"]), re.IGNORECASE)


def may_be_company(failure: Failure, beside: int, limit_s: float, main_s: float | None) -> bool:
    """True if a gate that failed `beside` so many others is worth a run alone.

    One at its time limit is, if its share of the machine may not have been enough for what main needed, in seconds.
    """
    if failure.kind is FailureKind.TIMEOUT:
        return main_s is not None and main_s * (1 + beside) >= limit_s
    return bool(company_line(failure))
