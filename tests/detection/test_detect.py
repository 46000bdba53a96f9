import json

import pytest

from noface.config.load import parse
from noface.detection.detect import detect
from noface.detection.detected import Surroundings
from noface.detection.files import ci_commands
from noface.detection.render import render


def project(root, files, *, absent=(), version=""):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
    return detect(root, Surroundings(lambda each: each not in absent, version))


def setup_of(root, files, **about):
    (setup,) = project(root, files, **about).setups
    return setup


OWN = ".venv/bin/python -m"
PYTEST, RUFF, MYPY = f'PATH="$PWD/.venv/bin:$PATH" {OWN} pytest -q', f"{OWN} ruff check --no-fix .", f"{OWN} mypy ."
VENV, PIP = "python3 -m venv --clear .venv", f"{OWN} pip install"
GO, VET = "go test ./...", "go vet ./..."


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, {PYTEST: "test"}),
        ({"pyproject.toml": '[project]\nname = "x"\ndependencies = ["pytest>=8"]\n'}, {PYTEST: "test"}),
        ({"pyproject.toml": '[tool.ruff]\n[tool.mypy]\npackages = ["x"]\n'}, {RUFF: "lint", f"{OWN} mypy": "lint"}),
        ({"ruff.toml": "", "mypy.ini": "", "setup.cfg": "[tool:pytest]\n"}, {PYTEST: "test", RUFF: "lint", MYPY: "lint"}),
        ({"tests/unit/test_a.py": ""}, {PYTEST: "test"}),
        ({"pyproject.toml": '[project]\nname = "x"\n'}, {}),
        ({"package.json": {"scripts": {"test": "jest", "start": "x"}}}, {"npm run test": "test"}),
        ({"package.json": {"scripts": {"test": "x", "lint": "y", "build": "z"}}, "pnpm-lock.yaml": ""}, {"pnpm run test": "test", "pnpm run lint": "lint", "pnpm run build": "build"}),
        ({"package.json": {"scripts": {"test": 'echo "Error: no test specified" && exit 1'}}}, {}),
        ({"package.json": {"devDependencies": {"vitest": "1"}}, "src/a.spec.ts": ""}, {"npm exec -- vitest run": "test"}),
        ({"package.json": {}, "a.test.js": ""}, {"node --test": "test"}),
        ({"Cargo.toml": "[package]\n"}, {"cargo test --workspace": "test"}),
        ({"Cargo.toml": "", "Cargo.lock": "", ".gitignore": "Cargo.lock\n"}, {"cargo test --workspace": "test"}),
        ({"go.mod": "module x\n"}, {GO: "test", VET: "lint"}),
        ({"build.gradle.kts": "", "gradlew": ""}, {"./gradlew test": "test"}),
        ({"pom.xml": ""}, {"mvn -B -q test": "test"}),
        ({"App.sln": ""}, {"dotnet test": "test"}),
        ({"Gemfile": "", "spec/a_spec.rb": ""}, {"BUNDLE_PATH=vendor/bundle bundle exec rspec": "test"}),
        ({"composer.json": "{}", "phpunit.xml.dist": ""}, {"vendor/bin/phpunit": "test"}),
        ({"mix.exs": ""}, {"mix test": "test"}),
        ({"deno.json": '{"tasks": {"test": "x"}}'}, {"deno task test": "test"}),
        ({"deno.json": "{}"}, {"deno test": "test"}),
        ({"CMakeLists.txt": "project(x)\nenable_testing()\n"}, None),
        ({"CMakeLists.txt": "project(x)\n"}, {}),
        ({"justfile": "lint:\n  x\ntest *args:\n  y\nx := 'test:'\n"}, {"just lint": "lint", "just test": "test"}),
        ({"Makefile": ".PHONY: test\ntest: all\n\tpytest\nlint:\n\truff\n"}, {"make test": "test", "make lint": "lint"}),
        ({"Makefile": "check:: x\n"}, {"make check": "test"}),
        ({"Makefile": "all:\n\tcc\n"}, {"make all": "build"}),
        ({"Makefile": "test := x\nlint ?= y\ncheck ::= z\n# test: no\n"}, {}),
        ({"Makefile": "all test: x\n", "go.mod": ""}, {GO: "test", VET: "lint"}),
        ({"pyproject.toml": '[project]\nname = "x"\n', "Makefile": "test:\n\tx\n"}, {'PATH="$PWD/.venv/bin:$PATH" make test': "test"}),
        ({"back/go.mod": "", "front/package.json": {"scripts": {"test": "x"}}}, {f"cd back && {GO}": "test", f"cd back && {VET}": "lint", "cd front && npm run test": "test"}),
        ({}, {}),
    ],
)  # fmt: skip
def test_gates_are_found(tmp_path, files, expected):
    found = {gate.command: gate.kind for gate in project(tmp_path, files).gates}
    assert found == expected if expected is not None else list(found.values()) == ["test"]


