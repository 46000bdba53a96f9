"""What a run and its checks have of this folder: one object, made of `[notify]`."""

import os
import shlex
from dataclasses import replace
from pathlib import Path

from noface.config.sections import Config
from noface.engine.context import RunContext
from noface.engine.parts import Elsewhere, RunParts
from noface.engine.stations import Station
from noface.errors import UsageError
from noface.extras.notify.answers import PhoneListener
from noface.extras.notify.outbox import Outbox
from noface.extras.notify.services import secrets_in, services


class Notifier:
    """Who is told of a run, and heard. `urls` are the services to which messages go, `heard` those of answers."""

    def __init__(self, config: Config, root: Path) -> None:
        self._config = config.notify
        self.urls = services(config.notify.urls, os.environ)
        self.heard = services(config.notify.answers, os.environ, heard=True)
        self._outbox: Outbox | None = None
        try:
            words = shlex.split(config.notify.on_event)
        except ValueError as error:
            raise UsageError(f"[notify] on_event is no shell command: {error}", "Look at its quotes.") from None
        for word in words:
            path = Path(root, Path(word).expanduser())
            if path.is_file() and path.resolve().is_relative_to(root.resolve()):
                raise UsageError(
                    f"[notify] on_event runs {path}, outside the sandbox, and agents change the repository's files",
                    "Keep it elsewhere, such as in ~/bin.",
                )

    @property
    def secrets(self) -> tuple[tuple[str, str], ...]:
        return secrets_in((*self.urls, *self.heard))

    def beside(self, others: Elsewhere, context: RunContext) -> Elsewhere:
        """Return what a run does with other machines, and with those who are told of it."""
        hours, on_event = self._config.quiet_hours, self._config.on_event
        outbox = self._outbox = Outbox(context, hours, self.urls, self.heard, on_event)

        def stations(run: RunParts) -> tuple[Station, ...]:
            return (outbox, PhoneListener(run, outbox), *others.stations(run))

        return replace(others, stations=stations)

    def last_words(self) -> None:
        if self._outbox is not None:
            self._outbox.last_words()
