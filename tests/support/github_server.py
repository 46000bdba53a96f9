"""A GitHub on loopback: REST, the one GraphQL mutation that noface needs, and git over http, with state and limits.

How to use it (the fixture `github` of conftest; nothing is patched, noface is told the address):

    repo = github.repository("acme/shop")                # a real bare repository, main with one commit
    repo.path, repo.clone_url                            # for `git clone` over file:// and over http
    github.api                                           # [github] url; github.dotcom_api: the same without /api/v3
    token = github.token("noface-bot")                   # login gets write access: repo.grant("noface-bot", "write")
    github.token("robot", "issues=write contents=read")  # only these permissions: else 403 with what is missing
    alice = repo.person("alice", "write")                # roles: none read triage write maintain admin; None: a stranger
    n = alice.opens_issue("Title", "body", labels=["ready-for-agent"])
    alice.comments(n, "yes"); alice.labels(n, "x"); alice.closes(n); alice.edits(n, body="…"); alice.blocks(n, by=3)
    alice.transfers(n, github.repository("acme/other")); alice.deletes_issue(n)  # from then on 301 or 404, and 410
    alice.pushes("main", {"a.txt": "new\n"}); alice.opens_pull("T", "branch")
    alice.reviews(n, "changes_requested", "why", [("a.txt", 1, "rename it")]); alice.merges(n, "squash"); alice.closes(n)
    alice.resolves(n, comment); alice.replies(n, comment, "text"); alice.assigns(n, "bob")
    alice.updates_branch(n); alice.commits_suggestion(n, {"a.txt": "new\n"})      # both by GitHub's web flow
    repo.check(sha_or_pull, "tests", "failure", log="…\n", annotations=[{…}])   # no conclusion: it runs; None log: 404
    repo.status(sha_or_pull, "ci/x", "failure", description="…", target_url="https://…")
    repo.protect("main")                                 # pushes to it are refused as GitHub words it
    repo.rule("required_signatures", refuses="Commits must have verified signatures.")   # a ruleset for noface/*
    repo.bare.refuse("noface/*", "…"); repo.bare.let_in()                         # the same, not shown by the API
    repo.actions_propose = False                         # workflows' own token may open no pull requests
    repo.issue(n), repo.pull(n), repo.comments_of(n), repo.bare.refs()           # look at the state itself
    repo.mails_of("alice"), repo.reactions[comment]      # what she was told by mail; 👀 of whom
    github.requests, github.count("GET", "/repos/*/issues*"), github.requests.clear()   # what was asked, 304s too
    github.breaks(502, times=2, path="/repos/*/issues*"); github.secondary_limit(retry_after_s=60); github.drops()
    github.drops(before=False, path="*/pulls", method="POST")                    # made, but the answer is lost
    with github.away(): …                                                        # each connection ends without an answer
    with github.holding("*/comments") as held: held.entered.wait(); …            # answers wait until the block ends
    github.limits.leave(token.user, 3)                                           # all but 3 of the hour are used up
    token.revoked = True; github.rename("acme/shop", "acme/store"); repo.merge_methods = {"squash"}
    github.later(3600)                                                           # GitHub's clock goes on; or GitHub(now=…)

Requests and answers that do not fit GitHub's published description fail the test at its end (`violations`).
"""

import itertools
import re
import threading
import time
from contextlib import contextmanager

from .github_http import Listener, basic_password
from .github_limits import ALL, Fault, Limits, Token, permissions
from .github_people import Person
from .github_pulls import Hosted
from .github_state import User, not_found


