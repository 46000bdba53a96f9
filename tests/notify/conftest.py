from collections.abc import Iterator

import pytest
from support.phone import Phone


@pytest.fixture
def phone() -> Iterator[Phone]:
    made = Phone()
    yield made
    made.close()
