"""What people answer on their phone: what it changes, and what is refused."""

import json
import sqlite3

import pytest
from support.cases import first_ones
from support.processes import wait_for

from noface.errors import RemoteError
from noface.extras.notify.answers import PhoneAnswer, hear, parted
from noface.extras.notify.services import carry_out, services

STRANGER = "666"


def begin(project, phone, kind, *, approval=False):
    """Start a run of issue 1, which comes to need a person, beside issue 2, which lasts as long as the test wants."""
    address, answers = {"telegram": (phone.telegram,) * 2, "ntfy": (phone.ntfy, phone.replies)}[kind]
    lines = f'\n[notify]\nurls = ["{address}"]\nanswers = ["{answers}"]\n'
    lines += '[approval]\nlabels = ["risky"]\n' if approval else '[retry.strategies]\nRUNTIME_ERROR = "block"\n'
    project.config(lines, workers=2)
    project.issue(1, labels=["risky"] if approval else [])
    project.issue(2)
    go = project.folder / "go"
    project.play(
        *([] if approval else [("1", 1, [{"write": "bad", "text": "x"}])]),
        ("1", 0, [{"shell": "rm -f bad"}, {"write": "1.txt", "text": "b"}]),
        ("2", 0, [{"write": "2.txt", "text": "b"}, {"shell": f"until test -e {go}; do sleep 0.1; done"}]),
    )
    project.commit("settings")
    run = project.start("run")
    wait_for(lambda: phone.texts(kind), 25)
    return run, go


def buttons(phone, kind):
    """What the buttons of the first message answer, by what they say."""
    if kind == "telegram":
        rows = phone.texts("telegram")[0]["reply_markup"]["inline_keyboard"]
        return {button["text"]: button["callback_data"] for row in rows for button in row}
    return {action["label"]: action["body"] for action in phone.texts("ntfy")[0]["actions"]}


def said(phone, kind):
    return [each["message"] if kind == "ntfy" else each["text"] for each in phone.texts(kind)]


def answer(phone, kind, text, **where):
    before = len(phone.sent)
    (phone.press if kind == "telegram" else phone.post)(text, **where)
    wait_for(lambda: len(phone.sent) > before, 30)


@pytest.mark.parametrize("kind", first_ones(["telegram", "ntfy"]))
def test_a_button_gives_a_blocked_issue_back_once_and_all_else_is_refused_with_a_word(project, phone, kind):
    run, go = begin(project, phone, kind)
    known = buttons(phone, kind)
    assert sorted(known) == ["Retry", "Skip"]
    code = known["Retry"].partition(" ")[0]
    with sqlite3.connect(project.state / "state.db") as database:
        assert not any(code in line for line in database.iterdump())  # who reads the database cannot answer
    press = phone.press if kind == "telegram" else phone.post
    press("aaaaaaaaaa retry")
    press("retry 1")
    if kind == "telegram":
        press(known["Retry"], chat=STRANGER)
        phone.write("keep the old name", reply_to_message={"reply_markup": phone.texts(kind)[0]["reply_markup"]})
    else:
        press(f"{code} keep the old name")
    wait_for(lambda: project.statuses()["1"] == "merged", 60)
    press(known["Skip"])
    wait_for(lambda: "answered already: 1 is merged" in "\n".join(said(phone, kind)), 30)
    words = "\n".join(said(phone, kind))
    assert "there is no such code" in words
    assert "begins with the code" in words
    assert "1: your words are kept" in words
    assert phone.answered or kind == "ntfy"
    strangers = [each["text"] for each in phone.texts("telegram") if each["chat_id"] == STRANGER]
    assert [each[:15] for each in strangers] == ["This is not the"] * (kind == "telegram")
    go.touch()
    run.wait(60)
    assert project.statuses() == {"1": "merged", "2": "merged"}
    events = project.noface("show", "1").stdout + project.noface("logs", "1").stdout
    assert code not in events
    prompt = next(iter(project.state.glob("attempts/1/2/prompt*"))).read_text()
    assert "keep the old name" in prompt


@pytest.mark.thorough
def test_an_answer_between_two_runs_is_heard_before_the_next_one_starts_anything(project, phone):
    run, go = begin(project, phone, "ntfy")
    go.touch()
    run.wait(60)
    phone.post(buttons(phone, "ntfy")["Skip"])
    project.run(code=3)
    assert project.statuses()["1"] == "skipped"


def test_an_answer_is_a_code_with_a_command_or_words():
    table = {
        "abcdefgh23 approve": ("abcdefgh23", "approve", ""),
        " ABCDEFGH23: Retry use the v2 API": ("abcdefgh23", "retry", "use the v2 API"),
        "/noface abcdefgh23 reject\nkeep it small": ("abcdefgh23", "", "reject\nkeep it small"),
        "abcdefgh23 please use the old name": ("abcdefgh23", "", "please use the old name"),
        "abcdefgh23": ("abcdefgh23", "", ""),
        "abcdefgh234 approve": ("", "", ""),
        "approve abcdefgh23": ("", "", ""),
        "": ("", "", ""),
    }
    assert {text: parted(text) for text in table} == table
    assert json.dumps(parted("x" * 100_000)) == '["", "", ""]'


ODD = [
    b"x", b"", b"[]", b"null", b'{"ok": true}', b'{"ok": true, "result": {"a": 1}}', b'{"ok": true, "result": [5]}',
    b'{"ok": true, "result": [{"update_id": 1, "message": 5}]}', b'{"ok": true, "result": [{"callback_query": [1]}]}',
    b'{"event": "message", "message": ["x"], "id": {}}', b'{"event": "message"}\n{"event"', b"\xff\xfe{", b"[" * 100_000,
    b'{"ok": true, "result": [{"message": {"chat": 3, "reply_to_message": {"reply_markup": {"inline_keyboard": [3]}}}}]}',
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_answer_of_a_service_is_its_failure_and_nothing_else(phone, odd):
    phone.odd = odd
    for service in services([phone.replies, phone.telegram], {}, heard=True):
        try:
            heard = carry_out(service.name, lambda service=service: hear(service, "1"))
        except RemoteError as error:
            heard = [error]
        assert all(isinstance(each, PhoneAnswer | RemoteError) for each in heard)
        assert "reply-topic" not in str(heard)
