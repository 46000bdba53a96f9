"""What `noface init` makes of a project's CI: tables of small trees, and the commands that become gates."""

import json
import re

import pytest

from noface.config.load import parse
from noface.detection.detect import detect, render
from noface.detection.detected import Surroundings
from noface.detection.expressions import evaluate
from noface.detection.toolchains import satisfies, toolchain_notes
from noface.detection.workflows import read_steps

OWN = ".venv/bin/python -m"
TEST = f'PATH="$PWD/.venv/bin:$PATH" {OWN}'
PACKAGE = {"pyproject.toml": '[project]\nname = "x"\n[tool.setuptools]\npackages = ["x"]\n', "tests/test_a.py": ""}


def tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
    return root


def workflow(*runs, on="push", job="", steps=""):
    lines = "".join(f"    - run: {json.dumps(run)}\n" for run in runs)
    return f"on: {on}\njobs:\n  a:\n    runs-on: ubuntu-latest\n{job}    steps:\n    - uses: actions/checkout@v4\n{steps}{lines}"


def gates_of(root, files):
    """Return the gates of a project, and nothing but commands that its noface.toml can hold."""
    found = detect(tree(root, files))
    parse(render(found, "main"), "noface.toml")
    return [gate.command for gate in found.gates]


CI = ".github/workflows/ci.yml"
TOX = "[tox]\nenvlist = py{39,310},typing,docs\n"


