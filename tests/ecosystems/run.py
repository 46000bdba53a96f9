"""noface end to end on a small project of each ecosystem whose tools are installed: the suite `ecosystems`.

For each: `noface init` writes the configuration, the gates are green on main, the change of one scripted issue lands,
and one that breaks a test does not. Prints what ran, and what did not and why. Exit code 1 where something that ran is not as it should be.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PYPROJECT = '[project]\nname = "sample"\nversion = "0.1"\n'
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>sample</groupId><artifactId>sample</artifactId><version>1</version>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version>
<scope>test</scope></dependency></dependencies></project>
"""


@dataclass(frozen=True)
class Ecosystem:
    """A project of an ecosystem. `good` and `bad` replace `source`; `alone` runs the tests without noface."""

    name: str
    tools: tuple[str, ...]
    files: dict[str, str]
    source: str
    good: tuple[str, str]
    bad: tuple[str, str]
    alone: str = ""
    needs: tuple[str, ...] = ()


ADD_PY = "def add(a, b):\n    return a + b\n"
ADD_JS = "exports.add = (a, b) => a + b;\n"
ADD_RS = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n"
ADD_GO = "package sample\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"
ADD_C = "int add(int a, int b) {\n    return a + b;\n}\n"
ADD_JAVA = "package sample;\npublic class Add { public static int add(int a, int b) { return a + b; } }\n"
ECOSYSTEMS = (
    Ecosystem(
        "python, pytest",
        ("python3",),
        {
            "pyproject.toml": PYPROJECT + '[tool.pytest.ini_options]\npythonpath = ["."]\n',
            "calc.py": ADD_PY,
            "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
        },
        "calc.py",
        ("return a + b", "return b + a"),
        ("return a + b", "return a - b"),
        needs=("python3", "-c", "import pytest"),
    ),
    Ecosystem(
        "python, unittest",
        ("python3",),
        {
            "pyproject.toml": PYPROJECT,
            "calc.py": ADD_PY,
            "tests/__init__.py": "",
            "tests/test_calc.py": "import unittest\nfrom calc import add\n\n\nclass TestAdd(unittest.TestCase):\n"
            "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
        },
        "calc.py",
        ("return a + b", "return b + a"),
        ("return a + b", "return a - b"),
    ),
    Ecosystem(
        "node, node --test",
        ("node", "npm"),
        {
            "package.json": '{"name": "sample", "version": "1.0.0", "scripts": {"test": "node --test"}}\n',
            "calc.js": ADD_JS,
            "calc.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\n"
            "const { add } = require('./calc.js');\ntest('adds', () => assert.strictEqual(add(1, 2), 3));\n",
        },
        "calc.js",
        ("a + b", "b + a"),
        ("a + b", "a - b"),
    ),
    Ecosystem(
        "node, vitest",
        ("vitest",),
        {
            "package.json": '{"name": "sample", "version": "1.0.0", "scripts": {"test": "vitest run"}}\n',
            "calc.mjs": "export const add = (a, b) => a + b;\n",
            "calc.test.mjs": "import { test, expect } from 'vitest';\nimport { add } from './calc.mjs';\n"
            "test('adds', () => expect(add(1, 2)).toBe(3));\n",
        },
        "calc.mjs",
        ("a + b", "b + a"),
        ("a + b", "a - b"),
    ),
    Ecosystem(
        "rust, cargo",
        ("cargo",),
        {
            "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
            "Cargo.lock": 'version = 3\n\n[[package]]\nname = "sample"\nversion = "0.1.0"\n',
            ".gitignore": "target/\n",
            "src/lib.rs": ADD_RS,
            "tests/add.rs": "#[test]\nfn adds() {\n    assert_eq!(sample::add(1, 2), 3);\n}\n",
        },
        "src/lib.rs",
        ("a + b", "b + a"),
        ("a + b", "a - b"),
        needs=("cargo", "--version"),
    ),
    Ecosystem(
        "go",
        ("go",),
        {
            "go.mod": "module sample\n\ngo 1.20\n",
            "add.go": ADD_GO,
            "add_test.go": 'package sample\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n'
            '\tif Add(1, 2) != 3 {\n\t\tt.Fatal("not 3")\n\t}\n}\n',
        },
        "add.go",
        ("a + b", "b + a"),
        ("a + b", "a - b"),
    ),
    Ecosystem(
        "c, make",
        ("make", "cc"),
        {
            "Makefile": "test: add.c test_add.c\n\tcc -o test_add test_add.c add.c\n\t./test_add\n",
            ".gitignore": "test_add\n",
            "add.c": ADD_C,
            "test_add.c": "#include <assert.h>\nint add(int a, int b);\nint main(void) { assert(add(1, 2) == 3); }\n",
        },
        "add.c",
        ("a + b", "b + a"),
        ("a + b", "a - b"),
    ),
    Ecosystem(
        "java, maven",
        ("mvn", "java"),
        {
            "pom.xml": POM,
            ".gitignore": "target/\n",
            "src/main/java/sample/Add.java": ADD_JAVA,
            "src/test/java/sample/AddTest.java": "package sample;\nimport org.junit.Test;\n"
            "import static org.junit.Assert.assertEquals;\npublic class AddTest {\n"
            "  @Test public void adds() { assertEquals(3, Add.add(1, 2)); }\n}\n",
        },
        "src/main/java/sample/Add.java",
        ("a + b", "b + a"),
        ("a + b", "a - b"),
        alone="mvn -o -B -q test",  # what it needs may have to be downloaded
    ),
)


