"""What noface.toml says of trackers elsewhere, pushes and pull requests: no two readings, no key that does nothing."""

import pytest
from support.cases import cases

from noface.config.load import parse
from noface.config.problems import InvalidConfigError

CONTRADICTIONS = {
    "no worker anywhere": ("[run]\nworkers = 0\n", "run.workers", ("[executor]",)),
    "a cluster that anybody may pass for": (
        "[executor]\naddress = 'tls://h:8786'\n", "executor.address", ["certificates", "ca.pem"],
    ),
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


@cases(("text", "key", "words"), CONTRADICTIONS.values(), CONTRADICTIONS)
def test_keys_that_contradict_each_other_are_an_error_with_the_way_out(text, key, words):
    with pytest.raises(InvalidConfigError) as caught:
        parse(text, "noface.toml")
    assert [problem.key for problem in caught.value.problems] == [key]
    assert [word for word in words if word not in caught.value.message] == []
