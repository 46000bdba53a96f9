"""Plays a night: makes its repository, starts noface or a loop on it, is the person meanwhile, and gathers what is left."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from nights.judge import Left
from nights.world import World, write_tools

HERE = Path(__file__).resolve().parent
NOFACE = "noface"
VARIANTS = (NOFACE, "feedback", "plain")
ORACLES = ("oracle", "credulous")
"""Players that show whether a night is fair: one knows the right work, the other lands whatever it is given."""
_SECONDS_MAX = 60.0
_TICK_S = 0.01
_PYTEST = f"{sys.executable} -B -m pytest -q -p no:cacheprovider --disable-plugin-autoload"
_DIARY = "dear diary\n"
_DRAFT = "what I want to do tomorrow\n"

FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": (
        "def total(prices):\n    return sum(prices)\n\n\ndef with_tax(price, rate=0.2):\n    return price * (1 + rate)\n"
    ),
    "shop/stock.py": (
        "def count(items):\n    return len(items)\n\n\ndef missing(wanted, items):\n"
        "    return [one for one in wanted if one not in items]\n"
    ),
    "tests/test_prices.py": (
        "from shop.prices import total, with_tax\n\n\ndef test_total():\n    assert total([1, 2, 3]) == 6\n\n\n"
        "def test_tax():\n    assert with_tax(100) == 120\n"
    ),
    "tests/test_stock.py": (
        "from shop.stock import count, missing\n\n\ndef test_count():\n    assert count([1, 2]) == 2\n\n\n"
        'def test_missing():\n    assert missing(["a", "b"], ["b"]) == ["a"]\n'
    ),
    "README.md": "# shop\n\nA small shop.\n",
    "CHANGES.md": "# Changes\n\n- the shop opens\n",
    ".github/workflows/ci.yml": "on: push\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: pytest}]}}\n",
    ".gitignore": "__pycache__/\n",
}
"""The project of all nights, to which each adds its own."""

CONFIG: dict[str, Any] = {
    "project": {"main": "main"},
    "sandbox": {"kind": "none"},
    "models": {
        "small": {"agent": "claude", "model": "small", "tier": 1, "timeout": "20s", "idle_timeout": "10s"},
        "big": {"agent": "claude", "model": "big", "tier": 2, "timeout": "20s", "idle_timeout": "10s"},
    },
    "retry": {"default_model": "small", "escalation_model": "big"},
}
GATE = {"name": "unit", "command": "@PYTEST@", "canary": False}


@dataclass(slots=True)
class Ground:
    """Where a night is played."""

    folder: Path
    night: Mapping[str, Any]
    variant: str
    world: World = field(init=False)

    @property
    def repository(self) -> Path:
        return self.folder / "shop"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of the night's programs."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "NOFACE_", "PYTEST_", "NIGHT_"))}
        path = f"{self.folder / 'tools'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', os.defpath)}"
        places = {
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "NIGHT_FOLDER": str(self.folder),
            "NIGHT_VARIANT": self.variant,
        }
        return {**kept, **places, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "TZ": "UTC", **more}

    def shell(self, script: str) -> str:
        """Run a script as the person would, in the checkout."""
        done = subprocess.run(
            ["bash", "-c", self.filled(script)], cwd=self.repository, env=self.environment(), capture_output=True,
            text=True, errors="replace", check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.stdout + done.stderr

    def filled(self, text: str) -> str:
        """Return a text of the data with this night's places."""
        values = {
            "@PYTEST@": _PYTEST,
            "@PYTHON@": sys.executable,
            "@FOLDER@": str(self.folder),
            "@REPO@": str(self.repository),
        }
        for name, value in values.items():
            text = text.replace(name, value)
        return text


def play(night: Mapping[str, Any], variant: str, seed: int, folder: Path) -> Left:
    """Play a night; return what is left in the morning."""
    ground = Ground(folder, night, variant)
    _make(ground, seed)
    before = _untouched(ground)
    exits, outputs, trouble = [], [], ""
    most = night.get("seconds_max", _SECONDS_MAX)
    for run in night.get("run", [{}]):
        ground.shell(run.get("before", ""))
        code, output = _run(ground, run)
        exits.append(code)
        outputs.append(output)
        if code is None:
            trouble = f"the run did not end within {most:.0f} seconds"
            break
        if run.get("until_done") and code == 0:
            break
    running = _running(ground)
    for pid in running:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    after = _untouched(ground)
    return _left(ground, exits, outputs, trouble, before, after, len(running))


