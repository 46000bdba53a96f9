"""Secrets stay out of logs, prompts, events and reports, whoever printed them (I12)."""

import base64
import json
import os

import pytest
from support.cases import first_ones
from support.processes import wait_for

from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec
from noface.model.listed import IssueFault
from noface.model.taxonomy import FailureKind
from noface.process.masking import known_secrets, mask_files
from noface.secrets.masked_records import masked_record
from noface.secrets.masking import Masker
from noface.secrets.rules import is_secret_name, secrets_of
from noface.secrets.shapes import without_keys

VALUE = "hunter2-hunter2!"
TOKEN = Masker({VALUE: "MY_TOKEN"})
IN_PLACE = "***MY_TOKEN--***"
"""What stands in files for the value: as long as that."""


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
    assert not known_secrets((), environment)
    assert known_secrets((), {"AWS_SECRET": "/abc/defghijk+lmnop"}).names == {"AWS_SECRET"}


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
    assert masker.masked(b"abcdefghijkl abcdefghij") == b"***B_KEY-*** ***A_***ij"


def test_what_stands_in_bytes_for_a_value_is_as_long_and_loses_its_filling_in_texts():
    masker = Masker({"abcdefghijklmnop": "A", "12345678": "LONG_NAME_KEY", "qrstuvwxyz": "odd-name"})
    left = masker.masked(b"<abcdefghijklmnop 12345678 qrstuvwxyz>").decode()
    assert left == "<***A---------*** ***LO*** ***----***>"
    assert masker.text(left) == "<***A*** ***LO*** ***----***>"


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


def test_records_lose_secrets_and_keep_what_programs_use():
    failure = Failure(
        FailureKind.TEST_FAILURE, f"m {VALUE}", rule="r", location="a.py:1", signature=f"s {VALUE}",
        evidence=(VALUE,), excerpt=f"e {VALUE}", failing_tests=(f"t[{VALUE}]", "t[AKIAIOSFODNN7ABCDEFG]"),
        questions=(VALUE,), also_matched=(("r", VALUE, "why"),),
    )  # fmt: skip
    masked = masked_record(failure, TOKEN)
    assert VALUE not in repr(masked)
    assert masked.failing_tests == ("t[***MY_TOKEN***]", "t[AKIAIOSFODNN7ABCDEFG]")
    gate = GateSpec("g", f"psql {VALUE}")
    assert masked_record(GateResult(gate, "tree", 1, 0.1, failure=failure, first_failure=failure), TOKEN).gate == gate
    fault = IssueFault("a.md", f"line 1: {VALUE}")
    assert masked_record((fault,), TOKEN) == (fault._replace(problem="line 1: ***MY_TOKEN***"),)


# Runs

SHAPED = "ghp_" + "a1B2" * 9
SHAPED_IN_PLACE = f"***GitHub-token{'-' * (len(SHAPED) - 18)}***"


def where_it_stands(project, *values):
    """Every file of noface's state in which one of the values can be read."""
    files = [path for path in project.state.rglob("*") if path.is_file() and "hubs" not in path.parts]
    assert len(files) > 10
    return [(path, value) for path in files for value in values if value.encode() in path.read_bytes()]


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
        data = Masker().masked(text.encode())
        assert len(data) == len(text.encode())
        assert b"a1B2" not in data
        assert b"MIIE" not in data
        left = json.loads(data)
        assert json.loads(left["line"])["c"] == "aü" if "line" in left else left["c"] == "aü"


def test_a_folder_of_a_run_that_ended_is_closed_and_what_an_agent_kept_there_holds_no_secret(tmp_path):
    at = (1 << 20) - 20
    folder = tmp_path / "session" / "projects"
    folder.mkdir(parents=True)
    file, linked, link, beside, own = (
        folder / "a.jsonl",
        folder / "b.db",
        folder / "c",
        tmp_path / "chat",
        tmp_path / "prompt.md",
    )
    with file.open("wb") as written:
        written.seek(at)
        written.write(f' "{SHAPED}" {VALUE}'.encode())
    elsewhere = tmp_path.parent / "elsewhere"
    elsewhere.write_text(SHAPED)
    linked.hardlink_to(elsewhere)
    link.symlink_to(elsewhere)
    os.mkfifo(folder / "pipe")
    huge = folder / "huge"
    huge.touch()
    os.truncate(huge, 3 << 40)
    beside.write_text(VALUE)
    own.write_text(f"Change only {VALUE}")
    file.chmod(0o044)
    mask_files(tmp_path, "session", TOKEN)
    with file.open("rb") as written:
        written.seek(at)
        assert written.read().decode() == f' "{SHAPED_IN_PLACE}" {IN_PLACE}'
    assert not huge.exists()
    assert linked.read_text() == SHAPED_IN_PLACE
    assert elsewhere.read_text() == SHAPED  # the person's
    assert (beside.read_text(), own.read_text()) == (IN_PLACE, f"Change only {VALUE}")
    assert [path.stat().st_mode & 0o777 for path in (file, linked, folder)] == [0o600, 0o600, 0o700]


def test_half_of_a_character_that_json_may_name_is_no_text_and_is_replaced():
    masker = Masker({"k7Rz2LxJ4m6Vn3pB8qWs": "MY_TOKEN"})
    assert masker.text("a\ud800b k7Rz2LxJ4m6Vn3pB8qWs") == "a?b ***MY_TOKEN***"
    assert masker.text("a\udc80b") == "a\udc80b"  # a byte that is no UTF-8


