"""Keys among added lines: found by their shape, kept from landing, and shown nowhere.

How often that is wrong on honest work: over each commit of 14 public histories (click, httpx, humanize, requests, aiohttp,
uvicorn, openai-python, express, axios, gin; and of four about keys: paramiko, pyjwt, golang-jwt, node-jsonwebtoken) 44 of
38,409 would have been blocked, 35 of them in those about keys. All 44 add private keys in PEM; none opens anything as far
as the project says, and none was blocked for a token. Nothing in such a patch tells a fixture from a key that opens
something, so a person says it once: `[limits] test_keys`. The detectors of detect-secrets would block 42 of the 23,363
commits of ten of them, these 33: the others for a header without a key. They know no key of Anthropic's.
"""

import json
import subprocess
from types import SimpleNamespace

import pytest
from support.git_ground import a_bench, write

from noface.attempt.changes import added_secrets, change_of
from noface.gates.secrets import secret_failure, told
from noface.integrity.diff.rules import DiffLimits
from noface.model.taxonomy import FailureKind
from noface.secrets.masking import Masker

# Put together here, so that no scanner takes this file for a leak.
AWS = "AKIA" + "Q7RZ2LXJ4M6VN3PB"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
BODY = "MIIEpAIBAAKCAQEA7bq2Zt1x9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9Xc8Vb7Nm6"
KEY = "-----BEGIN RSA " + f"PRIVATE KEY-----\n{BODY}\n{BODY[::-1]}\nQw8E\n" + "-----END RSA " + "PRIVATE KEY-----\n"
OTHER = KEY.replace(BODY, BODY.swapcase()).replace(BODY[::-1], BODY[::-1].swapcase())
SECRET = "k7Rz2LxJ4m6Vn3pB8qWs9dFg0hJk1LzXcVbNmQwE"


@pytest.fixture
def found(tmp_path):
    """The secrets that a change adds, and its patch without them."""

    def find(before, after):
        bench = a_bench(tmp_path, {"c.txt": "c\n", **before})
        taken = write(bench.begin(), after) or bench.take(())
        env = SimpleNamespace(plumbing=bench.plumbing, masker=Masker(), diff_limits=DiffLimits(test_keys=("keys/**",)))
        changes = taken.snapshot.changes
        return added_secrets(env, bench.main, changes), change_of(env, bench.main, changes, taken.patch).masked.decode()

    return find


@pytest.mark.parametrize(
    ("text", "kind", "secret"),
    [
        (f"key = '{AWS}'\n", "AWS key", AWS),
        (f"TOKEN={GITHUB}\n", "GitHub token", GITHUB),
        (f"[default]\naws_secret_access_key = {SECRET}\n", "AWS secret key", SECRET),
        (f'"awsSecretAccessKey": "{SECRET}",\n', "AWS secret key", SECRET),
        ("k = sk-ant-" + "api03-x7Q2mZ9kLp4Rt8Vw\n", "Anthropic key", "x7Q2mZ9kLp4Rt8Vw"),
        ("k = 'sk-proj-" + "x7Q2mZ9kLp4Rt8VwN3bC6dF1'\n", "API key", "x7Q2mZ9kLp4Rt8VwN3bC6dF1"),
        ("xoxb-" + "903847561209-x7Q2mZ9kLp4Rt8Vw\n", "Slack token", "x7Q2mZ9kLp4Rt8Vw"),
        ("sk_live_" + "x7Q2mZ9kLp4Rt8VwN3bC\n", "Stripe key", "x7Q2mZ9kLp4Rt8VwN3bC"),
        (KEY, "private key", BODY),
        (f'KEY = """{KEY}"""\n', "private key", BODY),
        (f'{{"private_key": "{KEY!r}"}}\n', "private key", BODY),  # as in a service account's JSON
        (KEY.partition("-----END")[0], "private key", BODY),
    ],
)
def test_an_added_key_is_found_and_masked(found, text, kind, secret):
    secrets, masked = found({"a.txt": "one\n"}, {"a.txt": f"one\n{text}"})
    assert {each.type for each in secrets} == {each.type for each in told(masked)} == {kind}
    failure = secret_failure(secrets, Masker())
    assert (failure.kind, failure.rule, failure.location) == (FailureKind.BOUNDARY_VIOLATION, "secret-added", "a.txt")
    assert kind in failure.message
    assert secret not in masked + repr(failure)
    assert "+one" not in masked  # what was there is untouched
    assert masked.count("\n+") == text.count("\n") + 1  # a patch keeps its lines


def test_a_key_in_the_name_of_a_new_file_is_found_and_masked(found):
    before = {f"old/{AWS}.txt": "one\n"}
    secrets, masked = found(before, {f"d/{GITHUB}.txt": "x\n", f"old/{AWS}.txt": "two\n", f"keys/{GITHUB}": "y"})
    assert [(each.type, each.path) for each in secrets] == [("GitHub token", f"d/{GITHUB}.txt")]
    assert secret_failure(secrets, Masker()).location == "d/[masked by noface: GitHub token].txt"
    assert GITHUB not in masked


