"""Installs the agent programs that clis.toml names, each into a folder of its own below .agents/."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / ".agents"
PINS = Path(__file__).parent / "clis.toml"


@dataclass(frozen=True)
class Cli:
    """An agent program: where it comes from, which version, and where its file is once it is installed."""

    name: str
    source: str
    package: str
    version: str
    program: Path
    also: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def stamp(self) -> str:
        return json.dumps([self.source, self.package, self.version, self.also])


def clis() -> dict[str, Cli]:
    """Return the programs by name."""
    pins = tomllib.loads(PINS.read_text("utf-8"))
    return {
        name: Cli(
            name,
            pin["from"],
            pin["package"],
            pin["version"],
            FOLDER / name / pin["program"],
            tuple(pin.get("also", ())),
        )
        for name, pin in pins.items()
    }


def install(cli: Cli) -> None:
    """Install one program, unless this very version is there. Raises CalledProcessError where that fails."""
    stamp = cli.folder / "installed.json"
    if cli.program.exists() and stamp.exists() and stamp.read_text("utf-8") == cli.stamp:
        return
    print(f"installing {cli.package} {cli.version} …", flush=True)
    shutil.rmtree(cli.folder, ignore_errors=True)
    cli.folder.mkdir(parents=True)
    if cli.source == "npm":
        quiet = ("--no-audit", "--no-fund", "--loglevel=error")
        subprocess.run(["npm", "install", *quiet, "--prefix", cli.folder, f"{cli.package}@{cli.version}"], check=True)
    else:
        subprocess.run([sys.executable, "-m", "venv", cli.folder], check=True)
        pip = (cli.folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check")
        subprocess.run([*pip, f"{cli.package}=={cli.version}", *cli.also], check=True)
    elsewhere = {**os.environ, "HOME": str(cli.folder)}  # some write settings when they are first started
    tried = subprocess.run(
        [cli.program, "--help"], check=False, env=elsewhere, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if tried.returncode != 0:
        print(tried.stdout, tried.stderr, file=sys.stderr)
        tried.check_returncode()
    stamp.write_text(cli.stamp, "utf-8")


def install_all() -> list[str]:
    """Install every program; the names of those that could not be."""
    failed = []
    for cli in clis().values():
        try:
            install(cli)
        except (OSError, subprocess.CalledProcessError) as problem:
            print(f"{cli.package} {cli.version} could not be installed: {problem}", file=sys.stderr)
            failed.append(cli.name)
    return failed
