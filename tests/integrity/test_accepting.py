"""What of an issue's `accept` is for its work, and what keeps it from showing anything."""

import pytest

from noface.integrity.accepting import its_work, notes_on, of_its_work, out_of_reach
from noface.model.failure import Failure
from noface.model.gate import GateSpec
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind


def missed(line, rule="gate.file-missing", location=None):
    return Failure(
        FailureKind.ENVIRONMENT, line, rule, location, signature=f"E:{line}", evidence=(line,), gate="accept"
    )


_NOT_FOUND = "shell.command-not-found"
_MAIN = missed("make: *** No rule to make target 'report'.")


@pytest.mark.parametrize(
    ("failure", "on_main", "command", "new", "blamed"),
    [
        (missed("grep: docs/a.md: No such file or directory"), "same", "grep -q x docs/a.md", {"b.txt": "x"}, True),
        (missed("cat: dist/out.txt: No such file or directory"), None, "make && cat dist/out.txt", {}, True),
        (missed("cat: out.txt: No such file or directory"), None, "make && cat out.txt", {}, True),
        (missed("cat: /etc/rates: No such file or directory"), None, "make && cat /etc/rates", {}, False),
        (missed("a.sh: line 2: pandoc9: command not found", _NOT_FOUND), None, "bash a.sh", {"a.sh": "pandoc9 x"}, True),
        (missed("a.sh: line 2: pandoc9: command not found", _NOT_FOUND), None, "bash a.sh", {"b.txt": "x"}, False),
        (missed("bash: line 1: docker9: command not found", _NOT_FOUND), None, "test -e D && docker9 b", {"D": "x"}, False),
        (missed("make: pandoc9: No such file or directory"), None, "make report", {"Makefile": "\tpandoc9 x"}, True),
        (missed("make: pandoc9: No such file or directory"), None, "make report", {"x.py": "y"}, False),
        (missed("bash: line 1: ./bin/tool: Permission denied", "shell.x"), None, "./bin/tool -v", {"bin/tool": "x"}, True),
        (missed("curl: (7) Failed to connect to 127.0.0.1 port 8123: Connection refused", "network.tool"), None, "bash s.sh", {}, True),
        (missed("ConnectionRefusedError: [Errno 111] Connection refused", "service.down"), "same", "python c.py", {}, True),
        (missed("connect to db.example.org:5432 failed: Connection refused", "service.down"), None, "python c.py", {}, False),
        (missed("curl: (6) Could not resolve host: x.example", "network.tool"), "same", "curl x.example", {}, False),
        (missed("Cannot connect to the Docker daemon", "docker.daemon"), "same", "docker build .", {}, False),
        (missed("Error: Cannot find module './lib/sum'", "node.module"), None, "node t.js", {"t.js": "x"}, True),
    ],
)  # fmt: skip
def test_whom_a_missing_thing_is_laid_to(failure, on_main, command, new, blamed):
    tree = {"a.sh", "Makefile", "docs/b.md", *new}
    assert bool(of_its_work(failure, failure if on_main else _MAIN, command, new, tree)) is blamed


@pytest.mark.parametrize(
    ("path", "command", "body", "paths", "work"),
    [
        ("README.md", "grep -q x README.md", "README.md tells of x.", (), True),
        ("cli.py", "python cli.py --version", "`cli.py --version` prints 1.0", (), True),
        ("bin/run.sh", "bash bin/run.sh --help | grep -q usage", "", ("bin/**",), True),
        ("Makefile", "make -f Makefile x", "A rule in the Makefile.", (), True),
        ("run", "./run -v", "People run it.", (), False),
        ("run", "./run -v", "`run` gets -v.", (), True),
        ("run.sh", "bash run.sh", "run.sh ends well.", (), False),  # its exit code is all the verdict there is
        ("run.sh", "bash run.sh", "", ("run.sh",), True),
        ("checks/a.py", "python checks/a.py", "so that checks/a.py passes", ("**",), False),
        ("expected.txt", "./make | diff - expected.txt", "as expected.txt has it", (), False),
        ("tests/test_a.py", "pytest tests/test_a.py", "tests/test_a.py passes", ("tests/**",), False),
        ("tests/test_a.py", "pytest tests/test_a.py", "", ("tests/test_a.py",), True),
        ("config.ini", "grep -Eq 'x|y' config.ini", "The cart counts.", (), True),
        ("cli.py", "python cli.py --version | grep -q 1", "A version option.", (), True),
        ("cli.py", "python cli.py --version && python cli.py | wc", "A version option.", (), False),
        ("out.txt", "./make | diff - out.txt", "It makes what it should.", (), False),
        ("spec.js", "mocha spec.js | grep -q 3", "The cart counts.", (), False),
    ],
)
def test_what_accept_reads_is_the_work_if_the_issue_names_it(path, command, body, paths, work):
    issue = Issue("1", "Do it", body, paths=paths, accept=(command,))
    assert its_work(path, issue) is work
    assert its_work(path, Issue("1.1", "Do it", body, paths=paths, accept=(command,), parent="1")) is False


def test_what_can_show_nothing_or_never_passes_is_told():
    gates, paths = (GateSpec("unit", "make test"),), {"a.sh", "docs/a.md", "src/a.py"}
    told = [
        what for what, _ in notes_on(Issue("1", "x", "a.sh tells it", accept=("make  test", "bash a.sh")), gates, paths)
    ]
    assert "is the gate unit" in told[0]
    assert "accept is judged by a.sh" in told[1]
    assert list(notes_on(Issue("1", "x", "x", accept=("make lint", "bash a.sh")), gates, paths)) == []
    near = Issue("1", "x", paths=("src/**",), accept=("cat docs/b.md", "cat src/b.py", "cat docs/a.md", "cat up/c.md"))
    assert "docs/b.md" in out_of_reach(near, paths)
    assert not out_of_reach(Issue("1", "x", accept=near.accept), paths)
