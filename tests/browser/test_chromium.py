"""The board as a person has it: in Chromium, by keyboard and by mouse. `python tests/browser/run.py` runs this."""

import os
import re
import subprocess
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest
from playwright.sync_api import Error, sync_playwright
from support import ROOT
from support.board import start_board
from support.cli_story import red_test, usual_night, write_issue

FOLDER = ROOT / ".browser"
AXE = (FOLDER / "axe.min.js").read_text()
SHOTS = FOLDER / "shots"
WAIT_MS = 10_000
PATCH = '''diff --git a/src/orders/export.py b/src/orders/export.py
new file mode 100644
index 0000000..5f2c1aa
--- /dev/null
+++ b/src/orders/export.py
@@ -0,0 +1,14 @@
+"""Orders as CSV."""
+
+import csv
+import io
+
+from orders.model import Order
+
+
+def as_csv(orders: list[Order]) -> str:
+    """Return a line for each order, the newest first."""
+    out = io.StringIO()
+    writer = csv.writer(out)
+    writer.writerows((o.id, o.placed_at, o.total) for o in sorted(orders, key=lambda o: o.placed_at))
+    return out.getvalue()
diff --git a/src/orders/views.py b/src/orders/views.py
index 81e2f0c..0a77b1d 100644
--- a/src/orders/views.py
+++ b/src/orders/views.py
@@ -12,6 +12,10 @@ def orders(request: Request) -> Response:
     return page("orders.html", orders=mine(request))
 %
 %
-def export(request: Request) -> Response:
-    return not_there("export")
+def export(request: Request) -> Response:
+    """Send the orders of whoever asks, as a file."""
+    answer = Response(as_csv(mine(request)), media_type="text/csv")
+    answer.headers["Content-Disposition"] = "attachment"
+    return answer
 %
'''.replace("%", "")  # a line of context that is empty
LOG = """I will look at how the basket is used first.
  · rg -n "Basket" src tests
src/shop/basket.py:4:class Basket:
src/shop/views.py:18:    basket = Basket.of(request)
tests/test_basket.py:9:    basket = Basket()
  ✎ src/shop/cart.py
  ✎ src/shop/views.py
  · python -m pytest -q
12 passed in 0.41s
"""


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        chromium = (FOLDER / "chromium").read_text()
        made = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"] * (os.geteuid() == 0))
        yield made
        made.close()


@pytest.fixture
def night(project):
    """A night as it is at one in the morning: a run at work, two issues that need a person, two that have landed."""
    shop = project.path.rename(project.path.with_name("shop"))
    project.path = shop
    for number, title in (("009", "Show prices with and without tax"), ("010", "Write an order's history"), ("011", "Warn of an empty stock"),
                          ("012", "Sort the basket by name"), ("013", "Remember the language of a visitor")):  # fmt: skip
        write_issue(shop, f"{number}-x", title, "priority = 3\n" if number == "013" else "")
    run = subprocess.Popen(["sleep", "600"])  # the browser is below pytest, and what is below a run decides nothing
    story = usual_night(shop, project.git("rev-parse", "HEAD"))
    story.attempt("005", 1, model="small", cost=0.34, changed=("src/orders/export.py", "src/orders/views.py"))
    story.request_approval("005")
    (story.directory("005", 1) / "diff.patch").write_text(PATCH)
    (story.directory("005", 1) / "prompt.md").write_text("# Export orders as CSV\n\nDo it.\n")
    (story.directory("002", 3) / "agent.log").write_text("I could not find out whether a comma ends the name.\n")
    (story.directory("007", 2) / "agent.log").write_text(LOG)
    story.merge("012").attempt("009", 1, red_test("assert '1.20' == '1,20'"), cost=0.11)
    story.status("009", "ready", "attempt 1 with claude-sonnet failed; it is told why")
    with story.database.transaction() as connection:  # as if it had been tonight
        connection.execute("UPDATE runs SET pid = ?", (run.pid,))
        newest = connection.execute("SELECT MAX(at) FROM events").fetchone()[0]
        shift = time.time() - newest - 60
        for table, columns in (
            ("attempts", ("started_at", "finished_at")),
            ("runs", ("started_at", "ended_at")),
            ("events", ("at",)),
        ):
            for column in columns:
                connection.execute(f"UPDATE {table} SET {column} = {column} + ?", (shift,))
    yield story
    story.close()
    run.kill()
    run.wait()


