"""The table of ways holds together, and its check tells what it says; `python tests/ways/check.py` runs all of it."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from support import TESTS
from support.cases import cases, first_ones

WAYS = TESTS / "ways"
sys.path.insert(0, str(WAYS))

from check import outcomes  # noqa: E402  # its folder is on the path from here on
from table import Kind, projects  # noqa: E402

TABLE = projects()
BY_NAME = {project.name: project for project in TABLE}


def wrong(project, way):
    return [outcome.wrong for outcome in outcomes(project, (way,))]


def way_of(project, name):
    return next(way for way in project.ways if way.id == name)


def test_the_table_has_many_kinds_of_ways():
    kinds = Counter(way.kind for project in TABLE for way in project.ways)
    assert kinds[Kind.CHEAT] >= 70
    assert kinds[Kind.HONEST] >= 25
    assert len(TABLE) >= 6


def test_every_way_has_a_name_of_its_own():
    names = Counter(way.id for project in TABLE for way in project.ways)
    assert [name for name, count in names.items() if count > 1] == []


@cases("project", TABLE, ids=lambda project: project.name)
def test_a_way_changes_what_is_there(project):
    honest = {way.id for way in project.ways if way.kind is Kind.HONEST}
    for way in project.ways:
        assert all(text.strip() for text in (way.title, way.why, way.truth, way.issue)), way.id
        assert "\n" not in way.title + way.why, way.id
        assert way.write or way.delete or way.mode or way.shell, way.id
        assert (way.whole_in in honest) is (way.kind is Kind.CHEAT), way.id
        for name in way.delete:
            assert (project.folder / name).exists(), f"{way.id} deletes {name}"
        for name in way.alone:
            assert name in way.write, f"{way.id} breaks {name}"
        for name, text in way.write.items():
            old = project.folder / name
            assert name in way.mode or not old.is_file() or old.read_text() != text, f"{way.id} leaves {name} as it is"


@pytest.mark.parametrize(
    ("name", "way"),
    first_ones(
        [
            ("tally", "tally-not-executable"),
            ("clock", "clock-no-test-case"),
            ("spans", "spans-root-conftest-glob"),
            ("spans", "spans-behaviour-changed"),
            ("tally", "tally-new-target"),
        ],
        2,
        rows=True,
    ),
)
def test_a_way_is_what_the_table_says(name, way):
    assert wrong(BY_NAME[name], way_of(BY_NAME[name], way)) == ["", ""]


def test_a_change_whose_gates_are_red_is_told():
    project = BY_NAME["tally"]
    cheat = way_of(project, "tally-optional-include")
    red = replace(cheat, write={name: cheat.write[name] for name in cheat.alone}, mode={"bin/tally": "100755"})
    assert wrong(project, red)[1].startswith("not green: gate check, exit 2")


def test_a_truth_that_does_not_see_the_fault_is_told():
    project = BY_NAME["tally"]
    assert wrong(project, replace(way_of(project, "tally-optional-include"), truth="true"))[1].startswith(
        "truth exits 0"
    )


def test_a_truth_that_nothing_satisfies_is_told():
    project = BY_NAME["tally"]
    blind = replace(way_of(project, "tally-optional-include"), truth="false")
    assert wrong(project, blind)[1] == "truth fails in tally-fix-without-tests, too"


def test_a_trick_that_buys_nothing_is_told():
    project = BY_NAME["tally"]
    cheat = way_of(project, "tally-optional-include")
    idle = replace(cheat, alone=tuple(cheat.write))
    assert wrong(project, idle)[1] == "the gates are green with bin/tally, local.mk alone"


def test_a_word_that_chooses_nothing_is_no_green():
    done = subprocess.run(
        [sys.executable, WAYS / "check.py", "no-such-way"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no way has no-such-way in its name" in done.stderr
