"""The filters that keep data data, and the cuts that say so: every text, however it is made, in its bounds."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from noface.prompts.text import clean, code, ends_of, excerpt, fenced, line, mark_of, sentence, shorten, size, tidy

MARKDOWN = MarkdownIt("commonmark")
MARKUP = st.text(st.sampled_from("`~#\n ab\r>-+*=_<![]:.)1\\\t\x00\x1b[m\u2028\x85é"), max_size=60)


def blocks(text):
    return [token.type for token in MARKDOWN.parse(text) if not token.type.endswith("_close")]


@given(MARKUP)
def test_no_text_gets_out_of_its_fence(text):
    shown = fenced(text)
    (token,) = MARKDOWN.parse(shown)
    assert token.type == "fence"
    assert token.content.rstrip("\n") == clean(text).rstrip("\n")
    fence, *body, last = shown.split("\n")
    assert fence == last
    assert not [row for row in body if row.strip().startswith(fence)]


@given(MARKUP.map(lambda text: f"{text}\nz"))
def test_a_line_is_a_paragraph_wherever_it_stands(text):
    assert len(line(text).splitlines()) == 1
    assert blocks(line(text)) == ["paragraph_open", "inline"]
    assert blocks(f"- {line(text)}") == ["bullet_list_open", "list_item_open", "paragraph_open", "inline"]
    assert [token.tag for token in MARKDOWN.parse(f"said\n{line(text)}") if token.nesting == 1] == ["p"]


@given(MARKUP.map(lambda text: f"{text}\nz"))
def test_code_is_code_to_its_end(text):
    for before in ("", "- ", "At "):
        tokens_ = MARKDOWN.parse(f"{before}{code(text)}, it says")
        inline = next(token for token in tokens_ if token.type == "inline")
        shown = [child for child in inline.children if child.type == "code_inline"]
        assert len(shown) == 1
        assert inline.children[-1].content == ", it says"


@given(st.text(max_size=2000))
def test_a_line_is_one_line_however_it_is_written(text):
    assert len(line(text).splitlines()) <= 1
    assert len(line(text)) <= 505
    assert len(line(text, 20)) <= 25


@given(st.text(max_size=400))
def test_cleaning_twice_changes_nothing_more(text):
    once = clean(text)
    assert clean(once) == once
    once.encode("utf-8")


def test_what_a_person_could_not_see_is_written_out():
    assert clean("a\u202eb\U000e0041") == "a<U+202E>b<U+E0041>"
    assert clean("\x1b[31mred\x1b[0m\x00\x07 \x9b1m\x80end") == "red end"
    assert clean("one\r\ntwo\rthree\u2028four\x85five") == "one\ntwo\nthree\nfour\nfive"
    assert clean("half \ud800 of a pair") == "half \ufffd of a pair"


def test_a_long_line_is_cut_with_a_mark():
    assert line("word " * 1000).endswith(" […]")
    assert line("x" * 500) == "x" * 500
    assert line(" " * 50_000 + "x") == "x"
    assert line("x" + " " * 50_000 + "y").endswith(" […]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Rules", "\\# Rules"),
        ("- an item", "\\- an item"),
        ("-1 is not 2", "-1 is not 2"),
        ("1. first", "\\1. first"),
        ("1.5 is not 2", "1.5 is not 2"),
        ("<b>", "\\<b>"),
        ("a # b", "a # b"),
        ("---", "\\---"),
        ("", ""),
    ],
)
def test_only_what_would_open_something_gets_a_backslash(text, shown):
    assert line(text) == shown


def test_a_sentence_ends_where_the_template_ends_it():
    assert f"{sentence('It failed.')}." == "It failed."
    assert f"{sentence('It failed')}." == "It failed."


def test_code_holds_backquotes_and_says_when_there_is_nothing():
    assert code("a") == "`a`"
    assert code("a`b") == "``a`b``"
    assert code("`a` ``b``") == "``` `a` ``b`` ```"
    assert code(" \n") == "(nothing)"


def test_runs_of_backquotes_are_bounded_so_that_fences_are():
    assert len(fenced("`" * 100_000)) < 200


def test_blank_lines_are_collapsed_outside_fences_only():
    text = "\n\n# A  \n\n\n\nb\n````\n\n\n\n```\n  \n````\n\n\nc\n\n"
    assert tidy(text) == "# A\n\nb\n````\n\n\n\n```\n  \n````\n\nc\n"
    assert tidy("~~~\n\n\n```\n~~~\n\n\nx") == "~~~\n\n\n```\n~~~\n\nx\n"


@given(st.text("abé\U0001f600\n", max_size=600), st.integers(0, 900), st.integers(2, 700))
def test_a_cut_text_keeps_to_its_bytes_and_counts_what_is_gone(text, bytes_max, more):
    made, left_out = shorten(*(ends := ends_of(text, 2 * bytes_max + more))[:1], bytes_max, ends[1])
    assert size(made) <= max(bytes_max, size(mark_of(len(text))))
    if not left_out:
        assert made == text.rstrip("\n")
        return
    head, tail = made.split(mark_of(left_out))
    assert text.startswith(head.removesuffix("\n"))
    assert text.rstrip("\n").endswith(tail.removeprefix("\n"))


def test_both_ends_of_a_long_text_stay():
    text = "\n".join(f"line {number}" for number in range(100))
    head, tail = re.split(r"\n\[… \d+ characters left out …\]\n", excerpt(text, 300))
    assert head.startswith("line 0\n")
    assert tail.endswith("\nline 99")
    coloured = excerpt("".join(f"\x1b[31m\x1b[1m<{number}>\x1b[0m" for number in range(100)), 500)
    assert ["<0>" in coloured, coloured.count("<1>"), coloured.count("<99>")] == [True, 1, 1]
