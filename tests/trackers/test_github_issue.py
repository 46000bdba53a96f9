"""What the JSON of an issue on GitHub becomes: what is read of a body, what is refused, and that nothing crashes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.model.issue import Issue
from noface.model.listed import IssueFault
from noface.trackers.accept_forms import gate_form, taken_accept
from noface.trackers.github.issue import RemoteIssue, priority_of, read_remote, remote_issue

HOME = "https://github.com/acme/shop"
GATES = ("python -m pytest -q -n 2", "npm test", "make check", "ruff check . && mypy", "cd web && npm run lint")


def parsed(body, title="T", number=12, gates=GATES, **values):
    remote = RemoteIssue(number, title, body, url=f"{HOME}/issues/{number}", author="ann", **values)
    return read_remote(remote, gates)


def issue_of(body, **values):
    found = parsed(body, **values).result
    assert isinstance(found, Issue), found
    return found


def test_an_issue_of_the_api_becomes_an_issue():
    data = {
        "number": 7, "title": " Log in ", "body": "What is wanted.\r\n", "state": "open", "user": {"login": "ann"},
        "labels": [{"name": "ready-for-agent"}, {"name": "P1"}, {"name": "noface:running"}, "plain"],
        "milestone": {"title": "v2"}, "author_association": "MEMBER", "html_url": f"{HOME}/issues/7",
        "updated_at": "2026-11-22T10:00:00Z", "sub_issues_summary": {"total": 3, "completed": 1},
        "issue_dependencies_summary": {"blocked_by": 1, "total_blocked_by": 2},
    }  # fmt: skip
    remote = remote_issue(data)
    assert (remote.open_children, remote.open_blockers, remote.author) == (2, 1, "ann")
    found = read_remote(remote).result
    assert (found.id, found.title, found.body, found.priority) == ("7", "Log in", "What is wanted.", 1)
    assert found.labels == ("ready-for-agent", "P1", "plain")
    assert found.source == f"{HOME}/issues/7"


@pytest.mark.parametrize(
    "data", [None, [], "x", {}, {"number": "7"}, {"number": True}, {"number": 0}, {"number": -1}, {"number": 1.0}]
)
def test_what_is_no_issue_is_none(data):
    assert remote_issue(data) is None


@pytest.mark.parametrize(
    ("labels", "priority"),
    [
        ([], 2), (["bug"], 2), (["P0"], 0), (["p9", "P3"], 3), (["priority: high"], 1), (["Priority/Critical"], 0),
        (["priority-low"], 3), (["prio:1"], 1), (["priority: p4"], 4), (["high priority"], 1), (["priority: soon"], 2),
        (["pink"], 2), (["high"], 2), (["p10"], 2),
    ],
)  # fmt: skip
def test_labels_set_the_priority(labels, priority):
    assert priority_of(labels) == priority


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Blocked by #7", ["7"]),
        ("is **blocked by** #7.", ["7"]),
        ("**Depends on:** #7, #8 and #9; not on #10", ["7", "8", "9"]),
        ("depends on GH-4 & acme/shop#5, and #6", ["4", "5", "6"]),
        (f"blocked by {HOME}/issues/7#issuecomment-1, {HOME}/pull/8", ["7", "8"]),
        ("blocked by HTTPS://github.com/Acme/Shop/issues/7", []),
        ("Blocked by:\n\n- [ ] #7\n- [x] #8 the API\n\nSee #9", ["7", "8"]),
        ("Blocked by:\n- #7\n\nAlso see, for context:\n- #9\n\n#12 was the first report", ["7"]),
        ("## Depends on\n- [ ] #12a\n* #3\n1. #4, #5\n\nNone of #6\n# Else\n- #9", ["3", "4", "5"]),
        ("### BLOCKED BY ###\n\n#7 #8", ["7"]),
        ("### 🔗 Dependencies\n\n_No response_", []),
        ("not blocked by #7, no longer depends on #8, isn't blocked by #9", []),
        ("~~blocked by #7~~ done", []),
        ("> blocked by #7\n\n`blocked by #8`\n\n```\nblocked by #9\n```\n\n    depends on #10", []),
        ("- item\n\n    blocked by #7", ["7"]),
        ("<!-- blocked by #7 -->\n<!--\nblocked by #8\n--> blocked by #9", ["9"]),
        ("~~~\n```\n~~~\nblocked by #7", ["7"]),
        ("see #7, fixes #8, unblocked by #9", []),
        ("blocked by #7 " + "blocked by #8 " * 3000, ["7", "8"]),
    ],
)
def test_dependencies_are_read_where_they_are_meant(body, expected):
    assert list(issue_of(body).depends_on) == expected


def test_sub_issues_and_dependencies_of_the_api_count_too():
    assert issue_of("blocked by #3", children=(4, 5), blockers=(3, 6)).depends_on == ("3", "4", "5", "6")


@pytest.mark.parametrize(
    ("body", "more"),
    [
        ("blocked by other/lib#3", {}),
        ("depends on https://github.com/acme/other/issues/3", {}),
        ("b", {"elsewhere": ("acme/other#3",)}),
    ],
)
def test_a_dependency_in_another_repository_is_told_since_it_cannot_be_followed(body, more):
    fault = parsed(body, **more).result
    assert "of another repository, which noface cannot follow" in fault.problem


SECTIONS = """Do it.

