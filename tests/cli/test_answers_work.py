"""Every question that `noface blocked` asks has an answer that works when its command is copied, a yes and a no."""

import shlex
from contextlib import closing

from support.cli_story import Story, red_test
from ui.test_pages import REQUESTS

from noface.model.actions import ApprovalKind
from noface.model.request import RequestKind
from noface.store.database import Database
from noface.store.reader import Reader

VERBS = ("approve", "reject", "retry")
GOES_ON = {"approve": ("ready", "skipped"), "reject": ("ready",), "retry": ("ready",)}
WITHOUT_A_VERB = ("accept names what main has not",)
"""What goes on by itself once it is mended."""


def asked(project, name, make):
    """A repository in which issue 7 waits for a person with the request; the commands that its page prints."""
    story = Story(project.path, project.git("rev-parse", "HEAD")).sync().run()
    failure = make.get("failure", red_test())
    story.attempt("7", 1, failure, changed=("a.py", "tests/test_a.py"))
    story.attempt("7", 2, None if make.get("passes") else failure, changed=("a.py", "tests/test_a.py"))
    history = story.history("7")
    request = make["request"](history.issue, history)
    record = story.journal.approval_requested if "approval" in name else story.journal.blocked
    record(story.tick(), "7", "it is asked for", request)
    story.close()
    return project.shown("blocked", "7")["blocked"][0]


def test_each_answer_to_each_question_works(project):
    assert len(REQUESTS) >= len(ApprovalKind) + len(RequestKind) - 1
    project.issue(7)
    project.commit()
    for name, make in REQUESTS.items():
        for file in project.state.glob("state.db*"):
            file.unlink()
        document = asked(project, name, make)
        verbs = [shlex.split(command.rpartition("&& ")[2]) for command in document["commands"]]
        verbs = [words[1:] for words in verbs if words[0] == "noface" and words[1] in VERBS]
        if "approval" in name:
            assert {"approve", "reject"} <= {words[0] for words in verbs}, name
        assert verbs or name.partition(": ")[2] in WITHOUT_A_VERB, name
        kept = {file: file.read_bytes() for file in project.state.glob("state.db*")}
        for words in verbs:
            for file in {*project.state.glob("state.db*")} - kept.keys():
                file.unlink()
            for file, data in kept.items():
                file.write_bytes(data)
            done = project.noface(*words)
            assert done.returncode == 0, (name, words, done.stderr)
            with closing(Database.open(project.state / "state.db")) as database:
                state = Reader(database).states()["7"]
            assert state.status in GOES_ON[words[0]], (name, words)
            if words[0] == "approve" and document["paths"]:
                assert set(document["paths"]) <= set(state.granted_paths), name
            if words[0] == "reject":
                assert state.granted_paths == (), name
