import json

import pytest

from noface.config.load import parse
from noface.detection.detect import detect, render
from noface.detection.detected import Surroundings


def project(root, files, *, absent=(), version=""):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
    return detect(root, Surroundings(lambda program: program not in absent, version))


def commands(detection):
    return {gate.command: gate.kind for gate in detection.gates}


OWN = ".venv/bin/python -m"
AS_IT_IS = "COREPACK_ROOT=none"
PYTEST, RUFF, MYPY = f'PATH="$PWD/.venv/bin:$PATH" {OWN} pytest -q', f"{OWN} ruff check .", f"{OWN} mypy ."
VENV, PIP = "python3 -m venv --clear .venv", f"{OWN} pip install"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, {PYTEST: "test"}),
        ({"pyproject.toml": '[project]\nname = "x"\ndependencies = ["pytest>=8"]\n'}, {PYTEST: "test"}),
        ({"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n"}, {RUFF: "lint", MYPY: "lint"}),
        ({"pyproject.toml": '[tool.mypy]\npackages = ["x"]\n'}, {f"{OWN} mypy": "lint"}),
        ({"ruff.toml": "", "mypy.ini": ""}, {RUFF: "lint", MYPY: "lint"}),
        ({"pyproject.toml": "[tool.ruff]\nfix = true\n"}, {f"{OWN} ruff check --no-fix .": "lint"}),
        ({"ruff.toml": "line-length = 99\nfix = true  # x\n"}, {f"{OWN} ruff check --no-fix .": "lint"}),
        ({"ruff.toml": 'fixable = ["ALL"]\nunsafe-fixes = true\n'}, {RUFF: "lint"}),
        ({"setup.cfg": "[tool:pytest]\n[mypy]\n"}, {PYTEST: "test", MYPY: "lint"}),
        ({"pytest.ini": "[pytest]\n"}, {PYTEST: "test"}),
        ({"tests/unit/test_a.py": ""}, {PYTEST: "test"}),
        ({"a_test.py": ""}, {PYTEST: "test"}),
        ({"pyproject.toml": '[project]\nname = "x"\n'}, {}),
        ({"package.json": {"scripts": {"test": "jest", "start": "x"}}}, {"npm run test": "test"}),
        (
            {"package.json": {"scripts": {"test": "vitest", "lint": "eslint", "build": "tsc", "typecheck": "tsc"}}, "pnpm-lock.yaml": ""},
            {"pnpm run test": "test", "pnpm run lint": "lint", "pnpm run build": "build", "pnpm run typecheck": "lint"},
        ),
        ({"package.json": {"scripts": {"test": "jest"}}, "yarn.lock": ""}, {"yarn run test": "test"}),
        ({"package.json": {"scripts": {"test": 'echo "Error: no test specified" && exit 1'}}}, {}),
        ({"package.json": {"scripts": {"test": 5}}}, {}),
        ({"Cargo.toml": "[package]\n"}, {"cargo test": "test"}),
        ({"go.mod": "module x\n"}, {"go test ./...": "test", "go vet ./...": "lint"}),
        ({"build.gradle.kts": "", "gradlew": ""}, {"./gradlew test": "test"}),
        ({"pom.xml": ""}, {"mvn -B -q test": "test"}),
        ({"Makefile": ".PHONY: test\ntest: all\n\tpytest\nlint:\n\truff\n"}, {"make test": "test", "make lint": "lint"}),
        ({"Makefile": "check:: x\n"}, {"make check": "test"}),
        ({"Makefile": "test := x\nlint ?= y\ncheck ::= z\n# test: no\n"}, {}),
        ({"Makefile": "all test: x\n", "go.mod": ""}, {"go test ./...": "test", "go vet ./...": "lint"}),
        ({"Makefile": "lint test:\n\tx\n", "Cargo.toml": ""}, {"cargo test": "test", "make lint": "lint"}),
        ({}, {}),
    ],
)  # fmt: skip
def test_gates_are_found(tmp_path, files, expected):
    assert commands(project(tmp_path, files)) == expected


def test_every_gate_says_why(tmp_path):
    found = project(
        tmp_path, {"pyproject.toml": "[tool.pytest]\n", "package.json": {"scripts": {"lint": "x"}}, "go.mod": ""}
    )
    assert [gate.why for gate in found.gates] == [
        "pyproject.toml configures pytest",
        'package.json has the script "lint"',
        "go.mod is there",
        "go.mod is there",
    ]


def setup_of(root, files, **about):
    """Return the setup of a project that has one."""
    (setup,) = project(root, files, **about).setups
    return setup


