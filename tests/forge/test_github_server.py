"""Facts of GitHub that noface relies on, as the server of the tests has them; docs/facts.md says where they are from."""

import json
import urllib.error
import urllib.request

import pytest
from support.git_ground import a_repository, git
from support.github_server import GitHub


class Asking:
    """Asks the API with one token, and no library between."""

    def __init__(self, github, token):
        self._github = github
        self._token = token

    def __call__(self, path, body=None, method="", **headers):
        """Return status, headers and parsed body. Paths are below the repository unless they begin with "/"."""
        url = self._github.api + (path if path.startswith("/") else f"/repos/acme/shop/{path}".rstrip("/"))
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        asked = urllib.request.Request(
            path if path.startswith("http") else url,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token.text}", **named},
            method=method or ("GET" if body is None else "POST"),
        )
        try:
            answered = urllib.request.urlopen(asked)
        except urllib.error.HTTPError as error:
            answered = error
        with answered:
            text = answered.read()
        return answered.status, answered.headers, json.loads(text) if text else None


@pytest.fixture
def repo(github):
    made = github.repository("acme/shop")
    made.grant("noface-bot", "write")
    return made


@pytest.fixture
def alice(repo):
    return repo.person("alice", "write")


@pytest.fixture
def token(github, repo):
    return github.token("noface-bot")


@pytest.fixture
def ask(github, token):
    return Asking(github, token)


def test_issues_come_in_pages_of_at_most_a_hundred_whose_links_hold_a_cursor(alice, ask):
    for number in range(1, 106):
        alice.opens_issue(f"Issue {number}")
    status, headers, first = ask("issues?per_page=100")
    assert (status, len(first)) == (200, 100)
    following, rel = headers["Link"].split("; ")
    assert (rel, "after=" in following) == ('rel="next"', True)
    alice.opens_issue("made while they are read")
    alice.closes(105)
    _, headers, rest = ask(following.strip("<>"))
    assert [each["number"] for each in rest] == [5, 4, 3, 2, 1]
    assert headers["Link"] is None
    assert ask("issues?per_page=1&page=11")[0] == 422


def test_other_lists_link_to_numbered_pages_below_the_id_of_the_repository(repo, alice, ask):
    number = alice.opens_issue("One")
    for text in ("a", "b", "c"):
        alice.comments(number, text)
    links = ask(f"issues/{number}/comments?per_page=1&page=2")[1]["Link"].split(", ")
    assert [link.partition("; ")[2] for link in links] == ['rel="prev"', 'rel="first"', 'rel="next"', 'rel="last"']
    assert f"/repositories/{repo.id}/issues/{number}/comments?" in links[2]
    assert ask(links[2].partition(">")[0].strip("<"))[2][0]["body"] == "c"


def test_since_finds_what_has_changed_at_that_second_or_later_pull_requests_among_issues(github, alice, ask):
    alice.opens_issue("old")
    github.later(100)
    alice.pushes("topic", {"a.txt": "a\n"})
    alice.opens_pull("new", "topic")
    changed = ask("issues")[2][0]["updated_at"]
    found = ask(f"issues?state=all&since={changed}")[2]
    assert [(each["title"], "pull_request" in each) for each in found] == [("new", True)]


def test_an_answer_that_has_not_changed_is_304_and_costs_nothing_of_the_limit(github, alice, ask):
    number = alice.opens_issue("One")
    _, headers, _ = ask(f"issues/{number}")
    etag, left = headers["ETag"], headers["X-RateLimit-Remaining"]
    status, headers, body = ask(f"issues/{number}", If_None_Match=etag)
    assert (status, body, headers["X-RateLimit-Remaining"]) == (304, None, left)
    other = Asking(github, github.token("noface-bot"))
    assert other(f"issues/{number}", If_None_Match=etag)[0] == 200  # each token has ETags of its own
    alice.comments(number, "changed")
    assert ask(f"issues/{number}", If_None_Match=etag)[0] == 200


