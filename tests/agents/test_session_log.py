"""The files in which Gemini CLI keeps the tokens of a session: followed while they grow, and trusted with nothing else."""

import json
import os

from support.cases import cases

from noface.extras.gemini.agent import GeminiAgent, GeminiLog
from noface.model.worker_run import Session, Usage

SESSION = "50eec6c7-ac8f-4a14-b034-2ad6a917c6b4"
HEAD = json.dumps({"sessionId": SESSION, "projectHash": "6bec", "kind": "main"}) + "\n"


def message(identity, sent=1200, written=40, thoughts=0, cached=0, **more):
    tokens = {"input": sent, "output": written, "cached": cached, "thoughts": thoughts, "tool": 0, "total": 0}
    return json.dumps({"id": identity, "type": "gemini", "content": "", "tokens": tokens, **more}) + "\n"


def session_file(home, head=HEAD, project="p1"):
    """Return the file of the session as Gemini CLI 0.61.0 makes it."""
    chats = home / ".gemini" / "tmp" / project / "chats"
    chats.mkdir(parents=True, exist_ok=True)
    file = chats / f"session-2026-11-22T18-44-{SESSION[:8]}.jsonl"
    file.write_text(head)
    return file


def used(log):
    usage = log.used(SESSION, at_once=True)
    return usage.tokens_in, usage.tokens_out, usage.tokens_cached


def test_each_message_counts_once_as_it_comes_and_thoughts_count_as_written(tmp_path):
    file = session_file(tmp_path)
    log = GeminiLog({"HOME": str(tmp_path)})
    assert used(log) == (None, None, None)
    with file.open("a") as more:
        more.write(message("a", thoughts=500, cached=1000))
        more.write(message("a", thoughts=500, cached=1000, toolCalls=[]))
        more.write(message("b")[:40])
        more.flush()
        assert used(log) == (1200, 540, 1000)
        more.write(message("b")[40:])
    assert used(log) == (2400, 580, 1000)


def test_a_history_that_is_given_anew_and_a_file_that_is_written_anew_count_nothing_twice(tmp_path):
    file = session_file(tmp_path)
    file.write_text(HEAD + message("a") + json.dumps({"$set": {"messages": [json.loads(message("a"))]}}) + "\n")
    log = GeminiLog({"HOME": str(tmp_path)})
    assert used(log) == (1200, 40, 0)
    new = file.with_suffix(".tmp")
    new.write_text(HEAD + message("a") + message("b"))
    new.replace(file)
    assert used(log) == (2400, 80, 0)


def test_subagents_count_as_well(tmp_path):
    file = session_file(tmp_path)
    file.write_text(HEAD + message("a"))
    inner = file.parent / SESSION
    inner.mkdir()
    (inner / "codebase-investigator.jsonl").write_text(message("x", sent=9000))
    assert used(GeminiLog({"HOME": str(tmp_path)})) == (10_200, 80, 0)


def a_link(home, file):
    (home / "else.jsonl").write_text(HEAD + message("a"))
    file.unlink()
    file.symlink_to(home / "else.jsonl")


def a_link_above(home, file):
    file.write_text(HEAD + message("a"))
    file.parent.rename(home / "elsewhere")
    file.parent.symlink_to(home / "elsewhere")


def a_fifo(home, file):
    file.unlink()
    os.mkfifo(file)


def another_session(home, file):
    file.write_text(HEAD.replace(SESSION, SESSION[:8] + "-0000-4a14-b034-2ad6a917c6b4") + message("a"))


def nonsense(home, file):
    file.write_text(HEAD + '{"id": "a", "tokens": [1]}\n{"tokens": 5\n' + "[" * 100_000 + '"tokens"\n')


@cases("put", [a_link, a_link_above, a_fifo, another_session, nonsense], ids=lambda put: put.__name__)
def test_what_is_no_session_of_its_own_counts_nothing(tmp_path, put):
    home = tmp_path / put.__name__
    put(home, session_file(home))
    assert used(GeminiLog({"HOME": str(home)})) == (None, None, None)


def test_the_home_is_the_one_that_gemini_cli_has(tmp_path):
    session_file(tmp_path / "own").write_text(HEAD + message("a"))
    assert used(GeminiLog({"HOME": str(tmp_path), "GEMINI_CLI_HOME": str(tmp_path / "own")})) == (1200, 40, 0)
    assert used(GeminiLog({})) == (None, None, None)
    assert GeminiLog({"HOME": str(tmp_path / "own")}).used("../x", at_once=True) == Usage()


def test_a_run_that_goes_on_counts_what_it_added(tmp_path):
    file = session_file(tmp_path)
    file.write_text(HEAD + message("a"))
    env = {"HOME": str(tmp_path)}
    before = GeminiAgent().session_usage(SESSION, env)
    reader = GeminiAgent().reader(env, Session(SESSION, 1, str(tmp_path), "", before))
    with file.open("a") as more:
        more.write(message("b", sent=2000))
    reader.feed(json.dumps({"type": "init", "session_id": SESSION}).encode() + b"\n")
    usage = reader.used()
    assert (usage.tokens_in, usage.tokens_out, usage.session_id) == (2000, 40, SESSION)


def test_the_result_counts_for_a_run_that_ended_and_its_total_tells_the_thoughts():
    reader = GeminiAgent().reader()
    stats = {"total_tokens": 3480, "input_tokens": 2400, "output_tokens": 80, "cached": 0}
    reader.feed(json.dumps({"type": "result", "status": "success", "stats": stats}).encode() + b"\n")
    assert (reader.used().tokens_in, reader.used().tokens_out) == (2400, 1080)
