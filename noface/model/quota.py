"""A login's quota at its provider: how much of each window is used, and what of it a person keeps. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from noface.model.listed import Window
from noface.model.worker_run import ModelSpec

WINDOWS = {300: "five_hour", 1_440: "day", 10_080: "week"}
_UNKNOWN_RESET_S = 3600.0
LET_IT = "noface resume --overage 5"
"""The command with which a person lets a run spend dollars beyond its windows."""


@dataclass(frozen=True, slots=True)
class Reserve:
    """What a person keeps of each window (`shares`, by name), and how many dollars beyond a window may cost.

    `ask`: they want to be asked before anything is spent beyond one.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    beyond_usd: float = 0.0
    ask: bool = False


def login_of(spec: ModelSpec) -> str:
    own = sorted(name for name, _ in spec.env if name.endswith(("_KEY", "_TOKEN", "_HOME", "_DIR", "_BASE_URL")))
    return f"{spec.agent} ({', '.join(own)} of {spec.name})" if own else spec.agent


def held_back(window: Window, reserve: Reserve, spent_beyond: float, now: float) -> tuple[float, str] | None:
    """Return until when a login rests for a window, and why; None if it may go on.

    `spent_beyond` are the dollars used since noface saw that what is used costs extra.
    """
    if window.resets_at is not None and window.resets_at <= now:
        return None
    until = window.resets_at if window.resets_at is not None else now + _UNKNOWN_RESET_S
    if window.beyond and spent_beyond >= reserve.beyond_usd:
        bound = f"${reserve.beyond_usd:.2f}" if reserve.beyond_usd else "nothing"
        why = f"its {window.name} window is used up, and {bound} may be spent beyond it ([budget] overage)"
        return until, f"{why}; to let it: {LET_IT}" if reserve.ask else why
    kept = reserve.shares.get(window.name, 0.0)
    if not window.beyond and kept and window.used >= 1.0 - kept:
        return (
            until,
            f"{window.used:.0%} of its {window.name} window is used, and {kept:.0%} is yours ([budget] reserve)",
        )
    return None