@pytest.fixture
def board(project, night):
    made = start_board(project.path, project.environment())
    yield made
    made.end()


@pytest.fixture
def visit(browser):
    """Open a page in a browser of its own; what it complains of, in `complaints`."""
    contexts = []

    def opened(**options):
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        return page

    yield opened
    for context in contexts:
        context.close()


def status(story, issue):
    return story.reader.issue(issue).status


def test_the_keyboard_alone_leads_from_the_address_to_a_decision(board, night, visit):
    page = visit()
    page.goto(board.address)
    assert "token" not in page.url
    page.keyboard.press("x")
    page.wait_for_url("**/?only=problems")
    for _ in range(20):
        page.keyboard.press("j")
        if "005" in page.evaluate("document.activeElement.textContent"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/issue?id=005")
    page.keyboard.press("2")
    page.wait_for_url("**tab=diff")
    page.get_by_text('"""Orders as CSV."""').wait_for()
    page.keyboard.press("a")
    assert page.evaluate("document.activeElement.id") == "do-approve"
    assert status(night, "005") == "approval", "a key decides nothing"
    page.keyboard.press("Enter")
    page.wait_for_selector(".strip.good")
    page.wait_for_load_state("load")
    assert status(night, "005") == "ready"
    page.keyboard.press("?")
    page.wait_for_url("**/keys")
    page.keyboard.press("g")
    page.wait_for_selector(".card")
    page.wait_for_load_state("load")  # until then no key is bound
    page.keyboard.press("/")
    page.locator("#find:focus").wait_for()
    page.keyboard.type("comma?")
    page.keyboard.press("Escape")
    assert page.complaints == []


def test_a_morning_of_25_issues_with_6_that_need_a_person_takes_40_keys(project, night, visit, capsys):
    """Beside the words of the notes: look at each, read its diff, decide, go on to the next."""
    for number in range(20, 33):
        write_issue(night.root, f"0{number}-x", f"Issue {number}")
    night.sync()
    for number in range(20, 28):
        night.merge(f"0{number}")
    for issue in ("030", "031"):
        night.attempt(issue, 1, model="small", changed=("src/a.py",)).request_approval(issue)
        (night.directory(issue, 1) / "diff.patch").write_text(PATCH)
    night.attempt("032", 1, red_test()).block("032")
    night.status("004", "ready", "nothing is in the way any more")
    night.attempt("028", 1, red_test()).block("028")
    board = start_board(project.path, project.environment())
    page, keys, began = visit(), 0, time.monotonic()

    def press(*names):
        nonlocal keys
        for name in names:
            page.keyboard.press(name)
            keys += 1

    try:
        page.goto(board.address)
        press("x")
        page.wait_for_url("**/?only=problems")
        page.wait_for_load_state("load")
        assert page.locator(".card").count() == 6
        press("j", "Enter")
        decided = []
        while len(decided) < 6:
            page.wait_for_selector("#decide button")
            page.wait_for_load_state("load")
            issue = re.search(r"id=(\w+)", page.url)[1]
            decided.append(issue)
            if page.locator("#do-approve").count():
                press("2")
                page.wait_for_url("**tab=diff")
                page.wait_for_load_state("load")
                press("a", "Enter")
            else:
                press("n")
                page.keyboard.type("Do it as the old site did.")
                press("Escape", "u", "Enter")
            page.wait_for_selector(".strip.good")
            page.wait_for_load_state("load")
            if len(decided) < 6:
                press("j")
                page.wait_for_url(lambda url, last=issue: f"id={last}" not in url)
    finally:
        board.end()
    assert len(set(decided)) == 6
    assert {status(night, issue) for issue in decided} == {"ready"}
    assert keys <= 40
    with capsys.disabled():
        print(f"\n6 decisions by {keys} keys; {time.monotonic() - began:.1f} s of waiting for pages")


@pytest.mark.parametrize("width", [380, 1400])
def test_comments_on_lines_are_written_by_mouse_and_sent(board, night, visit, width):
    page = visit(viewport={"width": width, "height": 900}, has_touch=width < 500)
    page.goto(board.address)
    page.get_by_role("link", name="005 Export orders as CSV").click()
    page.get_by_role("link", name="Diff").click()
    page.get_by_label("Comment on line 13 of src/orders/export.py").click()
    page.fill("#comment", "The newest first, says the docstring.")
    assert outside(page, "a.comment, .remark *") == []
    page.get_by_role("button", name="Keep the comment").click()
    page.get_by_label("Comment on line 18 of src/orders/views.py").click()
    page.fill("#comment", "Give the file a name.")
    page.select_option("#end", index=1)
    page.get_by_role("button", name="Keep the comment").click()
    page.get_by_text("2 comments to send").wait_for()
    assert outside(page, "a.comment, .remark *") == []
    page.screenshot(path=SHOTS / f"review-{width}.png", caret="initial")
    page.get_by_role("button", name="Reject with the review").click()
    page.wait_for_selector(".strip.good")
    page.wait_for_load_state("load")
    said = night.reader.past("005")[-1].failure.excerpt
    assert "src/orders/export.py, line 13:\n> +    writer.writerows" in said
    assert "src/orders/views.py, lines 18 to 19:" in said
    assert "Give the file a name." in said
    assert page.complaints == []


def outside(page, selector):
    """What of the elements is not wholly within the width of the window and of what scrolls around it."""
    page.wait_for_load_state("load")  # before, the stylesheet may be missing
    return page.evaluate(
        """selector => [...document.querySelectorAll(selector)].filter(each => {
            const [own, file] = [each, each.closest(".file")].map(e => e.getBoundingClientRect());
            return own.width && (own.left < 0 || own.right > Math.min(innerWidth, file.right) + 1);
        }).map(each => each.outerHTML.slice(0, 90))""",
        selector,
    )


def test_a_comment_on_a_line_is_written_by_keyboard(board, night, visit):
    page = visit()
    page.goto(board.address)
    page.goto(page.url + "issue?id=005&tab=diff")
    page.keyboard.press("j")
    page.keyboard.press("j")  # the second file
    page.keyboard.press("c")
    page.keyboard.press("j")
    assert "line 16 of src/orders/views.py" in page.evaluate("document.activeElement.ariaLabel")
    page.keyboard.press("Enter")
    page.wait_for_url("**comment=**")
    page.wait_for_load_state("load")
    assert page.evaluate("document.activeElement.id") == "comment", "one writes at once"
    page.keyboard.type("Is it gone? c j k")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("1 comment to send").wait_for()
    page.wait_for_load_state("load")
    page.keyboard.press("c")
    assert "line 16 of src/orders/views.py" in page.evaluate("document.activeElement.ariaLabel"), "it goes on there"
    assert page.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1400])
