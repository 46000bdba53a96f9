"""Who may ask the board for what: tables of what a request says of itself, and the life of a session."""

import pytest

from noface.extras.board.guard import HEADERS, TOKEN_S, Entry, RequestFacts, Sessions, cookies, refusal, set_cookie

PORT = 8000
OWN = "http://127.0.0.1:8000"
HERE = "127.0.0.1:8000"

MAY = {
    "a typed address": RequestFacts("GET", "/f/", HERE),
    "the other name of this machine": RequestFacts("GET", "/f/", "localhost:8000"),
    "a link in a terminal": RequestFacts("GET", "/enter", HERE, fetch_site="none"),
    "a link of the board's own": RequestFacts("GET", "/f/issue", HERE, fetch_site="same-origin"),
    "a link of another page to the way in, which spends nothing but its token": RequestFacts(
        "GET", "/enter", HERE, fetch_site="cross-site"
    ),
    "a form of Chromium's under no-referrer": RequestFacts("POST", "/f/decide", HERE, "null", "same-origin"),
    "a form of Firefox's": RequestFacts("POST", "/f/decide", HERE, OWN, "same-origin"),
    "a form of a browser that tells no site": RequestFacts("POST", "/f/decide", HERE, OWN),
    "a form by the other name": RequestFacts("POST", "/f/decide", "localhost:8000", "http://localhost:8000"),
}
MAY_NOT = {
    "no host": (421, RequestFacts("GET", "/f/", "")),
    "a name that somebody points at 127.0.0.1": (421, RequestFacts("GET", "/f/", "evil.example:8000")),
    "a name that begins alike": (421, RequestFacts("GET", "/f/", "127.0.0.1:8000.evil.example")),
    "a name that ends alike": (421, RequestFacts("GET", "/f/", "x.localhost:8000")),
    "another port": (421, RequestFacts("GET", "/f/", "127.0.0.1:8001")),
    "no port": (421, RequestFacts("GET", "/f/", "127.0.0.1")),
    "the machine by another address": (421, RequestFacts("GET", "/f/", "[::1]:8000")),
    "another name, with a proof": (421, RequestFacts("POST", "/f/decide", "evil.example:8000", OWN, "same-origin")),
    "a method that browsers ask with first": (405, RequestFacts("OPTIONS", "/f/decide", HERE)),
    "a method of no form": (405, RequestFacts("DELETE", "/f/decide", HERE, OWN)),
    "a picture on another page": (403, RequestFacts("GET", "/f/", HERE, fetch_site="cross-site")),
    "a page on another port of this machine": (403, RequestFacts("GET", "/f/", HERE, fetch_site="same-site")),
    "an address that is loaded in advance": (403, RequestFacts("GET", "/enter", HERE, purpose="prefetch;prerender")),
    "a form that tells nothing": (403, RequestFacts("POST", "/f/decide", HERE)),
    "a form of another page": (403, RequestFacts("POST", "/f/decide", HERE, "https://evil.example", "cross-site")),
    "a form of another port": (403, RequestFacts("POST", "/f/decide", HERE, "http://127.0.0.1:9", "same-site")),
    "an origin that begins alike": (403, RequestFacts("POST", "/f/decide", HERE, "http://127.0.0.1:80001")),
    "an origin in other letters": (403, RequestFacts("POST", "/f/decide", HERE, "http://127.0.0.1:8000/")),
    "a frame without an origin": (403, RequestFacts("POST", "/f/decide", HERE, "null", "cross-site")),
    "no origin, and no site": (403, RequestFacts("POST", "/f/decide", HERE, "null")),
    "the right origin from another site": (403, RequestFacts("POST", "/f/decide", HERE, OWN, "cross-site")),
    "another origin from the right site": (403, RequestFacts("POST", "/f/decide", HERE, "http://e.x", "same-origin")),
    "a site that is typed": (403, RequestFacts("POST", "/f/decide", HERE, "null", "none")),
    "a code from another page": (403, RequestFacts("POST", "/enter", HERE, "https://evil.example")),
}


@pytest.mark.parametrize("asked", MAY.values(), ids=MAY)
def test_what_browsers_do_for_a_person_may_go_on(asked):
    """All of them are honest: the guard is wrong on none."""
    assert refusal(asked, PORT) is None