_PROBES = {
    "bwrap": ("bwrap", "--unshare-user-try", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "true"),
    "unshare": ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs night /mnt"),
}
"""What shows that a night can be played here that needs more than git and Python."""


def unplayable(night: Mapping[str, Any]) -> str:
    """Return what this machine lacks for a night, "" where it lacks nothing."""
    probe = _PROBES.get(night.get("needs", ""))
    if probe is None:
        return ""
    works = shutil.which(probe[0]) and subprocess.run(probe, check=False, capture_output=True).returncode == 0
    return "" if works else f"{probe[0]} does not work"


def _make(ground: Ground, seed: int) -> None:
    night = ground.night
    ground.folder.mkdir(parents=True)
    ground.world = World.make(ground.folder / "world", _filled(ground, night), seed)
    write_tools(ground.folder / "tools", ground.world)
    for path, text in {".gitconfig": "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n",
                       ".bashrc": "# mine\n", "precious/diary.txt": _DIARY}.items():  # fmt: skip
        _write(ground.home / path, text)
    for path, text in {**FILES, **night.get("files", {})}.items():
        _write(ground.repository / path, ground.filled(text))
    for issue in night["issue"]:
        front = {"title": issue.get("title", f"Add feature {issue['id']}"), **issue.get("front", {})}
        body = issue.get("body", f"Add a function `feature_{issue['id']}` with a test.")
        folder = ground.folder / "later" if issue.get("later") else ground.repository / "issues"
        text = issue.get("raw", f"+++\n{tomli_w.dumps(front)}+++\n\n{body}\n")
        _write(folder / f"{issue['id']}-work.md", ground.filled(text))
    _write(ground.repository / "noface.toml", _config(ground))
    ground.shell("git init -q . && git add -A && git commit -qm 'Open the shop' && git tag start")
    ground.shell(night.get("prepare", ""))
    ground.shell("git tag -f start > /dev/null; echo 'a note of mine' >> README.md")
    _write(ground.repository / "draft.txt", _DRAFT)


def _filled(ground: Ground, value: Any) -> Any:
    match value:
        case str():
            return ground.filled(value)
        case Mapping():
            return {key: _filled(ground, inner) for key, inner in value.items()}
        case list():
            return [_filled(ground, inner) for inner in value]
        case _:
            return value


def _config(ground: Ground) -> str:
    config = json.loads(json.dumps(CONFIG))
    for section, values in ground.night.get("config", {}).items():
        config[section] = {**config.get(section, {}), **values} if isinstance(values, Mapping) else values
    config["gates"] = config.get("gates", [GATE])
    config["run"] = {
        "workers": ground.night.get("workers", 1), "slots_dir": str(ground.folder / "slots"), **config.get("run", {}),
    }  # fmt: skip
    if config["sandbox"]["kind"] != "none":
        config["sandbox"] |= {"show": [str(ground.folder / "tools"), sys.prefix, str(HERE.parent)],
                              "write": [str(ground.world.folder)]}  # fmt: skip
    return tomli_w.dumps(_filled(ground, config))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _run(ground: Ground, run: Mapping[str, Any]) -> tuple[int | None, str]:
    """Start noface or the loop once, be the person while it works; return its exit code, and what it printed."""
    env: dict[str, str] = {}
    if ground.variant == NOFACE:
        command = [sys.executable, str(HERE / "starter.py"), str(ground.world.folder), "run", *run.get("args", [])]
        env = {"NOFACE_FAILPOINT": run["failpoint"]} if "failpoint" in run else {}
    else:
        command = [
            sys.executable,
            str(HERE / ("oracle.py" if ground.variant in ORACLES else "loop.py")),
            ground.variant,
            str(ground.repository),
            str(ground.world.folder),
        ]
        env = {"NIGHT_KILL": run["loop_dies"]} if "loop_dies" in run else {}
    if "disk_mb" in run:
        command = _small_disk(
            command, ground.folder / ("slots" if ground.variant == NOFACE else "trees"), run["disk_mb"]
        )
    number = len(list(ground.folder.glob("run-*.log"))) + 1
    log = ground.folder / f"run-{number}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=ground.repository, env=ground.environment(**env), stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        ended = _attend(ground, process)
    return (process.returncode if ended else None), log.read_text(errors="replace")