@pytest.mark.parametrize(
    ("files", "command", "inputs"),
    [
        ({"package-lock.json": "{}"}, "npm ci", ("package-lock.json", "package.json")),
        ({"pnpm-lock.yaml": ""}, "pnpm install --frozen-lockfile", ("pnpm-lock.yaml", "package.json")),
        ({"yarn.lock": "# yarn lockfile v1\n"}, "yarn install --frozen-lockfile", ("yarn.lock", "package.json")),
        ({"bun.lock": ""}, "bun install --frozen-lockfile", ("bun.lock", "package.json")),
        ({}, "npm install --no-package-lock", ("package.json",)),
        # A lock file that git ignores is in no workspace, and one that setup wrote would count as work.
        ({"package-lock.json": "{}", ".gitignore": "/package-lock.json\n"}, "npm install --no-package-lock", ("package.json",)),
        ({"package-lock.json": "{}", ".npmrc": "", "patches/a.patch": ""}, "npm ci", ("package-lock.json", "package.json", ".npmrc", "patches/**")),
    ],
)  # fmt: skip
def test_a_node_project_gets_its_install_as_setup(tmp_path, files, command, inputs):
    setup = setup_of(tmp_path, {"package.json": {"devDependencies": {"jest": "1"}}, **files})
    assert (setup.command, setup.inputs, setup.keep) == (command, inputs, ("node_modules",))
    assert setup.needs == (command.split()[0],)


PNP = (".pnp.cjs", ".pnp.loader.mjs", ".yarn/cache", ".yarn/unplugged", ".yarn/install-state.gz")


@pytest.mark.parametrize(
    ("files", "keep"),
    [
        ({".yarnrc.yml": "nodeLinker: node-modules\n"}, ("node_modules", ".yarn/cache", ".yarn/unplugged", ".yarn/install-state.gz")),
        ({".yarnrc.yml": "yarnPath: x\n"}, PNP),
        ({".yarnrc.yml": "nodeLinker: pnp\n"}, PNP),
        ({"yarn.lock": "# x\n\n__metadata:\n  version: 8\n"}, PNP),
        ({".yarnrc.yml": "", ".gitignore": ".yarn/*\n!.yarn/cache\n"}, (".yarn/unplugged", ".yarn/install-state.gz")),
    ],
)  # fmt: skip
def test_yarn_from_2_on_keeps_what_its_linker_makes(tmp_path, files, keep):
    setup = setup_of(tmp_path, {"package.json": {"dependencies": {"a": "1"}}, "yarn.lock": "", **files})
    assert setup.command == "YARN_ENABLE_GLOBAL_CACHE=false yarn install --immutable"
    assert setup.keep == keep


@pytest.mark.parametrize(
    ("named", "absent", "command", "gate"),
    [
        ("pnpm@9.1.0", (), f"{AS_IT_IS} pnpm install --no-lockfile", f"{AS_IT_IS} pnpm run test"),
        ("pnpm", (), "pnpm install --no-lockfile", "pnpm run test"),
        ("pnpm@9.1.0", ("pnpm",), "corepack pnpm install --no-lockfile", "corepack pnpm run test"),
        ("yarn@1.22.1", (), "yarn install --no-lockfile", "yarn run test"),
        ("yarn@4.1.0", (), "YARN_ENABLE_GLOBAL_CACHE=false yarn install --immutable", "yarn run test"),
        ("other@1", (), "npm install --no-package-lock", "npm run test"),
    ],
)
def test_the_package_manager_that_package_json_names_is_used(tmp_path, named, absent, command, gate):
    package = {"packageManager": named, "dependencies": {"a": "1"}, "scripts": {"test": "x"}}
    found = project(tmp_path, {"package.json": package}, absent=absent)
    assert (found.setups[0].command, found.gates[0].command, found.missing) == (command, gate, frozenset())


MEMBERS = {
    "packages/a/package.json": {"scripts": {"test": "x", "lint": "y"}},
    "packages/b/package.json": {},
    "packages/b/node_modules/c/package.json": {"scripts": {"build": "x"}},
    "tools/d/package.json": {},
    "packages/readme.md": "",
}
MODULES = ("node_modules", "packages/a/node_modules", "packages/b/node_modules", "tools/d/node_modules")


