"""Secrets stay out of logs, prompts, events and reports, whoever printed them (I12)."""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.processes import wait_for

from noface.gates.secrets import MARK, marked, scan
from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import EndedBy
from noface.process.log_masking import Masking, known_secrets
from noface.process.masked_file import mask_file
from noface.process.supervise import Canceller, Command, Launcher
from noface.secrets.masked_records import masked_failure, masked_gate
from noface.secrets.masking import Masker
from noface.secrets.rules import is_secret_name, secrets_of
from noface.secrets.shapes import keys_in_place, without_keys

VALUE = "hunter2-hunter2!"
TOKEN = Masker({VALUE: "MY_TOKEN"})
IN_PLACE = "***MY_TOKEN--***"
"""What stands in files for the value: as long as that."""
BORDER = 1 << 20


def known(environment, given=(), is_path=lambda _: False):
    return {(name, value) for value, name in secrets_of(environment, given, is_path).items()}


# Which values are secrets


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "GH_TOKEN",
        "client_secret",
        "DB_PASSWORD",
        "DB_PASSWD",
        "AWS_ACCESS_KEY_ID",
        "X_KEYS",
        "MYSQL_PWD",
    ],
)
def test_variables_named_like_secrets_are_secrets(name):
    assert is_secret_name(name)
    assert known({name: VALUE}) == {(name, VALUE)}


@pytest.mark.parametrize(
    "name", ["PATH", "KEYBOARD", "KEYMAP", "PWD", "OLDPWD", "TOKEN_URL", "SECRETS_DIR", "PASSWORD_FILE", "KEY_TYPE"]
)
def test_others_are_not(name):
    assert known({name: VALUE}) == set()


@pytest.mark.parametrize("value", ["", "short", "postgres", "Password", "aaaaaaaaaaaa"])
def test_values_that_stand_in_texts_by_chance_are_no_secrets(value):
    assert known({"DB_PASSWORD": value}) == set()


