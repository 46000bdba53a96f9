"""The client against a real HTTP server: what it sends again, what it waits for, and where the token never goes."""

import json
import ssl
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from http.server import HTTPServer
from time import monotonic

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from support.scripted_http import TOKEN, Handler, Script, client_of

from noface.errors import ForgeAwayError, ForgeError
from noface.forge.location import Location
from noface.forge.rest import Client, RefusedError
from noface.forge.token import Token
from noface.forge.transport import Transport
from noface.process.command import Canceller

PATH = "/repos/acme/shop/issues/7"


def test_a_request_says_who_asks_and_in_which_version(script, client):
    script.on(PATH, 200, {"number": 7})
    assert client.get(client.repo("issues", 7)).body == {"number": 7}
    headers = script.asked[0][2]
    assert headers["authorization"] == f"token {TOKEN}"
    assert headers["user-agent"].startswith("noface/")
    assert (headers["x-github-api-version"], headers["accept"]) == ("2022-11-28", "application/vnd.github+json")


def test_what_did_not_change_is_not_sent_again(script, client):
    script.on(PATH, 200, {"title": "old"}, etag='W/"1"').on(PATH, 304).on(PATH, 200, {"title": "new"}, etag='W/"2"')
    answers = [client.get(client.repo("issues", 7), keep=True) for _ in range(3)]
    assert [(answer.body["title"], answer.changed) for answer in answers] == [
        ("old", True), ("old", False), ("new", True),
    ]  # fmt: skip
    assert [asked[2].get("if-none-match") for asked in script.asked] == [None, 'W/"1"', 'W/"1"']


def test_pages_are_followed_also_where_they_did_not_change(script, client):
    second = f"{script.origin}/repos/acme/shop/issues?page=2&per_page=100&state=open"
    first = "/repos/acme/shop/issues?per_page=100&state=open"
    script.on(first, 200, [1, 2], etag='"a"', link=f'<{second}>; rel="next", <{second}>; rel="last"').on(first, 304)
    script.on("/repos/acme/shop/issues?page=2&per_page=100&state=open", 200, [3], etag='"b"')
    for _ in range(2):
        assert client.items(client.repo("issues"), {"state": "open"}, keep=True) == [1, 2, 3]
    assert len(script.asked) == 4


@pytest.mark.parametrize("drop", ["at once", "within"])
def test_a_connection_that_breaks_is_tried_again(script, client, drop):
    script.on(PATH, 200, None, drop=drop).on(PATH, 502).on(PATH, 200, {"number": 7})
    assert client.get(PATH).body == {"number": 7}
    assert len(script.asked) == 3


def test_an_outage_that_lasts_is_told_with_a_time(script, client, clock):
    script.on(PATH, 503, {"message": "Unicorn!"})
    with pytest.raises(ForgeAwayError, match="answered 503 to GET /repos/acme/shop/issues/7: Unicorn!") as caught:
        client.get(PATH)
    assert caught.value.until > clock.now()
    assert len(script.asked) == 3


def test_a_server_that_does_not_answer_is_left_in_time(script, clock):
    script.on(f"{PATH}/comments", 200, None, stall="yes")
    client = client_of(script, clock, read_s=0.05)
    with pytest.raises(ForgeAwayError, match="did not answer in time"):
        client.post(f"{PATH}/comments")
    client.close()


@pytest.mark.parametrize("part", ["head", "body"])
def test_an_answer_that_drips_is_given_a_time_for_the_whole(script, clock, part):
    script.on(f"{PATH}/comments", 200, None, drips=part).on(f"{PATH}/comments", 200, {"id": 1})
    client = client_of(script, clock, whole_s=0.3)
    began = monotonic()
    with pytest.raises(ForgeAwayError, match="did not answer in time"):
        client.post(f"{PATH}/comments")
    assert monotonic() - began < 10
    assert client.post(f"{PATH}/comments") == {"id": 1}
    client.close()


def test_nobody_there_is_an_outage(clock):
    client = client_of(Script("http://127.0.0.1:9"), clock)
    with pytest.raises(ForgeAwayError, match=r"127\.0\.0\.1:9 cannot be reached"):
        client.get(PATH)


