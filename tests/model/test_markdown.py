"""What agents, logs and issues wrote does nothing on a forge's page."""

import re

import pytest

from noface.model.markdown import block, bounded, code, inert, plain, quote

ACTS = re.compile(r"@[a-z]|#\d|GH-\d|https?://|www\.\w|<[a-z!/]|!\[", re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    [
        "thanks @alice and @acme/core",
        "like #12, acme/shop#12 and GH-12",
        "see https://github.com/acme/shop/issues/12 or www.example.com",
        "<img src=x> <!-- noface:7 --> </details>",
        "![x](https://example.com/seen.png)",
        "Closes #7",
    ],
)
def test_nothing_outside_code_pings_links_or_renders(text):
    assert ACTS.search(plain(text)) is None
    assert ACTS.search(quote(text)) is None


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Fixes #99, closes acme/shop#7 and GH-12", "Fixes # 99, closes acme/shop# 7 and GH -12"),
        ("cc @team @acme/core", "cc @ team @ acme/core"),
        ("see https://github.com/acme/shop/issues/12", "see github.com/acme/shop/issues/12"),
        ("Tell [skip ci] from [CI skip]", "Tell (skip ci) from (CI skip)"),
        ("A list[int] of C#, #fff and ann@example.org", "A list[int] of C#, #fff and ann@example.org"),
    ],
)
def test_titles_and_commits_do_nothing_and_hide_nothing(title, shown):
    assert inert(title) == shown
    assert all(char.isprintable() for char in inert(title))


def test_the_words_stay_readable():
    assert plain("the test `test_a` fails: a_b *c*") == r"the test \`test\_a\` fails: a\_b \*c\*"
    assert plain("@alice").replace("\u200b", "") == "@alice"


def test_code_ends_only_where_it_ends():
    assert code("a `b` c") == "`` a `b` c ``"
    assert block(["```", "@alice", "````"]).startswith("`````text\n")
    assert code(" ") == block(["", " "]) == ""


def test_colours_and_controls_are_gone():
    assert code("\x1b[31mred\x1b[0m\x07") == "`red\ufffd`"
    assert block(["a\u202eb"]) == "```text\na\ufffdb\n```"


def test_a_quotation_keeps_its_paragraphs():
    assert quote("one\ntwo\n\nthree") == "> one two\n>\n> three"


def test_a_page_that_is_too_long_loses_its_last_parts_whole():
    page = bounded(["first", block(["x" * 80]), "last"], chars_max=40)
    assert page == "first\n\nlast\n\n…"
    assert len(page) <= 40
