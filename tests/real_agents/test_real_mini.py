"""The real mini-swe-agent as a role: it has a shell, and noface's sandbox keeps it from writing with it."""

import json
from dataclasses import dataclass

import pytest
from install import clis
from scenario import Answer, Scenario

CLIS = ("mini",)
CLI = clis()["mini"]
VERDICT = json.dumps({"verdict": "approve", "summary": "It does what it should."})
WRITES = (
    "id; for place in . .git {home}/mine.txt {home}/project/a.txt {home}/beyond; do"
    " echo x >> $place/written 2>/dev/null || echo x >> $place; done; echo tried; cat b.txt"
)


@dataclass(frozen=True)
class TwoRoles(Scenario):
    """A worker that writes b.txt, and a reviewer that tries to write wherever it can."""

    home: str = ""

    def about(self, request):
        if "asked for a judgement" not in request:
            return Scenario("worker", self.answers)
        tries = Answer(run=WRITES.replace("{home}", self.home))
        return Scenario("reviewer", (tries, Answer(say=f"I see.\n```json\n{VERDICT}\n```")))


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.row("read-only role")
def test_a_reviewer_that_tries_to_write_fails_to_and_gives_its_answer(real, cli):
    if real.sandbox == "none":
        pytest.skip("no sandbox here")
    beyond, mine = real.folder / "beyond", real.folder / "mine.txt"
    beyond.mkdir()
    mine.write_text("mine\n")
    real.play(TwoRoles("two roles", (Answer(edit="b.txt", text="done"), Answer(say="Done.")), home=str(real.folder)))
    real.config(cli)
    file = real.project.path / "noface.toml"
    more = f'write = ["{beyond}"]\n\n[roles]\nreviewer = "real"\n\n[review]\nwhen = "always"\n'
    file.write_text(file.read_text() + more)
    real.issue(1)
    printed = real.project.run()
    (question,) = real.project.shown("show", "1")["asked"]
    assert (question["outcome"], question["answer"]["strategy"]) == ("ADVISED", "approve"), printed
    assert real.landed() == ["b.txt"]
    seen = json.dumps(real.model.requests)
    assert "tried" in seen
    assert seen.count("Read-only file system") >= 2, "the rest of the home is not there at all"
    assert mine.read_text() == "mine\n"
    assert list(beyond.iterdir()) == []
    assert (real.project.path / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize("cli", CLIS)
def test_without_a_sandbox_a_reviewer_is_refused_and_named_with_what_to_do(real, cli):
    real.play("success")
    real.config(cli)
    file = real.project.path / "noface.toml"
    text = file.read_text().replace(f'kind = "{real.sandbox}"', 'kind = "none"') + '\n[roles]\nreviewer = "real"\n'
    file.write_text(text)
    real.issue(1)
    for command in (("run", "--once"), ("config", "check"), ("doctor",)):
        done = real.project.noface(*command)
        said = " ".join((done.stdout + done.stderr).split())
        assert done.returncode == 2, said
        assert 'only noface\'s own sandbox can hold mini to "read-only", and it runs in none' in said


OWN_WORDS = "PERSONAL-WISH"
PROJECTS = "agent:\n  system_template: PROJECT-WISH\n  instance_template: '{{task}}'\n"


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("settings", ["project", "user", "none"])
def test_whose_settings_act_and_the_person_s_key_in_any_case(real, cli, settings):
    """A file `mini.yaml` in the project would take the place of mini's own."""
    real.play("success")
    person = real.folder / ".config" / "mini-swe-agent"
    person.mkdir(parents=True)
    (person / ".env").write_text("OPENAI_API_KEY='sk-of-the-person'\n")
    (program,) = CLI.program.parents[1].glob("lib/python*/site-packages/minisweagent/config/mini.yaml")
    (real.folder / "mine.yaml").write_text(program.read_text().replace("You are a helpful assistant", OWN_WORDS))
    real.project.write("mini.yaml", PROJECTS)
    real.project.commit("a file of that name")
    env = {"OPENAI_API_BASE": f"{real.model.url}/v1", "MSWEA_MINI_CONFIG_PATH": str(real.folder / "mine.yaml")}
    real.config(cli, own_endpoint=True, env=env, own=f'settings = "{settings}"')
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    asked = json.dumps(real.model.requests[0]["messages"])
    assert "PROJECT-WISH" not in asked
    assert (OWN_WORDS in asked) is (settings == "user")


@pytest.mark.parametrize("cli", CLIS)
def test_a_command_may_take_longer_than_mini_s_own_thirty_seconds(real, cli):
    real.play(Scenario("long", (Answer(run="sleep 35; echo done > b.txt"), Answer(say="Done."))))
    real.config(cli, idle=100)
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    assert real.landed() == ["b.txt"]