def test_a_certificate_that_nobody_vouches_for_is_not_talked_to(tmp_path, clock):
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self_signed(tmp_path / "cert.pem"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None
        server.script = Script(f"https://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises(ForgeError, match="certificate of 127") as caught:
            client_of(server.script, clock).get(PATH)
        thread.join()
    assert "REQUESTS_CA_BUNDLE" in caught.value.hint
    assert server.script.asked == []


def self_signed(path):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    begins = datetime.now(UTC) - timedelta(days=1)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, begins, begins + timedelta(days=9))
    form = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(key.private_bytes(*form) + made.sign(key, SHA256()).public_bytes(Encoding.PEM))
    return path


def test_what_makes_something_is_sent_once(script, client):
    script.on(f"{PATH}/comments", 502)
    with pytest.raises(ForgeAwayError):
        client.post(f"{PATH}/comments", {"body": "once"})
    assert len(script.asked) == 1
    assert json.loads(script.asked[0][3]) == {"body": "once"}


def test_after_a_rate_limit_nothing_is_sent_until_its_end(script, client, clock):
    reset = int(clock.now()) + 1200
    limited = {"x_ratelimit_remaining": 0, "x_ratelimit_limit": 5000, "x_ratelimit_reset": reset}
    script.on(PATH, 403, {"message": "API rate limit exceeded"}, **limited, date=formatdate(clock.now(), usegmt=True))
    script.on(PATH, 200, {"number": 7}, x_ratelimit_remaining=4999, x_ratelimit_limit=5000, x_ratelimit_reset=reset)
    for _ in range(2):
        with pytest.raises(ForgeAwayError, match="limit of 5000 requests an hour is used up") as caught:
            client.get(PATH)
        assert caught.value.until == reset
    assert len(script.asked) == 1
    clock.sleep(1201)
    assert client.get(PATH).body == {"number": 7}


def test_writes_to_github_itself_are_a_second_apart(script, clock):
    script.on(PATH, 200, {})
    began = clock.now()
    for host, seconds in (("github.com", 2), ("git.acme.example", 2)):
        place = Location(host, "acme", "shop", script.origin)
        client = Client(place, Token(TOKEN, "GH_TOKEN"), clock, transport=Transport(script.origin, TOKEN))
        for _ in range(3):
            client.patch(PATH, {})
        client.get(PATH)
        client.close()
        assert clock.now() - began == pytest.approx(seconds)


def test_a_limit_stops_the_other_api_too_and_a_short_one_is_sat_out(script, client, clock):
    script.on(PATH, 429, {"message": "slow down"}, retry_after=2).on(PATH, 200, {"number": 7})
    began = clock.now()
    assert client.get(PATH).body == {"number": 7}
    assert clock.now() - began == pytest.approx(2, abs=0.01)
    script.on("/user", 403, {"message": "You have exceeded a secondary rate limit."})
    with pytest.raises(ForgeAwayError) as caught:
        client.get("/user")
    assert caught.value.until == pytest.approx(clock.now() + 60)
    with pytest.raises(ForgeAwayError):
        client.graphql("query { viewer { login } }", {})
    assert [path for path in script.paths() if "graphql" in path] == []


def test_a_wrong_token_is_refused_and_not_tried_again(script, client):
    script.on("/user", 401, {"message": "Bad credentials"})
    with pytest.raises(RefusedError, match="does not accept the token from GH_TOKEN: Bad credentials") as caught:
        client.get("/user")
    assert (caught.value.status, len(script.asked)) == (401, 1)
    assert TOKEN not in caught.value.message


HOME = "/repos/acme/shop"
OTHER = "/repositories/99"


@pytest.fixture
def renamed(script):
    """The repository is called otherwise now, and known by its id."""
    script.on(HOME, 301, location="/repositories/42")
    return script.on("/repositories/42", 200, {"id": 42, "full_name": "acme/store"})


def test_a_renamed_repository_is_followed_with_its_query(renamed, client):
    listed = f"{HOME}/issues?state=closed"
    renamed.on(listed, 301, location=f"{renamed.origin}/repositories/42/issues?state=closed")
    renamed.on("/repositories/42/issues?state=closed", 200, [1])
    assert client.get(client.repo("issues"), {"state": "closed"}).body == [1]
    assert [path for path in renamed.paths() if not path.endswith((HOME, "/42"))] == [
        f"GET {listed}",
        "GET /repositories/42/issues?state=closed",
    ]


def test_a_redirect_keeps_verb_and_body(renamed, client):
    renamed.on(PATH, 307, location="/repos/Acme/Store/issues/7")
    renamed.on("/repos/Acme/Store/issues/7", 200, {"state": "closed"})
    assert client.patch(PATH, {"state": "closed"}) == {"state": "closed"}
    sent = [(verb, body) for verb, _, _, body in renamed.asked if verb != "GET"]
    assert sent == [("PATCH", b'{"state": "closed"}')] * 2


LABELS = f"{PATH}/labels"


@pytest.mark.parametrize(("verb", "path", "status"), [("get", PATH, 301), ("post", LABELS, 307)])
@pytest.mark.parametrize(
    "hops",
    [
        [f"{OTHER}/issues/7"],
        ["/repos/acme/other/issues/7"],
        ["/repositories/42/issues/7", f"{OTHER}/issues/7"],
        ["/repositories/421/issues/7"],
        ["/repositories/42/../99/issues/7"],
        ["/repositories/42/%2E%2E/99/issues/7"],
    ],
)
def test_what_was_transferred_is_left_alone_and_moves_nothing_else(renamed, client, verb, path, status, hops):
    asked = path
    for place in hops:
        target = place + path.removeprefix(PATH)
        renamed.on(asked, status, location=target)
        asked = target
    with pytest.raises(RefusedError, match=f"{verb.upper()} /rep.*/issues/7.* away from acme/shop") as caught:
        getattr(client, verb)(path, *([{}] if verb == "patch" else []))
    assert caught.value.status == 301
    renamed.on("/repositories/42/issues/8", 200, {"number": 8}).on(f"{HOME}/issues/8", 200, {"number": 8})
    assert client.get(client.repo("issues", 8)).body == {"number": 8}
    elsewhere = ("/99", "/other/", "/shop-old/", "/421", "..", "%2E")
    assert [path for path in renamed.paths() if any(part in path for part in elsewhere)] == []


@pytest.mark.parametrize("verb", ["get", "post"])
@pytest.mark.parametrize("path", ["/repos/acme/other/issues/7/comments", f"{OTHER}/issues/7/comments"])
def test_nothing_is_asked_of_another_repository(renamed, client, path, verb):
    with pytest.raises(ForgeError, match="works with acme/shop only"):
        getattr(client, verb)(path)
    assert [asked for asked in renamed.paths() if "/issues" in asked] == []


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("delete", f"{LABELS}/noface:/../../../../git/refs/heads/dev"),
        ("delete", f"{LABELS}/.."),
        ("delete", f"{LABELS}/%2e%2E"),
        ("post", f"{HOME}/../other/issues"),
        ("post", "/repos/acme/../issues"),
        ("get", f"{HOME}/issues/7\n"),
    ],
)
def test_a_path_that_leads_elsewhere_is_not_sent(script, client, verb, path):
    with pytest.raises(ForgeError, match="makes no such request"):
        getattr(client, verb)(path, *([{}] if verb == "patch" else []))
    assert script.asked == []


