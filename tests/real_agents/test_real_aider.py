"""What the real aider is given and what it leaves: its map, files, instructions, and whose settings act."""

import json

import pytest
from scenario import Answer, Scenario

CLIS = ("aider",)
ALPHA = "def first_letter_of_greek():\n    return 'alpha-text'\n"
BETA = "class SecondLetterOfGreek:\n    def spell(self):\n        return 'beta-text'\n"
TEST = "from src.alpha import first_letter_of_greek\n\n\ndef test_it():\n    assert first_letter_of_greek()\n"
SUCCESS = Scenario("success", (Answer(edit="b.txt", text="done", say="Done."),))


def texts(real):
    """Return the requests, each as the text of its messages."""
    return ["\n\n".join(str(each["content"]) for each in request["messages"]) for request in real.model.requests]


def commit(real, files):
    for path, text in files.items():
        real.project.write(path, text)
    real.project.commit("files")


def no_canary(real):
    """Say in noface.toml that its gate rightly stays green with the sources broken."""
    file = real.project.path / "noface.toml"
    told = 'name = "check"\ncanary = false'
    file.write_text(file.read_text().replace('name = "check"', told))


@pytest.mark.parametrize("cli", CLIS)
def test_it_knows_the_project_s_map_and_is_given_the_files_that_the_work_is_about(real, cli):
    commit(real, {"src/alpha.py": ALPHA, "src/beta.py": BETA, "tests/test_alpha.py": TEST, "AGENTS.md": "Be terse.\n"})
    real.play(SUCCESS)
    real.config(cli)
    no_canary(real)
    real.project.issue(
        1, "Write a file", "Write a file b.txt that holds the word done.", paths=["src/alpha.py", "b.txt"]
    )
    real.project.commit("an issue")
    done = real.project.noface("run", "--once")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    (asked,) = texts(real)
    assert ALPHA in asked, "the file that its paths name"
    assert "class SecondLetterOfGreek" in asked, "the map"
    assert "beta-text" not in asked, "of other files the map only"
    assert "READ ONLY" in asked
    assert "Be terse." in asked
    assert real.landed() == ["b.txt"]
    assert not [path for path in real.kept() if ".aider" in path]
    assert real.project.git("status", "--porcelain", "--ignored") == ""


@pytest.mark.parametrize("cli", CLIS)
def test_a_file_that_the_last_failure_names_is_given_to_the_next_attempt(real, cli):
    commit(real, {"src/alpha.py": ALPHA})
    real.play(Scenario("bad", (Answer(edit="bad", text="x", say="Done."),)))
    failing = "test ! -e bad || { echo src/alpha.py:1:5: F821 undefined name; exit 1; }"
    real.config(cli, gate=failing, retry="max_total_attempts = 2")
    no_canary(real)
    real.issue(1)
    real.project.noface("run")
    first, second = texts(real)[0], texts(real)[-1]
    assert "alpha-text" not in first
    assert ALPHA in second


HOME = {
    "mine.md": "PERSONAL-WISH\n",
    ".env": "OPENAI_API_KEY=sk-of-the-person\nAIDER_READ=~/mine.md\nAIDER_TEST_CMD=touch {ran}/home-env\nAIDER_AUTO_TEST=1\n",
    ".aider.conf.yml": (
        "read: [~/mine.md]\nauto-test: true\ntest-cmd: touch {ran}/home-test\n"
        "notifications: true\nnotifications-command: touch {ran}/home-notified\n"
    ),
}
PROJECT = {
    "style.md": "PROJECT-WISH\n",
    "AGENTS.md": "AGENTS-WISH\n",
    ".aider.conf.yml": "read: style.md\nlint-cmd: touch {ran}/lint\nload: start.txt\nmap-tokens: 512\n",
    "start.txt": "/run touch {ran}/load\n",
    "tool.py": "def tool():\n    return 1\n",
    "hidden.py": "def hidden_by_aiderignore():\n    return 1\n",
    ".aiderignore": "hidden.py\n",
}


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize(
    ("settings", "told", "commands"),
    [
        ("project", {"PROJECT-WISH", "AGENTS-WISH"}, set()),
        ("user", {"PROJECT-WISH", "AGENTS-WISH", "PERSONAL-WISH"}, {"home-env", "home-notified", "lint", "load"}),
    ],
)
@pytest.mark.row("person's settings")
def test_whose_settings_act(real, cli, settings, told, commands):
    ran = real.folder / "ran"
    ran.mkdir()
    for path, text in HOME.items():
        (real.folder / path).write_text(text.format(ran=ran))
    commit(real, {path: text.format(ran=ran) for path, text in PROJECT.items()})
    real.play(Scenario("edits a tool", (Answer(edit="b.py", text="b = 1", say="Done."),)))
    without_key = {"OPENAI_API_BASE": f"{real.model.url}/v1"}
    written = f'write = ["{ran}"]\nshow = ["~/mine.md"]' if real.sandbox != "none" else ""
    real.config(cli, own_endpoint=True, env=without_key, own=f'settings = "{settings}"', more=written)
    no_canary(real)
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    asked = texts(real)[0]
    assert {word for word in ("PROJECT-WISH", "AGENTS-WISH", "PERSONAL-WISH") if word in asked} == told
    assert "def tool" in asked
    assert "hidden_by_aiderignore" not in asked
    assert {path.name for path in ran.iterdir()} == commands, "an option of the environment goes before one of a file"


@pytest.mark.parametrize("cli", CLIS)
def test_a_project_whose_settings_ask_for_an_architect_does_not_make_a_reviewer_edit(real, cli):
    commit(real, {".aider.conf.yml": "architect: true\nset-env: [ONE=1]\n"})
    real.play("reviews")
    _, verdict = real.started(cli, "Review this.", role="review")
    assert verdict.error is None
    assert not (real.project.path / "b.txt").exists()
    assert json.dumps(real.model.requests)
