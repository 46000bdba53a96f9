"""Lines that switch a check off, told from those that excuse one line."""

import pytest

from noface.integrity.evasion import one_line, suppressions
from noface.integrity.tampering import Line


@pytest.mark.parametrize(
    "text",
    [
        "/* eslint-disable */",
        "/* eslint-disable no-undef, no-new */",
        "/* eslint-disable jest/expect-expect */",
        "/* tslint:disable */",
        "/* eslint no-proto: 0 */",
    ],
)
def test_what_holds_for_the_whole_file_is_told(text):
    assert suppressions([Line("a.js", False, f"  {text}", 1)]) == (
        f"a.js: `{text}` switches a check off for the whole file",
    )


@pytest.mark.parametrize("scope", ["line", "next-line"])
def test_what_holds_for_one_line_is_not_taken_for_more(scope):
    line = Line("a.js", False, f"  /* eslint-disable-{scope} no-new */", 1)
    assert suppressions([line]) == ()
    assert one_line([line]) == {f"/* eslint-disable-{scope} no-new": "a.js"}
