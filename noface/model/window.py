"""What is known of a provider's window: a module of its own, so that pages of lists start quickly."""

from typing import Annotated, NamedTuple

from noface.model.description import Timestamp


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
