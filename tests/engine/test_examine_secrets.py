"""Secrets among added lines: found where detect-secrets (the extra `secrets`) is installed, and shown nowhere."""

from importlib.util import find_spec

import pytest
from support.git_ground import git, tree_of

from noface.gates.secrets import scan, secret_failure
from noface.model.taxonomy import FailureKind

INSTALLED = find_spec("detect_secrets") is not None
# Put together here, so that no scanner takes this file for a leak.
AWS = "AKIA" + "Q7RZ2LXJ4M6VN3PB"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq2\n" * 3 + "-----END RSA " + "PRIVATE KEY-----\n"


@pytest.fixture
def patch(tmp_path):
    def make(before, after):
        git(tmp_path, "init", "-q")
        return git(tmp_path, "diff-tree", "-r", "-p", tree_of(tmp_path, before), tree_of(tmp_path, after)) + "\n"

    return make


@pytest.mark.parametrize(
    ("text", "kind", "secret"),
    [
        (f"key = '{AWS}'\n", "AWS Access Key", AWS),
        (f"TOKEN={GITHUB}\n", "GitHub Token", GITHUB),
        (KEY, "Private Key", "MIIEpAIBAAKCAQEA7bq2"),
    ],
)
def test_an_added_secret_is_found_and_masked_where_the_scanner_is_installed(patch, text, kind, secret):
    made = patch({"a.txt": "one\n"}, {"a.txt": f"one\n{text}"})
    found = scan(made)
    if not INSTALLED:
        assert (found.secrets, found.patch) == ((), made)
        return
    assert {each.type for each in found.secrets} == {kind}
    failure = secret_failure(found.secrets)
    assert (failure.kind, failure.rule, failure.location) == (
        FailureKind.BOUNDARY_VIOLATION,
        "secret-added",
        "a.txt",
    )
    assert kind in failure.message
    assert secret not in found.patch + repr(failure)
    assert "+one" not in found.patch  # what was there is untouched
    assert scan(found.patch).secrets == found.secrets  # judged again after a crash, it is found again
    assert scan(found.patch).patch == found.patch


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a.txt": f"k = {AWS}\n"}, {"a.txt": f"k = {AWS}\nmore\n"}),
        ({"a.txt": f"k = {AWS}\n"}, {"a.txt": "", "b.txt": f"moved = {AWS}\n"}),
        ({"a.txt": f"k = {AWS}\n"}, {"a.txt": "k = 1\n"}),
        ({}, {"a.txt": f"k = {AWS}  # pragma: allowlist secret\n"}),
        ({}, {"a.txt": "k = AKIA" + "IOSFODNN7EXAMPLE\n"}),
        ({}, {"a.txt": f"data:image/png;base64,x{AWS}yz\n"}),
        ({}, {"a.txt": "sha256 = " + "0f" * 32 + "\npassword = 'hunter2'\n"}),
        ({}, {"a.txt": "x" * 3_000_000 + "\n"}),
    ],
)
def test_what_is_no_new_secret_is_no_finding(patch, before, after):
    made = patch({"c.txt": "c\n", **before}, after)
    found = scan(made)
    assert (found.secrets, found.patch) == ((), made)


def test_a_patch_that_was_masked_before_is_found_even_without_the_scanner(patch):
    made = patch({"a.txt": "one\n"}, {"a.txt": "one\nkey = [masked by noface: AWS Access Key]\n"})
    ((secret,), same) = (scan(made).secrets, scan(made).patch)
    assert (secret.path, secret.type, secret.line) == (
        "a.txt",
        "AWS Access Key",
        "key = [masked by noface: AWS Access Key]",
    )
    assert same == made


def test_in_a_run_the_secret_is_kept_from_prompts_database_and_logs(project):
    steps = [{"write": "b.txt", "text": f"key = {AWS}\n"}]
    project.play(("7", 1, steps), ("7", 2, [{"write": "b.txt", "text": "key from the environment\n"}]))
    project.issue(7)
    project.commit()
    project.run()
    assert project.statuses() == {"7": "merged"}
    first = project.attempts("7")[0]
    if not INSTALLED:
        assert first["outcome"] == "PASSED"
        return
    assert (first["outcome"], first["failure"]["rule"]) == ("BOUNDARY_VIOLATION", "secret-added")
    assert "[masked by noface: AWS Access Key]" in project.prompt("7", 2)
    kept = [path for path in project.state.rglob("*") if path.is_file() and AWS.encode() in path.read_bytes()]
    assert kept == []
    assert AWS not in project.git("show", "main:b.txt")
