"""Path patterns, against an independent definition: by parts and by letters, without regular expressions."""

from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noface.model.patterns import matches, matches_any, overlap


def letters(text, pattern):
    """`*`, `?` and plain letters, within a folder; `**` here is like `.*` and crosses folders."""
    if not pattern:
        return not text
    if pattern.startswith("**"):
        return any(letters(text[i:], pattern[2:]) for i in range(len(text) + 1))
    if pattern[0] == "*":
        stop = text.find("/") if "/" in text else len(text)
        return any(letters(text[i:], pattern[1:]) for i in range(stop + 1))
    return (
        bool(text)
        and (pattern[0] == text[0] or (pattern[0] == "?" and text[0] != "/"))
        and letters(text[1:], pattern[1:])
    )


def meant(path, pattern):
    pattern = pattern.strip()
    if pattern in (".", "./", "/"):
        return True
    pattern = pattern.removeprefix("./").strip("/")
    if not pattern:
        return False
    pieces = path.split("/")
    folders = ["/".join(pieces[:count]) for count in range(1, len(pieces) + 1)]
    return any(letters(folder, spelled) for folder in folders for spelled in spellings(pattern))


def spellings(pattern):
    """The pattern with each `**/` that begins a name once taken for no folder and once for one or more."""
    place = 0 if pattern.startswith("**/") else pattern.find("/**/") + 1
    if not pattern.startswith("**/") and place == 0:
        return {pattern}
    rest = spellings(pattern[place + 3 :])
    return {pattern[:place] + middle + tail for tail in rest for middle in ("", "**/")}


PATHS = st.lists(st.text("ab.*", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)
PATTERNS = st.lists(st.sampled_from(["a", "b", ".", "*", "**", "?", "/", "**/", "/**", "./"]), max_size=6).map("".join)


@settings(max_examples=150)
@given(PATHS, PATTERNS.filter(lambda pattern: "***" not in pattern and "//" not in pattern))
@example("ab", "a**/b")
@example("a/x/b", "a**/b")
@example("a/b", "a/**/b")
@example("anything/at/all", ".")
def test_a_pattern_means_what_the_definition_says(path, pattern):
    assert matches(path, pattern) == meant(path, pattern)


@pytest.mark.parametrize("unit", ["*a", "?*", "**/a", "**/*", "**a*", "**a*b/"])
@pytest.mark.parametrize("text", ["a", "a/", "ab/"])
def test_a_glob_of_many_wildcards_takes_no_more_than_the_square_of_a_name(unit, text):
    """A stranger may write one in an issue: with five of them 250 letters took minutes."""
    began = process_time()
    assert not matches(f"{text * (4_000 // len(text))}!", f"{unit * 60}z")
    assert process_time() - began < 5


@settings(max_examples=150)
@given(PATHS, PATTERNS, PATTERNS)
@example("src/a", "src/**", "src")
@example("a.b/a", "a.b", "a.b/*")
@example("a/b", "*", "a/b")
def test_patterns_that_mean_the_same_file_overlap(path, one, other):
    if matches(path, one) and matches(path, other):
        assert overlap(one, other)
        assert overlap(other, one)


def test_patterns_for_different_places_do_not_overlap():
    for one, other in [
        ("src/", "tests/**"),
        ("src/web/*.py", "src/cli/**"),
        ("docs/a.md", "docs/b.md"),
        ("a.md", "b*.md"),
        ("a.md", "**/b.md"),
    ]:
        assert not overlap(one, other)
        assert not overlap(other, one)
    assert overlap("src", "./src/a.py")
    assert overlap("src/**", "src/a*.py")
    assert overlap(".", "docs/a.md")


def test_common_patterns_mean_what_people_expect():
    assert matches("src/pkg/a.py", "src")
    assert matches("src/pkg/a.py", "src/")
    assert matches("src/pkg/a.py", "./src/**")
    assert matches("src/pkg/a.py", "**/*.py")
    assert matches("a.py", "**/*.py")
    assert matches("src/a.py", "src/*.py")
    assert not matches("src/pkg/a.py", "src/*.py")
    assert not matches("srcs/a.py", "src")
    assert not matches("pkg/src", "src")
    assert matches("app/[id]/page.tsx", "app/[id]/*.tsx")
    assert not matches("app/i/page.tsx", "app/[id]/*.tsx")
    assert matches("a\nb/c", "a*/c")
    assert not matches("a.py", "")
    assert matches_any("b", ("a", "b"))
    assert not matches_any("b", ())
