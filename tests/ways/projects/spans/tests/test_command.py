import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parent / "data"


def test_the_command_prints_what_is_merged():
    done = subprocess.run([sys.executable, "-m", "spans", "1-4,3-8,10"], capture_output=True, text=True, check=True)
    assert done.stdout == (DATA / "merged.txt").read_text()
