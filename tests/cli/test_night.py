"""`noface tools night`: what the system's scheduler is given, and what is said of it."""

import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.cases import first_ones

from noface.extras.night.verb import NightPlan

ODD = '/srv/my project 100% of $HOME/it"s'


def plan(**changes):
    facts = {
        "name": "noface-shop-1a2b3c4d",
        "root": "/srv/shop",
        "at": "22:30",
        "until": "07:00",
        "command": (sys.executable, "-P", "-m", "noface", "run", "--until", "07:00"),
        "search_path": "/usr/local/bin:/usr/bin",
        "variables": "/home/ada/.config/noface/noface-shop-1a2b3c4d.env",
    }
    return NightPlan(**{**facts, **changes})


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="Debian's package systemd has it")
@pytest.mark.parametrize("odd", [False, True])
def test_systemd_itself_finds_nothing_wrong_with_the_units(tmp_path, odd):
    folder = tmp_path / (Path(ODD).name if odd else "x")
    made = plan(root=str(tmp_path), variables=f"{ODD}.env", search_path=f"{ODD}:/usr/bin") if odd else plan()
    made = plan(command=(*made.command, "--config", ODD), root=made.root, search_path=made.search_path) if odd else made
    folder.mkdir()
    for name, text in ((f"{made.name}.service", made.service()), (f"{made.name}.timer", made.timer())):
        (folder / name).write_text(text)
    units = [str(folder / f"{made.name}.{kind}") for kind in ("service", "timer")]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", *units],
        capture_output=True, text=True, check=False, env={"XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    about = [line for line in done.stderr.splitlines() if made.name in line]
    assert about == []
    assert done.returncode == 0, done.stderr


def test_paths_keep_their_blanks_per_cent_signs_and_dollars():
    text = plan(root=ODD, command=("/opt/a b/python", "--config", ODD), search_path=f"{ODD}:/bin").service()
    lines = dict(line.partition("=")[::2] for line in text.splitlines() if "=" in line)
    assert lines["WorkingDirectory"] == ODD.replace("%", "%%")
    words = shlex.split(lines["ExecStart"])  # systemd's quotes are a shell's here
    assert [word.replace("%%", "%").replace("$$", "$") for word in words] == ["/opt/a b/python", "--config", ODD]
    assert shlex.split(lines["Environment"]) == [f"PATH={ODD}:/bin".replace("%", "%%")]
    agent = plistlib.loads(plan(root=ODD, command=("/opt/a b/python", ODD)).launch_agent().encode())
    assert agent["WorkingDirectory"] == ODD
    assert agent["ProgramArguments"][-2:] == ["/opt/a b/python", ODD]
    assert agent["StartCalendarInterval"] == {"Hour": 22, "Minute": 30}


@pytest.mark.parametrize(
    ("at", "until", "now", "begins"),
    [
        ("22:30", "07:00", "2230", True),
        ("22:30", "07:00", "0359", True),
        ("22:30", "07:00", "0700", False),  # the machine woke in the morning: a missed timer fires then
        ("22:30", "07:00", "1500", False),
        ("09:00", "17:00", "0859", False),
        ("09:00", "17:00", "0900", True),
        ("09:00", "17:00", "1700", False),
    ],
)
def test_a_timer_that_fires_when_the_machine_wakes_begins_no_night_in_the_day(tmp_path, at, until, now, begins):
    line = next(each for each in plan(at=at, until=until).service().splitlines() if each.startswith("ExecCondition="))
    script = line.partition("=")[2].replace("$$", "$").replace("%%", "%")
    (tmp_path / "date").write_text(f"#!/bin/sh\necho {now}\n")
    (tmp_path / "date").chmod(0o755)
    done = subprocess.run(shlex.split(script), env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
    assert (done.returncode == 0) is begins


def systemd(project, *, reached=True, doctor=True):
    """Stand-ins for systemctl and systemd-run that write down how they are called, and run what they are given."""
    bin_, log = project.folder / "bin", project.folder / "calls"
    bin_.mkdir()
    away = "" if reached else 'echo "Failed to connect to bus: No medium found"; exit 1\n'
    run = 'while [ "${1#-}" != "$1" ]; do case $1 in --property) shift;; esac; shift; done\n' + (
        'exec "$@"\n' if doctor else ""
    )
    for name, body in (("systemctl", "echo NextElapseUSecRealtime=Fri 22:00\n"), ("systemd-run", run)):
        (bin_ / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {log}\n{away}cd {project.path}\n{body}')
        (bin_ / name).chmod(0o755)
    project.env = {"PATH": f"{bin_}:/usr/bin:/bin", "XDG_CONFIG_HOME": str(project.folder / "config")}
    return log


def units(project):
    return sorted(path.name.rpartition(".")[2] for path in (project.folder / "config").rglob("noface-*"))


def test_a_night_is_shown_proven_written_after_a_yes_and_removed(project):
    log = systemd(project, doctor=False)
    project.env["NTFY_URL"] = "ntfys://ntfy.sh/secret-topic"
    project.config('\n[notify]\nurls = ["$NTFY_URL"]\n')
    project.commit("settings")
    shown = project.noface("tools", "night", "install", "--at", "23:15")
    assert "OnCalendar=*-*-* 23:15:00" in shown.stderr
    assert "enable-linger" in shown.stderr
    assert "lid is closed" in shown.stderr
    assert "NTFY_URL of this shell" in shown.stderr
    assert "secret-topic" not in shown.stderr + shown.stdout
    assert "--yes" in shown.stdout
    assert units(project) == []
    assert "systemd-run" in log.read_text()
    done = project.noface("tools", "night", "install", "--at", "23:15", "--yes")
    assert done.returncode == 0, done.stderr
    assert units(project) == ["service", "timer"]
    assert "systemctl --user enable --now noface-repo-" in log.read_text()
    assert "Fri 22:00" in project.noface("tools", "night", "status").stdout
    assert project.noface("tools", "night", "remove").returncode == 0
    assert units(project) == []
    assert "No night is installed" in project.noface("tools", "night", "status").stdout


@pytest.mark.thorough
def test_a_night_whose_doctor_is_not_content_is_not_installed(project):
    systemd(project)
    project.write("noface.toml", "[[gates]]\n")
    project.commit("broken")
    done = project.noface("tools", "night", "install", "--yes")
    assert done.returncode != 0
    assert units(project) == []


@pytest.mark.parametrize("times", first_ones([("22", "07:00"), ("25:00", "07:00"), ("22:00", "22:00")]))
def test_a_night_has_two_times_of_the_clock(project, times):
    done = project.noface("tools", "night", "install", "--at", times[0], "--until", times[1])
    assert done.returncode == 2