@pytest.mark.parametrize(
    ("run", "files", "gates"),
    [
        ("pytest -n auto -v --cov=x --cov-report xml -m 'not slow' tests", PACKAGE, [f"{TEST} pytest -q -n auto -m 'not slow' tests"]),
        ("uv run --group test pytest", PACKAGE, [f"{TEST} pytest -q"]),
        ("python -m pip install -e .[test]\npython -Im pytest && coverage report", PACKAGE, [f"{TEST} pytest -q"]),
        ("coverage run --source x -m pytest tests/unit", PACKAGE, [f"{TEST} pytest -q tests/unit"]),
        ("python -m unittest discover -s tests", PACKAGE, [f"{TEST} unittest discover -s tests"]),
        ("cd sub\npytest", {**PACKAGE, "sub/a": ""}, ['cd sub && PATH="$PWD/../.venv/bin:$PATH" ../.venv/bin/python -m pytest -q']),
        ("ruff check .\nruff format --check .\nblack .\npytest", PACKAGE, [f"{OWN} ruff check .", f"{OWN} ruff format --check .", f"{TEST} pytest -q"]),
        # through other runners
        ("tox -e py310", {**PACKAGE, "tox.ini": TOX + "[testenv]\ncommands =\n  pytest {posargs:--x}\n"}, [f"{TEST} pytest -q --x"]),
        ("uvx --with tox-uv tox run -e typing", {**PACKAGE, "tox.ini": TOX + "[testenv]\ncommands = typing: mypy x\n"}, [f"{TEST} pytest -q", f"{OWN} mypy x"]),
        ("tox", {**PACKAGE, "tox.ini": TOX + "[testenv]\ncommands =\n  !typing-!docs: pytest\n  typing: mypy \\\n    x\n  docs: sphinx-build docs\n"}, [f"{TEST} pytest -q", f"{OWN} mypy x"]),
        ("tox r -m t", {**PACKAGE, "pyproject.toml": PACKAGE["pyproject.toml"] + '[tool.tox.env_run_base]\ncommands = [["pytest", {replace = "posargs", default = ["a"]}]]\n'}, [f"{TEST} pytest -q"]),
        ("tox -e py", {**PACKAGE, "tox.ini": "[testenv]\nsetenv =\n  SLOW = 1\n  A={envname}\n  COVERAGE_FILE=x\n  typing: B=a b\ncommands = pytest\n"}, [f"SLOW=1 {TEST} pytest -q"]),
        ("tox -e py", {**PACKAGE, "tox.toml": '[env_run_base]\nset_env.A = "a b"\ncommands = [["pytest"]]\n'}, [f"A='a b' {TEST} pytest -q"]),
        ("nox", {**PACKAGE, "noxfile.py": "import nox\n@nox.session\ndef t(session):\n    session.run('pytest', env={'A': '1', 'B': session.x})\n"}, [f"A=1 {TEST} pytest -q"]),
        ("tox", {**PACKAGE, "tox.ini": "[testenv]\ncommands = pytest a\n[testenv:b]\ncommands = pytest b\n"}, [f"{TEST} pytest -q a"]),
        ("tox -e py", {**PACKAGE, "src/x/a.py": "", "tox.ini": "[testenv]\nchangedir = .tox\ncommands = {env:RUN:{envbindir}/pytest} --doctest-modules {envsitepackagesdir}/x {toxinidir}/tests\n"}, [f"{TEST} pytest -q --doctest-modules ./src/x ./tests"]),
        ("tox -e py", {**PACKAGE, "tox.ini": "[testenv]\nchangedir = tests\ncommands = pytest -c {toxinidir}/a.ini\n"}, ['cd tests && PATH="$PWD/../.venv/bin:$PATH" ../.venv/bin/python -m pytest -q -c ../a.ini']),
        ("poe all", {**PACKAGE, "pyproject.toml": PACKAGE["pyproject.toml"] + '[tool.poe.tasks]\ntest = "pytest"\nmypy = "mypy"\nall = ["test", {ref = "lint"}, {cmd = "mypy x"}, "mypy"]\n[tool.poe.tasks.lint]\nsequence = [{cmd = "ruff check x"}, "all"]\n'}, [f"{TEST} pytest -q", f"{OWN} ruff check x", f"{OWN} mypy x", f"{OWN} mypy ."]),
        # what the shell would replace, and what it would not
        ("pytest 'a*'\npytest b* \"c?\"\nflake8 x --exclude=\\*.y", {**PACKAGE, "x": ""}, [f"{TEST} pytest -q 'a*'", f"{TEST} pytest -q b* 'c?'", f"{OWN} flake8 x '--exclude=*.y'"]),
        ("tox -e py", {**PACKAGE, "tox.ini": "[testenv]\ncommands = python -m unittest discover -p *_test.py\n"}, [f"{TEST} unittest discover -p '*_test.py'"]),
        # what may fail
        ("pytest\nblack --check . || true\nmypy x && flake8 || echo bad\nruff check . || exit 1", PACKAGE, [f"{TEST} pytest -q", f"{OWN} ruff check ."]),
        ("make -C tests X='-W -a'\nmake -C tests clean ; make -C tests slow\nmake -C doc\nmake -C src", {"tests/Makefile": "", "doc/Makefile": "", "src/Makefile": ""}, ["cd tests && make 'X=-W -a'", "cd tests && make slow"]),
        ("pipx run --spec 'nox[uv]' nox -s tests\npipx install x", {**PACKAGE, "noxfile.py": "import nox\n@nox.session\ndef tests(session):\n    session.run('pytest', 'x')\n"}, [f"{TEST} pytest -q x"]),
        ("tox", {**PACKAGE, "tox.ini": TOX + "[testenv]\nsetenv = PYTHONPATH={env:PYTHONPATH}{:}{toxinidir}\ncommands = pytest\n"}, [f"PYTHONPATH=:. {TEST} pytest -q"]),
        ("npm ci\nnpm --prefix=web run test", {"package.json": {"workspaces": ["*"]}, "web/package.json": {"scripts": {"test": "x"}}}, ["cd web && npm run test"]),
        ("mypy --strict --config-file tox.ini\nmypy -p x", {**PACKAGE, "tox.ini": ""}, [f"{TEST} pytest -q", f"{OWN} mypy --strict --config-file tox.ini .", f"{OWN} mypy -p x"]),
        ("make check", {**PACKAGE, "Makefile": "check:\n\t-mypy x\n\t@-ruff check x\n\t@pytest\n"}, [f"{TEST} pytest -q"]),
        # the environment lies in the workspace
        ("flake8", PACKAGE, [f"{TEST} pytest -q", f"{OWN} flake8 --extend-exclude=.venv"]),
        ("flake8 . --count", {**PACKAGE, "setup.cfg": "[flake8]\nextend-exclude =\n  docs,\n  old\n"}, [f"{TEST} pytest -q", f"{OWN} flake8 . --count --extend-exclude=docs,old,.venv"]),
        ("check-manifest", PACKAGE, [f"{TEST} pytest -q", ".venv/bin/check-manifest --ignore=noface.toml,issues,issues/*"]),
        ("flake8 x", {**PACKAGE, "x/a.py": ""}, [f"{TEST} pytest -q", f"{OWN} flake8 x"]),
        ("flake8 --max-line-length=9 --select E", PACKAGE, [f"{TEST} pytest -q", f"{OWN} flake8 --max-line-length=9 --select E --extend-exclude=.venv"]),
        ("bandit -r .", PACKAGE, [f"{TEST} pytest -q", f"{OWN} bandit -r . --exclude=./.venv"]),
        ("nox -s tests-3.12 lint", {**PACKAGE, "noxfile.py": "import nox\n@nox.session(python=['3.12'])\ndef tests(session):\n    session.install('-e', '.', 'pytest-x')\n    session.run('pytest', *session.posargs)\n@nox.session\ndef lint(session):\n    session.run('ruff', 'check', 'x')\n"}, [f"{TEST} pytest -q", f"{OWN} ruff check x"]),
        ("hatch run test:all", {**PACKAGE, "pyproject.toml": PACKAGE["pyproject.toml"] + '[tool.hatch.envs.test.scripts]\nall = "pytest {args:tests}"\n'}, [f"{TEST} pytest -q tests"]),
        ("make test", {**PACKAGE, "Makefile": "test: lint\n\tpytest -q\nlint:\n\truff check x\n"}, [f"{OWN} ruff check x", f"{TEST} pytest -q"]),
        ("make test", {**PACKAGE, "Makefile": "test:\n\t./run $(X)\n"}, ['PATH="$PWD/.venv/bin:$PATH" make test']),
        ("just python=3.12 test", {**PACKAGE, "justfile": 'test *args="-x":\n    uv run {{ if x { y } }} pytest {{args}}\n'}, [f"{TEST} pytest -q"]),
        ("make requirements check", {**PACKAGE, "Makefile": "requirements:\n\tpip install -r r.txt\ncheck:\n\truff check x\n\tstubtest x\n"}, [f"{TEST} pytest -q", f"{OWN} ruff check x", ".venv/bin/stubtest x"]),
        ("true", {"Makefile": "all: x-test\nx-test: x.c\n\tcc -o x-test x.c\n"}, ["make all"]),
        ("make -j2 deps test", {"Makefile": "deps:\n\tgo get\ntest:\n\tgo test .\n", "go.mod": "module x\n"}, ["make -j2 test"]),
        ("ruff check --fix --exit-non-zero-on-fix .\nruff format --exit-non-zero-on-format .\npytest", PACKAGE, [f"{OWN} ruff check .", f"{OWN} ruff format . --check", f"{TEST} pytest -q"]),
        ("pytest tests/\npytest tests", PACKAGE, [f"{TEST} pytest -q tests"]),
        ("npm test\nnpm run test:ui\nnpx mocha browser-test.js", {"package.json": {"scripts": {"test": "jest", "test:ui": "wdio run x"}}}, ["npm test"]),
        ("npm test", {"package.json": {"scripts": {"test": "karma start"}}}, ["npm test"]),
        # other ecosystems
        ("npm ci\nnpm run lint\nnpm t", {"package.json": {"scripts": {"lint": "eslint", "test": "jest", "build": "tsc"}}}, ["npm run lint", "npm t"]),
        ("npm run unit\nnpm run type\nnpm run lint:fix", {"package.json": {"scripts": {"unit": "ava", "type": "tsd", "test": "x", "lint:fix": "xo --fix"}}}, ["npm run unit", "npm run type"]),
        ("npx tsc --noEmit\nnpm test", {"package.json": {"scripts": {"test": "jest"}}}, ["npm exec -- tsc --noEmit", "npm test"]),
        ("corepack enable\npnpm test\npnpm test --coverage", {"package.json": {"scripts": {"test": "vitest"}}, "pnpm-lock.yaml": ""}, ["pnpm test"]),
        ("go get -t ./...\ngo test -v -race ./...", {"go.mod": "module x\n"}, ["go test -race ./..."]),
        ("cargo build --verbose\ncargo test -v --all-features\ncargo clippy -- -D warnings", {"Cargo.toml": "[package]\n"}, ["cargo build", "cargo test --all-features", "cargo clippy -- -D warnings"]),
        ("cargo test", {"Cargo.toml": "[package]\n", "Cargo.lock": ""}, ["cargo test --locked --target-dir target"]),
        ("cargo check --target wasm32-unknown-unknown\ncargo +nightly test\ncargo test", {"Cargo.toml": "[package]\n"}, ["cargo test"]),
        ("make test", {"Makefile": "test:\n\tgo test .\nlint:\n\tx\n", "go.mod": "module x\n"}, ["make test"]),
        ("./mvnw -B verify", {"pom.xml": "", "mvnw": ""}, ["./mvnw -B verify"]),
        ("mkdir build\ncd build\ncmake -DA=ON ..\ncmake --build .\nctest", {"CMakeLists.txt": "enable_testing()\n", ".gitignore": "build/\n"}, ["cmake -S . -B build -DA=ON && cmake --build build -j 4", "ctest --test-dir build --output-on-failure --no-tests=error"]),
        ('if [ "a" == "b" ]; then\n  O="-DX=ON -DENABLE_VALGRIND=ON"\nelse\n  O="-DX=1 -DENABLE_VALGRIND=OFF"\nfi\nmkdir b\ncd b\ncmake .. $O || (rm -rf * && cmake .. $O)\nmake\nmake test', {"CMakeLists.txt": "", ".gitignore": "build/\n"}, ["cmake -S . -B build -DX=1 && cmake --build build -j 4", "ctest --test-dir build --output-on-failure --no-tests=error"]),
        ("cmake -DA=ON -DENABLE_ASAN_SANITIZER=ON ..\nctest\ncmake -DA=ON -DB=ON ..\nctest", {"CMakeLists.txt": "", ".gitignore": "build/\n"}, ["cmake -S . -B build -DA=ON -DB=ON && cmake --build build -j 4", "ctest --test-dir build --output-on-failure --no-tests=error"]),
        ("if [ -n 'x' ]\nthen\n  if [[ 1 != 1 ]]; then\n    make a\n  elif [ 2 = 2 ]; then\n    ARGS=./...\n  else\n    make b\n  fi\n  go test $ARGS\nfi", {"go.mod": "module x\n"}, ["go test ./..."]),
        ("if [ -z $X ]; then\n  go test -short\nelse\n  go test\nfi", {"go.mod": "module x\n"}, ["go test ./...", "go vet ./..."]),
        ("./scripts/test.sh --all", {"scripts/test.sh": ""}, ["./scripts/test.sh --all"]),
        ("npm test\nnpx c8 npm test\nnpx c8 report --reporter=lcov", {"package.json": {"scripts": {"test": "uvu"}}}, ["npm test"]),
        ("pnpm test\nA=1 pnpm test\nA=2 pnpm test", {"package.json": {"scripts": {"test": "vitest"}}, "pnpm-lock.yaml": ""}, ["pnpm test"]),
        ("go test -race -coverprofile=c.out ./...", {"go.mod": "module x\n"}, ["go test -race ./..."]),
        ("cd examples\nnpm test", {"package.json": {"workspaces": ["*"], "scripts": {"test": "uvu"}}, "examples/package.json": {"scripts": {"test": "x"}}}, ["npm run test"]),
        ("pnpm run build\npnpm build\npnpm run test\npnpm test", {"package.json": {"scripts": {"build": "x", "test": "vitest"}}, "pnpm-lock.yaml": ""}, ["pnpm run build", "pnpm run test"]),
        # nothing that checks
        ("pip install build && python -m build\ntwine check dist/*", PACKAGE, [f"{TEST} pytest -q"]),
    ],
)  # fmt: skip
def test_what_ci_runs_becomes_gates(tmp_path, run, files, gates):
    assert gates_of(tmp_path, {**files, CI: workflow(run)}) == gates


