"""A repository that an earlier version was working on is read, shown and finished by this one.

`recordings/earlier_version` holds a copy of such a repository, cut off in the middle, and what the earlier version
showed of it; its README tells how both were made.
"""

import hashlib
import json
import os
import re
import sqlite3
import tarfile
from contextlib import closing

import pytest
from support import TESTS
from support.processes import wait_for
from support.project import Project

COPY = TESTS / "recordings" / "earlier_version" / "repository.tar.xz"
MADE_AT = "/tmp/noface-earlier/place"
NAMES_ITS_PLACE = (("attempts", "directory"), ("attempts", "record"), ("advice", "directory"), ("gate_memo", "result"))
USAGE = 2
FACT = re.compile(
    r"\b[A-Z]+_[A-Z_]+\b|\b(?:noface|git) [a-z-]+ (?:--[a-z-]+ )?[\w./-]*\d[\w./-]*|\b[\w-]+\.(?:txt|toml|md|log)\b"
)
"""What a text for people states whatever its wording: kinds of failure, commands on an issue or branch, files."""
STUCK = ("blocked", "approval", "skipped", "landing")
PROSE = {"reason", "carries", "options"}
"""Keys of JSON documents whose texts are sentences made for people when they are shown."""
NO_SUCH_BRANCH = {f"git diff ...noface/{issue}" for issue in (3, 8, 9, 18, 19)}
"""The earlier version named a branch for work that changed nothing, of which there is none."""
CHANGED = (
    (r"show .*", r"/branch", "a branch is named only where there is one"),
    (r"show \d+", r"noface show \d+", "the page of an issue does not name itself"),
    (r"show [\d.]+", r"git show [0-9a-f]+", "git shows nothing of a merge without --first-parent"),
    (
        r"policy.*",
        r"/transient/retries|/policy.*",
        "a provider's outage is waited out; AUTH tries no other model of a login",
    ),
    (r"policy.*", r"/person/next_steps", "who tries again is told that the test may be wrong"),
    (r"config show.*", r"/config/retry/transient_retries", "no number of retries bounds an outage"),
    (
        r"config show.*",
        r"/config/models/[\w-]+/(?:model|usd_per_mtok_(?:in|out))",
        "presets name the models of the day, at their prices",
    ),
    (r"config show.*", r"/config/gates/\d+/retries", "a test gate is run again once where nothing else is said"),
    (r"hints suggest.*", r".*", "what one issue alone had is no proposal"),
)
"""What this version says otherwise on purpose: the command, the key or fact of the earlier one, and why."""
SUBJECTS = {
    "3": "Write whatever is meant",
    "4": "Name it better",
    "5": "Alter the table",
    "6": "Tax less",
    "8.2": "Write right",
    "9": "Ask the busy one",
    "10": "Take long",
    "11": "Land late",
    "12": "Never begun",
    "13": "Asked for help",
    "14": "Drop the table",
    "15": "Judged at length",
    "16": "Reviewed at length",
    "17": "Change more than it may",
    "19": "Needs another",
}
"""What had not landed when the earlier version was cut off, and what lands of it in the end."""
CUT_OFF = ("10", "15")
"""The issues with an attempt that was under way at that moment: at work, and judged."""
SHOW = re.compile(r"show (.+) --json")
NOTES = [("3", 5, "code 33"), ("6", 2, "code 31"), ("13", 2, "thirteen.txt is the name"), ("14", 2, "drop nothing")]
"""What a person said of an issue, to this version or the earlier one, and the attempt that is told."""


def laid_out(folder):
    """Lay the copy out in `folder`, as if it had been made there: its state and its workspace name the place."""
    with tarfile.open(COPY) as archive:
        archive.extractall(folder, filter="data")
    project = Project(folder / "repo", folder, env={"TZ": "UTC"})
    digest = hashlib.sha256(os.fsencode(project.path / ".git")).hexdigest()[:10]
    (folder / "slots").mkdir()
    slots = (folder / "slot").rename(folder / "slots" / f"shop-{digest}")
    for file in slots.glob("*/.git/objects/info/alternates"):
        file.write_text(file.read_text().replace(MADE_AT, str(folder)))
    for table, column in NAMES_ITS_PLACE:
        change(project, f"UPDATE {table} SET {column} = replace({column}, ?, ?)", MADE_AT, str(folder))
    return project


def change(project, statement, *values):
    with closing(sqlite3.connect(project.state / "state.db")) as database, database:
        database.execute(statement, values)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """The copy, for what only looks at it."""
    return laid_out(tmp_path_factory.mktemp("seen"))


@pytest.fixture
def left(tmp_path):
    """The copy, to work on."""
    project = laid_out(tmp_path)
    yield project
    project.end()


def earlier(project):
    """What the earlier version showed of the copy at its place: by the words of the command, the exit code and text."""
    return json.loads((project.folder / "golden.json").read_text())


def shown(project, words):
    done = project.noface(*words.split())
    return {"code": done.returncode, "out": (done.stdout + done.stderr).replace(str(project.folder), "{place}")}


def facts(text):
    """What a text states: sentences may be worded better by now, and lines may break elsewhere."""
    return set(FACT.findall(" ".join(text.split())))


