"""What is cut when a prompt is too long: in which order, how far, and that it is said."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import first_ones

from noface.engine.prompt_context import built_in
from noface.model.failure import PriorFailure
from noface.model.gate import GateSpec
from noface.model.issue import Issue
from noface.model.start import StartPoint, StartReason
from noface.prompts.data import EarlierForm, PromptData, Quote, RelatedFile, Situation
from noface.prompts.render import render
from noface.prompts.text import BYTES_A_TOKEN, allot, size

TEMPLATES = built_in()
WORK = [situation for situation in Situation if not situation.asks]
ORDER = (
    "the older attempts",
    "lessons",
    "the diff of attempt 2",
    "what attempt 9 printed",
    "the advice “Diagnosis”",
    "the note",
    "the issue's text",
)


def prior(number, message="2 failed", excerpt="E assert 1 == 2"):
    return PriorFailure(
        number,
        "small",
        "TEST_FAILURE",
        message,
        "src/a.py:3",
        excerpt,
        ("tests/test_a.py::test_one",),
        signature=str(number),
    )


def full(chars=1000, rows=8):
    """Data that use everything, each text of so many characters."""
    text = "".join(f"{'w' * 40} {number}\n" for number in range(chars // 40 + 1))[:chars]
    row = "r" * (chars // rows)
    earlier = (*(prior(number, row) for number in range(1, rows + 1)), prior(9, excerpt=text))
    return PromptData(
        issue=Issue("7", "Mend the sum", body=text),
        gates=(GateSpec("unit", "pytest -q"),),
        earlier=earlier,
        start=StartPoint(StartReason.BEST_SO_FAR, 2, "c"),
        patch=text,
        note=text,
        advice=(Quote("Diagnosis", text, "large"),),
        lessons=tuple(f"{number}{row}" for number in range(rows)),
        files=(RelatedFile("src/a.py", "it is named"),),
        hints=("Check schema files.",),
        report_example='{"status": "done"}',
    )


def tokens(text):
    return -(-size(text) // BYTES_A_TOKEN)


def bare(data):
    empty = {name: "" for name in ("patch", "note") if hasattr(data, name)}
    earlier = tuple(replace(one, excerpt="") for one in data.earlier[-1:])
    return replace(data, issue=replace(data.issue, body=""), earlier=earlier, advice=(), lessons=(), others=(), **empty)


def test_it_is_cut_in_its_order_the_issue_s_text_last():
    data = full()
    whole = tokens(render(Situation.RETRY, TEMPLATES, data, 1_000_000).text)
    least = tokens(render(Situation.RETRY, TEMPLATES, bare(data), 1_000_000).text)
    seen = []
    for limit in range(whole, least + 600, -20):
        prompt = render(Situation.RETRY, TEMPLATES, data, limit)
        assert tokens(prompt.text) <= limit
        seen += [said.rsplit(": ", 1)[0] for said in prompt.cuts]
    assert tuple(dict.fromkeys(seen)) == ORDER


def test_every_cut_is_marked_in_the_text_and_told():
    prompt = render(Situation.RETRY, TEMPLATES, full(4000), 4000)
    told = [re.search(r": (\d+) of (\d+) (characters )?left out$", said) for said in prompt.cuts]
    assert len(told) >= 6
    assert all(told)
    for found in told:
        assert re.search(rf"\[… {found[1]} (characters|lessons|earlier attempts) left out …\]", prompt.text)
    assert prompt.text.count(" left out …]") == len(told)


def test_a_cut_names_what_it_was_and_how_much_is_gone():
    data = replace(full(100), earlier=full(100).earlier[1:2], patch="", note="d" * 40_000)
    prompt = render(Situation.RETRY, TEMPLATES, data, 5000)
    (said,) = prompt.cuts
    gone = int(re.fullmatch(r"the note: (\d+) of 40000 characters left out", said)[1])
    assert sum(map(len, re.findall("d{9,}", prompt.text))) == 40_000 - gone
    assert 5000 - tokens(prompt.text) < 110


def test_rules_hints_and_the_report_are_never_cut():
    data = replace(full(20_000), note="", hints=tuple(f"Hint {number}." for number in range(30)))
    prompt = render(Situation.RETRY, TEMPLATES, data, 1500)
    least = render(Situation.RETRY, TEMPLATES, bare(data), 1_000_000).text
    assert prompt.text[prompt.text.index("## Hints") :] == least[least.index("## Hints") :]


def test_the_oldest_attempts_go_first():
    prompt = render(Situation.RETRY, TEMPLATES, full(4000), 7000)
    numbers = [int(found) for found in re.findall(r"^- Attempt (\d)", prompt.text, re.MULTILINE)]
    assert numbers == list(range(numbers[0], 9))
    assert numbers[0] > 1
    assert f"[… {numbers[0] - 1} earlier attempts left out …]" in prompt.text


def test_what_is_told_of_older_attempts_has_a_limit_of_its_own():
    data = replace(full(), earlier_form=EarlierForm.FULL_OUTPUT, earlier_bytes_max=800)
    prompt = render(Situation.RETRY, TEMPLATES, data, 1_000_000)
    assert prompt.text.count("- Attempt ") == 3
    assert prompt.cuts == ("the older attempts: 5 of 8 left out",)


@given(
    st.sampled_from(list(Situation)),
    st.lists(st.integers(0, 12_000), min_size=10, max_size=10),
    st.sampled_from(["x", "é", "word\n", "`", "\U0001f600 ", "\n"]),
    st.integers(0, 12),
    st.integers(0, 9_000),
)
def test_it_fits_wherever_the_fixed_parts_fit(situation, sizes, unit, rows, tokens_max):
    texts = [(unit * chars)[:chars] for chars in sizes]
    common = {
        "issue": Issue("7", "Mend the sum", body=texts[0]),
        "gates": (GateSpec("unit", "pytest -q"),),
        "earlier": (
            *(prior(number, "m" * 200, texts[1]) for number in range(1, rows + 1)),
            prior(99, excerpt=texts[2]),
        ),
        "patch": texts[3],
        "note": texts[4],
        "advice": (Quote("Diagnosis", texts[5]), Quote("Plan", texts[6])),
        "lessons": ("l" * 300,) * rows,
        "files": tuple(RelatedFile(f"f{number}", texts[7]) for number in range(rows % 4)),
        "earlier_form": list(EarlierForm)[rows % 3],
    }
    data = (
        PromptData(answer_example="{}", others=("o" * 200,) * rows, **common)
        if situation.asks
        else PromptData(start=StartPoint(StartReason.BEST_SO_FAR, common["earlier"][0].number, "c"), **common)
    )
    prompt = render(situation, TEMPLATES, data, tokens_max)
    fixed = tokens(render(situation, TEMPLATES, bare(data), 10_000_000).text)
    assert tokens(prompt.text) <= max(tokens_max, fixed)
    if tokens(prompt.text) > tokens_max:
        assert re.fullmatch(r"even so it is \d+ bytes long; the limit is \d+", prompt.cuts[-1])
    condensed = rows > 0 and len(texts[1]) > 2000 and common["earlier_form"] is EarlierForm.FULL_OUTPUT
    marked = "left out …]" in prompt.text or any("all of it" in said for said in prompt.cuts)
    unseen = situation is Situation.RESUME  # it shows no diff, cut or not
    assert (marked or unseen) if prompt.cuts else (condensed or not marked)


def test_where_not_even_the_marks_fit_whole_sections_go_and_it_is_told():
    data = full(2000)
    least = tokens(render(Situation.RETRY, TEMPLATES, bare(data), 1_000_000).text)
    prompt = render(Situation.RETRY, TEMPLATES, data, least)
    assert tokens(prompt.text) <= least
    assert "the older attempts: all of it left out" in prompt.cuts
    assert "Your previous attempt failed with: TEST_FAILURE: 2 failed." in prompt.text


@pytest.mark.parametrize("situation", first_ones(WORK, 2))
def test_texts_of_100_mb_are_cut_in_time_that_grows_with_what_is_kept(situation):
    huge = "x" * 100_000_000
    failure = PriorFailure(1, "small", "TEST_FAILURE", huge, huge, huge, (huge,))
    data = PromptData(
        issue=Issue("7", huge, body=huge),
        gates=(GateSpec("unit", "pytest -q"),),
        earlier=(failure, failure),
        patch=huge,
        note=huge,
        advice=(Quote(huge, huge, huge),),
        lessons=(huge,),
        files=(RelatedFile(huge, huge),),
    )
    prompt = render(situation, TEMPLATES, data, 20_000)
    assert 15_000 < tokens(prompt.text) <= 20_000
    assert all(len(said) < 200 for said in prompt.cuts)


def test_a_template_that_shows_a_text_twice_is_kept_within_the_limit_too():
    template = "{{ issue.body | fenced }}\n\nAgain:\n\n{{ issue.body | fenced }}\n"
    data = replace(full(), issue=Issue("7", "Mend the sum", body="b" * 10_000))
    prompt = render(Situation.FIRST, {"first.md.j2": template}, data, 1000)
    assert 900 < tokens(prompt.text) <= 1000


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 10)), max_size=10), st.integers(0, 20_000))
def test_room_is_divided_to_the_last_byte_and_no_part_gets_less_than_its_share(parts, room):
    needs, shares = [need for need, _ in parts], [share for _, share in parts]
    given_ = allot(needs, shares, room)
    assert sum(given_) <= max(room, 0) or all(
        got <= room * share // 100 for got, share in zip(given_, shares, strict=True)
    )
    for need, share, got in zip(needs, shares, given_, strict=True):
        assert min(need, room * share // 100) <= got <= need
