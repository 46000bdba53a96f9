"""What is judged is the change as it is: what stands for a secret in a name or a line hides nothing from a rule (I12).

A variable that is called like a secret may have an innocent value: the name of a folder, of a user, of a database.
"""

import json
import signal

import pytest
from support.cases import first_ones

from noface.gates.secrets import told, without_secrets
from noface.git.plumbing import Plumbing, occurring
from noface.git.repository import discover
from noface.secrets.masking import Masker

FOLDER = "packages/customer-portal-v2"
KEY = {"SONAR_PROJECT_KEY": "customer-portal-v2"}
VALUE = "hunter2-hunter2!"
KILLED = -signal.SIGKILL
TWO_TESTS = "def test_user_login():\n    assert 1\n\n\ndef test_b():\n    assert 1\n"
ONE_TEST = "def test_b():\n    assert 1\n"


def lay_out(project, *steps, extra="", **front):
    """One issue, and a worker that takes the steps."""
    project.config(extra)
    project.play(("*", 0, list(steps)))
    project.issue(1, max_attempts=1, **front)
    project.commit()


def outcome(project):
    (attempt,) = project.attempts("1")
    return attempt["outcome"]


def kept(project, value):
    """Every file of noface's state in which the value can be read."""
    files = [path for path in project.state.rglob("*") if path.is_file() and "hubs" not in path.parts]
    assert len(files) > 10
    return [path for path in files if value.encode() in path.read_bytes()]


# A folder of main is called like a value


def test_approval_paths_hold_where_a_folder_is_called_like_a_secret(project):
    project.write(f"{FOLDER}/a.py", "x = 1\n")
    approval = f'\n[approval]\npaths = ["{FOLDER}/**"]\n'
    lay_out(project, {"write": f"{FOLDER}/a.py", "text": "x = 2\n"}, extra=approval)
    project.run(code=3, **KEY)
    assert project.statuses() == {"1": "approval"}


def test_work_within_an_issues_paths_breaks_no_limit_and_the_prompt_names_them(project):
    project.write(f"{FOLDER}/a.py", "x = 1\n")
    lay_out(project, {"write": f"{FOLDER}/a.py", "text": "x = 2\n"}, paths=[f"{FOLDER}/**"], body="customer-portal-v2")
    project.run(**KEY)
    assert project.attempts("1")[0]["changed"] == [f"{FOLDER}/a.py"]
    prompt = project.prompt("1", 1)
    assert f"Change only files in: `{FOLDER}/**`" in prompt
    assert "***SONAR_PROJECT_KEY***" in prompt  # in the words of the issue it is what it was


def test_a_value_that_stands_in_a_file_of_main_may_stand_in_another_and_in_its_name(project):
    project.write("sonar.properties", f"key = {KEY['SONAR_PROJECT_KEY']}\n")
    steps = {"write": "b.txt", "text": "customer-portal-v2\n"}, {"write": "customer-portal-v2.txt", "text": "b\n"}
    lay_out(project, *steps)
    project.run(**KEY)
    assert project.attempts("1")[0]["changed"] == ["b.txt", "customer-portal-v2.txt"]


@pytest.mark.parametrize("name", first_ones([f"{VALUE}.txt", "b.txt"]))
def test_a_value_that_main_does_not_hold_never_lands_and_is_kept_nowhere(project, name):
    lay_out(project, {"write": name, "text": f"key = {VALUE}\n"})
    project.run(code=3, MY_TOKEN=VALUE)
    assert outcome(project) == "BOUNDARY_VIOLATION"
    assert project.attempts("1")[0]["changed"] == [name.replace(VALUE, "***MY_TOKEN***")]
    assert kept(project, VALUE) == []


# Judged again by the next noface


def test_what_is_judged_again_is_read_from_git_and_not_from_what_was_written_down(project):
    project.write("tests/test_x.py", TWO_TESTS)
    lay_out(project, {"write": "tests/test_x.py", "text": ONE_TEST}, {"write": "x.py", "text": "x = 1\n"})
    assert project.noface("run", NOFACE_FAILPOINT="snapshot_recorded", DB_PASSWORD="test_user").returncode == KILLED
    project.run(code=3, DB_PASSWORD="test_user")
    assert outcome(project) == "GATE_TAMPERING"
    assert "-def ***DB_PASSWORD***_login" in (project.state / "attempts/1/1/diff.patch").read_text()


def test_a_secret_is_found_again_where_its_variable_is_no_longer_set(project):
    steps = {"write": "b.txt", "text": f"key = {VALUE}\n"}, {"write": f"{VALUE}.txt", "text": "b\n"}
    lay_out(project, *steps)
    assert project.noface("run", NOFACE_FAILPOINT="snapshot_recorded", MY_TOKEN=VALUE).returncode == KILLED
    _, _, text = (project.state / "attempts/1/1/work.json").read_text().partition("\n")
    work = json.loads(text)
    assert [change["path"] for change in work["snapshot"]["changes"]] == ["b.txt", "***MY_TOKEN***.txt"]
    project.run(code=3)
    assert outcome(project) == "BOUNDARY_VIOLATION"
    assert kept(project, VALUE) == []


# Parts


def test_texts_are_found_in_names_and_files_of_a_commit(project):
    project.write("one/app-name-2024/a.txt", 'pa"ss\\word-1\n')
    project.write("data.bin", "\0key-in-bytes-1\0")
    commit = project.commit()
    project.write("later.txt", "not-yet-there-1\n")
    plumbing = Plumbing(discover(project.path))
    texts = ["app-name-2024", 'pa"ss\\word-1', "key-in-bytes-1", "not-yet-there-1", "key.in.bytes.1", "two\nlines-1"]
    assert occurring(plumbing, commit, texts) == {"app-name-2024", 'pa"ss\\word-1', "key-in-bytes-1"}
    assert occurring(plumbing, commit, ["not-yet-there-1"]) == frozenset()
    assert occurring(plumbing, commit, ["not-yet-there-1", "nor-this-one-2"]) == frozenset()
    assert occurring(plumbing, commit, []) == frozenset()
    plumbing.close()


def test_a_patch_marks_only_what_it_adds_and_a_path_keeps_what_the_project_holds():
    masker = Masker({VALUE: "MY_TOKEN", "app-name-2024": "APP_KEY"})
    head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n"
    masked = without_secrets(f"{head}+{VALUE} app-name-2024\n".encode(), masker, ["MY_TOKEN"]).decode()
    assert [(secret.path, secret.type) for secret in told(masked)] == [("x", "MY_TOKEN")]
    assert masked.endswith("***APP_KEY***\n")
    assert masker.path(f"{VALUE}/app-name-2024", {"app-name-2024"}) == "***MY_TOKEN***/app-name-2024"


def test_a_kept_path_is_kept_only_as_a_whole():
    masker = Masker({"app-name-2024": "APP_KEY", "app-name-2024-and-more": "LONG_KEY"})
    told = "in src/app-name-2024/**, not app-name-2024 or app-name-2024-and-more"
    kept_path = "in src/app-name-2024/**, not ***APP_KEY*** or ***LONG_KEY***"
    assert masker.text(told, ("src/app-name-2024/**", "app", "src")) == kept_path
    assert masker.text("app-name-2024-and-more", ("app-name-2024",)) == "***LONG_KEY***"
