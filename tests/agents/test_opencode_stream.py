"""OpenCode asks again for ever when its answers break off: so many in a row are its end."""

import json

from noface.extras.opencode.agent import OpencodeAgent


def fed(reader, *reasons):
    for reason in reasons:
        part = {"reason": reason, "tokens": {"input": 10, "output": 1}}
        reader.feed(json.dumps({"type": "step_start"}).encode() + b"\n")
        reader.feed(json.dumps({"type": "step_finish", "part": part}).encode() + b"\n")
    return reader


def test_five_answers_in_a_row_that_break_off_are_repeated_for_ever():
    reader = fed(OpencodeAgent().reader(), *["unknown"] * 4)
    assert not reader.repeats
    assert fed(reader, "unknown").repeats
    verdict = reader.verdict(None, "")
    assert (verdict.error.kind, verdict.error.charged) == ("NETWORK", False)
    assert verdict.usage.tokens_in == 50, "each is paid for"


def test_an_answer_between_them_that_comes_to_its_end_shows_that_the_provider_works():
    reader = fed(OpencodeAgent().reader(), *["unknown"] * 4, "tool-calls", *["unknown"] * 4)
    assert not reader.repeats


def test_a_lost_connection_is_the_network_s():
    reader = OpencodeAgent().reader()
    message = "Cannot connect to API: The socket connection was closed unexpectedly. For more information, pass `verbose: true`"
    error = {"name": "APIError", "data": {"message": message, "isRetryable": True}}
    reader.feed(json.dumps({"type": "error", "error": error}).encode() + b"\n")
    assert reader.verdict(1, "").error.kind == "NETWORK"