def test_numbers_of_tokens_and_paths_of_key_files_are_no_secrets(tmp_path):
    (tmp_path / "key.json").touch()
    environment = {"MAX_OUTPUT_TOKENS": "10000000", "GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "key.json")}
    assert not known_secrets((), None, environment).masker
    assert known_secrets((), None, {"AWS_SECRET": "/abc/defghijk+lmnop"}).masker.names == {"AWS_SECRET"}


def test_the_password_in_a_url_is_a_secret_whatever_the_variable_is_called():
    assert known({"DATABASE_URL": f"postgres://app:{VALUE}@db/app"}) == {("DATABASE_URL", VALUE)}
    assert known({"HTTPS_PROXY": "http://proxy:3128"}) == set()


def test_what_a_person_gives_a_model_is_a_secret_unless_it_says_that_it_is_a_setting():
    given = [
        ("OPENROUTER", "v1-abcdef-123456"), ("ANTHROPIC_MODEL", "claude-opus-4-5"), ("EXTRA", "no secret here"),
        ("API_BASE_URL", "https://example.org/v1"), ("MAX_THINKING_TOKENS", "8000"), ("LIMIT_OF_IT", "123456789"),
    ]  # fmt: skip
    assert known({}, given) == {("OPENROUTER", "v1-abcdef-123456")}


# Texts


def test_a_value_is_replaced_by_the_name_of_its_variable():
    assert (
        TOKEN.text(f"login {VALUE}, again:{VALUE}{VALUE}.")
        == "login ***MY_TOKEN***, again:***MY_TOKEN******MY_TOKEN***."
    )


def test_a_value_is_found_as_json_xml_and_urls_write_it():
    value = 'pa"ss\\wo/rd\tü&'
    masker = Masker({value: "P"})
    once = json.dumps({"p": value})
    for text in (
        value,
        once,
        json.dumps({"p": value}, ensure_ascii=False),
        json.dumps(once),
        "pa%22ss%5Cwo%2Frd%09%C3%BC%26",
        'pa"ss\\wo/rd\tü&amp;',
        "pa&quot;ss\\wo/rd\tü&amp;",
    ):
        assert "***P***" in masker.text(text), text
        assert "wo/rd" not in masker.text(text)
    assert json.loads(masker.text(once)) == {"p": "***P***"}


def test_each_long_line_of_a_value_of_many_is_found_by_itself():
    masker = Masker({"BEGIN\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nend of it\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASD\n": "PEM"})
    assert masker.text("1 MIIEvQIBADANBgkqhkiG9w0BAQEFAASD end of it") == "1 ***PEM*** end of it"


def test_the_longer_of_two_values_wins_where_both_fit():
    masker = Masker({"abcdefgh": "A_KEY", "abcdefghijkl": "B_KEY"})
    assert masker.text("abcdefghijkl abcdefghij") == "***B_KEY*** ***A_KEY***ij"
    assert masker.in_place(b"abcdefghijkl abcdefghij") == [(0, b"***B_KEY-***"), (13, b"***A_***")]


def test_what_stands_in_a_file_for_a_value_is_as_long_and_becomes_the_same_mark_in_texts():
    values = {"A": "abcdefghijklmnop", "LONG_NAME_KEY": "12345678", "odd-name": "qrstuvwxyz", "ACCENT_KEY": "üüüüüüüü"}
    masker = Masker({value: name for name, value in values.items()})
    for name, value in values.items():
        ((start, mark),) = masker.in_place(f"<{value}>".encode())
        assert (start, len(mark)) == (1, len(value.encode()))
        assert masker.text(f"<{mark.decode()}>") == masker.text(f"<{value}>") == f"<***{name}***>"


def test_a_mark_that_could_stand_for_two_variables_is_left_as_it_is():
    masker = Masker({"12345678": "DB_KEY_ONE", "abcdefgh": "DB_KEY_TWO", "q" * 9 + "x": "DB_K"})
    assert [mark for _, mark in masker.in_place(b"12345678 abcdefgh")] == [b"***DB***"] * 2
    assert masker.text("***DB*** ***DB_K***") == "***DB*** ***DB_K***"
    cut = Masker({"123456789.12": "DB_KEY_ONE", "abcdefgh": "DB_KEY"})
    assert cut.in_place(b"123456789.12") == [(0, b"***DB_KEY***")]
    assert cut.text("***DB_KEY***") == "***DB_KEY***"


def test_without_a_known_value_text_stays_as_it_is():
    assert Masker().text("nothing") == TOKEN.text("nothing") == "nothing"
    assert not Masker()
    assert TOKEN


@pytest.mark.parametrize(
    ("key", "called"),
    [
        ("sk-ant-api03-" + "aB3_" * 20, "Anthropic key"),
        ("sk-proj-" + "aB3x" * 10, "API key"),
        ("ghp_" + "a1B2" * 9, "GitHub token"),
        ("github_pat_" + "a1B2_" * 16, "GitHub token"),
        ("AKIAIOSFODNN7ABCDEFG", "AWS key"),
        ("xoxb-1234567890-abcdefghij", "Slack token"),
        ("glpat-" + "a1B2-" * 4, "GitLab token"),
        ("AIza" + "a1B2-" * 7, "Google key"),
    ],
)
def test_keys_are_known_by_their_shape(key, called):
    assert without_keys(f'key="{key}", next') == f'key="***{called}***", next'
    assert key not in without_keys(json.dumps([key, f"{key}\n"]))


@pytest.mark.parametrize(
    "text",
    [
        "task-ant-and-bee-and-all-their-friends",
        "sk-learn",
        "sk-fading-circle-of-many-little-dots",
        "ghp_short",
        "e3b0c44298fc1c149afbf4c8996fb924",
        "AKIA",
        "xox-files",
    ],
)
def test_what_only_resembles_a_key_stays(text):
    assert without_keys(text) == text


BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n" * 3


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"a\n-----BEGIN RSA PRIVATE KEY-----\n{BODY}-----END RSA PRIVATE KEY-----\nb", "a\n***private key***\nb"),
        (f"+-----BEGIN PRIVATE KEY-----\n+{BODY[:65]}\n the rest of a diff", "+***private key***the rest of a diff"),
        (
            '{"k": "-----BEGIN EC PRIVATE KEY-----\\nMHcC\\n-----END EC PRIVATE KEY-----\\n"}',
            '{"k": "***private key***\\n"}',
        ),
        ("-----BEGIN PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----"),
    ],
)
def test_private_keys_are_replaced_whole_or_as_far_as_they_go(text, left):
    assert without_keys(text) == left


