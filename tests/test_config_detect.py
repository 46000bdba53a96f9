import json

import pytest

from noface.config.detect import detect
from noface.config.load import parse
from noface.config.starting_file import render


def project(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
    return detect(root)


def commands(detection):
    return {gate.command: gate.kind for gate in detection.gates}


PYTEST, RUFF, MYPY = "python -m pytest -q", "python -m ruff check .", "python -m mypy ."


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, {PYTEST: "test"}),
        ({"pyproject.toml": '[project]\nname = "x"\ndependencies = ["pytest>=8"]\n'}, {PYTEST: "test"}),
        ({"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n"}, {RUFF: "lint", MYPY: "lint"}),
        ({"pyproject.toml": '[tool.mypy]\npackages = ["x"]\n'}, {"python -m mypy": "lint"}),
        ({"ruff.toml": "", "mypy.ini": ""}, {RUFF: "lint", MYPY: "lint"}),
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


@pytest.mark.parametrize(
    ("files", "command", "inputs"),
    [
        ({"package-lock.json": "{}"}, "npm ci", ("package-lock.json",)),
        ({"pnpm-lock.yaml": ""}, "pnpm install --frozen-lockfile", ("pnpm-lock.yaml",)),
        ({"yarn.lock": ""}, "yarn install --frozen-lockfile", ("yarn.lock",)),
        ({"yarn.lock": "", ".yarnrc.yml": ""}, "yarn install --immutable", ("yarn.lock",)),
        ({"bun.lock": ""}, "bun install --frozen-lockfile", ("bun.lock",)),
        ({}, "npm install", ("package.json",)),
    ],
)
def test_a_node_project_gets_its_install_as_setup(tmp_path, files, command, inputs):
    (setup,) = project(tmp_path, {"package.json": {"devDependencies": {"jest": "1"}}, **files}).setups
    assert (setup.command, setup.inputs, setup.keep, setup.certain) == (command, inputs, ("node_modules",), True)


def test_a_package_without_dependencies_needs_no_setup(tmp_path):
    assert project(tmp_path, {"package.json": {"scripts": {"test": "node t.js"}}}).setups == ()


def test_a_python_project_gets_a_virtual_environment_as_a_suggestion(tmp_path):
    (setup,) = project(tmp_path, {"pyproject.toml": '[project]\nname = "x"\n'}).setups
    assert setup.command == "python -m venv .venv && .venv/bin/pip install -e ."
    assert (setup.inputs, setup.keep, setup.certain) == (("pyproject.toml",), (".venv",), False)


def test_the_extra_with_the_test_tools_is_installed_too(tmp_path):
    text = '[project]\nname = "x"\n[project.optional-dependencies]\ndev = ["pytest"]\n'
    (setup,) = project(tmp_path, {"pyproject.toml": text}).setups
    assert setup.command.endswith("pip install -e '.[dev]'")


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
    assert config.project.setup == "npm ci"
    assert (config.project.setup_inputs, config.project.keep) == (("package-lock.json",), ("node_modules",))
    assert (config.retry.default_model, config.retry.escalation_model) == ("claude-sonnet", "claude-opus")


def test_the_starting_file_suggests_a_virtual_environment_in_comments_and_says_why(tmp_path):
    text = render(project(tmp_path, {"pyproject.toml": '[project]\nname = "x"\n'}), "main")
    assert '#setup = "python -m venv .venv && .venv/bin/pip install -e ."' in text
    assert '#keep = [".venv"]' in text
    assert "a .venv of yours is not there" in text
    assert parse(text, "noface.toml").project.setup == ""


def test_the_suggested_setup_loads_when_its_comments_are_removed(tmp_path):
    text = render(project(tmp_path, {"pyproject.toml": '[project]\nname = "x"\n'}), "main")
    for key in ("setup", "setup_inputs", "keep"):
        text = text.replace(f"#{key} =", f"{key} =")
    assert parse(text, "noface.toml").project.keep == (".venv",)


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