def lost(now, before, at=""):
    """Yield the keys of a JSON document whose values differ; a newer version may add keys, and word its prose better."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in before:
            prose = name in PROSE and type(now.get(name)) is type(before[name])
            yield from () if prose else lost(now.get(name, "missing"), before[name], f"{at}/{name}")
    elif isinstance(before, list) and isinstance(now, list) and len(now) == len(before):
        for number, (one, other) in enumerate(zip(now, before, strict=True)):
            yield from lost(one, other, f"{at}/{number}")
    elif now != before:
        yield at


def unexpected(words, names):
    """Return what of a command's differences no entry of CHANGED explains."""
    known = [name for command, name, _why in CHANGED if re.fullmatch(command, words)]
    return {name for name in names if not any(re.fullmatch(pattern, name) for pattern in known)}


def pages(project, words):
    """What a command shows; the overview of what is blocked with the pages that it leads to."""
    texts = [shown(project, words)]
    if words == "blocked":
        texts += [shown(project, f"blocked {issue}") for issue, status in project.statuses().items() if status in STUCK]
    return {"code": texts[0]["code"], "out": "\n".join(text["out"] for text in texts)}


@pytest.mark.parametrize(
    "verb", ["status", "blocked", "show", "why", "logs", "policy", "hints", "issues", "fsck", "run", "config show"]
)
def test_each_view_shows_what_the_earlier_version_showed(seen, verb):
    for words, before in earlier(seen).items():
        if words.startswith(verb):
            now = pages(seen, words)
            assert now["code"] == before["code"], words
            if words.endswith("--json") and before["code"] != USAGE:
                assert unexpected(words, lost(json.loads(now["out"]), json.loads(before["out"]))) == set(), words
            else:
                assert unexpected(words, facts(before["out"]) - facts(now["out"])) <= NO_SUCH_BRANCH, words


def test_the_copy_holds_what_the_earlier_version_called_its_answers_and_the_orders_of_what_was_under_way(seen):
    with closing(sqlite3.connect(seen.state / "state.db")) as database:
        stored = {
            json.loads(row[0])["kind"] for row in database.execute("SELECT action FROM attempts WHERE action > ''")
        }
        orders = {row[0] for row in database.execute("SELECT issue_id FROM attempts WHERE record IS NOT NULL")}
    assert {"RetryWithFeedback", "Escalate", "ThinkLonger", "WaitUntil", "AddContext", "BreakDown"} <= stored
    assert {"RequestApproval", "Review", "Land", "Skip", "Block"} <= stored
    assert orders >= {"10", "15"}


def as_a_person_would(project):
    """Answer all that waits for a person; the service that 15's gate needs is there, and the provider's time is up."""
    for words in (
        ["approve", "5"],
        ["reject", "6", "--note", "keep the test, code 31"],
        ["unblock", "3", "--note", "three.txt is meant, code 33", "--attempts", "2"],
        ["retry", "4"],
    ):
        done = project.noface(*words)
        assert done.returncode == 0, done.stderr
    (project.folder / "go").touch()
    change(project, "UPDATE issues SET until = 1 WHERE until IS NOT NULL")
    change(project, "UPDATE waits SET until = 1")


def past(attempts):
    """What is settled of attempts, whatever a person or a review decides on them later."""
    settled = ("number", "model", "think", "outcome", "charged", "failure", "commit", "started_at", "seconds", "gates")
    return [{name: attempt[name] for name in settled} for attempt in attempts]


def test_what_the_earlier_version_left_is_finished_and_nothing_is_done_twice(left):
    before = {
        m[1]: json.loads(text["out"])["attempts"]
        for words, text in earlier(left).items()
        if (m := SHOW.fullmatch(words))
    }
    merged = left.git("log", "--first-parent", "--format=%s", "main").splitlines()
    as_a_person_would(left)
    left.run(code=3)  # 18 was skipped, which a person should know of

    assert left.statuses() == {issue: "skipped" if issue == "18" else "merged" for issue in before}
    count = len(left.git("log", "--first-parent", "--format=%s", "main").splitlines()) - len(merged)
    landed = left.git("log", "--first-parent", "--format=%B", f"-{count}", "main").splitlines()
    assert [subject for subject in SUBJECTS.values() if sum(subject in line for line in landed) != 1] == []
    after = {issue: left.attempts(issue) for issue in before}
    for issue, attempts in after.items():
        assert [attempt["number"] for attempt in attempts] == list(range(1, len(attempts) + 1))
        if issue not in CUT_OFF:
            assert list(lost(past(attempts[: len(before[issue])]), past(before[issue]))) == [], issue
    more = {issue: len(after[issue]) - len(before[issue]) for issue in before}
    assert {issue for issue in more if more[issue] == 1} == {*SUBJECTS} - {"5", "11", "15", "16"}
    assert set(more.values()) == {0, 1}

    assert not (left.folder / "paid").exists(), "a worker was paid again for what it had done"
    assert after["10"][0]["outcome"] == "INTERRUPTED"
    assert left.git("show", "refs/noface/issues/10/1:half.txt") == "half"
    assert after["13"][1]["model"] == "big"  # as the person said to the earlier version
    for issue, attempt, note in NOTES:
        assert note in left.prompt(issue, attempt)
    assert left.git("status", "--porcelain") == ""
    assert left.shown("fsck")["findings"] == []
    wait_for(lambda: not left.processes())


def test_fsck_settles_what_the_earlier_version_was_cut_off_in(left):
    assert left.noface("fsck", "--repair").returncode == 0
    assert left.statuses()["11"] == "merged"
    assert left.attempts("10")[0]["outcome"] == "INTERRUPTED"
    assert {finding["severity"] for finding in left.shown("fsck")["findings"]} <= {"note"}
    assert not (left.path / ".git/index.lock").exists()