@pytest.mark.parametrize(
    ("files", "command", "inputs", "keep"),
    [
        ({"Cargo.toml": "", "Cargo.lock": ""}, "cargo fetch --locked", ("Cargo.lock", "**/Cargo.toml"), ()),
        ({"go.mod": "", "go.sum": ""}, "go mod download", ("go.mod", "go.sum"), ()),
        ({"go.work": "", "a/go.mod": ""}, "go mod download", ("go.work", "**/go.mod", "**/go.sum"), ()),
        ({"Gemfile": ""}, "BUNDLE_PATH=vendor/bundle bundle install", ("Gemfile", "*.gemspec"), ("vendor/bundle", ".bundle")),
        ({"composer.json": "{}"}, "composer install --no-interaction", ("composer.json",), ("vendor",)),
    ],
)  # fmt: skip
def test_the_table_says_how_a_checkout_is_made_ready(tmp_path, files, command, inputs, keep):
    setup = setup_of(tmp_path, files)
    assert (setup.command, setup.inputs, setup.keep) == (command, inputs, keep)


NODE = {"package.json": {"devDependencies": {"jest": "1"}}}
YARN = "YARN_ENABLE_GLOBAL_CACHE=false yarn install --immutable"
PNP = ("node_modules", ".pnp.cjs", ".pnp.loader.mjs", ".yarn/cache", ".yarn/unplugged", ".yarn/install-state.gz")


@pytest.mark.parametrize(
    ("files", "command", "inputs", "keep"),
    [
        ({"package-lock.json": "{}"}, "npm ci", ("package-lock.json", "package.json"), PNP[:1]),
        ({"pnpm-lock.yaml": ""}, "pnpm install --frozen-lockfile", ("pnpm-lock.yaml", "package.json"), PNP[:1]),
        ({"yarn.lock": ""}, "yarn install --frozen-lockfile", ("yarn.lock", "package.json"), PNP[:1]),
        ({"yarn.lock": "# x\n\n__metadata:\n  version: 8\n"}, YARN, ("yarn.lock", "package.json"), PNP),
        ({"yarn.lock": "", ".yarnrc.yml": "nodeLinker: pnp\n"}, YARN, (".yarnrc.yml", "package.json", "yarn.lock"), PNP),
        ({".yarnrc.yml": "", ".gitignore": ".yarn/*\n!.yarn/cache\n"}, YARN, (".yarnrc.yml", "package.json"), (PNP[0], *PNP[4:])),
        ({"bun.lock": ""}, "bun install --frozen-lockfile", ("bun.lock", "package.json"), PNP[:1]),
        ({}, "npm install --no-package-lock", ("package.json",), PNP[:1]),
        # A lock file that git ignores is in no workspace, and one that setup wrote would count as work.
        ({"package-lock.json": "{}", ".gitignore": "/package-lock.json\n"}, "npm install --no-package-lock", ("package.json",), PNP[:1]),
    ],
)  # fmt: skip
def test_a_node_project_gets_its_install_as_setup(tmp_path, files, command, inputs, keep):
    setup = setup_of(tmp_path, {**NODE, **files})
    assert (setup.command, setup.inputs, setup.keep) == (command, inputs, keep)


@pytest.mark.parametrize(
    ("named", "absent", "gate"),
    [
        ("pnpm@9.1.0", (), "COREPACK_ROOT=none pnpm run test"),
        ("pnpm@9.1.0", ("pnpm",), "corepack pnpm run test"),
        ("yarn@1.22.1", (), "yarn run test"),
        ("other@1", (), "npm run test"),
    ],
)
def test_the_package_manager_that_package_json_names_is_used(tmp_path, named, absent, gate):
    package = {"packageManager": named, "scripts": {"test": "x"}}
    assert project(tmp_path, {"package.json": package}, absent=absent).gates[0].command == gate


