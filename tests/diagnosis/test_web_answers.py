"""A page for people where a provider should have answered: nobody's fault, unless the page may be the work itself."""

import json

import pytest
from support.cases import cases

from noface.agents.base import AGENTS
from noface.agents.command import CommandReader
from noface.diagnosis.agent_errors import begins_page, final_answer, page_instead
from noface.diagnosis.known_causes import of_its_provider

PAGE = '<!DOCTYPE html>\n<html lang="en"><head><title>{}</title></head>\n<body><h1>{}</h1></body>\n</html>\n'


@cases(
    "title",
    ["502 Bad Gateway", "Sign in to Guest Wi-Fi", "Attention Required! | Cloudflare", "Just a moment...", "Access denied",
     "Error", "301 Moved Permanently", "Down for maintenance", "Proxy authentication", "Network login"],
)  # fmt: skip
def test_a_page_about_an_error_or_a_login_is_no_answer(title):
    failure = page_instead(PAGE.format(title, title))
    assert failure is not None
    assert (failure.kind, failure.charged, title in failure.message) == ("NETWORK", False, True)


@cases(
    "output",
    [
        "",
        "done",
        PAGE.format("My holiday in Greece", "Photos"),
        PAGE.format("Login page of the shop", "x").replace("<!DOCTYPE", "Here it is:\n<!DOCTYPE"),
        "```html\n" + PAGE.format("404", "Not found") + "```",
        "I changed templates/502.html: <title>502 Bad Gateway</title>",
        "<svg></svg>",
        '{"status": "done"}',
    ],
)
def test_what_a_worker_writes_of_pages_is_none(output):
    assert page_instead(output) is None


ENDS = [
    "</html>",
    "<!DOCTYPE html>",
    "SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
    "Uncaught SyntaxError: Unexpected token < in JSON at position 0",
    "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    "requests.exceptions.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    "jq: parse error: Invalid numeric literal at line 1, column 10",
    "2026/11/23 error: invalid character '<' looking for beginning of value",
    "Error: error decoding response body: expected value at line 1 column 1",
]


@cases("line", ENDS)
def test_a_command_that_ends_with_such_an_answer_and_changes_nothing_waits_for_its_provider(line):
    reader = CommandReader()
    reader.feed(b"thinking\n")
    error = reader.verdict(1, f"starting\n{line}\n").error
    assert error is not None
    assert (error.kind, error.charged) == ("AGENT_CRASH", True), "as long as it may have changed something"
    away = of_its_provider(error)
    assert (away.kind, away.charged) == ("NETWORK", False)


@cases(
    "line",
    [
        "SyntaxError: invalid syntax",
        "FAILED test_parse.py::test_bad - the parser accepts '<' where it must not",
        "I fixed the message Unexpected token '<' in parser.js",
        "AssertionError: expected 'invalid JSON' to be raised",
        "error: could not parse the file",
        "ValueError: no JSON here",
        "</div>",
    ],
)
def test_other_last_lines_are_no_such_answer(line):
    assert final_answer([line]) == ""


def test_a_page_is_no_sign_of_life_and_a_line_before_it_is():
    reader = CommandReader()
    assert [event.alive for event in reader.feed(PAGE.format("502", "502").encode())] == [False] * 4
    reader = CommandReader()
    assert all(event.alive for event in reader.feed(b"thinking\n" + PAGE.format("502", "502").encode()))


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode"])
def test_a_program_whose_whole_output_is_a_page_met_something_on_the_way_with_either_exit_code(agent):
    page = PAGE.format("502 Bad Gateway", "502 Bad Gateway")
    for code, stdout, stderr in (
        (0, page, ""),
        (1, "", page),
        (1, "", ENDS[2] + "\n    at JSON.parse (<anonymous>)\n"),
    ):
        reader = AGENTS[agent].reader({})
        reader.feed(stdout.encode())
        error = reader.verdict(code, stderr).error
        assert error is not None
        assert error.kind == "NETWORK", (code, stdout, stderr, error)


def test_a_page_begins_as_one():
    assert begins_page("\n  <html>")
    assert begins_page('<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC>')
    assert not begins_page("<htmlfoo>")


def test_a_certificate_that_something_on_the_way_put_in_is_no_wrong_configuration():
    reader = AGENTS["opencode"].reader({})
    data = {"name": "UnknownError", "data": {"message": "self signed certificate"}}
    reader.feed(json.dumps({"type": "error", "error": data}).encode() + b"\n")
    error = reader.verdict(1, "").error
    assert error is not None
    assert error.kind == "NETWORK"
