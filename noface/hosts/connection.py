"""Calls to a host: a thin layer over dask.distributed, which carries them.

dask repeats nothing here and decides nothing: each order is a task for one host, with no retries; all else are calls
that its worker's loop answers while tasks run. Imports of dask are lazy, since it comes with the extra `cluster`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from noface.process.command import Canceller

CALL_S = 5.0
"""How long a host may take to answer."""
_PARCEL_S = 300.0


class HostLost(Exception):  # noqa: N818 - what it tells is that the host is gone
    """A host does not answer, or not as one; `final`: it will not answer on this connection any more."""

    def __init__(self, why: str, *, final: bool = False) -> None:
        super().__init__(why)
        self.final = final


@dataclass(frozen=True, slots=True)
class HostCalls:
    """What a host answers: functions that home and host both import by name; see `Host` for each."""

    work: Callable[[Mapping[str, Any]], str]
    look: Callable[[Iterable[str]], dict[str, Any]]
    cancel: Callable[[str, bool], None]
    there: Callable[[str], list[str]]
    kept: Callable[[str], list[str]]
    parcel: Callable[[str, str], dict[str, Any] | None]
    forget: Callable[[str, Iterable[str]], None]


@dataclass(frozen=True, slots=True)
class HostTask:
    """A task of a host's."""

    future: Any

    def done(self) -> bool:
        """True once it has ended, however."""
        return bool(self.future.status != "pending")

    def problem(self) -> HostLost | None:
        """Return why it came to nothing, None if it did what it should."""
        status = self.future.status
        if status == "finished":
            return None
        if status != "error":
            return HostLost(f"its task was {status}")
        error = self.future.exception(timeout=CALL_S)
        return HostLost(f"{type(error).__name__}: {error}")

    def drop(self) -> None:
        """Have nothing more to do with it; it goes on where it is."""
        self.future.release()


@dataclass(frozen=True, slots=True)
class HostConnection:
    """A host that answers, or with `worker` "" all those of a standing cluster, which are one place.

    `worker` is what dask calls the host; `why_gone` says why it will not answer any more, "" while it may.
    """

    client: Any
    calls: HostCalls
    worker: str = ""
    why_gone: Callable[[], str] = str

    def work(self, parcel: Mapping[str, Any], token: str) -> HostTask:
        """Have an order carried out. Raises HostLost."""
        only = [self.worker] if self.worker else None
        return HostTask(
            self.client.submit(
                self.calls.work, parcel, key=f"noface-{token}", workers=only, retries=0, pure=False,
                allow_other_workers=False,
            )
        )  # fmt: skip

    def look(self, tokens: Iterable[str]) -> dict[str, Any]:
        """Renew leases, and return what is new of each attempt. Raises HostLost."""
        return {token: new for news in self._ask(self.calls.look, tuple(tokens)) for token, new in news.items()}

    def cancel(self, token: str, cancel: Canceller) -> None:
        """Pass a cancel on, as well as can be: what is cut off ends by its lease."""
        try:
            self._ask(self.calls.cancel, token, cancel.urgent)
        except HostLost:
            return

    def there(self, project: str) -> tuple[str, ...]:
        """Return commits that need not be sent: those that all have. Raises HostLost."""
        answers = [set(answer) for answer in self._ask(self.calls.there, project)]
        return tuple(set.intersection(*answers)) if answers else ()

    def kept(self, project: str) -> tuple[str, ...]:
        """Return the tokens of what is kept for home. Raises HostLost."""
        return tuple(token for answer in self._ask(self.calls.kept, project) for token in answer)

    def parcel(self, project: str, token: str) -> Mapping[str, Any]:
        """Return what came of an order. Raises HostLost, also if nothing is kept of it."""
        answers = self._ask(self.calls.parcel, project, token, seconds=_PARCEL_S)
        parcel: Mapping[str, Any] | None = next((answer for answer in answers if answer is not None), None)
        if parcel is None:
            raise HostLost("nothing is kept there of what it did")
        return parcel

    def forget(self, project: str, tokens: tuple[str, ...]) -> None:
        """Have removed what has been taken in, as well as can be: what stays is offered again."""
        try:
            self._ask(self.calls.forget, project, tokens)
        except HostLost:
            return

    def _ask(self, function: Callable[..., Any], *args: object, seconds: float = CALL_S) -> list[Any]:
        """Return what the hosts answer to a call; those that do not are passed over if others do. Raises HostLost."""
        known = self.client.scheduler_info(n_workers=-1)["workers"]
        workers = [address for address, one in known.items() if one["name"] == self.worker or not self.worker]
        if (why := self.why_gone()) or (self.worker and not workers):
            raise HostLost(why or "its worker has left", final=True)
        try:
            answers = self.client.sync(
                self.client._run,  # noqa: SLF001 - `run` has no deadline
                function,
                *args,
                workers=workers,
                on_error="return",
                callback_timeout=seconds,
            )
        except Exception as error:  # whatever dask raises while a connection breaks
            raise HostLost(f"{type(error).__name__}: {error}") from error
        failed = [answer for answer in answers.values() if isinstance(answer, BaseException)]
        if failed and len(failed) == len(answers):
            raise HostLost(f"{type(failed[0]).__name__}: {failed[0]}")
        return [answer for answer in answers.values() if not isinstance(answer, BaseException)]
