"""What models use: rows of it in a database, and programs that pose as agents and say it."""

import json
import os
import stat

from noface.model.attempt import AttemptOrder, Judged, Snapshot
from noface.model.history import Advice, Topic
from noface.model.issue import Backlog, Issue
from noface.model.worker_run import AgentRun, EndedBy, ModelSpec, Usage
from noface.store.journal import Journal
from noface.store.questions import Questions
from noface.store.reader import Reader

from .processes import wait_for

ISSUE = Issue("7", "Seven")
USED_USD = 2.1
"""What 1,000,000 tokens read and 10,000 written cost at the prices of `configure`."""


class World:
    """A database with attempts and questions of one issue."""

    def __init__(self, database):
        self.journal = Journal(database, "run-1")
        self.journal.sync_backlog(Backlog((ISSUE,)), "f")
        self.questions = Questions(database, self.journal)
        self.reader = Reader(database)
        self.number = 0

    def start(self, model="small", *, think=False):
        self.number += 1
        spec = ModelSpec(model, "claude")
        token = f"t{self.number}"
        order = AttemptOrder("run-1", token, ISSUE, self.number, spec, "p", "m", "s", 0, "/d", (), think=think)
        self.journal.attempt_started(float(self.number), order, epoch=0, branch="b")

    def end(self, cost=None, tokens_in=None, tokens_out=None):
        agent = AgentRun(0, None, EndedBy.ITSELF, 1.0, Usage(cost, tokens_in, tokens_out))
        report = Judged(f"t{self.number}", "7", self.number, agent, Snapshot("c", "t", "c", "t"))
        self.journal.attempt_finished(float(self.number), report, charged=True, notes=())

    def attempt(self, model, *used):
        self.start(model)
        self.end(*used)

    def ask(self, model):
        return self.questions.asked(
            1.0, "7", Topic.DIAGNOSIS, after=1, epoch=0, model=model, run_id="run-1", directory=""
        )

    def answer(self, question, model, cost=None, tokens=None):
        advice = Advice(Topic.DIAGNOSIS, 1, model=model, cost_usd=cost, tokens=tokens)
        self.questions.answered(2.0, question, "7", advice)


def answer(read=1_000_000, written=10_000, *, name="msg_1", ended=True, content=()):
    usage = {"input_tokens": read, "cache_read_input_tokens": 0, "output_tokens": written}
    message = {"id": name, "content": list(content), "usage": usage, "stop_reason": "tool_use" if ended else None}
    return {"type": "assistant", "message": message}


def result(cost):
    told = {"subtype": "success", "is_error": False, "result": "Done.", "stop_reason": "end_turn"}
    return {"type": "result", **told, "total_cost_usd": cost, "usage": {"input_tokens": 5, "output_tokens": 5}}


def lines(*entries):
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def program(project, name, script):
    """Put a program that poses as an agent on the project's PATH."""
    path = project.folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\ncat > /dev/null\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    project.env["PATH"] = f"{path.parent}:{os.environ['PATH']}"


def spends_and_hangs(topic="", edit="b.txt"):
    """A script that says what it used and then hangs at work, or at this topic, until it may go; else it edits and is done."""
    say = f"echo '{json.dumps(answer())}'\nexec sleep 60"
    done = f"echo done > {edit}\necho '{json.dumps(result(0.5))}'"
    return f'if [ "$NOFACE_TOPIC" = "{topic}" ] && [ ! -e "$HOME/go" ]; then\n{say}\nfi\n{done}'


def configure(project, model="", *, agent="claude", attempts=1, retry=""):
    project.config()
    text = (project.path / "noface.toml").read_text()
    head, _, tail = text.partition("[models.small]")
    prices = "usd_per_mtok_in = 2.0\nusd_per_mtok_out = 10.0"
    ours = f'[models.small]\nagent = "{agent}"\ntier = 1\nidle_timeout = "50s"\n{prices}\n{model}\n\n'
    rest = tail[tail.index("[retry]") :].replace(
        'escalation_model = "big"', f"max_total_attempts = {attempts}\n{retry}"
    )
    project.write("noface.toml", head + ours + rest)
    project.issue(1)
    project.commit("configuration")


def ended_while_it_spends(project, by, folder="1"):
    """Start noface, and end it by a signal once its worker has said what it used; the exit code."""
    log = project.state / "attempts" / "1" / folder / "agent.log"
    with project.start("run") as process:
        wait_for(lambda: log.exists() and "assistant" in log.read_text())
        process.send_signal(by)
        process.communicate(timeout=60)
    return process.returncode


def only_attempt(project):
    (attempt,) = project.attempts("1")
    return attempt


def fed(reader, *entries):
    reader.feed(lines(*entries).encode())
    used = reader.used()
    return used.cost_usd, used.tokens_in, used.tokens_out, used.tokens_cached