def test_a_used_up_limit_is_403_with_nothing_remaining_until_its_reset(github, token, ask):
    github.limits.leave(token.user, 1)
    assert ask("issues")[0] == 200
    status, headers, body = ask("issues")
    assert (status, headers["X-RateLimit-Remaining"]) == (403, "0")
    assert body["message"].startswith("API rate limit exceeded for user ID")
    github.later(int(headers["X-RateLimit-Reset"]) - github.now())
    assert ask("issues")[0] == 200


def test_a_secondary_limit_tells_when_to_come_back_while_requests_remain(github, ask):
    github.secondary_limit(retry_after_s=60, status=429)
    status, headers, body = ask("issues")
    assert (status, headers["Retry-After"]) == (429, "60")
    assert int(headers["X-RateLimit-Remaining"]) > 0
    assert "secondary rate limit" in body["message"]
    assert ask("issues")[0] == 200


def test_tokens_are_told_apart_unknown_lacking_a_permission_and_without_sight(github, repo, ask):
    ask("labels")  # the repository is there
    github.repository("acme/secret", private=True)
    reader = github.token("reader", "issues=read")
    stranger = Asking(github, reader)
    assert stranger("/repos/acme/secret")[0] == 404
    status, headers, body = stranger("issues", {"title": "T"})
    assert (status, headers["X-Accepted-GitHub-Permissions"]) == (403, "issues=write")
    assert body["message"] == "Resource not accessible by personal access token"
    reader.revoked = True
    assert stranger("issues")[::2][0] == 401
    assert stranger("issues")[2]["message"] == "Bad credentials"


def test_write_access_is_told_by_permission_for_a_collaborator_may_only_read(repo, ask):
    repo.person("carol", "triage")
    number = repo.person("carol").opens_issue("Mine")
    assert ask(f"issues/{number}")[2]["author_association"] == "COLLABORATOR"
    assert ask("collaborators/carol/permission")[2]["permission"] == "read"
    repo.person("dave").opens_issue("A stranger's")
    assert ask("collaborators/dave/permission")[2]["permission"] == "read"


def test_a_push_over_http_needs_write_access_and_moves_the_head_of_its_pull_request(
    github, repo, alice, token, ask, tmp_path
):
    home = a_repository(tmp_path / "home")
    url = repo.clone_url.replace("//", f"//x-access-token:{token.text}@")
    git(home, "fetch", "-q", url, "main:base")
    git(home, "checkout", "-q", "-B", "topic", "base")
    git(home, "commit", "-q", "--allow-empty", "-m", "one")
    git(home, "push", "-q", url, "topic:refs/heads/noface/1", "base:refs/noface/lease")
    number = ask("pulls", {"title": "T", "head": "noface/1", "base": "main", "body": "Closes #7"})[2]["number"]
    git(home, "commit", "-q", "--allow-empty", "-m", "two")
    git(home, "push", "-q", url, "topic:refs/heads/noface/1")
    head = git(home, "rev-parse", "topic")
    assert ask(f"pulls/{number}")[2]["head"]["sha"] == head == repo.bare.refs()[f"refs/pull/{number}/head"]
    assert "hidden ref" in refused(home, url, f"topic:refs/pull/{number}/head")
    repo.grant("noface-bot", "read")
    assert "denied to noface-bot" in refused(home, url, "topic:refs/heads/other")


def refused(home, url, refspec):
    """Return what git says of a push that has to fail."""
    with pytest.raises(AssertionError) as failed:
        git(home, "push", "-q", url, refspec)
    return str(failed.value)


def test_a_second_pull_request_from_a_branch_is_refused_and_one_without_commits_too(alice, ask):
    alice.pushes("topic", {"a.txt": "a\n"})
    wanted = {"title": "T", "head": "topic", "base": "main"}
    assert ask("pulls", wanted)[0] == 201
    status, _, body = ask("pulls", wanted)
    assert (status, body["errors"][0]["message"]) == (422, "A pull request already exists for acme:topic.")
    assert ask("pulls", {**wanted, "head": "main"})[2]["errors"][0]["message"] == "No commits between main and main"


