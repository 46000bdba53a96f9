"""Leaves a person their own quota: a login rests once its provider's window has come to the share that is theirs.

What programs tell of a window is known to all workers of the login at once, and to later runs. A login that rests is
met like a provider that is away: its models wait for the window to begin anew, others work meanwhile. Only what
would cost extra is ended under way; an attempt that has begun within the window may end.
"""

import json
from collections.abc import Iterable

from noface.attempt.environment import AttemptProgress
from noface.engine.budget_guard import LiveSpending
from noface.engine.context import RunContext
from noface.engine.jobs import Jobs
from noface.model.quota import Window, counts_for, held_back, login_of, nudged
from noface.model.worker_run import ModelSpec
from noface.recovery.schedule import Breaker
from noface.store.overview import QUOTA, Quota

KEPT = "KEPT_FOR_YOU"
"""The kind of the wait for a window of which the rest is a person's."""


class QuotaGuard:
    """Knows the windows of the run's logins; `live` is what work under way has used."""

    def __init__(self, context: RunContext, jobs: Jobs, live: LiveSpending) -> None:
        self._context, self._jobs, self._live = context, jobs, live
        self._known = {(each.login, each.window): each for each in context.reader.quotas(context.clock.now())}
        self._before_beyond: dict[str, float] = {}

    def begin(self) -> None:
        """Hold logins to what an earlier run has heard, and to what is reserved now; tell of it."""
        context = self._context
        kept = [model for model, breaker in context.reader.waits().items() if breaker.kind == KEPT]
        for model in kept:
            context.journal.wait_over(model)
        for known in self._known.values():
            for spec in self._of_login(known.login):
                self._hold(spec, _window(known), under_way=False)
        if self._known:
            context.announce("quota", None, {"what": [_said(each) for each in self._known.values()]})

    def seen(self, progress: AttemptProgress) -> None:
        """Take what a worker's program has told of its login's windows."""
        job = self._jobs.attempt(progress.issue_id, progress.number)
        spec = self._context.settings.models.get(job.model) if job is not None else None
        if spec is None:
            return
        login, now = login_of(spec), self._context.clock.now()
        for window in progress.quota:
            before = self._known.get((login, window.name))
            told = Quota(login, window.name, round(window.used, 3), window.resets_at, window.beyond, now)
            if before is not None and before[:-1] == told[:-1]:
                continue
            self._known[login, window.name] = told
            if nudged([_window(before)] if before is not None else [], window):
                self._context.log_event("quota_nudge", None, login=login, text=_said(told))
            for each in self._of_login(login):
                self._hold(each, window, under_way=True)
            self._context.journal.fact(QUOTA, json.dumps([each._asdict() for each in self._known.values()]))

    def _hold(self, spec: ModelSpec, window: Window, *, under_way: bool) -> None:
        """Have a model rest if its login's window says so, and end what it does if that would cost extra."""
        context = self._context
        if not counts_for(window, spec):
            return
        now, spent = context.clock.now(), context.spending.of_run(context.run_id).usd + self._live.in_all.usd
        begun = self._before_beyond.setdefault(login_of(spec), spent) if window.beyond else spent
        held = held_back(window, context.settings.reserve, spent - begun, now)
        if held is None:
            return
        until, why = held
        resting = context.reader.waits().get(spec.name)
        if resting is None or resting.until < until:
            context.away_since.setdefault(spec.name, now)
            context.journal.wait(Breaker(spec.name, until, 1, now, KEPT, f"{spec.name}: {why}"))
        for job in self._jobs.paid if under_way and window.beyond else ():
            if job.model == spec.name:
                job.cancel.cancel()

    def _of_login(self, login: str) -> Iterable[ModelSpec]:
        settings = self._context.settings
        in_use = dict.fromkeys((*settings.policy.alternatives, *settings.policy.models))
        specs = (settings.models[name] for name in in_use if name in settings.models)
        return [spec for spec in specs if login_of(spec) == login]


def _window(known: Quota) -> Window:
    model = known.window.partition("week_")[2]
    return Window(known.window, known.used, known.resets_at, model, beyond=known.beyond)


def _said(known: Quota) -> str:
    return f"{known.login}: {known.used:.0%} of its {known.window} window is used"
