"""The tables in noface/data: every file fits its reader, and every rule its example."""

import ast
import re
import string
import tomllib
from dataclasses import fields
from datetime import date

import pytest
from pydantic import TypeAdapter
from support import ROOT
from support.cases import cases

from noface.agents.base import AGENTS
from noface.data import Patterns, expanded, table
from noface.diagnosis.readers import counts
from noface.integrity.leftovers import LEFT_IN
from noface.integrity.not_taken import NOT_TAKEN
from noface.model.actions import ApprovalKind
from noface.model.failure import MADE_UP, TAKEN_BACK, UNCHANGED
from noface.model.history import AdviceOutcome, Topic
from noface.model.publication import COMMANDS
from noface.model.request import RequestKind
from noface.model.taxonomy import Category, FailureKind, KindInfo
from noface.prompts.data import Situation
from noface.recovery.done_already import DISPROVEN, DONE_ALREADY
from noface.recovery.partly_done import PARTLY_DONE
from noface.recovery.retry_policy import MAY_BE_HALF
from noface.secrets.shapes import without_keys

PACKAGE = ROOT / "noface"


def fits(cls, entry):
    """Hold the keys and the types of an entry against the record that it becomes."""
    unknown = entry.keys() - {field.name for field in fields(cls)}
    assert not unknown, unknown
    TypeAdapter(cls).validate_python(entry)


# --- kinds


@cases("kind", FailureKind)
def test_every_kind_has_every_field(kind):
    entry = table("kinds")[kind.value]
    fits(KindInfo, entry)
    optional = {"names_tests", "yes", "gate", "redundant_prefixes", "instruction_by_gate", "cut_off"}
    optional |= {"talk", "last_output", "pointless"}
    assert entry.keys() | optional == {field.name for field in fields(KindInfo)}
    assert kind.category.external == bool(kind.info.cut_off)
    told = {name for name, value in entry.items() if value == ""}
    of_nobody = kind.category.external and kind is not FailureKind.ENVIRONMENT  # a change can break its own
    assert told == ({"instruction"} if of_nobody else set())
    assert kind.info.strategy in kind.allowed
    assert kind.info.what.endswith(".")


def test_the_table_of_kinds_and_the_enumeration_have_the_same_kinds_in_the_same_order():
    assert list(table("kinds")) == [kind.value for kind in FailureKind]
    assert {kind.category for kind in FailureKind} == set(Category)


@cases("kind", FailureKind)
def test_a_question_names_nothing_that_is_not_known(kind):
    names = {name for _, name, _, _ in string.Formatter().parse(kind.info.question) if name}
    assert names <= {"id", "model", "message"}


