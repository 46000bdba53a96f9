"""Which files judge a change, what manifests are with main's judging, and what takes the place of modules.

How often that is wrong on honest work: of the newest 120 commits each of 70 public projects (7,766) none puts a module in
the place of another.
"""

import json
import tomllib

import pytest
from support.cases import cases

from noface.diagnosis.syntax import check
from noface.integrity.evasion import only_checking, shadowing
from noface.integrity.inner_tests import with_main_tests
from noface.integrity.judges import Part, broken, lifted, part_of, sources, touched, with_main_judging
from noface.integrity.named_files import called_programs
from noface.model.attempt import FileChange
from noface.model.issue import Issue
from noface.secrets.environment import without_places

PARTS = {
    Part.TEST: "tests/test_a.py src/a_test.go web/a.spec.ts tests/data/x.json __snapshots__/a.snap testdata/in tests x.golden",
    Part.CONFIG: ".npmrc .flake8 ruff.toml pytest.toml jest.config.js vitest.config.mts tsconfig.build.json eslint.config.js x-1.dist-info/entry_points.txt rust-toolchain"
    " .cargo/config.toml sitecustomize.py a/.env clippy.toml go.work test_helper.rb jest-setup.ts pylintrc web/c8.config.json"
    " phpunit.xml.dist phpstan.neon commitlint.config.js vitest.setup.ts karma.conf.js eslintrc.json jest.setup.js codecov.yml"
    " vitest.workspace.ts jest-puppeteer.config.js babel.config.json rspec.conf.yml cypress.json",
    Part.MANIFEST: "pyproject.toml web/package.json Cargo.toml setup.cfg tox.ini",
    Part.SOFT: "Makefile rules.mk CMakeLists.txt config/app.yaml run.sh data.json vite.config.ts setup.py"
    " src/deny.json shop/standard.json coverage.json",
    Part.PRODUCT: "src/a.py README.md package-lock.json requirements.txt go.mod web/index.html latest.py contest/a.py"
    " src/standard.js src/ava.ts lib/tap.js tap-in.js src/prettier.ts c8.js src/deny-list.ts shop/doctest.py coverage.js",
}


@cases(("part", "path"), [(part, path) for part, paths in PARTS.items() for path in paths.split()])
def test_a_path_tells_what_a_file_is_to_the_gates(part, path):
    assert part_of(path) is part


def test_what_a_gate_calls_judges_whatever_its_name_is():
    assert part_of("tools/verify.py", {"tools/verify.py"}) is Part.CONFIG


@cases(
    ("path", "front", "is_lifted"),
    [
        ("tests/test_a.py", {"may_change": ("tests/**",)}, True),
        ("ruff.toml", {"may_change": ("ruff.toml",)}, True),
        ("tests/test_a.py", {"paths": ("tests/**",)}, True),
        ("tests/test_a.py", {"paths": ("tests",)}, True),
        ("tests/test_a.py", {"paths": ("**/test_*.py",)}, True),
        ("ruff.toml", {"paths": ("ruff.toml",)}, True),
        ("tests/test_a.py", {"paths": ("**",)}, False),
        ("tests/test_a.py", {"paths": ("src/**",)}, False),
        ("ruff.toml", {"paths": ("*.toml",)}, False),
        ("tests/test_a.py", {"paths": ("tests/**",), "parent": "7"}, False),
        ("tests/test_a.py", {}, False),
    ],
)
def test_an_issue_may_change_the_judges_that_it_names_as_such(path, front, is_lifted):
    assert lifted(path, Issue("1", "x", **front)) is is_lifted


def change(path, status="M"):
    old, new = ("000000" if status == "A" else "100644"), ("000000" if status == "D" else "100644")
    return FileChange(path, status, old, new, "a" * 40, "b" * 40, 1, 1)


