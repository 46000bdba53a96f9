"""Every question that `noface blocked` asks has an answer that works when its command is copied, a yes and a no."""

import shlex
from contextlib import closing

from support.cli_story import Story, red_test
from ui.test_pages import REQUESTS

from noface.engine.prompt_context import built_in
from noface.model.actions import ApprovalKind, Block
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.request import RequestKind
from noface.model.taxonomy import FailureKind
from noface.prompts.data import PromptData, Situation
from noface.prompts.render import render
from noface.recovery.blocked import block_request
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import Policy, Rung
from noface.store.database import Database
from noface.store.journal import Journal
from noface.store.questions import Questions, recorded_history
from noface.store.reader import Reader

TEMPLATES = built_in()
BOUNDARY = (FailureKind.BOUNDARY_VIOLATION, FailureKind.GATE_TAMPERING)

VERBS = ("approve", "reject", "retry")
GOES_ON = {"approve": ("ready", "skipped"), "reject": ("ready",), "retry": ("ready",)}
POLICY = Policy((Rung("small", 1, 2), Rung("claude-opus", 2, 3)), (("small", 1), ("claude-opus", 2)))
OF_BOUNDARY = ("outside-paths", "judge-altered", "tests-contradicted", "link", "report-contract-change")
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


def blocks(kind, rule="r"):
    """What is made of attempts at issue 7 that were charged with such a failure, and are not tried again."""
    evidence, gate = ("src/db.py",), "unit" if kind.info.names_tests else None
    failure = Failure(kind, "m", rule, signature=rule, evidence=evidence, gate=gate)
    return {"failure": failure, "request": lambda issue, history: block_request(issue, Block(kind, "w"), history, "")}


KINDS = {f"blocked: {kind}": blocks(kind) for kind in FailureKind}
KINDS |= {f"blocked: {kind}, {rule}": blocks(kind, rule) for kind in BOUNDARY for rule in OF_BOUNDARY}


def again(database, question):
    """The question that the policy asks after an answer, and what the next worker is told of it."""
    reader = Reader(database)
    questions = Questions(database, Journal(database, "run1"))
    history = recorded_history(reader, questions, Issue("7", "x", source="issues/007.md"), reader.state("7"))
    action = next_action(history, POLICY, 2e9)
    asks = block_request(history.issue, action, history, "").question if isinstance(action, Block) else ""
    data = PromptData(history.issue, (), decided=history.decisions, note=reader.state("7").note)
    return asks == question, render(Situation.FIRST, TEMPLATES, data).text


def test_each_answer_to_each_question_works(project):
    assert len(REQUESTS) >= len(ApprovalKind) + len(RequestKind) - 1
    project.issue(7)
    project.commit()
    for name, make in (REQUESTS | KINDS).items():
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
                same, prompt = again(database, document["question"])
                assert not same, (name, words)
                told = prompt.partition("## What the owner of this project decided")[2].partition("## The issue")[0]
                assert "…" in told if "…" in words else told or words[0] == "retry", (name, words)
