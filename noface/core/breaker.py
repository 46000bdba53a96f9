"""A circuit breaker for each model (N1): one wait shared by every issue that would run it, half-open probes after it.

Closed (no breaker at all): everybody works. Open: nobody starts before `until`. Half-open, once `until` has passed:
one attempt probes whether the provider answers; the first sign of life closes the breaker. Failures that belong to one
incident, because the attempts had begun before it was noticed, count once.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Breaker:
    """The state of a model whose provider has failed and not answered since. Times in epoch seconds."""

    model: str
    until: float
    failures: int
    since: float
    kind: str
    reason: str

    def open(self, now: float) -> bool:
        """Tell whether nobody may start with the model."""
        return now < self.until


@dataclass(frozen=True, slots=True)
class BreakerRules:
    """After `after` incidents in a row a model rests at least `wait_s` seconds."""

    after: int = 5
    wait_s: float = 600.0


def tripped(
    before: Breaker | None,
    model: str,
    *,
    started_at: float,
    now: float,
    until: float,
    kind: str,
    reason: str,
    rules: BreakerRules,
) -> Breaker:
    """Return the breaker after a transient failure of an attempt that began at `started_at`.

    `until` is what the policy asks to wait. A longer wait that is known already stands.
    """
    if before is not None and started_at < before.since:
        return before if before.until >= until else Breaker(model, until, before.failures, before.since, kind, reason)
    failures = (before.failures if before is not None else 0) + 1
    if before is not None and before.until > until:
        until, kind, reason = before.until, before.kind, before.reason
    if failures >= rules.after and until < now + rules.wait_s:
        until = now + rules.wait_s
        reason = f"{reason}; {failures} failures in a row, its circuit breaker is open"
    return Breaker(model, until, failures, now, kind, reason)
