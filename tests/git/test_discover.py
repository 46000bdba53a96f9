"""Which repositories noface works in, and how it says no to the others."""

import os
import shutil
import subprocess
import sys

import pytest
from support.git_ground import ENV, Bench, a_bench, a_repository, git, listing, write

from noface.errors import UsageError
from noface.git.command import Identity
from noface.git.fast_forward import Landed
from noface.git.landing import advance
from noface.git.landings import landed_issues
from noface.git.locate import locate
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate
from noface.git.repository import discover, without_login
from noface.git.workspace import checkout


def refusal(start, main=""):
    with pytest.raises(UsageError) as caught:
        discover(start, main)
    return caught.value.message


def test_repository_is_found_from_its_top_and_from_a_folder_below(tmp_path):
    path = a_repository(tmp_path / "project")
    found = discover(path)
    assert (found.root, found.common_dir, found.main) == (path, path / ".git", "refs/heads/main")
    assert (found.identity, found.object_format, found.shallow) == (Identity("Pat", "pat@example.org"), "sha1", False)
    assert discover(path / "src" / "deep") == found


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://ada:secret@example.org:8443/shop.git", "https://example.org:8443/shop.git"),
        ("HTTPS://token@example.org/shop", "HTTPS://example.org/shop"),
        ("https://ada:se@cret@example.org/shop", "https://example.org/shop"),
        ("https://example.org/shop.git?private_token=secret", "https://example.org/shop.git"),
        ("http::https://ada:secret@example.org/shop", "http::https://example.org/shop"),
        ("ftp://ada:secret@example.org/shop", "ftp://example.org/shop"),
        ("ssh://git:secret@example.org/shop", "ssh://git@example.org/shop"),
        ("git@example.org:shop.git", "git@example.org:shop.git"),
        ("/srv/git/a@b?c.git", "/srv/git/a@b?c.git"),
        ("file:///srv/git/a@b?c.git", "file:///srv/git/a@b?c.git"),
        ("", ""),
    ],
)
def test_the_address_of_a_remote_is_known_without_what_logs_in(address, shown):
    assert without_login(address) == shown


def test_linked_worktree_shares_the_state_of_its_repository(tmp_path):
    path = a_repository(tmp_path / "project")
    git(path, "worktree", "add", "-q", "-b", "other", tmp_path / "linked")
    found = discover(tmp_path / "linked", "main")
    assert (found.root, found.state_dir) == (tmp_path / "linked", path / ".git/noface")
    assert locate(tmp_path / "linked").state_dir == found.state_dir


@pytest.mark.parametrize("kind", ["plain", "below", "linked", "separate", "submodule"])
def test_looking_without_git_finds_the_same_place_as_git(tmp_path, kind):
    path = a_repository(
        tmp_path / "project", None, *(("--separate-git-dir", str(tmp_path / "apart")) if kind == "separate" else ())
    )
    match kind:
        case "below":
            path = path / "src"
        case "linked":
            git(path, "worktree", "add", "-q", "-b", "other", tmp_path / "linked")
            path = tmp_path / "linked"
        case "submodule":
            a_repository(tmp_path / "inner")
            git(path, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "inner"), "sub")
            path = path / "sub"
    found, location = discover(path), locate(path)
    assert (location.root, location.state_dir) == (found.root, found.state_dir)


def test_no_repository_is_said(tmp_path):
    assert "is not in a git repository" in refusal(tmp_path)
    with pytest.raises(UsageError, match="is not in a git repository"):
        locate(tmp_path)


def test_bare_repository_and_the_git_dir_are_refused(tmp_path):
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    assert "is a bare repository" in refusal(tmp_path / "bare.git")
    assert "is not in a git repository" in refusal(tmp_path / "nowhere")
    git(tmp_path, "init", "-q", "empty")
    assert "no commit yet" in refusal(tmp_path / "empty")
    assert "inside the .git folder" in refusal(a_repository(tmp_path / "project") / ".git" / "objects")


def test_detached_head_needs_a_named_main(tmp_path):
    path = a_repository(tmp_path / "project")
    git(path, "checkout", "-q", "--detach")
    assert "HEAD is detached" in refusal(path)
    assert discover(path, "main").main == "refs/heads/main"


def test_scratch_branch_is_no_main(tmp_path):
    path = a_repository(tmp_path / "project")
    git(path, "branch", "noface")
    assert "a branch called noface" in refusal(path)
    git(path, "branch", "-D", "noface")
    git(path, "checkout", "-q", "-b", "noface/7")
    assert "noface/7 is one of noface's scratch branches" in refusal(path)
    assert "noface/7 is one of noface's scratch branches" in refusal(path, "noface/7")
    assert discover(path, "main").main == "refs/heads/main"


