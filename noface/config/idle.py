"""What is worth knowing of a sound noface.toml: limits that hold nothing, and who may write what workers do."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from noface.data import table
from noface.data.trackers import TRACKERS
from noface.errors import EXIT_DONE
from noface.model.finding import Finding

if TYPE_CHECKING:
    from noface.config.sections import Config


def silent_limits(config: "Config") -> Iterator[Finding]:
    """Yield the limits in dollars and tokens that hold no model whose agent tells neither."""
    silent = [name for name in config.models_in_use if table("agents")[config.models[name].agent].get("tells_nothing")]
    limits = [("[run]", config.run), ("[retry]", config.retry)]
    keys = [f"{where} {key}" for where, part in limits for key in ("max_cost_usd", "max_tokens") if getattr(part, key)]
    keys += [f"[models.{name}] max_cost_usd" for name in silent if config.models[name].max_cost_usd is not None]
    if silent and keys:
        what = f"does nothing for {', '.join(silent)}: a plain command tells neither unless it prints them"
        fix = "Set [run] max_hours, which holds it, or have it print its usage (docs/agents.md)."
        yield Finding(", ".join(keys), what, fix, EXIT_DONE)


def open_doors(config: "Config") -> Iterator[Finding]:
    """Yield that anybody may write what workers are told to do."""
    if "*" in config.tracker.authors and TRACKERS[config.tracker.kind].remote:
        yield Finding(
            "[tracker] authors",
            '"*" lets anyone who can open an issue write what workers are told to do',
            "Name the people, or leave authors out: those with write access to the repository are allowed.",
            EXIT_DONE,
        )
