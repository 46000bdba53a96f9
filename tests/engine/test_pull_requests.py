"""Work that passed leaves as a pull request: one branch, one pull request, whatever happens on the way."""

import re
import signal
import sqlite3
import subprocess

import pytest
from support.cases import first_ones
from support.clocked_run import clocked
from support.hosted import BOT, LANDING, hosted

KILLED = -signal.SIGKILL


@pytest.fixture
def shop(project, github):
    made = hosted(project, github)
    project.issue(1, "Add b")
    made.base = made.push()
    return made


def row_of(shop, issue="1"):
    with sqlite3.connect(shop.project.state / "state.db") as database:
        database.row_factory = sqlite3.Row
        return dict(database.execute("SELECT * FROM pull_requests WHERE issue_id = ?", (issue,)).fetchone())


def test_proven_work_is_pushed_and_proposed_and_main_is_left_alone_here_and_there(shop):
    told = shop.project.run(code=3)
    number = shop.pulls()[0][0]
    assert shop.pulls() == [(number, "noface/1", "open")]
    pull = shop.repo.pull(number)
    assert pull.title == "Add b"
    assert pull.user.login == BOT
    for said in ("| check | passed |", "1 attempt with small", "issues/1-x.md", "Request changes"):
        assert said in pull.body
    assert str(shop.project.folder) not in pull.body
    head = shop.head()
    assert "b.txt" in shop.files(head)
    assert shop.repo.bare.git("log", "-1", "--format=%(trailers:key=Noface-Issue,valueonly)", head).strip() == "1"
    assert shop.repo.bare.branch("main") == shop.project.git("rev-parse", "main") == shop.base
    assert set(shop.repo.bare.refs()) == {"refs/heads/main", "refs/heads/noface/1", f"refs/pull/{number}/head"}
    assert shop.project.statuses() == {"1": "review"}
    assert f"pull request #{number}" in told
    assert (row_of(shop)["state"], row_of(shop)["number"], row_of(shop)["pushed"]) == ("open", number, head)
    assert shop.project.git("status", "--porcelain") == ""
    assert "1 pull request is in review" in told.lower()
    page = shop.project.noface("show", "1").stdout
    assert f"pull request #{number}: open" in page
    assert pull_url(shop, number) in page
    (listed,) = shop.project.shown("status")["issues"]
    assert listed["pull_url"] == pull_url(shop, number)
    assert all(len(line) <= 80 for line in shop.project.noface("status").stdout.splitlines())
    assert shop.project.noface("tools", "fsck").returncode == 0


def pull_url(shop, number):
    return f"{shop.github.web}/acme/shop/pull/{number}"


@pytest.mark.thorough
def test_once_it_is_merged_there_nothing_of_it_is_taken_for_lost_here(shop):
    shop.project.run(code=3)
    shop.repo.person("ann", "write").merges(shop.pulls()[0][0])
    shop.project.run()
    assert shop.project.statuses() == {"1": "merged"}
    assert shop.project.git("rev-parse", "main") == shop.base
    checked = shop.project.noface("tools", "fsck")
    assert checked.returncode == 0, checked.stdout
    assert shop.project.noface("tools", "clean").returncode == 0
    assert shop.project.git("for-each-ref", "--format=%(refname)", "refs/noface", "refs/heads/noface") == (
        "refs/noface/remote/main"
    )


@pytest.mark.thorough
def test_work_is_proven_again_where_main_has_moved_there_before_it_is_pushed(shop):
    counter = shop.project.folder / "gates"
    shop.config(gate=f"(ls; echo --) >> {counter}")
    shop.project.play(("1", 0, [{"write": "b.txt", "text": "b"}, {"shell": moved_by_another(shop)}]))
    shop.push()
    shop.project.run(code=3)
    assert any({"b.txt", "theirs.txt"} < set(ran.split()) for ran in counter.read_text().split("--"))
    assert {"b.txt", "theirs.txt"} < shop.files(shop.head())
    assert row_of(shop)["base"] == shop.repo.bare.branch("main")


def moved_by_another(shop):
    """A command by which somebody else pushes to main while a worker is at it."""
    other = shop.project.folder / "other"
    return (
        f"git clone -q file://{shop.repo.path} {other} && cd {other} && touch theirs.txt && git add -A &&"
        " git -c user.name=Ann -c user.email=ann@example.org commit -qm theirs && git push -q origin main"
    )


