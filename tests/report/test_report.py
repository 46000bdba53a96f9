"""`noface report`: one value of which text, HTML and JSON are three views, and what becomes of odd input."""

import os
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from jsonschema import Draft202012Validator
from support.cli_story import GATE, START, Story, red_test, write_issue

from noface.extras.board.night_html import document as html_document
from noface.extras.board.night_html import safe_link
from noface.model.actions import Mode, RunWorker
from noface.model.codec import shown as document_of
from noface.model.gate import GateResult
from noface.model.history import Topic
from noface.model.worker_run import Question, ReportStatus, WorkerReport
from noface.report.night import read_night
from noface.report.page import night_page
from noface.ui.published import published
from noface.ui.text import cells, duration, moment, money

EVIL = '<script>alert(1)</script>\x1b[31m" onload="x'


@pytest.fixture
def night(night):
    night.ask("002", Topic.DIAGNOSIS, cause="the comma", strategy="same", text="look at the comma", cost_usd=0.17)
    return night


def landed(story, issue, number=1):
    """Let an issue land by the rows that a landing writes."""
    (landing,) = story.journal.landing_intents(
        story.tick(), ((issue, number),), old="a" * 40, new=story.commit, tree="t" * 40, gates=()
    )
    story.journal.landed(story.now, landing, issue, story.commit)


class Words(HTMLParser):
    """What a reader of a page sees or hears: its text, and what its pictures are called."""

    def __init__(self, text):
        super().__init__()
        self.words, self.tags, self.links = [], [], []
        self._unseen = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self._unseen = tag in ("style", "script")
        given = dict(attributes)
        self.words.append(given.get("aria-label", ""))
        self.links += [given["href"]] if "href" in given else []

    def handle_data(self, text):
        if not self._unseen:
            self.words.append(text)

    def __str__(self):
        return " ".join(self.words)


def written(project, *args):
    text, done = project.noface("report", *args), project.noface("report", "--html", "night.html", *args)
    assert (text.returncode, done.returncode) == (0, 0), done.stderr
    assert done.stdout.startswith("Wrote night.html: ")
    return text.stdout, (project.path / "night.html").read_text()


NUMBER = re.compile(r"\d[\d,.:]*")