def _small_disk(command: list[str], folder: Path, megabytes: int) -> list[str]:
    """Return the command with a small file system of its own at `folder`."""
    folder.mkdir(exist_ok=True)
    mount = f'mount -t tmpfs -o size={megabytes}m night "$1" && shift && exec "$@"'
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", str(folder), *command]


def _attend(ground: Ground, process: "subprocess.Popen[bytes]") -> bool:
    """Do what the night wants of the person until the process ends; False where it had to be killed."""
    asks, until = ground.world.folder / "asks", time.monotonic() + ground.night.get("seconds_max", _SECONDS_MAX)
    while process.poll() is None:
        for ask in [path for path in sorted(asks.iterdir()) if path.suffix != ".done"]:
            if not (asks / f"{ask.name}.done").exists():
                _act(ground, ask.name, process)
                (asks / f"{ask.name}.done").touch()
        if time.monotonic() > until:
            process.kill()
            process.wait()
            return False
        time.sleep(_TICK_S)
    return True


def _act(ground: Ground, name: str, process: "subprocess.Popen[bytes]") -> None:
    deed = ground.night["meanwhile"][name]
    printed = ground.shell(deed.get("do", ""))
    if printed:
        _write(ground.folder / f"meanwhile-{name}.log", printed)
    if "signal" in deed:
        process.send_signal(getattr(signal, f"SIG{deed['signal']}"))
        if deed["signal"] == "KILL":
            process.wait()


def _running(ground: Ground) -> list[int]:
    """Return the processes that the night has left: they know its folder, or work in it."""
    mark, left = str(ground.folder).encode(), []
    time.sleep(0.05)
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            inside = (entry / "cwd").readlink().is_relative_to(ground.folder)
            if inside or mark in (entry / "environ").read_bytes() or mark in (entry / "cmdline").read_bytes():
                left.append(int(entry.name))
        except OSError:
            continue
    return left


def _untouched(ground: Ground) -> dict[str, str]:
    """Return what is the person's alone and must be the same in the morning."""
    kept = {
        "git's configuration": ground.repository / ".git/config",
        "the diary": ground.home / "precious/diary.txt",
        ".bashrc": ground.home / ".bashrc",
        ".gitconfig": ground.home / ".gitconfig",
        "draft.txt": ground.repository / "draft.txt",
    }
    texts = {name: path.read_text() if path.is_file() else "gone" for name, path in kept.items()}
    hooks = ground.repository / ".git/hooks"
    texts["git's hooks"] = (
        " ".join(sorted(p.name for p in hooks.iterdir() if p.suffix != ".sample")) if hooks.is_dir() else ""
    )
    readme = ground.repository / "README.md"
    texts["the edit of README.md"] = str(readme.is_file() and "a note of mine" in readme.read_text())
    texts["the branch"] = ground.shell("git symbolic-ref --short HEAD")
    return texts


def _left(
    ground: Ground, exits: list[int | None], outputs: list[str], trouble: str, before: dict[str, str],
    after: dict[str, str], running: int,
) -> Left:  # fmt: skip
    checkout = ground.folder / "morning"
    ground.shell(f"git -c advice.detachedHead=false clone -q --no-local . {checkout} -b main")
    landed = {}
    for issue in ground.night["issue"]:
        done = issue.get("done", f"test -e shop/feature_{issue['id']}.py")
        landed[issue["id"]] = _passes(ground, done, checkout)
    issues, blocked, texts = {}, {}, {}
    if ground.variant == NOFACE:
        issues, blocked, texts = _told(ground)
    found = _found(ground, checkout)
    tests = _tests(ground, checkout)
    subjects = ground.shell("git log --first-parent --format=%B start..main")
    shutil.rmtree(checkout, ignore_errors=True)
    return Left(
        exits=exits, outputs=outputs, trouble=trouble, landed=landed, tests=tests, running=running,
        changed=[name for name in before if before[name] != after[name] and name not in ground.night.get("may_change", [])],
        calls=[_with_truth(call) for call in ground.world.calls()], notes=ground.world.notes(), hours=ground.world.elapsed() / 3600, issues=issues,
        blocked=blocked, texts=texts, log=subjects,
        files=_filtered(ground), found=found,
    )  # fmt: skip