def test_a_private_key_in_the_place_of_another_is_found(found):
    secrets, masked = found({"tests/a.pem": KEY}, {"tests/a.pem": OTHER})
    assert [each.type for each in secrets] == ["private key"]
    assert BODY.swapcase() not in masked


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a.txt": f"k = {AWS}\n"}, {"a.txt": f"k = {AWS}\nmore\n"}),
        ({"a.txt": f"k = {AWS}\n"}, {"a.txt": "", "b.txt": f"moved = {AWS}\n"}),
        ({"a.pem": KEY}, {"a.pem": "", "b/a.pem": KEY}),
        ({"a.pem": KEY}, {"a.pem": f"# what it is for\n{KEY}"}),
        ({"a.txt": f"k = {AWS}\n"}, {"a.txt": "k = 1\n"}),
        ({}, {"a.txt": f"k = {AWS}  # pragma: allowlist secret\n"}),
        ({}, {"a.py": f'KEY = """{KEY}"""  # pragma: allowlist secret\n'}),
        ({}, {"a.pem": f"pragma: allowlist secret\n{KEY}"}),
        ({}, {"keys/a.pem": KEY}),  # allowed below
        ({}, {"a.txt": "k = AKIA" + "IOSFODNN7EXAMPLE\n"}),
        ({}, {"a.txt": "k = ghp_" + "x" * 36 + "\nk = sk-ant-" + "your-key-goes-here-1\n"}),
        ({}, {"a.css": ".sk-fading-circle-of-many-dots-2 { }\n"}),
        ({}, {"a.txt": f"data:image/png;base64,x{AWS}yz\n"}),
        ({}, {"a.txt": "sha256 = " + "0f" * 32 + "\npassword = 'hunter2'\n"}),
        (
            {},
            {"a.py": 'if "-----BEGIN RSA ' + 'PRIVATE KEY-----" in text:\n    return read_the_lines_of_a_key(text)\n'},
        ),
        ({}, {"a.md": "-----BEGIN " + "PRIVATE KEY-----\n...\n-----END " + "PRIVATE KEY-----\n"}),
        ({}, {"a.txt": "x" * 3_000_000 + "\n"}),
    ],
)
def test_what_is_no_new_key_is_no_finding(found, before, after):
    secrets, masked = found(before, after)
    assert (secrets, told(masked)) == ((), ())


def everything_held(project):
    """All objects that a push of every ref would carry."""
    objects = project.git("rev-list", "--all", "--objects").split("\n")
    names = "\n".join(line.split(" ")[0] for line in objects)
    command = ["git", "-C", str(project.path), "cat-file", "--batch"]
    return subprocess.run(command, input=names.encode(), capture_output=True, check=True).stdout


def test_in_a_run_the_key_is_kept_from_prompts_database_logs_and_refs(project):
    steps = [{"write": "b.txt", "text": f"key = {AWS}\n"}, {"write": "a.pem", "text": KEY}]
    steps += [{"write": f"logs/{GITHUB[:-1]}Z", "text": "x"}]
    steps += [{"write": "c.bin", "text": f"\0{GITHUB}\n"}, {"write": ".github/x.yml", "text": f"# {AWS[:-1]}Z\n"}]
    session = 'cd "$(dirname "$NOFACE_ORDER_FILE")/session" && umask 0 && mkdir -p p && printf '
    steps += [
        {"shell": f"""{session} '{{"read": "{AWS}", "key": {json.dumps(KEY)}}}' > p/a.jsonl""".replace("\\n", "\\\\n")}
    ]
    mends = [{"write": "b.txt", "text": "key from the environment\n"}, {"shell": "rm -r logs"}]
    project.play(("7", 1, steps), ("7", 2, mends))
    project.issue(7)
    project.commit()
    project.run()
    assert project.statuses() == {"7": "merged"}
    first = project.attempts("7")[0]
    assert (first["outcome"], first["failure"]["rule"]) == ("BOUNDARY_VIOLATION", "secret-added")
    assert "GitHub token in c.bin" in first["failure"]["message"]
    assert "[masked by noface: AWS key]" in project.prompt("7", 2)
    secrets = [AWS, BODY, GITHUB, AWS[:-1] + "Z"]
    files = [(path, path.read_bytes()) for path in project.state.rglob("*") if path.is_file()]
    assert [path for path, data in files if any(secret.encode() in data for secret in secrets)] == []
    session = project.state / "attempts/7/1/session/p/a.jsonl"
    assert json.loads(session.read_text())["read"] == "***AWS-key-------***"[: len(AWS) - 3] + "***"
    modes = {path.stat().st_mode & 0o777 for path in session.parents[2].rglob("*")}
    assert (modes, project.state.stat().st_mode & 0o777) == ({0o600, 0o700}, 0o700)
    held = everything_held(project)
    assert [secret for secret in (*secrets, GITHUB[:-1] + "Z") if secret.encode() in held] == []
    assert b"key = [masked by noface: AWS key]" in held
    assert AWS not in project.git("show", "main:b.txt")
