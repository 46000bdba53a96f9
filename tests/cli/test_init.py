"""`noface init`: what it writes, what it finds, and what it refuses."""

import json
import shutil
import subprocess
import sys

import pytest

from noface.config.load import load


@pytest.fixture
def fresh(project):
    (project.path / "noface.toml").unlink()
    return project


def test_it_writes_a_configuration_that_loads_and_a_folder_for_issues(fresh):
    fresh.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    fresh.write("tests/test_x.py", "def test_x(): pass\n")
    done = fresh.noface("init")
    assert done.returncode == 0, done.stderr
    config = load(fresh.path)
    assert config.project.main == "main"
    assert "pytest" in config.gates[0].command
    assert list((fresh.path / "issues").iterdir()) == []
    assert "Wrote noface.toml for work that lands on main." in done.stdout
    assert config.gates[0].command in done.stdout
    assert 'noface issues add "What should be done"' in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    checked = fresh.noface("config", "check", "--json")
    assert json.loads(checked.stdout)["problems"] == []  # what the machine lacks is nobody's mistake


def test_without_anything_found_it_says_so_and_check_asks_for_a_gate(fresh):
    done = fresh.noface("init")
    assert done.returncode == 0
    assert "No gates found" in done.stdout
    check = fresh.noface("config", "check")
    assert check.returncode == 2
    assert "no gate is hard" in check.stderr


def test_the_setup_is_set_and_the_gates_run_in_what_it_makes(fresh):
    build = '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\nbuild-backend = "hatchling.build"\n'
    fresh.write("pyproject.toml", build + '[project]\nname = "x"\n[tool.hatch.version]\nsource = "vcs"\n')
    fresh.write("tests/test_x.py", "def test_x(): pass\n")
    fresh.git("tag", "release-1.4.2")
    document = fresh.shown("init")
    (setup,) = document["setups"]
    assert (setup["keep"], setup["inputs"]) == ([".venv"], ["pyproject.toml"])
    config = load(fresh.path)
    assert config.project.setup == setup["command"]
    # The workspace has no tags, so the version is told.
    assert "SETUPTOOLS_SCM_PRETEND_VERSION=1.4.2 .venv/bin/python -m pip install -e . pytest" in setup["command"]
    assert [gate.command for gate in config.gates] == ['PATH="$PWD/.venv/bin:$PATH" .venv/bin/python -m pytest -q']


def test_a_program_that_is_not_on_path_is_named_and_what_needs_it_is_written_all_the_same(fresh, tmp_path):
    fresh.write("pyproject.toml", '[project]\nname = "x"\n')
    fresh.write("uv.lock", "")
    fresh.write("tests/test_x.py", "def test_x(): pass\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    for program in ("git", "env"):  # git is run by `env`
        (programs / program).symlink_to(shutil.which(program))
    done = subprocess.run(
        [sys.executable, "-m", "noface", "init"],
        cwd=fresh.path,
        env=fresh.environment() | {"PATH": str(programs)},
        capture_output=True,
        text=True,
        check=True,
    )
    told = " ".join(done.stdout.split())
    assert "uv is not installed: the gates that need it can't pass until it is." in told
    config = load(fresh.path)
    assert ("uv sync --frozen" in config.project.setup, [gate.name for gate in config.gates]) == (True, ["pytest"])


@pytest.mark.parametrize(
    ("options", "default", "stronger"),
    [
        (["--agent", "codex"], "gpt-codex", "gpt-codex-max"),
        (["--agent", "gemini"], "gemini-flash", "gemini-pro"),
        (["--worker", "./work 'a \"b\"' {prompt_file}"], "worker", None),
    ],
)
def test_the_worker_is_named_at_once(fresh, options, default, stronger):
    assert fresh.noface("init", *options).returncode == 0
    config = load(fresh.path)
    assert (config.retry.default_model, config.retry.escalation_model) == (default, stronger)
    if stronger is None:
        assert (config.models["worker"].agent, config.models["worker"].command) == ("command", options[1])


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--agent", "cursor"], "claude, codex"), (["--agent", "command"], "--worker"), (["--agent", "codex", "--worker", "x"], "two")],
)  # fmt: skip
def test_a_worker_that_is_none_is_refused_before_anything_is_written(fresh, options, said):
    done = fresh.noface("init", *options)
    assert (done.returncode, said in done.stderr) == (2, True)
    assert not (fresh.path / "noface.toml").exists()


