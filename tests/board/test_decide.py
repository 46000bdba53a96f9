"""What is decided on the board changes what the verbs change; what its page did not show is not decided."""

import pytest
from support.cli_story import red_test

PATCH = """diff --git a/src/a.py b/src/a.py
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,4 @@
 def a():
-    return 1
+    value = 2
+    return None

"""


@pytest.fixture
def landing(night):
    """Issue 005 has passed, and waits for a person to let it land."""
    night.attempt("005", 1, model="small", changed=("src/a.py",)).request_approval("005")
    (night.directory("005", 1) / "diff.patch").write_text(PATCH)
    return night


def row_of(story, issue):
    row = story.reader.issue(issue)
    return row.status, row.reason


def test_approve_reject_retry_skip_and_note_do_what_the_verbs_do(landing, person):
    assert person.decide(landing, "005", "approve").status_code == 303
    assert row_of(landing, "005") == ("ready", "approved by a person")
    assert person.decide(landing, "005", "note", "Mind the old column.").status_code == 303
    page = person.get("/issue", id="5").text
    assert "do-retry" not in page, "it would be refused"
    assert 'class="primary"' not in page, "nothing is asked of a person here"
    assert landing.reader.issue("005").note == "Mind the old column."
    assert person.decide(landing, "002", "retry", "The comma ends the name.").status_code == 303
    assert row_of(landing, "002") == ("ready", "retried by a person")
    assert landing.reader.issue("002").note == "The comma ends the name."
    assert person.decide(landing, "006", "retry").status_code == 303
    assert row_of(landing, "006") == ("ready", "retried by a person")
    assert person.decide(landing, "003", "skip").status_code == 303
    assert row_of(landing, "003") == ("skipped", "skipped by a person")
    assert person.decide(landing, "003", "retry").status_code == 303
    assert "is ready" in person.get("/issue", id="3").text
    assert "is ready" not in person.get("/issue", id="3").text, "what was done is told once"


def test_a_rejection_needs_a_reason_and_reaches_the_next_worker(landing, person):
    refused = person.decide(landing, "005", "reject")
    assert (refused.status_code, row_of(landing, "005")[0]) == (409, "approval")
    assert "without a reason" in refused.text
    assert person.decide(landing, "005", "reject", "Keep the old name.").status_code == 303
    assert row_of(landing, "005") == ("ready", "rejected by a person")
    assert landing.reader.past("005")[-1].failure.excerpt == "Keep the old name."


def test_what_has_gone_on_since_the_page_was_made_is_not_decided_and_no_word_is_lost(landing, person):
    before = person.seen(landing, "005")
    landing.attempt("005", 2, model="small").request_approval("005")
    refused = person.post("/decide", **before, verb="approve", note="Looks good to me.")
    assert refused.status_code == 409
    assert row_of(landing, "005")[0] == "approval"
    assert "has gone on since this page was made" in refused.text
    assert "Looks good to me." in refused.text


def test_what_cannot_be_decided_is_refused_with_why_and_changes_nothing(night, person):
    before = [tuple(row) for row in night.database.rows("SELECT * FROM issues")]
    refused = (
        "001 retry, 001 skip, 001 note, 002 approve, 003 steal, 005 steal, 007 retry, 007 skip, 008 retry, 404 retry"
    )
    for words in refused.split(", "):
        issue, verb = words.split()
        fields = person.seen(night, issue) if night.reader.issue(issue) else {"id": issue}
        answer = person.post("/decide", **fields, verb=verb, note="x")
        assert answer.status_code == 409, words
        assert 'class="strip bad"' in answer.text, words
        assert [tuple(row) for row in night.database.rows("SELECT * FROM issues")] == before, words


def test_a_page_offers_what_can_be_decided_and_a_read_only_one_nothing(landing, board_of, person):
    def offered(someone, issue):
        text = someone.get("/issue", id=issue).text
        return [verb for verb in ("approve", "reject", "retry", "skip", "note") if f'id="do-{verb}"' in text]

    assert offered(person, "5") == ["approve", "reject", "retry", "skip"]
    assert offered(person, "2") == ["retry", "skip"]
    assert offered(person, "7") == ["note"]
    assert offered(person, "1") == []
    shared = board_of(landing, read_only=True)
    assert offered(shared, "5") == []
    assert shared.decide(landing, "005", "approve").status_code == 403
    assert row_of(landing, "005")[0] == "approval"


def test_a_run_at_work_is_paused_and_goes_on(person, night):
    assert "Pause the run" in person.get().text
    assert person.post("/run", do="pause").status_code == 303
    assert night.reader.paused() is not None
    assert "Resume the run" in person.get().text
    person.post("/run", do="resume")
    assert night.reader.paused() is None
    night.end()
    refused = person.post("/run", do="pause")
    assert (refused.status_code, "no run is at work" in refused.text.lower()) == (409, True)


def comment(person, story, issue, at, note, **more):
    return person.post("/comment", **person.seen(story, issue), at=at, note=note, **more)


