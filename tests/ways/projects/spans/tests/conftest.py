import csv
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture
def cases():
    with (DATA / "cases.csv").open(newline="") as file:
        return list(csv.reader(file, delimiter=";"))