def test_what_ci_builds_in_c_s_manner_is_told_where_no_gate_does(tmp_path):
    ci = workflow("./configure\nmake -j\nmake check\npytest")
    (note,) = detect(tree(tmp_path / "a", {**PACKAGE, CI: ci})).notes
    assert note.startswith("CI also runs `./configure`, `make -j`, `make check` (")
    built = detect(tree(tmp_path / "b", {"configure.ac": "", CI: ci.replace("pytest", "true")}))
    assert ([gate.name for gate in built.gates], built.notes) == (["make-check"], ())


def test_what_is_told_of_ci_is_what_checks_something(tmp_path):
    run = "python -VV\npython -m site\ntool --version\n.venv/bin/python -Ic 'import x; print(x.y)'\nD=$(mktemp -d)\nnpm run e2e:ui\nnpm test\nother-check x"
    run += "\npython version.py >> $GITHUB_ENV\n[ '1' = '2' ] && export A=1\nrustc -vV\nA=1 uv run odd 'a b' \"$X/b\" c*\ncd docs\npython -m sphinx ."
    scripts = {"test": "uvu", "e2e:ui": "playwright test"}
    found = detect(tree(tmp_path, {"package.json": {"scripts": scripts}, CI: workflow(run)}))
    told = [name for note in found.notes for name in re.findall(r"`([^`]+)`", note)]
    shown = ["other-check x", "uv run odd 'a b' $X/b c*", "cd docs && python -m sphinx .", "npm run e2e:ui"]
    assert told == shown
    assert "it needs a browser" in found.notes[-1]