def test_each_page_fits_and_is_accessible(board, night, visit, width, scheme):
    page = visit(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(f"{board.origin}/")
    check(page, f"enter-{width}-{scheme}")
    page.goto(board.address)
    base = page.url.rstrip("/")
    pages = {
        "board": "/",
        "problems": "/?only=problems",
        "found": "/?find=nothing",
        "story": "/issue?id=005",
        "blocked": "/issue?id=002",
        "running": "/issue?id=007",
        "diff": "/issue?id=005&tab=diff&comment=20",
        "log": "/issue?id=007&tab=log",
        "prompt": "/issue?id=005&tab=prompt",
        "report": "/report",
        "keys": "/keys",
        "error": "/issue?id=404",
    }
    for name, path in pages.items():
        page.goto(base + path)
        check(page, f"{name}-{width}-{scheme}")
    assert [each for each in page.complaints if "409" not in each] == []


def check(page, name):
    """Nothing is wider than the page, and axe-core finds nothing serious."""
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png", caret="initial")
    small = """[...document.querySelectorAll("main :is(a, button, summary)")].filter(e => !e.closest(".columns .card"))
        .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect().height]).filter(([_, h]) => h && h < 24)"""
    assert page.viewport_size["width"] > 500 or page.evaluate(small) == [], name
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"], name
    page.evaluate(AXE)
    broken = page.evaluate("axe.run()")["violations"]
    serious = [(each["id"], each["nodes"][0]["html"]) for each in broken if each["impact"] in ("serious", "critical")]
    assert serious == [], name
    assert [(each["id"], each["nodes"][0]["html"]) for each in broken] == [], name


def test_on_paper_the_report_is_light_and_hides_nothing(board, night, visit):
    page = visit(color_scheme="dark")
    page.goto(board.address)
    page.goto(page.url + "report")
    still = page.locator("details li, details pre").first
    color = "getComputedStyle(document.querySelector('.night')).color"
    dark = page.evaluate(color)
    assert not still.is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    assert still.is_visible()
    assert page.evaluate(color) == "rgb(27, 31, 36)" != dark
    page.pdf(path=SHOTS / "report.pdf")


def test_the_pictures_of_the_readme_are_made(board, night, visit):
    page = visit(viewport={"width": 1160, "height": 640})
    page.goto(board.address)
    page.screenshot(path=SHOTS / "readme-board.png", caret="initial")
    page.goto(page.url + "issue?id=005&tab=diff&comment=18#file-1")
    page.fill("#comment", "The newest first, says the docstring: reverse=True.")
    page.evaluate("window.scrollTo(0, 150)")
    page.screenshot(path=SHOTS / "readme-review.png", caret="initial")


def test_it_works_without_script(board, night, visit):
    page = visit(java_script_enabled=False)
    page.goto(board.address)
    page.fill("#find", "csv")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**find=csv**")
    assert page.locator(".card").count() == 1
    page.locator(".card a").click()
    page.fill("#note", "No.")
    page.get_by_role("button", name="Reject").click()
    page.locator(".strip.good").wait_for()
    assert status(night, "005") == "ready"
    page.goto(page.url.split("/issue")[0] + "/")
    page.get_by_role("button", name="Pause the run").click()
    page.get_by_role("button", name="Resume the run").wait_for()
    assert night.reader.paused() is not None


def test_what_happens_appears_by_itself_and_takes_no_words_away(board, night, visit):
    page = visit()
    page.goto(board.address)
    page.wait_for_timeout(1500)  # until the stream is open
    night.status("006", "ready", "the provider answers again")
    page.wait_for_selector("#column-1")
    page.locator("li.card.ready", has_text="Limit the size of uploads").wait_for(timeout=8000)
    page.goto(page.url + "issue?id=007&tab=log")
    page.wait_for_timeout(1500)
    with (night.directory("007", 2) / "agent.log").open("a") as log:
        log.write("and the last line is this\n")
    page.get_by_text("and the last line is this").wait_for(timeout=9000)
    page.fill("#note", "Half a sentence")
    night.status("007", "blocked", "all attempts are used up")
    page.locator("#stale").wait_for(state="visible", timeout=8000)
    assert page.input_value("#note") == "Half a sentence"
    assert page.complaints == []


class Stranger(BaseHTTPRequestHandler):
    """A server of an agent's on another port of this machine, whose page does what it can with the board."""

    heard: ClassVar = []
    target = ""

    def do_GET(self):
        self.heard.append(self.headers.get("Cookie"))
        body = f"""<form method=post action="{self.target}" id=f><input name=id value=005><input name=verb value=approve>
            <input name=status value=approval><input name=attempt value=1></form><img src="{self.target}">
            <script>fetch("{self.target}", {{method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams("id=005&verb=approve")}})
            .catch(() => 0).then(() => document.getElementById("f").submit())</script>""".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_a_page_on_another_port_gets_no_cookie_and_decides_nothing(board, night, visit):
    page = visit()
    page.goto(board.address)
    base = page.url.rstrip("/")
    Stranger.heard, Stranger.target = [], f"{base}/decide"  # it even knows the folder, as it cannot
    server = HTTPServer(("127.0.0.1", 0), Stranger)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page.goto(f"http://127.0.0.1:{server.server_port}/", wait_until="commit")
        page.wait_for_url(re.compile("/decide"))
        assert "may not decide anything here" in page.content().lower()
    finally:
        server.shutdown()
        server.server_close()
    assert set(Stranger.heard) == {None}
    assert night.reader.issue("005").status == "approval"
    page.goto(f"{base}/")
    assert page.locator(".card").count() > 5, "the person's session goes on"


def test_an_address_is_good_once_and_says_so(board, visit):
    first, second = visit(), visit()
    address = board.address
    first.goto(address)
    second.goto(address)
    second.get_by_text("good once").wait_for()
    board.wait("used a second time")
    first.reload()
    assert "There is no session here" in first.content()
    first.goto(board.new_address())
    assert first.locator(".card").count() > 5
    first.get_by_role("button", name="Leave").click()
    with suppress(Error):
        first.go_back()
    assert first.locator(".card").count() == 0, "nothing is kept of the pages"


def test_the_code_is_typed_where_the_browser_was_opened_without_it(board, visit):
    page = visit()
    page.goto(f"{board.origin}/")
    page.get_by_label("Code").fill(board.token.upper())
    page.keyboard.press("Enter")
    page.wait_for_selector(".card")
