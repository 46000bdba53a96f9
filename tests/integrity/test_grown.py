"""Files of tests, and of the fixtures that they share, that only grow, and what else is done to them.

Of 507 honest commits of public projects that change a conftest.py 83 only let it grow; the others change lines of it
(most of them), add hooks, or fixtures that act unasked.
"""

import pytest

from noface.integrity.grown import asked_for, growth, may_be_new

MAIN = '''\
"""Shared fixtures."""
import pytest
from shop import Basket

RATE = 3


@pytest.fixture
def basket():
    return Basket()


def pytest_addoption(parser):
    parser.addoption("--slow")
'''
FIXTURE = "\n\n@pytest.fixture\ndef full_basket(basket):\n    basket.add(1)\n    return basket\n"


@pytest.mark.parametrize(
    ("now", "names"),
    [
        (MAIN, set()),
        (MAIN + FIXTURE, {"full_basket"}),
        (MAIN.replace("\n\ndef pytest_add", FIXTURE + "\n\ndef pytest_add"), {"full_basket"}),
        (MAIN + FIXTURE.replace("fixture", 'fixture(scope="session", params=[1, 2])'), {"full_basket"}),
        (MAIN + "\n\ndef make_basket(*items, rate=2):\n    return Basket(items)\n", {"make_basket"}),
        (MAIN + '\n\nNAMES = ["a", "b"]\n', {"NAMES"}),
        (MAIN.replace("import pytest\n", "import json\nimport pytest\n") + FIXTURE, {"json", "full_basket"}),
        (MAIN.replace("import Basket", "import Basket, Order") + FIXTURE, {"Order", "full_basket"}),
        (MAIN.replace("from shop import Basket", "from shop import (\n    Basket,\n    Order,\n)"), {"Order"}),
        (MAIN.replace("import pytest\n", "# as everywhere\nimport pytest\n"), set()),
        (MAIN + "\n\n@pytest.fixture\nasync def session():\n    yield 1\n", {"session"}),
    ],
)
def test_what_only_grows_gains_names(now, names):
    assert growth(MAIN, now) == names


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (MAIN.replace("return Basket()", "return None"), "it changes line 9 of main's"),
        (MAIN.replace("RATE = 3", "RATE = 4"), "it changes line 5 of main's"),
        (MAIN.partition("\n\ndef pytest_add")[0], "it changes line 13 of main's"),
        (MAIN.replace("from shop import Basket\n", ""), "it changes line 3 of main's"),
        (MAIN.replace("from shop import Basket", "from fakes import Basket"), "it changes line 3 of main's"),
        (MAIN + "\n\n@pytest.fixture\ndef basket():\n    return 1\n", "`basket` is a hook or stands"),
        (MAIN + "\n\n@pytest.fixture\ndef tmp_path():\n    return 1\n", "`tmp_path` is a hook or stands"),
        (MAIN + "\n\ndef len(x):\n    return 1\n", "`len` is a hook or stands"),
        (MAIN + "\n\nBasket = None\n", "`Basket` is a hook or stands"),
        (MAIN + "\nfrom fakes import fake as pytest\n", "`pytest` is a hook or stands"),
        (MAIN + "\nfrom fakes import *\n", "does more than define a name"),
        (MAIN + "\n\ndef pytest_runtest_call(item):\n    pass\n", "`pytest_runtest_call` is a hook or stands"),
        (MAIN + '\npytest_plugins = ["fakes"]\n', "`pytest_plugins` is a hook or stands"),
        (MAIN + '\ncollect_ignore = ["test_a.py"]\n', "`collect_ignore` is a hook or stands"),
        (MAIN + "\nfrom fakes import pytest_configure\n", "`pytest_configure` is a hook or stands"),
        (MAIN + FIXTURE.replace("fixture", "fixture(autouse=True)"), "does more than define a name"),
        (MAIN + FIXTURE.replace("fixture", "fixture(**ALWAYS)"), "does more than define a name"),
        (MAIN + FIXTURE.replace("fixture", "fixture(scope=Basket.patch())"), "does more than define a name"),
        (MAIN + FIXTURE.replace("fixture", 'fixture(name="filled")'), "does more than define a name"),
        (MAIN + FIXTURE.replace("pytest.fixture", "atexit.register"), "does more than define a name"),
        (MAIN + "\n\ndef f(x=Basket.patch()):\n    pass\n", "does more than define a name"),
        (MAIN + "\nBasket.total = lambda self: 12\n", "does more than define a name"),
        (MAIN + "\nif RATE:\n    Basket.total = 1\n", "does more than define a name"),
        (MAIN + "\nDONE = Basket.patch()\n", "does more than define a name"),
        (MAIN + "\nclass Fake(Basket):\n    x = Basket.patch()\n", "does more than define a name"),
        (MAIN + '\nRATE = 3\n"""Shared fixtures."""\n', "`RATE` is a hook or stands"),
        (MAIN.replace("\nRATE = 3\n", "") + "\nRATE = 3\n", "it changes line 9 of main's"),
        (MAIN + "\ndel basket\n", "does more than define a name"),
        (MAIN + "\ndef (", "it cannot be parsed"),
        ("", "it changes line 1 of main's"),
    ],
)
def test_what_does_more_than_define_new_names_is_told(now, why):
    assert why in growth(MAIN, now)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("def test_a(client, tmp_path):\n    pass\n", {"client"}),
        ('@pytest.mark.usefixtures("client")\ndef test_a():\n    pass\n', {"client"}),
        ("@pytest.fixture\ndef client():\n    pass\n", {"client"}),
        ("def test_a(*, client=None):\n    pass\n", {"client"}),
        ("def test_a():\n    client = make()\n    client.get('/')\n", set()),
        ("def (", set()),
    ],
)
def test_a_name_is_met_where_a_test_asks_for_it(text, asked):
    assert asked_for(text, frozenset({"client", "other"})) == asked


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("tests/conftest.py", True),
        ("shop/tests/unit/conftest.py", True),
        ("conftest.py", False),
        ("src/conftest.py", False),
    ],
)
def test_a_new_one_may_lie_in_a_folder_of_tests(path, new):
    assert may_be_new(path) is new
