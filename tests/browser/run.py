"""The suite `browser`: the board in a real Chromium, driven by keyboard and mouse, in the dark and the light, narrow and wide.

Chromium is the system's (Debian: `apt install chromium`), or the one that CHROMIUM names. Playwright's wheel and axe-core's
file are fetched from PyPI and npm into .browser/, where the screenshots are left as well; nothing else is downloaded.
`--if-there`: without a Chromium this says loudly what is not run, and is no failure.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".browser"
AXE = FOLDER / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PLAYWRIGHT = "playwright>=1.50"
REGISTRY = "https://registry.npmjs.org/axe-core/latest"


def main() -> int:
    """Fetch what is missing, then run; pytest's exit code, 2 if there is no browser."""
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), "")
    if not chromium:
        print(
            "NOT RUN: the tests of the board in a browser (keyboard, mouse, widths, dark and light, accessibility, script off):\n"
            "there is no Chromium here. Debian: apt install chromium; or CHROMIUM=/path/to/it.",
            file=sys.stderr,
        )
        return 0 if "--if-there" in sys.argv else 2
    FOLDER.mkdir(exist_ok=True)
    if not (FOLDER / "python" / "playwright").is_dir():
        install = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*install, "--target", str(FOLDER / "python"), PLAYWRIGHT], check=True)
    if not AXE.is_file():
        with urllib.request.urlopen(REGISTRY, timeout=60) as answer:
            address = json.load(answer)["dist"]["tarball"]
        with urllib.request.urlopen(address, timeout=60) as answer:
            data = io.BytesIO(answer.read())
        with tarfile.open(fileobj=data) as packed:
            AXE.write_bytes(packed.extractfile("package/axe.min.js").read())
    (FOLDER / "chromium").write_text(chromium)  # a test gets ordinary surroundings, and no variable of ours
    path = os.pathsep.join(filter(None, (str(FOLDER / "python"), os.environ.get("PYTHONPATH", ""))))
    more = [each for each in sys.argv[1:] if each != "--if-there"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(Path(__file__).parent), *more],
        env={**os.environ, "PYTHONPATH": path},
        cwd=ROOT,
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
