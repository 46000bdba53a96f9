"""The inventories of test runners that are no part of Python or Node: the suite `runners`.

Installs jest, vitest and mocha from npm into a temporary folder, and takes cargo, go and ctest where they are. For
each: what it names on main, and what a skip, a filter, an early exit and a forged exit code make of it, while the
gate is green. Prints what ran, and what did not and why. Exit code 1 where something that ran is not as it should be.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.reported_gate import run_plain, run_reported

from noface.integrity.inventory import compared

JS = """describe("outer", () => {
  it("adds", () => { if (1 + 1 !== 2) throw new Error("red"); });
  it("same", () => {});
  it("same", () => {});
  it("sees its environment", () => { if (/preload/.test(process.env.NODE_OPTIONS)) throw new Error("seen"); });
  describe("inner", () => { it("deep", async () => {}); });
});
"""
JS_IDS = [f"a.test.js::outer > {name}" for name in ("adds", "inner > deep", "same", "same #2", "sees its environment")]
SKIP = ('it("adds"', 'it.skip("adds"')
EXIT = ('it("adds"', 'it("exits", () => process.exit(0));\n  it("adds"')
LEAVE = ('it("adds"', 'it("leaves", () => process.reallyExit(0));\n  it("adds"')
RED = ("1 + 1 !== 2", "1 + 1 !== 3")
FORGED = ("describe(", "process.on('exit', () => { process.exitCode = 0; });\ndescribe(")
VITEST = 'import { describe, it } from "vitest";\n' + JS
CARGO = """#[cfg(test)]
mod tests {
    #[test]
    fn adds() { assert_eq!(1 + 1, 2); }
    #[test]
    fn takes() { println!("noise"); }
}
"""
GO = """package stock

import (
    "os"
    "testing"
)