@pytest.mark.parametrize("name", ["nothing", "main~0", "v1", "HEAD", "refs/heads/main", "main^{tree}", "-x", "a b"])
def test_main_that_is_no_branch_is_refused_with_the_branches_there_are(tmp_path, name):
    path = a_repository(tmp_path / "project")
    git(path, "tag", "v1")
    git(path, "branch", "other")
    with pytest.raises(UsageError) as caught:
        discover(path, name)
    assert f"main = {name!r}" in caught.value.message
    assert "main, other" in caught.value.hint


def test_partial_clone_is_refused(tmp_path):
    path = a_repository(tmp_path / "project")
    git(path, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{path}", "partial")
    assert "partial clone" in refusal(tmp_path / "partial")


def test_repository_that_this_git_cannot_read_is_refused_clearly(tmp_path):
    path = a_repository(tmp_path / "project")
    git(path, "config", "core.repositoryformatversion", "1")
    git(path, "config", "extensions.fromTheFuture", "true")
    assert "cannot read the repository" in refusal(path)


DISCOVER = """
import sys
import time
from pathlib import Path
from noface.errors import UsageError
from noface.git.repository import discover
try:
    print(discover(Path(sys.argv[1])).root)
except UsageError as problem:
    print(problem.message, problem.hint)
"""


def discovered(path, cwd=None, **env):
    ended = subprocess.run(
        [sys.executable, "-c", DISCOVER, path], cwd=cwd, env={**ENV, **env}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def fake_git(tmp_path, body):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "git"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return f"{tmp_path / 'bin'}:{ENV['PATH']}"


@pytest.mark.parametrize("version", ["2.37.9"])
def test_old_git_is_refused(tmp_path, version):
    path = a_repository(tmp_path / "project")
    said = discovered(path, PATH=fake_git(tmp_path, f"echo git version {version}"))
    assert f"git version {version} is too old" in said


def test_missing_git_is_said(tmp_path):
    path = a_repository(tmp_path / "project")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "env").symlink_to(shutil.which("env"))
    assert "git was not found" in discovered(path, PATH=str(tmp_path / "bin"))


def test_repository_of_another_user_is_refused_with_the_way_out(tmp_path):
    path = a_repository(tmp_path / "project")
    body = f'GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {shutil.which("git")} "$@"'
    said = discovered(path, PATH=fake_git(tmp_path, body))
    assert "belongs to another user" in said
    assert f"safe.directory {path}" in said


def test_git_variables_of_a_hook_or_alias_do_not_mislead(tmp_path):
    path = a_repository(tmp_path / "project")
    other = a_repository(tmp_path / "other", {"other.txt": "x\n"})
    variables = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / ".git/index"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git/objects"),
        "GIT_COMMON_DIR": str(other / ".git"),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
        "GIT_CONFIG_PARAMETERS": "'core.bare'='true'",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_EXTERNAL_DIFF": "/bin/false",
    }
    assert discovered(path / "src", **variables) == str(path)


def test_secrets_in_the_environment_are_in_no_command_line(tmp_path):
    path = a_repository(tmp_path / "project")
    body = f"cat /proc/$$/cmdline >>'{tmp_path}/seen'; exec {shutil.which('git')} \"$@\""
    bin_path = fake_git(tmp_path, body)
    spy = tmp_path / "bin" / "env"
    spy.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >>'{tmp_path}/seen'\nexec {shutil.which('env')} \"$@\"\n")
    spy.chmod(0o755)
    assert discovered(path, PATH=bin_path, SOME_API_KEY="sk-very-secret") == str(path)
    seen = (tmp_path / "seen").read_text()
    assert "rev-parse" in seen
    assert "sk-very-secret" not in seen


@pytest.mark.parametrize(("name", "email"), [("", ""), ("Pat", ""), ("<>", "p@x")])
def test_repository_without_a_usable_identity_commits_as_noface(tmp_path, name, email):
    bench = a_bench(tmp_path)
    git(bench.path, "config", "user.name", name)
    git(bench.path, "config", "user.email", email)
    bench.plumbing = Plumbing(discover(bench.path))
    write(bench.begin(), {"a.txt": "x\n"})
    commit = bench.take().snapshot.commit
    assert bench.plumbing.git.ask("log", "-1", "--format=%an <%ae> %cn", commit) == "noface <noface@localhost> noface"