MINE = """# all mine
[project]
main = "main"
setup = "old"
setup_timeout = "7m"

[models.own]  # the cheap one
agent = "command"
command = "./own"

[[gates]]
name = "pytest"
command = "./my-tests"
kind = "test"

[retry]
default_model = "own"

[run]
max_cost_usd = 3
"""


def test_force_renews_what_is_detected_and_keeps_what_is_the_persons_own(fresh):
    fresh.write("noface.toml", MINE)
    fresh.write("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]\n")
    done = fresh.noface("init", "--force")
    assert (done.returncode, "noface.toml.bak" in done.stdout) == (0, True)
    assert "test: pyproject.toml configures pytest; yours stayed: ./my-tests" in " ".join(done.stdout.split())
    assert "claude" not in done.stdout  # the model that stayed is another one
    config = load(fresh.path)
    assert [(gate.name, "my-tests" in gate.command) for gate in config.gates] == [("pytest", True), ("ruff", False)]
    assert (config.retry.default_model, config.models["own"].command, config.run.max_cost_usd) == ("own", "./own", 3)
    assert (config.project.setup != "old", config.project.setup_timeout) == (True, 420)
    assert "# the cheap one" in (fresh.path / "noface.toml").read_text()
    assert (fresh.path / "noface.toml.bak").read_text() == MINE
    assert fresh.noface("init", "--force", "--agent", "codex").returncode == 0
    assert load(fresh.path).retry.default_model == "gpt-codex"
    assert (fresh.path / "noface.toml.bak").read_text() == MINE
    assert (fresh.path / "noface.toml.bak1").exists()


def test_force_leaves_each_comment_with_the_table_that_it_speaks_of(fresh):
    fresh.write("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]\n")
    assert fresh.noface("init", "--worker", "./work").returncode == 0
    path = fresh.path / "noface.toml"
    written = path.read_text()
    assert fresh.noface("init", "--force").returncode == 0
    assert path.read_text() == written
    path.write_text(written.replace('main = "main"', 'main = "main"\nsetup_timeout = "7m"') + "\n# dear\n[limits]\n")
    assert fresh.noface("init", "--force").returncode == 0
    assert path.read_text().endswith("\n\n# dear\n[limits]\n")
    assert sorted(path.read_text().splitlines()) == sorted(
        [*written.splitlines(), 'setup_timeout = "7m"', "", "# dear", "[limits]"]
    )


@pytest.mark.parametrize("name", ["noface.toml", ".noface.toml"])
def test_an_existing_configuration_is_kept_without_force_and_replaced_with(fresh, name):
    path = fresh.write(name, "# mine\n")
    done = fresh.noface("init")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert path.read_text() == "# mine\n"
    assert not (fresh.path / "issues").exists()
    assert fresh.noface("init", "--force").returncode == 0
    assert "[retry]" in path.read_text()
    assert [found.name for found in fresh.path.iterdir() if found.name.endswith("noface.toml")] == [name]


def test_a_detached_head_needs_the_branch_to_be_named(fresh):
    fresh.git("checkout", "-q", "--detach")
    assert fresh.noface("init").returncode == 2
    assert fresh.noface("init", "--main", "main").returncode == 0
    assert load(fresh.path).project.main == "main"


@pytest.mark.parametrize("setup", [[], ["init", "--bare"]])
def test_outside_a_usable_repository_nothing_is_written(tmp_path, setup):
    folder = tmp_path / "x"
    folder.mkdir()
    if setup:
        subprocess.run(["git", *setup, "-q"], cwd=folder, check=True)
    before = sorted(path.name for path in folder.iterdir())
    done = subprocess.run(
        [sys.executable, "-m", "noface", "init", "--json"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["hint"]
    assert sorted(path.name for path in folder.iterdir()) == before


def test_without_a_place_on_github_it_teaches_and_writes_nothing(fresh):
    done = fresh.noface("init", "--github")
    assert (done.returncode, "git remote add origin" in done.stderr) == (2, True)
    fresh.git("remote", "add", "origin", "https://gitlab.com/acme/shop.git")
    done = fresh.noface("init", "--github")
    assert (done.returncode, "not on GitHub, but on gitlab.com" in done.stderr) == (2, True)
    assert not (fresh.path / "noface.toml").exists()


def test_what_is_there_is_switched_over_by_hand(fresh):
    fresh.config()
    fresh.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    done = fresh.noface("init", "--github")
    assert (done.returncode, "noface config set tracker.kind github" in done.stderr) == (2, True)