def test_the_touched_judges_of_a_change_are_sorted_by_what_they_are():
    changes = [change(path) for path in ("src/a.rs", "src/a.py", "tests/a.rs", ".flake8", "Makefile", "Cargo.toml")]
    found = touched((*changes, change("src/new.rs", "A")), Issue("1", "x", may_change=("Makefile",)))
    names = {
        part: [each.path for each in getattr(found, part)]
        for part in ("tests", "config", "manifests", "soft", "sources")
    }
    assert names == {
        "tests": ["tests/a.rs"],
        "config": [".flake8"],
        "manifests": ["Cargo.toml"],
        "soft": [],
        "sources": ["src/a.rs"],
    }


def test_a_pyproject_keeps_its_dependencies_and_loses_what_judges():
    main = '[project]\ndependencies = []\n[tool.pytest.ini_options]\naddopts = "-ra"\n[tool.ruff]\nline-length = 80\n'
    now = '[project]\ndependencies = ["attrs"]\n[tool.pytest.ini_options]\naddopts = "-k none"\n[tool.mypy]\nexclude = "."\n'
    now += "[tool.poetry]\nname = 'x'\n"
    made = tomllib.loads(with_main_judging("pyproject.toml", main, now) or "")
    assert made["project"] == {"dependencies": ["attrs"]}
    assert made["tool"] == {
        "pytest": {"ini_options": {"addopts": "-ra"}},
        "ruff": {"line-length": 80},
        "poetry": {"name": "x"},
    }


def test_a_package_json_keeps_its_dependencies_and_loses_what_judges():
    main = {"scripts": {"test": "jest"}, "jest": {"bail": 0}, "dependencies": {}}
    now = {"scripts": {"test": "true", "pretest": "x"}, "imports": {"#a": "./b"}, "dependencies": {"ms": "2"}}
    made = json.loads(with_main_judging("package.json", json.dumps(main), json.dumps(now)) or "")
    assert made == {"scripts": {"test": "jest"}, "jest": {"bail": 0}, "dependencies": {"ms": "2"}}


def test_other_manifests_keep_their_dependencies_and_lose_what_judges():
    cargo = tomllib.loads(
        with_main_judging("Cargo.toml", "[lib]\ntest = true\n", "[lib]\ntest = false\n[dependencies]\na = '1'\n")
    )
    assert cargo == {"lib": {"test": True}, "dependencies": {"a": "1"}}
    main = "[options]\ninstall_requires = a\n[tool:pytest]\naddopts = -ra\n"
    now = "[options]\ninstall_requires = b\n[tool:pytest]\naddopts = -k x\n[flake8]\nexclude = .\n"
    setup = with_main_judging("setup.cfg", main, now) or ""
    assert "install_requires = b" in setup
    assert "addopts = -ra" in setup
    assert "flake8" not in setup
    main = "[tool.pdm.scripts]\nlint = 'ruff check'\n[tool.hatch.envs.a.scripts]\nlint = 'ruff check'\n"
    now = main.replace("check", "check --exit-zero") + "[tool.hatch.envs.a]\ndependencies = ['ruff']\n"
    tools = tomllib.loads(with_main_judging("pyproject.toml", main, now) or "")["tool"]
    assert tools["pdm"] == {"scripts": {"lint": "ruff check"}}
    assert tools["hatch"]["envs"]["a"] == {"dependencies": ["ruff"], "scripts": {"lint": "ruff check"}}
    assert with_main_judging("tox.ini", "[tox]\n", "[tox]\nskip = 1\n") == "[tox]\n"


@pytest.mark.parametrize("text", ["[", '{"a": ', "[1, 2]"])
def test_a_manifest_that_cannot_be_read_is_not_guessed_at(text):
    assert with_main_judging("package.json", "{}", text) is None
    assert with_main_judging("pyproject.toml", "[", "") is None


RUST = """\
pub fn half(n: i32) -> i32 {{ n / {divisor} }}

#[cfg(test)]
mod tests {{
    use super::*;
    #[test]
    fn six() {{ assert_eq!(half(6), {wanted}, "a }} in a string"); }} // and a }} in a comment
}}
"""