@pytest.mark.parametrize(
    ("files", "gates"),
    [
        (
            {"package.json": {"workspaces": ["packages/*", "tools/d"]}, "package-lock.json": "{}"},
            ["npm run lint --workspaces --if-present", "npm run test --workspaces --if-present"],
        ),
        ({"package.json": {"workspaces": {"packages": ["./packages/*", "tools/*/"]}}, "yarn.lock": ""}, []),
        (
            {
                "package.json": {"scripts": {"test": "x"}},
                "pnpm-lock.yaml": "",
                "pnpm-workspace.yaml": "# x\npackages:\n  - 'packages/**' # all\n\n  - \"tools/*\"\n  - '!packages/b/node_modules/**'\ncatalog:\n  - other/*\n",
            },
            ["pnpm --recursive --if-present run lint", "pnpm run test"],
        ),
    ],
)
def test_a_monorepo_keeps_the_modules_of_each_package_and_runs_their_scripts(tmp_path, files, gates):
    found = project(tmp_path, {**MEMBERS, "other/e/package.json": {}, **files})
    assert found.setups[0].keep == MODULES
    assert [gate.command for gate in found.gates] == gates
    assert "packages/*/package.json" in found.setups[0].inputs or "packages/**/package.json" in found.setups[0].inputs
    assert "named in keep" in found.setups[0].why


def test_a_package_of_a_monorepo_that_cannot_be_read_is_named(tmp_path):
    files = {"package.json": {"workspaces": ["packages/*"], "dependencies": {"a": "1"}}}
    project(tmp_path, files)
    broken = tmp_path / "packages/b/package.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    (note,) = detect(tmp_path).notes
    assert note.startswith("packages/b/package.json could not be read: ")


@pytest.mark.parametrize("glob", ["../out/*", "/etc/*", "a\x00b", "~x", "**", "[", "!", 5])
def test_a_glob_that_leads_elsewhere_names_no_package(tmp_path, glob):
    (tmp_path / "out" / "a").mkdir(parents=True)
    (tmp_path / "out" / "a" / "package.json").write_text("{}")
    files = {"package.json": {"workspaces": [glob], "dependencies": {"a": "1"}}}
    assert setup_of(tmp_path / "in", files).keep == ("node_modules",)
    parse(render(detect(tmp_path / "in"), "main"), "noface.toml")


def test_a_package_without_dependencies_needs_no_setup(tmp_path):
    assert project(tmp_path, {"package.json": {"scripts": {"test": "node t.js"}}}).setups == ()


NAMED = '[project]\nname = "x"\n'
SOURCES = {"src/x/__init__.py": ""}
BUILT = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n' + NAMED
TEST = {"tests/test_a.py": ""}