class FailedError(Exception):
    """Something is not as it should be."""


class LackingError(Exception):
    """Something is missing that only running the project shows."""


def run(command: list[str], cwd: Path, code: int | None = 0) -> str:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "NOFACE_"))}
    done = subprocess.run(command, cwd=cwd, env=kept, capture_output=True, text=True, timeout=900, check=False)
    if code is not None and done.returncode != code:
        raise FailedError(
            f"{' '.join(command[-3:])}: exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"
        )
    return done.stdout + (done.stderr if code else "")


def noface(path: Path, *args: str, code: int | None = 0) -> str:
    return run([sys.executable, "-P", "-m", "noface", *args], path, code)


def lay_out(each: Ecosystem, path: Path) -> None:
    """Make the repository, and have `noface init` write its configuration."""
    for name, text in each.files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    run(["git", "init", "-q", "-b", "main"], path)
    run(["git", "config", "user.name", "Ada"], path)
    run(["git", "config", "user.email", "ada@example.org"], path)
    run(["git", "add", "-A"], path)
    run(["git", "commit", "-qm", "first"], path)
    if each.alone and subprocess.run(["bash", "-c", each.alone], cwd=path, capture_output=True, check=False).returncode:
        raise LackingError(f"`{each.alone}` fails without noface, too")
    noface(path, "init")
    config = path / "noface.toml"
    text = config.read_text()
    if "\n[[gates]]" not in text:
        raise FailedError("`noface init` found no gate")
    text = text.replace('"claude-sonnet"', '"scripted"').replace('"claude-opus"', '"scripted"')
    script = path.parent / "script.toml"
    own = f'\n[models.scripted]\nagent = "scripted"\ncommand = "{script}"\n'
    config.write_text(text.replace("[run]\n", f'[run]\nslots_dir = "{path.parent / "slots"}"\n') + own)
    plays = []
    for issue, (old, new) in (("1", each.good), ("2", each.bad)):
        changed = json.dumps(each.files[each.source].replace(old, new))
        steps = f"[{{ write = {json.dumps(each.source)}, text = {changed} }}]"
        plays.append(f'[[play]]\nissue = "{issue}"\nsteps = {steps}\n')
    script.write_text("\n".join(plays))


def check(each: Ecosystem, path: Path) -> None:
    """Run an ecosystem's story. Raises FailedError, LackingError."""
    lay_out(each, path)
    (path / "issues").mkdir(exist_ok=True)
    for issue in (1, 2):
        (path / "issues" / f"{issue}-x.md").write_text(f"+++\nmax_attempts = 1\n+++\n# Issue {issue}\n\nDo it.\n")
    noface(path, "run", "--max-iterations", "0", code=None)
    runs = json.loads(noface(path, "status", "--json"))["run"]
    if runs is None or "red" in runs["ended_why"]:
        raise FailedError(f"the gates are not green on main: {runs and runs['ended_why']}")
    said = noface(path, "run", code=3)
    issues = {issue["id"]: issue for issue in json.loads(noface(path, "status", "--json"))["issues"]}
    if issues["1"]["status"] != "merged":
        raise FailedError(f"the good change did not land: {issues['1']}\n{said[-1500:]}")
    if issues["2"]["status"] != "blocked" or issues["2"]["last_kind"] != "TEST_FAILURE":
        raise FailedError(f"the bad change: {issues['2']['status']}, {issues['2']['last_kind']}")
    if each.good[1] not in run(["git", "show", f"main:{each.source}"], path):
        raise FailedError("main does not hold the good change")
    noface(path, "tools", "fsck")


def lacking(each: Ecosystem) -> str:
    """Say why an ecosystem cannot be run here, "" where it can."""
    for tool in each.tools:
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    if each.needs and subprocess.run(each.needs, capture_output=True, check=False).returncode != 0:
        return f"`{' '.join(each.needs)}` fails"
    return ""


def main() -> int:
    wanted = sys.argv[1:]
    ran, left, failed = [], [], []
    for each in ECOSYSTEMS:
        if wanted and not any(word in each.name for word in wanted):
            left.append(f"{each.name}: not asked for")
            continue
        why = lacking(each)
        if why:
            left.append(f"{each.name}: {why}")
            continue
        started = time.monotonic()
        # The sandbox hides /tmp and the caches, where the worker's script would lie.
        home = Path.home()
        with tempfile.TemporaryDirectory(prefix=".noface-ecosystem-", dir=home, ignore_cleanup_errors=True) as folder:
            path = Path(folder, "repo")
            path.mkdir()
            try:
                check(each, path)
                ran.append(f"{each.name}, {time.monotonic() - started:.0f} s")
                print(f"ok      {ran[-1]}", flush=True)
            except LackingError as error:
                left.append(f"{each.name}: {error}")
            except FailedError as error:
                failed.append(each.name)
                print(f"FAILED  {each.name}: {error}", flush=True)
    for line in left:
        print(f"not run {line}")
    print(f"{len(ran)} ran, {len(failed)} failed, {len(left)} not run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
