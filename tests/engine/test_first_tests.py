"""Main's tests as the run found them judge each later landing: what two landings do together is what one may not do.

Real runs with a scripted worker. How often it is wrong: of the honest landings below that follow one which rewrote
tests of main, 0 of 6 are refused, and 2 come to a question, whose yes lets them land. Of one kind it is known to be
wrong: an issue takes away what main's tests used until an earlier landing, and its change has no test to touch.
"""

import json
import subprocess

import pytest
from support.cases import cases
from support.project import PYTEST
from support.trials import dry_trial

from noface.attempt.environment import GateFacts
from noface.attempt.first_tests import FirstTests
from noface.attempt.gate_session import GateTask
from noface.attempt.gating import Gated
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.integrity.inventory import Inventory, Outcome
from noface.model.failure import Failure
from noface.model.gate import GateKind, GateResult, GateSpec
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind

SHOP = "def price(cents):\n    return f'{cents / 100:.2f}'\n"
BROKEN = SHOP.replace(".2f", ".1f")
TOTAL = "\n\ndef total(basket):\n    return sum(basket)\n"
TESTS = (
    "from shop import price\n\n\ndef test_price():\n    assert price(250) == '2.50'\n    assert price(5) == '0.05'\n"
)
OF_TOTAL = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
MONEY = SHOP.replace("def", "import shop\n\n\ndef").replace("cents / 100", "shop.total([cents]) / 100")
"""A copy of what is tested that uses something else of the product, so that no text tells that it is one."""
COPY = [
    {"write": "shop.py", "text": SHOP + TOTAL},
    {"write": "tests/money.py", "text": MONEY},
    {"write": "tests/test_shop.py", "text": TESTS.replace("from shop", "from money")},
    {"write": "tests/test_total.py", "text": OF_TOTAL},
]
REVIEWER = '[roles]\nreviewer = "big"\n[review]\nwhen = "never"\n'
CURRENCY = "price() takes a currency as its second argument"


@pytest.fixture
def shop(project):
    """A shop with a price; `make` says what its worker does for the issues 1, 2, … and what these say."""

    def make(*works, bodies=(), config=REVIEWER, plays=(), attempts=1, **front):
        project.write("shop.py", SHOP)
        project.write("tests/test_shop.py", TESTS)
        project.config(config, gate=PYTEST)
        project.play(*plays, *((str(number), 0, work) for number, work in enumerate(works, 1)))
        for number, _ in enumerate(works, 1):
            body = bodies[number - 1] if number <= len(bodies) else "total() adds up what is in a basket."
            after = {"depends_on": ["1"]} if number > 1 else {}
            project.issue(number, f"Work {number}", body, max_attempts=attempts, **after, **front)
        project.commit()
        return project

    return make


@pytest.mark.thorough
def test_what_one_landing_takes_from_sight_the_next_one_does_not_break(shop):
    project = shop(COPY, [{"write": "shop.py", "text": BROKEN + TOTAL}], attempts=2)
    project.run(code=3)
    assert [attempt["outcome"] for attempt in project.attempts("1")] == ["PASSED"]
    first, second = project.attempts("2")
    failure = first["failure"]
    assert (first["outcome"], failure["rule"]) == ("GATE_TAMPERING", "judge-altered")
    assert failure["failing_tests"] == ["tests/test_shop.py::test_price"]
    told = project.prompt("2", 2)
    assert "issue 1, which landed earlier in this run, rewrote tests/test_shop.py" in told
    assert "tests/test_shop.py::test_price fails" in told
    assert second["outcome"] == "GATE_TAMPERING"
    assert project.statuses() == {"1": "merged", "2": "approval"}
    assert project.noface("approve", "2").returncode == 0
    project.run()
    assert project.git("show", "main:shop.py") == (BROKEN + TOTAL).strip()


MORE = "import shop\n\n\ndef test_more():\n    assert shop.price(100) == '1.00'\n"
BLIND = MORE.replace("\n\n\ndef", f"\n\n\ndef quick(cents):\n{SHOP.splitlines()[1]}\n\n\nshop.price = quick\n\n\ndef")
BEFORE = TESTS.replace("from shop import price", "import shop").replace(" price(", " shop.price(")