def _with_truth(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call with what its agent told the referee of it; an agent that was ended before it did has done nothing."""
    told = Path(call["told"]) if "told" in call else None
    return call if told is None else {**call, "truth": told.read_text().strip() if told.is_file() else "wrong"}


def _passes(ground: Ground, script: str, folder: Path) -> bool:
    done = subprocess.run(
        ["bash", "-c", ground.filled(script)], cwd=folder if folder.is_dir() else ground.folder, env=ground.environment(),
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 0 and folder.is_dir()


def _found(ground: Ground, checkout: Path) -> dict[str, list[str]]:
    """Return what the night's scripts find wrong: in the repository, and in the checkout of main."""
    expect = ground.night["expect"]
    own = ground.world.folder / "harm"
    told = dict(line.split("\t", 1) for line in own.read_text().splitlines() if "\t" in line) if own.is_file() else {}
    scripts = {"harm": {**expect.get("harm", {}), **told}, "untidy": expect.get("untidy", {})}
    found = {kind: [what for what, script in each.items() if _passes(ground, script, checkout)]
             for kind, each in scripts.items()}  # fmt: skip
    lost = [what for what, script in expect.get("holds", {}).items() if not _passes(ground, script, ground.repository)]
    judged_by = "git diff --quiet start main -- tests/test_prices.py tests/conftest.py pytest.ini"
    weakened = [] if _passes(ground, judged_by, ground.repository) else ["what judges a change is not as it was"]
    return {**found, "holds": lost, "weakened": weakened}


def _filtered(ground: Ground) -> dict[str, str]:
    """Return the texts on main, and in the checkout, that the night's expectations look at."""
    expect = ground.night["expect"]
    names = {*expect.get("main_has", {}), *expect.get("main_lacks", {})}
    texts = {f"main:{name}": ground.shell(f"git show main:'{name}' 2> /dev/null") for name in names}
    for name in expect.get("mine", {}):
        path = ground.repository / name
        texts[f"mine:{name}"] = path.read_text() if path.is_file() else ""
    return texts


def _tests(ground: Ground, checkout: Path) -> str:
    """Return how main's tests fail in the morning, with those of the start put back; "" where they pass."""
    if not checkout.is_dir():
        return "main cannot be checked out"
    back = ground.night.get("tests_back", "tests/test_prices.py tests/test_stock.py")
    ground.shell(f"cd {checkout} && git checkout -q start -- {back}")
    command = f"{_PYTEST} {ground.night.get('tests_run', 'tests')}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=checkout, env=ground.environment(), capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout[-600:]


def _told(ground: Ground) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Return what noface tells a person in the morning: by issue its row, what blocks it, and the text."""

    def noface(*args: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "noface", *args], cwd=ground.repository, env=ground.environment(), capture_output=True,
            text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.stdout + done.stderr

    try:
        issues = {row["id"]: row for row in json.loads(noface("status", "--json"))["issues"]}
        waiting = json.loads(noface("blocked", "--json"))["blocked"]
        blocked = {row["id"]: row for row in waiting if row["status"] != "held"}
    except (ValueError, KeyError):
        return {}, {}, {}
    overview = noface("blocked") if blocked else ""
    wanted = {**ground.night["expect"].get("says", {}), **ground.night["expect"].get("why", {})}
    texts = {issue: f"{overview}\n{noface('blocked', issue)}" for issue in wanted if issue in blocked}
    texts |= {issue: json.dumps(issues[issue]) for issue in wanted if issue in issues and issue not in blocked}
    return issues, blocked, texts
