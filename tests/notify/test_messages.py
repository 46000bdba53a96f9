"""What is told, and when: tables of events, clocks and quiet hours, without a run."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from noface.extras.notify.outbox import due, message, quiet_until, waiting_of_events
from noface.extras.notify.services import secrets_in, services
from noface.model.request import PersonRequest
from noface.secrets.masking import Masker
from noface.secrets.rules import secrets_of
from noface.store.records import EventRow, IssueRow


def event(number, kind="issue_blocked", issue="1", **data):
    return EventRow(number, 1_000.0 + number, "run", kind, data, issue)


def row(name="1", status="blocked", title="Add the button", **block):
    known = dict.fromkeys(("depends_on", "needs", "granted_paths"), ())
    facts = (
        dict.fromkeys(IssueRow._fields, "") | known | {"id": name, "title": title, "status": status, "present": True}
    )
    request = PersonRequest(
        **{"summary": "it failed", "options": ("Try again",), "commands": (f"noface retry {name}",)} | block
    )
    return IssueRow(**(facts | {"block": request, "branch": None, "epoch": 0, "attempts": 1, "until": None}))


@pytest.mark.parametrize(
    ("cursor", "sent_at", "now", "final", "ids"),
    [
        (0, 0.0, 5_000.0, False, [1, 2, 3]),
        (2, 0.0, 5_000.0, False, [3]),
        (3, 0.0, 5_000.0, False, []),
        (0, 4_900.0, 5_000.0, False, []),  # too early after the last one: it is gathered
        (0, 4_900.0, 5_201.0, False, [1, 2, 3]),
        (0, 4_900.0, 5_000.0, True, [1, 2, 3]),  # nobody could send it later
        (0, 9_000.0, 5_000.0, False, [1, 2, 3]),  # the clock was set back
    ],
)
def test_what_comes_soon_after_a_message_is_gathered_into_the_next(cursor, sent_at, now, final, ids):
    events = [event(1), event(2, "overage_asked", None), event(3, "run_ended", None)]
    assert [each.id for each in due(events, cursor, sent_at, now, final=final)] == ids


@pytest.mark.parametrize(
    ("hours", "clock", "until"),
    [
        ("", "03:00", None),
        ("22:30-07:00", "22:29", None),
        ("22:30-07:00", "22:30", "+1 07:00"),
        ("22:30-07:00", "23:59", "+1 07:00"),
        ("22:30-07:00", "00:00", "+0 07:00"),
        ("22:30-07:00", "06:59", "+0 07:00"),
        ("22:30-07:00", "07:00", None),
        ("13:00-14:00", "13:30", "+0 14:00"),
        ("13:00-14:00", "12:59", None),
        ("07:00-07:00", "12:00", "+1 07:00"),  # always
    ],
)
def test_quiet_hours_end_at_their_next_end(hours, clock, until):
    here = datetime.fromisoformat(f"2026-11-27T{clock}").replace(tzinfo=timezone(timedelta(hours=1)))
    ends = quiet_until(hours, here)
    if until is None:
        assert ends is None
        return
    day, clock = until.split()
    assert datetime.fromtimestamp(ends, here.tzinfo) == datetime.fromisoformat(f"2026-11-27T{clock}").replace(
        tzinfo=here.tzinfo
    ) + timedelta(days=int(day))


def test_twenty_blocked_issues_are_one_short_message_and_none_that_went_on_meanwhile():
    events = [event(number, issue=str(number)) for number in range(1, 21)]
    rows = [row(str(number), title=f"Issue {number} " + "x" * 300) for number in range(1, 21) if number != 7]
    told = waiting_of_events(events, [*rows, row("99")])
    made = message("shop", events, told)
    assert made.title == "shop: 19 issues need you"
    assert len(made.body) < 4000
    assert "99" not in made.body
    assert " 7 " not in made.body
    assert made.buttons == ()


def test_an_issue_that_was_decided_meanwhile_is_not_told_at_all():
    events = [event(1)]
    assert message("shop", events, waiting_of_events(events, [])) is None


def test_what_agents_wrote_steers_no_terminal_no_header_and_no_button():
    bad = "x\x1b[2J\x1b]8;;javascript:alert(1)\x07link\r\nSubject: sold\u202e <script>"
    events = [event(1), event(2, "run_ended", None, why=bad)]
    made = message("shop", events, [row(title=bad)], 0, lambda _row: "abcdefgh23")
    for text in (made.title, made.body):
        assert not any(mark in text for mark in ("\x1b", "\x07", "\r", "\u202e"))
    assert "\n" not in made.title
    assert "Subject" not in made.title
    assert made.buttons == (("Retry", "abcdefgh23 retry"), ("Skip", "abcdefgh23 skip"))


def test_more_issues_than_buttons_can_name_are_answered_by_their_codes():
    rows = [row(str(number), status="approval") for number in range(12)]
    events = [event(number, "issue_approval", str(number)) for number in range(12)]
    made = message("shop", events, rows, 0, lambda each: f"code{each.id:0>6}")
    assert "3: code000003 and approve, retry or skip, or your words" in made.body
    assert "11: code" not in made.body  # noface blocked has the rest
    assert len(made.body) < 4096


@pytest.mark.parametrize(
    ("url", "name", "hidden"),
    [
        ("ntfys://ntfy.sh/deep-sea-Horse-9", "ntfys://ntfy.sh", "deep-sea-Horse-9"),
        ("ntfys://deep-sea-Horse-9", "ntfys://…", "deep-sea-Horse-9"),
        ("ntfy://tk_AgQdq7mVBoFD37zQVN29@10.0.0.1:8080/t", "ntfy://10.0.0.1:8080", "tk_AgQdq7mVBoFD37zQVN29"),
        ("mailto://ada:pa%20ss-Wort9@mail.example.org", "mailto://mail.example.org", "pa ss-Wort9"),
        ("tgram://12345678:AAbbCCddEEffGGhh/4711", "tgram://…", "12345678:AAbbCCddEEffGGhh"),
        ("discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js", "discord://…", "JHMHI8qBe7bk2ZwO5U711o3dV_js"),
        ("slack://TJH1Q2L/BVA5C/yF8b3kQwErTyUiOp", "slack://…", "yF8b3kQwErTyUiOp"),
        ("json://hook.example/api?token=Abcd-1234-efgh", "json://hook.example", "Abcd-1234-efgh"),
    ],
)
def test_of_an_address_its_host_is_shown_and_all_else_is_masked(url, name, hidden):
    (service,) = services([url], {})
    assert service.name == name
    assert hidden not in repr(service)
    masker = Masker(secrets_of({}, secrets_in([service]), lambda _value: False))
    shown = masker.text(f"cannot reach {url}: {hidden} (see {hidden!r})")
    assert hidden not in shown
    assert url not in shown
    assert replace(service, name="x").key == service.key