@pytest.mark.parametrize(
    ("files", "installs"),
    [
        # extras
        ({"pyproject.toml": BUILT}, "-e ."),
        ({"pyproject.toml": BUILT, **TEST}, "-e . pytest"),
        ({"pyproject.toml": BUILT + 'dependencies = ["PyTest>=8"]\n', **TEST}, "-e ."),
        ({"pyproject.toml": BUILT + 'dependencies = ["pytest-cov"]\n', **TEST}, "-e . pytest"),
        ({"pyproject.toml": BUILT + '[project.optional-dependencies]\ndocs = ["sphinx"]\ndev = ["ruff"]\ntesting = ["pytest[x]>8"]\ntyping = ["mypy"]\n', **TEST}, "-e '.[dev,testing]'"),
        ({"pyproject.toml": BUILT + '[project.optional-dependencies]\ntyping = ["types-x"]\n[tool.mypy]\n[tool.ruff]\n'}, "-e '.[typing]' ruff mypy"),
        ({"pyproject.toml": BUILT + '[tool.hatch.envs.default]\nfeatures = ["cli", "no"]\ndependencies = ["pytest-xdist>3", "{root}"]\n[project.optional-dependencies]\ncli = []\n', **TEST}, "-e '.[cli]' pytest 'pytest-xdist>3'"),
        # dependency groups
        ({"pyproject.toml": BUILT + '[dependency-groups]\ntest = ["pytest"]\nDev = [{include-group = "test"}]\ndocs = ["sphinx"]\n', **TEST}, "-e . --group test --group Dev"),
        ({"pyproject.toml": BUILT + '[dependency-groups]\ndev = [{include-group = "dev"}, {include-group = "all"}, 5]\nall = 5\n', **TEST}, "-e . --group dev pytest"),
        # requirements files
        ({"requirements.txt": "a\n", "app.py": "", **TEST}, "-r requirements.txt pytest"),
        ({"requirements.txt": "a\n", "dev-requirements.txt": "-r requirements.txt\npytest==8\n", **TEST}, "-r requirements.txt -r dev-requirements.txt"),
        ({"requirements/base.txt": "a\n", "requirements/test.txt": "-r base.txt\n-r ../more.txt\n", "more.txt": "-r requirements/test.txt\npytest\n", **TEST}, "-r requirements/base.txt -r requirements/test.txt"),
        ({"pyproject.toml": BUILT + "dependencies = []\n", "requirements.txt": "a==1\n", "tests/requirements.txt": "b\n", **TEST}, "-e . -r tests/requirements.txt pytest"),
        ({"pyproject.toml": BUILT + 'dynamic = ["dependencies"]\n', "requirements.txt": "a==1\n"}, "-e . -r requirements.txt"),
        # setup.py and setup.cfg; the old way of installing them leaves files that do not survive the next checkout
        ({"setup.py": "setup(name='x', packages=['x'], extras_require={'dev': ['a'], n: 1}, tests_require=['b'])", **TEST}, "--use-pep517 -e '.[dev]' pytest"),
        ({"setup.py": "more = {'test': []}\nsetup(packages=['x'], extras_require=more)", **TEST}, "--use-pep517 -e '.[test]' pytest"),
        ({"setup.py": "setup(packages=['x'], tests_require=['b>1'])", **TEST}, "--use-pep517 -e . pytest 'b>1'"),
        ({"setup.py": "setup(((", **TEST, **SOURCES}, "--use-pep517 -e . pytest"),
        ({"setup.py": "setup()", "setup.cfg": "[metadata]\nname = x\n[options]\npackages = find:\n[options.extras_require]\ntests =\n  pytest\n", **TEST}, "--use-pep517 -e '.[tests]'"),
        ({"setup.py": "setup(packages=['x'])", "tox.ini": "[testenv]\ndeps =\n  pytest>=8\n  -r t.txt\n  py27: old\n  {env:X}\n", **TEST}, "--use-pep517 -e . pytest 'pytest>=8' -r t.txt"),
        # what mypy looks up stands in tox's environment for it
        ({"pyproject.toml": BUILT + "[tool.mypy]\nstrict = true\n", "tox.ini": "[testenv:types]\ndeps =\n  mypy\n  unidecode\n  -r t.txt\n  {[testenv]deps}\ncommands = mypy\n[testenv:lint]\ndeps = prek\ncommands = prek\n"}, "-e . mypy unidecode -r t.txt"),
        ({"pyproject.toml": BUILT + "[project.optional-dependencies]\ntypes = ['mypy', 'a']\n[tool.mypy]\n", "tox.ini": "[testenv:types]\ndeps = b\ncommands = mypy\n"}, "-e '.[types]'"),
        # nothing but tests
        (TEST, "pytest"),
    ],
)  # fmt: skip
def test_pip_installs_what_the_gates_need_into_an_environment_of_the_workspace(tmp_path, files, installs):
    setup = setup_of(tmp_path, files)
    first, *between, last = setup.command.split(" && ")
    assert (first, last) == (VENV, f"{PIP} {installs}")
    # The pip that comes with older Pythons knows no groups.
    assert between == ([f"{PIP} 'pip>=25.1'"] if "--group" in installs else [])
    assert setup.keep[0] == ".venv"
    assert setup.needs == ("python3",)
    gates = [gate for gate in detect(tmp_path).gates if gate.kind != "build"]
    assert all(".venv/bin/python -m " in gate.command and gate.needs == ("python3",) for gate in gates)


def test_requirements_with_hashes_are_installed_by_a_call_of_their_own(tmp_path):
    text = "a==1 \\\n  --hash=sha256:00\n"
    setup = setup_of(tmp_path, {"setup.py": "setup(packages=['x'])", "requirements.txt": text, **TEST})
    assert setup.command == f"{VENV} && {PIP} -r requirements.txt && {PIP} --use-pep517 -e . pytest"


@pytest.mark.parametrize("line", ["My.X==0.9\n", "a\nmy-x>=1  # via docs\n"])
def test_requirements_that_name_the_package_itself_do_not_hold_it_at_their_version(tmp_path, line):
    files = {"pyproject.toml": BUILT.replace('"x"', '"my_x"'), "requirements/dev.txt": f"{line}pytest\n", **TEST}
    assert setup_of(tmp_path, files).command == f"{VENV} && {PIP} -r requirements/dev.txt && {PIP} -e ."


HOOKS = """repos:
  - repo: https://github.com/astral-sh/ruff-pre-commit
    rev: "v0.5.0"
  - repo: https://github.com/pre-commit/mirrors-mypy
    rev: v1.10.1
"""


