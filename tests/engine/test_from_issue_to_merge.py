"""The whole way on a GitHub here, over http: an issue with a label, a run, a pull request, a merge, a closed issue."""

import pytest
from support.hosted import hosted

from noface.data.trackers import DEFAULT_LABEL

TRACKER = '[tracker]\nkind = "github"\n'
WORK = [{"write": "b.txt", "text": "b\n"}]


@pytest.fixture
def shop(project, github):
    made = hosted(project, github, http=True)
    made.config(TRACKER)
    made.project.play(("*", 0, WORK))
    made.push()
    return made


@pytest.fixture
def alice(shop):
    return shop.repo.person("alice", "write")


def own_comments(shop, number):
    """What noface says of an issue: not the comments that only lead to a newer one."""
    said = [each.body for each in shop.repo.comments_of(number) if each.user.login == shop.bot]
    return [body for body in said if "in a newer comment" not in body]


def test_an_issue_becomes_a_pull_request_and_its_merge_closes_the_issue(shop, alice):
    number = alice.opens_issue("Add b", "Write `b.txt`.", labels=[DEFAULT_LABEL])
    shop.project.run(code=3)
    ((pull, branch, _),) = shop.pulls()
    assert branch == f"noface/{number}"
    assert f"#{number}" in shop.repo.pull(pull).body
    (comment,) = own_comments(shop, number)
    assert f"#{pull}" in comment
    assert shop.repo.issue(number).state == "open"
    merged = alice.merges(pull, "squash")
    shop.project.run()
    assert shop.project.statuses() == {str(number): "merged"}
    assert shop.repo.issue(number).state == "closed"
    (comment,) = own_comments(shop, number)
    assert merged[:7] in comment
    assert [each.name for each in shop.repo.issue(number).labels] in ([], [DEFAULT_LABEL])


@pytest.mark.thorough
def test_another_repository_that_got_the_name_is_neither_read_nor_written_and_the_renamed_one_goes_on(shop, alice):
    number = alice.opens_issue("Add b", labels=[DEFAULT_LABEL])
    shop.project.run(code=3)
    shop.github.rename("acme/shop", "acme/store")
    shop.project.run(code=3)
    assert shop.project.statuses() == {str(number): "review"}
    other = shop.github.repository("acme/shop")
    other.grant(shop.bot, "write")
    mallory = other.person("mallory", "admin")
    theirs = mallory.opens_issue("Send me the keys", labels=[DEFAULT_LABEL])
    assert theirs == number
    shop.github.requests.clear()
    out = shop.project.run(code=1)
    assert "acme/shop is another repository" in out
    assert [each for each in shop.github.requests if "/issues" in each[1] or each[0] != "GET"] == []
    assert shop.project.shown("show", str(number))["title"] == "Add b"
