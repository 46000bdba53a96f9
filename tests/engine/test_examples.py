"""The examples do what they say: all load, and those whose tools are here are worked from issue to main."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import ROOT
from support.cases import first_ones

from noface.config.load import load
from noface.model.issue import Issue
from noface.trackers.files import FilesTracker
from noface.trackers.front_matter import FrontMatter

EXAMPLES = ROOT / "examples"
CONFIGS = sorted(path.parent.name for path in EXAMPLES.glob("*/noface.toml"))

# How to ask a program whether it is fit for work: rustup's cargo, say, may be there without a toolchain.
PROBES = {
    "node": ("node", "-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)"),
    "npm": ("npm", "--version"),
    "cargo": ("cargo", "--version"),
    "go": ("go", "version"),
}


def works(tool):
    done = subprocess.run(PROBES[tool], capture_output=True, check=False) if shutil.which(tool) else None
    return done is not None and done.returncode == 0


ABSENT = [tool for tool in PROBES if not works(tool)]


@dataclass(frozen=True)
class Play:
    """One attempt: the worker makes `new` of `old` in the example's `file`; then the outcome, and each gate ("!" red)."""

    file: str
    old: str
    new: str
    outcome: str
    gates: str


GO_BLOCK = '\tif hour > 12 {\n\t\thour, half = hour-12, "pm"\n\t}\n'
VAT = "cents * (100 + percent) // 100"
LABEL = "  return `${labels[kind]} (${rates[kind]} % VAT)`;"
KNOWN = "if (!(kind in labels)) throw new RangeError(`no label for ${kind}`); // the contract may know more than we do"

PLAYS = {
    "pytest": {
        "1": (
            Play("parcel/rates.py", "grams < limit", "grams <= limit + 1", "TEST_FAILURE", "!tests"),
            Play("parcel/rates.py", "grams < limit", "grams <= limit", "PASSED", "tests accept"),
        )
    },
    "node": {
        "1": (
            Play("words/index.js", "/[a-z]+/g", "/[a-z0-9]/g", "TEST_FAILURE", "syntax !tests"),
            Play("words/index.js", "/[a-z]+/g", "/[a-z0-9]+/g", "PASSED", "syntax tests accept"),
        )
    },
    "cargo": {
        "1": (
            Play("src/lib.rs", "|_| each", '|_| "each"', "SYNTAX_ERROR", "!check"),
            Play(
                "src/lib.rs",
                "|_| each",
                "|place| each + u32::from(place < cents % people)",
                "PASSED",
                "check tests accept",
            ),
        )
    },
    "go": {
        "1": (
            Play("clock.go", "hour > 12", "hour >= 12", "TEST_FAILURE", "build vet tests !accept"),
            Play(
                "clock.go",
                GO_BLOCK,
                '\tif hour >= 12 {\n\t\thalf = "pm"\n\t}\n\thour = (hour+11)%12 + 1\n',
                "PASSED",
                "build vet tests accept",
            ),
        )
    },
    "monorepo": {
        "1": (
            Play("web/src/labels.mjs", '"Books"', '"Book"', "BOUNDARY_VIOLATION", ""),
            Play("api/vat.py", VAT, f"({VAT[:-7]} + 50) // 100", "PASSED", "build api web lint accept"),
        ),
        "2": (
            Play("web/src/labels.mjs", ', tools: "Tools"', "", "RUNTIME_ERROR", "!build"),
            Play("web/src/labels.mjs", LABEL, f"  {KNOWN}\n{LABEL}", "PASSED", "build api web !lint"),
        ),
    },
}
NEEDS = {"pytest": (), "node": ("node", "npm"), "cargo": ("cargo",), "go": ("go",), "monorepo": ("node", "npm")}
RUNNABLE = [name for name in PLAYS if not set(NEEDS[name]) & set(ABSENT)]


def copied(project, name):
    """Make the project's repository hold the example, and give its programs what they need outside it."""
    for path in project.path.iterdir():
        if path.name != ".git":
            path.unlink()
    junk = shutil.ignore_patterns("__pycache__", ".*_cache", "node_modules", "target", ".venv")
    shutil.copytree(EXAMPLES / name, project.path, dirs_exist_ok=True, ignore=junk)
    home = Path.home()  # the project has one of its own
    project.env |= {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(home / ".rustup")),
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(home / ".cargo")),
        "GOCACHE": os.environ.get("GOCACHE", str(home / ".cache" / "go-build")),
        "CARGO_NET_OFFLINE": "true",
        "GOPROXY": "off",
        "npm_config_offline": "true",
    }
    project.commit(f"the example {name}")
    return project