@pytest.mark.parametrize(
    ("files", "end"),
    [
        ({}, "-e . ruff==0.5.0 mypy==1.10.1"),
        ({"uv.lock": ""}, "--python .venv/bin/python ruff==0.5.0 mypy==1.10.1"),
        ({"requirements-dev.txt": "mypy\n"}, "-e . -r requirements-dev.txt ruff==0.5.0"),
    ],
)
def test_tools_that_only_pre_commit_lists_have_its_versions(tmp_path, files, end):
    text = BUILT + "[tool.ruff]\n[tool.mypy]\n"
    setup = setup_of(tmp_path, {"pyproject.toml": text, ".pre-commit-config.yaml": HOOKS, **files})
    assert setup.command.endswith(f" {end}")
    assert ".pre-commit-config.yaml" in setup.inputs


def test_the_environment_depends_on_all_files_that_say_what_is_in_it(tmp_path):
    files = dict.fromkeys(("setup.py", "setup.cfg", "dev-requirements.txt", "requirements/a.txt", "tests/requirements.txt", "tox.ini", ".python-version", "constraints.txt"), "")  # fmt: skip
    setup = setup_of(tmp_path, {"pyproject.toml": BUILT, **files})
    expected = ("pyproject.toml", "setup.py", "setup.cfg", "*requirements*.txt", "tests/*.txt", "requirements/*.txt", "constraints.txt", "tox.ini", ".python-version")  # fmt: skip
    assert setup.inputs == expected


SCM = "SETUPTOOLS_SCM_PRETEND_VERSION="


@pytest.mark.parametrize(
    ("files", "version", "assigned"),
    [
        ({"pyproject.toml": BUILT + '[tool.hatch.version]\nsource = "vcs"\n'}, "2.5.1", f"{SCM}2.5.1 "),
        ({"pyproject.toml": BUILT + '[tool.hatch.version]\nsource = "vcs"\n'}, "", f"{SCM}0.0.0 "),
        ({"pyproject.toml": NAMED + "[tool.setuptools_scm]\n", **SOURCES}, "1", f"{SCM}1 "),
        ({"setup.py": "setup(packages=['x'], use_scm_version=True)"}, "1", f"{SCM}1 "),
        ({"pyproject.toml": '[build-system]\nrequires = ["setuptools", "setuptools_scm[toml]>=6"]\n[project]\nname = "x"\ndynamic = ["version"]\n', **SOURCES}, "1", f"{SCM}1 "),
        ({"pyproject.toml": '[build-system]\nrequires = ["setuptools_scm"]\n[project]\nname = "x"\nversion = "1"\n', **SOURCES}, "1", ""),
        ({"pyproject.toml": BUILT + '[tool.pdm.version]\nsource = "scm"\n'}, "1", "PDM_BUILD_SCM_VERSION=1 "),
        ({"setup.py": "setup(packages=['x'], pbr=True)"}, "1", "PBR_VERSION=1 "),
        ({"pyproject.toml": BUILT}, "1", ""),
    ],
)  # fmt: skip
def test_a_version_from_git_is_given_to_the_build_since_workspaces_have_no_tags(tmp_path, files, version, assigned):
    command = setup_of(tmp_path, files, version=version).command.split(" && ")[-1]
    assert command.startswith(f"{assigned}{PIP} ")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('[tool.hatch.build.hooks.vcs]\nversion-file = "src/x/_version.py"\n', ("src/x/_version.py",)),
        ('[tool.setuptools_scm]\nwrite_to = "x/_v.py"\n', ("x/_v.py",)),
        ('[tool.setuptools_scm]\nversion_file = "../_v.py"\n', ()),
        ("[tool.setuptools_scm]\nwrite_to = 5\n", ()),
    ],
)
def test_the_file_that_a_build_writes_its_version_to_is_kept(tmp_path, text, kept):
    assert setup_of(tmp_path, {"pyproject.toml": BUILT + text}).keep == (".venv", *kept)


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({"pyproject.toml": '[project]\nname = "my-x"\n', **SOURCES}, "src/my_x.egg-info"),
        ({"setup.py": "setup(name='x', packages=['x'])"}, "x.egg-info"),
        ({"pyproject.toml": NAMED, ".gitignore": "*.egg-info/\n"}, None),
        ({"pyproject.toml": '[project]\nname = "/../x"\n', **SOURCES}, "src/_.._x.egg-info"),
    ],
)
def test_what_setuptools_leaves_in_the_sources_is_nobodys_work(tmp_path, files, kept):
    setup = setup_of(tmp_path, files)
    assert setup.keep == (".venv", *([kept] if kept else []))
    parse(render(detect(tmp_path), "main"), "noface.toml")