THOROUGH = pytest.mark.thorough


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("pull_intent", marks=THOROUGH),
        pytest.param("branch_pushed", marks=THOROUGH),
        pytest.param("push_recorded", marks=THOROUGH),
        "pull_opened",
    ],
)
@pytest.mark.parametrize("kind", first_ones(["kill", "raise"]))
def test_a_kill_or_a_fault_on_the_way_leaves_one_branch_and_one_pull_request(shop, name, kind):
    counter = shop.project.folder / "runs"
    shop.project.play(("*", 0, [{"shell": f"echo run >> {counter}"}, {"write": "b.txt", "text": "b"}]))
    ended = shop.project.noface("run", NOFACE_FAILPOINT=f"{name}:1:{kind}")
    assert ended.returncode == (KILLED if kind == "kill" else 3)
    shop.project.run(code=3)
    assert [(branch, state) for _, branch, state in shop.pulls()] == [("noface/1", "open")]
    assert shop.github.count("POST", "*/pulls") == 1
    assert shop.head() == row_of(shop)["pushed"] == row_of(shop)["head"]
    assert shop.project.statuses() == {"1": "review"}
    assert counter.read_text() == "run\n"
    assert shop.project.git("rev-parse", "main") == shop.base


@pytest.mark.thorough
def test_while_github_is_away_the_work_waits_and_says_so_and_the_next_run_publishes_it(shop):
    shop.project.play(("1", 0, [{"write": "b.txt", "text": "b"}]))
    fault = shop.github.breaks(503, times=10**6, path="*/pulls*")
    told = shop.project.run(code=3)
    assert shop.project.statuses() == {"1": "landing"}
    assert shop.pulls() == []
    assert "503" in told or "does not answer" in told
    fault.times = 0
    shop.project.run(code=3)
    assert shop.project.statuses() == {"1": "review"}
    assert len(shop.pulls()) == 1


def test_a_token_that_may_not_push_ends_the_run_before_any_worker_is_paid(shop):
    shop.repo.grant(BOT, "read")
    told = shop.project.run(code=1)
    assert f"{BOT} may read acme/shop, but not push to it" in told
    assert shop.project.shown("show", "1")["attempts"] == []


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"kind": "required_signatures"}, "Require signed commits"),
        pytest.param({"kind": "creation"}, "Restrict creations", marks=THOROUGH),
    ],
)
def test_rules_that_refuse_every_push_end_the_run_before_any_worker_is_paid(shop, rule, told):
    shop.repo.rule(**rule)
    out = shop.project.run(code=1)
    assert told in out
    assert "Leave branches noface/* out of it" in out
    assert shop.project.shown("show", "1")["attempts"] == []


@pytest.mark.thorough
def test_a_rule_that_may_hold_for_others_only_is_told_and_work_goes_on(shop):
    shop.repo.rule("required_signatures", bypass=None)
    out = shop.project.run(code=3)
    assert out.count("rules may refuse what is pushed") == 1
    assert shop.project.statuses() == {"1": "review"}


@pytest.mark.thorough
def test_the_first_refusal_stops_the_run_names_the_setting_and_no_more_is_paid_for(shop):
    shop.project.issue(2)
    shop.project.play(("*", 0, [{"write": "b.txt", "text": "b"}]))
    shop.push()
    shop.repo.bare.refuse("noface/*", "Commits must have verified signatures.")
    out = shop.project.run(code=3)
    assert out.count("nothing can be published") == 1
    assert re.search(r"Stopped: noface/[12] cannot be pushed", out)
    assert "Require signed commits" in out
    assert "[landing] how" not in out
    paid = [len(shop.project.attempts(issue)) for issue in ("1", "2")]
    assert paid in ([1, 0], [1, 1])  # what was at work may have ended
    again = shop.project.run(code=3)
    assert re.search(r"Stopped: noface/[12] cannot be pushed", again)
    assert [len(shop.project.attempts(issue)) for issue in ("1", "2")] == paid
    shop.repo.bare.let_in()
    shop.project.run(code=3)
    assert shop.project.statuses() == {"1": "review", "2": "review"}


