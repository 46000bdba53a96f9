"""What `noface doctor` says of the hosts of `[executor]`."""

from concurrent.futures import ThreadPoolExecutor

from noface.config.sections import Config
from noface.data import table
from noface.errors import EXIT_USAGE, NofaceError
from noface.extras.hosts.certificates import TlsIdentity
from noface.extras.hosts.dask_settings import check_installed
from noface.extras.hosts.ssh import SshHost
from noface.ui.doctor import Point, State
from noface.ui.text import count, size


def host_points(config: Config) -> tuple[Point, ...]:
    """Say what each host has for attempts, and what it lacks; all are asked at once."""
    programs = {name for name, agent in table("agents").items() if "install" in agent}
    agents = programs & {config.models[name].agent for name in config.models_in_use}

    def no_member() -> tuple[int, TlsIdentity]:
        raise AssertionError("it is only greeted")

    def look(name: str) -> Point:
        host = SshHost(name, no_member, command=f"{config.executor.command} tools worker --over-ssh")
        try:
            there = host.greet()
        except NofaceError as error:
            return Point(f"host {name}", State.BAD, error.message, error.hint)
        has = f"{count(there.cores, 'core')}, {size(there.disk_free_bytes)} free; sandbox: {there.sandbox}"
        if missing := sorted(agents - set(there.agents)):
            text = f"{has}; of the agents in use it lacks {', '.join(missing)}"
            return Point(f"host {name}", State.BAD, text, f"Install them on {name}, and log them in there.")
        return Point(f"host {name}", State.OK, has)

    try:
        check_installed()
    except NofaceError as error:
        return (Point("hosts", State.BAD, error.message, error.hint, EXIT_USAGE),)
    with ThreadPoolExecutor(len(config.executor.hosts)) as threads:
        return tuple(threads.map(look, config.executor.hosts))