@pytest.mark.parametrize(("status", "asked"), MAY_NOT.values(), ids=MAY_NOT)
def test_what_another_page_can_ask_for_is_refused(status, asked):
    why = refusal(asked, PORT)
    assert why is not None
    assert why.status == status


@pytest.mark.parametrize(
    ("path", "refused"), [("/f/decide", True), ("/f/run", True), ("/f/leave", True), ("/enter", False)]
)
def test_a_read_only_board_takes_no_form_but_the_one_that_lets_a_person_in(path, refused):
    asked = RequestFacts("POST", path, HERE, OWN, "same-origin")
    assert (refusal(asked, PORT, read_only=True) is not None) == refused


def test_a_token_is_good_once_and_opens_a_session_of_its_own():
    sessions = Sessions()
    token = sessions.token(0.0)
    entry, made = sessions.enter(token, 1.0)
    assert (entry, made is not None) == (Entry.OPENED, True)
    assert sessions.holds(made.folder, made.cookie)
    assert not sessions.holds(made.folder, "")
    assert not sessions.holds("", made.cookie)
    assert not sessions.holds(made.cookie, made.folder)
    other = sessions.enter(sessions.token(2.0), 2.0)[1]
    assert not sessions.holds(other.folder, made.cookie)
    sessions.leave(other.folder)
    assert not sessions.holds(other.folder, other.cookie)
    assert sessions.holds(made.folder, made.cookie)


def test_a_token_that_comes_twice_ends_what_it_has_opened():
    sessions = Sessions()
    token = sessions.token(0.0)
    made = sessions.enter(token, 1.0)[1]
    assert sessions.enter(token, 2.0) == (Entry.USED, None)
    assert not sessions.holds(made.folder, made.cookie)
    assert sessions.enter(token, 3.0) == (Entry.USED, None)


def test_a_token_is_good_for_some_minutes_and_in_place_of_the_one_before():
    sessions = Sessions()
    old, token = sessions.token(0.0), sessions.token(0.0)
    assert sessions.enter(old, 1.0)[0] is Entry.WRONG
    assert sessions.enter("", 1.0)[0] is Entry.WRONG
    assert sessions.enter("ünwahr\udc80", 1.0)[0] is Entry.WRONG
    assert sessions.enter(token, TOKEN_S + 1)[0] is Entry.LATE
    assert sessions.enter(sessions.token(0.0).upper().replace("-", ""), TOKEN_S - 1)[0] is Entry.OPENED, (
        "as it is typed"
    )
    assert Sessions().enter("", 0.0)[0] is Entry.WRONG, "before there is one"


def test_tokens_and_cookies_are_long_and_never_the_same():
    sessions = Sessions()
    tokens = {sessions.token(0.0) for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 24
    made = sessions.enter(sessions.token(0.0), 0.0)[1]
    assert min(len(made.folder), len(made.cookie)) >= 43
    assert made.cookie not in repr(sessions), "what is kept is a digest"


def test_a_cookie_is_for_no_script_no_other_site_and_no_other_folder():
    sessions = Sessions()
    made = sessions.enter(sessions.token(0.0), 0.0)[1]
    name, *attributes = set_cookie(made).split("; ")
    assert name == f"noface={made.cookie}"
    assert set(attributes) == {f"Path=/{made.folder}/", "HttpOnly", "SameSite=Strict"}
    assert cookies(f"other=1; noface={made.cookie}; noface=2")["noface"] == made.cookie
    assert cookies("") == {"": ""}


def test_every_answer_forbids_what_no_page_of_the_board_needs():
    policy = dict(part.split(" ", 1) for part in HEADERS["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert {*policy} == {
        *("default-src", "script-src", "style-src", "connect-src", "img-src"),
        *("form-action", "base-uri", "frame-ancestors"),
    }
    assert all("unsafe" not in value and "*" not in value for value in policy.values())
    assert HEADERS["Referrer-Policy"] == "no-referrer"
    assert HEADERS["X-Content-Type-Options"] == "nosniff"
    assert HEADERS["Cache-Control"] == "no-store"