@pytest.mark.parametrize("name", ['Quo"te \\ back', "semi;colon #hash 日本"])
def test_odd_names_of_people_reach_their_commits_and_the_agents(tmp_path, name):
    bench = a_bench(tmp_path)
    git(bench.path, "config", "user.name", name)
    bench.plumbing = Plumbing(discover(bench.path))
    write(bench.begin(), {"a.txt": "x\n"})
    git(bench.work, "commit", "-q", "-a", "-m", "agent")
    assert git(bench.work, "log", "-1", "--format=%an") == name
    assert bench.plumbing.git.ask("log", "-1", "--format=%an", bench.take().snapshot.commit) == name


def test_sha256_repository_works_from_slot_to_landing(tmp_path):
    bench = a_bench(tmp_path, None, "--object-format=sha256")
    assert bench.repository.object_format == "sha256"
    old = bench.main
    write(bench.begin(), {"a.txt": "landed\n", "new.txt": "new\n"})
    assert git(bench.work, "status", "--porcelain") == "M a.txt\n?? new.txt".replace("M", " M")
    snapshot = bench.take(("new.txt",)).snapshot
    assert {c.path for c in snapshot.changes} == {"a.txt"}
    checkout(bench.slot, snapshot.candidate)
    assert bench.plumbing.merge(old, snapshot.candidate).tree == snapshot.candidate_tree
    bench.plumbing.refs.apply(RefUpdate("refs/noface/issues/7/1", snapshot.candidate))
    assert advance(bench.plumbing, old, snapshot.candidate, "landing") == Landed(snapshot.candidate)
    assert (listing(bench.path)["a.txt"], git(bench.path, "status", "--porcelain")) == (b"landed\n", "")


def shallow_clone(tmp_path):
    source = a_repository(tmp_path / "source")
    for number in range(3):
        write(source, {"a.txt": f"{number}\n"})
        git(source, "commit", "-qam", str(number))
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "project")
    path = tmp_path / "project"
    git(path, "config", "user.name", "Pat")
    git(path, "config", "user.email", "pat@example.org")
    return Bench(path, tmp_path, Plumbing(discover(path)))


def test_shallow_clone_works_from_slot_to_landing(tmp_path):
    bench = shallow_clone(tmp_path)
    assert bench.repository.shallow
    old = bench.main
    write(bench.begin(), {"a.txt": "landed\n"})
    assert git(bench.work, "log", "--format=%s") == "2"
    new = bench.take().snapshot.candidate
    merge = bench.plumbing.merge(bench.merged({"src/b.txt": "theirs\n"}), new)
    assert merge.conflicts == ()
    assert merge.tree is not None
    assert advance(bench.plumbing, old, new, "landing") == Landed(new)


def test_shallow_clone_that_is_completed_during_a_run_goes_on_working(tmp_path):
    bench = shallow_clone(tmp_path)
    write(bench.begin(), {"a.txt": "landed\n"})
    git(bench.path, "fetch", "-q", "--unshallow")
    bench.take()
    assert len(git(bench.begin(), "log", "--format=%s").split("\n")) == 4


def test_histories_without_a_common_commit_are_a_conflict_and_no_crash(tmp_path):
    bench = a_bench(tmp_path)
    stranger = bench.plumbing.commit_tree(bench.plumbing.tree(bench.main), (), "stranger")
    merge = bench.plumbing.merge(bench.main, stranger)
    assert merge.tree is None
    assert merge.conflicts


def test_conflicting_paths_are_named(tmp_path):
    bench = a_bench(tmp_path)
    odd = {"new\nline": "1\n", os.fsdecode(b"\xff"): "1\n", "a.txt": "1\n"}
    ours, theirs = bench.merged(odd), bench.merged(dict.fromkeys(odd, "2\n"))
    assert set(bench.plumbing.merge(ours, theirs).conflicts) == set(odd)


def test_landed_issues_are_read_from_mains_first_parents(tmp_path):
    bench = a_bench(tmp_path)
    git(bench.path, "config", "log.showSignature", "true")
    git(bench.path, "config", "log.decorate", "full")
    git(bench.path, "config", "color.ui", "always")
    landed = []
    for issue in ("7", "later\x85line", "ünï"):
        words = f"work\n\nNoface-Issue: {issue}\nNoface-Attempt: 1\nNoface-Base: {bench.main}\n"
        git(bench.path, "commit", "-q", "--allow-empty", "-m", words)
        landed.append((issue, bench.main))
    git(bench.path, "commit", "-q", "--allow-empty", "-m", "talks of it\n\nNoface-Issue: no trailer\n\nmore text\n")
    assert landed_issues(bench.plumbing) == tuple(landed)


