"""Which files of the project an unsure worker is shown (K3, P7)."""

from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.prompts.context_files import context_files, stems

TEXTS = {
    "src/shop/order.py": "def place(order): ...",
    "src/shop/stock.py": "def count(shelf): ...",
    "src/dates.py": "def parse(text): return datetime.date(year, month, day)",
    "src/money.py": "def parse(text): return Decimal(text)",
    "src/main.py": "from src import dates, money",
    "tests/test_order.py": "def test_order(): ...",
    "docs/order/design.md": "How orders are placed.",
    "README.md": "A shop.",
}
FAILURE = Failure(FailureKind.AGENT_CONFUSION, "where is it?", rule="r", location="src/shop/stock.py:3")
ASKS = Failure(FailureKind.AGENT_CONFUSION, "unclear", rule="r", questions=("Which decimal is meant?",))


def search(word):
    return frozenset(path for path, text in TEXTS.items() if word in text.lower())


def nothing(word):
    del word
    return frozenset()


def matches(issue, failure=None, named=(), most=5, search=search):
    return context_files(issue, failure, named, tuple(TEXTS), most, search)


def found(*args, **more):
    return tuple(path for path, *_ in matches(*args, **more))


def test_files_that_are_named_come_first_and_those_an_answer_names_before_all():
    issue = Issue("7", "Seven", "See src/shop/order.py for how it is done.")
    matched = found(issue, FAILURE, ("tests/test_order.py",))
    assert matched == ("tests/test_order.py", "src/shop/stock.py", "src/shop/order.py")


def test_what_is_not_named_is_looked_for_by_name_and_then_by_what_is_spoken_of():
    assert found(Issue("7", "Seven", "the file order.py is wrong")) == ("src/shop/order.py",)
    assert found(Issue("7", "Order design"))[0] == "docs/order/design.md"


def test_a_file_is_found_by_its_content_where_its_path_says_nothing():
    assert found(Issue("7", "The parser of dates"))[0] == "src/dates.py"
    assert found(Issue("7", "Read months as people write them"))[0] == "src/dates.py"
    assert found(Issue("7", "Read months as people write them"), search=nothing) == ()
    assert found(Issue("7", "Seven"), ASKS) == ("src/money.py",)


def test_a_match_has_the_words_it_was_found_by():
    assert matches(Issue("7", "The parser of dates"))[0][1] == ("pars", "date")
    assert matches(Issue("7", "Read src/dates.py")) == (("src/dates.py", ()),)


def test_words_are_looked_for_without_their_endings_and_common_ones_not_at_all():
    assert stems("The parser of dates must accept ISO weeks, as it should") == ("pars", "date", "accept", "iso", "week")
    assert stems("weeks weeks Weeks") == ("week",)
    assert len(stems(" ".join(f"{letter}ord{letter}" for letter in "abcdefghijk"))) == 8


def test_where_nothing_fits_nothing_is_shown():
    assert found(Issue("7", "Zebra crossing")) == ()
    assert found(Issue("7", "?")) == ()


def test_no_more_are_shown_than_asked_for_and_none_that_are_not_tracked():
    issue = Issue("7", "Seven", "src/shop/order.py src/shop/stock.py /etc/passwd ../secret.py")
    assert found(issue, most=1) == ("src/shop/order.py",)
    assert set(found(issue)) <= set(TEXTS)