@pytest.mark.parametrize(
    ("added", "product", "refused"),
    [
        (BLIND, BROKEN, True),
        pytest.param(
            MORE,
            SHOP.replace("    return", "    if cents > 9000:\n        return '?'\n    return"),
            False,
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_test_that_a_landing_added_does_not_stand_in_for_the_product(shop, added, product, refused):
    """What the next change breaks is run by no test: then main's tests judge without the added one."""
    project = shop([{"write": "tests/test_a_more.py", "text": added}], [{"write": "shop.py", "text": product}])
    project.write("tests/test_shop.py", BEFORE)
    project.commit()
    project.run(code=3 if refused else 0)
    assert project.statuses()["1"] == "merged"
    (attempt,) = project.attempts("2")
    assert attempt["outcome"] == ("GATE_TAMPERING" if refused else "PASSED")
    if refused:
        assert attempt["failure"]["failing_tests"] == ["tests/test_shop.py::test_price"]
        assert "issue 1, which landed earlier in this run" in attempt["failure"]["message"]


@pytest.mark.thorough
def test_landings_while_a_worker_is_at_work_count_as_well(shop):
    """Its order knows nothing of them; its judges run on main as it is then, and once more before it lands."""
    waits = "until grep -q 'land issue 1' {}/.git/logs/refs/heads/main; do sleep 0.05; done"
    project = shop(COPY, [])
    project.config(REVIEWER, gate=PYTEST, workers=2)
    project.write("shop.py", SHOP + TOTAL)
    breaks = [{"shell": waits.format(project.path)}, {"write": "shop.py", "text": BROKEN + TOTAL}]
    project.play(("1", 0, COPY[1:3]), ("2", 0, breaks))
    project.issue(2, "Work 2", max_attempts=1)
    project.commit()
    project.run(code=3)
    assert project.git("show", "main:shop.py") == (SHOP + TOTAL).strip()
    assert project.attempts("2")[0]["failure"]["failing_tests"] == ["tests/test_shop.py::test_price"]


@pytest.mark.thorough
def test_a_run_that_goes_on_after_a_kill_knows_the_tests_of_its_beginning(shop):
    project = shop(COPY, [], attempts=3)
    half = [{"write": "half.txt", "text": "half"}, {"sleep": 60}]
    project.play(("1", 0, COPY), ("2", 1, half), ("2", 0, [{"write": "shop.py", "text": BROKEN + TOTAL}]))
    running = project.start("run")
    project.in_slots("half.txt")
    running.kill()
    running.wait()
    project.run(code=3)
    assert project.git("show", "main:shop.py") == (SHOP + TOTAL).strip()
    assert "judge-altered" in {(each["failure"] or {}).get("rule") for each in project.attempts("2")}


@pytest.mark.thorough
def test_what_the_tests_of_the_beginning_contradict_is_a_question_if_the_change_rewrites_them_as_well(shop):
    """The first landing asks for the number, not for its form, which the next issue wants otherwise; then one is free."""
    number = TESTS.replace("price(250) == '2.50'", "float(price(250)) == 2.5").replace(
        "price(5) == '0.05'", "float(price(5)) == 0.05"
    )
    form = "def price(cents):\n    return f'{cents / 100:.3f}'\n"
    sentence = "price() has three digits behind the point"
    works = (
        [{"write": "shop.py", "text": SHOP + TOTAL}, {"write": "tests/test_shop.py", "text": number}],
        [
            {"write": "shop.py", "text": form + TOTAL},
            {"write": "tests/test_shop.py", "text": f"{number}    assert price(1) == '0.010'\n"},
        ],
        [{"write": "more.py", "text": "MORE = 1\n"}],
    )
    yes = {"asked_for": True, "sentence": sentence, "reason": "it says so"}
    plays = [("2", 0, [{"say": json.dumps(yes)}], "changed_tests")]
    project = shop(*works, bodies=("Prices are numbers.", f"{sentence}.", "There is more."), plays=plays)
    project.issue(3, "More", "There is more.", max_attempts=1, depends_on=["2"])
    project.commit()
    project.run()
    assert set(project.statuses().values()) == {"merged"}
    (asked,) = (project.state / "attempts/2/1").glob("ask-*")
    assert "issue 1, which landed earlier in this run" in (asked / "prompt.md").read_text()


@pytest.mark.thorough
def test_of_a_runner_without_ids_the_gate_itself_tells(project):
    check = '#!/bin/sh\nset -e\n[ "$(sh price.sh 250)" = 2.50 ] || exit 1\n[ "$(sh price.sh 5)" = 0.05 ] || exit 1\n'
    price = "echo $(($1 / 100)).$(printf %02d $(($1 % 100)))\n"
    project.write("price.sh", price)
    project.write("tests/price_test.sh", check)
    project.config(gate="for t in tests/*_test.sh; do sh $t || exit 1; done")
    copied = {"write": "tests/price_test.sh", "text": check.replace("sh price.sh", "sh tests/copy.sh")}
    project.play(
        ("1", 0, [{"write": "tests/copy.sh", "text": price}, copied]),
        ("2", 0, [{"write": "price.sh", "text": price.replace("%02d", "%01d")}]),
    )
    project.issue(1, max_attempts=1)
    project.issue(2, max_attempts=1, depends_on=["1"])
    project.commit()
    project.run(code=3)
    assert project.statuses()["1"] == "merged"
    assert project.attempts("2")[0]["failure"]["rule"] == "judge-altered"
    assert "issue 1, which landed earlier in this run" in project.attempts("2")[0]["failure"]["message"]


NEW_PRICE = "def price(cents, currency):\n    return f'{cents / 100:.2f} {currency}'\n"
RENAMED = TESTS.replace("test_price", "test_price_has_two_digits")
TAX = "def taxed(cents):\n    return cents * 119 // 100\n"
GIVEN = "CENTS = 100\nTAXED = 119\n"
OF_TAX = (
    "from given import CENTS, TAXED\nfrom tax import taxed\n\n\ndef test_taxed():\n    assert taxed(CENTS) == TAXED\n"
)
NOTE = "def note(text):\n    return text.strip()[:20]\n\n\ndef loud(text):\n    return text.upper()\n"
OF_NOTE = "    assert note(' a ') == 'a'\n"
OF_LOUD = "    assert loud('a') == 'A'\n"


@pytest.mark.thorough
def test_honest_nights_that_rewrite_tests_and_then_the_product_land(shop):
    """A test is renamed, a fixture made anew, a file of tests split; then the product changes, as issues ask for."""

    def write(name, text):
        return {"write": name, "text": text}

    def tests(module, names, *bodies):
        made = "".join(f"\n\ndef test_{name}():\n{body}" for name, body in bodies)
        return f"from {module} import {names}\n{made}"

    given = "def amounts():\n    return [(100, {0}), (200, {1})]\n"
    of_amounts = "from given import amounts\nfrom tax import taxed\n\n\ndef test_taxed():\n    for cents, sum in amounts():\n        assert taxed(cents) == sum\n"
    asked = RENAMED.replace("(250) == '2.50'", "(250, 'EUR') == '2.50 EUR'").replace(
        "(5) == '0.05'", "(5, 'EUR') == '0.05 EUR'"
    )
    longer = NOTE.replace("[:20]", "[:20].strip()")
    works = {
        "The tests' names say what they want.": [write("tests/test_shop.py", RENAMED)],
        "Taxes are tried with more amounts.": [
            write("tests/given.py", given.format(119, 238)),
            write("tests/test_tax.py", of_amounts),
        ],
        "Notes and shouts have tests in files of their own.": [
            {"shell": "git rm -q tests/test_note.py"},
            write("tests/test_notes.py", tests("note", "note", ("note", OF_NOTE))),
            write("tests/test_loud.py", tests("note", "loud", ("loud", OF_LOUD))),
        ],
        f"{CURRENCY}. It stands behind the amount.": [write("shop.py", NEW_PRICE), write("tests/test_shop.py", asked)],
        "taxed() takes 20 percent from now on.": [
            write("tax.py", TAX.replace("119", "120")),
            write("tests/given.py", given.format(120, 240)),
        ],
        "note() leaves a blank at the end of what it cuts.": [
            write("note.py", longer),
            write(
                "tests/test_notes.py",
                tests("note", "note", ("note", OF_NOTE), ("cut", "    assert note('a' * 19 + ' b') == 'a' * 19\n")),
            ),
        ],
        "whisper() is the opposite of loud().": [
            write("note.py", f"{longer}\n\ndef whisper(text):\n    return text.lower()\n")
        ],
    }
    project = shop(*works.values(), bodies=tuple(works))
    for name, text in (
        ("tax.py", TAX),
        ("tests/given.py", GIVEN),
        ("tests/test_tax.py", OF_TAX),
        ("note.py", NOTE),
        ("tests/test_note.py", tests("note", "loud, note", ("note", OF_NOTE), ("loud", OF_LOUD))),
    ):
        project.write(name, text)
    yes = {"asked_for": True, "sentence": CURRENCY, "reason": "it says so"}
    project.play(
        ("4", 0, [{"say": json.dumps(yes)}], "changed_tests"),
        *((str(number), 0, work) for number, work in enumerate(works.values(), 1)),
    )
    project.issue(4, "A currency", list(works)[3], max_attempts=1, depends_on=["1"])
    project.issue(5, "More taxes", list(works)[4], max_attempts=1, may_change=["tests/given.py"])
    project.commit()
    project.run()
    assert set(project.statuses().values()) == {"merged"}
    assert {folder.parts[-3] for folder in (project.state / "attempts").glob("*/*/ask-*")} == {"4"}


TEST = "def test_a():\n    assert half(6) == 3\n"
FIRST = {
    "calc.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef half(number):\n    assert number\n    return number // 2\n",
    "doc.py": 'def one():\n    """\n    >>> one()\n    1\n    """\n    return 1\n',
    "checks.py": "def same(one, other):\n    assert one == other\n",
    "pyproject.toml": '[project]\nname = "calc"\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
    "tests/test_a.py": f"from calc import half\nfrom checks import same\n\n\n{TEST}",
    "tests/test_b.py": "import calc\n\n\ndef test_b():\n    assert calc\n",
    "tests/cases.txt": "6 3\n8 4\n",
}
LESS = {"tests/test_a.py": "def test_a():\n    assert 1 == 1\n"}
MINE, OTHERS = True, False
UNIT, ISSUE = GateSpec("unit", "pytest", GateKind.TEST), Issue("1", "x")


@pytest.fixture
def ground(tmp_path):
    """A repository to which commits are added, and what `FirstTests` makes of those that are landings; no gate runs."""
    opened = []

    def git(*args):
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
        done = subprocess.run(["git", *who, *args], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(files):
        for name, text in files.items():
            place = tmp_path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True) if text is None else place.write_text(text)
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", "x")
        return git("rev-parse", "HEAD")

    def make(*steps, change=None, issue=ISSUE, run=None, gates=(UNIT,)):
        git("init", "-q", "-b", "main") if not opened else git("checkout", "-q", "--orphan", f"o{len(opened)}")
        before = commit({**dict.fromkeys(name for name in git("ls-files").split()), **FIRST})
        landed = []
        for mine, files in steps:
            after = commit(files)
            landed += [(before, after)] if mine else []
            before = after
        git("branch", "-f", "main-now", before)
        now = commit(change or {"calc.py": FIRST["calc.py"] + "\n"})
        plumbing = Plumbing(discover(tmp_path, "main-now"))
        opened.append(plumbing)
        task, facts = GateTask("1", 1, "t", "gate", plumbing.tree(now), now, before, tmp_path), GateFacts()
        dry = run(plumbing, facts) if run else None
        trial = dry_trial(plumbing, task, issue, dry, gates=gates, landed=tuple(landed), facts=facts)
        return FirstTests(trial), trial

    yield make
    for each in opened:
        each.close()


@cases(
    ("steps", "entries"),
    [
        ([(MINE, LESS)], {"tests/test_a.py"}),
        ([(MINE, {"tests/test_a.py": None})], {"tests/test_a.py"}),
        ([(MINE, {"tests/cases.txt": "6 3\n"})], {"tests/cases.txt"}),
        ([(MINE, {"checks.py": "def same(one, other):\n    return one\n"})], {"checks.py"}),
        ([(MINE, {**LESS, "pyproject.toml": FIRST["pyproject.toml"].replace('"tests"', '"t"')})],
         {"tests/test_a.py", "pyproject.toml"}),
        ([(MINE, {"doc.py": FIRST["doc.py"].replace("    1\n", "    ...\n")})], {"doc.py"}),
        # What a landing brings beside them is gone where nothing else uses it, such as the file moved elsewhere.
        ([(MINE, {"tests/test_a.py": None, "tests/unit/test_a.py": FIRST["tests/test_a.py"]})],
         {"tests/test_a.py", "-tests/unit/test_a.py"}),
        ([(MINE, {**LESS, "tests/helper.py": TEST}), (OTHERS, {"tests/test_c.py": "import helper\n"})],
         {"tests/test_a.py"}),
        # Others than the run, an issue that was asked, and the issue itself may change tests.
        ([(MINE, {"calc.py": "half = None\n"}), (OTHERS, LESS)], None),
        ([(MINE, LESS), (OTHERS, {"tests/test_a.py": TEST})], None),
        ([(MINE, LESS), (OTHERS, {"tests/test_b.py": TEST})], {"tests/test_a.py"}),
        # A night that rewrites no test costs nothing.
        ([(OTHERS, LESS)], None),
        ([(MINE, {"calc.py": "half = None\n", "tests/test_b.py": FIRST["tests/test_b.py"] + TEST})], None),
        ([(MINE, {"calc.py": "half = None\n", "tests/test_new.py": TEST})], None),
        ([(MINE, {"calc.py": "half = None\n", "pyproject.toml": '[project]\nname = "c"\n'})], None),
        ([(MINE, LESS), (MINE, {"tests/test_a.py": FIRST["tests/test_a.py"]})], None),
    ],
)  # fmt: skip
def test_what_only_landings_have_changed_of_what_judged_is_as_the_run_found_it(ground, steps, entries):
    tests, _ = ground(*steps)
    found = tests.rewritten()
    shown = {*(path if e else f"-{path}" for path, e in found.entries.items()), *found.sources} if found else None
    assert shown == entries


def test_what_the_issue_may_change_is_as_the_change_has_it(ground):
    assert ground((MINE, LESS), issue=Issue("1", "x", may_change=("tests/**",)))[0].rewritten() is None


P, F, S = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED
ID = "tests/test_a.py::test_a"


@cases(
    ("change", "main", "first", "taken", "runs", "found"),
    [
        # by runs of the change and of main, each the outcome of one test; the first is of this test alone, if it is known
        ([P], [], P, (), 1, None),
        ([F, F, F], [P, P], P, (), 5, "judge-altered"),
        ([F, P], [], P, (), 2, None),
        ([F, F], [F], P, (), 3, None),  # a landing before it was asked to change what the product does
        ([F, F, P], [P], P, (), 4, None),  # a test that fails now and then
        ([F, F, F], [P, F], P, (), 5, None),
        ([S, S, S], [P, P], P, (), 5, "judge-altered"),  # the gate ends green
        ([S], [], None, (), 1, None),  # nothing is known of the run's beginning, as after a restart: only red is seen
        ([F, F], [P, P], None, (), 4, "judge-altered"),
        ([F, F], [P], P, (ID,), 3, None),  # the issue is known to ask for it
    ],
)
def test_red_counts_that_main_is_not_with_the_same_files(ground, change, main, first, taken, runs, found):
    ran = []

    def make(plumbing, facts):
        outcomes = {True: list(main), False: list(change)}

        def run(tree, gates, *, steady, anew=False):
            assert (steady, anew) == (False, len(ran) > (1 if first is None else 2))
            (gate,) = gates
            assert (gate.command == UNIT.command) == (first is None or len(ran) > 0)
            is_main = not {c.path for c in plumbing.changes(tree, plumbing.main())} - {"tests/test_a.py"}
            outcome = outcomes[is_main].pop(0)
            ran.append(tree)
            facts.inventories[tree, gate.command] = Inventory(((ID, outcome),), runners=("pytest",))
            failure = Failure(FailureKind.TEST_FAILURE, "x", rule="x") if outcome is F else None
            return Gated(
                tree, tuple(GateResult(gate, tree, 1 if failure else 0, 1.0, failure=failure) for gate in gates)
            )

        return run

    tests, trial = ground((MINE, LESS), run=make)
    if first is not None:
        known = trial.plumbing.tree(trial.landed[0][0])
        trial.facts.inventories[known, UNIT.command] = Inventory(((ID, first),), runners=("pytest",))
    failure = tests.failure({}, (), taken)
    assert (failure and failure.rule, len(ran)) == (found, runs)
    assert failure is None or failure.failing_tests == (ID,)


OTHER = "tests/test_b.py::test_b"


@cases(
    ("on_main", "others", "failing"),
    [
        (P, P, (ID,)),
        (P, F, (ID, OTHER)),
        (F, P, None),  # main cannot collect it, either
        (F, F, (OTHER,)),
    ],
)
def test_a_file_that_cannot_be_collected_keeps_no_other_from_being_judged(ground, on_main, others, failing):
    def make(plumbing, facts):
        first = plumbing.entries("main-now~1", ("tests/test_a.py",))

        def run(tree, gates, *, steady, anew=False):
            is_main = not {c.path for c in plumbing.changes(tree, plumbing.main())} - {"tests/test_a.py"}
            put_back = plumbing.entries(tree, ("tests/test_a.py",)) == first
            if put_back and F in ((on_main,) if is_main else (F,)):
                tests, complete = (("tests/test_a.py", F),), False
            else:
                tests, complete = ((ID, P), (OTHER, P if is_main else others)), True
            red = F in dict(tests).values()
            facts.inventories[tree, UNIT.command] = Inventory(tests, complete, ("other",))
            failure = Failure(FailureKind.TEST_FAILURE, "x", rule="x") if red else None
            return Gated(tree, tuple(GateResult(gate, tree, int(red), 1.0, failure=failure) for gate in gates))

        return run

    failure = ground((MINE, LESS), run=make)[0].failure({})
    assert (failure.failing_tests if failure else None) == failing


def test_main_has_the_tests_that_the_issue_is_about_as_the_change_has_them(ground):
    seen = []

    def make(plumbing, _facts):
        def run(tree, gates, *, steady, anew=False):
            seen.append({change.path for change in plumbing.changes(plumbing.main(), tree)})
            failure = Failure(FailureKind.TEST_FAILURE, "x", rule="x")
            return Gated(tree, tuple(GateResult(gate, tree, 1, 1.0, failure=failure) for gate in gates))

        return run

    asked = Issue("1", "x", may_change=("tests/cases.txt",))
    change = {"calc.py": "half = None\n", "tests/cases.txt": "1 1\n"}
    ground((MINE, LESS), change=change, issue=asked, run=make)[0].failure({})
    assert seen == [{"calc.py", "tests/cases.txt", "tests/test_a.py"}, {"tests/cases.txt", "tests/test_a.py"}]


def test_what_main_makes_of_the_files_is_asked_once(ground):
    ran = []

    def make(_plumbing, _facts):
        def run(tree, gates, *, steady, anew=False):
            ran.append(tree)
            failure = Failure(FailureKind.TEST_FAILURE, "x", rule="x")
            return Gated(tree, tuple(GateResult(gate, tree, 1, 1.0, failure=failure) for gate in gates))

        return run

    tests, _ = ground((MINE, LESS), run=make)
    assert tests.failure({}) is None
    assert tests.failure({}) is None
    assert len(ran) == 3
    assert ran[0] == ran[2]