@pytest.mark.parametrize(
    "piece", ["sk-", "sk-a", "-----BEGIN PRIVATE KEY-----", "-----END ", "AKIA", "sk-ant-" + "x" * 300]
)
def test_no_text_makes_the_search_slow(piece):
    began = time.process_time()
    without_keys(piece * (1_000_000 // len(piece)) + "PRIVATE KEY")
    assert time.process_time() - began < 2.0


def test_records_lose_secrets_and_keep_what_programs_use():
    failure = Failure(
        FailureKind.TEST_FAILURE, f"m {VALUE}", rule="r", location="a.py:1", signature=f"s {VALUE}",
        evidence=(VALUE,), excerpt=f"e {VALUE}", failing_tests=(f"t[{VALUE}]", "t[AKIAIOSFODNN7ABCDEFG]"),
        questions=(VALUE,), also_matched=(("r", VALUE, "why"),),
    )  # fmt: skip
    masked = masked_failure(failure, TOKEN)
    assert VALUE not in repr(masked)
    assert masked.failing_tests == ("t[***MY_TOKEN***]", "t[AKIAIOSFODNN7ABCDEFG]")
    gate = GateSpec("g", f"psql {VALUE}")
    assert masked_gate(GateResult(gate, "tree", 1, 0.1, failure=failure, first_failure=failure), TOKEN).gate == gate


def test_a_value_that_a_patch_adds_is_marked_and_one_that_was_there_is_only_taken_out():
    head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n"
    added = TOKEN.patch(f"{head}-old\n+key = {VALUE}\n".encode(), MARK).decode()
    assert [secret.type for secret in marked(scan(added)[0])] == ["MY_TOKEN"]
    moved = TOKEN.patch(f"{head}-key = {VALUE}\n+key = {VALUE} # moved\n".encode(), MARK).decode()
    assert marked(scan(moved)[0]) == ()
    assert VALUE not in added + moved
    plain = Masker({"app_test": "DB_PASSWORD"}).patch(f"{head}+database = app_test\n".encode(), MARK).decode()
    assert "+database = ***DB_PASSWORD***" in plain
    assert marked(scan(plain)[0]) == ()


# Files


def test_a_log_without_a_secret_is_not_touched(tmp_path):
    log = tmp_path / "agent.log"
    log.write_bytes(os.urandom(3 * BORDER))
    before = log.stat()
    assert not mask_file(log, TOKEN)
    assert log.stat() == before or log.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("offset", [*range(-len(VALUE) - 1, 2), 5000])
def test_values_across_the_borders_of_what_is_read_at_once_are_found(tmp_path, offset):
    log = tmp_path / "agent.log"
    log.write_bytes(b"x" * (BORDER + offset) + VALUE.encode() + b"y" * BORDER + VALUE.encode())
    log.chmod(0o640)
    assert mask_file(log, TOKEN)
    marked = IN_PLACE.encode()
    assert log.read_bytes() == b"x" * (BORDER + offset) + marked + b"y" * BORDER + marked
    assert log.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [log]


def test_the_longest_value_an_environment_can_hold_is_found_across_a_border(tmp_path):
    value = os.urandom(60_000).hex()
    log = tmp_path / "agent.log"
    log.write_text("a" * (BORDER - 77) + value + "b" * BORDER)
    assert mask_file(log, Masker({value: "LONG"}))
    assert log.read_text() == "a" * (BORDER - 77) + "***LONG" + "-" * (len(value) - 10) + "***" + "b" * BORDER


def test_200_megabytes_are_masked_in_bounded_memory(tmp_path):
    log = tmp_path / "agent.log"
    with log.open("wb") as file:
        for _ in range(200):
            file.write(b"." * (1_000_000 - len(VALUE)) + VALUE.encode())
    script = "import sys, pathlib; from noface.secrets.masking import *; from noface.process.masked_file import mask_file; assert mask_file(pathlib.Path(sys.argv[1]), Masker({sys.argv[2]: 'MY_TOKEN'}))"
    subprocess.run(
        [sys.executable, "-c", script, log, VALUE],
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (150_000_000, 150_000_000)),
    )
    assert log.stat().st_size == 200_000_000
    assert VALUE.encode() not in log.read_bytes()


def test_holes_of_a_file_that_seems_endless_are_passed_over(tmp_path):
    log = tmp_path / "agent.log"
    with log.open("wb") as file:
        file.write(VALUE.encode())
        file.seek(3 << 40)
        file.write(VALUE.encode())
        file.truncate(4 << 40)
    assert mask_file(log, TOKEN)
    with log.open("rb") as file:
        assert file.read(20).rstrip(b"\0") == IN_PLACE.encode()
        file.seek(3 << 40)
        assert file.read(20).rstrip(b"\0") == IN_PLACE.encode()
    assert log.stat().st_blocks < 1000


def test_values_are_overwritten_where_they_stand_so_no_room_is_needed(tmp_path):
    log = tmp_path / "agent.log"
    log.write_bytes(b"x" * (BORDER - 5) + VALUE.encode() + b"y" * BORDER)
    before = log.stat()
    script = "import sys, pathlib; from noface.secrets.masking import *; from noface.process.masked_file import mask_file; assert mask_file(pathlib.Path(sys.argv[1]), Masker({sys.argv[2]: 'LONGER_THAN_ITS_VALUE'}))"
    subprocess.run(
        [sys.executable, "-B", "-c", script, log, VALUE],
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (before.st_size, before.st_size)),
    )
    assert log.read_bytes() == b"x" * (BORDER - 5) + b"***LONGER_THA***" + b"y" * BORDER
    assert log.stat().st_ino == before.st_ino
    assert list(tmp_path.iterdir()) == [log]