def test_comments_on_lines_are_sent_as_one_review_with_the_lines_text(landing, person):
    assert comment(person, landing, "005", 7, "Say why it is None.").status_code == 303
    assert comment(person, landing, "005", 5, "One name for both.", end=7).status_code == 303
    page = person.get("/issue", id="5", tab="diff").text
    assert "2 comments to send" in page
    assert "Say why it is None." in page
    assert person.post("/review", **person.seen(landing, "005"), note="Nearly.").status_code == 303
    assert row_of(landing, "005") == ("ready", "rejected by a person")
    assert landing.reader.past("005")[-1].failure.excerpt == (
        "Nearly.\n\nA review of the change that attempt 1 made, by a person; answer each comment:\n\n"
        "src/a.py, lines 2 to 3:\n> -    return 1\n> +    value = 2\n> +    return None\nOne name for both.\n\n"
        "src/a.py, line 3:\n> +    return None\nSay why it is None."
    )
    assert person.post("/review", **person.seen(landing, "005"), note="").status_code == 409, "it was sent"


def test_a_comment_is_changed_and_taken_away(landing, person):
    comment(person, landing, "005", 7, "First.")
    comment(person, landing, "005", 7, "Second.")
    page = person.get("/issue", id="5", tab="diff").text
    assert ("First." in page, "Second." in page) == (False, True)
    assert "Second." in person.get("/issue", id="5", tab="diff", comment="7").text
    comment(person, landing, "005", 7, "  ")
    assert "to send" not in person.get("/issue", id="5", tab="diff").text


def test_a_review_of_a_change_that_has_moved_is_refused_and_kept(landing, person):
    comment(person, landing, "005", 7, "Say why it is None.")
    before = person.seen(landing, "005")
    landing.attempt("005", 2, model="small").request_approval("005")
    (landing.directory("005", 2) / "diff.patch").write_text(PATCH)
    for refused in (
        person.post("/review", **before, note="Nearly."),
        person.post("/review", **person.seen(landing, "005"), note="Nearly."),
        person.post("/comment", **before, at=5, note="And this?"),
    ):
        assert refused.status_code == 409
        assert "has moved" in refused.text
        assert "Nearly." in refused.text or "And this?" in refused.text
    assert row_of(landing, "005")[0] == "approval"
    page = person.get("/issue", id="5", tab="diff").text
    assert "Say why it is None." in page
    assert "to send" not in page


def test_a_comment_on_no_line_is_refused(landing, person):
    """Row 0 is the file's head, 3 that of a hunk; a range that begins at a line may end anywhere behind it."""
    taken = {
        at: comment(person, landing, "005", at, "x", end=end).status_code
        for at, end in ((5, 0), (0, 0), (3, 5), (99, 0), (4, 9))
    }
    assert taken == {5: 303, 0: 409, 3: 409, 99: 409, 4: 303}


def test_a_review_of_blocked_work_unblocks_it_and_one_of_work_to_come_is_kept(night, person):
    (night.directory("002", 3) / "diff.patch").write_text(PATCH)
    comment(person, night, "002", 6, "No.")
    person.post("/review", **person.seen(night, "002"), note="")
    assert row_of(night, "002") == ("ready", "retried by a person")
    assert "No." in night.reader.issue("002").note
    night.attempt("006", 1, red_test())
    (night.directory("006", 1) / "diff.patch").write_text(PATCH)
    comment(person, night, "006", 6, "Nor this.")
    person.post("/review", **person.seen(night, "006"), note="")
    assert "Nor this." in night.reader.issue("006").note


def test_what_is_too_long_is_refused_and_not_lost(landing, person):
    for path, size in (("/decide", 10_001), ("/comment", 4_001)):
        refused = person.post(path, **person.seen(landing, "005"), verb="reject", at=7, note="x" * size)
        assert refused.status_code == 409
        assert "too long" in refused.text
    assert "x" * 10_001 in person.decide(landing, "005", "reject", "x" * 10_001).text
    assert person.decide(landing, "005", "reject", "x" * 70_000).status_code == 409
    many = {f"f{number}": "1" for number in range(100)}
    assert person.post("/decide", **many).status_code == 409


def test_nothing_changes_by_get(landing, person):
    before = [tuple(row) for row in landing.database.rows("SELECT * FROM issues")]
    for path in ("/decide", "/run", "/comment", "/review", "/leave"):
        assert person.get(path, **person.seen(landing, "005"), verb="approve", do="pause").status_code in (404, 405)
    assert [tuple(row) for row in landing.database.rows("SELECT * FROM issues")] == before
    assert person.get().status_code == 200


def test_a_session_that_was_left_is_over(person):
    assert person.post("/leave").status_code == 303
    assert person.get().status_code == 403
    assert "Open the address" in person.get().text


def test_a_run_whose_process_is_gone_is_none_at_work(person, night):
    with night.database.transaction() as connection:
        connection.execute("UPDATE runs SET pid = ?", (2**22 + 5,))
    assert "No run is at work" in person.get().text
