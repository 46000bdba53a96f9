"""The settings of a sound noface.toml that do nothing as it stands: one table, for every command that tells of them.

Only what a person has written is told; a default that does nothing is nobody's mistake.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from noface.config.presets import presets
from noface.data import table
from noface.data.trackers import TRACKERS
from noface.errors import EXIT_DONE
from noface.model.finding import Finding
from noface.model.quota import WINDOWS
from noface.model.taxonomy import Strategy
from noface.recovery.retry_policy import When

if TYPE_CHECKING:
    from noface.config.sections import Config, Section


def idle_settings(config: "Config", *, boxed: bool) -> Iterator[Finding]:
    """Yield the keys that do nothing. `boxed`: what does not say "none" runs in the sandbox that noface makes."""
    yield from _of_recovery(config)
    yield from _of_review(config)
    yield from _of_places(config, boxed=boxed)
    yield from _of_sandboxes(config, boxed=boxed)
    yield from _of_roles(config)
    yield from _of_models(config)
    yield from _limits(config)
    yield from _quotas(config)
    for name, model in config.models.items():
        if model.resume_problem:
            yield Finding(f"[models.{name}]", model.resume_problem, "Take the key out.", EXIT_DONE)


def _idle(where: str, section: "Section", keys: Sequence[str], when: bool, why: str, fix: str) -> Iterator[Finding]:
    """Yield a note on the keys of a section that are written, though `when` they do nothing; `fix` is what helps."""
    there = [key for key in keys if key in section.model_fields_set]
    if there and when:
        does = "does" if len(there) == 1 else "do"
        what, fix = f"{does} nothing {why}", f"Take it out, or {fix}."
        yield Finding(f"[{where}] {', '.join(there)}", what, fix, EXIT_DONE)


_RISKS = ("paths", "labels", "files", "lines", "confidence")
_ASKED = ("planner", "diagnoser", "resolver", "architect")


def _of_review(config: "Config") -> Iterator[Finding]:
    review, none = config.review, config.roles.reviewer is None
    name_one = "name one: [roles] reviewer"
    yield from _idle("review", review, ("when", *_RISKS, "rounds"), none, "without a reviewer", name_one)
    other = not none and review.when is not When.RISKY
    yield from _idle("review", review, _RISKS, other, f'with when = "{review.when}"', 'write when = "risky"')


def _of_recovery(config: "Config") -> Iterator[Finding]:
    retry, recovery, roles = config.retry, config.recovery, config.roles
    off, on = not recovery.enabled, "write enabled = true in [recovery]"
    without = "with [recovery] enabled = false"
    yield from _idle("roles", roles, [role for role in _ASKED if getattr(roles, role)], off, without, on)
    yield from _idle(
        "recovery", recovery, ("max_strategies", "diagnose_after", "allow_skip", "model_accept"), off, without, on
    )
    yield from _idle("retry", retry, ("reflect",), off and retry.reflect, without, on)
    diagnoser = "name one: [roles] diagnoser"
    undiagnosed = not off and roles.diagnoser is None
    yield from _idle(
        "recovery", recovery, ("diagnose_after", "allow_skip"), undiagnosed, "without a diagnoser", diagnoser
    )
    unplanned = not off and roles.planner is None
    yield from _idle(
        "recovery", recovery, ("model_accept",), unplanned, "without a planner", "name one: [roles] planner"
    )
    never = off or not config.breakdown.enabled
    due = ("after_timeouts", "after_attempts", "files", "lines")
    yield from _idle(
        "breakdown", config.breakdown, due, never, "where nothing is broken down by itself", "write enabled = true"
    )
    one = "write escalation_model, or think = true"
    alone = not retry.ladder and not retry.think and retry.escalation_model in (None, retry.default_model)
    yield from _idle("retry", retry, ("escalate_after_attempts",), alone, "where no stronger model takes over", one)
    beside = "say it in its steps: attempts, think"
    yield from _idle(
        "retry",
        retry,
        ("escalation_model", "escalate_after_attempts", "think"),
        bool(retry.ladder),
        "beside [[retry.ladder]]",
        beside,
    )
    many = [
        place
        for place, rung in enumerate(retry.ladder, 1)
        if rung.parallel > config.run.workers + config.executor.slots
    ]
    if many:
        text = f"of step {many[0]} asks for more workers at once than [run] workers = {config.run.workers}"
        yield Finding("[[retry.ladder]] parallel", text, "Raise workers, or write less.", EXIT_DONE)
    over = (retry.block_after or 0) > retry.max_total_attempts
    yield from _idle("retry", retry, ("block_after",), over, "above max_total_attempts", "write less")


def _of_places(config: "Config", *, boxed: bool) -> Iterator[Finding]:
    project = config.project
    made = ("setup_inputs", "setup_timeout", "setup_env_pass", "setup_sandbox")
    yield from _idle("project", project, made, not project.setup.strip(), "without a setup", "write setup")
    globs = ", ".join(path for path in project.keep if set(path) & set("*?["))
    names = f"for {globs}: it names paths, and no globs"
    yield from _idle(
        "project", project, ("keep",), bool(globs), names, "name the folder itself, such as web/node_modules"
    )
    yield from _idle("sandbox", config.sandbox, ("network", "show", "write", "hide"), not boxed, _UNBOXED, _HAVE_BOX)


_UNBOXED = "without noface's own sandbox"
_HAVE_BOX = "see to it that the sandbox works and is on (docs/safety.md)"


def _of_sandboxes(config: "Config", *, boxed: bool) -> Iterator[Finding]:
    kind = config.sandbox.kind
    for name, model in config.models.items():
        out = not boxed or (model.sandbox or kind) == "none"
        yield from _idle(f"models.{name}", model, ("network",), out, _UNBOXED, _HAVE_BOX)
    for gate in config.gates:
        where, out = f"gate {gate.name}", not boxed or (gate.sandbox or kind) == "none"
        yield from _idle(where, gate, ("network",), out, _UNBOXED, _HAVE_BOX)
        unproven = gate.kind != "test" or not gate.hard or config.run.allow_leaky_gates
        yield from _idle(
            where,
            gate,
            ("canary", "canary_reason"),
            unproven,
            "but for hard test gates that are proven",
            'write kind = "test"',
        )


def _of_roles(config: "Config") -> Iterator[Finding]:
    """Yield what is said of roles that nobody has."""
    for key, by_role in (("tools", config.roles.tools), ("permissions", config.roles.permissions)):
        for role in by_role:
            if not config.roles.models.get(str(role)):
                what, fix = f"does nothing without a {role}", f"Take it out, or name one: [roles] {role}."
                yield Finding(f"[roles] {key}.{role}", what, fix, EXIT_DONE)


def _of_models(config: "Config") -> Iterator[Finding]:
    """Yield the models that nothing uses, and the answers to failures that need a model which nobody has named."""
    ladder = config.retry.models
    tiers = {config.models[name].tier for name in ladder if name in config.models}
    own = (name for name in config.models if name not in presets() and name not in config.models_in_use)
    for name in own:
        if config.models[name].tier not in tiers:  # one of the same tier stands in
            what = "works only where an issue or --model names it: it is no step of the ladder"
            fix = f'Name it in [retry] (escalation_model = "{name}") or [roles], or take it out.'
            yield Finding(f"[models.{name}]", what, fix, EXIT_DONE)
    unresolved = config.roles.resolver is None or not config.recovery.enabled
    asked = [str(kind) for kind, answer in config.retry.strategies.items() if answer is Strategy.RESOLVER]
    if asked and unresolved:
        what = f"{'does' if len(asked) == 1 else 'do'} nothing without a resolver"
        yield Finding(f"[retry.strategies] {', '.join(asked)}", what, "Name one: [roles] resolver.", EXIT_DONE)


def _limits(config: "Config") -> Iterator[Finding]:
    """Yield the limits in dollars and tokens that hold no model whose agent tells neither."""
    silent = [name for name in config.models_in_use if table("agents")[config.models[name].agent].get("tells_nothing")]
    limits = [("[run]", config.run), ("[retry]", config.retry)]
    keys = [f"{where} {key}" for where, part in limits for key in ("max_cost_usd", "max_tokens") if getattr(part, key)]
    keys += [f"[models.{name}] max_cost_usd" for name in silent if config.models[name].max_cost_usd is not None]
    if silent and keys:
        why = "a plain command tells neither cost nor tokens, unless it prints them"
        what = f"does nothing for {', '.join(silent)}: {why}"
        fix = "Set [run] max_iterations or max_hours, which hold it, or have it print its usage (docs/agents.md)."
        yield Finding(", ".join(keys), what, fix, EXIT_DONE)


def _quotas(config: "Config") -> Iterator[Finding]:
    """Yield what is said of providers' windows that no program tells of."""
    telling = [name for name, agent in table("agents").items() if agent.get("tells_quota")]
    told = any(config.models[name].agent in telling for name in config.models_in_use)
    why = f"where no agent tells of a window: only {' and '.join(telling)} do"
    fix = "set max_cost_usd or max_tokens of [run]"
    yield from _idle("budget", config.budget, ("reserve", "overage"), not told, why, fix)
    odd = [name for name in config.budget.reserve if name not in WINDOWS.values() and not name.startswith("week_")]
    if odd and told:
        fix = f"Windows that are known: {', '.join(WINDOWS.values())}, and week_opus for a model's own."
        yield Finding("[budget] reserve", f"names {', '.join(odd)}, which no agent is known to tell of", fix, EXIT_DONE)


