"""The git remote: which one, what it holds, fetching from it and pushing to it.

The only git of noface's that talks to other machines, so the only one that acts with the person's own configuration on
its own account: their credential helpers, ssh keys, proxies and rewritten addresses are how the remote is reached. It
runs in the person's repository, whose configuration no agent can write (law 4); an agent's workspace has no remote.

* Nothing is asked: no terminal, no askpass program, no window. What cannot be done without is told (remote_causes.py).
* No hook runs, also no `pre-push`: what is pushed was proven by the gates.
* A fetch writes below `refs/noface/` only: no branch of the person's, no remote-tracking ref, no tag, no FETCH_HEAD.
* A push is a compare-and-swap: it names what the ref must hold now. One that was done already is no failure.
* A token for GitHub, if one is at hand, is used after the person's own credentials were refused. It goes to git by
  the environment: never by arguments, which every user of the machine can read.
"""

import base64
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from signal import SIGKILL
from urllib.parse import urlsplit

from noface.errors import RemoteError, UsageError
from noface.git.command import Git, Output, end_process
from noface.git.refs import FETCHED, HEADS, Vet, unseen
from noface.git.remote_causes import RemoteCause, RemoteReason, reason_of, server_words, without_credentials
from noface.git.repository import Repository, settings_of
from noface.process.command import Canceller

LOOK_SECONDS_MAX = 30.0
"""How long a remote may take to say what it holds."""
TRANSFER_SECONDS_MAX = 900.0
"""How long a fetch or a push may take."""

Token = Callable[[str], str | None]
"""Returns the token for a host, None if there is none; asked only once the person's credentials were refused."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The remote did not take a push. `server_words` is what the server itself answered, "" if nothing."""

    reason: RemoteReason
    server_words: str = ""

    @property
    def moved(self) -> bool:
        """True if the ref did not hold what was expected: somebody else has pushed."""
        return self.reason.cause is RemoteCause.MOVED


RemoteRefs = tuple[Mapping[str, str], str]
"""What a remote holds, as far as was asked: refs, and the branch that its HEAD names, "" if that is unknown."""


# Which remote


def choose_remote(wanted: str, remotes: Sequence[str], upstream: str) -> str | None:
    """Return the name of the remote wanted, else main's, else origin, else the only one. Raises UsageError."""
    if wanted:
        if wanted in remotes:
            return wanted
        known = ", ".join(remotes) or "none"
        raise UsageError(
            f"[landing] remote = {wanted!r}: there is no such git remote.",
            f"Remotes here: {known}. Add it: `git remote add {wanted} URL`.",
        )
    if upstream in remotes:
        return upstream
    if "origin" in remotes:
        return "origin"
    return remotes[0] if len(remotes) == 1 else None


def find_remote(repository: Repository, wanted: str = "", token: Token | None = None) -> "Remote | None":
    """Return the remote of a repository, None if it has none. Nothing is connected to. Raises as choose_remote."""
    git = Git.user(str(repository.root))
    config, remotes = settings_of(git), tuple(git.run("remote").text.split())
    branch = repository.main_name
    upstream = config.get(f"branch.{branch}.remote", "")
    name = choose_remote(wanted, remotes, upstream)
    if name is None:
        return None
    tracked = config.get(f"branch.{branch}.merge", "") if upstream == name else ""
    url = git.run("ls-remote", "--get-url", name).text
    pushed = git.run("remote", "get-url", "--push", name).text
    return Remote(repository, name, url, tracked or repository.main, pushed or url, token)


