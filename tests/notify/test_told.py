"""What people are told of a run: real runs, with real servers on loopback that take the messages."""

import html
import json
import socket
import time

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MailHandler
from aiosmtpd.smtp import AuthResult
from support.cases import first_ones
from support.phone import TOKEN

GATE = "if test -e bad; then printf '\\\\033[31m<b>AssertionError</b>\\\\033[0m: @everyone'; exit 1; fi"


BAD = ("1", 0, [{"write": "bad", "text": "x"}])


def notify(project, urls, extra="", answers=(), blocks=("1",)):
    """Have the run tell of it; the first attempt at issues that are in `blocks` blocks them, the next lands."""
    lines = f"\n[notify]\nurls = {json.dumps(urls)}\nanswers = {json.dumps(answers)}\n{extra}"
    project.config('[retry.strategies]\nRUNTIME_ERROR = "block"\nUNKNOWN = "block"\n' + lines, gate=GATE)
    for name in blocks:
        project.issue(name, f"Add button {name}")
    project.play(
        *((name, 1, [{"write": "bad", "text": "x"}]) for name in blocks),
        *((name, 0, [{"delete": "bad"}, {"write": f"{name}.txt", "text": "b"}]) for name in blocks),
        ("*", 0, [{"write": "b.txt", "text": "b"}]),
    )
    project.commit("settings")


@pytest.fixture
def mail():
    class Box(MailHandler):
        def handle_message(self, message):
            self.mails.append(message)

    box = Box()
    box.mails = []
    with socket.create_server(("127.0.0.1", 0)) as free:
        box.port = free.getsockname()[1]
    knows = lambda _server, _session, _envelope, _way, login: AuthResult(success=login.password == b"geheim-Wort-12")  # noqa: E731
    login = {"auth_require_tls": False, "authenticator": knows}
    controller = Controller(box, hostname="127.0.0.1", port=box.port, **login)
    controller.start()
    yield box
    controller.stop()


def test_a_night_is_told_by_each_service_in_the_words_of_noface_blocked_and_no_secret_is_shown(project, phone, mail):
    address = f"mailto://ada:geheim-Wort-12@127.0.0.1:{mail.port}?from=n@example.org&to=a@example.org&mode=insecure&format=html"
    project.env = {"MY_PHONE": phone.ntfy, "MY_BOT": phone.telegram}
    notify(
        project, ["$MY_PHONE", phone.webhook, "${MY_BOT}", address], f'on_event = "cat >> {project.folder}/events"\n'
    )
    project.issue(2)
    project.play(BAD, ("2", 0, [{"shell": f"env > {project.folder}/env"}, {"write": "b.txt", "text": "b"}]))
    project.commit("two")
    project.run(code=3)
    mails = [part.get_payload(decode=True).decode() for each in mail.mails for part in each.walk()
             if part.get_content_type() == "text/html"]  # fmt: skip
    texts = {name: "\n".join(each) for name, each in {
        "ntfy": [each["message"] for each in phone.texts("ntfy")],
        "hook": [each["message"] for each in phone.texts("hook")],
        "telegram": [each["text"] for each in phone.texts("telegram")],
        "mail": mails,
    }.items()}  # fmt: skip
    blocked = project.noface("blocked", "1").stdout
    command = next(line.strip() for line in blocked.splitlines() if line.strip().startswith("noface "))
    for name, text in texts.items():
        assert command in html.unescape(text).replace("\xa0", " "), (name, text)
        assert "1 landed; finished; some issues need a person" in html.unescape(text).replace("\xa0", " "), name
        assert "AssertionError" in text, name
        assert "\x1b" not in text, name
    assert "<b>Assertion" not in texts["mail"]  # that mail is HTML, and an agent's words are no part of it
    events = [json.loads(line) for line in (project.folder / "events").read_text().replace("}{", "}\n{").splitlines()]
    assert [(each["event"], each["issue"]) for each in events] == [("issue_blocked", "1"), ("run_ended", None)]
    shown = project.noface("config", "show").stdout + project.noface("config", "show", "--json").stdout
    shown += project.noface("status", "--json").stdout
    files = [path.read_bytes() for path in project.state.rglob("*") if path.is_file()]
    shown += (project.folder / "env").read_text()
    for secret in ("night-watch-7", TOKEN, "geheim-Wort-12"):
        assert secret not in shown
        assert not any(secret.encode() in data for data in files), secret