@pytest.mark.parametrize(
    ("run", "comments"),
    [("npm test\ndeno test", ["deno"]), ("deno test", []), ("npm test\ngolangci-lint run\ndeno test", ["golangci-lint", "deno"])],
)  # fmt: skip
def test_checks_whose_program_is_missing_are_comments_where_tests_are_left(tmp_path, run, comments):
    files = {
        "go.mod": "module x\n",
        "deno.json": "",
        **({"package.json": {"scripts": {"test": "uvu"}}} if "npm" in run else {}),
    }
    found = detect(
        tree(tmp_path, {**files, CI: workflow(run)}), Surroundings(lambda name: name in {"npm", "node", "go"})
    )
    assert found.missing == frozenset(comments)
    assert any(gate.kind == "test" and found.usable(gate) for gate in found.gates)


def test_a_linter_that_make_calls_and_that_is_missing_leaves_its_target_in_a_comment(tmp_path):
    files = {"Makefile": "lint:\n\t@clang-tidy x.h\ntest:\n\tcc x.c\n"}
    found = detect(tree(tmp_path, files), Surroundings(lambda name: name == "make"))
    assert [(gate.command, found.usable(gate)) for gate in found.gates] == [("make lint", False), ("make test", True)]


def test_what_ci_installs_is_in_the_environment_of_the_gates(tmp_path):
    extras = '[project.optional-dependencies]\nall = []\ntests = ["pytest"]\n[dependency-groups]\ndocs = []\ntyping = ["mypy"]\n'
    files = {**PACKAGE, "pyproject.toml": PACKAGE["pyproject.toml"] + extras, "need/t.txt": "b\n"}
    tox = "[testenv]\nextras = tests\ndeps =\n  -r need/t.txt\n  c>1\ncommands = pytest\n[testenv:typing]\nskip_install = true\ndependency_groups = typing\ncommands = mypy x\n"
    found = detect(tree(tmp_path, {**files, "tox.ini": tox, CI: workflow("tox -e py312", "tox -e typing")}))
    (setup,) = found.setups
    assert setup.command.endswith("pip install -e '.[tests]' -r need/t.txt --group typing 'c>1'")
    script = (
        'R="need/t.txt"\nif [ -z "$CI" ]; then\n  PIP=venv/bin/pip\nelse\n  PIP="pip"\nfi\n"$PIP" install -r "$R"\n'
    )
    found = detect(
        tree(tmp_path / "d", {**files, "scripts/install": script, CI: workflow("scripts/install", "pytest")})
    )
    assert found.setups[0].command.endswith("-r need/t.txt")
    made = {"need/u.txt": "e\n", "Makefile": "requirements:\n\tpip install -r need/u.txt\ncheck:\n\truff check x\n"}
    found = detect(tree(tmp_path / "c", {**files, **made, CI: workflow("make requirements check")}))
    assert found.setups[0].command.endswith("-r need/u.txt ruff")
    old = {"requirements.txt": "gone-since\n"}
    found = detect(tree(tmp_path / "e", {**files, **old, CI: workflow("pip install d 'e==1.*'", "pytest")}))
    assert found.setups[0].command.endswith("pip install -e '.[tests]' d 'e==1.*'")
    found = detect(tree(tmp_path / "b", {**files, CI: workflow("pip install .[all] d tox", "pytest")}))
    assert found.setups[0].command.endswith("pip install -e '.[all]' pytest d")


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        (workflow("go test"), True),
        (workflow("go test", on="[pull_request]"), True),
        (workflow("go test", on="{push: {branches: [main]}, workflow_dispatch: {}}"), True),
        (workflow("go test", on="{push: {tags: ['*']}}"), False),
        (workflow("go test", on="{push: {paths: ['docs/**']}}"), False),
        (workflow("go test", on="{push: {paths: ['docs/**', '**.go']}}"), True),
        (workflow("go test", on="{schedule: [{cron: '0 0 * * *'}]}"), False),
        (workflow("go test", on="workflow_call"), False),
        (workflow("go test", job="    if: startsWith(github.ref, 'refs/tags')\n"), False),
        (workflow("go test", job="    if: github.event_name != 'pull_request'\n"), True),
        (workflow("go test", job="    if: ${{ needs.x.outputs.y }}\n"), True),
        (workflow("go test", job="    continue-on-error: true\n"), False),
        (workflow("go test").replace("ubuntu-latest", "windows-latest"), False),
        (workflow("go test").replace("ubuntu-latest", "${{ matrix.os }}-latest").replace("    steps", "    strategy: {matrix: {os: [macos, ubuntu]}}\n    steps"), True),
        (workflow("go test", steps="    - run: make x\n      if: failure()\n"), True),
        ("on: push\njobs:\n  b: {uses: ./.github/workflows/called.yml}\n", True),
        ("on: push\njobs:\n  b: {runs-on: x, steps: [{uses: ./.github/actions/t}]}\n", True),
        (workflow("go test").replace("  a:\n", "  publish:\n"), False),
        (workflow("go test") + "      shell: python\n", False),
        ("[]", False),
        ("on: push\njobs: [a\n", False),
        ("on: push\njobs: {a: 5, b: {steps: 7}, c: {strategy: {matrix: {include: 5, exclude: 5, a: 5}}}}\n", False),
    ],
)  # fmt: skip
def test_only_what_runs_for_a_change_on_linux_counts(tmp_path, text, runs):
    called = {".github/workflows/called.yml": workflow("go test", on="workflow_call")}
    action = {".github/actions/t/action.yml": "runs: {using: composite, steps: [{run: go test, shell: bash}]}\n"}
    steps = read_steps(tree(tmp_path, {**called, **action, CI: text}))
    assert [step.script for step in steps] == (["go test"] if runs else [])


