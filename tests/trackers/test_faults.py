"""Every way an issue file can be broken, by real files: a fault names it, and the rest goes on."""

import os
import socket
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest

from noface.trackers.files import FilesTracker


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "issues").mkdir()
    (tmp_path / "issues" / "5-sound.md").write_text("# Sound\n\nb\n")
    return tmp_path / "issues"


def the_fault(folder):
    """The only fault, after making sure that the sound issue is still there."""
    backlog = FilesTracker(folder.parent).backlog()
    assert [issue.id for issue in backlog.issues] == ["5"]
    (fault,) = backlog.faults
    assert fault.hint
    assert fault.problem.isprintable()
    return fault


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"# T\n\nlatin \xe9\n", "line 3: not UTF-8"),
        ("# T".encode("utf-16"), "not UTF-8"),
        ("# T\n".encode("utf-16-le"), "holds a NUL"),
        (b"# T\n\n\n a\0b", "line 4: holds a NUL"),
        (b"+++\ntitle = \n+++\nb", "(at line 2, column 9)"),
        (b'\n+++\npriority = 1\ntitle = "a\n+++\nb', "(at line 4, column 11)"),
        (b"+++\ntitle = 'T'\nlabels = [\n+++\nb", "not valid TOML: Invalid value (at end of document)"),
        (b"+++\ntitle = 'T'\n\nbody", "line 1: the front matter opened by +++ is never closed"),
        (b"---\ntitle: T\n---\nb", "YAML front matter"),
        (b"", "there is no title"),
        (b"just text", "there is no title"),
        (b"+++\npriority = 1\n+++\nb", "there is no title"),
        (b"# a\x1b[31mb\n", "control character '\\x1b'"),
        (b"# " + b"x" * 501, "501 characters"),
        (b"+++\ntitle = ''\n+++\n# H\n", "line 2: the title is empty"),
        (b'+++\ntitle = "a\\nNoface-Issue: 1"\n+++\n', "line 2: the title must be one line"),
        (b"+++\ntitle = 3\n+++\n", "line 2: title must be one line of text, not 3"),
        (b"+++\ntitle = 'T'\n\npriorty = 1\n+++\n", "line 4: unknown key 'priorty': did you mean priority?"),
        (b"+++\ntitle = 'T'\nzzz = 1\n+++\n", "the keys are title, priority"),
        (b"+++\ntitle = 'T'\n[depends]\non = 1\n+++\n", "line 3: unknown key 'depends': did you mean depends_on?"),
        (b"+++\ntitle = 'T'\npriority = 10\n+++\n", "line 3: priority must be a whole number from 0"),
        (b"+++\ntitle = 'T'\npriority = true\n+++\n", "not True"),
        (b"+++\ntitle = 'T'\nlabels = 'x'\n+++\n", "labels must be a list of strings"),
        (b"+++\ntitle = 'T'\ndepends_on = [5, true]\n+++\n", "its entry 2 is True"),
        (b"+++\ntitle = 'T'\ndepends_on = 5\n+++\n", "line 3: depends_on must be a list of ids"),
        (b"+++\ntitle = 'T'\npaths = ['/etc']\n+++\n", "'/etc' leads out of the repository"),
        (b"+++\ntitle = 'T'\npaths = ['a/../../b']\n+++\n", "leads out of the repository"),
        (b"+++\ntitle = 'T'\npaths = ['~/x']\n+++\n", "leads out of the repository"),
        (b"+++\ntitle = 'T'\naccept = ['']\n+++\n", "line 3: accept"),
        (b'+++\ntitle = "T"\naccept = "a\\u0000b"\n+++\n', "line 3: accept"),
        (b"+++\ntitle = 'T'\nmax_attempts = 0\n+++\n", "max_attempts must be a whole number from 1 up, not 0"),
        (b"+++\ntitle = 'T'\ntier = 0\n+++\n", "line 3: tier must be a whole number from 1 to 9, the lowest tier"),
        (b"+++\ntitle = 'T'\ntier = 10\n+++\n", "not 10"),
        (b"+++\ntitle = 'T'\ntier = '2'\n+++\n", "not '2'"),
        (b"+++\ntitle = 'T'\naccept_timeout = 0\n+++\n", "accept_timeout must be a duration above zero"),
        (b"+++\ntitle = 'T'\nno_escalate = 'no'\n+++\n", "no_escalate must be true or false"),
        (b"+++\ntitle = 'T'\nmodel = []\n+++\n", "model must be the name of a model"),
        (b"+++\nx = " + b"[" * 9_000 + b"\n+++\n", "nested too deeply"),
        (b"+++\nx = " + b"9" * 5_000 + b"\n+++\n", "not valid TOML"),
        (b"+++\nx = '" + b"y" * 17_000 + b"'\n+++\n", "at most 16384 are allowed"),
        (b"+++\n" + b"".join(b"k%d=1\n" % at for at in range(1000)) + b"+++\n", "and 980 problems more"),
        (b"+++\ntitle = 'T'\n+++\n" + b"x" * 1_048_577, "1 MiB"),
        (b"+++\ntitle = 'T'\n+++\n" + b"x" * 3_000_000, "has 3000020 bytes"),
        (b"+++\ntitle = 'T'\ndepends_on = ['nope']\n+++\nb", "'nope', which does not exist"),
        (b"+++\ntitle = 'T'\ndepends_on = [1]\n+++\nb", "depends on itself"),
    ],
)
def test_a_broken_file_is_a_fault_that_says_what_is_wrong_and_where(folder, data, said):
    (folder / "1-broken.md").write_bytes(data)
    fault = the_fault(folder)
    assert said in fault.problem
    assert (fault.source, fault.id) == ("issues/1-broken.md", "1")