@pytest.mark.parametrize(
    ("label", "sent"),
    [
        ("noface:/../../../../git/refs/heads/dev", "noface%3A%2F..%2F..%2F..%2F..%2Fgit%2Frefs%2Fheads%2Fdev"),
        ("noface:%2e%2e", "noface%3A%252e%252e"),
        ("noface:a?b#c", "noface%3Aa%3Fb%23c"),
        ("noface:läuft; x", "noface%3Al%C3%A4uft%3B%20x"),
    ],
)
def test_every_part_of_a_path_is_quoted_whole(script, client, label, sent):
    script.on(f"{LABELS}/{sent}", 200, [])
    client.delete(client.repo("issues", 7, "labels", label))
    assert script.paths() == [f"DELETE {LABELS}/{sent}"]


@pytest.mark.parametrize("name", [".", "..", ""])
def test_what_is_no_name_becomes_no_path(client, name):
    with pytest.raises(ForgeError, match="for a name"):
        client.repo("labels", name)


def test_another_repository_with_the_old_name_is_not_taken_for_the_one_before(script, clock, tmp_path):
    script.on(HOME, 200, {"id": 42, "full_name": "acme/shop"}).on(HOME, 200, {"id": 99, "full_name": "acme/shop"})
    script.on(PATH, 200, {"number": 7})
    known = {"state": tmp_path / "noface"}
    for _ in range(2):  # the repository is asked for once by each run
        first = client_of(script, clock, **known)
        script.answers[HOME] = [(200, b'{"id": 42, "full_name": "acme/shop"}', {})]
        assert first.get(PATH).body == first.get(PATH).body == {"number": 7}
    script.answers[HOME] = [(200, b'{"id": 99, "full_name": "acme/shop"}', {})]
    script.asked.clear()
    later = client_of(script, clock, **known)
    for ask in (lambda: later.get(PATH), lambda: later.post(f"{PATH}/comments", {})):
        with pytest.raises(ForgeError, match=r"another repository .* its id is 99, and it was 42") as caught:
            ask()
    assert "begin anew here" in caught.value.hint
    assert [path for path in script.paths() if path != f"GET {HOME}"] == []