def test_issues_are_put_aside_where_setuptools_would_take_them_for_a_package(tmp_path):
    plain = setup_of(tmp_path / "a", {"pyproject.toml": NAMED, "x/__init__.py": "", **TEST})
    assert plain.command.startswith("trap 'test ! -d .issues || mv .issues issues' EXIT; ")
    assert plain.command.endswith(f"{VENV} && {PIP} -e . pytest")
    told = {"pyproject.toml": NAMED + '[tool.setuptools]\npackages = ["x"]\n', "x/__init__.py": "", "y/__init__.py": ""}
    for number, files in enumerate((told, {"pyproject.toml": NAMED, **SOURCES}, {"pyproject.toml": BUILT})):
        assert setup_of(tmp_path / str(number), files).command == f"{VENV} && {PIP} -e ."


def test_of_several_packages_that_setuptools_would_refuse_only_what_they_require_is_installed(tmp_path):
    text = NAMED + 'dependencies = ["a"]\n[project.optional-dependencies]\ndev = ["pytest"]\n'
    found = project(tmp_path, {"pyproject.toml": text, "one/__init__.py": "", "two/__init__.py": "", **TEST})
    command = found.setups[0].command
    assert "p['optional-dependencies'][n]" in command
    assert "'dev'.split()" in command
    assert command.endswith(f"> .venv/required.txt && {PIP} -r .venv/required.txt")
    assert [("one, two" in note, "refuse" in note) for note in found.notes] == [(True, True)]


@pytest.mark.parametrize(
    "files",
    [
        {"setup.py": "setup(packages=['x'], ext_modules=[Extension('x', [])])"},
        {"pyproject.toml": '[build-system]\nrequires = ["maturin"]\nbuild-backend = "maturin"\n' + NAMED},
    ],
)
def test_compiled_parts_are_built_from_the_change_before_its_tests(tmp_path, files):
    gates = project(tmp_path, {**files, **TEST}).gates
    assert [(gate.command, gate.kind) for gate in gates] == [(f"{PIP} --no-deps -e .", "build"), (PYTEST, "test")]
    (tmp_path / "uv.lock").touch()  # an environment of uv's has no pip
    assert detect(tmp_path).gates[0].command == "uv pip install --python .venv/bin/python --no-deps -e ."


UV = "UV_PROJECT_ENVIRONMENT=.venv uv sync --frozen"
POETRY = "env -u VIRTUAL_ENV -u CONDA_PREFIX POETRY_VIRTUALENVS_CREATE=true POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction"
GROUPS = '[dependency-groups]\ndev = ["pytest"]\nlint = ["ruff"]\ndocs = ["sphinx"]\n'


@pytest.mark.parametrize(
    ("files", "command", "inputs"),
    [
        ({"uv.lock": "", "pyproject.toml": NAMED + GROUPS}, UV, ("uv.lock",)),
        ({"uv.lock": "", "pyproject.toml": NAMED + GROUPS + "[tool.ruff]\n"}, f"{UV} --group lint", ("uv.lock",)),
        ({"uv.lock": "", "pyproject.toml": NAMED + GROUPS + '[tool.ruff]\n[tool.uv]\ndefault-groups = "all"\n'}, UV, ("uv.lock",)),
        ({"uv.lock": "", "pyproject.toml": NAMED + GROUPS + "[tool.uv]\ndefault-groups = []\n"}, f"{UV} --group dev", ("uv.lock",)),
        ({"uv.lock": "", "pyproject.toml": NAMED + '[project.optional-dependencies]\ntest = ["pytest"]\n'}, f"{UV} --extra test", ("uv.lock",)),
        ({"uv.lock": "", "pyproject.toml": NAMED + '[tool.uv]\ndev-dependencies = ["pytest"]\n'}, UV, ("uv.lock",)),
        ({"uv.lock": "", "pyproject.toml": NAMED}, f"{UV} && uv pip install --python .venv/bin/python pytest", ("uv.lock",)),
        ({"uv.lock": "", "pyproject.toml": NAMED + GROUPS + '[tool.uv.workspace]\nmembers = ["packages/*"]\n'}, f"{UV} --all-packages", ("uv.lock", "packages/*/pyproject.toml")),
        ({"uv.lock": "", "pyproject.toml": BUILT + GROUPS + '[tool.hatch.version]\nsource = "vcs"\n'}, f"{SCM}0.0.0 {UV}", ("uv.lock",)),
        # uv would write a lock file where there is none, and that would count as work
        ({"pyproject.toml": NAMED + GROUPS + "[tool.uv]\n"}, "rm -rf .venv && uv venv .venv && uv pip install --python .venv/bin/python -r pyproject.toml --group dev", ()),
        ({"pyproject.toml": BUILT + "[tool.uv]\n"}, "rm -rf .venv && uv venv .venv && uv pip install --python .venv/bin/python -e . pytest", ()),
        ({"poetry.lock": "", "pyproject.toml": '[tool.poetry]\n[tool.poetry.group.dev.dependencies]\npytest = "*"\n'}, POETRY, ("poetry.lock",)),
        ({"poetry.lock": "", "pyproject.toml": '[tool.poetry]\n[tool.poetry.group.test]\noptional = true\n[tool.poetry.group.test.dependencies]\npytest = "*"\n'}, f"{POETRY} --with test", ("poetry.lock",)),
        ({"poetry.lock": "", "pyproject.toml": "[tool.poetry]\n[tool.poetry.extras]\ntest = []\n"}, f"{POETRY} --extras test && {PIP} pytest", ("poetry.lock",)),
        ({"pyproject.toml": '[tool.poetry]\n[tool.poetry.dev-dependencies]\npytest = "*"\n'}, f"{POETRY} && rm -f poetry.lock", ()),
        ({"pdm.lock": "", "pyproject.toml": BUILT + GROUPS}, f'{VENV} && VIRTUAL_ENV="$PWD/.venv" pdm sync --dev && rm -f .pdm-python', ("pdm.lock",)),
    ],
)  # fmt: skip
def test_a_manager_makes_the_environment_in_the_workspace(tmp_path, files, command, inputs):
    found = project(tmp_path, {**files, **TEST})
    (setup,) = found.setups
    assert (setup.command, setup.inputs, setup.keep) == (command, ("pyproject.toml", *inputs), (".venv",))
    program = next(name for name in ("uv", "poetry", "pdm") if name in command)
    assert setup.needs == (program,)
    assert found.gates[0].command == PYTEST
    assert {gate.needs for gate in found.gates} == {(program,)}