def test_a_file_that_has_another_name_elsewhere_stays_there_as_it_is(tmp_path):
    precious, log = tmp_path / "precious", tmp_path / "folder" / "agent.log"
    log.parent.mkdir()
    with precious.open("wb") as file:
        file.write(VALUE.encode())
        file.truncate(1 << 40)
    precious.chmod(0o640)
    log.hardlink_to(precious)
    assert mask_file(log, TOKEN)
    for path, first in ((precious, VALUE), (log, IN_PLACE)):
        with path.open("rb") as file:
            assert file.read(len(VALUE)).decode() == first
        assert (path.stat().st_size, path.stat().st_mode & 0o777) == (1 << 40, 0o640)
        assert path.stat().st_blocks < 5000
    assert list(log.parent.iterdir()) == [log]


def test_links_pipes_and_folders_in_a_logs_place_are_left_alone(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text(VALUE)
    (tmp_path / "link").symlink_to(precious)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "absent", "."):
        assert not mask_file(tmp_path / name, TOKEN)
    assert precious.read_text() == VALUE


# Programs


def command(folder, script, **changes):
    env = (("PATH", os.environ["PATH"]), ("SECRET_VALUE", VALUE))
    fields = {"stdout": str(folder / "out"), "stderr": str(folder / "err"), "timeout_s": 60.0} | changes
    return Command(("bash", "-c", script), str(folder), env, None, idle_timeout_s=None, log_max_bytes=1 << 30, **fields)


