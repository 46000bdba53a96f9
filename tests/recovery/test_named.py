"""What an issue names, and whether parts or changes hold it.

Measured on 452 commits of httpx, black and boltons with a message of two or more statements and a diff of two or more
files, taken for issues that landed whole: `evident` closes 1 without a look, so that a role or a person is asked about
451, and it would close none of them with half of its files. Without the rule that each statement names a changed file
it would close 14, and 5 with half: a guess. Of the 342 with lists, `not_held` finds every entry in 33.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.model.issue import Issue
from noface.recovery.named import changed_text, entries, evident, names, not_held, statements

TEXT = """Six things are wanted:

- [ ] `alpha` prints 1
- [x] `beta` prints 2
* gamma: write three.txt
  and its test
1. Remove `old.py`.
2) Support negative numbers

Also update the docs. See foo.bar() for how:

```
- not this
```
## Notes
"""
PATCH = "diff --git a/one.txt b/one.txt\n@@ -1 +1 @@ two.txt\n three.txt\n-old_pages\n+read_page(max_items=40)"


def test_entries_of_lists_and_sentences_are_what_an_issue_says():
    listed = ("`alpha` prints 1", "gamma: write three.txt and its test", "Remove `old.py`.", "Support negative numbers")
    assert entries(TEXT) == listed
    assert statements(Issue("1", "t", TEXT)) == (*listed, "Also update the docs.")
    assert statements(Issue("1", "the title", "")) == ("the title",)


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("write `one.txt`", True),
        ("write `two.txt`", False),  # the line before a hunk is none of the change
        ("write three.txt", False),  # nor is what stays as it was
        ("old_pages go", True),
        ("`read_page()` takes max_items", True),
        ("`read_page()` takes max_lines", False),
        ("read_page raises an error, logs it, and returns none of the rejected pages", False),  # the names alone
        ("Do it.", False),
        ("one_txt", False),
    ],
)
def test_a_statement_is_held_where_its_names_and_most_of_its_words_stand(said, held):
    assert (not_held((said,), changed_text(PATCH)) == ()) is held
    assert evident(Issue("1", "t", said), changed_text(PATCH)) is (held and ".txt" in said)


def test_what_names_nothing_is_never_evident():
    assert not_held(("read the page",), "read the page") == ()
    assert not evident(Issue("1", "t", "read the page"), "read the page")
    assert not evident(Issue("1", "t", "- write one.txt\n- write six.txt"), changed_text(PATCH))


def test_files_identifiers_and_numbers_are_names():
    found = names("See src/a.py, read_page(), HTTPServer, `plain` and version 2; the e.g. rest.")
    assert {"src/a.py", "read_page", "httpserver", "plain", "2"} <= found
    assert "rest" not in found


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_text_has_statements(text, held):
    said = statements(Issue("1", "t", text))
    assert said
    assert set(not_held(said, held)) <= set(said)