def test_a_query_is_not_led_elsewhere(script, client):
    script.on("/graphql", 307, location=f"{OTHER}/issues/7")
    with pytest.raises(RefusedError):
        client.graphql("mutation { x }", {})
    assert len(script.asked) <= 2


def test_the_token_stays_at_its_host(serve, script, client):
    other = serve()
    other.on("/blob?sig=1", 200, b"2026-01-01T00:00:00Z line\n")
    script.on("/repos/acme/shop/actions/jobs/1/logs", 302, location=f"{other.origin}/blob?sig=1")
    assert client.text(client.repo("actions", "jobs", 1, "logs")).endswith("line\n")
    assert "authorization" not in other.asked[0][2]
    with pytest.raises(ForgeError, match="the token is not sent there"):
        client.get(client.repo("actions", "jobs", 1, "logs"))
    assert len(other.asked) == 1


def test_a_whole_url_of_another_host_is_asked_for_at_the_apis_own(serve, script, client):
    other = serve()
    script.on(PATH, 200, {"number": 7})
    assert client.get(f"{other.origin}{PATH}").body == {"number": 7}
    assert other.asked == []


def test_redirects_in_a_circle_end(script, client):
    script.on("/user", 302, location="/user")
    with pytest.raises(ForgeError, match="with redirects only"):
        client.get("/user")


def test_a_page_that_is_no_json_names_the_key_of_the_url(script, client):
    script.on("/user", 200, b"<html>Sign in to the hotel</html>")
    with pytest.raises(ForgeError, match="no JSON") as caught:
        client.get("/user")
    assert "[github] url" in caught.value.hint


def test_graphql_errors_are_refusals(script, client):
    script.on("/graphql", 200, {"data": None, "errors": [{"type": "FORBIDDEN", "message": "not accessible"}]})
    with pytest.raises(RefusedError, match="not accessible"):
        client.graphql("mutation { x }", {})
    script.answers["/graphql"] = [(200, b'{"message": "hello"}', {})]
    with pytest.raises(ForgeError, match="without data"):
        client.graphql("query { viewer { login } }", {})
    script.answers["/graphql"] = [(200, b'{"data": {"viewer": {"login": "pat"}}}', {})]
    assert client.graphql("query { viewer { login } }", {}) == {"viewer": {"login": "pat"}}


def test_a_run_that_is_stopped_sends_nothing_more(script, clock):
    cancel = Canceller()
    client = client_of(script, clock, cancel=cancel)
    script.on(PATH, 200)
    cancel.cancel()
    with pytest.raises(ForgeAwayError, match="being stopped"):
        client.get(PATH)
    assert script.asked == []


@pytest.mark.parametrize("module", ["noface.cli.run_session", "noface.cli.connections", "noface.forge.rest"])
def test_the_library_is_imported_only_by_what_talks_to_github(module):
    code = f"import sys, {module}; print([name for name in ('github', 'requests', 'urllib3') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_without_the_library_a_person_is_told_how_to_install_it():
    code = (
        "import sys; sys.modules['requests'] = None\n"
        "from noface.forge.opened import check_installed\n"
        "from noface.errors import UsageError\n"
        "try: check_installed()\n"
        "except UsageError as error: print(error.message, error.hint)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "not installed (requests)" in said
    assert "pip install" in said
    assert "pip install requests" in said
