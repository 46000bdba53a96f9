"""What the tests share: projects, stories, recordings. `pythonpath` of pytest's configuration makes it importable."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