class HostedRepository(Hosted):
    """A repository as the tests handle it."""

    @property
    def path(self):
        return self.bare.path

    @property
    def clone_url(self):
        return f"{self.server.web}/{self.full_name}.git"

    def protect(self, branch):
        """Have pushes to a branch refused: changes are made through pull requests."""
        self.bare.protect(branch)

    def rule(self, kind, bypass="never", *, refuses="", branches="noface/*", **parameters):
        """Make a ruleset of one rule for branches; `bypass` is what GitHub tells of it, `refuses` what a push is told."""
        made = {"type": kind, "ruleset_id": self.server.new_id(), "bypass": bypass, "parameters": parameters}
        self.rules.append((branches, made))
        if refuses:
            self.bare.refuse(branches, refuses)

    def grant(self, login, role):
        """Give a login a role; "none" makes a stranger of it again."""
        if role == "none":
            self.roles.pop(login, None)
        else:
            self.roles[login] = role

    def person(self, login, role=None):
        if role is not None:
            self.grant(login, role)
        return Person(self, login)

    def _head(self, where):
        if isinstance(where, int):
            self.look()
            return self.pull(where).pull.head_sha
        return where

    def check(self, where, name, conclusion=None, **fields):
        """Set a check of a commit or of a pull request's head; `app` other than github-actions has no job and no log."""
        with self.server.lock:
            return super().check(self._head(where), name, conclusion, **fields)

    def status(self, where, context, state, *, by="ci-bot", description=None, target_url=None):
        """Set a commit status: error, failure, pending or success."""
        with self.server.lock:
            given = (self.server.user(by), context, state, description, target_url)
            return self.set_status(self._head(where), *given)


