"""What the pages of the board show: each figure as --json has it, nothing of an agent's as markup."""

import re
from html.parser import HTMLParser

import pytest
from support.cli_story import red_test, write_issue

from noface.model.taxonomy import FailureKind
from noface.ui.status import status_now

DATA = re.compile(r'<data class="([a-z]+)"(?: data-state="([a-z]+)")? value="([^"]*)"')


def figures(text, name):
    return [value for kind, _, value in DATA.findall(text) if kind == name]


def cards(text):
    found = re.findall(r'<li class="card (\w+)">(.*?)</li>\n(?=<li class="card|</ul>)', text, re.DOTALL)
    return {re.search(r'id="card-([^"]+)"', card)[1]: (state, card) for state, card in found}


def test_the_board_has_the_figures_of_status_json(person, project, night):
    document, text = project.shown("status"), person.get().text
    counts = {state: int(value) for kind, state, value in DATA.findall(text) if kind == "count"}
    assert counts == document["counts"]
    shown = cards(text)
    assert shown.keys() == {issue["id"] for issue in document["issues"]}
    for issue in document["issues"]:
        state, card = shown[issue["id"]]
        assert state == issue["status"] or (state, issue["status"]) == ("held", "landing")
        assert figures(card, "cost") == ([] if issue["cost_usd"] is None else [str(issue["cost_usd"])])
        assert figures(card, "attempts") == ([str(issue["all_attempts"])] if issue["all_attempts"] else [])
        assert (issue["model"] or "") in card
        assert issue["title"] in card


def test_the_page_of_an_issue_has_the_figures_of_show_json(person, project, night):
    for issue in ("001", "002", "005", "007"):
        document, text = project.shown("show", issue), person.get("/issue", id=issue).text
        costs = [document["cost_usd"], *(attempt["cost_usd"] for attempt in reversed(document["attempts"]))]
        assert figures(text, "cost") == [str(cost) for cost in costs if cost is not None], issue
        assert figures(text, "attempts") == [str(len(document["attempts"]))], issue
        for attempt in document["attempts"]:
            assert f"Attempt {attempt['number']} " in text


def test_an_issue_is_found_by_words_and_chosen_by_state(person, night):
    assert {*cards(person.get("/", find="orders csv").text)} == {"005"}
    assert {*cards(person.get("/", state="merged").text)} == {"001"}
    assert {*cards(person.get("/", only="problems").text)} == {"002", "004"}
    assert {*cards(person.get("/", only="problems", find="rates").text)} == {"004"}
    assert "No issue is like that" in person.get("/", find="nowhere").text
    assert {*cards(person.get("/", state="<script>").text)} == {*cards(person.get().text)}, "no state of that name"


ASKED = """+++
title = "Greet"
accept = ["python -m pytest -q tests/test_greet.py", "ruff check ."]
labels = ["ui", "risky"]
paths = ["src/**"]
+++

Greet *by name*: </pre> is no end.
"""


def test_the_page_of_an_issue_says_what_it_asks_for_before_any_attempt_and_after(board_of, night):
    (night.root / "issues" / "005-export.md").write_text(ASKED)
    (night.root / "issues" / "001-greet.md").unlink()
    person = board_of(night.sync())
    text = person.get("/issue", id="5").text
    for said in ("Greet *by name*: &lt;/pre&gt; is no end.", "python -m pytest -q tests/test_greet.py", "ruff check .",
                 "ui, risky", "src/**"):  # fmt: skip
        assert said in text, said
    assert "Do it." in person.get("/issue", id="2").text
    assert "It is not in the backlog any more" in person.get("/issue", id="1").text
    assert "What it asks for" not in person.get("/issue", id="2", tab="diff").text


def needing(project):
    return [issue for task in project.shown("blocked")["tasks"] for issue in task["ids"]]


def following(text):
    found = re.search(r'id="next" href="[^"]*id=(\w+)"', text)
    return found and found[1]


@pytest.fixture
def many(night):
    """Seven issues that need a person in several ways; the backlog's order is another one than that of the tasks."""
    for number in range(20, 25):
        write_issue(night.root, f"0{number}-x", f"Issue {number}", f"priority = {number % 3}\n")
    night.sync()
    for issue, failure in (("020", red_test()), ("022", red_test(kind=FailureKind.ENVIRONMENT)), ("024", red_test())):
        night.attempt(issue, 1, failure).block(issue)
    for issue in ("021", "023"):
        night.attempt(issue, 1, model="small").request_approval(issue)
    return night


def test_what_needs_a_person_stands_in_one_order_everywhere(many, board_of, project):
    person, order = board_of(many), needing(project)
    assert len(order) == 7
    for only in ("", "problems"):
        shown = [issue for issue in cards(person.get("/", only=only).text) if issue in order]
        assert shown == order
    behind = [following(person.get("/issue", id=issue).text) for issue in order]
    assert behind == [*order[1:], order[0]], "behind the last stands what was passed over"
    assert "2 of 7 that need you" in person.get("/issue", id=order[1]).text


def test_after_a_decision_next_goes_on_behind_what_was_decided(many, board_of, project):
    person, order = board_of(many), needing(project)
    at, decided = order.index("021"), []
    for issue in order[at:]:
        if issue == "004":
            continue  # it is held, and nothing is decided here
        verb = "approve" if many.reader.issue(issue).status == "approval" else "retry"
        expected = following(person.get("/issue", id=issue).text)
        answer = person.decide(many, issue, verb)
        page = person.client.get(answer.headers["location"], headers={"cookie": person.cookie}).text
        assert following(page) == expected, (issue, decided)
        decided.append(issue)
    assert len(decided) >= 3