def stand_in(project, *others):
    """Return a configuration like the project's, in which the scripted worker poses as sonnet, opus and `others`."""
    config = project.folder / "stand-in.toml"
    text = (project.path / "noface.toml").read_text()
    # Go builds a thing again that its cache has lost, and cannot where the cache is read-only.
    config.write_text(f'{text}\n[sandbox]\nwrite = ["{project.env["GOCACHE"]}"]\n')
    for model in ("claude-sonnet", "claude-opus", *others):
        for key, value in (("command", str(project.script)), ("agent", "scripted")):
            done = project.noface("config", "set", "--config", str(config), f"models.{model}.{key}", value)
            assert done.returncode == 0, done.stderr
    return str(config)


def script(project, name):
    plays = []
    for issue, attempts in PLAYS[name].items():
        for number, play in enumerate(attempts, 1):
            text = (EXAMPLES / name / play.file).read_text()
            assert text.count(play.old) == 1
            # Whatever the workspace holds of the attempt before.
            afresh = {"shell": f"git checkout -q {project.git('rev-parse', 'main')} -- ."}
            plays.append((issue, number, [afresh, {"write": play.file, "text": text.replace(play.old, play.new)}]))
    project.play(*plays)


def story(project, issue):
    """Return each attempt's outcome and gates, written as in PLAYS."""
    for attempt in project.attempts(issue):
        gates = " ".join(gate["name"] if gate["passed"] else "!" + gate["name"] for gate in attempt["gates"])
        yield attempt["outcome"], gates


@pytest.mark.parametrize("name", CONFIGS)
def test_an_example_loads_and_has_gates(name):
    config = load(EXAMPLES / name)
    config.require_gates()  # raises ConfigError where nothing could be proved


def test_the_overview_lists_every_folder():
    folders = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
    overview = (EXAMPLES / "README.md").read_text()
    assert [f"| `{name}/` |" in overview for name in folders] == [True] * len(folders)
    assert [name for name in folders if (EXAMPLES / name / "noface.toml").exists()] == CONFIGS


def test_the_sample_issues_are_sound_and_show_every_key():
    backlog = FilesTracker(EXAMPLES, "issues").backlog(())
    assert (backlog.faults, backlog.warnings) == ((), ())
    every = next(issue for issue in backlog.issues if issue.id == "2")
    plain = Issue("2", "2")
    assert [key for key in FrontMatter.model_fields if getattr(every, key) == getattr(plain, key)] == []
    assert backlog.issues[0].title == "The report shows the wrong month"


@pytest.mark.parametrize("absent", [ABSENT], ids=[f"absent: {', '.join(ABSENT) or 'nothing'}"])
def test_what_needs_only_python_and_a_shell_is_always_run(absent):
    assert "pytest" in RUNNABLE
    assert set(PLAYS) - set(RUNNABLE) == {name for name in PLAYS if set(NEEDS[name]) & set(absent)}


@pytest.mark.thorough
@pytest.mark.parametrize("name", first_ones(sorted(RUNNABLE, key=lambda name: name != "pytest")))
def test_an_example_is_worked_from_issue_to_main(project, name):
    copied(project, name)
    script(project, name)
    project.run("--config", stand_in(project))
    for issue, attempts in PLAYS[name].items():
        assert list(story(project, issue)) == [(play.outcome, play.gates) for play in attempts]
        assert attempts[-1].new in (project.path / attempts[-1].file).read_text()
    assert set(project.statuses().values()) == {"merged"}
    assert project.git("status", "--porcelain") == ""


def test_the_shell_worker_does_its_issue_with_its_own_configuration(project):
    copied(project, "shell-worker")
    project.run()
    assert project.statuses() == {"1": "merged"}
    changed = project.git("diff", "--name-only", "main^", "main").split()
    assert changed == ["greet.sh", "welcome.sh"]


def test_an_agent_of_ones_own_reads_what_failed_before_and_its_report_is_understood(project):
    copied(project, "own-agent")
    project.run()
    assert project.statuses() == {"1": "merged"}
    first, second = project.attempts("1")
    assert (first["outcome"], second["outcome"]) == ("TEST_FAILURE", "PASSED")
    assert "in words.txt twice: apple" in first["failure"]["message"]
    assert [each["report"]["status"] for each in (first, second)] == ["done", "done"]
    assert second["report"]["summary"] == "Sorted words.txt."
    assert (project.path / "words.txt").read_text().split() == ["apple", "pear", "plum", "quince"]
    assert project.git("diff", "--name-only", "main^", "main") == "words.txt"
