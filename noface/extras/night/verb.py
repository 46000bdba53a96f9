"""`noface tools night`: have the system's own scheduler begin a run each evening; noface has none of its own."""

import os
import plistlib
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.verb import ConfigFile, VerbResult, answers, grouped
from noface.errors import NofaceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class NightPlan:
    """A night of one repository: from `at` to `until` (HH:MM), where, by which command."""

    name: str
    root: str
    at: str
    until: str
    command: Sequence[str]
    search_path: str
    variables: str

    def service(self) -> str:
        """Return the service: a run that ends by itself, and is stopped as by Ctrl-C."""
        return f"""\
[Unit]
Description=noface works through the issues of {_specified(self.root)}

[Service]
Type=oneshot
WorkingDirectory={_specified(self.root)}
Environment={_quoted(f"PATH={self.search_path}")}
EnvironmentFile=-{_specified(self.variables)}
# A machine that slept starts a missed timer when it wakes: that is no night any more.
ExecCondition={self._condition()}
ExecStart={" ".join(_quoted(each.replace("$", "$$")) for each in self.command)}
SuccessExitStatus=3 4
KillMode=mixed
TimeoutStopSec=120
"""

    def timer(self) -> str:
        """Return the timer of the service."""
        return f"""\
[Unit]
Description=The nights of noface in {_specified(self.root)}

[Timer]
OnCalendar=*-*-* {self.at}:00
AccuracySec=1min

[Install]
WantedBy=timers.target
"""

    def _condition(self) -> str:
        at, until = (each.replace(":", "") for each in (self.at, self.until))
        both = "&&" if at < until else "||"
        # A dollar is written twice there, and so is a per cent sign.
        return f"""/bin/sh -c 'n=$$(date +%%H%%M); [ "$$n" -ge {at} ] {both} [ "$$n" -lt {until} ]'"""

    def launch_agent(self) -> str:
        """Return the agent of launchd, which reads the variables by a shell."""
        hour, minute = self.at.split(":")
        shell = '[ ! -r "$1" ] || { set -a; . "$1"; }; shift; exec "$@"'
        return plistlib.dumps(
            {
                "Label": self.name,
                "ProgramArguments": ["/bin/sh", "-c", shell, "noface", self.variables, *self.command],
                "WorkingDirectory": self.root,
                "EnvironmentVariables": {"PATH": self.search_path},
                "StartCalendarInterval": {"Hour": int(hour), "Minute": int(minute)},
                "StandardOutPath": f"/tmp/{self.name}.log",  # noqa: S108 - launchd's own place for it
                "StandardErrorPath": f"/tmp/{self.name}.log",  # noqa: S108
            }
        ).decode()


