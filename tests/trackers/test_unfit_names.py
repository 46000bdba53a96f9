"""What nobody could push, or check out on a Mac or on Windows: it is refused where the change adds it."""

import os
import subprocess

import pytest
from support.cases import cases, first_ones
from support.git_ground import ENV, a_repository, git

from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.git.server_checks import refused
from noface.integrity.diff.names import may_be_refused, unfit_names
from noface.integrity.diff.rules import Diff, DiffLimits, examine
from noface.model.attempt import FileChange
from noface.model.taxonomy import FailureKind

ABSENT, FILE, SUBMODULE = "000000", "100644", "160000"


def write_and_commit(path, files):
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "more")


def let_in(path, server):
    """True if a server that checks what is pushed takes main."""
    git(path, "init", "-q", "--bare", str(server))
    git(server, "config", "receive.fsckObjects", "true")
    done = subprocess.run(
        ["git", "-C", path, "push", "-q", server, "main"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or "unpack" in done.stderr, done.stderr
    return done.returncode == 0


def added(*paths, mode=FILE):
    return tuple(FileChange(path, "A", ABSENT, mode, "0" * 40, "1" * 40) for path in paths)


def removed(*paths):
    return tuple(FileChange(path, "D", FILE, ABSENT, "1" * 40, "0" * 40) for path in paths)


def found(changes, on_main=(), asked=()):
    return [(each.rule.value, each.path) for each in unfit_names(tuple(changes), frozenset(on_main), asked)]


LIKE_GIT = [
    ".git",
    ".GIT",
    "git~1",
    "GIT~1",
    ".git.",
    ".git ",
    ".git . .",
    ".git::$INDEX_ALLOCATION",
    ".git:stream",
    ".g\u200cit",
    "\ufeff.gi\u206ft",
    ".Git\u202e",
]


def test_a_name_that_means_git_elsewhere_is_shown_to_git_which_refuses_it(tmp_path):
    path = a_repository(tmp_path / "project")
    plumbing = Plumbing(discover(path))
    blob = plumbing.git.ask("rev-parse", "HEAD:a.txt")
    for name in (*LIKE_GIT, "a\\.git", ".gitx", "git~2", ".gi\u0301t", "x.git", "git"):
        tree = plumbing.git.ask("mktree", "-z", stdin=f"{FILE} blob {blob}\t{name}\0")
        wrong = name in LIKE_GIT or "\\" in name
        assert [check for _, check, _ in refused(plumbing, tree, (plumbing.main(),))] == ["hasDotgit"] * wrong, name
        assert may_be_refused([f"src/{name}/x"]) or not wrong, name


WINDOWS = [
    "aux",
    "src/aux.c",
    "NUL.txt",
    "com1/x",
    "lpt9.tar.gz",
    "CONIN$",
    "aux .c",
    "a:b",
    "what?.md",
    "a*b",
    'a"b',
    "a|b",
    "<a>",
    "a\\b",
    "a\nb",
    "a\x01b",
    "ends.",
    "ends /x",
    "dir./x",
]


@cases("path", WINDOWS, ids=ascii)
def test_a_name_that_windows_cannot_hold_is_refused_where_main_has_none_and_nobody_asked_for_it(path):
    assert [rule for rule, _ in found(added(path), ["a.txt"])] == ["windows-names"]
    assert found(added(path), ["a.txt", "other:name"]) == []
    assert found(added(path), ["a.txt"], (path.rpartition("/")[0] or path, path)) == []


@cases(
    "path",
    [
        "auxiliary.c",
        "console/x",
        "com10",
        "common.py",
        "src/null.rs",
        "[id]/+page.svelte",
        ".env.example",
        ".github/x",
        "a b/c d.txt",
        "naïve 日本.txt",
        "prn_test.py",
        "x.aux",
        "...x",
        "a'b(1)#&@!~$%^;,=+{}.txt",
        os.fsdecode(b"not-utf8-\xff.txt"),
    ],
    ids=ascii,
)
def test_names_that_every_system_holds_are_no_finding(path):
    assert found(added(path), ["a.txt"]) == []


def test_what_main_has_already_and_what_goes_is_no_finding():
    edited = FileChange("aux.c", "M", FILE, FILE, "1" * 40, "2" * 40)
    assert found([edited, *removed("a:b")], ["aux.c", "a:b"]) == []


@pytest.mark.parametrize(
    ("on_main", "new", "told"),
    [
        (["README.md"], ["readme.md"], ["readme.md"]),
        (["Docs/a.md"], ["docs/b.md"], ["docs"]),
        (["Docs/a.md"], ["docs/b.md", "docs/c/d.md", "x.md"], ["docs"]),
        (["Docs/a.md", "docs/b.md"], ["docs/A.md"], ["docs/A.md"]),
        (["src/Tool"], ["src/tool/main.py"], ["src/tool"]),
        (["caf\u00e9.txt"], ["cafe\u0301.txt"], ["$'cafe\\u0301.txt'"]),
        (["STRAẞE"], ["straße"], ["straße"]),
        (["ΣΑΣ"], ["σας"], ["σας"]),
        ([], ["One", "one"], ["One"]),
    ],
)
def test_a_second_name_that_is_the_same_elsewhere_is_refused(on_main, new, told):
    assert found(added(*new), on_main) == [("twin-names", path) for path in told]
    assert found(added(*new), on_main, ("**",)) == []


@pytest.mark.parametrize(
    ("on_main", "changes"),
    [
        (["README.md"], [*removed("README.md"), *added("readme.md")]),
        (["Docs/a", "Docs/b"], [*removed("Docs/a", "Docs/b"), *added("docs/a", "docs/b")]),
        (["README", "readme"], added("other")),
        (["Docs/a", "docs/b"], added("docs/c", "Docs/d")),
        (["straße"], added("strasse")),
        (["a/b"], added("A b", "ab", "a.b")),
    ],
)
def test_a_rename_of_letter_case_and_twins_of_main_s_own_are_no_finding(on_main, changes):
    assert found(changes, on_main) == []


def test_half_a_rename_of_a_folder_s_case_is_refused():
    changes = [*removed("Docs/a"), *added("docs/a")]
    assert found(changes, ["Docs/a", "Docs/b"]) == [("twin-names", "docs")]


CASSETTE = "tests/cassettes/GET localhost:8000 items?page=1.yaml"
SPELLED = [
    (CASSETTE, f"Record `{CASSETTE}`.", True),
    (CASSETTE, "It records `GET localhost:8000 items?page=1.yaml`, one a test.", True),
    (CASSETTE, "The recorder calls its files `METHOD host:port path?query.yaml`.", True),
    (CASSETTE, "The recorder's cassettes are `METHOD host:port path.yaml`.", False),  # of a ? it does not speak
    (CASSETTE, "Cassettes are YAML files such as `items.yaml`; see https://x.example/a?b:c.", False),
    ("src/aux.c", "Write src/aux.c, the auxiliary part.", True),
    ("src/aux.c", "An auxiliary part is needed, aux.cpp say.", False),
    ("readme.MD", "There has to be a `readme.MD` beside README.md.", True),
    ("what?.md", "What is in it?", False),
]


@cases(("path", "words", "asked"), SPELLED, ids=ascii)
def test_names_that_the_issue_spells_out_are_its_work(path, words, asked):
    assert (unfit_names(added(path), frozenset(["README.md"]), (), words) == ()) == asked


@pytest.mark.parametrize("name", ["a:b c?.txt", "don't:x", "a:\u200bb", "é:ü", "a\\b'c\td"])
def test_a_path_in_a_message_can_be_copied_into_a_command(tmp_path, name):
    (told,) = {each.path for each in unfit_names(added(name), frozenset())}
    subprocess.run(["bash", "-c", f"touch -- {told}"], cwd=tmp_path, check=True, env=ENV | {"LC_ALL": "C.UTF-8"})
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_submodule_that_nobody_asked_for_is_refused():
    moved = FileChange("lib", "M", SUBMODULE, SUBMODULE, "1" * 40, "2" * 40)
    put = FileChange("lib", "T", FILE, SUBMODULE, "1" * 40, "2" * 40)
    gone = FileChange("lib", "D", SUBMODULE, ABSENT, "1" * 40, "0" * 40)
    for change in (put, *added("lib", mode=SUBMODULE)):
        assert found([change], ["lib"]) == [("submodule", "lib")]
        assert found([change], ["lib"], ("lib",)) == []
    assert found([moved], ["lib"]) == []  # told once, and left out if it is done again
    assert found([gone], ["lib"]) == []


def test_findings_are_boundary_violations_that_say_which_path_why_and_what_to_do():
    unfit = unfit_names(added("aux.c", "readme"), frozenset(["README"]))
    failures = examine(Diff(added("aux.c"), "", unfit=unfit), DiffLimits())
    assert [failure.rule for failure in failures] == ["twin-names", "windows-names"]
    assert {failure.kind for failure in failures} == {FailureKind.BOUNDARY_VIOLATION}
    messages = [failure.message for failure in failures]
    assert "readme (README is there); use the spelling that is there" in messages[0]
    assert "aux.c (no file of Windows is called so); give them other names, or name them in the issue's" in messages[1]


# What git itself reads


@pytest.mark.parametrize(
    "path", ["a/.gitattributes", ".GITMODULES .", "gitatt~1/x", ".git\u200cmodules", "gi7eba~1", "a\\.git", ".mailmap"]
)
def test_git_is_asked_about_all_names_that_it_looks_at(path):
    assert may_be_refused([path])


def test_git_is_not_asked_about_ordinary_names():
    assert not may_be_refused(["src/gitattributes.py", ".env", "a/b.git", "digit/x.md", "naïve 日本.txt"])


WRONG = [
    ({".gitattributes": "*.txt " + "x" * 2100 + "\n"}, "gitattributesLineLength", ".gitattributes"),
    (
        {"a/.gitmodules": '[submodule "../x"]\n\tpath = x\n\turl = https://example.org/x\n'},
        "gitmodulesName",
        "a/.gitmodules",
    ),
    ({".GitModules": '[submodule "x"]\n\tpath = x\n\turl = -x\n'}, "gitmodulesUrl", ".GitModules"),
    ({"a/.git\u200cmodules": '[submodule "x"]\n\tpath = x\n\turl = -u./x\n'}, "gitmodulesUrl", "a/.git\u200cmodules"),
    (
        {".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = https://example.org/x\n\tupdate = !id\n'},
        "gitmodulesUpdate",
        ".gitmodules",
    ),
    ({".gitmodules": '[submodule "x"]\n\tpath = -x\n\turl = https://example.org/x\n'}, "gitmodulesPath", ".gitmodules"),
    ({"a/.gitmodules/x": "x"}, "gitmodulesBlob", "a/.gitmodules"),
    ({".gitattributes/x": "x"}, "gitattributesBlob", ".gitattributes"),
]
FINE = [
    {".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = https://example.org/x\n'},
    {".gitmodules": '[submodule "x"\n<<<<<<<\n'},  # it cannot be read, and no server minds
    {".gitattributes": "*.txt text=auto\n", "a/.gitattributes": ""},
]


@pytest.mark.parametrize(("files", "check", "path"), [*WRONG, *((files, None, "") for files in FINE)])
def test_git_is_asked_what_it_has_against_what_a_commit_brings(tmp_path, files, check, path):
    """As a server says that checks, and only of what main has not, by the words of git's own checks.

    Of 1,259 commits of this repository's first parents none is refused; git was asked about 11, for 26 ms in the middle.
    """
    project = a_repository(tmp_path / "project")
    plumbing = Plumbing(discover(project))
    main = plumbing.main()
    write_and_commit(project, files)
    new = plumbing.resolve("HEAD")
    said = refused(plumbing, new, (main,))
    assert {(refusal, where) for where, refusal, _ in said} == ({(check, path)} if check else set())
    assert let_in(project, tmp_path / "server.git") is not bool(said)
    assert refused(plumbing, new, (new,)) == ()
    write_and_commit(project, {**files, **{name: f"{text}\n" for name, text in files.items()}})
    assert refused(plumbing, "HEAD", (main, new)) == ()  # the same words of the same place are no news


# In a run


@pytest.fixture
def attempt(project):
    """Run a worker's steps on an issue of one attempt; give back the attempt."""

    def run(steps, before=None, code=3, extra="", **issue):
        for name, text in (before or {}).items():
            project.write(name, text)
        canary = project.folder / "gate-ran"
        project.config(gate=f"touch {canary}", extra=extra)
        project.play(("7", 0, steps))
        project.issue(7, body="Once more.", max_attempts=1, **issue)
        project.commit()
        canary.unlink(missing_ok=True)
        project.run(code=code)
        return project.attempts("7")[0]

    return run


@pytest.mark.parametrize(
    ("shell", "rule", "told"),
    first_ones(
        [
            ("echo x > A.TXT", "twin-names", "A.TXT (a.txt is there)"),
            ("mkdir SRC; echo x > SRC/new.txt", "twin-names", "SRC (src is there)"),
            ("echo x > aux.py", "windows-names", "aux.py (no file of Windows is called so)"),
            ("mkdir -p $'x/.g\\u200cit'; echo x > $'x/.g\\u200cit/config'", "git-fsck", "x (hasDotgit"),
        ],
        rows=True,
    ),
)
def test_what_nobody_can_push_does_not_land(attempt, project, shell, rule, told):
    done = attempt([{"shell": shell}], before={"src/b.txt": "b\n"})
    assert (done["outcome"], done["failure"]["rule"]) == ("BOUNDARY_VIOLATION", rule)
    assert told in done["failure"]["message"]
    assert done["gates"] == []


@pytest.mark.parametrize(
    ("issue", "rules"), first_ones([({"may_change": ["lib"]}, [None]), ({}, ["left-in", None])], rows=True)
)
def test_a_submodule_that_a_person_s_branch_moves_lands_only_where_the_issue_names_it(project, issue, rules):
    inner = a_repository(project.folder / "inner")
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    project.config()
    project.play(("7", 1, [{"exit": 3}]), ("*", 0, [{"write": "b.txt", "text": "work\n"}]))
    project.issue(7, max_attempts=1)
    project.commit()
    project.run(code=3)
    git(inner, "commit", "-q", "--allow-empty", "-m", "second")
    moved = git(inner, "rev-parse", "HEAD")
    git(project.path / "lib", "fetch", "-q")
    project.git("checkout", "-q", "-B", "noface/7", "main")
    project.git("update-index", "--cacheinfo", f"{SUBMODULE},{moved},lib")
    project.git("commit", "-q", "-m", "moved")
    project.git("checkout", "-q", "main")
    project.noface("retry", "7")
    project.issue(7, body="Once more.", max_attempts=1, **issue)
    project.commit("asked for")
    project.run()
    assert (project.git("rev-parse", "main:lib") == moved) == bool(issue)
    assert [each["failure"] and each["failure"]["rule"] for each in project.attempts("7")[1:]] == rules
