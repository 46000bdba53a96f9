"""Of which issues a tracker has to be told something."""

import pytest
from support.cli_story import Story, write_issue

from noface.model.taxonomy import IssueStatus
from noface.store.publications import Publications


@pytest.fixture
def story(project):
    for number in (1, 2):
        write_issue(project.path, f"{number}-x", f"Issue {number}")
    made = Story(project.path).sync().run()
    yield made
    made.close()


def to_say(story, since=0.0):
    return [standing.issue_id for standing in Publications(story.database).standings(since)]


def test_an_issue_that_nothing_was_done_for_is_not_mentioned_and_one_that_was_is(story):
    assert to_say(story) == []
    story.journal.status(story.tick(), "1", IssueStatus.BLOCKED, "stuck")
    assert to_say(story) == ["1"]


def test_what_landed_before_the_issues_came_from_there_is_not_mentioned(story):
    story.attempt("1", 1)
    story.journal.merged(story.tick(), "1", "c" * 40)
    story.journal.merged(story.tick(), "2", "d" * 40)  # by another machine: it has told so itself
    assert to_say(story, since=story.tick()) == []
    assert to_say(story) == ["1"]


def test_what_is_settled_and_told_is_done_with_unless_it_comes_back(story):
    publications = Publications(story.database)
    story.journal.merged(story.tick(), "1", "c" * 40)
    publications.commented(story.tick(), "1", "merged:1", 11)
    publications.commented(story.tick(), "2", "gone:1", 12)
    assert to_say(story) == ["2"]
    story.journal.status(story.tick(), "1", IssueStatus.READY, "reverted")
    assert to_say(story) == ["1", "2"]


def test_what_was_heard_stays_known_when_something_is_said(story):
    publications = Publications(story.database)
    publications.marked("1", "blocked:0:1", 40)
    publications.commented(story.tick(), "1", "blocked:2", 11)
    publications.heard("1", 41, "no")
    known = publications.get("1")
    assert (known.comment, known.after, known.question, known.problem) == (11, 41, "blocked:0:1", "no")


def test_why_somebody_was_not_heeded_is_said_also_of_what_is_settled_and_only_while_it_stands_so(story):
    publications = Publications(story.database)
    story.attempt("1", 1)
    story.journal.merged(story.tick(), "1", "c" * 40)
    publications.commented(story.tick(), "1", "merged:1", 11)
    assert to_say(story) == []
    publications.heard("1", 41, "ann wrote /noface retry, but it has landed", "ann")
    (standing,) = publications.standings(0.0)
    assert (standing.not_heard_of, standing.heard) == ("ann", 41)
    assert publications.listened() == {}, "what is not said yet is not answered"
    publications.commented(story.tick(), "1", "merged:2", 12)
    assert (to_say(story), publications.listened()) == ([], {"1": 41})
    story.journal.status(story.tick(), "1", IssueStatus.READY, "reverted")
    assert publications.standings(0.0)[0].not_heard == ""


def test_since_when_the_issues_come_from_there_is_remembered(story):
    publications = Publications(story.database)
    assert publications.since("github acme/shop", 5.0) == publications.since("github acme/shop", 9.0) == 5.0
    assert publications.since("github acme/store", 9.0) == 9.0
