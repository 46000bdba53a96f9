"""Providers that are away for a while, and come back."""

from dataclasses import replace

from noface.selftest.catalogue.family import family, helpless, shown
from noface.selftest.scenario import By, Outage, Scenario, Step

_PLAIN = Step("written", By.SAID, says="")
"""A step that the worker always masters."""
_THREE = (shown("pytest"), shown("unittest", "next"), shown("go_test", "last"))
"""Steps that take four attempts, which a lost attempt would make too many."""
OWN = "own"
"""Stands for a model of the scenario's own, so that its outage does not hold up the others."""


def _away(carries: str, outage: Outage, *steps: Step) -> Scenario:
    return Scenario(carries, steps or (_PLAIN,), model=OWN, no_escalate=True, priority=0, outage=outage)


def _stand_in(form: str) -> Scenario:
    outage = Outage(form, window_s=3600.0, spared=("south",))
    return Scenario("another model of the same tier", (_PLAIN,), model="north", priority=0, outage=outage)


def _gone(outage: Outage) -> Scenario:
    return helpless("it never comes back", outage=outage, model=OWN, no_escalate=True, priority=0, runs_max=4)


RATE_LIMITED = family(
    "RATE_LIMITED",
    _away("the wait for the reset that was announced", Outage("limit_event", window_s=1.0)),
    _away("the wait for the reset that was told in words", Outage("limit_words", window_s=1.0)),
    _stand_in("limit_event"),
    _away("two waits", Outage("limit_event", window_s=0.5, times=2)),
    _away("a budget that the limit did not spend", Outage("limit_event", window_s=0.5, times=2), *_THREE),
    _gone(Outage("limit_words", window_s=0.2, times=99)),
)

OVERLOADED = family(
    "OVERLOADED",
    _away("one more try", Outage("overloaded", calls=1)),
    _stand_in("overloaded"),
    _away("three more tries", Outage("server_error", calls=3)),
    _away("the wait that it asked for", Outage("busy_words", window_s=1.0)),
    _away("a budget that the overload did not spend", Outage("unavailable", calls=2), *_THREE),
    _gone(Outage("overloaded")),
)

NETWORK = family(
    "NETWORK",
    _away("one more try", Outage("refused", calls=1)),
    _stand_in("reset"),
    _away("three more tries", Outage("no_name", calls=3)),
    _away("that it hung on its provider, and not on its work", Outage("retries_for_ever", calls=1)),
    _away("a budget that the network did not spend", Outage("reset", calls=2), *_THREE),
    _gone(Outage("refused")),
)


_MODELS = 2
"""Each model of the ladder may be tried once; here none of them can be used."""


def _at_once(kind: str, *forms: str) -> tuple[Scenario, ...]:
    steps = (replace(_PLAIN, form="pytest"),)
    return family(
        kind,
        *(
            Scenario(
                f"a person must help ({form.replace('_', ' ')})",
                steps,
                outage=Outage(form),
                hopeless=True,
                runs_max=_MODELS,
            )
            for form in forms
        ),
    )


AUTH = _at_once("AUTH", "no_key", "bad_key", "forbidden", "no_credit", "expired")
MISCONFIGURED = _at_once("MISCONFIGURED", "no_model", "model_gone", "bad_flag", "as_root", "bad_settings")
ENVIRONMENT = family(
    "ENVIRONMENT",
    *(
        helpless(f"a person must help ({form.replace('_', ' ')})", Step("never", form=form), tool=tool, runs_max=1)
        for form, tool in (
            ("disk_full", "desk"),
            ("database_away", "desk"),
            ("docker_away", "desk"),
            ("module_missing", "desk"),
            ("registry_away", "npm ci"),
        )
    ),
)
