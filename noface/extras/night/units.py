"""What a system's own scheduler is given: a service and a timer of systemd, or an agent of launchd. Pure."""

import plistlib
from collections.abc import Sequence
from dataclasses import dataclass


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