WORKER = r"""
echo out $MY_TOKEN; echo err $MY_TOKEN >&2
beside=$(dirname $NOFACE_ORDER_FILE)
mkdir -p $beside/db; echo $MY_TOKEN | tee $beside/chat.md > $beside/db/chat.md
git add -A; git -c user.name=a -c user.email=a@b commit -qm "with $MY_TOKEN" --allow-empty
echo done $NOFACE_ATTEMPT > b.txt
rm -f c-* d.txt e.txt; test $NOFACE_ATTEMPT != 1 || { touch "c-$MY_TOKEN.txt"; echo "key = $MY_TOKEN" > d.txt; printf "$MY_TOKEN" | base64 > e.txt; }
echo '```json'
echo '{"status": "done", "summary": "s '$MY_TOKEN'", "risks": ["r '$MY_TOKEN'"], "gaps": ["g '$MY_TOKEN'"],'
echo ' "questions": ["q '$MY_TOKEN'"], "needs": ["'$MY_TOKEN'"]}'
echo '```'
"""
GATE = r"""
echo gate $MY_TOKEN; echo gate err $MY_TOKEN >&2
test -e b.txt || exit 0
long=$(printf "%03968d" 0)
cat > junit.xml <<X
<testsuite name="s" tests="1" failures="1"><testcase classname="c" name="test[$MY_TOKEN]">
<failure message="m $MY_TOKEN" type="T $MY_TOKEN">$MY_TOKEN $long$MY_TOKEN</failure></testcase></testsuite>
X
grep -q 3 b.txt
"""
ENCODED = base64.b64encode(VALUE.encode()).decode()
PIECE = VALUE[:10]
"""A value that is cut off before it is masked would leave this."""


def leaks(project, piece=PIECE):
    """Every file of noface's own in which a part of the value stands, but for git's lists of a slot's files."""
    files = [path for path in project.state.rglob("*") if path.is_file() and path.name != "index"]
    assert project.state / "state.db" in files
    return [path for path in files if piece.encode() in path.read_bytes()]


def set_up(project, worker, gate, extra=""):
    project.env["MY_TOKEN"] = VALUE
    project.write("worker.sh", worker)
    project.write("gate.sh", gate)
    project.config(
        '\n[models.shell]\nagent = "command"\nenv_pass = ["MY_TOKEN"]\ncommand = "bash worker.sh"\n'
        '[models.wise]\nagent = "command"\nenv_pass = ["MY_TOKEN"]\ncommand = "echo I think: $MY_TOKEN"\n'
        '[roles]\ndiagnoser = "wise"\n' + extra,
        gate='bash gate.sh"\nenv_pass = ["MY_TOKEN"]\nreport = "junit.xml',
    )
    project.commit()  # without the issue: what stands on main is no secret
    project.issue(7, title=f"Use {VALUE}", model="shell", body=f"The key is {VALUE}.", no_escalate=True)


def test_a_run_in_which_everybody_tells_a_secret_keeps_and_prints_it_nowhere(project):
    set_up(project, WORKER, GATE)
    done = project.noface("run", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert leaks(project) == []
    assert PIECE not in done.stdout + done.stderr
    first, second, third = project.attempts("7")
    assert first["outcome"] == "BOUNDARY_VIOLATION"  # its name would have been public
    for told in ("MY_TOKEN in c-[masked by noface: MY_TOKEN].txt", "MY_TOKEN in d.txt", "MY_TOKEN in e.txt"):
        assert told in first["failure"]["message"]
    assert ENCODED not in "".join(path.read_text("latin-1") for path in project.state.rglob("diff.patch"))
    assert second["failure"]["failing_tests"] == ["c.test[***MY_TOKEN***]"]
    assert third["outcome"] == "PASSED"
    assert PIECE not in project.git("log", "--format=%B", "-3", "main")
    for looked in (("status",), ("show", "7"), ("logs", "7"), ("why", "7")):
        shown = project.noface(*looked)
        assert PIECE not in shown.stdout + shown.stderr


@pytest.mark.parametrize("who", first_ones(["worker", "gate"]))
def test_what_a_program_prints_is_masked_while_it_runs_and_in_the_log_when_noface_is_killed_then(project, who):
    tells = "echo out $MY_TOKEN; echo err $MY_TOKEN >&2; echo x > b.txt; "
    worker, gate = (
        (f"{tells} sleep 100", "true") if who == "worker" else (tells, f"test -e b.txt || exit 0; {tells} sleep 100")
    )
    set_up(project, worker, gate)
    folder = project.state / "attempts" / "7" / "1"
    logs = (folder / "agent.log", folder / "agent.err")
    logs = logs if who == "worker" else (*logs, folder / "gates" / "check.out", folder / "gates" / "check.err")
    running = project.start("run")
    wait_for(lambda: all(log.exists() and IN_PLACE in log.read_text() for log in logs))
    assert leaks(project) == []
    assert running.poll() is None
    assert project.processes()
    running.kill()
    running.communicate()
    wait_for(lambda: not project.processes())
    assert leaks(project) == []
    assert all(log.read_text().endswith(f"{IN_PLACE}\n") for log in logs)