@pytest.mark.parametrize(
    ("files", "gates"),
    [
        ({"package.json": {"workspaces": ["packages/*", "tools/d"]}, "package-lock.json": "{}"}, ["npm run lint --workspaces --if-present", "npm run test --workspaces --if-present"]),
        ({"package.json": {"scripts": {"test": "x"}}, "pnpm-lock.yaml": "", "pnpm-workspace.yaml": "packages:\n  - './packages/**'\n  - \"tools/*/\"\n"}, ["pnpm --recursive --if-present run lint", "pnpm run test"]),
    ],
)  # fmt: skip
def test_a_monorepo_keeps_the_modules_of_each_package_and_runs_their_scripts(tmp_path, files, gates):
    members = {"packages/a/package.json": {"scripts": {"test": "x", "lint": "y"}}, "packages/b/package.json": {}}
    other = {"packages/b/node_modules/c/package.json": {"scripts": {"build": "x"}}, "tools/d/package.json": {}}
    found = project(tmp_path, {**members, **other, **files})
    assert found.setups[0].keep == tuple(
        f"{place}node_modules" for place in ("", "packages/a/", "packages/b/", "tools/d/")
    )
    assert [gate.command for gate in found.gates] == gates


@pytest.mark.parametrize("glob", ["../out/*", "/etc/*", "a\x00b", "~x", "[", "!", 5])
def test_a_glob_that_leads_elsewhere_names_no_package(tmp_path, glob):
    (tmp_path / "out" / "a").mkdir(parents=True)
    (tmp_path / "out" / "a" / "package.json").write_text("{}")
    files = {"package.json": {"workspaces": [glob], "dependencies": {"a": "1"}}}
    assert setup_of(tmp_path / "in", files).keep == ("node_modules",)


NAMED = '[project]\nname = "x"\n'
BUILT = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n' + NAMED
TEST = {"tests/test_a.py": ""}


@pytest.mark.parametrize(
    ("files", "installs"),
    [
        ({"pyproject.toml": BUILT, **TEST}, "-e . pytest"),
        ({"pyproject.toml": BUILT + 'dependencies = ["PyTest>=8"]\n', **TEST}, "-e ."),
        ({"pyproject.toml": BUILT + '[project.optional-dependencies]\ndocs = ["sphinx"]\ndev = ["ruff"]\ntesting = ["pytest[x]>8"]\n', **TEST}, "-e '.[dev,testing]'"),
        ({"pyproject.toml": BUILT + '[dependency-groups]\ntest = ["pytest"]\ndocs = ["sphinx"]\n', **TEST}, "-e . --group test"),
        ({"pyproject.toml": BUILT + "[tool.ruff]\n"}, "-e . ruff"),
        ({"requirements.txt": "a\n", "docs-requirements.txt": "", "app.py": "", **TEST}, "-r requirements.txt pytest"),
        ({"requirements/base.txt": "a\n", "requirements/test.txt": "-r base.txt\npytest\n", **TEST}, "-r requirements/base.txt -r requirements/test.txt"),
        ({"pyproject.toml": BUILT + "dependencies = []\n", "requirements.txt": "a==1\n"}, "-e ."),
        ({"setup.py": "setup(name='x', packages=['x'], extras_require={'dev': ['a'], n: 1})", **TEST}, "--use-pep517 -e '.[dev]' pytest"),
        ({"setup.py": "setup()", "setup.cfg": "[metadata]\nname = x\n[options]\npackages = find:\n[options.extras_require]\ntests =\n  pytest\n", **TEST}, "--use-pep517 -e '.[tests]'"),
        (TEST, "pytest"),
    ],
)  # fmt: skip
def test_pip_installs_what_the_gates_need_into_an_environment_of_the_workspace(tmp_path, files, installs):
    setup = setup_of(tmp_path, files)
    first, *between, last = setup.command.split(" && ")
    assert (first, last) == (VENV, f"{PIP} {installs}")
    # The pip that comes with older Pythons knows no groups.
    assert between == ([f"{PIP} 'pip>=25.1'"] if "--group" in installs else [])
    assert (setup.keep[0], setup.needs) == (".venv", ("python3",))


GROUPS = '[dependency-groups]\ndev = ["pytest"]\nlint = ["ruff"]\ndocs = ["sphinx"]\n'
POETRY = "env -u VIRTUAL_ENV -u CONDA_PREFIX POETRY_VIRTUALENVS_CREATE=true POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --all-extras"
UV = "UV_PROJECT_ENVIRONMENT=.venv uv sync --frozen"


