"""Comparing output with the file that holds what is right."""

from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def check(name: str, output: str) -> None:
    expected = (GOLDEN / name).read_bytes().decode()
    assert output == expected