def test_a_matrix_is_run_through_with_tools_that_are_released(tmp_path):
    matrix = """    strategy:
      matrix:
        rust: [stable, nightly]
        include: [{rust: stable, features: serde}, {rust: 1.60.0, features: std}]
    env: {RUSTFLAGS: -Dwarnings, CI: 1, TOKEN: "${{ secrets.X }}", NOTHING: , MODULE: on, TRUTH: true}
"""
    text = workflow('cargo test --features "${{ matrix.features }}"', job=matrix)
    assert gates_of(tmp_path, {"Cargo.toml": "[package]\n", CI: text}) == [
        "RUSTFLAGS=-Dwarnings MODULE=on TRUTH=true cargo test --features serde",
        "RUSTFLAGS=-Dwarnings MODULE=on TRUTH=true cargo test --features std",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("matrix.a == 'x' && 'yes' || 'no'", "yes"),
        ("matrix.gone || 'default'", "default"),
        ("!cancelled() && always()", True),
        ("startsWith(matrix.a, 'X') && contains(matrix.b, '.1')", True),
        ("format('py{0}', matrix.b)", "py3.13"),
        ("(matrix.a != 'x') || failure()", False),
        ("matrix.a == 'y' && secrets.X", False),
    ],
)
def test_expressions_are_worked_out(text, value):
    assert evaluate(text, {"matrix.a": "x", "matrix.b": "3.13"}) == value


