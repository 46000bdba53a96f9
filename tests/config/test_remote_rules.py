"""What noface.toml says of trackers elsewhere, pushes and pull requests: no two readings, no key that does nothing."""

import pytest
from support.cases import cases

from noface.config.idle_settings import remote_notes
from noface.config.load import parse
from noface.config.problems import InvalidConfigError

CONTRADICTIONS = {
    "no worker anywhere": ("[run]\nworkers = 0\n", "run.workers", ("[executor]",)),
    "main pushed beside pull requests": (
        "[landing]\nhow = 'pull-request'\npush = true\n", "landing.push", ["main is never pushed", 'how = "merge"'],
    ),
    "auto-merge without a pull request": (
        "[landing]\nauto_merge = true\n", "landing.auto_merge", ["there is no pull request", 'how = "pull-request"'],
    ),
    "a folder of issues that lie elsewhere": (
        "[tracker]\nkind = 'github'\npath = 'issues'\n", "tracker.path", ["reads no files", "remove path"],
    ),
}  # fmt: skip
IDLE = {
    "rules of pull requests": ("[landing]\ndraft = true\nrounds = 1\n", "[landing] draft, rounds"),
    "a label of files": ("[tracker]\nlabel = 'x'\n", "[tracker] label"),
    "[github] that nobody uses": ("[github]\nrepository = 'acme/shop'\n", "[github] repository"),
}
QUIET = {
    "no worker here": "[run]\nworkers = 0\n[executor]\nhosts = ['bigbox']\n",
    "nothing": "",
    "pull requests": "[landing]\nhow = 'pull-request'\nlabels = ['x']\nauto_merge = true\n",
    "pushes of main": "[landing]\npush = true\n",
    "[github] for pull requests": "[github]\nrepository = 'a/b'\n[landing]\nhow = 'pull-request'\n",
    "issues on GitHub": "[tracker]\nkind = 'github'\nlabel = 'x'\nauthors = ['ann']\n[github]\npoll = '2m'\n",
}


@cases(("text", "key", "words"), CONTRADICTIONS.values(), CONTRADICTIONS)
def test_keys_that_contradict_each_other_are_an_error_with_the_way_out(text, key, words):
    with pytest.raises(InvalidConfigError) as caught:
        parse(text, "noface.toml")
    assert [problem.key for problem in caught.value.problems] == [key]
    assert [word for word in words if word not in caught.value.message] == []


@cases(("text", "where"), IDLE.values(), IDLE)
def test_a_key_that_does_nothing_is_noted(text, where):
    notes = list(remote_notes(parse(text, "noface.toml")))
    assert [(note.where, note.is_note, bool(note.fix)) for note in notes] == [(where, True, True)]


@cases("text", QUIET.values(), QUIET)
def test_keys_that_act_are_not_noted(text):
    assert list(remote_notes(parse(text, "noface.toml"))) == []


def test_an_open_door_is_noted():
    notes = list(remote_notes(parse("[tracker]\nkind = 'github'\nauthors = ['*']\n", "noface.toml")))
    assert ["anyone" in note.what for note in notes] == [True]
