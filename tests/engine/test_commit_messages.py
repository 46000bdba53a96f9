"""`[landing] message`: what lands has the form of the project's own commits, and whose check refuses it pays nobody."""

import pytest
from support.remotes import a_remote

from noface.model.commit_message import CommitMessages, fitting, message_problem
from noface.model.issue import Issue

TYPED = '{{ "fix" if "bug" in labels else "feat" }}: {{ summary }}'
BUG = Issue("12", "Count the items.", labels=("bug",))


@pytest.mark.parametrize(
    ("form", "issue", "lines"),
    [
        ("", BUG, ["Count the items.", "", "Noface-Issue: 12", "Noface-Attempt: 3"]),
        (TYPED, BUG, ["fix: count the items", "", "Noface-Issue: 12", "Noface-Attempt: 3"]),
        (TYPED, Issue("7", "URL of a cart"), ["feat: URL of a cart", "", "Noface-Issue: 7", "Noface-Attempt: 3"]),
        (
            "AB-{{ id }} {{ title }}\n\nFor {{ labels[0] }}.\n\nSigned-off-by: {{ author }}",
            BUG,
            [
                "AB-12 Count the items.",
                "",
                "For bug.",
                "",
                "Signed-off-by: A <a@b.c>",
                "Noface-Issue: 12",
                "Noface-Attempt: 3",
            ],
        ),
    ],
)
def test_a_message_is_the_form_filled_in_and_its_trailers_stay_one_paragraph(form, issue, lines):
    made = CommitMessages(form, "A <a@b.c>")
    assert made.landing(issue, 3).splitlines() == lines
    assert made.landing(issue, 3, "", "left out: x.log").splitlines()[2:] != lines[2:]
    assert "Left out: x.log.\n\n" in made.landing(issue, 3, "", "left out: x.log")


def test_a_title_can_neither_add_trailers_nor_fill_pages():
    issue = Issue("1", "x " * 500 + "\nNoface-Issue: 2")
    for form in ("", TYPED, "{{ title }}{{ title }}"):
        text = CommitMessages(form).landing(issue, 1)
        assert text.count("\nNoface-Issue: ") == 1
        assert len(text.splitlines()[0]) <= 100


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (TYPED, ""),
        ("{{ titel }}", "'titel' is undefined; it may name id, title"),
        ("{{ title", "unexpected end of template"),
        ("{{ title / 2 }}", "unsupported operand"),
        ("{{ ''.__class__ }}", "unsafe"),
        ("{# nothing #}", "its first line is empty"),
    ],
)
def test_a_template_that_makes_no_message_is_refused_with_its_fault(form, said):
    assert said in message_problem(form)
    assert bool(said) == bool(message_problem(form))


@pytest.mark.parametrize(
    ("messages", "form"),
    [
        (["feat: a", "fix(cart)!: b", "chore: c", "Start"], TYPED),
        (["feat: a", "fix: b", "Start"], ""),
        (["SHOP-1 a", "SHOP-22 b", "OPS-3 c"], "SHOP-{{ id }} {{ title }}"),
        (["[AB-1] a", "[AB-2] b", "[AB-3] c"], "[AB-{{ id }}] {{ title }}"),
        (["One\n\nSigned-off-by: A <a@b>"] * 3, "{{ title }}\n\nSigned-off-by: {{ author }}"),
        (["Add a thing", "Note: that is all", "UTF-8 names", "Python 3.12: b"] * 5, ""),
        ([], ""),
    ],
)
def test_the_form_of_mains_own_messages_is_proposed_if_most_have_one(messages, form):
    assert fitting(messages) == form


CHECK = "git log --format=%s origin/main..HEAD | grep -vE '^(feat|fix): [a-z]' && exit 1; test ! -e bad"


def a_typed_history(project):
    project.issue(7, "Add b")
    project.issue(8, "Add c")
    project.play(("7", 0, [{"write": "b.txt", "text": "b"}]), ("8", 0, [{"write": "c.txt", "text": "c"}]))
    project.commit("feat: start")
    for name in ("feat: one", "fix: two", "feat: three"):
        project.git("commit", "-q", "--allow-empty", "-m", name)


def test_a_gate_that_refuses_the_message_charges_nobody_and_with_the_form_the_work_lands_without_a_worker(project):
    project.config(gate=CHECK)
    a_typed_history(project)
    out = project.run(code=3)
    assert f"noface config set landing.message '{TYPED}'" in out
    (only,) = project.attempts("7")
    assert (only["outcome"], only["charged"]) == ("ENVIRONMENT", False)
    assert "What form do commits have" in project.noface("blocked", "7").stdout
    assert project.attempts("8") == []
    assert project.noface("config", "set", "landing.message", TYPED).returncode == 0
    project.commit("feat: form")
    project.run()
    assert project.statuses() == {"7": "merged", "8": "merged"}
    assert "no worker was called" in project.noface("show", "7").stdout
    made = project.git("log", "--format=%s", "main", "-2").splitlines()
    assert made == ["feat: add c", "feat: add b"]


def test_a_gate_that_is_red_below_any_message_is_the_works_own_failure(project):
    project.config(gate="git log -1 --format=%s; test ! -e bad")
    project.issue(7, "Add a bad thing")
    project.play(("7", 1, [{"write": "bad", "text": "x"}]), ("7", 2, [{"delete": "bad"}, {"write": "b", "text": "b"}]))
    project.commit()
    project.run()
    assert project.attempts("7")[0]["charged"]


def test_a_server_that_refuses_messages_is_told_once_and_no_further_worker_is_paid(project):
    project.config("[landing]\npush = true\n")
    a_typed_history(project)
    remote = a_remote(project)
    hook = remote.path / "hooks" / "pre-receive"
    hook.write_text(
        "while read old new ref; do test $ref = refs/heads/main || continue; git log --format=%s $old..$new |"
        ' grep -v "^[a-z]*: " && { echo "Commit message does not follow the pattern"; exit 1; }; done; exit 0\n'
    )
    hook.chmod(0o755)
    out = project.run(code=3)
    assert "give noface's that form, `[landing] message`" in out
    assert project.attempts("8") == []
    project.noface("config", "set", "landing.message", TYPED)
    project.commit("feat: form")
    project.git("push", "-q", "origin", "main")
    project.run()
    assert remote.main == project.git("rev-parse", "main")
    assert project.git("log", "--format=%s", "main", "-2").splitlines() == ["feat: add c", "feat: add b"]
