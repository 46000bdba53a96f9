"""Which packages judge: by what the product uses, needs or declares."""

import pytest

from noface.integrity.tools import Package, entry_points, other_tools, products, words_used


def packages(*entries):
    """Packages by key, each from "name version needs…"; "." is the project itself."""
    found = {}
    for entry in entries:
        name, version, *needs = entry.split()
        found["env", name] = Package("env", name, version, (name,), tuple(needs), own=name == ".")
    return found


MAIN = packages(". 1 web", "web 1 core", "core 1", "runner 1 core plug", "plug 1", "lib 1", "types 1")

OTHER = {
    "nothing": ((), {"lib"}, ()),
    "a runner": (("runner 0 core plug",), {"lib"}, ("runner 0 (main has 1)",)),
    "what a runner needs": (("plug 0",), {"lib"}, ("plug 0 (main has 1)",)),
    "what the product declares, and needs by that": (("web 2 core", "core 2"), {"lib"}, ()),
    "what the product imports": (("lib 2",), {"lib"}, ()),
    "a tool that the change's product names": (("runner 0 core plug",), {"lib", "runner"}, ("runner 0 (main has 1)",)),
    "a package that nobody uses": (("new 1",), {"lib"}, ("new 1 (not on main)",)),
    "a package that the change uses, with what it needs": (("new 1 plug", "plug 2"), {"lib", "new"}, ()),
    "a package that the project declares": ((". 2 web new", "new 1"), {"lib"}, ()),
    "a tool that the project declares": ((". 2 web runner", "runner 0"), {"lib"}, ("runner 0 (main has 1)",)),
}


@pytest.mark.parametrize(("changed", "used", "expected"), OTHER.values(), ids=OTHER)
def test_other_versions_of_tools_are_found(changed, used, expected):
    found = other_tools(MAIN, {**MAIN, **packages(*changed)}, {"lib"}, used)
    assert tuple(found.values()) == expected


def test_a_tool_that_is_gone_is_one():
    now = {key: each for key, each in MAIN.items() if each.name != "plug"}
    assert [*other_tools(MAIN, now, {"lib"}, {"lib"}).values()] == ["no plug (main has 1)"]


def test_a_library_that_a_tool_finds_by_an_entry_point_is_the_products_and_a_tool():
    now = {**MAIN, ("env", "new"): Package("env", "new", "1", ("new",), groups=("runner11", "other"))}
    assert [*other_tools(MAIN, now, {"lib"}, {"new"}).values()] == ["new 1 (not on main)"]
    assert ("env", "new") in products(MAIN, now, {"lib"}, {"new"})
    text = "[runner11]\nnew = new\n\n[ other ]\nx = y\n[runner.more]\na = b\n"
    assert entry_points(text, "", {"runner"}) == "[ other ]\nx = y\n"
    assert entry_points(text, "[runner11]\n", {"runner"}) == "[runner11]\nnew = new\n\n[ other ]\nx = y\n"


WORDS = {
    "import a.b, c as d\n": {"a", "c"},
    "    from .local import x\nfrom e import f": {"e"},
    'APPS = ["rest_framework.auth", "postgresql+psycopg2://u"]': {"rest_framework", "psycopg2"},
    "import x from '@scope/pkg/sub'; require('left-pad'); import('./own')": {"@scope/pkg", "left-pad"},
    "# checked by ruff, mypy\n": set(),
}


@pytest.mark.parametrize(("text", "expected"), WORDS.items())
def test_code_names_what_it_uses(text, expected):
    found = words_used(text)
    assert expected <= found
    assert not found & {"ruff", "mypy"}
