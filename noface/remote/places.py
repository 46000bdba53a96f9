"""Where this machine keeps a project: folders of which nobody elsewhere is to read."""

import os

from noface.attempt.environment import AttemptEnvironment


def machine_places(env: AttemptEnvironment) -> dict[str, str]:
    """Return the folders of this machine with what is said instead of each, the longest first.

    A folder has each name that leads to it: a home may be a link, and tools tell where it really lies.
    """
    repository = env.plumbing.repository
    named = {
        str(env.slots_dir): "<workspaces>",
        str(repository.state_dir): "<state>",
        str(repository.common_dir): "<git>",
        str(repository.root): ".",
        os.path.expanduser("~"): "~",  # noqa: PTH111 - Path raises where there is no home
    }
    real = {os.path.realpath(place): name for place, name in named.items()}
    places = {place.rstrip("/"): name for place, name in {**real, **named}.items()}
    return dict(sorted(((place, name) for place, name in places.items() if len(place) > 1), key=_longest))


def clean(env: AttemptEnvironment, text: str) -> str:
    """Take secrets out of a text, and the folders of this machine."""
    text = env.masker.text(text)
    for place, name in machine_places(env).items():
        text = text.replace(place, name)
    return text


def _longest(item: tuple[str, str]) -> int:
    return -len(item[0])
