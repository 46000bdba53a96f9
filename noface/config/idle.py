"""The keys of a sound noface.toml that do nothing as it stands: a table of what each needs. Defaults are not told."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from noface.data import table
from noface.data.trackers import TRACKERS
from noface.errors import EXIT_DONE
from noface.model.finding import Finding
from noface.recovery.retry_policy import When

if TYPE_CHECKING:
    from noface.config.sections import Config

_RISKS = "paths labels"
_Lacks = Callable[["Config"], bool]
_RECOVERY_OFF: _Lacks = lambda c: not c.recovery.enabled  # noqa: E731 - a row of the table
_NEEDS: tuple[tuple[str, str, _Lacks, str, str], ...] = (
    ("review", f"when {_RISKS}", lambda c: not c.roles.reviewer, "without a reviewer", "[roles] reviewer"),
    ("review", _RISKS, lambda c: bool(c.roles.reviewer) and c.review.when is not When.RISKY,
     "unless risk decides", 'when = "risky"'),
    ("roles", "planner diagnoser resolver architect", _RECOVERY_OFF, "without recovery", "[recovery] enabled"),
    ("retry", "reflect", _RECOVERY_OFF, "without recovery", "[recovery] enabled"),
    ("recovery", "max_strategies", _RECOVERY_OFF, "without recovery", "[recovery] enabled"),
    ("recovery", "allow_skip", lambda c: not (c.recovery.enabled and c.roles.diagnoser),
     "without a diagnoser", "[roles] diagnoser"),
    ("retry", "escalation_model escalate_after_attempts", lambda c: bool(c.retry.ladder),
     "beside [[retry.ladder]]", "its steps say it"),
    ("project", "setup_inputs setup_timeout setup_env_pass", lambda c: not c.project.setup.strip(),
     "without a setup", "setup"),
    ("project", "keep", lambda c: any(set(path) & set("*?[") for path in c.project.keep),
     "for globs: it names paths", "the folder itself, such as web/node_modules"),
    ("landing", "rounds follow_checks", lambda c: not c.landing.by_pull_request,
     "without pull requests", 'how = "pull-request"'),
    ("landing", "style", lambda c: c.landing.by_pull_request, "beside pull requests", 'how = "merge"'),
    ("tracker", "label authors", lambda c: not TRACKERS[c.tracker.kind].remote,
     "without issues on GitHub", 'kind = "github"'),
    ("github", "repository url poll", lambda c: not (TRACKERS[c.tracker.kind].remote or c.landing.by_pull_request),
     "without GitHub", 'kind = "github" in [tracker], or how = "pull-request" in [landing]'),
)  # fmt: skip
"""Section, its keys, what tells that they do nothing, when that is, and what they need."""


def idle_settings(config: "Config", *, boxed: bool) -> Iterator[Finding]:
    """Yield the keys that do nothing. `boxed`: what does not say "none" runs in the sandbox that noface makes."""
    for name, keys, lacks, why, need in _NEEDS:
        section = getattr(config, name)
        written = [key for key in keys.split() if key in section.model_fields_set and getattr(section, key)]
        if written and lacks(config):
            yield _idle(f"[{name}]", written, why, need)
    written = [key for key in ("network", "show", "write", "hide") if key in config.sandbox.model_fields_set]
    if written and (not boxed or config.sandbox.kind == "none"):
        yield _idle("[sandbox]", written, "without noface's own sandbox", "a sandbox that works (docs/safety.md)")
    yield from _limits(config)


def _idle(where: str, keys: list[str], why: str, need: str) -> Finding:
    does = "does" if len(keys) == 1 else "do"
    return Finding(f"{where} {', '.join(keys)}", f"{does} nothing {why}", f"Take it out, or write {need}.", EXIT_DONE)


def _limits(config: "Config") -> Iterator[Finding]:
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