def test_what_is_not_taken_over_is_told(tmp_path):
    script = "if x; then\n  go test -tags y ./...\nfi"
    files = {"go.mod": "module x\n", CI: workflow("go test ./...", script, "./fuzz", "pip install x")}
    notes = detect(tree(tmp_path, files)).notes
    assert [("a script with conditions" in note, "`./fuzz`" in note) for note in notes] == [
        (True, False),
        (False, True),
    ]
    outside = "on: push\njobs:\n  a: {uses: org/shared/.github/workflows/ci.yml@v1}\n"
    found = detect(tree(tmp_path / "b", {"package.json": {"scripts": {"test": "jest"}}, CI: outside}))
    (note,) = found.notes
    assert note.startswith("CI also runs `org/shared/.github/workflows/ci.yml@v1` (")
    assert [gate.command for gate in found.gates] == ["npm run test"]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("for x in 1 2; do\n  npm i -g npm@$x\ndone", False),
        ("if x; then\n  git diff --name-only | xargs -r yarn lint\nfi", True),
        ("while x; do npx prettier --check .; done", True),
    ],
)
def test_of_a_script_with_conditions_is_told_only_what_may_check(tmp_path, script, told):
    files = {"package.json": {"scripts": {"test": "jest", "lint": "./lint"}}, CI: workflow("npm test", script)}
    assert ["a script with conditions" in note for note in detect(tree(tmp_path, files)).notes] == [True] * told


