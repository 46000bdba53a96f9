"""Calls to hosts: a thin layer over dask.distributed, which carries them.

dask repeats nothing here and decides nothing: each order is a task for one worker, with no retries; all else are calls
that a worker's loop answers while tasks run. Imports of dask are lazy, since it comes with the extra `cluster`.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from noface.extras.hosts.parcel import PARCEL_BYTES_MAX, opened
from noface.process.command import Canceller

CALL_S = 5.0
"""How long a host may take to answer."""
_FIRST_CALL_S = 60.0
"""The same for the first call, for which it reads noface's code."""
_PIECE_S = 30.0
PIECE_BYTES = 128 << 10
"""How much of what is long travels at once, a second on a link of 1 Mbit/s: a lease waits for a piece at most."""


_LEFT = "its worker has left"
Going = Callable[[], None]
"""Asked between pieces of what is long; raises HostLost if it is of no use any more."""


class HostLost(Exception):  # noqa: N818 - what it tells is that the host is gone
    """A host does not answer, or not as one. `final`: it will not answer on this connection any more.

    `unfit`: it answers, and cannot do what it is asked for; it could not the next time either.
    """

    def __init__(self, why: str, *, final: bool = False, unfit: bool = False) -> None:
        super().__init__(why)
        self.final, self.unfit = final, unfit


@dataclass(frozen=True, slots=True)
class HostTask:
    """A task of a host's."""

    future: Any

    def done(self) -> bool:
        return bool(self.future.status != "pending")

    def problem(self) -> HostLost | None:
        """Return why it came to nothing, None if it did what it should."""
        status = self.future.status
        if status == "finished":
            return None
        if status != "error":
            return HostLost(f"its task was {status}")
        error = self.future.exception(timeout=CALL_S)
        if type(error).__name__ == "KilledWorker":
            return HostLost("its process has ended, or cannot be reached any more")
        return HostLost(f"{type(error).__name__}: {error}", unfit=raised_there(error))

    def drop(self) -> None:
        self.future.release()


