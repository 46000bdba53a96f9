"""Many quick cases of one thing as one test: pytest spends more on a test of its own than such a case takes."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Check = Callable[..., None]


def first_ones(values: Iterable[Any], number: int = 1, *, rows: bool = False) -> list[Any]:
    """Return the values of `pytest.mark.parametrize`; those after the first ones are for `make test-nightly`.

    With `rows` each value is a row: a value for each of several names.
    """
    table = list(values)
    later = (value if rows else (value,) for value in table[number:])
    return [*table[:number], *(pytest.param(*value, marks=pytest.mark.thorough) for value in later)]


def cases(
    names: str | tuple[str, ...], rows: Iterable[Any], ids: Callable[[Any], object] | Iterable[str] = repr
) -> Callable[[Check], Check]:
    """Like `pytest.mark.parametrize`, for cases that share the fixtures of their one test.

    All cases are tried. The test fails with the group of their failures, each with the name of its case.
    """
    fields = (names,) if isinstance(names, str) else names
    table = [(row,) if isinstance(names, str) else tuple(row) for row in rows]
    assert table, "no cases"
    named = ["-".join(str(ids(value)) for value in row) for row in table] if callable(ids) else list(ids)

    def decorate(check: Check) -> Check:
        def check_all(**fixtures: Any) -> None:
            failures: dict[str, BaseException] = {}
            for name, row in zip(named, table, strict=True):
                try:
                    check(**fixtures, **dict(zip(fields, row, strict=True)))
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 – raised below, with the others
                    failure.add_note(f"case: {name}")
                    failures[name] = failure
            if failures:
                raise BaseExceptionGroup(f"cases {', '.join(failures)}", list(failures.values()))

        functools.update_wrapper(check_all, check)
        asked = inspect.signature(check)
        others = [parameter for name, parameter in asked.parameters.items() if name not in fields]
        check_all.__signature__ = asked.replace(parameters=others)
        del check_all.__wrapped__
        return check_all

    return decorate
