"""Python code is read by several threads of a run at once."""

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from noface.integrity.form import python_tree

LINE = "    if x == {0}:\n        return [({0} + x) * (x - 1), {{'a': [1, 2, (3, 4)]}}]\n"
TEXT = "def f(x):\n" + "".join(LINE.format(number) for number in range(200))


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns in the middle of what Python's own parser does, as a garbage collection lets them."""

    def turn(*_: object) -> None:
        sum(range(2000))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    gc.callbacks.append(turn)
    yield
    gc.callbacks.remove(turn)
    sys.setswitchinterval(before)


def test_a_thread_that_reads_code_is_in_no_other_ones_way(switching):
    with ThreadPoolExecutor(4) as threads:
        assert None not in list(threads.map(python_tree, [TEXT] * 30))