@pytest.mark.parametrize(
    ("file", "text", "command"),
    [
        ("uv.lock", NAMED + GROUPS, f"{UV} --group dev --group lint"),
        ("uv.lock", NAMED + '[project.optional-dependencies]\ntest = ["pytest"]\n', f"{UV} --extra test"),
        ("uv.lock", NAMED, f"{UV} && uv pip install --python .venv/bin/python pytest"),
        ("poetry.lock", '[tool.poetry.group.dev.dependencies]\npytest = "*"\n', POETRY),
        ("pdm.lock", BUILT + GROUPS, f'{VENV} && VIRTUAL_ENV="$PWD/.venv" pdm sync --dev && rm -f .pdm-python'),
    ],
)
def test_a_manager_makes_the_environment_in_the_workspace(tmp_path, file, text, command):
    setup = setup_of(tmp_path, {file: "", "pyproject.toml": text, **TEST})
    assert (setup.command, setup.inputs, setup.keep[0]) == (command, ("pyproject.toml", file), ".venv")


@pytest.mark.parametrize(
    ("files", "assigned"),
    [
        ({"pyproject.toml": BUILT + '[tool.hatch.version]\nsource = "vcs"\n'}, "SETUPTOOLS_SCM_PRETEND_VERSION=1 "),
        ({"setup.py": "setup(packages=['x'], use_scm_version=True)"}, "SETUPTOOLS_SCM_PRETEND_VERSION=1 "),
        ({"pyproject.toml": BUILT + '[tool.pdm.version]\nsource = "scm"\n'}, "PDM_BUILD_SCM_VERSION=1 "),
        ({"setup.py": "setup(packages=['x'], pbr=True)"}, "PBR_VERSION=1 "),
        ({"pyproject.toml": BUILT}, ""),
    ],
)
def test_a_version_from_git_is_given_to_the_build_since_workspaces_have_no_tags(tmp_path, files, assigned):
    assert setup_of(tmp_path, files, version="1").command.split(" && ")[-1].startswith(f"{assigned}{PIP} ")


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({"pyproject.toml": BUILT + '[tool.hatch.build.hooks.vcs]\nversion-file = "src/x/_version.py"\n'}, ["src/x/_version.py"]),
        ({"pyproject.toml": BUILT + '[tool.setuptools_scm]\nversion_file = "../_v.py"\n'}, []),
        ({"pyproject.toml": '[project]\nname = "my-x"\n', "src/x/__init__.py": ""}, ["src/my_x.egg-info"]),
        ({"setup.py": "setup(name='x', packages=['x'])"}, ["x.egg-info"]),
        ({"pyproject.toml": NAMED, ".gitignore": "*.egg-info/\n"}, []),
    ],
)  # fmt: skip
def test_what_a_build_leaves_in_the_sources_is_nobodys_work(tmp_path, files, kept):
    assert setup_of(tmp_path, files).keep == (".venv", *kept)


def test_setuptools_takes_no_folder_for_a_package_that_is_none(tmp_path):
    plain = setup_of(tmp_path / "a", {"pyproject.toml": NAMED, "x/__init__.py": ""})
    assert plain.command.startswith("trap 'test ! -d .issues || mv .issues issues' EXIT; ")
    told = {"pyproject.toml": NAMED + '[tool.setuptools]\npackages = ["x"]\n', "x/__init__.py": "", "y/__init__.py": ""}
    assert setup_of(tmp_path / "b", told).command == f"{VENV} && {PIP} -e ."
    several = project(tmp_path / "c", {"pyproject.toml": NAMED, "one/__init__.py": "", "two/__init__.py": ""})
    assert several.setups[0].command == VENV


@pytest.mark.parametrize("lock", ["", "uv.lock"])
def test_compiled_parts_are_built_from_the_change_before_its_tests(tmp_path, lock):
    files = {"setup.py": "setup(packages=['x'], ext_modules=[Extension('x', [])])", **TEST}
    gates = project(tmp_path, {**files, **({lock: ""} if lock else {})}).gates
    pip = "uv pip install --python .venv/bin/python" if lock else PIP
    assert [(gate.command, gate.kind) for gate in gates] == [(f"{pip} --no-deps -e .", "build"), (PYTEST, "test")]