def test_without_uv_and_its_lock_file_pip_does_the_same(tmp_path):
    files = {"pyproject.toml": BUILT + GROUPS + "[tool.uv]\n", **TEST}
    assert setup_of(tmp_path, files, absent=("uv",)).command.endswith(f"{PIP} -e . --group dev")


@pytest.mark.parametrize(
    ("files", "commands_", "setups"),
    [
        ({"Cargo.toml": "[package]\n[workspace]\n"}, ["cargo test --workspace"], []),
        ({"Cargo.toml": "[package]\n", "Cargo.lock": ""}, ["cargo test --locked --target-dir target"], [("cargo fetch --locked", ("Cargo.lock", "**/Cargo.toml"))]),
        ({"Cargo.toml": "[package]\n", "Cargo.lock": "", ".gitignore": "Cargo.lock\n"}, ["cargo test"], []),
        ({"Cargo.toml": "[package", "Cargo.lock": "", ".cargo/config.toml": '[source.vendored-sources]\ndirectory = "vendor"\n'}, ["cargo test --locked --target-dir target"], []),
        ({"go.mod": "module x\n", "go.sum": ""}, ["go test ./...", "go vet ./..."], [("go mod download", ("**/go.mod", "**/go.sum"))]),
        ({"go.mod": "module x\n", "go.sum": "", "vendor/modules.txt": ""}, ["go test ./...", "go vet ./..."], []),
        (
            {"go.work": "go 1.22\n\nuse (\n\t./a // first\n\t./b/c\n\t../out\n)\nuse .\n", "a/go.mod": "module a\n"},
            ["go test ./a/... ./b/c/... ./...", "go vet ./a/... ./b/c/... ./..."],
            [("go mod download", ("**/go.mod", "**/go.sum", "go.work"))],
        ),
    ],
)  # fmt: skip
def test_cargo_and_go_fetch_what_they_need_and_keep_nothing(tmp_path, files, commands_, setups):
    found = project(tmp_path, files)
    assert [gate.command for gate in found.gates] == commands_
    assert [(setup.command, setup.inputs) for setup in found.setups] == setups
    assert all(setup.keep == () for setup in found.setups)


def test_make_finds_the_programs_of_the_environment(tmp_path):
    found = project(tmp_path, {"pyproject.toml": BUILT, "Makefile": "test:\n\tpytest\nlint:\n\tflake8\n"})
    assert commands(found) == {
        'PATH="$PWD/.venv/bin:$PATH" make lint': "lint",
        'PATH="$PWD/.venv/bin:$PATH" make test': "test",
    }