class Remote:
    """A repository's remote. Its methods wait for the network, up to a limit; threads may share it.

    `main` is its main branch, `fetched` the ref here that holds it. `url` may hold a password; `address` is for people.
    """

    def __init__(
        self, repository: Repository, name: str, url: str, main: str, push_url: str = "", token: Token | None = None
    ) -> None:
        self.name = name
        self.url = url
        self.push_url = push_url or url
        self.main = main
        self.fetched = FETCHED + main.removeprefix("refs/heads/")
        self._repository = repository
        self._token = token
        self._header: tuple[tuple[str, str], ...] = ()
        self._fetching = threading.RLock()
        self.vet: Vet = unseen

    @property
    def address(self) -> str:
        """The remote's address without a password."""
        return without_credentials(self.url)

    @property
    def main_name(self) -> str:
        return f"{self.name}/{self.main.removeprefix('refs/heads/')}"

    def read(self, *patterns: str, cancel: Canceller | None = None) -> RemoteRefs:
        """Return the remote's refs of these patterns, and its HEAD's branch. Raises RemoteError."""
        options = ("-c", f"remote.{self.name}.followRemoteHEAD=never")
        asked = (*options, "ls-remote", "--quiet", "--symref", self.name, "HEAD", *patterns)
        refs, head = {}, ""
        for line in self._reach(asked, LOOK_SECONDS_MAX, cancel).text.splitlines():
            value, _, ref = line.partition("\t")
            if value.startswith("ref: "):
                head = value.removeprefix("ref: ") if ref == "HEAD" else head
            elif ref != "HEAD" or "HEAD" in patterns:
                refs[ref] = value
        return refs, head

    def fetch(self, *refspecs: str, cancel: Canceller | None = None) -> None:
        """Fetch into refs below `refs/noface/`. Raises RemoteError."""
        # FETCH_HEAD is the person's, who may be about to merge it; nor are their refs/remotes to move (law 3).
        quiet = ("--quiet", "--no-write-fetch-head", "--refmap=", "--no-tags", "--no-prune", "--no-prune-tags")
        options = (*quiet, "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-commit-graph")
        # From git 2.48 on a fetch sets refs/remotes/NAME/HEAD, which is the person's (law 3).
        follow = ("-c", f"remote.{self.name}.followRemoteHEAD=never")
        with self._fetching:  # of two at once that update a ref the second would fail, since it is not as it was
            self._reach((*follow, "fetch", *options, self.name, *refspecs), TRANSFER_SECONDS_MAX, cancel)

    def fetch_main(self, cancel: Canceller | None = None) -> RemoteRefs:
        """Bring `fetched` up to the remote's main, if there is such a branch and it has moved. Raises RemoteError."""
        with self._fetching:
            held = self.read(self.main, cancel=cancel)
            commit = held[0].get(self.main)
            here = self._repository.git().run("rev-parse", "--verify", "--quiet", self.fetched).text
            if commit not in (None, here):
                for other in self._repository.git().ask("for-each-ref", "--format=%(refname)", FETCHED).split():
                    if other != self.fetched:  # a former main counts no more, and `a` and `a/b` cannot both be refs
                        self._repository.git().run("update-ref", "-d", other)
                self.fetch(f"+{self.main}:{self.fetched}", cancel=cancel)
        return held

    def push(
        self,
        commit: str,
        ref: str,
        expected: str,
        cancel: Canceller | None = None,
        *,
        dry_run: bool = False,
        seconds_max: float = TRANSFER_SECONDS_MAX,
    ) -> Rejected | None:
        """Make a ref of the remote's hold `commit` ("": nothing) if it holds `expected` ("": nothing) now.

        None if the ref holds the commit now; it may have held it before. Raises RemoteError, also if the commit may not
        leave this machine. With `dry_run` nothing is sent: a login that is refused shows, what the rules there refuse
        does not.
        """
        if commit and ref.startswith(HEADS) and (why := self.vet(commit)):
            raise RemoteError(f"{ref.removeprefix(HEADS)} is not pushed: {why}")
        options = ("--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed")
        # A compare-and-swap at the remote; nothing behind the colon: there must be no such ref.
        options = (*options, f"--force-with-lease={ref}:{expected}", *(("--dry-run",) if dry_run else ()))
        output = self._run(("push", *options, self.name, f"{commit}:{ref}"), seconds_max, cancel)
        for line in output.text.splitlines():
            flag, _, rest = line.partition("\t")
            spec, _, summary = rest.partition("\t")
            if len(flag) == 1 and spec.partition(":")[2] == ref:
                return _rejected(summary, output.stderr) if flag == "!" else None
        raise self._failed("pushed to", output)

    # How git is run

    def _reach(self, args: tuple[str, ...], seconds_max: float, cancel: Canceller | None) -> Output:
        output = self._run(args, seconds_max, cancel)
        if output.code != 0:
            raise self._failed("reached", output)
        return output

    def _failed(self, what: str, output: Output) -> RemoteError:
        reason = reason_of(output.stderr or output.text)
        message = f"{self.name} ({self.address}) cannot be {what}: {reason.line}"
        return RemoteError(message, reason.advice, passing=reason.cause.passing, cause=reason.cause.value)

    def _run(self, args: tuple[str, ...], seconds_max: float, cancel: Canceller | None) -> Output:
        """Run git with the person's credentials; if those are refused, once more with the token at hand."""
        output = self._execute(args, seconds_max, cancel)
        refused = (RemoteCause.AUTH, RemoteCause.NOT_FOUND, RemoteCause.PERMISSION)
        if output.code == 0 or self._header or reason_of(output.stderr).cause not in refused:
            return output
        self._header = self._authorization()
        if self._header:
            output = self._execute(args, seconds_max, cancel)
            self._header = self._header if output.code == 0 else ()
        return output

    def _authorization(self) -> tuple[tuple[str, str], ...]:
        """Return the settings by which git uses the token; none without one, or if others could read it underway."""
        parts = urlsplit(self.push_url)
        encrypted = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
        token = self._token(parts.hostname) if self._token is not None and encrypted and parts.hostname else None
        if not token:
            return ()
        port = f":{parts.port}" if parts.port is not None else ""
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        key = f"http.{parts.scheme}://{parts.hostname}{port}/.extraHeader"
        # An empty value takes back what the configuration says of the key before.
        return (("credential.helper", ""), (key, ""), (key, f"Authorization: Basic {basic}"))

    def _execute(self, args: tuple[str, ...], seconds_max: float, cancel: Canceller | None) -> Output:
        git = Git.user(str(self._repository.root))
        ssh_command = git.run("config", "--get", "core.sshCommand").text
        variables = (*git.environment, *environment(os.environ, ssh_command, self._header))
        if args[0] == "push":  # a claim's commit is held by nothing here
            variables += tuple(self._repository.object_variables.items())
        options = (*git.options, "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", _FSYNC)
        git = replace(git, environment=variables, options=options)
        return run_within(git, args, seconds_max, cancel)