@pytest.mark.thorough
def test_a_service_that_does_not_answer_is_told_once_fails_no_run_and_is_told_by_the_next(project, phone):
    phone.status = 503
    notify(project, [phone.ntfy, phone.webhook.replace("/hook", "/hook/secret-part")])
    out = project.run(code=3)
    assert out.count("messages wait") == 2
    away = project.shown("status")["notify_away"]
    assert {each["service"] for each in away} == {f"ntfy://{phone.host}", f"json://{phone.host}"}
    assert "503" in away[0]["why"] + away[1]["why"]
    assert "Messages wait since" in project.noface("status").stdout
    phone.status = 200
    project.run(code=3)
    (hook,) = {each["message"] for each in phone.texts("hook")}
    assert "Add button 1" in hook
    assert project.shown("status")["notify_away"] == []


@pytest.mark.thorough
@pytest.mark.parametrize("kind", first_ones(["kill", "raise"]))
def test_a_kill_or_a_fault_between_a_message_and_its_cursor_repeats_that_message_only(project, phone, kind):
    notify(project, [phone.webhook])
    project.noface("run", NOFACE_FAILPOINT=f"message_sent:1:{kind}")
    first = phone.texts("hook")[0]
    project.run(code=3)
    again = [each["message"] for each in phone.texts("hook")[1:]]
    assert [text.count("Add button 1") for text in again] in ([1], [1, 0])  # with or before the word of the end
    assert "Add button 1" in first["message"]
    project.run(code=3)
    assert "Add button 1" not in phone.texts("hook")[-1]["message"]


@pytest.mark.thorough
def test_a_red_main_is_told_though_no_run_begins_and_in_the_quiet_hours_nobody_is_woken(project, phone):
    notify(project, [phone.ntfy, phone.telegram, phone.webhook], 'quiet_hours = "00:00-00:00"\n')
    project.write("bad", "x")
    project.commit("broken")
    project.run(code=3)
    (told,) = phone.texts("ntfy")
    assert "main" in told["message"]
    assert "check" in told["message"]
    assert int(told["delay"]) > time.time()
    assert [each["disable_notification"] for each in phone.texts("telegram")] == [True]
    assert phone.texts("hook") == []  # it would wake somebody: the next run tells it
    project.git("rm", "-q", "bad")
    project.config(f'\n[notify]\nurls = ["{phone.webhook}"]\n', gate=GATE)
    project.commit("mended")
    project.noface("run")
    assert "BASELINE_RED" in phone.texts("hook")[0]["message"]


@pytest.mark.parametrize(
    "case",
    first_ones(
        [
            ('urls = ["$NOT_SET_HERE"]', "$NOT_SET_HERE is not set"),
            ('urls = ["my topic"]', "is no address"),
            (
                'urls = ["json://127.0.0.1/x"]\nanswers = ["mailto://a:b@example.org"]',
                "nothing can be heard from mailto",
            ),
            (f'answers = ["tgram://{TOKEN}"]', "names no chat"),
            ('on_event = "sh a.txt"', "runs"),
            ('on_event = "sh \'a"', "its quotes"),
            ('quiet_hours = "25:00-07:00"', "times of the clock"),
        ],
        2,
    ),
)
def test_what_cannot_be_told_is_said_before_anything_starts(project, case):
    lines, words = case
    project.config(f"\n[notify]\n{lines}\n")
    project.issue(1)
    project.commit("settings")
    done = project.noface("run")
    assert done.returncode == 2, done.stdout
    assert words in done.stderr.replace("\n", " ")
    assert TOKEN not in done.stderr
    checked = project.noface("config", "check")
    assert checked.returncode == 2
    assert words in (checked.stdout + checked.stderr).replace("\n", " ").replace("  ", " ")
    planned = project.noface("run", "--dry-run")
    assert planned.returncode == 2
    assert words in (planned.stdout + planned.stderr).replace("\n", " ").replace("  ", " ")


def test_notify_test_says_what_came_of_each_service_and_shows_none_of_their_secrets(project, phone):
    notify(project, [phone.ntfy, f"json://127.0.0.1:1/{'s' * 12}", "nosuch://x.example/y"], 'on_event = "exit 3"\n',
           answers=[phone.replies, phone.telegram])  # fmt: skip
    done = project.noface("tools", "notify", "test")
    assert done.returncode == 3
    lines = done.stdout.splitlines()
    assert [line[0] for line in lines] == ["✓", "✗", "✗", "✓", "✓", "✗"]
    assert "Unparseable" in lines[2]
    assert "exit code 3" in lines[5]
    assert not any(secret in done.stdout for secret in ("s" * 12, TOKEN, "reply-topic-9"))
    assert phone.texts("ntfy")[0]["title"] == "repo: a test"
