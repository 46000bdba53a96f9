"""What 5,000 open issues on GitHub cost: requests, and time of processor of noface and the tests' server together."""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.github_server import GitHub
from support.scripted_http import StandingClock

from noface.data.trackers import DEFAULT_LABEL, tracker_settings
from noface.forge.location import located
from noface.forge.opened import opened
from noface.trackers.github.tracker import GithubTracker

ISSUES = 5000
BOT = "noface-bot"


def tracker() -> None:
    with tempfile.TemporaryDirectory() as name:
        github = GitHub(Path(name) / "github")
        repo = github.repository("acme/shop")
        repo.grant(BOT, "write")
        ann = repo.person("ann", "write")
        for number in range(ISSUES):
            ann.opens_issue(f"Issue {number}", "x" * 2000, labels=[DEFAULT_LABEL])
            github.later(60)
        clock = StandingClock(github.now())
        environment = {"PATH": "", "GH_TOKEN": github.token(BOT).text}
        place = located("", "acme/shop", github.api)
        settings = tracker_settings({"tracker": {"kind": "github"}, "gates": []})
        assert settings is not None
        made = GithubTracker(
            settings, Path(name) / "state", lambda: opened(place, (), clock, environment=environment), clock
        )

        def show(what: str) -> None:
            github.requests.clear()
            spent, began = github.limits.rate(github.user(BOT))["used"], time.process_time()
            made.refresh()
            issues = len(made.backlog().issues)
            took, spent = time.process_time() - began, github.limits.rate(github.user(BOT))["used"] - spent
            print(
                f"{what}: {issues} issues, {github.count()} requests, {spent} of the limit, {took:.1f} s of processor"
            )
            github.later(60)
            clock.sleep(60)

        show("first look at GitHub's issues")
        show("a minute later")
        ann.comments(7, "A word.")
        show("after a person's comment")
        assert github.violations == []
        github.close()