ANYONE = "*"
_OF_PULL_REQUESTS = ("draft", "labels", "reviewers", "rounds", "follow_checks", "follow_reviews")
_OF_REMOTE_TRACKERS = ("label", "milestone", "authors", "answers", "notify", "close")
_ASK_FOR_THEM = 'write how = "pull-request"'
_MERGE_HERE = 'write how = "merge"'


def remote_notes(config: "Config") -> Iterator[Finding]:
    """Yield what is worth knowing of the keys of a sound configuration: those that do nothing, and open doors."""
    landing, tracker = config.landing, config.tracker
    asks, elsewhere = landing.by_pull_request, TRACKERS[tracker.kind].remote
    if ANYONE in tracker.authors and elsewhere:
        yield Finding(
            "[tracker] authors",
            '"*" lets anyone who can open an issue write what workers are told to do',
            "Name the people, or leave authors out: those with write access to the repository are allowed.",
            EXIT_DONE,
        )
    wanted, keys = 'write kind = "github"', tuple(type(config.github).model_fields)
    for_either = f'for issues from there {wanted} in [tracker], for pull requests how = "pull-request" in [landing]'
    yield from _idle("landing", landing, _OF_PULL_REQUESTS, not asks, "without pull requests", _ASK_FOR_THEM)
    plain = "beside pull requests, which have one plain commit"
    yield from _idle("landing", landing, ("style",), asks, plain, _MERGE_HERE)
    yield from _idle("tracker", tracker, _OF_REMOTE_TRACKERS, not elsewhere, "without issues on GitHub", wanted)
    yield from _idle("github", config.github, keys, not (elsewhere or asks), "without GitHub", for_either)
