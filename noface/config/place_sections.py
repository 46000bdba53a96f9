"""The sections of noface.toml on other places: trackers, hosts, where work lands, who is told."""

from typing import Annotated, Literal

from noface.config.values import (
    ClusterAddress,
    Duration,
    FilledText,
    HostName,
    Hours,
    InnerPath,
    Items,
    MessageForm,
    OptionalHostPath,
    Pause,
    Section,
    Text,
    one_of,
    setting,
)
from noface.data.trackers import DEFAULT_LABEL, DEFAULT_TRACKER, TRACKERS
from noface.recovery.ground import LandingMode


class Tracker(Section):
    """Where the issues come from."""

    kind: Annotated[str, *one_of(TRACKERS)] = setting(
        DEFAULT_TRACKER, "; ".join(f'"{name}": {entry.what}' for name, entry in TRACKERS.items())
    )
    path: InnerPath | None = setting(
        None,
        "where the issues lie inside the repository: "
        + ", ".join(f'{entry.place} for "{name}"' for name, entry in TRACKERS.items() if entry.place),
        "issues",
    )
    label: Text = setting(DEFAULT_LABEL, 'GitHub: issues with this label are worked on; "" for all open ones')
    authors: Items[Text] = setting(
        (),
        'GitHub: who may write issues and answers beside those with write access; "*" is anyone, and unsafe',
        ["renovate[bot]"],
    )


class Github(Section):
    """The project on GitHub: where its issues and pull requests are."""

    repository: Text = setting("", "owner/name; by default what the git remote says", "acme/shop")
    url: Text = setting("", "the REST API; by default that of the remote's host", "https://github.example.com/api/v3")
    poll: Duration = setting(60.0, "how often a run looks for what people have changed")


class Executor(Section):
    """Other machines that carry attempts out (docs/hosts.md). Needs the extra "cluster"."""

    hosts: Items[HostName] = setting(
        (), "machines, as ssh knows them, on which attempts are carried out beside those here", ["build@bigbox"]
    )
    attempts: int = setting(4, "how many attempts there are at once on each of them", ge=1, le=64)
    command: FilledText = setting("noface", "how noface is started there", "/opt/noface/bin/noface")
    address: ClusterAddress = setting(
        "", "the scheduler of a standing dask cluster, which is one host", "tls://cluster.example:8786"
    )
    certificates: OptionalHostPath = setting(
        "", "the folder with its authority's ca.pem, and client.pem and client.key for this machine", "~/cluster"
    )

    @property
    def slots(self) -> int:
        return self.attempts * (len(self.hosts) + bool(self.address))


class Landing(Section):
    """How proven work gets onto main."""

    style: Literal["merge", "squash"] = setting("merge", '"merge": a merge commit; "squash": one plain commit an issue')
    how: Literal["merge", "pull-request"] = setting(
        "merge", '"merge": onto the local main; "pull-request": pushed as a branch, with a pull request on GitHub'
    )
    push: bool = setting(False, 'with how = "merge": push main after each landing; refused where main moved there')
    remote: Text = setting("", "the git remote; by default that of main, or origin", "origin")
    message: MessageForm = setting(
        "",
        "the message of commits as a template of Jinja: id, title, summary (the title, in small letters), labels,"
        " author; what lands is a plain commit then; by default the title alone",
        "feat: {{ summary }}",
    )
    sign: bool | None = setting(
        None,
        "sign the commits that land, or are pushed, with your own key (git's user.signingkey); by default as your git"
        " does (commit.gpgsign), if that needs no passphrase",
        True,
    )
    auto_merge: bool = setting(False, "have GitHub merge a pull request when its checks and reviews allow it")
    rounds: int = setting(
        3, "how often red checks and reviews of a pull request are answered before a person is asked", ge=0, le=20
    )
    follow_checks: Pause = setting(
        3600.0, "how long a run with nothing else to do waits for the checks of its pull requests"
    )

    @property
    def by_pull_request(self) -> bool:
        return self.how == "pull-request"

    @property
    def publishes(self) -> bool:
        """True if noface may push at all: without being asked it sends nothing anywhere."""
        return self.by_pull_request or self.push

    @property
    def mode(self) -> LandingMode:
        if self.by_pull_request:
            return LandingMode.PULL_REQUEST
        return LandingMode.PUSH if self.push else LandingMode.MERGE

    @property
    def each(self) -> bool:
        return self.style == "squash"


class Notify(Section):
    """Who is told what happens in a run, and may answer (docs/night.md); needs the extra `notify`."""

    urls: Items[FilledText] = setting(
        (),
        "where messages go, as addresses of apprise; $NAME is a variable of noface's: agents can read this file",
        ["$NTFY_URL", "mailto://user:password@example.org"],
    )
    answers: Items[FilledText] = setting(
        (),
        "where answers come from: a topic of ntfy, to which its buttons post, or a chat of Telegram",
        ["$NTFY_ANSWERS", "$TELEGRAM_URL"],
    )
    quiet_hours: Hours = setting("", "nobody is woken between these times of the clock", "22:30-07:00")
    on_event: Text = setting(
        "",
        "shell command that gets each event as JSON at its standard input; it runs in your home, outside the sandbox,"
        " so its files must not lie in the repository",
        "~/bin/on-event",
    )

    @property
    def tells(self) -> bool:
        return bool(self.urls or self.answers or self.on_event)
