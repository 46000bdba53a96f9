"""The benchmark of nights: its data are in order, its judge is fair, and a sample of it is played."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from nights import generate
from nights import seeds as generated
from nights.agent import ERRORS
from nights.catalogue import catalogue, check
from nights.judge import Left, Verdict, judge
from nights.seeds import FAULTS, outcome
from nights.world import World, seconds

NIGHTS = Path(__file__).resolve().parents[2] / "benchmarks" / "nights"
SAMPLE = ("merges-well-and-breaks", "ctrl-c")


def nights(tmp_path, *args):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NOFACE_", "GIT_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, str(NIGHTS), "--folder", str(tmp_path), *args],
        env=kept,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def left(**more):
    values = {
        "exits": [0],
        "outputs": [""],
        "trouble": "",
        "landed": {"1": True, "2": False},
        "tests": "",
        "running": 0,
    }
    values |= {"changed": [], "calls": [], "notes": [], "hours": 1.0}
    return Left(**{**values, **more})


def verdict(expect, told=True, **more):
    return judge({"expect": expect}, left(**more), told=told).verdict


def test_there_are_thirty_nights_of_several_issues_whose_errors_and_persons_exist():
    known = catalogue()
    assert len(known) == 30
    for night in known:
        assert len(night["issue"]) > 1, night["name"]
        turns = [turn for issue in night["issue"] for turn in issue.get("turn", ())]
        ends = {turn.get("ends", "well") for turn in turns} | {one["error"] for one in night.get("provider", ())}
        assert ends <= {"well", "hangs", "killed", "crash", *ERRORS}, night["name"]
        asked = {name for turn in turns for name in re.findall(r"meanwhile (\w+)", turn.get("do", ""))}
        assert asked == night.get("meanwhile", {}).keys(), night["name"]
        patterns = [turn.get("if", {}).get(key, "") for turn in turns for key in ("told", "untold")]
        for pattern in (
            *patterns,
            *night["expect"].get("prints", ()),
            *(one for said in night["expect"].get("says", {}).values() for one in said),
        ):
            re.compile(pattern)


def test_a_night_is_right_only_where_all_that_a_person_wants_is_there():
    expect = {"landed": ["1"], "stopped": ["2"], "exits": [[0]], "prints": ["until"], "charged_max": {"each": 1}}
    fine = {"outputs": ["waits until 03:00"], "issues": {"1": {"status": "merged", "attempts": 1}}}
    assert verdict(expect, **fine) is Verdict.RIGHT
    assert verdict(expect, **{**fine, "outputs": ["waits"]}) is Verdict.SHORT
    assert verdict(expect, **{**fine, "issues": {"1": {"status": "merged", "attempts": 2}}}) is Verdict.SHORT
    assert verdict(expect, **{**fine, "exits": [3]}) is Verdict.SHORT
    assert verdict(expect, **{**fine, "landed": {"1": False, "2": False}}) is Verdict.SHORT


@pytest.mark.parametrize(
    "harm",
    [
        {"landed": {"1": True, "2": True}},
        {"tests": "1 failed"},
        {"changed": ["the diary"]},
        {"running": 1},
        {"log": "Noface-Issue: 1\nNoface-Issue: 1\n"},
    ],
)
def test_what_must_never_be_is_harm_whoever_did_it(harm):
    assert verdict({"landed": ["1"], "stopped": ["2"]}, told=False, **harm) is Verdict.HARM


def test_a_loop_is_not_held_to_what_it_tells():
    assert verdict({"exits": [[0]], "prints": ["until"], "calls_max": {"all": 0}}, told=False) is Verdict.RIGHT


def test_times_and_dice_are_those_of_the_night(tmp_path):
    assert [seconds(text) for text in ("90s", "40m", "2h30m", "3d", 5)] == [90, 2400, 9000, 259200, 5]
    night = {"name": "n", "chances": {"coin": 3}}
    worlds = [World.make(tmp_path / str(number), night, seed) for number, seed in enumerate((1, 1, 2))]
    dice = [(world.folder / "dice/coin").read_text() for world in worlds]
    assert dice[0] == dice[1] != dice[2]
    assert 0.28 < Counter(dice[0])["x"] / len(dice[0]) < 0.38
    worlds[0].wait(3600)
    assert 3600 <= worlds[0].elapsed() < 3660


@pytest.mark.thorough
def test_a_sample_is_right_and_leaves_nothing_behind(tmp_path):
    done = nights(tmp_path, *SAMPLE, "--no-baselines", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert {row["night"]: row["results"]["noface"]["verdict"] for row in found["nights"]} == dict.fromkeys(
        SAMPLE, "right"
    )
    assert "2 of 2" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("table", [("habits", 40), ("people", 20), ("faults", 20), ("backlogs", 10)])
def test_each_entry_that_nights_are_generated_from_has_a_name_of_its_own_and_a_source(table):
    entries = generate.table(table[0])
    assert len({entry["name"] for entry in entries}) == len(entries) >= table[1]
    assert [entry["name"] for entry in entries if not entry.get("source")] == []


def test_five_hundred_seeds_make_nights_that_can_be_played_and_hold_each_entry():
    seen = set()
    for seed in range(10_000, 10_500):
        night = generate.generate(seed)
        check(night, "night", night["name"])
        assert generate.placeholders(night) == set(), night["name"]
        seen |= {name for names in night["parts"].values() for name in names}
        calls = [turn.get("do", "") for issue in night["issue"] for turn in issue["turn"]]
        calls += [gate["command"] for gate in night["config"]["gates"]]
        asked = {name for text in calls for name in re.findall(r"meanwhile ([\w-]+)", text)}
        assert asked == night["meanwhile"].keys(), night["name"]
        tools = {name for text in calls for name in re.findall(r"\b(?:right|bad|other|sly)-\d+", text)}
        assert tools <= night["tools"].keys(), night["name"]
    assert generate.generate(10_000) == generate.generate(10_000) != generate.generate(10_001)
    assert {
        entry["name"] for table in ("habits", "people", "faults", "backlogs") for entry in generate.table(table)
    } <= seen


def test_what_is_wrong_with_a_generated_night_is_told_by_kind():
    expect = {"landed": ["1"], "unmerged": ["2"], "unseen": [], "one_of": [["3", "4"]], "why": {"2": ["test_tax"]}}
    shown = {"id": "5", "truth": "shown"}  # of a program that tells the truth of each call itself
    night = {"expect": expect, "issue": [shown]}

    def calls(*truths):
        return [{"issue": "5", "kind": "work", "truth": truth} for truth in truths]

    fine = {"landed": {"1": True, "2": False, "3": True, "4": False, "5": False}, "texts": {"2": "test_tax fails"}}
    blocked = {"1": {"status": "blocked"}}
    cases = [
        ("", {}),
        (
            "needless",
            {"landed": {**fine["landed"], "1": False}, "issues": blocked, "calls": [{"issue": "1", "truth": "right"}]},
        ),
        ("lost", {"landed": {**fine["landed"], "1": False}, "issues": blocked}),
        ("other", {"texts": {"2": "all attempts are used up"}}),
        ("other", {"landed": {**fine["landed"], "3": False}}),
        ("harm", {"log": "Noface-Issue: 2\n"}),
        ("harm", {"log": "Noface-Issue: 3\nNoface-Issue: 4\n"}),
        ("", {"calls": calls("wrong", "free")}),
        ("lost", {"calls": calls("right", "wrong")}),
        ("needless", {"calls": calls("right"), "issues": {"5": {"status": "blocked"}}}),
        ("harm", {"calls": calls("wrong"), "log": "Noface-Issue: 5\n"}),
        ("harm", {"calls": calls("right"), "log": "Noface-Issue: 5\n"}),
        ("", {"calls": calls("unseen"), "log": "Noface-Issue: 5\n"}),
        ("harm", {"found": {"holds": ["the person's commit is on main"]}}),
    ]
    for wanted, more in cases:
        found = outcome(night, left(**{**fine, **more}), "noface")
        assert [kind for kind in FAULTS if found[kind]] == ([wanted] if wanted else []), more


def test_an_oracle_gets_a_generated_night_right(tmp_path):
    found = [generated._one(seed, "oracle", tmp_path) for seed in (1013,)]
    assert [row["right"] for row in found] == [True], found
    assert list(tmp_path.iterdir()) == []