def test_logs_are_masked_before_the_last_reader_sees_them(tmp_path):
    seen = []
    with Launcher(masking=Masking(TOKEN, tmp_path)) as launcher:
        launcher.run(
            command(
                tmp_path,
                "echo out $SECRET_VALUE; echo err $SECRET_VALUE >&2; (sleep 0.1; echo late $SECRET_VALUE) & wait",
            ),
            on_end=lambda: seen.append((tmp_path / "out").read_text()),
        )
    assert seen == [f"out {IN_PLACE}\nlate {IN_PLACE}\n"]
    assert (tmp_path / "out").read_text() == seen[0]
    assert (tmp_path / "err").read_text() == f"err {IN_PLACE}\n"
    assert list((tmp_path / "unmasked").iterdir()) == []


@pytest.mark.parametrize("how", ["timeout", "cancelled", "limit"])
def test_logs_of_a_program_that_was_ended_are_masked_too(tmp_path, how):
    stop = Canceller()
    changes = {"timeout": {"timeout_s": 0.4}, "limit": {}, "cancelled": {}}[how]
    script = "echo $SECRET_VALUE; " + ("yes" if how == "limit" else "sleep 100")

    def look():
        if how == "cancelled" and (tmp_path / "out").read_text():
            stop.cancel()

    with Launcher(masking=Masking(TOKEN, tmp_path)) as launcher:
        asked = command(tmp_path, script, **changes)
        ended = launcher.run(asked if how != "limit" else _limited(asked), stop, on_output=look)
    assert ended.ended_by is not EndedBy.ITSELF or ended.output_limit
    assert (tmp_path / "out").read_text().startswith(f"{IN_PLACE}\n")


def _limited(asked):
    from dataclasses import replace

    return replace(asked, log_max_bytes=100_000)


def test_an_unreadable_log_is_masked_all_the_same(tmp_path):
    with Launcher(masking=Masking(TOKEN, tmp_path)) as launcher:
        launcher.run(command(tmp_path, "echo $SECRET_VALUE; chmod 000 out"))
    assert (tmp_path / "out").read_text() == f"{IN_PLACE}\n"


def test_new_files_of_a_covered_folder_are_masked_and_old_ones_are_not(tmp_path):
    (tmp_path / "order.json").write_text(VALUE)
    (tmp_path / "before").mkdir()
    (tmp_path / "before" / "chat.md").write_text(VALUE)
    with Masking(TOKEN, tmp_path / "state").covering(tmp_path):
        (tmp_path / "chat.md").write_text(VALUE)
        (tmp_path / "of/its/own").mkdir(parents=True)
        (tmp_path / "of/its/own/chat.md").write_text(VALUE)
        (tmp_path / "of/link").symlink_to(tmp_path / "before")
    assert (tmp_path / "chat.md").read_text() == IN_PLACE
    assert (tmp_path / "of/its/own/chat.md").read_text() == IN_PLACE
    assert (tmp_path / "order.json").read_text() == VALUE
    assert (tmp_path / "before" / "chat.md").read_text() == VALUE


def interrupted(state, *paths, masker=TOKEN):
    """Leave what a noface leaves that is killed while programs run."""
    covering = Masking(masker, state).covering(*paths)
    covering.__enter__()
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(VALUE)
    return covering


def test_what_a_killed_noface_left_is_masked_by_the_next(tmp_path):
    left = interrupted(tmp_path, tmp_path / "attempts/7/1/agent.log", tmp_path / "baseline/check.out")
    assert Masking(TOKEN, tmp_path).catch_up() == 2
    assert (tmp_path / "attempts/7/1/agent.log").read_text() == IN_PLACE
    assert Masking(TOKEN, tmp_path).catch_up() == 0
    assert list((tmp_path / "unmasked").iterdir()) == []
    del left


def test_a_note_stays_until_the_variables_it_names_are_known_again(tmp_path):
    left = interrupted(tmp_path, tmp_path / "agent.log")
    assert Masking(Masker(), tmp_path).catch_up() == 0
    assert Masking(Masker({"another value": "OTHER"}), tmp_path).catch_up() == 0
    assert Masking(TOKEN, tmp_path).catch_up() == 1
    assert list((tmp_path / "unmasked").iterdir()) == []
    del left