class GitHub:
    """The server: its users, tokens and repositories, its clock, its faults, and the log of requests."""

    def __init__(self, folder, now=time.time):
        self._folder = folder
        self._now = now
        self._ahead_s = 0
        self.lock = threading.RLock()
        self.epoch = self.now()
        self.repositories = {}
        self.limits = Limits(self.now)
        self.requests = []
        self.violations = []
        self._users, self._tokens, self.faults, self._renamed = {}, {}, [], {}
        self._ids = itertools.count(3_000_000_001)  # above what 32 bits hold, as GitHub's are
        self._listener = Listener(self)
        self.files = Listener(self)  # job's logs lie on another host, which is to get no token
        self.web = self._listener.origin
        self.api = f"{self.web}/api/v3"
        self.dotcom_api = self.web

    def close(self):
        """End the server, and every answer that is held."""
        for fault in self.faults:
            fault.gate.set()
        self._listener.close()
        self.files.close()

    def now(self):
        """Return GitHub's time, in whole epoch seconds."""
        return int(self._now() + self._ahead_s)

    def later(self, seconds):
        self._ahead_s += seconds

    def new_id(self):
        return next(self._ids)

    def user(self, login):
        if login not in self._users:
            kind = "Bot" if login.endswith("[bot]") else "User"
            self._users[login] = User(self.new_id(), login, kind)
        return self._users[login]

    def known(self, logins):
        """Return the users with these logins, which are in lower case."""
        return [user for login, user in self._users.items() if login.lower() in logins]

    def known_user(self, login):
        if login not in self._users:
            raise not_found()
        return self._users[login]

    def token(self, login, allowed=ALL, text=""):
        """Make a token of a login; that of a "…[bot]" is one of an app, such as GITHUB_TOKEN of a workflow."""
        user = self.user(login)
        prefix = "ghs_" if user.type == "Bot" else "ghp_"
        made = Token(text or f"{prefix}{login.encode().hex()}{len(self._tokens)}", user, permissions(allowed))
        self._tokens[made.text] = made
        return made

    def token_of(self, headers):
        """Return the known token that a request brings, or None."""
        token = self._tokens.get(basic_password(headers) or "")
        return None if token is None or token.revoked else token

    def repository(self, full_name, *, private=False, main="main", files=None):
        """Make a repository; `files` are those of the first commit on main, {} for a repository without commits."""
        owner, name = full_name.split("/")
        path = self._folder / owner / f"{name}.git"
        if path.exists():  # that of a repository that was renamed
            path = path.with_name(f"{name}-{len(self._renamed)}.git")
        made = HostedRepository(self, owner, name, path, private=private, main=main)
        self.repositories[full_name] = made
        files = {"README.md": f"# {name}\n"} if files is None else files
        if files:
            made.bare.write(main, files, "first", owner, self.now())
        made.look()
        return made

    # What goes wrong.

    def fault(self, kind, **fields):
        """Let requests go wrong: github_limits.Fault says how."""
        made = Fault(kind, **fields)
        with self.lock:
            self.faults.append(made)
        return made

    def fault_for(self, method, path):
        with self.lock:
            return next((each for each in self.faults if each.takes(method, path)), None)

    def breaks(self, status=502, times=1, path="*", method="", message="Server Error"):
        return self.fault("answer", status=status, times=times, path=path, method=method, message=message)

    def drops(self, times=1, path="*", method="", *, before=True):
        """End connections without an answer: `before` the request has had an effect, or after."""
        return self.fault("drop", times=times, path=path, method=method, before=before)

    @contextmanager
    def away(self, path="*"):
        fault = self.drops(times=None, path=path)
        try:
            yield
        finally:
            fault.times = 0

    @contextmanager
    def holding(self, path="*", method="", times=None):
        """Hold matching answers until the block ends; `entered` of the fault is set when one waits."""
        fault = self.fault("hold", times=times, path=path, method=method)
        try:
            yield fault
        finally:
            fault.times = 0
            fault.gate.set()

    # What was asked.

    def noted(self, method, path, query, status):
        with self.lock:
            self.requests.append((method, f"{path}?{query}" if query else path, status))

    def count(self, method="", path="*", status=None):
        """Count the requests of the API that match: a glob of the path without its query."""
        probe = Fault("", times=None, path=path, method=method)
        with self.lock:
            asked = list(self.requests)
        return sum(probe.takes(each[0], each[1].partition("?")[0]) and status in {None, each[2]} for each in asked)

    def limit_headers(self, headers):
        token = self.token_of(headers)
        return self.limits.headers(token.user) if token else {}

    def log_url(self, repository, job):
        return f"{self.files.origin}/{repository.full_name}/{job.id}"

    def file_answer(self, path, headers):
        """Answer a request for a log, which its address alone opens."""
        if headers.get("Authorization"):
            self.violations.append(f"a token was sent to another host than the API's: {path}")
        _, owner, name, job = path.split("/")
        log = self.repositories[f"{owner}/{name}"].check_runs[int(job)].log
        return 200, {"Content-Type": "text/plain; charset=utf-8"}, log.encode()

    # A repository that was renamed answers below its id, to which the old name leads.

    def rename(self, old, new):
        """Give a repository another full name: requests to the old one are sent on, and git is served there still."""
        repository = self.repositories.pop(old)
        owner, repository.name = new.split("/")
        repository.owner = self.user(owner)
        self.repositories[new] = repository
        self._renamed[old] = repository

    def hosted(self, full_name):
        """Return the repository that has that name or had it, or None."""
        return self.repositories.get(full_name) or self._renamed.get(full_name)

    def moved(self, path, login):
        """Return where a request to a renamed repository or a transferred issue is sent, "" for others.

        Who may not read the repository to which an issue was transferred is told that there is none.
        """
        for old, repository in self._renamed.items():
            if old in self.repositories:
                continue  # another one has got the name
            if path == f"/repos/{old}" or path.startswith(f"/repos/{old}/"):
                return f"/repositories/{repository.id}{path.removeprefix(f'/repos/{old}')}"
        if found := re.fullmatch(r"/repos/([^/]+/[^/]+)/issues/(\d+)(/.*)?", self.by_name(path)):
            repository = self.repositories.get(found[1])
            to, number = (repository and repository.away.get(int(found[2]))) or (None, 0)
            if to is not None and to.may(login, "read"):
                return f"/repositories/{to.id}/issues/{number}{found[3] or ''}"
        return ""

    def by_name(self, path):
        """Return the path of a request below the repository's name where it came below its id."""
        start, _, rest = path.removeprefix("/repositories/").partition("/")
        named = next((each.full_name for each in self.repositories.values() if start == str(each.id)), None)
        if not path.startswith("/repositories/") or named is None:
            return path
        return f"/repos/{named}/{rest}".rstrip("/")