def test_a_rust_file_is_judged_by_main_s_test_module():
    main, now = RUST.format(divisor=2, wanted=3), RUST.format(divisor=3, wanted=2)
    assert with_main_tests("a.rs", main, now) == RUST.format(divisor=3, wanted=3)
    assert with_main_tests("a.rs", main, RUST.format(divisor=3, wanted=3)) is None
    lost = now[: now.index("#[cfg(test)]")]
    assert (with_main_tests("a.rs", main, lost) or "").endswith(main[main.index("#[cfg(test)]") :].rstrip())


def test_a_file_that_takes_the_place_of_what_came_from_outside_is_named():
    main = ["src/shop/__init__.py", "tests/test_a.py", "src/area.ts", "json/__init__.py"]
    paths = ("pytest.py", "src/requests/__init__.py", "area.pth", "node_modules/ms/index.js", "src/area.js")
    found = shadowing([change(path, "A") for path in paths], main, {"requests", "random", "json"})
    assert [phrase.partition(" ")[0] for phrase in found] == list(paths)
    fine = (
        "src/shop/random.py",
        "tests/random.py",
        "shop/types.py",
        "json/tool.py",
        "requests.txt",
        "docs/pytest.md",
        "src/other.js",
    )
    assert shadowing([change(path, "A") for path in fine], main, {"random", "types", "tool", "json"}) == ()


def test_a_file_takes_no_place_that_it_alone_has_or_that_its_issue_gives_it():
    moved = [change("src/area.js", "A"), change("src/area.ts", "D")]
    assert shadowing(moved, ["src/area.ts"], ()) == ()
    new, outside = [change(path, "A") for path in ("calendar.py", "http/__init__.py")], {"calendar", "http"}
    assert len(shadowing(new, (), outside, "A calendar of http requests, each with an __init__.py")) == 2
    assert shadowing(new, (), outside, "Add `calendar.py` and http/__init__.py") == ()
    assert shadowing([change("pytest.py", "A")], (), (), "Add pytest.py") != ()


def test_the_canary_breaks_the_product_and_leaves_what_judges_and_builds():
    product = "src/shop/cart.py", "lib/a.js", "src/main.rs", "cmd/x.go"
    others = (
        "tests/test_a.py",
        "setup.py",
        "conftest.py",
        "jest.config.js",
        "docs/conf.py",
        "scripts/check.py",
        "a.md",
        ".ci/x.py",
    )
    assert sources((*product, *others), ()) == tuple(sorted(product))
    assert sources(product, ("lib",)) == tuple(sorted(set(product) - {"lib/a.js"}))
    data = broken("a.py").encode()
    assert check("a.py", "python", data) is not None


def test_a_command_that_changes_files_is_told_how_to_check_only():
    assert "--no-fix" in only_checking(".venv/bin/python -m ruff check .")
    assert "--check" in only_checking("ruff format .")
    assert "--ci" in only_checking("npx jest -u")
    assert only_checking("./fix-all") == "have it only check"


def test_the_programs_that_a_command_calls_are_its_first_words():
    assert called_programs("A=1 timeout 60 npm test && ( cd x; make -j2 ) | tee log") == (
        "timeout",
        "npm",
        "cd",
        "make",
        "tee",
    )


@pytest.mark.parametrize(
    ("name", "value", "stays"),
    [
        ("PYTHONPATH", "/home/a/shop/src:/opt/lib", "/opt/lib"),
        ("PYTHONPATH", "/home/a/shop/src", None),
        ("CARGO_TARGET_DIR", "/home/a/shop/target", None),
        ("PATH", "/home/a/shop/.venv/bin:/home/a/shop/bin:/bin", "/home/a/shop/.venv/bin:/bin"),
        ("NODE_OPTIONS", "--require /home/a/shop/hook.js", None),
        ("OTHER", "/home/a/shopping", "/home/a/shopping"),
        ("WANTED", "/home/a/shop/x", "/home/a/shop/x"),
    ],
)
def test_what_leads_into_the_checkout_goes_from_the_environment(name, value, stays):
    left = without_places({name: value}, ("/home/a/shop",), ("/home/a/shop/.venv",), ("WANTED",))
    assert left.get(name) == stays