def test_a_merge_closes_the_issue_that_the_body_names_and_a_squash_is_another_commit(repo, alice, ask):
    issue = alice.opens_issue("One")
    head = alice.pushes("topic", {"a.txt": "a\n"}, "work\n\nNoface-Issue: 1")
    number = alice.opens_pull("T", "topic", body=f"Closes #{issue}")
    assert [ask(f"pulls/{number}")[2]["mergeable"] for _ in range(2)] == [None, True]  # it is found out when asked
    merged = alice.merges(number, "squash")
    pull = ask(f"pulls/{number}")[2]
    assert (pull["state"], pull["merged"], pull["merge_commit_sha"]) == ("closed", True, merged)
    assert not repo.bare.holds(merged, head)
    assert "Noface-Issue" not in repo.bare.messages(f"{merged}^", merged)
    assert ask(f"issues/{issue}")[2]["state_reason"] == "completed"


def test_pull_requests_that_are_merged_one_after_the_other_are_all_in_main(repo, alice):
    pulls = []
    for name in ("a", "b", "c"):
        alice.pushes(name, {f"{name}.txt": "x\n"})
        pulls.append(alice.opens_pull(name, name))
    for pull, how in zip(pulls, ("squash", "merge", "rebase"), strict=True):
        alice.merges(pull, how)
    assert repo.bare.git("ls-tree", "--name-only", "main").split() == ["README.md", "a.txt", "b.txt", "c.txt"]
    assert len(repo.bare.commits("main~3", "main")) == 4


def test_a_pull_request_is_merged_by_a_push_that_holds_its_head_and_closed_with_its_branch(repo, alice, ask):
    head = alice.pushes("topic", {"a.txt": "a\n"})
    alice.pushes("other", {"b.txt": "b\n"})
    merged, closed = alice.opens_pull("T", "topic"), alice.opens_pull("U", "other")
    repo.bare.set("refs/heads/main", head)  # as a push over file:// or ssh does, of which no server is told
    repo.bare.delete("refs/heads/other")
    assert ask(f"pulls/{merged}")[2]["merged"] is True
    pull = ask(f"pulls/{closed}")[2]
    assert (pull["state"], pull["merged"]) == ("closed", False)


def test_the_log_of_a_job_lies_on_another_host_and_that_of_a_running_one_nowhere(github, repo, alice, ask):
    head = alice.pushes("topic", {"a.txt": "a\n"})
    done = repo.check(head, "tests", "failure", log="boom\n")
    runs = repo.check(head, "slow")
    found = ask(f"commits/{head}/check-runs")[2]["check_runs"]
    assert [(each["name"], each["conclusion"]) for each in found] == [("tests", "failure"), ("slow", None)]
    with urllib.request.urlopen(github.log_url(repo, done)) as log:  # urllib would send the token along
        assert log.read() == b"boom\n"
    assert ask(f"actions/jobs/{runs.id}/logs")[0] == 404


def test_an_effect_whose_answer_is_lost_has_happened(github, repo, ask):
    github.drops(before=False, method="POST")
    with pytest.raises((ConnectionError, urllib.error.URLError)):
        ask("issues", {"title": "T"})
    assert [each.title for each in repo.issues.values()] == ["T"]
    assert github.requests[-1] == ("POST", "/repos/acme/shop/issues", 0)


@pytest.mark.parametrize(
    ("path", "body", "what"),
    [
        ("issue", None, "GitHub has no such operation"),
        ("issues?labls=x", None, "there is no query parameter 'labls'"),
        ("issues?per_page=101", None, "per_page is at most 100"),
        ("issues?state=done", None, "'done' is not one of"),
        ("issues", {"titel": "T"}, "'title' is a required property"),
    ],
)
def test_what_github_does_not_have_fails_the_test_that_asks_for_it(tmp_path, path, body, what):
    github = GitHub(tmp_path)
    github.repository("acme/shop").grant("noface-bot", "write")
    status, _, answered = Asking(github, github.token("noface-bot"))(path, body)
    github.close()
    assert status == 500
    assert what in answered["message"] == github.violations[0]


def test_what_github_never_answers_fails_the_test_that_gets_it(tmp_path):
    github = GitHub(tmp_path)
    repo = github.repository("acme/shop")
    number = repo.person("alice").opens_issue("T")
    repo.issue(number).state_reason = "because"
    assert Asking(github, github.token("bob"))(f"issues/{number}")[0] == 500
    github.close()
    assert "'because' is not one of" in github.violations[0]
