"""Leaves a person their own quota: a login rests once its provider's window has come to the share that is theirs.

Its models then wait as for a provider that is away. Only what would cost extra is ended under way.
"""

import json
from collections.abc import Iterable
from dataclasses import replace

from noface.attempt.environment import AttemptProgress
from noface.engine.budget_guard import LiveSpending
from noface.engine.context import RunContext
from noface.engine.jobs import Jobs
from noface.model.listed import Window
from noface.model.quota import Reserve, held_back, login_of
from noface.model.worker_run import ModelSpec
from noface.process.environment import agent_environment
from noface.recovery.schedule import Breaker
from noface.secrets.logins import payer
from noface.store.overview import OVERAGE, QUOTA

KEPT = "KEPT_FOR_YOU"
"""The kind of the wait for a window of which the rest is a person's."""


class QuotaGuard:
    """Knows the windows of the run's logins; `live` is what work under way has used."""

    def __init__(self, context: RunContext, jobs: Jobs, live: LiveSpending) -> None:
        self._context, self._jobs, self._live = context, jobs, live
        self._known = {(each.login, each.name): each for each in context.reader.quotas(context.clock.now())}
        self._before_beyond: dict[str, float] = {}
        self._asked: set[tuple[str, str]] = set()
        self._let = ""

    @property
    def _reserve(self) -> Reserve:
        run, _, usd = self._let.partition(" ")
        reserve = self._context.settings.reserve
        return replace(reserve, beyond_usd=float(usd), ask=False) if run == self._context.run_id else reserve

    def step(self) -> None:
        let = self._context.reader.fact(OVERAGE) or ""
        if let != self._let:
            self._let = let
            self._hold_all()

    def begin(self) -> None:
        """Hold logins to what an earlier run has heard, and to what is reserved now; tell of it."""
        self._hold_all()
        what = [f"{each.login}: {each.used:.0%} of its {each.name} window is used" for each in self._known.values()]
        env, settings, paid = self._context.env, self._context.settings, dict[str, list[str]]()
        for name in (each for each in settings.policy.models if each in settings.models):
            spec = settings.models[name]
            given = dict(agent_environment(env.agents[spec.agent].environment, spec, spec.env))
            if who := payer(spec, given.keys()):
                paid.setdefault(who, []).append(name)
        what += [f"{', '.join(names)}: {who}" for who, names in paid.items()]
        if what:
            self._context.announce("quota", None, {"what": what})

    def _hold_all(self) -> None:
        context = self._context
        for model, breaker in tuple(context.reader.waits().items()):
            if breaker.kind == KEPT:
                context.journal.wait_over(model)
        for known in self._known.values():
            for spec in self._of_login(known.login):
                self._hold(spec, known, under_way=False)

    def seen(self, progress: AttemptProgress) -> None:
        """Take what a worker's program has told of its login's windows."""
        job = self._jobs.attempt(progress.issue_id, progress.number)
        spec = self._context.settings.models.get(job.model) if job is not None else None
        if spec is None:
            return
        login, now = login_of(spec), self._context.clock.now()
        for window in progress.quota:
            before = self._known.get((login, window.name))
            told = window._replace(login=login, used=round(window.used, 3), seen_at=now)
            if before is not None and before == told._replace(seen_at=before.seen_at):
                continue
            self._known[login, window.name] = told
            for each in self._of_login(login):
                self._hold(each, window, under_way=True)
            self._context.journal.fact(QUOTA, json.dumps([each._asdict() for each in self._known.values()]))

    def _hold(self, spec: ModelSpec, window: Window, *, under_way: bool) -> None:
        context = self._context
        if window.model not in (spec.model or spec.name):
            return
        now, spent = context.clock.now(), context.reader.spent_in(context.run_id).usd + self._live.in_all.usd
        begun = self._before_beyond.setdefault(login_of(spec), spent) if window.beyond else spent
        held = held_back(window, self._reserve, spent - begun, now)
        if held is None:
            return
        until, why = held
        asked = login_of(spec), window.name
        if window.beyond and self._reserve.ask and asked not in self._asked:
            self._asked.add(asked)
            context.log_event("overage_asked", None, login=asked[0], text=f"{asked[0]}: {why}")
        resting = context.reader.waits().get(spec.name)
        if resting is None or resting.until < until:
            context.away_since.setdefault(spec.name, now)
            context.journal.wait(Breaker(spec.name, until, 1, now, KEPT, f"{spec.name}: {why}"))
        for job in self._jobs.paid if under_way and window.beyond else ():
            if job.model == spec.name:
                job.cancel.cancel()

    def _of_login(self, login: str) -> Iterable[ModelSpec]:
        policy, models = self._context.settings.policy, self._context.settings.models
        in_use = dict.fromkeys((*policy.alternatives, *policy.models))
        return [models[name] for name in in_use if name in models and login_of(models[name]) == login]
