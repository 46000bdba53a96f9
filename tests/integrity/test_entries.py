"""What data of tests has lost, in any format: cases that go are found, what is only written otherwise is not.

On the newest 150 commits each of 72 public projects (10,800 without merges; 705 touch such data) this finds something
in 14 (0.13 %), of which 8 speak of tests or of what they take away. On 14,593 commits of the 25 of them that keep most
data for their tests, in 50 (0.34 %), of which 27 speak of it: mostly data that is really gone.
"""

import json

import pytest
from support.cases import cases

from noface.integrity.entries import all_values, fewer_values, is_data

ROWS = [{"cents": cents, "text": f"{cents / 100:.2f} EUR"} for cents in (0, 5, 17, 250, 3211, 99999)]
JSON = json.dumps(ROWS, indent=2)
YAML = "".join(f"- cents: {row['cents']}\n  text: {row['text']}\n" for row in ROWS)
TOML = "".join(f'[[case]]\ncents = {row["cents"]}\ntext = "{row["text"]}"\n\n' for row in ROWS)
CSV = "cents,text\n" + "".join(f"{row['cents']},{row['text']}\n" for row in ROWS)
XML = (
    "<cases>" + "".join(f'<case cents="{row["cents"]}"><text>{row["text"]}</text></case>' for row in ROWS) + "</cases>"
)
CODE = "CASES = [\n" + "".join(f"    ({row['cents']}, {row['text']!r}),\n" for row in ROWS) + "]\n"
GOLDEN = "Receipt\n\n  2 apples   2.50\n  1 pear     0.05\n\ntotal 2.55\n"
SNAP = "exports[`price 1`] = `\n<b>\n  2.50 EUR\n</b>\n`;\n\nexports[`total 1`] = `\n<i>\n  3 of 4\n</i>\n`;\n"
NEW_TEST = "def test_total():\n    assert total([1, 2]) == 3\n"


def lost(main, now):
    data = [path for path, text in main.items() if is_data(path) and now.get(path) != text]
    return [(loss.path, loss.how) for loss in fewer_values(all_values(main), all_values(now), data)]


@cases(
    ("path", "text", "now", "how"),
    [
        ("tests/cases.json", JSON, "[]", "holds nothing any more (18 values before)"),
        ("tests/one.json", "[42]", "[]", "holds nothing any more (1 value before)"),
        ("tests/cases.json", JSON, json.dumps(ROWS[:2]), "holds 6 in place of 18 values"),
        ("tests/cases.json", JSON, json.dumps(ROWS[:1] * 6), "holds 3 in place of 13 different values"),
        ("tests/cases.json", JSON, None, "is gone (it held 18 values)"),
        ("tests/cases.yaml", YAML, YAML[: YAML.index("- cents: 17")], "holds 6 in place of 18 values"),
        ("tests/cases.yaml", YAML, "".join(f"# {line}\n" for line in YAML.split("\n")), "holds nothing any more"),
        ("tests/cases.toml", TOML, "case = []\n", "holds 1 in place of 24 values"),
        ("tests/cases.csv", CSV, "cents,text\n0,0.00 EUR\n", "holds 5 in place of 20 values"),
        ("tests/cases.xml", XML, "<cases></cases>", "holds 2 in place of 18 values"),
        ("tests/golden/receipt.txt", GOLDEN, "", "holds nothing any more (9 values before)"),
        ("tests/golden/receipt.txt", GOLDEN, "Receipt\n", "holds 1 in place of 9 values"),
        ("tests/golden/one.txt", "42\n", None, "is gone (it held 1 value)"),
        ("web/__snapshots__/a.test.js.snap", SNAP, "// Jest Snapshot v1\n", "holds nothing any more"),
        ("tests/golden/brackets.txt", "[[]]\n[[][]]\n", "", "holds nothing any more (2 values before)"),
        ("tests/golden/shot.png", "\0", None, "is gone (it held 1 value)"),
    ],
)
def test_data_that_is_gone_emptied_or_has_lost_most_is_found_also_beside_a_new_test(path, text, now, how):
    after = {"tests/test_total.py": NEW_TEST} | ({path: now} if now is not None else {})
    ((where, said),) = lost({path: text}, after)
    assert where == path
    assert said.startswith(how)


FORMS = {"cases.json": JSON, "cases.yaml": YAML, "cases.toml": TOML, "cases.csv": CSV, "cases.xml": XML}


@pytest.mark.parametrize("now", FORMS)
@pytest.mark.parametrize("main", FORMS)
def test_data_that_is_converted_has_lost_nothing(main, now):
    assert lost({f"tests/{main}": FORMS[main]}, {f"tests/new-{now}": FORMS[now]}) == []


@cases(
    ("main", "now"),
    [
        ({"tests/a.json": JSON}, {"tests/a.json": json.dumps(ROWS, separators=(",", ":"))}),  # minified
        ({"tests/a.json": JSON}, {"tests/a.json": json.dumps(ROWS, indent=8)}),
        (
            {"tests/a.json": json.dumps(["grün\nblau", "ä", 1, 2])},
            {"tests/a.yaml": "- |\n  grün\n  blau\n- ä\n- 1\n- 2\n"},
        ),
        ({"tests/a.json": JSON}, {"tests/data/b.json": JSON}),  # moved
        ({"tests/a.json": JSON}, {"tests/test_price.py": CODE + NEW_TEST}),  # put into code
        ({"tests/a.json": JSON}, {f"tests/a/{n}.json": json.dumps(row) for n, row in enumerate(ROWS)}),  # split
        ({f"tests/a/{n}.json": json.dumps(row) for n, row in enumerate(ROWS)}, {"tests/a.json": JSON}),  # merged
        ({"tests/a.json": JSON}, {"tests/a.json": json.dumps(ROWS[:4])}),  # keeps more than half
        (
            {"tests/a.txt": GOLDEN},
            {"tests/a.txt": "Rechnung\n\n2 Äpfel 2,50\n1 Birne 0,05\nSumme 2,55\n"},
        ),  # other output
        ({"tests/a.txt": "one two\n"}, {"tests/a.txt": "three\n"}),
        ({"tests/shot.gif": "\0"}, {"tests/shot.png": "\0"}),
        ({".github/tests/a.json": JSON, "tests/Makefile": "all: a b c\n"}, {}),
        ({"tests/empty/.gitkeep": "", "tests/none.json": ""}, {}),
    ],
)
def test_data_that_is_written_otherwise_or_stands_elsewhere_has_lost_nothing(main, now):
    assert lost(main, now) == []


def test_what_one_file_gains_makes_up_for_one_that_is_lost_not_for_two():
    twice = {"tests/a.json": JSON, "tests/b.json": JSON}
    assert lost(twice, {"tests/c.json": JSON}) == [("tests/b.json", "is gone (it held 18 values)")]


@pytest.mark.parametrize("text", ["", "\n\n", '"' * 9_999, "\\u12", "<" * 9_999, "a." * 9_999, "a" * 9_999 + ":"])
def test_any_text_can_be_read(text):
    assert all_values({"tests/a.txt": text})["tests/a.txt"].total() >= 0
