"""What the catalogue's modules are written with: short names for the steps that come again and again."""

from dataclasses import replace

from noface.selftest.scenario import By, Scenario, Step, Wrong

NEVER = Step("never", shown=False)
"""A step that nothing helps with."""


def family(kind: str, *members: Scenario) -> tuple[Scenario, ...]:
    """Return the scenarios of a kind, numbered from 1; `{id}` in their texts becomes the id."""
    name = kind.lower().replace("_", "-")
    return tuple(_named(member, kind, member.id or f"{name}-{number}") for number, member in enumerate(members, 1))


def _named(member: Scenario, kind: str, own_id: str) -> Scenario:
    return replace(
        member,
        id=own_id,
        kind=kind,
        paths=tuple(path.replace("{id}", own_id) for path in member.paths),
        steps=tuple(replace(step, says=step.says.replace("{id}", own_id)) for step in member.steps),
        files=tuple((_plain(path, own_id), text.replace("{id}", own_id)) for path, text in member.files),
        advice=tuple(replace(one, answer=one.answer.replace("{id}", own_id)) for one in member.advice),
    )


def _plain(path: str, own_id: str) -> str:
    return path.replace("{id}", own_id).replace("{name}", own_id.replace("-", "_"))


def shown(form: str, label: str = "code") -> Step:
    """Return the step whose secret the gate itself prints."""
    return Step(label, form=form, shown=True)


def elsewhere(form: str, label: str = "code", wrong: Wrong = Wrong.GUESS) -> Step:
    """Return the step whose secret stands somewhere else than in the gate's output."""
    return Step(label, wrong=wrong, form=form)


def stronger(form: str, wrong: Wrong = Wrong.GUESS, words: str = "") -> Step:
    """Return the step that only the stronger model can do."""
    return Step("strength", By.STRENGTH, wrong, form, words=words)


def thinking(form: str, wrong: Wrong = Wrong.GUESS, words: str = "") -> Step:
    """Return the step that takes extended thinking."""
    return Step("thoughtful", By.THINKING, wrong, form, words=words)


def heeds(pattern: str, wrong: Wrong, words: str = "") -> Step:
    """Return the step that is done once the prompt says what the pattern finds."""
    return Step("heeded", By.SAID, wrong, says=pattern, words=words)


def fails(wrong: Wrong, words: str = "", by: By = By.TOLD, label: str = "code") -> Step:
    """Return the step that goes wrong before any gate can look; `words` may hold the secret."""
    return Step(label, by, wrong, words=words)


def halfway(wrong: Wrong, words: str = "", form: str = "pytest") -> Step:
    """Return the step that breaks off with half of the work done: what was drafted has to be built upon."""
    return Step("draft", By.DRAFT, wrong, form, words=words, drafts=True)


def helpless(carries: str, *steps: Step, **more: object) -> Scenario:
    """Return a scenario that nothing can help: it must end blocked within the limits."""
    every = steps if any(step.label == "never" for step in steps) else (*steps, NEVER)
    return replace(Scenario(carries, every), hopeless=True, **more)  # type: ignore[arg-type]