def test_what_makes_a_file_that_a_check_of_its_job_names_is_run_before_it(tmp_path):
    files = {"package.json": {"scripts": {"test": "jest"}}, "yarn.lock": "", "there.txt": ""}
    runs = [
        "yarn test",
        "yarn pack --out package.tgz",
        "yarn attw package.tgz",
        "./look there.txt",
        "yarn tsc there.txt",
    ]
    found = detect(tree(tmp_path, {**files, CI: workflow(*runs)}))
    assert [gate.command for gate in found.gates] == [
        "yarn pack --out package.tgz", "yarn test", "yarn attw package.tgz", "yarn tsc there.txt"
    ]  # fmt: skip
    assert ["./look there.txt" in note for note in found.notes] == [True]


def test_what_a_job_runs_in_many_steps_is_told_once_and_in_lines_that_are_not_long(tmp_path):
    files = {
        "go.mod": "module x\n",
        CI: workflow("go test ./...", *(f"./fuzz {number} of many" for number in range(9))),
    }
    found = detect(tree(tmp_path, files))
    (note,) = found.notes
    assert "`./fuzz 0 of many`, `./fuzz 1 of many`, `./fuzz 2 of many` and 6 more" in note
    assert max(map(len, render(found, "main").splitlines())) < 120


def test_ci_of_a_kind_that_is_not_read_is_named_where_nothing_else_checks(tmp_path):
    files = {"go.mod": "module x\n", ".travis.yml": "script: make check\n", CI: workflow("echo dummy")}
    (note,) = detect(tree(tmp_path, files)).notes
    assert note.startswith("CI is described in .travis.yml, which is not read")
    assert detect(tree(tmp_path, {CI: workflow("go test ./...")})).notes == ()


def test_gitlabs_jobs_are_read(tmp_path):
    text = """
variables: {RACE: "-race"}
.base: {before_script: [go version]}
test:
  extends: .base
  script: ["go test ./..."]
later: {script: [go vet], when: manual}
maybe: {script: [go vet], allow_failure: true}
odd: {script: !reference [.base, script]}
"""
    assert gates_of(tmp_path, {"go.mod": "module x\n", ".gitlab-ci.yml": text}) == ["RACE=-race go test ./..."]


HOOKS = """repos:
- repo: https://github.com/astral-sh/ruff-pre-commit
  rev: 76e47323a83cd9795e4ff9a1de1c0d2eef610f17  # frozen: v0.11.11
  hooks: [{id: ruff, args: [--fix, --select, E]}, {id: ruff-format}]
- repo: https://github.com/pre-commit/mirrors-mypy
  rev: v1.10.1
  hooks: [{id: mypy, files: "^(src/|tests/)", additional_dependencies: [types-x]}]
- repo: https://github.com/x/y
  hooks: [{id: rst-lint}]
"""


def test_hooks_of_pre_commit_are_run_by_their_tools_at_their_versions(tmp_path):
    excluding = HOOKS.replace("E]}", 'E], exclude: "(?x)^(src/x/|no/such)"}') + r"exclude: '^docs/a\.py$'"
    tree = {**PACKAGE, ".pre-commit-config.yaml": excluding, CI: workflow("pytest")}
    assert f"{OWN} ruff check --select E ." in gates_of(tmp_path / "a", tree)
    tree |= {"src/x/__init__.py": "", "docs/a.py": "", "no/such": ""}
    left_out = "--extend-exclude docs/a.py,src/x,no/such"
    assert f"{OWN} ruff check --select E {left_out} ." in gates_of(tmp_path / "b", tree)
    files = {**PACKAGE, "src/x/__init__.py": "", ".pre-commit-config.yaml": HOOKS, CI: workflow("pytest")}
    assert gates_of(tmp_path / "c", files) == [
        f"{TEST} pytest -q", f"{OWN} ruff check --select E .", f"{OWN} ruff format --check .", f"{OWN} mypy src tests",
    ]  # fmt: skip
    found = detect(tmp_path / "c")
    assert found.setups[0].command.endswith("pytest ruff==0.11.11 mypy==1.10.1 types-x")
    assert ["rst-lint" in note for note in found.notes] == [True]