_HERE = ("127.0.0.1", "::1", "localhost")
_FSYNC = "core.fsync=committed,loose-object,reference"
_KEPT = re.compile(
    r"GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|PROXY_\w+|HTTP_\w+|ALLOW_PROTOCOL|CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+))"
)
"""How a person reaches the remote, if their environment says so."""


def environment(
    present: Mapping[str, str], ssh_command: str = "", settings: Sequence[tuple[str, str]] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the variables with which git reaches a remote and asks nobody; `settings` are further git settings.

    `ssh_command` is what the configuration says to run for ssh. A program that is not OpenSSH keeps its arguments.
    """
    kept = {name: value for name, value in present.items() if _KEPT.fullmatch(name)}
    command = kept.get("GIT_SSH_COMMAND") or ssh_command or ("" if kept.get("GIT_SSH") else "ssh")
    if command and command.split()[0].rpartition("/")[2] == "ssh":
        # Else ssh asks the terminal for a passphrase, or whether it knows the host, and a run waits for nobody.
        kept["GIT_SSH_COMMAND"] = f"{command} -oBatchMode=yes"
    given = kept.get("GIT_CONFIG_COUNT", "")
    count = int(given) if given.isdecimal() else 0
    for number, (key, value) in enumerate(settings, count):
        kept[f"GIT_CONFIG_KEY_{number}"], kept[f"GIT_CONFIG_VALUE_{number}"] = key, value
    if settings:
        kept["GIT_CONFIG_COUNT"] = str(count + len(settings))
    quiet = {"GIT_ASKPASS": "", "SSH_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never", "GCM_INTERACTIVE": "never"}
    return tuple((kept | quiet).items())


_LOOK_AGAIN_S = 0.2


def run_within(git: Git, args: Sequence[str], seconds_max: float, cancel: Canceller | None = None) -> Output:
    """Run a git command; after `seconds_max`, or once `cancel` says so, end it with all it has started."""
    process, ended = git.open(*args), False
    deadline = time.monotonic() + seconds_max
    try:
        while True:
            try:
                out, err = process.communicate(timeout=_LOOK_AGAIN_S)
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    return Output(-SIGKILL, b"", f"git took longer than {seconds_max:g} s")
                if cancel is not None and cancel.cancelled:
                    return Output(-SIGKILL, b"", "it was interrupted")
            else:
                ended = True
                return Output(process.returncode, out, err.decode("utf-8", "replace"))
    finally:
        if not ended:  # git itself may be gone, and what it has started hold its pipes
            with suppress(ProcessLookupError):
                os.killpg(process.pid, SIGKILL)  # it has a session of its own
            end_process(process)


def _rejected(summary: str, stderr: str) -> Rejected:
    # What git says of this ref comes first if it tells the cause: a hook's words may be about another.
    words, own = server_words(stderr), reason_of(summary)
    if own.cause in (RemoteCause.HOOK, RemoteCause.PROTECTED, RemoteCause.UNKNOWN) and words:
        server = reason_of(words)
        return Rejected(server if server.cause is not RemoteCause.UNKNOWN else own, words)
    return Rejected(own, words)