def kinds_listed(tree):
    """Yield how many kinds stand in each table of a module: a dict, set, list, tuple or a match."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict | ast.Set | ast.List | ast.Tuple | ast.Match):
            named = [each for each in ast.walk(node) if isinstance(each, ast.Attribute | ast.Constant)]
            kinds = {each.attr if isinstance(each, ast.Attribute) else each.value for each in named}
            yield len(kinds & FailureKind.__members__.keys())


def test_a_new_kind_is_a_line_of_the_enumeration_and_an_entry_of_the_table():
    most = len(FailureKind) // 2
    holding = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if max(kinds_listed(ast.parse(path.read_text("utf-8"))), default=0) > most
    }
    assert holding == set()


# --- topics


def test_the_table_of_topics_has_words_for_each_topic_and_outcome():
    words = table("topics")
    assert words["asked_for"].keys() == words["title"].keys() == {topic.value for topic in Topic}
    assert words["role"].keys() | words["situation"].keys() < words["title"].keys()
    assert all(map(Situation, words["situation"].values()))
    assert words["no_answer"].keys() == {outcome.value for outcome in AdviceOutcome} - {"ADVISED"}


# --- orders


def test_the_table_of_orders_has_words_for_rules_that_there_are():
    rules = {DONE_ALREADY, PARTLY_DONE, MADE_UP, LEFT_IN, NOT_TAKEN, MAY_BE_HALF, TAKEN_BACK}
    assert table("orders")["by_rule"].keys() == rules
    assert table("orders")["once"].keys() == {LEFT_IN, UNCHANGED, MADE_UP, DISPROVEN, MAY_BE_HALF}


# --- agents, providers, prices


AGENT_KEYS = {
    "install", "environment", "instructions", "tells_cost", "tells_nothing", "presets", "provider", "elsewhere", "login", "homes",
    "resumes", "takes_schema", "errors", "tested", "install_tested", "oldest",
    "tool_processes",
    "settings", "permissions", "permissions_boxed", "wants_files", "tools_fixed", "tools_none", "owned_options",
    "access", "calls",
}  # fmt: skip
LOGIN_KEYS = {
    "keys", "by_provider", "folder", "folder_variable", "files", "uncertain_with", "uncertain_argument", "keychain",
    "command", "fix", "ignores",
}  # fmt: skip


@pytest.mark.parametrize("name", table("agents"))
def test_an_agent_s_table_has_known_keys_and_an_adapter(name):
    entry = table("agents")[name]
    assert entry.keys() <= AGENT_KEYS
    assert entry.get("login", {}).keys() <= LOGIN_KEYS
    assert all(preset.keys() == {"name", "model", "tier"} for preset in entry.get("presets", ()))
    assert AGENTS[name].name in ("", name)
    assert ("install" in entry) == ("login" in entry) == ("presets" in entry) == ("tested" in entry)
    assert entry.get("tested", "") in entry.get("install_tested", "")
    assert entry.get("oldest", {}).keys() in (set(), {"version", "reason"})
    if "login" in entry:
        assert ("fix" in entry["login"]) != entry["login"].get("by_provider", False)


def test_providers_are_named_alike_in_all_their_tables():
    providers = table("providers")
    assert providers.keys() == {"variables", "keys", "before_the_slash", "families", "key_families", "local"}
    known = providers["variables"].keys()
    assert {*providers["before_the_slash"].values(), *providers["families"].values()} <= known
    assert set(providers["key_families"].values()) <= providers["keys"].keys()


def test_a_price_list_is_dated_and_of_two_numbers_a_model():
    prices = table("prices")
    assert prices.keys() == {"as_of", "models", "aliases"}
    assert isinstance(prices["as_of"], date)
    for entry in prices["models"].values():
        periods = [entry] if isinstance(entry, dict) else entry
        assert all(price.keys() - {"from", "until"} == {"in", "out"} for price in periods)
        assert all(isinstance(price[key], date) for price in periods for key in price.keys() & {"from", "until"})
        assert len(periods) == 1 or all({"from", "until"} & price.keys() for price in periods)
    for agent, aliases in prices["aliases"].items():
        assert agent in table("agents")
        assert set(aliases.values()) <= prices["models"].keys()


# --- secrets, environment, languages


@cases("shape", table("secrets")["shapes"], ids=lambda shape: shape["hints"][0])
def test_a_key_s_example_is_masked_by_its_own_shape(shape):
    assert shape.keys() == {"name", "hints", "pattern", "example"}
    key = "".join(shape["example"])
    assert any(hint in key for hint in shape["hints"])
    left = without_keys(f"key={key};")
    assert left.endswith(f"***{shape['name']}***;")
    assert shape["example"][1] not in left


# --- what a change is searched for


def test_every_expression_of_what_a_change_is_searched_for_compiles_and_every_piece_is_used():
    entries = table("integrity")
    pieces, words = entries["pieces"], [*entries["sections"].values(), entries["shadows"]["modules"]]
    assert all(isinstance(word, str) for row in words for word in row)
    sections = (entries[name] for name in entries if name not in ("pieces", "sections", "shadows"))
    rows = [row for section in sections for key, items in section.items() if key != "readers" for row in items]
    expressions = [text for row in rows for text in ([row] if isinstance(row, str) else row)]
    expressions += [text for piece in pieces.values() for text in ([piece] if isinstance(piece, str) else piece)]
    for text in expressions:
        re.compile(expanded(text, pieces))
    assert {name for name in pieces if not any(f"(?&{name})" in text for text in expressions)} == set()


# --- what output is read by


PATTERNS = [
    (section, name)
    for section, named in table("patterns").items()
    if section not in ("pieces", "words")
    for name in named
]


@cases(("section", "name"), PATTERNS)
def test_a_pattern_matches_its_example(section, name):
    entry = table("patterns")[section][name]
    assert entry.keys() - {"put"} == {"pattern", "example"}
    read = counts.COUNT if section == "count" else Patterns(section)
    assert read[name].search(entry["example"])


def test_every_pattern_is_used_and_none_is_missing():
    texts = [path.read_text("utf-8") for path in (PACKAGE / "diagnosis").rglob("*.py")]
    opened = [
        (text, *match) for text in texts for match in re.findall(r'^(\w+) = Patterns\("(\w+)"', text, re.MULTILINE)
    ]
    used = {(section, name) for text, of, section in opened for name in re.findall(rf'\b{of}\["(\w+)"\]', text)}
    together = {"notation", "varying"}  # read one after the other, by no name
    compilers = {("diagnostic", name) for name in ("maven", "kotlin", "scala3", "sbt")}
    assert {section for _, _, section in opened} == {section for section, _ in PATTERNS}
    assert used | compilers == {entry for entry in PATTERNS if entry[0] not in together}
    assert all(f"(?&{name})" in str(table("patterns")) for name in table("patterns")["pieces"])


# --- requests


def test_every_request_to_a_person_has_its_words():
    kinds = [*RequestKind, *ApprovalKind]
    assert set(table("requests")) == {kind.value for kind in kinds}
    for kind in kinds:
        entry = table("requests")[kind.value]
        assert entry.keys() <= {"wants", "task", "question", "first", "steps", "options"}
        assert not entry["task"].endswith((".", "?"))
        assert "?" in entry.get("question", "?")
        assert all(len(way) == 2 for way in entry.get("options", ()))


# --- commands of comments


def test_each_command_of_a_comment_has_a_case_of_its_own():
    """A word without one would be taken for an answer, and give a blocked issue back."""
    tree = ast.parse((PACKAGE / "remote/tracker_answers.py").read_text())
    carried_out = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "_carried_out")
    words = {node.value for node in ast.walk(carried_out) if isinstance(node, ast.Constant)}
    assert set(COMMANDS) <= words


# --- mutants


def test_each_mutant_stands_once_in_the_code():
    """The suite `mutants` runs at night: a condition in new words would go unwatched until then."""
    rows = tomllib.loads((ROOT / "tests/mutants/mutants.toml").read_text())["mutant"]
    texts = [(path.name, path.read_text()) for path in PACKAGE.rglob("*.py")]
    for row in rows:
        assert sum(text.count(row["text"]) for name, text in texts if name == row["file"]) == 1, row["text"]