@pytest.mark.parametrize(
    ("files", "gates"),
    [
        ({"CMakeLists.txt": "include(CTest)\n"}, ['build="$(mktemp -d)" && cmake -S . -B "$build" && cmake --build "$build" -j 4 && ctest --test-dir "$build" --output-on-failure --no-tests=error']),
        ({"CMakeLists.txt": 'option(X_BUILD_TESTS "Build tests" OFF)\nenable_testing()\n', ".gitignore": "/build/\n"}, ["cmake -S . -B build -DX_BUILD_TESTS=ON && cmake --build build -j 4", "ctest --test-dir build --output-on-failure --no-tests=error"]),
        ({"CMakeLists.txt": "project(x)\n"}, []),
        ({"meson.build": "", ".gitignore": "/build\n"}, ["meson setup build && meson test -C build --print-errorlogs"]),
        ({"configure.ac": "", "Makefile.am": ""}, ["autoreconf -fi && ./configure && make -j 4 && make check"]),
        ({"back/go.mod": "module x\n", "web/package.json": {"scripts": {"test": "jest"}}, "docs/a": ""}, ["cd back && go test ./...", "cd back && go vet ./...", "cd web && npm run test"]),
        ({"pyproject.toml": '[project]\nname = "x"\n', "x/tests/test_a.py": ""}, [f"{TEST} pytest -q"]),
        ({"pyproject.toml": '[project]\nname = "x"\n', "testing/test_a.py": ""}, [f"{TEST} pytest -q"]),
        ({"setup.py": "setup(packages=['x'])", "tests/test_a.py": "import unittest\n"}, [f"{TEST} pytest -q"]),
        ({"package.json": {"devDependencies": {"vitest": "1"}}, "src/a.test.ts": ""}, ["npm exec -- vitest run"]),
        ({"package.json": {"name": "x"}, "test/a.test.js": ""}, ["node --test"]),
    ],
)  # fmt: skip
def test_without_ci_tests_are_found_where_they_lie(tmp_path, files, gates):
    assert gates_of(tmp_path, files) == gates


@pytest.mark.parametrize(
    ("version", "wanted", "met"),
    [
        ("20.20.2", "^22.11 || ^24 || >=26", False),
        ("24.1.0", "^22.11 || ^24 || >=26", True),
        ("20.20.2", ">=16.9.0", True),
        ("20.20.2", "18 - 20", True),
        ("20.20.2", "20.x", True),
        ("20.20.2", "~18.2", False),
        ("3.11.7", ">=3.9,<3.13", True),
        ("3.11.7", ">=3.12", False),
        ("3.11.7", "!=3.11.*", False),
        ("3.11.7", "~=3.9", True),
        ("3.11.7", "some day", True),
        ("1.9", ">=1.21.0", False),
    ],
)
def test_ranges_of_versions_are_understood(version, wanted, met):
    assert satisfies(version, wanted) == met


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"package.json": {"engines": {"node": ">=22"}}}, "package.json asks for node >=22; here is 20.1.0"),
        ({".nvmrc": "v24\n"}, ".nvmrc asks for node >=24; here is 20.1.0"),
        ({".nvmrc": "lts/*\n"}, ""),
        ({".tool-versions": "nodejs 24.7.0\n"}, ".tool-versions asks for node >=24.7.0; here is 20.1.0"),
        ({"go.mod": "module x\ngo 1.30\n"}, "go.mod asks for go >=1.30; here is 1.22.1"),
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.13"\n'}, "pyproject.toml asks for python3 >=3.13; here is 3.11.7"),
        ({"Cargo.toml": '[package]\nrust-version = "1.99"\n'}, "Cargo.toml asks for rustc >=1.99; here is 1.80.0"),
        ({"rust-toolchain": '[toolchain]\nchannel = "1.92.0"\n'}, "rust-toolchain asks for rustc =1.92.0; here is 1.80.0"),
        ({"rust-toolchain.toml": '[toolchain]\nchannel = "stable"\n'}, ""),
        ({"package.json": {"engines": {"node": 5}}}, ""),
    ],
)  # fmt: skip
def test_a_version_that_is_not_here_is_told(tmp_path, files, said):
    here = {
        "node": "v20.1.0",
        "go": "go version go1.22.1 linux/amd64",
        "python3": "Python 3.11.7",
        "rustc": "rustc 1.80.0 (x)",
    }
    notes = list(toolchain_notes(tree(tmp_path, files), Surroundings(version_of=lambda program: here.get(program, ""))))
    assert [note.partition(". ")[0] for note in notes] == ([said] if said else [])