def test_what_needs_a_program_that_is_not_there_is_written_as_it_would_be_with_it(tmp_path):
    files = {"uv.lock": "", "pyproject.toml": NAMED + GROUPS, **TEST}
    found = project(tmp_path, files, absent=("uv", "go"))
    assert (found.missing, [note.partition(";")[0] for note in found.notes]) == (frozenset(), ["uv is not installed"])
    text = render(found, "main")
    config = parse(text, "noface.toml")
    assert (config.project.setup, [gate.command for gate in config.gates]) == (UV, [PYTEST])
    assert f"with it the gates would be `{PYTEST}`" in " ".join(text.split())


def test_a_linter_that_only_needs_itself_waits_in_a_comment_for_its_program(tmp_path):
    # It is the one thing that could stop a person who has all the tests need, and it lets no broken work through.
    workflow = "on: push\njobs:\n  a:\n    steps:\n    - run: go test ./...\n    - run: golangci-lint run\n"
    files = {"go.mod": "module x\n", ".github/workflows/ci.yml": workflow}
    found = project(tmp_path, files, absent=("golangci-lint",))
    config = parse(render(found, "main"), "noface.toml")
    assert [gate.command for gate in config.gates] == ["go test ./..."]
    assert '\n#command = "golangci-lint run"\n' in render(found, "main")
    assert [gate.command for gate in project(tmp_path, files).gates] == ["go test ./...", "golangci-lint run"]


@pytest.mark.parametrize(
    ("file", "text"),
    [("package.json", "{"), ("package.json", "[]"), ("package.json", "[" * 100_000), ("pyproject.toml", "[tool")],
)
def test_a_file_that_cannot_be_read_is_noted_and_does_not_stop_detection(tmp_path, file, text):
    found = project(tmp_path, {file: text, "go.mod": ""})
    assert [file in note for note in found.notes] == [True]
    assert "go test ./..." in commands(found)
    parse(render(found, "main"), "noface.toml")


def test_files_of_bytes_that_are_no_text_do_not_stop_detection(tmp_path):
    for name in ("Makefile", "package.json", "pyproject.toml", "setup.cfg", "tox.ini"):
        (tmp_path / name).write_bytes(b"\xff\x00[\n:test:\n")
    assert commands(detect(tmp_path)) == {}


FULL = {
    "pyproject.toml": '[project]\nname = "x"\n[tool.pytest.ini_options]\n[tool.ruff]\n',
    "package.json": {"scripts": {"lint": "eslint"}},
    "package-lock.json": "{}",
}


def test_the_starting_file_holds_what_was_found(tmp_path):
    config = parse(render(project(tmp_path, FULL), "trunk"), "noface.toml")
    config.require_gates()
    assert config.project.main == "trunk"
    assert [(gate.name, gate.command, gate.kind) for gate in config.gates] == [
        ("pytest", PYTEST, "test"),
        ("ruff", RUFF, "lint"),
        ("npm-lint", "npm run lint", "lint"),
    ]
    assert config.project.setup.endswith("pip install -e . pytest ruff && npm ci")
    assert config.project.setup_inputs == ("pyproject.toml", "package-lock.json", "package.json")
    assert config.project.keep == (".venv", "x.egg-info", "node_modules")
    assert (config.retry.default_model, config.retry.escalation_model) == ("claude-sonnet", "claude-opus")


def test_the_starting_file_says_why_there_is_a_setup(tmp_path):
    text = render(project(tmp_path, {"pyproject.toml": BUILT}), "main")
    assert "a .venv of yours is not there" in text
    assert parse(text, "noface.toml").project.setup == f"{VENV} && {PIP} -e ."


def test_where_nothing_was_found_the_starting_file_says_so_and_shows_a_gate(tmp_path):
    text = render(detect(tmp_path), "main")
    assert parse(text, "noface.toml").gates == ()
    assert "No gates were found" in text
    shown = text[text.index("#[[gates]]") :].split("\n\n")[0].replace("\n#", "\n").lstrip("#")
    parse(shown, "noface.toml").require_gates()


def test_where_no_test_was_found_the_starting_file_warns(tmp_path):
    assert "No tests were found" in render(project(tmp_path, {"ruff.toml": ""}), "main")
    assert "No tests were found" not in render(project(tmp_path / "b", {"go.mod": ""}), "main")


def test_an_unknown_branch_is_left_open(tmp_path):
    assert parse(render(detect(tmp_path), ""), "noface.toml").project.main == ""


def test_a_branch_with_quotes_is_written_as_toml(tmp_path):
    assert parse(render(detect(tmp_path), 'a"b'), "noface.toml").project.main == 'a"b'
