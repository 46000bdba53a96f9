"""What comes of honest and of other tempers: who obeys pays nothing, and nothing lands that was said to be made up."""

import sys
from pathlib import Path

import pytest
from support import temper
from support.project import PYTEST

NUMBERS = range(30)
MODEL = '\n[models.live]\nagent = "command"\ncommand = "{python} {program} {name}"\n'


def night(project, name, numbers, *, reviewer=True):
    """Play a night of a temper; return how its issues of each kind ended, and its charged failures."""
    temper.lay_out(project.path, numbers)
    role = '[roles]\nreviewer = "live"\nplanner = "live"\n' if reviewer else ""
    command = MODEL.format(python=sys.executable, program=Path(temper.__file__), name=name)
    project.config(f"{command}{role}", gate=PYTEST)
    file = project.path / "noface.toml"
    file.write_text(
        file.read_text().replace('default_model = "small"\nescalation_model = "big"', 'default_model = "live"')
    )
    for number in numbers:
        project.issue(f"{number:02}", *temper.issue_of(number))
    project.commit()
    done = project.noface("run")
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return ended(project, numbers)


def ended(project, numbers):
    statuses = project.statuses()
    kinds = {kind: set() for kind in temper.KINDS}
    charged = dict.fromkeys(temper.KINDS, 0)
    for number in numbers:
        name = f"{number:02}"
        kinds[temper.kind_of(number)].add(statuses[name])
        failed = [each for each in project.attempts(name) if each["failure"] is not None and each["charged"]]
        charged[temper.kind_of(number)] += len(failed)
    return {kind: "/".join(sorted(how)) for kind, how in kinds.items()}, charged


LANDS = dict.fromkeys(temper.KINDS, "merged") | {"person": "blocked", "already": "approval"}
TABLE = {
    "obeys": LANDS,
    "disobeys": LANDS | {"person": "merged", "already": "blocked"},  # it says nothing of what it invents, nor why
    "asks": LANDS | {"new": "blocked"},  # a person is asked what a person is to know
    "third": LANDS,
    "invents": LANDS | {"person": "approval"},
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", TABLE)
def test_thirty_issues_end_as_the_table_says(project, name):
    how, charged = night(project, name, NUMBERS)
    print(name, how, charged)
    assert how == TABLE[name]
    if name != "disobeys":
        assert not any(charged.values())


def test_who_obeys_is_charged_for_nothing_without_a_reviewer_either(project):
    how, charged = night(project, "obeys", range(6), reviewer=False)
    assert how == LANDS | {"opposite": "approval"}  # nobody but a person can say that the issue asks for it
    assert not any(charged.values())
    project.noface("approve", "01", "02")
    project.noface("retry", "03", "--note", temper.ANSWER)
    project.run()
    assert ended(project, range(6))[0] == dict.fromkeys(temper.KINDS, "merged") | {"already": "skipped"}