def numbers(document, now):
    """Return all numbers that a document tells, as a person may read them."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from NUMBER.findall(key)
            yield from numbers(value, now)
    elif isinstance(document, list | tuple):
        yield str(len(document))
        for value in document:
            yield from numbers(value, now)
    elif isinstance(document, str):
        yield from NUMBER.findall(document)
    elif isinstance(document, int | float) and not isinstance(document, bool):
        for text in (
            f"{document}",
            f"{document:,}",
            f"{document:.0%}",
            money(document),
            duration(document),
            moment(document, now),
        ):
            yield from NUMBER.findall(text)


def test_every_figure_of_text_and_html_is_one_of_the_document(night):
    landed(night, "001")
    value = read_night(night.reader, START, night.now + 60)
    document = document_of(value)
    known = {number.strip(".,:") for number in numbers(document, document["at"])}
    for shown in ("\n".join(night_page(value, 80)), str(Words(html_document(value)))):
        told = {number.strip(".,:") for number in NUMBER.findall(shown)}
        assert told - known == set()
        for figure in ("landed", "need_you"):
            assert f"{document['sum'][figure]} {figure.replace('_', ' ')}" in shown
        assert money(document["sum"]["cost_usd"]) in shown


def test_the_document_is_as_its_schema_says(project, night):
    landed(night, "001")
    document = project.shown("report")
    assert list(Draft202012Validator(published("night")).iter_errors(document)) == []
    assert document["sum"]["landed"] == 1
    assert document["landed"][0]["added"] > 0, "git tells it of the commit"
    assert document["sum"]["need_you"] == 2
    assert sum(each["seconds"] for each in document["models"]) == pytest.approx(document["sum"]["seconds"])
    assert sum(each["cost_usd"] or 0 for each in document["models"]) == pytest.approx(document["sum"]["cost_usd"])


def test_the_page_is_one_file_without_script_under_a_strict_policy(project, night):
    _, html = written(project)
    words = Words(html)
    assert {"script", "link", "img", "iframe", "object", "form"} & set(words.tags) == set()
    assert "default-src 'none'; style-src 'sha256-" in html
    assert " style=" not in html
    assert words.tags.count("table") == words.tags.count("caption")
    assert words.tags.count("h1") == 1


def test_what_agents_wrote_is_text(project):
    write_issue(project.path, "1-x", "A title")
    story = Story(project.path).sync().run()
    story.attempt("1", 1, red_test(EVIL, evidence=(EVIL,)))
    story.block("1", reason=EVIL, questions=(EVIL,))
    text, html = written(project)
    assert "\x1b" not in text + html
    assert "<script>" not in html
    assert 'onload="x' not in html
    assert "&lt;script&gt;alert(1)" in html
    story.close()


@pytest.mark.parametrize(
    ("address", "link"),
    [
        ("https://a.example/1", "https://a.example/1"),
        ("HTTP://a.example", "HTTP://a.example"),
        ("javascript:alert(1)", ""),
        (" \x00javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("//a.example", ""),
        ("", ""),
    ],
)
def test_a_link_leads_to_the_web_only(address, link):
    assert safe_link(address) == link


def test_what_speaks_for_a_look_is_told_in_few_words_and_ranked(project):
    for number in (1, 2, 3):
        write_issue(project.path, f"{number}-x", f"Issue {number}")
    story = Story(project.path).sync().run()
    story.attempt("1", 1, changed=("a.txt",))
    doubtful = WorkerReport(ReportStatus.DONE, unverified=("JPY",), left=("the second half",))
    story.attempt("2", 1, changed=("src/migrations/1.sql", "src/a.py"), worker=doubtful)
    again = RunWorker(Mode.FEEDBACK, "claude-sonnet", "it is told why")
    story.attempt("3", 1, red_test(), action=again).attempt("3", 2, red_test(), action=again)
    story.attempt("3", 3, red_test(), action=again).attempt("3", 4)
    for issue, number in (("1", 1), ("2", 1), ("3", 4)):
        landed(story, issue, number)
    document = project.shown("report")
    assert document["look_at"] == ["2", "3"]
    assert [(each["id"], each["risk"], each["reasons"]) for each in document["landed"]] == [
        (
            "2",
            8,
            [
                "its worker left undone: the second half",
                "touches the database's schema",
                "its worker did not verify: JPY",
            ],
        ),
        ("3", 3, ["took 4 attempts"]),
        ("1", 0, []),
    ]
    story.close()


def test_a_question_that_nobody_answered_and_work_without_any_test_are_looked_at_first(project):
    """Of 1,315 honest commits of noface itself 138 (10 %) have code and no test; of three landings one may be such."""
    for number in range(1, 7):
        write_issue(project.path, f"{number}-x", f"Issue {number}")
    story = Story(project.path).sync().run()
    asked = WorkerReport(ReportStatus.DONE, questions=(Question("Tabs or blanks?"),))
    story.attempt("1", 1, changed=("a.txt",), worker=asked)
    story.attempt("2", 1, changed=("src/a.py", "src/b.py", "src/c.py"))
    own = GateResult(replace(GATE, name="accept"), "t" * 40, 0, 1.0)
    story.attempt("3", 1, changed=("src/a.py", "src/b.py", "src/c.py"), gates=(own,))
    story.attempt("4", 1, changed=("src/a.py", "src/b.py", "tests/test_a.py"))
    story.attempt("5", 1, changed=("src/a.py",))
    for number in range(1, 6):
        landed(story, str(number), 1)
    document = project.shown("report")
    assert document["look_at"] == ["2", "1"], "not those with an accept command, a test, or a few lines"
    told = {each["id"]: each["reasons"] for each in document["landed"]}
    assert told["1"] == ["its worker asked, and nobody answered: Tabs or blanks?"]
    assert told["2"] == ["no test among its files, and no accept command"]
    story.attempt("6", 1, changed=("src/a.py", "src/b.py", "src/c.py"))
    landed(story, "6", 1)
    assert project.shown("report")["look_at"] == ["2", "6", "1"], "two of six"
    story.attempt("5", 2, changed=("src/a.py", "src/b.py", "src/d.py"))
    landed(story, "5", 2)
    assert project.shown("report")["look_at"] == ["1"], "where it is usual, it tells nobody where to look"
    story.close()


def test_an_attempt_that_nobody_ended_is_cut_short_where_nobody_is_at_work(project):
    write_issue(project.path, "1-x", "One")
    story = Story(project.path).sync().run()
    story.start("1", 1)
    (span,) = project.shown("report")["spans"]
    assert (span["outcome"], span["seconds"]) == ("INTERRUPTED", 0)
    story.close()


def test_without_a_run_a_word_says_so(project):
    done = project.noface("report")
    assert done.returncode == 2
    assert "nothing has been run yet" in done.stderr
    text, html = written(project, "--since", "8h")
    assert "Nothing was worked on." in text
    assert "Nothing was worked on." in html


def test_a_page_that_cannot_be_written_leaves_what_was_there(project, night):
    (project.path / "folder").mkdir()
    os.mkfifo(project.path / "fifo")
    odd = "it is no ordinary file"
    for name, why in (("folder", odd), ("fifo", odd), ("missing/night.html", "No such file or directory")):
        done = project.noface("report", "--html", name)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"--html: {name} cannot be written: {why}" in done.stderr


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_page_fits_its_terminal_but_for_commands(night, width):
    landed(night, "001")
    lines = night_page(read_night(night.reader, START, night.now), width)
    commands = ("       git ", "       noface ", "       ${EDITOR")
    assert [line for line in lines if cells(line) > width and not line.startswith(commands)] == []
    assert "\x1b" not in "".join(lines)


def test_an_issue_that_is_gone_since_is_told_by_its_number(project):
    path = write_issue(project.path, "1-x", "One")
    write_issue(project.path, "2-x", "Two")
    story = Story(project.path).sync().run()
    story.attempt("1", 1, red_test()).attempt("2", 1)
    landed(story, "2")
    path.unlink()
    story.sync()
    story.database._connection.execute("DELETE FROM issues WHERE id = '2'")
    document = project.shown("report")
    assert [(each["id"], each["title"]) for each in document["landed"]] == [("2", "")]
    assert "(no title)" in project.noface("report").stdout
    story.close()


def test_pull_requests_are_told_as_in_review_and_once_merged_as_landed(project):
    write_issue(project.path, "1-x", "One")
    write_issue(project.path, "2-x", "Two")
    story = Story(project.path).sync().run()
    for issue, state, status in (("1", "open", "review"), ("2", "merged", "merged")):
        story.attempt(issue, 1)
        story.database._connection.execute(
            "INSERT INTO pull_requests (issue_id, attempt, branch, head, base, tree, number, url, state, at)"
            " VALUES (?, 1, 'b', 'h', 'b', 't', 7, 'https://forge.example/7', ?, ?)",
            (issue, state, story.now),
        )
        story.status(issue, status, "waits for its checks")
    text, html = written(project)
    document = project.shown("report")
    assert [each["id"] for each in document["landed"]] == ["2"]
    assert [(each["id"], each["pull_url"]) for each in document["review"]] == [("1", "https://forge.example/7")]
    assert "waits for its checks (https://forge.example/7)" in text
    assert "https://forge.example/7" in Words(html).links
    story.close()


def test_a_full_disk_leaves_the_page_that_was_there(project, night):
    full = project.folder / "full"
    full.mkdir()
    if os.system(f"mount -t tmpfs -o size=16k tmpfs {full} 2>/dev/null") != 0:
        pytest.skip("no small disk can be mounted here")
    try:
        (full / "night.html").write_text("old")
        done = project.noface("report", "--html", str(full / "night.html"))
        assert done.returncode == 2
        assert "No space left on device" in done.stderr
        assert "Make room" in done.stderr
        assert [path.name for path in full.iterdir()] == ["night.html"]
        assert (full / "night.html").read_text() == "old"
    finally:
        os.system(f"umount {full}")