@pytest.mark.parametrize("where", ["../precious", "/absolute/precious", "link/precious", "sub/../../precious"])
def test_a_forged_note_leads_to_no_file_outside_the_state_folder(tmp_path, where):
    precious, state = tmp_path / "precious", tmp_path / "state"
    precious.write_text(VALUE)
    (state / "unmasked").mkdir(parents=True)
    (state / "link").symlink_to(tmp_path)
    (state / "sub").mkdir()
    name = where.replace("/absolute", str(tmp_path))
    (state / "unmasked" / "forged").write_text(json.dumps({"names": [], "files": {name: []}}))
    (state / "unmasked" / "broken").write_text('{"files": [1, {}]')
    os.mkfifo(state / "unmasked" / "pipe")
    assert Masking(TOKEN, state).catch_up() == 0
    assert precious.read_text() == VALUE


# Runs

SHAPED = "ghp_" + "a1B2" * 9
SHAPED_IN_PLACE = f"***GitHub-token{'-' * (len(SHAPED) - 18)}***"


def where_it_stands(project, *values):
    """Every file of noface's state in which one of the values can be read."""
    files = [path for path in project.state.rglob("*") if path.is_file() and "hubs" not in path.parts]
    assert len(files) > 10
    return [(path, value) for path in files for value in values if value.encode() in path.read_bytes()]


def test_secrets_that_worker_and_gate_print_are_nowhere_in_what_noface_keeps_sends_and_prints(project):
    (project.folder / "key").write_text(SHAPED)
    key = f"$(cat {project.folder}/key)"
    beside, session = "$(dirname $NOFACE_ORDER_FILE)/chat.md", "$(dirname $NOFACE_ORDER_FILE)/session/chat.jsonl"
    say = f"echo worker got $MY_TOKEN and {key}; echo $MY_TOKEN >&2; echo $MY_TOKEN > {beside}; echo $MY_TOKEN > {session}; echo $OPENROUTER"
    project.config(
        '\n[models.shell]\nagent = "command"\nenv_pass = ["MY_TOKEN"]\nenv = { OPENROUTER = "v1-abcdef-123456" }\n'
        f"command = '{say}; echo $NOFACE_ATTEMPT > b.txt'\n",
        gate=f"test ! -e b.txt || {{ echo FAILED: $MY_TOKEN, {key}; grep -q 2 b.txt; }}",
    )
    settings = (project.path / "noface.toml").read_text()
    project.write("noface.toml", settings.replace('name = "check"', 'name = "check"\nenv_pass = ["MY_TOKEN"]'))
    project.issue(7, model="shell", body=f"Use the key {SHAPED} and {VALUE}.")
    project.commit()
    done = project.noface("run", "--json", MY_TOKEN=VALUE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert where_it_stands(project, VALUE, "v1-abcdef-123456") == []
    assert where_it_stands(project, SHAPED) == []
    assert VALUE not in done.stdout
    assert SHAPED not in done.stdout
    second = project.prompt("7", 2)
    assert "FAILED: ***MY_TOKEN***, ***GitHub token***" in second
    assert "Use the key ***GitHub token*** and ***MY_TOKEN***." in second
    log = project.state / "attempts" / "7" / "1" / "agent.log"
    assert log.read_text() == f"worker got {IN_PLACE} and {SHAPED_IN_PLACE}\n***OPENROUTER***\n"
    assert (log.parent / "agent.err").read_text() == f"{IN_PLACE}\n"
    assert (log.parent / "chat.md").read_text() == f"{IN_PLACE}\n"
    assert (log.parent / "gates" / "check.out").read_text() == f"FAILED: {IN_PLACE}, {SHAPED_IN_PLACE}\n"


def test_a_known_secret_that_a_worker_writes_into_a_file_never_lands(project):
    project.config(
        '\n[models.shell]\nagent = "command"\nenv_pass = ["MY_TOKEN"]\ncommand = "echo key = $MY_TOKEN > b.txt"\n'
    )
    project.issue(7, model="shell", max_attempts=1)
    project.commit()
    project.run(code=3, MY_TOKEN=VALUE)
    (attempt,) = project.attempts("7")
    assert attempt["outcome"] == "BOUNDARY_VIOLATION"
    assert "MY_TOKEN in b.txt" in attempt["failure"]["message"]
    assert where_it_stands(project, VALUE) == []
    assert project.git("ls-tree", "--name-only", "main", "b.txt") == ""


def test_what_a_worker_wrote_beside_its_logs_when_noface_was_killed_is_masked_by_the_next_run(project):
    beside = "$(dirname $NOFACE_ORDER_FILE)"
    project.config(
        '\n[models.shell]\nagent = "command"\nenv_pass = ["MY_TOKEN"]\n'
        f'command = "mkdir -p {beside}/db; echo $MY_TOKEN | tee {beside}/db/chat.md > {beside}/chat.md; '
        'test $NOFACE_ATTEMPT != 1 || sleep 100; echo > b.txt"\n'
    )
    project.issue(7, model="shell")
    project.commit()
    running = project.start("run", MY_TOKEN=VALUE)
    chat = project.state / "attempts" / "7" / "1" / "chat.md"
    wait_for(lambda: chat.exists() and VALUE in chat.read_text())
    running.kill()
    running.communicate()
    wait_for(lambda: not project.processes())
    assert VALUE in chat.read_text()
    project.run(MY_TOKEN=VALUE)
    assert chat.read_text() == f"{IN_PLACE}\n"
    assert where_it_stands(project, VALUE) == []


def test_what_stands_for_a_key_in_a_file_is_as_long_and_leaves_json_what_it_is():
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}-----END RSA PRIVATE KEY-----\n"
    document = {
        "a": ["ghp_" + "a1B2" * 9, "b"],
        "whole": key,
        "cut": [key[:120], "abcdefghijklmnopqrstuvwx"],
        "c": "aü",
    }
    for text in (json.dumps(document), json.dumps({"line": json.dumps(document)})):
        data = bytearray(text.encode())
        for start, mark in keys_in_place(bytes(data)):
            data[start : start + len(mark)] = mark
        assert len(data) == len(text.encode())
        assert b"a1B2" not in data
        assert b"MIIE" not in data
        left = json.loads(data)
        assert json.loads(left["line"])["c"] == "aü" if "line" in left else left["c"] == "aü"


