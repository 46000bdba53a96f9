"""What is remembered of a test that fails now and then on main."""

from typing import Annotated, NamedTuple

from noface.model.description import Minimum, Timestamp


class UnsteadyTest(NamedTuple):
    """A test that fails now and then on main, and so counts for nobody."""

    gate: Annotated[str, "Its gate's name."]
    test: Annotated[str, "Its id; empty where the gate names no tests, and is unsteady as a whole."]
    first_at: Annotated[float, Timestamp, "Since when that is known."]
    last_at: Annotated[float, Timestamp, "When it failed last on main."]
    failed: Annotated[int, Minimum(1), "In how many runs on main it failed."]
    runs: Annotated[int, Minimum(1), "In how many runs on main it ran since."]
    steady: Annotated[int, "How often in a row it has passed there since; after enough of them it is forgotten."] = 0
    red: Annotated[int, "How often in a row it has failed there; after enough of them it counts again."] = 0