@dataclass(frozen=True, slots=True)
class HostConnection:
    """Workers that answer a `call` of a function of `Host`: the one named `only`, or all of a standing cluster."""

    client: Any
    call: Callable[..., Any]
    only: str = ""
    why_gone: Callable[[], str] = str
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def workers(self) -> dict[str, str]:
        return {str(one["name"]): address for address, one in self._known().items()}

    def free_worker(self, busy: Mapping[str, int]) -> str:
        spare = {str(one["name"]): one["nthreads"] - busy.get(str(one["name"]), 0) for one in self._known().values()}
        best = max(spare, key=spare.__getitem__, default="")
        return best if self.only or spare.get(best, 0) > 0 else ""

    def _known(self) -> dict[str, Any]:
        try:
            # `scheduler_info` may return what the client has asked for meanwhile, which is without workers.
            known = self.client.sync(self.client.scheduler.identity, n_workers=-1, callback_timeout=_PIECE_S)["workers"]
        except Exception as error:  # whatever dask raises while a connection breaks
            raise HostLost(self.why_gone() or _reason(error, _PIECE_S)) from error
        if self.only:
            known = {address: one for address, one in known.items() if one["name"] == self.only}
        if (why := self.why_gone()) or (self.only and not known):
            raise HostLost(why or _LEFT, final=True)
        return dict(known)

    def work(self, parcel: Mapping[str, Any], project: str, token: str, worker: str, going: Going) -> HostTask:
        """Have an order carried out: by a worker, or by the first that is free if that is "". Raises HostLost."""
        if not worker:
            going()
            return self._submitted(parcel, token, None)
        pack, start = parcel["pack"], 0
        while start < len(pack) or not start:
            going()
            with self.one_at_a_time:
                piece = pack[start : start + PIECE_BYTES]
                self._ask(worker, "bring", project, token, start, piece, seconds=_PIECE_S)
            start += PIECE_BYTES
        if (address := self.workers().get(worker)) is None:
            raise HostLost(_LEFT)
        return self._submitted({**parcel, "pack": b""}, token, [address])

    def _submitted(self, parcel: Mapping[str, Any], token: str, only: list[str] | None) -> HostTask:
        return HostTask(
            self.client.submit(
                self.call, "work", parcel, key=f"noface-{token}", workers=only, retries=0, pure=False,
                allow_other_workers=False,
            )
        )  # fmt: skip

    def look(self, tokens: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        return self._ask_all("look", tuple(tokens), PIECE_BYTES)

    def cancel(self, token: str, cancel: Canceller) -> None:
        try:
            self._ask_all("cancel", token, cancel.urgent)
        except HostLost:
            return

    def there(self, project: str, worker: str) -> tuple[str, ...]:
        return tuple(map(str, self._ask(worker, "there", project, seconds=_FIRST_CALL_S)))

    def kept(self, project: str) -> list[tuple[str, str]]:
        answers = self._ask_all("kept", project, seconds=_FIRST_CALL_S)
        return [(worker, str(token)) for worker, answer in answers.items() for token in answer]

    def parcel(self, project: str, token: str, worker: str, going: Going) -> Mapping[str, Any]:
        """Return what came of an order. Raises HostLost if nothing is kept of it, ValueError if it is no parcel."""
        data, size = bytearray(), 1
        while len(data) < size:
            going()
            with self.one_at_a_time:
                answer = self._ask(worker, "fetch", project, token, len(data), PIECE_BYTES, seconds=_PIECE_S)
            if answer is None:
                raise HostLost("nothing is kept there of what it did")
            size, piece = answer
            if not piece or size > PARCEL_BYTES_MAX:
                raise HostLost(f"what it keeps is not whole, or too large ({size} bytes)")
            data += piece
        return opened(bytes(data))

    def forget(self, project: str, token: str, worker: str) -> None:
        try:
            self._ask(worker, "forget", project, (token,))
        except HostLost:
            return

    def _ask(self, worker: str, name: str, *args: object, seconds: float = CALL_S) -> Any:
        if (address := self.workers().get(worker)) is None:
            raise HostLost(_LEFT)
        answer = self._answers([address], name, args, seconds)[0]
        if isinstance(answer, BaseException):
            raise HostLost(_reason(answer, seconds), unfit=raised_there(answer)) from answer
        return answer

    def _ask_all(self, name: str, *args: object, seconds: float = CALL_S) -> dict[str, Any]:
        workers = self.workers()
        answers = dict(zip(workers, self._answers(list(workers.values()), name, args, seconds), strict=True))
        good = {worker: answer for worker, answer in answers.items() if not isinstance(answer, BaseException)}
        if answers and not good:
            raise HostLost(_reason(next(iter(answers.values())), seconds))
        return good

    def _answers(self, addresses: list[str], name: str, args: tuple[object, ...], seconds: float) -> list[Any]:
        async def one(address: str) -> Any:
            call = self.client._run(self.call, name, *args, workers=[address], on_error="return")  # noqa: SLF001 - see below
            answers = await asyncio.wait_for(call, seconds)
            return next(iter(answers.values()), HostLost("it does not answer"))

        async def all_of_them() -> list[Any]:
            return await asyncio.gather(*map(one, addresses), return_exceptions=True)

        try:
            # `Client.run` has no deadline, and waits for the slowest of all.
            return list(self.client.sync(all_of_them))
        except Exception as error:  # whatever dask raises while a connection breaks
            raise HostLost(_reason(error, seconds)) from error


def raised_there(error: BaseException) -> bool:
    carried = isinstance(error, HostLost | ConnectionError | TimeoutError)
    return isinstance(error, Exception) and not carried and getattr(error, "errno", "") is not None


def _reason(error: BaseException, seconds: float) -> str:
    if isinstance(error, HostLost):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"it did not answer within {seconds:.0f} s"
    return f"{type(error).__name__}: {error}"
