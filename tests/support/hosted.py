"""A project whose remote is on the GitHub of the tests, set up to leave its work there as pull requests."""

import json
import shutil
from dataclasses import dataclass

from .github_server import GitHub, HostedRepository
from .project import Project

NAME = "acme/shop"
BOT = "noface-bot"
LANDING = '[landing]\nhow = "pull-request"\nfollow_checks = "0s"\n'


@dataclass
class Hosted:
    """A person's clone, the server, and the repository there; `bot` is the login that noface acts as."""

    project: Project
    github: GitHub
    repo: HostedRepository
    bot: str = BOT

    def config(self, extra: str = "", landing: str = LANDING, **more: object) -> None:
        github = f'[github]\nrepository = "{NAME}"\nurl = "{self.github.api}"\n'
        self.project.config(landing + github + extra, **more)

    def push(self) -> str:
        commit = self.project.commit()
        self.project.git("push", "-q", f"file://{self.repo.path}", "main")
        return commit

    def pulls(self) -> list[tuple[int, str, str]]:
        """Every pull request: number, branch, state."""
        return [(each.number, each.pull.head, each.state) for each in self.repo.pulls]

    def head(self, issue: str = "1") -> str | None:
        return self.repo.bare.branch(f"noface/{issue}")

    def files(self, commit: str) -> set[str]:
        return set(self.repo.bare.git("ls-tree", "--name-only", "-r", commit).split())

    def show(self, issue: str) -> dict[str, object]:
        return json.loads(json.dumps(self.project.shown("show", issue)))


def hosted(project: Project, github: GitHub, *, http: bool = False) -> Hosted:
    """Put a project on the server: its main there is what it has committed."""
    repo = github.repository(NAME, files={})
    repo.grant(BOT, "write")
    project.env["NOFACE_GITHUB_TOKEN"] = github.token(BOT).text
    made = Hosted(project, github, repo)
    made.config()
    project.git("remote", "add", "origin", repo.clone_url if http else f"file://{repo.path}")
    project.commit("set up")
    project.git("push", "-q", f"file://{repo.path}", "main")
    repo.look()
    return made


def lose_the_state(project):
    """Leave of a clone what a new one has: neither records, nor refs of noface's, nor its branches."""
    shutil.rmtree(project.state)
    for ref in project.git("for-each-ref", "--format=%(refname)", "refs/noface", "refs/heads/noface").split():
        project.git("update-ref", "-d", ref)
