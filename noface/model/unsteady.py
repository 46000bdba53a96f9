"""What is remembered of a test that fails now and then on main."""

from typing import Annotated, NamedTuple

from noface.model.description import Minimum, Timestamp


class UnsteadyTest(NamedTuple):
    """A test that fails now and then on main, and so counts for nobody."""

    gate: Annotated[str, "Its gate's name."]
    test: Annotated[str, "Its id; empty where the gate names no tests, and is unsteady as a whole."]
    at: Annotated[float, Timestamp, "When that was seen; a week later it is forgotten."]
    failed: Annotated[int, Minimum(1), "In how many runs on main it failed."]
    runs: Annotated[int, Minimum(1), "In how many runs on main it was looked at."]
