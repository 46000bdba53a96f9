"""A repository's own template for pull requests is filled where it asks for what noface knows."""

import pytest

from noface.recovery.proposal import filled, place_of

PARTS = {"issue": "Closes #7", "done": "The worker says: done", "tests": "| unit | passed |"}
TEMPLATE = """\
<!-- Thanks! -->
## Description

## Related issue(s)
<!-- Fixes #123 -->

### How has this been tested?

```sh
# Description of a command
```
## Checklist
- [ ] I have read CONTRIBUTING
"""


def test_each_part_stands_below_the_heading_that_asks_for_it():
    text, used = filled(TEMPLATE, PARTS)
    assert used == set(PARTS)
    at = [text.index(each) for each in ("## Description", "done", "## Related", "Closes #7", "How has", "| unit |")]
    assert at == sorted(at)
    assert "- [ ] I have read CONTRIBUTING" in text
    assert text.count("done") == text.count("Closes #7") == 1
    assert "<!-- Thanks! -->" in text


@pytest.mark.parametrize("template", ["Tell us about it.", "", "# Hello\n\nText", "```\n## Description\n```"])
def test_what_it_does_not_ask_for_is_left_to_the_caller(template):
    text, used = filled(template, PARTS)
    assert (text, used) == (template.strip(), frozenset())


@pytest.mark.parametrize(
    ("paths", "place"),
    [
        (("a.py", ".github/PULL_REQUEST_TEMPLATE.md", "pull_request_template.md"), ".github/PULL_REQUEST_TEMPLATE.md"),
        (("docs/Pull_Request_Template.md",), "docs/Pull_Request_Template.md"),
        ((".github/PULL_REQUEST_TEMPLATE/a.md", ".github/PULL_REQUEST_TEMPLATE/b.md"), ""),
        ((), ""),
    ],
)
def test_it_lies_where_github_looks_for_it(paths, place):
    assert place_of(paths) == place