@pytest.mark.thorough
def test_workflows_that_may_open_no_pull_requests_are_told_before_any_worker_is_paid(shop):
    bot = "github-actions[bot]"
    shop.repo.grant(bot, "write")
    shop.project.env["NOFACE_GITHUB_TOKEN"] = shop.github.token(bot).text
    shop.repo.actions_propose = False
    out = shop.project.run(code=1)
    assert "Allow GitHub Actions to create and approve pull requests" in out
    assert shop.project.shown("show", "1")["attempts"] == []
    shop.repo.actions_propose = True
    shop.project.run(code=3)
    assert shop.project.statuses() == {"1": "review"}
    assert len(shop.repo.pulls) == 1


def test_the_branch_has_one_plain_commit_by_the_person_signed_as_git_says_and_in_the_form_of_landing(shop, tmp_path):
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for name, value in {"gpg.format": "ssh", "user.signingkey": f"{key}.pub", "commit.gpgsign": "true"}.items():
        shop.project.git("config", name, value)
    shop.repo.rule("required_signatures")
    shop.config(landing=LANDING + 'message = "feat: {{ summary }}\\n\\nSigned-off-by: {{ author }}"\n')
    shop.push()
    out = shop.project.run(code=3)
    assert "what lands is signed with your key, as your git does" in out
    assert shop.project.statuses() == {"1": "review"}, out
    (commit,) = shop.repo.bare.git("rev-list", f"main..{shop.head()}").split()
    raw = shop.repo.bare.git("cat-file", "commit", commit)
    assert "BEGIN SSH SIGNATURE" in raw
    who = f"{shop.project.git('config', 'user.name')} <{shop.project.git('config', 'user.email')}>"
    assert f"\nauthor {who} " in raw
    subject, _, body = raw.partition("\n\n")[2].partition("\n")
    assert subject == "feat: add b"
    lines = body.strip().splitlines()
    assert lines[0] == f"Signed-off-by: {who}"
    assert lines[1] == "Noface-Issue: 1"


@pytest.mark.thorough
def test_a_key_that_cannot_sign_is_told_before_any_worker_is_paid(shop):
    shop.project.git("config", "gpg.format", "ssh")
    shop.project.git("config", "user.signingkey", "/nowhere/key.pub")
    shop.config(landing=LANDING + "sign = true\n")
    shop.push()
    out = shop.project.run(code=2)
    assert "[landing] sign = true: a commit cannot be signed" in out
    assert shop.project.shown("show", "1")["attempts"] == []


@pytest.mark.thorough
def test_the_template_of_the_repository_is_filled(shop):
    folder = shop.project.path / ".github"
    folder.mkdir()
    (folder / "PULL_REQUEST_TEMPLATE.md").write_text("## Description\n\n## Checklist\n- [ ] I have tested it\n")
    shop.push()
    shop.project.run(code=3)
    body = shop.repo.issue(1).body
    assert body.startswith("<!-- noface pull-request issue=1 attempt=1 -->")
    assert body.index("## Description") < body.index("worker") < body.index("## Checklist") < body.index("### Gates")
    assert "- [ ] I have tested it" in body


def test_without_a_remote_the_run_ends_at_once_and_says_what_to_do(shop):
    shop.project.git("remote", "remove", "origin")
    told = shop.project.run(code=2)
    assert "git remote add origin" in told
    assert shop.project.shown("show", "1")["attempts"] == []


@pytest.mark.thorough
def test_over_http_the_token_reaches_git_and_stands_in_no_file(project, github):
    shop = hosted(project, github, http=True)
    project.issue(1)
    shop.project.commit()
    shop.project.git("push", "-q", f"file://{shop.repo.path}", "main")
    shop.project.run(code=3)
    assert len(shop.pulls()) == 1
    token = shop.project.env["NOFACE_GITHUB_TOKEN"]
    found = [path for path in shop.project.path.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
    assert found == []


@pytest.mark.thorough
def test_an_outage_is_waited_out_as_long_as_checks_would_be(shop):
    shop.config(landing='[landing]\nhow = "pull-request"\nfollow_checks = "6h"\n')
    shop.push()
    shop.github.breaks(503, times=8, path="*/pulls*")
    ended = clocked(shop.project, step_s=30)
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "everything waits until" in ended.stdout, ended.stdout
    assert shop.project.statuses() == {"1": "review"}
