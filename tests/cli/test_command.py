"""`noface config` with the tables within [retry]: check, show, set, schema and example know them."""

from noface.config.load import parse

CONFIG = """\
[[gates]]
name = "unit"
command = "true"

# cheap first
[[retry.ladder]]
model = "small"
attempts = 2

[[retry.ladder]]
model = "big"
think = true

[retry.strategies]
TIMEOUT = "reduce" # less at once

[models.small]
agent = "command"
command = "./small"

[models.big]
agent = "command"
command = "./big"
tier = 2

[roles]
planner = "big"
"""


def test_check_names_the_models_of_the_ladder(project):
    project.write("noface.toml", CONFIG)
    done = project.noface("config", "check")
    assert (done.returncode, done.stdout) == (0, "noface.toml is fine: 1 gate (unit); models small, then big\n")


def test_check_warns_of_a_program_that_only_a_role_needs(project):
    role = '[models.wise]\nagent = "command"\ncommand = "no-such-program-here --ask"\n[roles]\ndiagnoser = "wise"\n'
    project.write("noface.toml", CONFIG.replace("[roles]\n", role))
    done = project.noface("config", "check")
    assert done.returncode == 2
    assert "model wise: the program no-such-program-here is not on PATH" in " ".join(done.stdout.split())


def test_check_names_a_mistake_in_a_rung_with_its_line(project):
    project.write("noface.toml", CONFIG.replace("think", "thnik"))
    done = project.noface("config", "check")
    assert done.returncode == 2
    assert 'noface.toml:12: retry.ladder.1.thnik: unknown key; did you mean "think"?' in done.stderr


def test_set_changes_a_strategy_and_a_rung_and_keeps_the_comments(project):
    project.write("noface.toml", CONFIG)
    assert project.noface("config", "set", "retry.strategies.TEST_FAILURE", "escalate").returncode == 0
    assert project.noface("config", "set", "retry.ladder.0.attempts", "3").returncode == 0
    text = (project.path / "noface.toml").read_text()
    retry = parse(text, "noface.toml").retry
    assert retry.strategies == {"TIMEOUT": "reduce", "TEST_FAILURE": "escalate"}
    assert retry.ladder[0].attempts == 3
    assert "# cheap first\n[[retry.ladder]]" in text
    assert "# less at once" in text


def test_show_prints_all_that_is_in_effect_so_that_it_loads_again(project):
    project.write("noface.toml", CONFIG)
    shown = project.noface("config", "show").stdout
    assert parse(shown, "shown").effective() == parse(CONFIG, "noface.toml").effective()
    document = project.shown("config", "show")["config"]
    assert [rung["model"] for rung in document["retry"]["ladder"]] == ["small", "big"]
    assert document["retry"]["strategies"] == {"TIMEOUT": "reduce"}
    assert document["roles"]["planner"] == "big"
    assert document["recovery"]["max_strategies"] == 3