def _specified(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(text: str) -> str:
    return '"' + _specified(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


_SECONDS_MAX = 120.0
_AWAY = (
    "Log in to the machine itself or by ssh, not by su or sudo. Where it has none, as in a container, begin each night "
    "by hand: noface run --awake --until {until}"
)
_MEANS = (
    "It begins only while you are logged in, unless lingering is on: loginctl enable-linger.",
    "The run keeps the machine from falling asleep by itself, not from sleeping when its lid is closed: leave it open.",
    "A machine that is off or asleep when the night begins has no night.",
)


@answers("What was installed, as JSON.")
def install(
    at: str = typer.Option("22:00", "--at", metavar="TIME", help="When it begins each evening."),
    until: str = typer.Option("07:00", "--until", metavar="TIME", help="When it starts nothing more."),
    yes: bool = typer.Option(False, "--yes", help="Write it without asking."),
    config: ConfigFile = None,
) -> VerbResult:
    """Show what begins a run each evening, prove that it can work there, and write it after a yes."""
    plan = _plan(at, until, config)
    files = _files(plan)
    for path, content in files.items():
        typer.echo(f"{path}:\n{content}", err=True)
    missing = _variables_unseen(plan, config)
    if missing:
        again = f"(umask 077; mkdir -p {Path(plan.variables).parent}; env | grep -E '^({'|'.join(missing)})=' > FILE)"
        typer.echo(f"It will not have {', '.join(missing)} of this shell; give it those that it needs:", err=True)
        typer.echo(f"  {again.replace('FILE', shlex.quote(plan.variables))}", err=True)
    _prove(plan)
    for each in _MEANS if sys.platform != "darwin" else _MEANS[1:]:
        typer.echo(each, err=True)
    if not yes and not (sys.stdin.isatty() and typer.confirm("Write these files, and begin tonight?", err=True)):
        return VerbResult({"installed": False, "files": []}, lambda *_: ["Nothing was written: add --yes to write it."])
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for argv in _begin(plan, files):
        _done(argv, plan)
    names = [str(path) for path in files]
    return VerbResult(
        {"installed": True, "files": names}, lambda *_: [f"Each evening at {at}: noface tools night status"]
    )


@answers()
def status(config: ConfigFile = None) -> VerbResult:
    """Show when the next night begins, and how the last one ended."""
    plan = _plan("22:00", "07:00", config)
    there = [str(path) for path in _files(plan) if path.exists()]
    facts: dict[str, str] = {}
    if there:
        for argv in _look(plan):
            facts |= dict(line.partition("=")[::2] for line in _done(argv, plan).splitlines() if "=" in line)
    if not there:
        return VerbResult({"files": [], "facts": {}}, lambda *_: ["No night is installed: noface tools night install"])
    words = f"/tmp/{plan.name}.log" if sys.platform == "darwin" else f"journalctl --user -u {plan.name}"  # noqa: S108
    lines = [*there, *(f"{name}: {fact}" for name, fact in facts.items() if fact), f"Its words: {words}"]
    return VerbResult({"files": there, "facts": facts}, lambda *_: lines)


@answers("What was removed, as JSON.")
def remove(config: ConfigFile = None) -> VerbResult:
    """Have no more nights begin; a run at work goes on."""
    plan = _plan("22:00", "07:00", config)
    files = [path for path in _files(plan) if path.exists()]
    problem = ""
    for argv in _end(plan) if files else ():
        try:
            _done(argv, plan)
        except NofaceError as error:
            problem = problem or error.message
    for path in files:
        path.unlink()
    line = f"Removed {', '.join(map(str, files))}." if files else "No night is installed."
    return VerbResult(
        {"removed": [str(path) for path in files], "problem": problem}, lambda *_: filter(None, (line, problem))
    )


group = partial(
    grouped,
    "Have a run begin each evening, by systemd or launchd.",
    {"install": install, "status": status, "remove": remove},
)


def _plan(at: str, until: str, config: Path | None) -> "NightPlan":
    import hashlib

    from noface.git.locate import locate

    for name, clock in (("--at", at), ("--until", until)):
        if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", clock):
            raise UsageError(f"{name}: {clock[:80]!r} is no time of the clock", "Write it as 22:00.")
    if at == until:
        raise UsageError("a night has to end at another time than it begins", "For example --at 22:00 --until 07:00.")
    root = str(locate(Path.cwd()).root)
    given = ("--config", str(config.absolute())) if config is not None else ()
    command = (sys.executable, "-P", "-m", "noface", "run", "--awake", "--until", until, *given)
    search_path = os.environ.get("PATH", os.defpath)
    if any("\n" in each for each in (root, search_path, *command)):
        raise UsageError("a path has a line end in it, which no unit can hold", "Move the repository.")
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", Path(root).name)[:40]
    name = f"noface-{plain}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:8]}"
    return NightPlan(name, root, at, until, command, search_path, str(_settings() / "noface" / f"{name}.env"))


def _settings() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _files(plan: "NightPlan") -> "Mapping[Path, str]":
    if sys.platform == "darwin":
        return {Path.home() / "Library" / "LaunchAgents" / f"{plan.name}.plist": plan.launch_agent()}
    folder = _settings() / "systemd" / "user"
    return {folder / f"{plan.name}.service": plan.service(), folder / f"{plan.name}.timer": plan.timer()}


def _begin(plan: "NightPlan", files: "Mapping[Path, str]") -> "Sequence[Sequence[str]]":
    if sys.platform == "darwin":
        return [("launchctl", "bootstrap", f"gui/{os.getuid()}", *map(str, files))]
    enable = ("systemctl", "--user", "enable", "--now", f"{plan.name}.timer")
    return [("systemctl", "--user", "daemon-reload"), enable]


def _end(plan: "NightPlan") -> "Sequence[Sequence[str]]":
    if sys.platform == "darwin":
        return [("launchctl", "bootout", f"gui/{os.getuid()}/{plan.name}")]
    return [("systemctl", "--user", "disable", "--now", f"{plan.name}.timer")]


def _look(plan: "NightPlan") -> "Sequence[Sequence[str]]":
    if sys.platform == "darwin":
        return [("launchctl", "print", f"gui/{os.getuid()}/{plan.name}")]
    show = ("systemctl", "--user", "show", "--property")
    return [
        (*show, "ActiveState,NextElapseUSecRealtime,LastTriggerUSec", f"{plan.name}.timer"),
        (*show, "Result,ExecMainStatus", f"{plan.name}.service"),
    ]


def _done(argv: "Sequence[str]", plan: "NightPlan") -> str:
    """Run a command of the system's scheduler; return what it says. Raises NofaceError if it cannot be done."""
    from noface.process.fed import run_fed

    code, output = run_fed(argv, "", _SECONDS_MAX)
    if code != 0:
        instead = _AWAY.format(until=plan.until)
        raise NofaceError(f"{argv[0]} cannot be used: {output.strip() or f'exit code {code}'}", instead)
    return output


def _prove(plan: "NightPlan") -> None:
    """Run `noface doctor` as the night will run: with its PATH, its logins and its keys. Raises NofaceError."""
    from noface.process.fed import run_fed

    doctor = (*plan.command[:4], "doctor", *plan.command[8:])  # with the same --config
    given = (f"PATH={plan.search_path}", f"HOME={Path.home()}")
    argv: tuple[str, ...] = ("/bin/sh", "-c", 'cd "$0" && exec env -i "$@"', plan.root, *given, *doctor)
    if sys.platform != "darwin":
        _done(("systemctl", "--user", "show-environment"), plan)
        kept = ("--property", f"EnvironmentFile=-{plan.variables}", "--property", f"WorkingDirectory={plan.root}")
        unit = ("systemd-run", "--user", "--pipe", "--wait", "--collect", "--quiet")
        argv = (*unit, *kept, f"--setenv={given[0]}", *doctor)
    code, output = run_fed(argv, "", _SECONDS_MAX)
    typer.echo(output, err=True)
    if code != 0:
        raise NofaceError(
            f"noface doctor as the night would run it: exit code {code}, as is told above",
            "Mend that, and install again; nothing was written.",
        )


def _variables_unseen(plan: "NightPlan", config: Path | None) -> "Sequence[str]":
    from noface.agents.base import AGENTS
    from noface.config.load import load
    from noface.secrets.environment import fits
    from noface.secrets.rules import is_secret_name

    loaded = load(Path(plan.root), config)
    models = [loaded.models[name] for name in loaded.models_in_use]
    wanted = {pattern for model in models for pattern in (*AGENTS[model.agent].environment, *model.env_pass)}
    named = {each.strip("${} ") for each in (*loaded.notify.urls, *loaded.notify.answers) if each.startswith("$")}
    patterns = (*wanted, "GITHUB_TOKEN", "GH_TOKEN")
    secrets = {name for name in os.environ if is_secret_name(name) and fits(name, patterns)}
    needed = secrets | (named & os.environ.keys())
    try:
        known = {line.partition("=")[0] for line in Path(plan.variables).read_text().splitlines()}
    except OSError:
        known = set()
    return sorted(needed - known)