def test_a_program_that_is_not_there_is_named(tmp_path):
    found = project(tmp_path, {"go.mod": "module x\n"}, absent=("go",))
    assert found.notes == ("go is not installed: the gates that need it can't pass until it is.",)


@pytest.mark.parametrize(
    ("file", "text"),
    [("package.json", "{"), ("package.json", "[]"), ("package.json", "[" * 100_000), ("pyproject.toml", "[tool")],
)
def test_a_file_that_cannot_be_read_is_noted_and_does_not_stop_detection(tmp_path, file, text):
    found = project(tmp_path, {file: text, "go.mod": ""})
    assert [file in note for note in found.notes] == [True]
    assert [gate.command for gate in found.gates] == [GO, VET]
    parse(render(found, "main"), "noface.toml")


def test_files_of_bytes_that_are_no_text_do_not_stop_detection(tmp_path):
    for name in ("Makefile", "package.json", "pyproject.toml", "setup.cfg", ".gitlab-ci.yml"):
        (tmp_path / name).write_bytes(b"\xff\x00[\n:test:\n")
    assert detect(tmp_path).gates == ()


WORKFLOW = """\
on: {on}
jobs:
  test:
    steps:
    - uses: actions/checkout@v4
    - run: |
        pip install \\
          -e .
        # a comment
        tox -e py
  publish:
    steps:
    - run: twine upload
"""


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (".github/workflows/ci.yml", WORKFLOW.replace("{on}", "push"), [("pip install -e .", "test"), ("tox -e py", "test")]),
        (".github/workflows/ci.yml", WORKFLOW.replace("{on}", "[pull_request]"), [("pip install -e .", "test"), ("tox -e py", "test")]),
        (".github/workflows/ci.yml", WORKFLOW.replace("{on}", "{push: {tags: [v1]}}"), []),
        (".github/workflows/ci.yml", WORKFLOW.replace("{on}", "{schedule: []}"), []),
        (".github/workflows/release.yml", WORKFLOW.replace("{on}", "push"), []),
        (".gitlab-ci.yml", "unit:\n  script: [make, !reference [a, b]]\n", [("make", "unit")]),
        (".circleci/config.yml", "jobs:\n  a:\n    steps:\n    - run: {name: x, command: go test}\n", [("go test", "a")]),
        (".github/workflows/ci.yml", "on: [", []),
    ],
)  # fmt: skip
def test_what_ci_runs_for_a_change_is_read_as_it_stands(tmp_path, file, text, expected):
    project(tmp_path, {file: text})
    assert ci_commands(tmp_path) == tuple((command, f"{file}, {job}") for command, job in expected)


FULL = {
    "pyproject.toml": '[project]\nname = "x"\n[tool.pytest.ini_options]\n[tool.ruff]\n',
    "package.json": {"scripts": {"lint": "eslint"}},
    "package-lock.json": "{}",
    ".github/workflows/ci.yml": WORKFLOW.replace("{on}", "push"),
}


def test_the_starting_file_holds_what_was_found(tmp_path):
    text = render(project(tmp_path, FULL), 'tr"unk')
    config = parse(text, "noface.toml")
    config.require_gates()
    assert config.project.main == 'tr"unk'
    assert [(gate.name, gate.command, gate.kind) for gate in config.gates] == [
        ("pytest", PYTEST, "test"),
        ("ruff", RUFF, "lint"),
        ("npm-lint", "npm run lint", "lint"),
    ]
    assert config.project.setup.endswith("pip install -e . pytest ruff && npm ci")
    assert config.project.setup_inputs == ("pyproject.toml", "package-lock.json", "package.json")
    assert config.project.keep == (".venv", "x.egg-info", "node_modules")
    assert (config.retry.default_model, config.retry.escalation_model) == ("claude-sonnet", "claude-opus")
    assert "\n#   tox -e py\n" in text
    assert "a .venv of yours is not there" in text


def test_where_nothing_was_found_the_starting_file_says_so_and_shows_a_gate(tmp_path):
    text = render(detect(tmp_path), "")
    assert (parse(text, "noface.toml").gates, parse(text, "noface.toml").project.main) == ((), "")
    assert "No gates were found" in text
    shown = text[text.index("#[[gates]]") :].split("\n\n")[0].replace("\n#", "\n").lstrip("#")
    parse(shown, "noface.toml").require_gates()
    assert "No tests were found" in render(project(tmp_path, {"ruff.toml": ""}), "main")
