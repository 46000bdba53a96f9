"""Why a host could not be reached, and what to do, from how ssh ended and its last words. Pure."""

from collections.abc import Sequence

from noface.errors import HostError

_SSH_FAILED = 255
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
_SIGNALLED = 128


_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "remote host identification has changed",
        "{host} shows another key than the one known here",
        "Find out why before you trust it; `ssh-keygen -R` with its name forgets the old one.",
    ),
    (
        "host key verification failed",
        "the key of {host} is not known here",
        "Run `ssh {host}` once, compare the key that it shows, and accept it.",
    ),
    (
        "permission denied",
        "{host} does not accept your login",
        "noface answers no question: `ssh -o BatchMode=yes {host} true` has to work (ssh-copy-id, ssh-agent).",
    ),
    ("could not resolve hostname", "the name of {host} is not known", "Check [executor] hosts and ~/.ssh/config."),
    ("connection refused", "no ssh server answers at {host}", "Start sshd there, or name its port in ~/.ssh/config."),
    ("no route to host", "{host} cannot be reached", "Is it on, and on this network?"),
    ("not responding", "the connection to {host} was cut", "Nothing to do: what it was working on goes elsewhere."),
    ("timed out", "{host} cannot be reached", "Is it on, and on this network?"),
    ("broken pipe", "the connection to {host} was cut", "Nothing to do: what it was working on goes elsewhere."),
)
"""A word of ssh's own (in small letters), what it means, what to do; the first that is there counts."""

_QUOTED_MAX = 300


def reason_of(host: str, command: str, exit_code: int | None, words: Sequence[str], *, joined: bool) -> HostError:
    """Return why ssh has ended. `words` are the last lines of its standard error, `joined`: the host was at work."""
    text = "\n".join(words).lower()
    quoted = _quoted(words)
    if exit_code == _SSH_FAILED:
        for word, message, hint in _RULES:
            if word in text:
                return HostError(f"{message.format(host=host)}{quoted}", hint.format(host=host))
    if exit_code == _NOT_FOUND:
        hint = f'Install it there, or say where it is: [executor] command = "/path/to/{_program(command)}".'
        return HostError(f"{host} has no `{_program(command)}` on its PATH{quoted}", hint)
    if exit_code == _NOT_EXECUTABLE:
        return HostError(f"`{_program(command)}` cannot be run on {host}{quoted}", "Look at its permissions there.")
    if "no such command" in text and "worker" in text:
        return HostError(f"noface on {host} is too old: it has no `worker`", "Install the version there that is here.")
    if joined:
        killed = exit_code in (_SSH_FAILED, None) or exit_code > _SIGNALLED
        how = "was killed" if killed else f"has ended with code {exit_code}"
        return HostError(f"noface on {host} {how}{quoted}", "See ~/.local/state/noface/host/worker.log there.")
    return HostError(
        f"`{command}` on {host} ended at once (exit code {exit_code}){quoted}",
        f"Try it: `ssh {host} noface tools worker --check`.",
    )


def _program(command: str) -> str:
    return command.split(maxsplit=1)[0]


def _quoted(words: Sequence[str]) -> str:
    last = [line.strip() for line in words if line.strip(" @\r\n")][-2:]
    text = " / ".join(last)
    return f" (“{text[-_QUOTED_MAX:]}”)" if text else ""
