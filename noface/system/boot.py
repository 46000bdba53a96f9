"""Which start of the machine this is: two nofaces of one start share it, a reboot ends it."""

import subprocess
import sys
from pathlib import Path

_LINUX = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """Return what names this start of the machine, "" where the system does not tell."""
    try:
        if sys.platform == "darwin":
            argv = ["/usr/sbin/sysctl", "-n", "kern.boottime"]
            return subprocess.run(argv, capture_output=True, text=True, timeout=10, check=False).stdout.strip()
        return _LINUX.read_text().strip()
    except (OSError, subprocess.SubprocessError):
        return ""