## Paths
- [ ] `src/**` and `tests/test_login.py`
- docs/login.md
- the login page
- None

### Acceptance criteria
- [ ] `python -m pytest tests/test_login.py` passes
- [x] `npm test -- login`
- [ ] it looks right, see `make check`
- `make deploy`
- `npm test; curl evil`

## Notes
- `make check`
"""


def test_lists_below_headings_name_paths_and_commands_and_prose_stays_text():
    found = parsed(SECTIONS)
    assert found.result.paths == ("src/**", "tests/test_login.py", "docs/login.md")
    assert found.result.accept == ("python -m pytest tests/test_login.py", "npm test -- login")
    assert found.result.body == SECTIONS.strip("\n")
    said = [warning.problem for warning in found.warnings]
    assert [problem.split(" is left out")[0] for problem in said] == [
        "accept 'make deploy'",
        "accept 'npm test; curl evil'",
    ]
    assert "characters that are the shell's" in said[1]
    assert "`python -m pytest …`, `npm test …`, `make check …`" in found.warnings[0].hint


def test_the_answers_of_an_issue_form_are_read():
    body = "### Depends on\n\n#7, #8\n\n### Accept\n\n```shell\nnpm test -- a\n# a comment\n$ make check\n```\n\n### Files\n\n_No response_"
    found = issue_of(body)
    assert (found.depends_on, found.accept, found.paths) == (("7", "8"), ("npm test -- a", "make check"), ())


FRONT = "depends_on = [3, '#4']\npaths = ['src/**']\naccept = ['make check -s', 'rm -rf /']\npriority = 4\nmodel = 'm'"


@pytest.mark.parametrize(
    "body",
    [
        f"+++\n{FRONT}\n+++\n\nDo it.",
        f"<!-- noface\n{FRONT}\n-->\nDo it.",
        f"<!--noface\n+++\n{FRONT}\n+++\n-->\nDo it.",
        f"Do it.\n\n```toml noface\n{FRONT}\n```\n",
        f"```\n```toml noface\n```\n```toml noface\n{FRONT}\n```\n".replace(
            "```\n```toml noface\n```\n", "Do it.\n", 1
        ),
    ],
)
def test_front_matter_is_read_at_the_top_in_a_comment_or_in_a_block(body):
    found = parsed(body, labels=("P1", "ui"))
    issue = found.result
    assert (issue.body, issue.depends_on, issue.paths, issue.model) == ("Do it.", ("3", "4"), ("src/**",), "m")
    assert (issue.priority, issue.labels, issue.accept) == (4, ("P1", "ui"), ("make check -s",))
    assert ["'rm -rf /' is left out" in warning.problem for warning in found.warnings] == [True]


def test_may_change_and_a_title_are_refused_with_a_warning():
    found = parsed("+++\nmay_change = ['noface.toml']\ntitle = 'Other'\n+++\nb")
    assert (found.result.may_change, found.result.title) == ((), "T")
    assert [warning.problem.split(":")[0] for warning in found.warnings] == [
        "may_change = ['noface.toml'] is left out",
        "title is left out",
    ]


@pytest.mark.parametrize(
    ("title", "body", "said"),
    [
        ("", "b", "the title is empty"),
        ("a\x1b[31mb", "b", "control character '\\x1b'"),
        ("T\nNoface-Issue: 1", "b", "a line end"),
        ("x" * 501, "b", "501 characters"),
        ("T", "one\nb\0", "line 2: the body holds '\\x00'"),
        ("T", "x" * 1_048_577, "at most 1048576 are allowed"),
        ("T", "+++\nzzz = 1\n+++\n", "line 2: unknown key 'zzz'"),
        ("T", "b\n```toml noface\nzzz = 1\n```", "line 3: unknown key 'zzz'"),
        ("T", "<!-- noface\npaths = ['../x']\n-->", "leads out of the repository"),
        ("T", "+++\nb", "line 1: the front matter opened by +++ is never closed"),
        ("T", "## Paths\n- `/etc/passwd`", "below its heading paths: '/etc/passwd' leads out"),
        ("T", "blocked by " + ", ".join(f"#{n}" for n in range(1, 10_000)), "depends on 9999 issues, at most 100"),
        ("T", f"+++\n{'a.' * 9000}b = 1\n+++\n", "the front matter has"),
    ],
)
def test_what_cannot_be_worked_on_is_a_fault_that_says_why(title, body, said):
    fault = parsed(body, title=title).result
    assert isinstance(fault, IssueFault)
    assert said in fault.problem
    assert (fault.id, fault.source) == ("12", f"{HOME}/issues/12")
    assert fault.hint


def test_the_hash_follows_what_is_said_of_the_work_and_no_other_label():
    def mark(body="b", **values):
        return issue_of(body, **values).content_hash

    same = mark()
    assert mark(labels=("stale", "noface:running")) == same
    assert len({same, mark("c"), mark(title="U"), mark(labels=("P0",)), mark(blockers=(3,))}) == 5


@pytest.mark.parametrize(
    ("gate", "form"),
    [
        ("pytest -q tests", ("pytest",)),
        (".venv/bin/python -m pytest -q -n 2", (".venv/bin/python", "-m", "pytest")),
        ("uv run pytest", ("uv", "run", "pytest")),
        ("npm test", ("npm", "test")),
        ("make check", ("make", "check")),
        ("go test ./...", ("go", "test")),
        ("bash ci.sh", ("bash", "ci.sh")),
        ("bash -c 'x'", ()),
        ("python scripts/check.py --fast", ("python", "scripts/check.py")),
        ("CI=1 npm test", ("npm", "test")),
        ("CI=`id` npm test", ()),
        ("a && b", ()),
        ("'", ()),
    ],
)
def test_a_gates_form_is_what_says_what_it_does(gate, form):
    assert gate_form(gate) == form


@pytest.mark.parametrize(
    ("command", "taken"),
    [
        ("python -m pytest tests/test_a.py::test_b", "python -m pytest tests/test_a.py::test_b"),
        ("python -m pytest -k 'a and b'", "python -m pytest -k 'a and b'"),
        ("npm test -- --grep login", "npm test -- --grep login"),
        ("npm run lint", None),
        ("ruff check . && mypy", "ruff check . && mypy"),
        ("ruff check . && mypy --strict", None),
        ("make check", "make check"),
        ("make other", None),
        ("pytest", "python -m pytest"),
        ("python -c 'print(1)'", None),
        ("python -m pytest; id", None),
        ("python -m pytest `id`", None),
        ("python -m pytest\nid", None),
        ("npm test 'unclosed", None),
    ],
)
def test_a_command_is_taken_only_in_the_form_of_a_gate(command, taken):
    assert taken_accept(command, GATES) == taken


@pytest.mark.parametrize(
    ("gate", "command", "taken"),
    [
        (".venv/bin/python -m pytest -q", "python -m pytest tests/a.py", ".venv/bin/python -m pytest tests/a.py"),
        (".venv/bin/python -m pytest -q", "pytest tests/a.py", ".venv/bin/python -m pytest tests/a.py"),
        ("uv run pytest", "python3 -m pytest -k 'a b'", "uv run pytest -k 'a b'"),
        ("pytest", "./mine/pytest tests/a.py", "pytest tests/a.py"),
        ("/usr/bin/make check", "make check VERBOSE", "/usr/bin/make check VERBOSE"),
        (
            'PATH="$PWD/b:$PATH" A=1 b/python -m pytest -q',
            "pytest a.py",
            'PATH="$PWD/b:$PATH" A=1 b/python -m pytest a.py',
        ),
        ("A=1 npm test", "A=1 npm test x", "A=1 npm test x"),
        ("A=1 npm test", "B=1 npm test x", None),
        ("A=1 npm test", "npm test $(id)", None),
        ("npm test", "yarn test", None),
        (".venv/bin/python -m pytest", "python -m http.server", None),
    ],
)
def test_a_gate_says_how_the_program_of_a_command_is_started(gate, command, taken):
    assert taken_accept(command, (gate,)) == taken


TEXT = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            [
                "+++", "\n", "\r\n", "```", "~~~", "```toml noface", "<!--", "-->", "<!-- noface", "> ", "    ", "- [ ] ",
                "## Paths", "## Accept", "Blocked by", ":", "#7", "#", "`", "``", "~~", "not ", ", ", "and ", "a = 1",
                "may_change = ['x']", "https://github.com/acme/shop/issues/", "9", "\0", "\ud800", "\u2028", "é", "/etc",
            ]
        ),
        max_size=40,
    ).map("".join),
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "login", "title", "total"]), inner)
    ),
    max_leaves=5,
)
KEYS = ("title", "body", "labels", "milestone", "user", "html_url", "sub_issues_summary", "state")


@given(TEXT, TEXT, st.dictionaries(st.sampled_from(KEYS), JSON))
def test_reading_is_total_and_no_text_sets_may_change_or_a_command_of_its_own(title, body, more):
    remote = remote_issue({"number": 7, "title": title, "body": body} | more)
    found = read_remote(remote, GATES).result
    assert found.id == "7"
    if isinstance(found, Issue):
        assert found.may_change == ()
        assert all(taken_accept(command, GATES) == command for command in found.accept)
    else:
        assert found.problem.isprintable()


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "~~",
        "blocked by ",
        "> ",
        "```\n",
        "depends on #1, ",
        "<!-- noface\n",
        "## Paths\n- /",
        "## Acceptance\n- `a` ",
    ],
)
def test_a_hostile_body_is_read_in_linear_time(piece):
    """In quadratic time each would outlast the limit of a test."""
    begin, last = piece[:-1] if "##" in piece else "", piece[-1] if "##" in piece else piece
    assert parsed(begin + last * (500_000 // len(last)) + "x").result.id == "12"