def test_all_problems_of_a_file_are_told_together_with_their_lines(folder):
    (folder / "1-x.md").write_text(
        "\n+++\npriority = 12\nlabel = []\npaths = ['../a', '/b', 'ok']\n+++\n\nno heading\n"
    )
    problem = the_fault(folder).problem
    for said in ("line 3: priority", "line 4: unknown key 'label'", "line 5: paths: '../a'", "line 5: paths: '/b'"):
        assert said in problem
    assert "'ok'" not in problem


def test_a_bad_name_and_bad_content_are_told_together(folder):
    (folder / "has space.md").write_bytes(b"\xff")
    fault = the_fault(folder)
    assert fault.id is None
    assert "not UTF-8" in fault.problem
    assert "'has space' is not usable" in fault.problem


@pytest.mark.parametrize(
    "name",
    [
        b"-x.md",
        b"a b.md",
        b"x.lock.md",
        b"x..y.md",
        b"x..md",
        b"\xff\xfe.md",
        b"a\nb.md",
        b"\x1b[31m.md",
        "ü.md".encode(),
        b"a" * 65 + b".md",
        b"1" * 65 + b"-x.md",
    ],
)
def test_a_file_name_that_gives_no_usable_id_is_a_fault_that_can_be_printed(folder, name):
    with open(os.fsencode(folder) + b"/" + name, "w") as file:  # noqa: PTH123 - the name is bytes
        file.write("# Sound but for its name\n\nb\n")
    fault = the_fault(folder)
    assert fault.id is None
    assert "the id " in fault.problem
    fault.source.encode("utf-8")
    assert fault.source.isprintable()


def test_all_files_that_share_an_id_are_faulty(folder):
    for name in ("7-a.md", "007-b.md", "7.md"):
        (folder / name).write_text("# T\n\nb\n")
    backlog = FilesTracker(folder.parent).backlog()
    assert [issue.id for issue in backlog.issues] == ["5"]
    assert {fault.source for fault in backlog.faults} == {"issues/7-a.md", "issues/007-b.md", "issues/7.md"}
    for fault in backlog.faults:
        assert "issues/7-a.md" in fault.problem
        assert "issues/007-b.md" in fault.problem


def test_a_broken_file_makes_its_dependants_and_its_namesake_faulty(folder):
    (folder / "1-broken.md").write_bytes(b"\xff")
    (folder / "2-waits.md").write_text("+++\ntitle = 'T'\ndepends_on = [1]\n+++\nb\n")
    (folder / "01-same.md").write_text("# T\n\nb\n")
    backlog = FilesTracker(folder.parent).backlog()
    assert [issue.id for issue in backlog.issues] == ["5"]
    assert {fault.id for fault in backlog.faults} == {"1", "2", "01"}


def bind(path):
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)


def link(target):
    return lambda path: path.symlink_to(target)


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, bind, *map(link, ("5-sound.md", "gone.md", "1-odd.md", "/dev/zero", "."))]
)
def test_what_is_no_regular_file_is_a_fault_and_never_opened(folder, make):
    make(folder / "1-odd.md")
    assert "is no regular file" in the_fault(folder).problem


def test_a_sparse_giant_is_refused_by_its_size_alone(folder):
    with (folder / "1-giant.md").open("wb") as file:
        file.truncate(3_000_000_000)
    assert "3000000000 bytes" in the_fault(folder).problem


@contextmanager
def without_root():
    """Root may read everything: give that up for a while. Anyone else is what they are."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(was)


def test_an_unreadable_file_is_a_fault_until_it_can_be_read(folder, tmp_path):
    tmp_path.chmod(0o755)
    path = folder / "1-secret.md"
    path.write_text("# T\n\nb\n")
    path.chmod(0)
    os.utime(path, (1_000_000, 1_000_000))
    # A relative root: the folders above tmp_path need not be open to others.
    with chdir(tmp_path):
        tracker = FilesTracker(Path())
        with without_root():
            mark = tracker.fingerprint()
            backlog = tracker.backlog()
        assert [issue.id for issue in backlog.issues] == ["5"]
        assert [fault.problem for fault in backlog.faults] == ["cannot be read: Permission denied"]
        # What hindered may vanish without a trace in the listing: here the reader becomes root again.
        assert [issue.id for issue in tracker.backlog().issues] == (["1", "5"] if os.geteuid() == 0 else ["5"])
        path.chmod(0o644)
        with without_root():
            assert tracker.fingerprint() != mark
            assert [issue.id for issue in tracker.backlog().issues] == ["1", "5"]