@pytest.mark.parametrize("at", [(1 << 20) - 20, 2 << 20])
def test_a_file_of_a_run_that_ended_is_closed_and_holds_no_key(tmp_path, at):
    key = "ghp_" + "a1B2" * 9
    folder = tmp_path / "session" / "projects"
    folder.mkdir(parents=True)
    file, linked, link = folder / "a.jsonl", folder / "b.db", folder / "c"
    file.write_bytes(b"." * at + b' "' + key.encode() + b'"')
    elsewhere = tmp_path.parent / "elsewhere"
    elsewhere.write_text(key)
    linked.hardlink_to(elsewhere)
    link.symlink_to(elsewhere)
    file.chmod(0o644)
    Masking().settle(tmp_path, "session")
    assert file.stat().st_size == at + len(key) + 3
    assert key.encode() not in file.read_bytes() + linked.read_bytes()
    assert elsewhere.read_text() == key  # the person's
    assert [path.stat().st_mode & 0o777 for path in (file, linked, folder)] == [0o600, 0o600, 0o700]


def test_half_of_a_character_that_json_may_name_is_no_text_and_is_replaced():
    masker = Masker({"k7Rz2LxJ4m6Vn3pB8qWs": "MY_TOKEN"})
    assert masker.text("a\ud800b k7Rz2LxJ4m6Vn3pB8qWs") == "a?b ***MY_TOKEN***"
    assert masker.text("a\udc80b") == "a\udc80b"  # a byte that is no UTF-8
