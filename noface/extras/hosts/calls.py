"""Hosts: what a run gives them, and what this machine does as one. dask finds `call` by its name."""

import hashlib
import json
import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from noface.attempt.environment import AttemptEnvironment, Send
from noface.attempt.run import LocalExecutor
from noface.cli.wiring import allotments, attempt_environment, bubblewrap_for
from noface.config.sections import Config
from noface.engine.context import RunSettings
from noface.errors import UsageError
from noface.extras.hosts.dask_settings import check_installed
from noface.extras.hosts.host import Host
from noface.extras.hosts.parcel import ProjectParcel
from noface.extras.hosts.worker import HOST_FOLDER, HOST_KEY, host_folder
from noface.git.plumbing import Plumbing
from noface.git.repository import Repository
from noface.process.supervise import Launcher


@cache
def host() -> Host:
    return Host(Path(os.environ.get(HOST_FOLDER) or host_folder()) / "projects", host_environment)


def call(name: str, *values: Any) -> Any:
    """Have this machine, as a host, do what another one asks of it: `name` is a function of `Host`."""
    return getattr(host(), name)(*values)


def project_parcel(config: Config, repository: Repository) -> ProjectParcel:
    """Return the project as hosts have to know it; no variable of a model is in it."""
    content = config.model_dump(mode="json")
    content["run"]["slots_dir"] = ""
    content["notify"] = {}  # home tells, and its addresses are secrets
    for model in content["models"].values():
        model["env"] = {}
    place = f"{socket.gethostname()}:{repository.common_dir}"
    return ProjectParcel(
        id=hashlib.sha256(os.fsencode(place)).hexdigest()[:16],
        name=repository.root.name,
        main=repository.main,
        config=json.dumps(content),
        identity=repository.identity,
        object_format=repository.object_format,
        excludes=repository.excludes,
    )


def host_environment(config: str, repository: Repository) -> AttemptEnvironment:
    """Return what attempts for another machine work with here. Raises UsageError as `bubblewrap_for`."""
    content = Config.model_validate_json(config)
    namespaces, memory = content.sandbox.processes == "auto", content.limits.memory_max
    launcher = Launcher(namespaces=namespaces, memory_max_bytes=memory)
    env = attempt_environment(content, repository, launcher, bubblewrap_for(content))
    # What it keeps for others, too: they are other people's projects.
    private = filter(None, (os.environ.get(HOST_FOLDER), os.environ.get(HOST_KEY)))
    sandbox = replace(env.sandbox, hide=(*env.sandbox.hide, *map(os.path.realpath, private)))
    return replace(env, sandbox=sandbox, allotments=allotments(repository))


@contextmanager
def executor(
    config: Config, repository: Repository, chosen: RunSettings, env: AttemptEnvironment, send: Send
) -> Iterator[LocalExecutor]:
    """Yield what carries attempts out on this machine and on the hosts of `[executor]`; it connects meanwhile."""
    rules = config.executor
    check_installed()
    _check_fit_for_hosts(env.plumbing)
    from noface.extras.hosts.cluster import Cluster
    from noface.extras.hosts.ways import Scheduler, SshWay, StandingWay

    with closing(Scheduler(repository.state_dir / "hosts.log")) as scheduler:
        ssh = (SshWay(name, scheduler, call, rules.attempts, rules.command) for name in rules.hosts)
        standing = (StandingWay(rules.address, rules.certificates, call),)
        ways = (*ssh, *(standing if rules.address else ()))
        parcel = project_parcel(config, repository)
        with closing(Cluster(chosen.workers, ways, rules.attempts, parcel, env.plumbing, send)) as cluster:
            cluster.start()
            yield cluster


def _check_fit_for_hosts(plumbing: Plumbing) -> None:
    if plumbing.repository.shallow:
        raise UsageError(
            "[executor]: this clone is shallow, and hosts need what is left out of it.",
            "Fetch the rest: `git fetch --unshallow`.",
        )
    if plumbing.has_links(plumbing.main()):
        raise UsageError(
            "[executor]: this repository has submodules, which hosts are not given.",
            "Leave `hosts` and `address` out: its attempts are carried out here.",
        )