def test_a_card_at_work_says_which_gate_runs_and_one_that_waits_has_no_line_of_a_log(night, board_of):
    (night.directory("002", 3) / "agent.log").write_text("done\n")
    (night.directory("007", 2) / "agent.log").write_text("it is all there\n")
    person = board_of(night)
    shown = cards(person.get().text)
    assert "it is all there" in shown["007"][1]
    assert "done" not in shown["002"][1]
    (night.directory("007", 2) / "gates").mkdir()
    (night.directory("007", 2) / "gates" / "unit.out").touch()
    assert "gates: unit" in cards(person.get().text)["007"][1]


def test_of_many_issues_a_state_shows_sixty_and_all_when_asked(board_of, project, night):
    for number in range(100, 180):
        write_issue(project.path, f"{number}-more", f"More {number}")
    person = board_of(night.sync())
    text = person.get().text
    ready = [issue for issue in status_now(night.reader, night.now).issues if issue.status == "ready"]
    assert len([1 for state, _ in cards(text).values() if state == "ready"]) == 60
    assert f"All {len(ready)} ready" in text
    assert len([1 for state, _ in cards(person.get("/", all="ready").text).values() if state == "ready"]) == len(ready)


HOSTILE = "\x1b[31m</pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'\u202e"


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


@pytest.fixture
def hostile(night):
    """An issue of which everything that an agent or a person can write is markup, commands of a terminal, or a link."""
    write_issue(night.root, "009-x", "Hostile <script>alert(2)</script>")
    night.sync()
    night.attempt("009", 1, red_test(HOSTILE, evidence=(HOSTILE,), failing_tests=(HOSTILE,)), notes=(HOSTILE,))
    night.block("009", reason=HOSTILE, questions=(HOSTILE,))
    folder = night.directory("009", 1)
    (folder / "agent.log").write_text(f"{HOSTILE}\n")
    (folder / "prompt.md").write_text(HOSTILE)
    (folder / "diff.patch").write_text(
        f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+{HOSTILE}\n"
        'diff --git "a/<script>" "b/<script>"\n--- /dev/null\n+++ "b/<script>"\n@@ -0,0 +1 @@\n+b\n'
    )
    (folder / "gates").mkdir()
    (folder / "gates" / "unit.out").write_text(HOSTILE)
    with night.database.transaction() as connection:
        connection.execute("UPDATE issues SET source = 'javascript:alert(1)' WHERE id = '009'")
        connection.execute(
            "INSERT INTO pull_requests (issue_id, attempt, branch, head, pushed, base, tree, number, url, state, rounds, seen,"
            " checks, at) VALUES ('009', 1, 'b', 'h', '', '', '', 3, 'javascript:alert(1)', 'open', 0, '{}', '', 0)"
        )
    return night


HOSTILE_PAGES = (
    ("/", {}),
    ("/", {"find": HOSTILE}),
    ("/issue", {"id": "9"}),
    ("/issue", {"id": "9", "tab": "log"}),
    ("/issue", {"id": "9", "tab": "log", "gate": "unit"}),
    ("/issue", {"id": "9", "tab": "prompt"}),
    ("/issue", {"id": "9", "tab": "diff"}),
    ("/issue", {"id": HOSTILE}),
    ("/issue", {"id": "9", "tab": HOSTILE, "n": HOSTILE}),
    ("/report", {"since": "yesterday"}),
    ("/report", {"since": HOSTILE}),
    ("/<script>", {}),
)


def test_nothing_that_an_agent_wrote_is_markup_a_link_or_a_command_of_a_terminal(hostile, board_of):
    person = board_of(hostile)
    for path, params in HOSTILE_PAGES:
        answer = person.get(path, **params)
        tags = Tags(answer.text)
        assert tags.tags.count("script") == 2, "those of the board itself"
        assert "img" not in tags.tags
        assert not [name for name, _ in tags.attributes if name.startswith("on")]
        assert not [
            value for name, value in tags.attributes if name in ("href", "src", "action") and "javascript" in value
        ]
        assert "\x1b" not in answer.text
        assert "\u202e" not in answer.text


def test_a_page_says_what_is_not_there(person, night):
    assert person.get("/issue", id="404").status_code == 409
    assert "there is no issue 404" in person.get("/issue", id="404").text.lower()
    assert person.get("/nothing").status_code == 404
    assert person.get("/issue", id="2", n="77").status_code == 409
    assert "No attempt yet" in person.get("/issue", id="5").text
    assert "It has no attempt yet" in person.get("/issue", id="5", tab="log").text


def test_only_the_files_of_the_board_are_fetched_without_a_session(person):
    for name in ("../guard.py", "..%2Fguard.py", "%2e%2e/app.py", "/etc/passwd", "nothing"):
        assert person.client.get(f"/static/{name}").status_code in (403, 404), name
    assert (
        "0BSD" in person.client.get("/static/htmx-LICENSE").text
        or "Zero-Clause BSD" in person.client.get("/static/htmx-LICENSE").text
    )
    answer = person.client.get("/static/htmx-2.0.11.min.js")
    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
