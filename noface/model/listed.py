"""Records that pages of lists show. They stand here because this module imports little: a look must start quickly."""

from typing import Annotated, NamedTuple

from noface.model.description import Minimum, Timestamp


class IssueFault(NamedTuple):
    """An issue that cannot be run as written."""

    source: Annotated[str, "The file."]
    problem: Annotated[str, "What is wrong."]
    hint: Annotated[str, "What to do about it; may be empty."] = ""
    id: Annotated[str | None, "The issue's id; null if it cannot be read."] = None


class UnsteadyTest(NamedTuple):
    """A test that fails now and then on main, and so counts for nobody."""

    gate: Annotated[str, "Its gate's name."]
    test: Annotated[str, "Its id; empty where the gate names no tests, and is unsteady as a whole."]
    at: Annotated[float, Timestamp, "When that was seen; a week later it is forgotten."]
    failed: Annotated[int, Minimum(1), "In how many runs on main it failed."]
    runs: Annotated[int, Minimum(1), "In how many runs on main it was looked at."]


class Window(NamedTuple):
    """A window of a login's quota at its provider, as the agent's program told of it last.

    `model` is what a model's own name must hold for the window to count for it, "" for all of the login.
    """

    name: Annotated[str, "The window: five_hour, week, …"]
    used: Annotated[float, "The share that was used, from 0 to 1."]
    resets_at: Annotated[float | None, Timestamp, "When it begins anew; null if that is not known."] = None
    model: str = ""
    beyond: Annotated[bool, "True if it is used up and what is used costs extra."] = False
    login: Annotated[str, "The agent, and which variables give it another login than its program's own."] = ""
    seen_at: Annotated[float, Timestamp, "When it was told."] = 0.0


class HostState(NamedTuple):
    """A host of a run."""

    host: Annotated[str, "What ssh calls it, or the address of a standing cluster."]
    up: Annotated[bool, "True if attempts can begin there."]
    why: Annotated[str, "Why it is not, empty if it is."]
    slots: Annotated[int, "How many attempts there can be at once."]
    since: Annotated[float, Timestamp, "Since when it is so."] = 0.0