func TestMain(m *testing.M) { code := m.Run(); os.Exit(code) }
func TestAdds(t *testing.T) { if 1+1 != 2 { t.Fatal("red") } }
func TestParts(t *testing.T) { t.Run("a b", func(t *testing.T) {}) }
"""
GO_IDS = [f"example.com/stock::{name}" for name in ("TestAdds", "TestParts", "TestParts/a_b")]
CTEST = 'add_test(adds /bin/true)\nadd_test(takes /bin/sh -c "exit 0")\n'


@dataclass(frozen=True)
class Cheat:
    """A change that leaves a gate green: replaced text, another command, and what falls short.

    `broken_off` None: a run of no tests is reported by some versions, and not by others.
    """

    name: str
    replaced: tuple[tuple[str, str], ...] = ()
    command: str = ""
    gone: int = 0
    skipped: int = 0
    failed: int = 0
    broken_off: bool | None = False


@dataclass(frozen=True)
class Runner:
    """A runner, its project, and the ids that it names on main."""

    name: str
    tool: str
    version: str
    files: dict[str, str]
    source: str
    command: str
    ids: list[str]
    cheats: tuple[Cheat, ...]
    packages: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


def jest(version: str) -> Runner:
    return Runner(
        f"jest {version}",
        "npm",
        "npx jest --version",
        {"a.test.js": JS},
        "a.test.js",
        "npx jest",
        JS_IDS,
        (
            Cheat("a skip", (SKIP,), skipped=1),
            Cheat("a filter", command="npx jest -t adds", skipped=4),
            Cheat("another pattern", command="npx jest --passWithNoTests nothing", gone=5, broken_off=None),
            Cheat("an early exit", (EXIT,), command="npx jest --runInBand", gone=5, broken_off=True),
            Cheat("a forged exit code", (RED,), command="npx jest || true", failed=1),
            Cheat("a reporter of its own", command="npx jest --reporters=default --verbose"),
        ),
        (f"jest@{version}",),
    )


def vitest(version: str) -> Runner:
    return Runner(
        f"vitest {version}",
        "npm",
        "npx vitest --version",
        {"a.test.js": VITEST},
        "a.test.js",
        "npx vitest run",
        JS_IDS,
        (
            Cheat("a skip", (SKIP,), skipped=1),
            Cheat("a filter", command="npx vitest run -t adds", skipped=4),
            Cheat("another pattern", command="npx vitest run --passWithNoTests nothing", gone=5, broken_off=None),
            # Vitest refuses process.exit in a test. Version 1 waits for ever for a worker that is gone.
            Cheat("an early exit", (LEAVE,), command="timeout -k 1 20 npx vitest run || true", gone=5, broken_off=True),
            Cheat("a forged exit code", (RED,), command="npx vitest run || true", failed=1),
            Cheat("a reporter of its own", command="npx vitest run --reporter=dot"),
        ),
        (f"vitest@{version}",),
    )


def mocha(version: str) -> Runner:
    return Runner(
        f"mocha {version}",
        "npm",
        "npx mocha --version",
        {"a.test.js": JS},
        "a.test.js",
        "npx mocha a.test.js",
        JS_IDS,
        (
            Cheat("a skip", (SKIP,), skipped=1),
            Cheat("a filter", command="npx mocha a.test.js -g adds", gone=4),
            Cheat("an early exit", (EXIT,), gone=5, broken_off=True),
            Cheat("a forged exit code", (RED, FORGED), command="npx mocha a.test.js || true", failed=1),
            Cheat("parallel", command="npx mocha --parallel a.test.js"),
            Cheat("a reporter of its own", command="npx mocha -R dot a.test.js"),
        ),
        (f"mocha@{version}",),
    )


RUNNERS = (
    *(jest(version) for version in ("30", "27")),
    *(vitest(version) for version in ("4", "3", "1")),
    *(mocha(version) for version in ("12", "9")),
    Runner(
        "cargo test",
        "cargo",
        "cargo --version",
        {"Cargo.toml": '[package]\nname = "stock"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": CARGO},
        "src/lib.rs",
        "cargo test --offline",
        ["stock src/lib.rs::tests::adds", "stock src/lib.rs::tests::takes"],
        (
            Cheat("a skip", (("#[test]", "#[ignore]\n    #[test]"),), skipped=1),
            Cheat("a filter", command="cargo test --offline adds", gone=1),
            Cheat("an early exit", (('println!("noise");', "std::process::exit(0);"),), failed=1, broken_off=True,
                  command="cargo test --offline -- --test-threads=1"),
            Cheat("a forged exit code", (("1 + 1, 2", "1 + 1, 3"),), command="cargo test --offline || true", failed=1),
            Cheat("uncaptured output", command="cargo test --offline -- --nocapture --test-threads=1"),
        ),
    ),
    Runner(
        "go test",
        "go",
        "go version",
        {"go.mod": "module example.com/stock\n\ngo 1.19\n", "a_test.go": GO},
        "a_test.go",
        "go test ./...",
        GO_IDS,
        (
            Cheat("a skip", (("if 1+1 != 2", 't.Skip("now"); if 1+1 != 2'),), skipped=1),
            Cheat("a filter", command="go test -run Adds ./...", gone=2),
            Cheat("an early exit", (("code := m.Run(); os.Exit(code)", "os.Exit(0)"),), gone=3),
            Cheat("a forged exit code", (("os.Exit(code)", "_ = code; os.Exit(0)"), ("1+1 != 2", "1+1 == 2")), failed=1),
            Cheat("as JSON", command="go test -json ./..."),
        ),
    ),
    Runner(
        "ctest",
        "ctest",
        "ctest --version | head -1",
        {"CTestTestfile.cmake": CTEST},
        "CTestTestfile.cmake",
        "ctest",
        ["adds", "takes"],
        (
            Cheat("a test that is gone", (("add_test(adds /bin/true)\n", ""),), gone=1),
            Cheat("a skip", (("add_test(takes", "set_tests_properties(adds PROPERTIES DISABLED TRUE)\nadd_test(takes"),),
                  skipped=1),
            Cheat("a filter", command="ctest -R adds", gone=1),
            Cheat("a forged exit code", (("/bin/true", "/bin/false"),), command="ctest || true", failed=1),
        ),
    ),
)  # fmt: skip


def wrong_with(runner: Runner, folder: Path) -> list[str]:
    """Return what is not as it should be."""
    checkout = folder / "checkout"
    for name, text in runner.files.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text)
    if runner.packages:
        (checkout / "package.json").write_text('{"private": true}\n')
        subprocess.run(
            ["npm", "install", "--silent", "--no-audit", "--no-fund", *runner.packages], cwd=checkout, check=True
        )
    print(f"{runner.name}: {run_plain(checkout, runner.version).stdout.strip()}", flush=True)
    main = run_reported(checkout, runner.command, **runner.env)
    wrong = []
    if (main.exit_code, main.ids("PASSED")) != (0, runner.ids) or not main.inventory or not main.inventory.complete:
        wrong.append(f"main: exit code {main.exit_code}, {main.inventory}\n{main.stdout[-2000:]}{main.stderr[-2000:]}")
    for cheat in runner.cheats if not wrong else ():
        text = runner.files[runner.source]
        for old, new in cheat.replaced:
            assert old in text, (cheat.name, old)
            text = text.replace(old, new, 1)
        (checkout / runner.source).write_text(text)
        now = run_reported(checkout, cheat.command or runner.command, **runner.env)
        (checkout / runner.source).write_text(runner.files[runner.source])
        short = compared(main.inventory, now.inventory) if main.inventory else None
        found = (len(short.gone), len(short.skipped), len(short.failed), short.broken_off) if short else ()
        broken_off = found[-1] if cheat.broken_off is None and found else cheat.broken_off
        expected = (cheat.gone, cheat.skipped, cheat.failed, broken_off)
        if found != expected or now.exit_code != 0:
            wrong.append(
                f"{cheat.name}: exit code {now.exit_code}, {found} and not {expected}, {now.inventory}\n{now.stdout[-600:]}{now.stderr[-600:]}"
            )
        else:
            print(f"  {cheat.name}: {found}", flush=True)
    return wrong


def main() -> int:
    chosen, failed = sys.argv[1:], False
    for runner in RUNNERS:
        if chosen and not any(runner.name.startswith(word) for word in chosen):
            continue
        if shutil.which(runner.tool) is None:
            print(f"{runner.name}: not run, {runner.tool} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for wrong in wrong_with(runner, Path(folder)):
                failed = True
                print(f"  WRONG {wrong}")
    return int(failed)


if __name__ == "__main__":
    os.environ.setdefault("CI", "1")
    sys.exit(main())