TRAILERS = "Noface-Issue: 7\nNoface-Attempt: 1"


class History:
    """Commits on main: what people do with the message of a landing, and what noface itself makes."""

    def __init__(self, tmp_path):
        self.bench = a_bench(tmp_path)
        self.before = self.bench.main
        tree = self.git("rev-parse", "HEAD^{tree}")
        made = [self.made(tree, self.before, outcome=outcome) for outcome in ("PASSED", "TEST_FAILURE")]
        self.attempt, self.half_done = made
        self.tree, self.other = tree, self.git("commit-tree", tree, "-p", self.before, "-m", "a person's work")

    def git(self, *args):
        return git(self.bench.path, *args)

    def made(self, tree, *parents, outcome="", base="", more="", attempt=1):
        last = [f"Noface-{key}: {value}" for key, value in (("Outcome", outcome), ("Base", base)) if value]
        words = "\n".join([f"Work\n{more}", f"Noface-Issue: 7\nNoface-Attempt: {attempt}", *last])
        return self.git("commit-tree", tree, *(part for each in parents for part in ("-p", each)), "-m", words)

    def on_main(self, commit, why="commit: by hand"):
        self.git("update-ref", "-m", why, "refs/heads/main", commit)
        return [issue for issue, _ in landed_issues(self.bench.plumbing)]


NONE = {
    "quoted at the end": lambda h: h.made(h.tree, h.before),
    "quoted in the body": lambda h: h.git("commit-tree", h.tree, "-p", h.before, "-m", f"Look\n\n{TRAILERS}\n\nat that"),
    "a revert that takes the message along": lambda h: h.made(h.tree, h.before, more="\nThis reverts it.\n"),
    "a cherry-pick of a merge": lambda h: h.made(h.tree, h.before, more="\n(cherry picked from commit abc)\n"),
    "a cherry-pick of a squashed one": lambda h: h.made(h.tree, h.before, base="1" * 40),
    "a merge of something else": lambda h: h.made(h.tree, h.before, h.other),
    "a merge of what quotes it": lambda h: h.made(h.tree, h.before, h.made(h.tree, h.other)),
    "half-done work that a person takes": lambda h: h.half_done,
    "another issue's attempt": lambda h: h.git("commit-tree", h.tree, "-p", h.before, "-p", h.attempt, "-m", "A\n\nNoface-Issue: 8"),
    "several at once": lambda h: h.made(h.tree, h.before, h.attempt, more="\nb\n\nNoface-Issue: 8"),
}  # fmt: skip
LANDED = {
    "merged": lambda h: h.made(h.tree, h.before, h.attempt),
    "squashed": lambda h: h.made(h.tree, h.before, base=h.before),
    "rebased by a person": lambda h: h.attempt,
    "added to a pull request": lambda h: h.made(h.tree, h.other, h.before, base=h.other, attempt=2),
}


@pytest.mark.parametrize("name", NONE)
def test_a_commit_that_quotes_a_landing_is_none(tmp_path, name):
    history = History(tmp_path)
    assert history.on_main(NONE[name](history)) == []


@pytest.mark.parametrize("name", LANDED)
def test_a_landing_is_known_by_where_it_stands(tmp_path, name):
    history = History(tmp_path)
    assert history.on_main(LANDED[name](history)) == ["7"]


def test_entries_of_more_paths_than_fit_on_a_command_line_are_found(tmp_path):
    bench = a_bench(tmp_path, {"a.txt": "a\n", "folder/x": "x\n", "folderly/y": "y\n", "star*": "s\n", "starry": "t\n"})
    few = ("a.txt", "folder", "star*", "missing")
    many = (*few, *(f"missing/{'x' * 150}/{number}" for number in range(20_000)))
    assert set(bench.plumbing.entries(bench.main, few)) == {"a.txt", "folder/x", "star*"}
    assert bench.plumbing.entries(bench.main, many) == bench.plumbing.entries(bench.main, few)


def test_folder_that_is_gone_is_never_replaced_by_the_one_noface_runs_in(tmp_path):
    from noface.git.command import Git

    path = a_repository(tmp_path / "project")
    script = (
        f"from noface.git.command import Git; print(Git.user({str(tmp_path / 'gone')!r}).run('rev-parse', 'HEAD').code)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=path, env=ENV, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "128\n"
    assert Git.user(str(path)).run("rev-parse", "HEAD").code == 0
