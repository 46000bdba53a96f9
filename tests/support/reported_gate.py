"""A gate's command run as noface has it run: with the reporters in its environment."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from noface.gates.inventory import instrumented, read_inventory
from noface.integrity.inventory import Inventory


@dataclass(frozen=True)
class Ran:
    """What a gate left: its exit code, its output, its inventory as lists of ids by outcome."""

    exit_code: int
    stdout: str
    stderr: str
    inventory: Inventory | None
    folder: Path

    def ids(self, outcome: str) -> list[str]:
        return [name for name, ended in self.inventory.tests if ended == outcome] if self.inventory else []


def run_reported(checkout: Path, command: str, **env: str) -> Ran:
    """Run a command by `bash -c` in `checkout`, with `env` beside the tests' own environment."""
    number = sum(path.name.startswith("reported-") for path in checkout.parent.iterdir())
    folder = checkout.parent / f"reported-{number}"
    inside = dict(instrumented(tuple((outside() | env).items()), folder))
    done = subprocess.run(
        ["bash", "-c", command], cwd=checkout, env=inside, capture_output=True, text=True, check=False, timeout=120
    )
    inventory = read_inventory(folder, checkout, done.stdout, command, done.stderr)
    return Ran(done.returncode, done.stdout, done.stderr, inventory, folder)


def run_plain(checkout: Path, command: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "-c", command], cwd=checkout, env=outside() | env, capture_output=True, text=True, check=False
    )


def outside() -> dict[str, str]:
    """Return the tests' environment without what the pytest around them adds."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
