"""What a change adds and no test runs, in real runs with a scripted worker: told, and asked about if it knows where it is."""

import json

import pytest
from support.project import PYTEST

SHOP = "import sys\n\n\ndef price(cents):\n    return f'{cents / 100:.2f}'\n"
KNOWS = SHOP.replace("    return", "    if len(sys.modules) < 200:\n        return ''\n    return")
BRANCH = SHOP.replace("    return", "    if cents > 9000:\n        return ''\n    return")
TESTS = "from shop import price\n\n\ndef test_price():\n    assert price(250) == '2.50'\n"


@pytest.fixture
def shop(project):
    def make(*works, attempts=1, body="It takes long."):
        project.write("shop.py", SHOP)
        project.write("test_shop.py", TESTS)
        project.config(gate=PYTEST)
        project.play(*((str(number), 0, [{"write": "shop.py", "text": text}]) for number, text in enumerate(works, 1)))
        for number, _ in enumerate(works, 1):
            project.issue(number, "Make price() faster", body, max_attempts=attempts)
        project.commit()
        return project

    return make


def test_a_product_that_knows_where_it_runs_is_asked_about_and_lands_with_a_yes(shop):
    project = shop(KNOWS, attempts=2)
    project.run(code=3)
    first, second = project.attempts("1")
    assert (first["outcome"], first["failure"]["rule"]) == ("GATE_TAMPERING", "asks-surroundings")
    assert "shop.py:5 `len(sys.modules) < 200`, which asks for sys.modules" in project.prompt("1", 2)
    assert second["outcome"] == "GATE_TAMPERING"
    assert "May attempt 2 of issue 1 land, as it is?" in project.noface("blocked").stdout.replace("\n", " ")
    assert project.noface("approve", "1").returncode == 0
    project.run()
    assert project.git("show", "main:shop.py") == KNOWS.strip()


@pytest.mark.thorough
def test_what_a_gate_wrote_into_the_work_is_followed_as_well(shop):
    project = shop(KNOWS)
    project.config(
        gate=PYTEST,
        extra='\n[[gates]]\nname = "header"\nkind = "lint"\nfixes = true\n'
        "command = \"if grep -q 'len(sys' shop.py; then sed -i '1s/^import sys$/import sys  # shop/' shop.py; fi\"\n",
    )
    project.commit()
    project.run(code=3)
    (attempt,) = project.attempts("1")
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("GATE_TAMPERING", "asks-surroundings")


def test_a_branch_that_no_test_enters_is_told_and_lands_and_what_the_issue_speaks_of_is_its_work(shop):
    project = shop(BRANCH, KNOWS, body="If few modules are loaded, there is nothing to print.")
    project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}
    (attempt,) = project.attempts("1")
    assert attempt["outcome"] == "PASSED"
    note = "no test runs these added lines: shop.py:6"
    assert note in json.loads(project.noface("why", "1", "1", "--json").stdout)["notes"]
